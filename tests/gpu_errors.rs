//! Errors on GPUs for users: each has the place, the operands and fixes, and the fixes work. Without a device all tests are
//! skipped.
#![cfg(feature = "gpu")]

use ndjit::gpu::{Features, GpuOptions, capabilities, memory_taken, release, with_options};
use ndjit::{
    Array, CastingModes, Complex, DType, Device, Error, ErrorCode, Expr, Fallback, Op, arange, assert_no_recompile,
    broadcast_to, concat, exp, first_mismatch, jit, stats, supported_dtypes, valid_dtypes, with_casting, with_device,
    with_fallback,
};

/// The first GPU with some options, if available.
fn opened(options: GpuOptions) -> Option<Device> {
    match with_options(options) {
        Ok(device) => Some(device),
        Err(error) => {
            println!("SKIPPED, no device: {error}");
            assert_eq!(error.code(), ErrorCode::Device);
            None
        }
    }
}

/// The device with only WGSL's guarantees.
fn least() -> Option<Device> {
    opened(GpuOptions { at_most: Features { subnormals: true, ..Features::LEAST }, ..GpuOptions::default() })
}

/// The text of an error, with machine-dependent parts replaced.
fn shown(error: &Error, device: Device) -> String {
    let name = capabilities(device).map(|capabilities| capabilities.info.name).unwrap_or_default();
    assert_eq!(error.place().map(|place| place.file), Some(file!()), "{error}");
    let text = error.to_string().replace(device.name(), "DEVICE").replace(&name, "NAME");
    // Lines of this file change.
    let lines = text.lines().filter(|line| !line.starts_with("  at ") && !line.starts_with("  called at "));
    let lines = lines.map(|line| line.split_once(" at line ").map_or(line, |(before, _)| before));
    lines.collect::<Vec<&str>>().join("\n")
}

