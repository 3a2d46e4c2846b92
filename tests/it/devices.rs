//! Arrays and functions on GPUs, for users. Without a device everything except its error is skipped.
use ndjit::{
    Array, CastingModes, DType, Device, ErrorCode, Expr, Fallback, Side, Stage, exp, first_mismatch, jit, with_casting,
    with_fallback,
};
use ndjit_codegen::wgsl::Features;
use ndjit_runtime::gpu::{GpuOptions, with_options};
use std::sync::OnceLock;

/// The first GPU, if available.
fn gpu() -> Option<Device> {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND.get_or_init(|| match ndjit_runtime::gpu::opened(0) {
        Ok(gpu) => {
            println!("on {}", gpu.info());
            true
        }
        Err(error) => {
            println!("SKIPPED, no device: {error}");
            assert_eq!(error.code(), ErrorCode::Device);
            false
        }
    });
    found.then_some(Device::gpu())
}

/// The same device without 64-bit dtypes.
fn narrow() -> Option<Device> {
    static NARROW: OnceLock<Device> = OnceLock::new();
    gpu()?;
    let at_most = Features { int64: false, float64: false, ..Features::ALL };
    Some(*NARROW.get_or_init(|| with_options(GpuOptions { at_most, ..GpuOptions::default() }).unwrap()))
}