#[test]
fn ways_out_of_a_missing_f64_lead_on() {
    let Some(device) = least() else { return };
    let d = Array::from([1.0f64, -2.0, 3e300, 0.1]);
    let expected = (exp(d.cast(DType::F32)) * 3).to_vec::<f32>().unwrap();
    let error = jit(|x| exp(x) * 3).on(device).call((&d,)).unwrap_err();
    insta::assert_snapshot!(shown(&error, device), @r"
    error[dtype]: exp: f64 is not supported on the device DEVICE
      x: f64[4] from argument 0
      because: NAME has no floats of 64 bits (https://docs.rs/wgpu/30/wgpu/struct.Features.html)
      supported: bf16 f16 f32 c64
      help: cast explicitly: `cast(x, DType::F32)`; f32 keeps 24 binary digits, f64 has 53; or `with_casting(CastingModes::DOWN, || …)` casts to f32; or `f.fallback(Fallback::Cpu)` runs it on the processor, with copies of its arrays
    ");
    let f = jit(|x: Expr| exp(x.cast(DType::F32)) * 3).on(device);
    assert_eq!(f.call((&d,)).unwrap().to_vec::<f32>().unwrap(), expected);
    let f = jit(|x| exp(x) * 3).on(device).with_casting(CastingModes::DOWN);
    assert_eq!(f.call((&d,)).unwrap().to_vec::<f32>().unwrap(), expected);
    let f = jit(|x| exp(x) * 3).on(device).fallback(Fallback::Cpu);
    assert_eq!(f.call((&d,)).unwrap().to_vec::<f64>().unwrap(), (exp(&d) * 3).to_vec::<f64>().unwrap());
    // Arrays.
    let on = d.on(device);
    let error = (&on / 3).eval().unwrap_err().clone();
    insta::assert_snapshot!(shown(&error, device), @r"
    error[dtype]: divide: f64 is not supported on the device DEVICE
      x: f64[4] held as data
      y: i* (literal 3)
      because: NAME has no floats of 64 bits (https://docs.rs/wgpu/30/wgpu/struct.Features.html)
      supported: bf16 f16 f32 c64
      help: cast explicitly: `cast(&on, DType::F32)`; f32 keeps 24 binary digits, f64 has 53; or `with_casting(CastingModes::DOWN, || …)` casts to f32; or `with_fallback(Fallback::Cpu, || …)` runs it on the processor, with copies of its arrays
    ");
    assert_eq!((on.cast(DType::F32) / 3).to_vec::<f32>().unwrap(), (d.cast(DType::F32) / 3).to_vec::<f32>().unwrap());
    let down = with_casting(CastingModes::DOWN, || &on / 3);
    assert_eq!(down.to_vec::<f32>().unwrap(), (d.cast(DType::F32) / 3).to_vec::<f32>().unwrap());
    // An operation runs under the settings of its recording.
    let here = with_fallback(Fallback::Cpu, || &on / 3);
    assert_eq!(here.to_vec::<f64>().unwrap(), (&d / 3).to_vec::<f64>().unwrap());
    // The current fallback may be another unsuitable one.
    let error = jit(|x: Expr| x.sum(0)).on(device).fallback(Fallback::Emulate).call((&d,)).unwrap_err();
    insta::assert_snapshot!(shown(&error, device), @r"
    error[dtype]: sum: f64 is not supported on the device DEVICE
      x: f64[4] from argument 0
      because: NAME has no floats of 64 bits (https://docs.rs/wgpu/30/wgpu/struct.Features.html)
      sum computes in f64 here
      supported: bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 c64
      help: ask for a dtype, as in `dtype(DType::F32).sum(…)`; or `f.fallback(Fallback::Cpu)` runs it on the processor, with copies of its arrays
    ");
}

#[test]
fn doubles_are_moved_without_a_fallback() {
    let Some(device) = least() else { return };
    let d = Array::from_shape_vec([2, 3], vec![1.0f64, f64::NAN, -0.0, 5e-324, f64::INFINITY, 3e300]).unwrap();
    let c = Array::from([Complex::new(1.0f64, -2.0), Complex::new(0.5, 1e-300)]);
    let f = jit(|x: Expr| (x, x.flip(1), x.slice((.., 1..)), concat([x, x], 0), x.mt()));
    let (here, there) = (f.call((&d,)).unwrap(), f.on(device).call((&d,)).unwrap());
    let bits = |x: &Array| x.to_vec::<f64>().unwrap().into_iter().map(f64::to_bits).collect::<Vec<u64>>();
    for (here, there) in [(here.0, there.0), (here.1, there.1), (here.2, there.2), (here.3, there.3), (here.4, there.4)]
    {
        assert_eq!((bits(&here), here.shape()), (bits(&there), there.shape()));
    }
    assert_eq!(c.on(device).flip(0).to_vec::<Complex<f64>>().unwrap(), c.flip(0).to_vec::<Complex<f64>>().unwrap());
    assert_eq!(bits(&Array::from([1.5f32, 1e-45]).on(device).cast(DType::F64)), [0x3ff8 << 48, 0x36a0 << 48]);
    // The device supports such arrays, and few operations in their dtype.
    assert!(valid_dtypes(device, DType::F64).contains(DType::F64));
    let takes = |op| supported_dtypes(op, device).contains(DType::F64);
    assert!(!takes(Op::Exp) && !takes(Op::Add) && takes(Op::Less) && takes(Op::Where));
    assert!(capabilities(device).unwrap().to_string().contains("computed in with `Fallback::Cpu` alone: f64 c128"));
}

#[test]
fn integers_of_64_bits_name_their_fallback() {
    let Some(device) = least() else { return };
    let i = Array::from([1i64, -2, i64::MAX]);
    let error = jit(|x| x * 3).on(device).call((&i,)).unwrap_err();
    insta::assert_snapshot!(shown(&error, device), @r"
    error[dtype]: multiply: the device DEVICE has no i64
      x: i64[3] from argument 0
      y: i* (literal 3)
      because: NAME has no integers of 64 bits (https://docs.rs/wgpu/30/wgpu/struct.Features.html)
      supported: bool u8 u16 u32 i8 i16 i32 bf16 f16 f32 c64
      help: cast explicitly: `cast(x, DType::I32)`; i32 keeps 31 binary digits, i64 has 63; or `with_casting(CastingModes::DOWN, || …)` casts to i32; or `f.fallback(Fallback::Emulate)` computes it in pairs of words, with the same bits
    ");
    let error = (i.on(device) + 1).eval().unwrap_err().clone();
    assert!(error.to_string().contains("`with_fallback(Fallback::Emulate, || …)` computes it in pairs"), "{error}");
    let error = Array::from([1i32]).on(device).cast(DType::I64).eval().unwrap_err().clone();
    assert!(error.to_string().contains("Fallback::Emulate"), "{error}");
    let sum = with_fallback(Fallback::Emulate, || i.on(device) + 1);
    assert_eq!(sum.to_vec::<i64>().unwrap(), [2, -1, i64::MIN]);
}

#[test]
fn what_cannot_be_bound_says_so() {
    let Some(device) = opened(GpuOptions { max_binding: Some(1 << 16), ..GpuOptions::default() }) else { return };
    let x = Array::from((0..1_000_000).map(|n| (n % 1013) as f32 * 0.125).collect::<Vec<f32>>()).reshape([1000, 1000]);
    let on = x.on(device);
    let arrays = capabilities(device).unwrap().limits.arrays;
    if arrays != 32 {
        println!("SKIPPED: a kernel of the device uses {arrays} arrays");
        return;
    }
    let error = on.sum(0).eval().unwrap_err().clone();
    insta::assert_snapshot!(shown(&error, device), @r"
    error[size]: gpu: a kernel needs 62 bindings, the device has 32
      in0: what is read at once lies within 3997024 bytes, 61 pieces of 65536 bytes
      in0: %0, f32[1000, 1000]
      out0: %1, f32[1000]
      computing sum: f32[1000]
      help: reduce or scan the last axis of a transposed copy, as `x.mt().reshape([-1]).reshape([columns, rows])` makes one; let more be bound, `GpuOptions { max_binding: None, .. }`; or compute it on the processor: `x.on(Device::CPU)`
    ");
    let error = on.cumulative_sum(0).eval().unwrap_err().clone();
    insta::assert_snapshot!(shown(&error, device), @r"
    error[size]: gpu: a result is spread over more memory than the device can bind at once
      the device binds 65536 bytes
      in0: %0, f32[1000, 1000]
      out0: %1, f32[1000, 1000]
      computing cumulative_sum: f32[1000, 1000]
      help: reduce or scan the last axis of a transposed copy, as `x.mt().reshape([-1]).reshape([columns, rows])` makes one; let more be bound, `GpuOptions { max_binding: None, .. }`; or compute it on the processor: `x.on(Device::CPU)`
    ");
    // The fix.
    let columns = on.mt().reshape([-1]).reshape([1000, 1000]);
    assert_eq!(columns.sum(1).to_vec::<f32>().unwrap(), x.sum(0).to_vec::<f32>().unwrap());
    let scanned = columns.cumulative_sum(1).mt();
    assert_eq!(scanned.to_vec::<f32>().unwrap(), x.cumulative_sum(0).to_vec::<f32>().unwrap());
}

#[test]
fn options_have_least_values_and_equal_ones_are_one_device() {
    let patience = std::time::Duration::from_secs(119);
    let options = GpuOptions { max_arrays: Some(GpuOptions::LEAST_ARRAYS), patience, ..GpuOptions::default() };
    let Some(device) = opened(options) else { return };
    assert_eq!(with_options(options).unwrap(), device);
    assert!(device.name().starts_with("gpu (options "), "{device}");
    assert!((0..8).all(|n| Device::gpus(n) != Some(device)));
    assert_ne!(with_options(GpuOptions { max_arrays: Some(5), ..options }).unwrap(), device);
    let x = Array::from((0..5000).map(|n| n as f32 * 0.25).collect::<Vec<f32>>());
    let f = jit(|x: Expr| (exp(x) + x * 2, x.var(0), x.argmax(0), x.cumulative_sum(0), ndjit::where_(x.gt(2), x, 3)));
    let (here, there) = (f.call((&x,)).unwrap(), f.on(device).call((&x,)).unwrap());
    for (here, there) in [(here.0, there.0), (here.1, there.1), (here.3, there.3), (here.4, there.4)] {
        assert_eq!(here.to_vec::<f32>().unwrap(), there.to_vec::<f32>().unwrap());
    }
    assert_eq!(here.2.item::<i32>().unwrap(), there.2.item::<i32>().unwrap());
    for options in [
        GpuOptions { max_arrays: Some(3), ..GpuOptions::default() },
        GpuOptions { max_binding: Some(100), ..GpuOptions::default() },
    ] {
        let error = with_options(options).unwrap_err();
        assert_eq!((error.code(), error.place().unwrap().file), (ErrorCode::Argument, file!()));
        assert!(error.to_string().contains("is too little") && error.help_text().is_some(), "{error}");
    }
}

#[test]
fn devices_that_are_not_there_are_named() {
    if opened(GpuOptions::default()).is_none() {
        return;
    }
    let error = capabilities(Device::gpus(7).unwrap()).unwrap_err();
    assert_eq!(error.headline(), "gpu: there is no device 7");
    let first = &ndjit::gpu::list()[0];
    assert_eq!(error.facts()[0], format!("device 0: {first}"));
    assert!(error.help_text().unwrap().contains("ndjit::gpu::list()"), "{error}");
    for error in [capabilities(Device::CPU).unwrap_err(), memory_taken(Device::CPU).unwrap_err(), error] {
        assert_eq!(error.place().unwrap().file, file!());
        assert!(error.help_text().is_some(), "{error}");
    }
}

#[test]
fn memory_that_is_refused_has_its_line_and_size() {
    let Some(device) = opened(GpuOptions { budget: Some(1 << 20), ..GpuOptions::default() }) else { return };
    let a = Array::from(vec![1.0f32; 60_000]).on(device);
    a.eval().unwrap();
    let sum = broadcast_to(a.slice(..60_000), [10, 60_000]) + 1;
    let error = sum.eval().unwrap_err().clone();
    assert_eq!(error.code(), ErrorCode::Allocation);
    insta::assert_snapshot!(shown(&error, device), @r"
    error[allocation]: gpu: no memory for an array of 2400000 bytes
      NAME: 262144 bytes of a budget of 1048576 are in use
      computing add: f32[10, 60000]
      help: drop arrays that are on it, or open it with more, `GpuOptions { budget: Some(bytes), .. }`
    ");
    assert_eq!(error.place().unwrap().file, file!());
    // Memory kept for reuse is freed.
    drop((a, sum));
    assert!(memory_taken(device).unwrap() > 0);
    release(device).unwrap();
    assert_eq!(memory_taken(device).unwrap(), 0);
    assert_eq!(release(Device::CPU).unwrap_err().headline(), "gpu: cpu is not a GPU");
}

#[test]
fn advice_on_devices_names_what_was_written() {
    let Some(gpu) = opened(GpuOptions::default()) else { return };
    let (x, y) = (Array::from([1i32, 2, 3]), Array::from([4i32, 5, 6]));
    let dx = x.on(gpu);
    let help = |error: &Error| error.help_text().unwrap_or_default().to_owned();
    let error = (&dx + arange(3)).eval().unwrap_err().clone();
    assert_eq!(help(&error), "move one of them: `arange(3).on(dx.device())`");
    let error = (&y * &dx).eval().unwrap_err().clone();
    assert_eq!(help(&error), "move one of them: `y.on(dx.device())`");
    assert_eq!((&dx + arange(3).on(dx.device())).to_vec::<i32>().unwrap(), [1, 3, 5]);
    let f = jit(|x, y| x + y);
    let error = f.call((&dx, &y)).unwrap_err();
    assert!(help(&error).starts_with("move one of them, `y.on(dx.device())`, or say"), "{error}");
    let error = f.call((&[1i32, 2, 3], &dx)).unwrap_err();
    assert!(help(&error).starts_with("move one of them, `Array::from([1i32, 2, 3]).on(dx.device())`"), "{error}");
}

#[test]
fn a_described_device_runs_nothing() {
    let device = Device::describe("gpu_errors_npu").register().unwrap();
    let x = Array::from([1.0f32]);
    for error in [x.on(device).eval().unwrap_err().clone(), jit(|x| x + 1).on(device).call((&x,)).unwrap_err()] {
        assert_eq!(error.headline(), "device: `gpu_errors_npu` is described, and nothing runs there");
        assert_eq!(error.place().unwrap().file, file!());
        assert!(error.help_text().unwrap().contains("with_device"), "{error}");
    }
    assert_eq!(with_device(device, || &x + 1).to_vec::<f32>().unwrap(), [2.0]);
}

#[test]
fn first_mismatch_shows_parameters_and_numbers_and_what_it_cannot_compare() {
    let Some(device) = least() else { return };
    let d = Array::from([1.0f64, 2.0]);
    let f = jit(|x: Expr| exp(x) + x.cast(DType::F32)).on(device).fallback(Fallback::Cpu);
    let error = first_mismatch(&f, (&d,)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Device);
    insta::assert_snapshot!(shown(&error, device), @r"
    error[device]: first_mismatch: 2 of 4 operations ran on the processor, and were compared with themselves
      DEVICE has no f64, and the fallback is the processor
      the others give the same bits on both
      help: compare the function without `Fallback::Cpu`, on arrays of a dtype that the device has
    ");
    // A device that claims fused multiply-add wrongly.
    let probed = capabilities(opened(GpuOptions::default()).unwrap()).unwrap();
    if probed.features.fma {
        println!("SKIPPED: the device fuses");
        return;
    }
    let believed = opened(GpuOptions { probe: false, ..GpuOptions::default() }).unwrap();
    let rows = Array::from_shape_vec([3, 2], vec![0.1f32, 0.7, 1.3, 2.9, 3.3, 4.1]).unwrap();
    let k = Array::from([3.3f32, 0.77, 0.1]);
    let f = jit(|x, k, n| ndjit::pow(x, k) * n);
    let found = first_mismatch(&f.on(believed), (&rows.mt(), &k, 2)).unwrap().expect("pow needs it");
    let [column, row] = found.index[..] else { panic!("{found}") };
    let (x, k) = (rows.to_vec::<f32>().unwrap()[row * 2 + column], k.to_vec::<f32>().unwrap()[row]);
    assert_eq!(found.operands, [("%0".to_owned(), x.to_string()), ("%1".to_owned(), k.to_string())], "{found}");
}

#[test]
fn kernels_of_gpus_are_counted_and_those_of_opening_are_not() {
    let Some(_) = opened(GpuOptions::default()) else { return };
    let x = Array::from([1.0f32, 2.0]);
    let before = stats();
    // Opened for the first time, which compiles probes unless another test was first.
    let budget = Some(123 << 20);
    let device = assert_no_recompile!(opened(GpuOptions { budget, ..GpuOptions::default() })).unwrap();
    let f = jit(|x| x * 7 - 0.125).on(device);
    f.call((&x,)).unwrap();
    let after = stats();
    assert!(after.kernels_compiled > before.kernels_compiled, "{after:?}");
    assert!(after.compile_time > before.compile_time, "{after:?}");
    assert_no_recompile!(f.call((&x,))).unwrap();
}