#[test]
fn arrays_on_a_gpu_give_what_arrays_on_the_processor_give() {
    let Some(gpu) = gpu() else { return };
    let x = Array::from_rows(&[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let y = x.on(gpu);
    assert_eq!((x.device(), y.device()), (Device::CPU, gpu));
    let (a, b) = (exp(&x) * 2 + x.sum(0), exp(&y) * 2 + y.sum(0));
    assert_eq!(b.device(), gpu);
    assert_eq!(a.to_vec::<f32>().unwrap(), b.to_vec::<f32>().unwrap());
    assert_eq!(a.to_string(), b.to_string());
    // A view of computed elements shares their memory.
    let t = y.matrix_transpose();
    assert_eq!(t.device(), gpu);
    assert_eq!(t.to_vec::<f32>().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(y.on(Device::CPU).device(), Device::CPU);
}

#[test]
fn a_function_runs_where_it_is_said_to_and_its_results_stay_there() {
    let Some(gpu) = gpu() else { return };
    let w = Array::from([10.0f32, 20.0]);
    let f = jit(move |x, y| x + y * &w).on(gpu);
    let x = Array::from([1.0f32, 2.0]);
    let z = f.call((&x, &[0.5f32, 0.25])).unwrap();
    assert_eq!((z.device(), z.to_vec::<f32>().unwrap()), (gpu, vec![6.0, 7.0]));
    let again = f.call((&z, 2.0)).unwrap();
    assert_eq!(again.to_vec::<f32>().unwrap(), [26.0, 47.0]);
    let mut out = [0.0f32; 2];
    f.call_into((&z, &x), &mut out).unwrap();
    assert_eq!(out, [16.0, 47.0]);
    let code = f.explain(Stage::Wgsl);
    assert!(code.contains("@compute") && code.contains("; on the device"), "{code}");
    assert!(f.explain(Stage::Expanded).contains("fmul"), "{}", f.explain(Stage::Expanded));
    assert_eq!(f.kernels().len(), 1);
    assert!(f.kernels()[0].code_bytes > 0);
}

#[test]
fn without_a_device_of_its_own_a_function_runs_where_its_arguments_are() {
    let Some(gpu) = gpu() else { return };
    let f = jit(|x, y| x * y);
    let x = Array::from([3i32, 4]);
    assert_eq!(f.call((&x, 2)).unwrap().device(), Device::CPU);
    assert_eq!(f.call((&x.on(gpu), 2)).unwrap().device(), gpu);
    let error = f.call((&x, &x.on(gpu))).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Device);
    assert_eq!(error.headline(), "call: arguments are on different devices");
    assert_eq!(error.facts()[..2], ["argument 0: i32[2] on cpu", "argument 1: i32[2] on gpu"]);
    assert!(error.to_string().contains("move one of them, `x.on(x.on(gpu).device())`, or say"), "{error}");
}

#[test]
fn operands_on_different_devices_are_an_error_with_the_fix() {
    let Some(gpu) = gpu() else { return };
    let x = Array::from([3i32, 4]);
    let error = (&x + &x.on(gpu)).eval().unwrap_err().clone();
    assert_eq!(error.code(), ErrorCode::Device);
    assert_eq!(error.headline(), "add: operands are on different devices");
    assert_eq!(error.facts(), ["operand 0: i32[2] on cpu", "operand 1: i32[2] on gpu"]);
    assert!(error.to_string().contains("help: move one of them: `x.on(x.on(gpu).device())`"), "{error}");
    assert!(error.place().is_some());
}

#[test]
fn what_a_gpu_lacks_is_an_error_with_the_line_or_done_without() {
    let Some(narrow) = narrow() else { return };
    let x = Array::from([1.5f64, 2.5]).on(narrow);
    let error = (&x * 2).eval().unwrap_err().clone();
    assert_eq!(error.code(), ErrorCode::DType);
    assert!(error.place().is_some(), "{error}");
    assert!(error.to_string().contains("has no floats of 64 bits"), "{error}");
    // A casting mode: f32 instead.
    let y = with_casting(CastingModes::DOWN, || &x * 2);
    assert_eq!((y.dtype(), y.to_vec::<f32>().unwrap()), (DType::F32, vec![3.0, 5.0]));
    // The processor.
    let f = jit(|x| x * 2 + 1).on(narrow).fallback(Fallback::Cpu);
    assert_eq!(f.call((&x,)).unwrap().to_vec::<f64>().unwrap(), [4.0, 6.0]);
    assert!(f.explain(Stage::Wgsl).contains("; on the processor: the device has no f64"), "{}", f.explain(Stage::Wgsl));
    let z = with_fallback(Fallback::Cpu, || (&x * 2).to_vec::<f64>().unwrap());
    assert_eq!(z, [3.0, 5.0]);
}

#[test]
fn integers_of_64_bits_are_an_error_or_pairs_of_words() {
    let Some(narrow) = narrow() else { return };
    let x = Array::from([i64::MAX, -3, 1 << 40]).on(narrow);
    let error = (&x + 1).eval().unwrap_err().clone();
    assert_eq!(error.code(), ErrorCode::DType, "{error}");
    let f = jit(|x| x * 3 + 1).on(narrow).fallback(Fallback::Emulate);
    let expected = [i64::MAX.wrapping_mul(3).wrapping_add(1), -8, (3 << 40) + 1];
    assert_eq!(f.call((&x,)).unwrap().to_vec::<i64>().unwrap(), expected);
    assert!(f.explain(Stage::Wgsl).contains("they are pairs of words"));
    let y = with_fallback(Fallback::Emulate, || (&x * 3 + 1).to_vec::<i64>().unwrap());
    assert_eq!(y, expected);
    let g = jit(|x| x * 3 + 1).on(narrow).fallback(Fallback::Cpu);
    assert_eq!(g.call((&x,)).unwrap().to_vec::<i64>().unwrap(), expected);
    assert!(g.explain(Stage::Wgsl).contains("; on the processor: the device has no i64"));
    // Internal indices are not the user's integers.
    let h = jit(|x| ndjit::argmax(x, ..) + ndjit::cumulative_sum(x, 0)).on(narrow);
    let _ = h.call((&Array::from([1i32, 5, 2]),)).unwrap();
}

#[test]
fn dtypes_stay_what_they_are() {
    let Some(gpu) = gpu() else { return };
    let f = jit(|x, y| (x + y, x * 2.5, exp(y)));
    let (x, y) = (Array::from([1u8, 2]), Array::from([3i32, 4]));
    let on = jit(|x, y| (x + y, x * 2.5, exp(y))).on(gpu);
    let (here, there) = (f.call((&x, &y)).unwrap(), on.call((&x, &y)).unwrap());
    assert_eq!(here.0.dtype(), there.0.dtype());
    assert_eq!((here.1.dtype(), there.1.dtype()), (DType::F32, DType::F32));
    assert_eq!(here.2.to_vec::<f32>().unwrap(), there.2.to_vec::<f32>().unwrap());
}

#[test]
fn the_first_operation_that_differs_is_found() {
    let Some(gpu) = gpu() else { return };
    let f = jit(|x| {
        let y = x * 0.5 + 1;
        exp(y) / (y + 2)
    });
    let x = Array::from_shape_vec([8, 16], (0..128).map(|n| n as f32 * 0.37 - 20.0).collect::<Vec<f32>>()).unwrap();
    assert_eq!(first_mismatch(&f, (&x,)).unwrap(), None);
    // A device that claims fused multiply-add wrongly.
    if ndjit_runtime::gpu::opened(0).unwrap().features().fma {
        println!("SKIPPED: the device fuses");
        return;
    }
    let believed = with_options(GpuOptions { probe: false, ..GpuOptions::default() }).unwrap();
    let found = first_mismatch(&f.on(believed), (&x,)).unwrap().expect("exp needs it");
    assert!(found.operation.contains("= exp"), "{found}");
    assert_eq!((found.dtype, found.of, found.device), (DType::F32, 128, believed));
    assert_eq!(found.place.unwrap().file, file!());
    assert!(found.elements > 0 && found.ulp.is_some_and(|ulp| ulp > 0), "{found}");
    assert_eq!(found.operands.len(), 1);
    let text = found.to_string();
    assert!(
        text.contains("on cpu: ") && text.contains(&format!("on {believed}: ")) && text.contains(" ULP apart"),
        "{text}"
    );
    println!("{text}");
    let _ = gpu;
}

#[test]
fn kernels_are_split_where_a_device_takes_few_arrays() {
    let Some(_) = gpu() else { return };
    let few = with_options(GpuOptions { max_arrays: Some(5), ..GpuOptions::default() }).unwrap();
    let xs: Vec<Array> = (0..8).map(|n| Array::from([n as f32 + 0.5, n as f32 * 3.25])).collect();
    let f = jit(|a, b, c, d, e, f, g, h| (a + b * c - d, e * f + g - h, a * h + b * g + c * f + d * e));
    let arguments = || (&xs[0], &xs[1], &xs[2], &xs[3], &xs[4], &xs[5], &xs[6], &xs[7]);
    let all = |(a, b, c): (Array, Array, Array)| [a, b, c].map(|x| x.to_vec::<f32>().unwrap());
    let expected = all(f.call(arguments()).unwrap());
    let kernels = f.kernels().len();
    let f = f.on(few);
    assert_eq!(all(f.call(arguments()).unwrap()), expected);
    assert!(f.kernels().len() > kernels, "{}", f.kernels().len());
}

#[test]
fn loops_are_cut_where_a_device_sees_little_at_once() {
    let Some(_) = gpu() else { return };
    let little = with_options(GpuOptions { max_binding: Some(64 << 10), ..GpuOptions::default() }).unwrap();
    let x = Array::from((0..200_000).map(|n| (n % 1013) as f32 * 0.125).collect::<Vec<f32>>()).reshape([400, 500]);
    let f =
        jit(|x: ndjit::Expr| (x * 2 + 1, x.sum(0), x.sum(1), x.sum(..), x.cumulative_sum(1), x.matrix_transpose() * 3));
    let (here, there) = (f.call((&x,)).unwrap(), f.on(little).call((&x,)).unwrap());
    let all = |r: (Array, Array, Array, Array, Array, Array)| {
        [r.0, r.1, r.2, r.3, r.4, r.5].map(|x| x.to_vec::<f32>().unwrap())
    };
    assert_eq!(all(here), all(there));
}

#[test]
fn copies_to_the_host_are_made_while_other_things_are_done() {
    let Some(gpu) = gpu() else { return };
    let x = Array::from((0..3_000_000).collect::<Vec<i32>>()).on(gpu);
    let arrays: Vec<Array> = (0..4).map(|n| &x * n + 1).collect();
    arrays.iter().for_each(|array| array.copy_to_host_async().unwrap());
    for (n, array) in (0..).zip(&arrays) {
        let elements = array.to_vec::<i32>().unwrap();
        assert!(elements.iter().zip(0..).all(|(&element, i)| element == i * n + 1), "{n}");
        // The transfer was used; reading starts another.
        assert_eq!(array.to_vec::<i32>().unwrap(), elements);
    }
    // For a view, and for host memory, too.
    let view = x.reshape([3000, 1000]).matrix_transpose();
    view.copy_to_host_async().unwrap();
    assert_eq!(view.to_vec::<i32>().unwrap()[..3], [0, 1000, 2000]);
    Array::from([1u8]).copy_to_host_async().unwrap();
    // Waiting does not read.
    let sum = &x + 6;
    assert_eq!(sum.block_until_ready().unwrap().device(), gpu);
    assert_eq!(sum.to_vec::<i32>().unwrap()[..2], [6, 7]);
    // A transfer that is not read is dropped.
    (&x + 5).copy_to_host_async().unwrap();
}

#[test]
fn capabilities_are_shown() {
    let Some(gpu) = gpu() else { return };
    let capabilities = ndjit::gpu::capabilities(gpu).unwrap();
    println!("{capabilities}");
    assert_eq!(capabilities.info, ndjit::gpu::list()[0]);
    let software = capabilities.info.kind == ndjit::gpu::GpuKind::Software;
    assert_eq!(capabilities.to_string().contains("software, no GPU"), software);
    assert_eq!(ndjit::gpu::capabilities(Device::CPU).unwrap_err().headline(), "gpu: cpu is not a GPU");
}

#[test]
fn arrays_say_where_they_are() {
    let Some(gpu) = gpu() else { return };
    assert_eq!(format!("{:?}", Array::from([1u8, 2]).on(gpu)), "Array(u8[2] on gpu)");
}

#[test]
fn positions_and_random_order_of_arrays_on_a_gpu() {
    let Some(gpu) = gpu() else { return };
    let of = |on: Device| {
        let (x, i) = (ndjit::arange(24).reshape([4, 6]).on(on), Array::from([3, 0]).on(on));
        let traced = jit(|x: Expr, i: Expr| {
            let put = x.at((1.., i)).set(x.at((..3, 0)).get().expand_dims(1)).at((.., -1)).add(100);
            (
                x.at((i, 2..4)).get(),
                put,
                x.sum(0).searchsorted(30, Side::Left),
                ndjit::random::permutation(i.sum(0).cast(DType::U64), 9),
            )
        });
        let (taken, put, found, order) = traced.call((&x, &i)).unwrap();
        let eager = [
            x.at((.., 1..3)).set(0),
            ndjit::random::shuffle(&ndjit::random::key(3).on(on), &x, 0),
            x.at((&i, ..)).get(),
        ];
        let all: Vec<Array> = [taken, put, found, order].into_iter().chain(eager).collect();
        assert!(
            all.iter().all(|x| x.device() == on),
            "{on:?}: {:?}",
            all.iter().map(Array::device).collect::<Vec<_>>()
        );
        all.iter().map(|x| format!("{} {:?} {x}", x.dtype(), x.shape())).collect::<Vec<String>>()
    };
    assert_eq!(of(gpu), of(Device::CPU));
}
