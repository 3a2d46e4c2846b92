//! Ivy's page "Data Types", valid, supported and unsupported data types:
//! <https://docs.ivy.dev/overview/deep_dive/data_types.html>, `docs/overview/deep_dive/data_types.rst` at 0afe7bbb. "Ivy gives" is
//! what ivy 1.0.0.5 gives.
//!
//! A backend of Ivy's is a device here. The computation of a function of the page never matters, so ndjit's functions stand in for
//! missing ones: `exp` for `expm1`, elementwise ones for `trace` and `tensordot`.

use super::support::{gives, text};
use insta::assert_snapshot;
use ndjit::{
    Array, Complex, DType, DTypeSet, Device, Error, ErrorCode, Op, Restriction, device, devices, dtype, exp, f16,
    invalid_dtypes, jit, restrict_dtypes, spec, supported_devices, supported_dtypes, unsupported_devices,
    unsupported_dtypes, valid_dtypes, with_device,
};

/// Torch according to Ivy, and its `expm1`.
pub fn torch() -> Device {
    Device::describe("torch")
        .invalid(
            [DType::U16, DType::U32, DType::U64],
            "torch has no such types",
            "https://docs.pytorch.org/docs/stable/tensors.html",
        )
        .unsupported([Op::Exp], DTypeSet::COMPLEX | DType::F16, "Ivy declares it of expm1", "https://docs.ivy.dev")
        .register()
        .unwrap()
}

/// A device that lacks an op in some dtypes.
pub fn without(name: &str, op: Op, dtypes: impl Into<DTypeSet>) -> Device {
    Device::describe(name).unsupported([op], dtypes, "made up", "https://example.org").register().unwrap()
}

fn refused(array: &Array) -> Error {
    array.eval().unwrap_err().clone()
}

/// The dtypes that a function of one argument supports, traced with one of them.
macro_rules! supports {
    ($f:expr, $dtype:ident) => {
        $f.trace(&[spec(DType::$dtype, [1])]).unwrap().supported_dtypes().unwrap()
    };
}

// I06 "When no backend is set, all data types are assumed to be valid, and so the invalid tuples are all empty, and the valid
// tuples are set as equal to the original four all tuples."
#[test]
fn no_device_all_types_valid() {
    assert_eq!(device(), None);
    for (name, class) in DTypeSet::CLASSES {
        assert_eq!(
            (valid_dtypes(device(), class), invalid_dtypes(device(), class)),
            (class, DTypeSet::EMPTY),
            "{name}"
        );
    }
}

// I07 After ivy.set_backend, "valid/invalid data types are updated"
#[test]
fn setting_a_backend_updates_valid_and_invalid() {
    with_device(torch(), || {
        let valid = "bool u8 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128";
        assert_eq!(valid_dtypes(device(), DTypeSet::ALL).to_string(), valid);
        assert_eq!(invalid_dtypes(device(), DTypeSet::ALL).to_string(), "u16 u32 u64");
        assert_eq!(valid_dtypes(device(), DTypeSet::INT).to_string(), "u8 i8 i16 i32 i64");
        assert_eq!(valid_dtypes(device(), DTypeSet::UNSIGNED).to_string(), "u8");
        assert_eq!(invalid_dtypes(device(), DTypeSet::FLOAT), DTypeSet::EMPTY);
    });
    let numpy =
        Device::describe("numpy").invalid(DType::Bf16, "NumPy has none", "https://numpy.org").register().unwrap();
    assert_eq!(invalid_dtypes(numpy, DTypeSet::ALL), DType::Bf16.into());
    for device in [torch(), numpy, Device::CPU] {
        for (name, class) in DTypeSet::CLASSES {
            let (valid, invalid) = (valid_dtypes(device, class), invalid_dtypes(device, class));
            assert_eq!((valid | invalid, valid.intersection(invalid)), (class, DTypeSet::EMPTY), "{name}");
        }
    }
}

// I08 The all tuples "are also left unmodified", and ivy.float32 "will still reference the original definition"
#[test]
fn setting_a_backend_leaves_all_tuples() {
    with_device(torch(), || {
        assert_eq!("uint16".parse(), Ok(DType::U16));
        assert_eq!(valid_dtypes(None, DTypeSet::ALL), DTypeSet::ALL);
        assert_eq!(DTypeSet::ALL.len(), 15);
    });
}

// I09 "after setting a torch backend via ivy.set_backend('torch'), we should no longer be able to access ivy.uint16"
// A Rust constant does not go away; using it is the error.
#[test]
fn torch_has_no_uint16() {
    let zeros = with_device(torch(), || dtype(DType::U16).zeros(2));
    assert_snapshot!(text(refused(&zeros)), @"
    error[dtype]: zeros: the device torch has no u16
      because: torch has no such types (https://docs.pytorch.org/docs/stable/tensors.html)
      supported: bool u8 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128
      help: ask for one that is supported
    ");
    assert!(refused(&with_device(torch(), || Array::from([1u16]) + 1)).headline().contains("no u16"));
    gives(Ok(dtype(DType::U16).zeros(1)), DType::U16, &[0u16]);
}

// I53 "Only one of these decorators can be specified for any given function."
// In Ivy both pass, and every query and call fails then. Here one declaration names one of them, by its type.
#[test]
fn exactly_one_of_supported_and_unsupported() {
    let supported = Restriction::supported(DTypeSet::FLOAT).unwrap();
    let unsupported = Restriction::unsupported(DTypeSet::FLOAT);
    assert_eq!(supported.dtypes() | unsupported.dtypes(), DTypeSet::ALL);
    assert_eq!(supported.dtypes().intersection(unsupported.dtypes()), DTypeSet::EMPTY);
    // Several declarations of a function all hold.
    let f = jit(|x| x + 1).restrict_dtypes(supported).restrict_dtypes(Restriction::unsupported(DType::F16));
    assert_eq!(supports!(f, F32).to_string(), "bf16 f32 f64");
    assert_snapshot!(text(Restriction::supported(DTypeSet::EMPTY).unwrap_err()), @"
    error[dtype]: restrict_dtypes: no dtype is supported
      help: name at least one dtype, or those that are unsupported: `Restriction::unsupported(…)`
    ");
}

// I54 @with_supported_dtypes({…: ("float", "complex")}, backend_version)
#[test]
fn supported_means_all_others_unsupported() {
    let f = jit(|x| x + 1).restrict_dtypes(Restriction::supported(DTypeSet::FLOAT | DTypeSet::COMPLEX).unwrap());
    assert_eq!(supports!(f, F32).to_string(), "bf16 f16 f32 f64 c64 c128");
    assert_eq!(f.call((&[1i32],)).unwrap_err().code(), ErrorCode::DType);
    assert!(f.call((&[1.0f32],)).is_ok());
}

// I55 @with_unsupported_dtypes({…: …}, backend_version)
#[test]
fn unsupported_means_all_others_supported() {
    let f = jit(|x| x + 1).restrict_dtypes(Restriction::unsupported(DTypeSet::FLOAT | DTypeSet::COMPLEX));
    assert_eq!(supports!(f, I32).to_string(), "bool u8 u16 u32 u64 i8 i16 i32 i64");
    assert_eq!(f.call((&[1.0f32],)).unwrap_err().code(), ErrorCode::DType);
    assert!(f.call((&[1i32],)).is_ok());
}

// I56 "a dictionary with the unsupported dtypes mapped to the corresponding version of the backend framework and the current
// version"
// ndjit has one version, its own; two versions of a backend are two devices.
#[test]
fn support_depends_on_the_version() {
    let (old, new) = (without("backend_2_0_1", Op::Exp, DType::F16), without("backend_2_1", Op::Exp, DTypeSet::EMPTY));
    assert!(!supported_dtypes(Op::Exp, old).contains(DType::F16));
    assert!(supported_dtypes(Op::Exp, new).contains(DType::F16));
}

// I57 @with_unsupported_dtypes({"2.0.1 and below": ("float16",)}, backend_version)
// def expm1(x: torch.Tensor, /, *, out: Optional[torch.Tensor] = None) -> torch.Tensor
#[test]
fn expm1_does_not_take_float16() {
    assert!(unsupported_dtypes(Op::Exp, torch()).contains(DType::F16));
    let half = with_device(torch(), || exp(Array::from([f16::ONE])));
    assert_snapshot!(text(refused(&half)), @"
    error[dtype]: exp: f16 is not supported on the device torch
      x: f16[1] held as data
      because: Ivy declares it of expm1 (https://docs.ivy.dev)
      supported: bf16 f32 f64
      help: cast explicitly: `cast(Array::from([f16::ONE]), DType::F32)`; or `with_casting(CastingModes::UP, || …)` casts to f32
    ");
    assert!(with_device(torch(), || exp(Array::from([1.0f32]))).eval().is_ok());
}

// I58 @with_unsupported_dtypes({"2.0.1 and below": ("float16", "bfloat16")}, "torch")
// def trace(input): if "int" in input.dtype: input = input.astype("int64") …
#[test]
fn frontend_trace_does_not_take_halves() {
    let f = jit!(|x| if x.dtype().is_int() { x.cast(DType::I64) + x } else { x + x });
    let f = f.restrict_dtypes(Restriction::unsupported([DType::F16, DType::Bf16]));
    assert_eq!(f.call((&[f16::ONE],)).unwrap_err().code(), ErrorCode::DType);
    gives(f.call((&[3u8],)), DType::I64, &[6i64]);
    gives(f.call((&[1.5f32],)), DType::F32, &[3.0f32]);
    assert!(!supports!(f, F32).contains(DType::Bf16));
}

// I59 "traverse the abstract syntax tree of the compositional function and evaluate the relevant attributes for each primary
// function"; "The same approach applies for most stateful methods"
#[test]
fn composition_infers_its_support() {
    let (integers, reals) = (jit(|x| x ^ 1), jit(|x| exp(x)));
    let (f, g) = (supports!(integers, I32), supports!(reals, F32));
    assert_eq!((f.to_string(), g), ("bool u8 u16 u32 u64 i8 i16 i32 i64".to_owned(), DTypeSet::ALL));
    let composed = jit(move |x| reals.inline((integers.inline((x,)),)));
    let traced = composed.trace(&[spec(DType::I32, [1])]).unwrap();
    assert_eq!(traced.supported_dtypes().unwrap(), f.intersection(g));
    let excluded: DTypeSet = traced.inferred_dtypes().unwrap().unsupported.iter().map(|not| not.dtype).collect();
    let without = |supported: DTypeSet| DTypeSet::ALL.difference(supported);
    assert_eq!(excluded, without(f) | without(g));
}

// I61 @with_unsupported_dtypes{{"2.0.1 and below": ("unsigned", "bfloat16", "float16")}, backend_version)
// "would consider uint8, uint16, uint32, uint64, bfloat16 and float16 as unsupported"
#[test]
fn unsigned_bfloat16_float16_unsupported() {
    let class = "unsigned".parse::<DTypeSet>().unwrap();
    let declared = Restriction::unsupported(class | DType::Bf16 | DType::F16);
    assert_eq!(DTypeSet::ALL.difference(declared.dtypes()).to_string(), "u8 u16 u32 u64 bf16 f16");
    let f = jit(|x| x + 1).restrict_dtypes(declared);
    assert_eq!(supports!(f, I32), declared.dtypes());
}

// I62 "if a certain dtype is already present in the ivy.invalid_dtypes then we should not add it to the decorator"
#[test]
fn unsupported_is_not_invalid() {
    let both = Device::describe("both")
        .invalid(DTypeSet::UNSIGNED, "made up", "https://example.org")
        .unsupported(Op::ALL, DType::U8 | DType::F16, "made up", "https://example.org")
        .register()
        .unwrap();
    for device in [both, torch(), Device::CPU] {
        let invalid = invalid_dtypes(device, DTypeSet::ALL);
        for op in Op::ALL {
            let (supported, unsupported) = (supported_dtypes(op, device), unsupported_dtypes(op, device));
            assert_eq!(unsupported.intersection(invalid), DTypeSet::EMPTY, "{op} on {device}");
            assert_eq!(supported.len() + unsupported.len() + invalid.len(), 15, "{op} on {device}");
            assert_eq!(supported | unsupported | invalid, DTypeSet::ALL, "{op} on {device}");
        }
    }
    assert!(unsupported_dtypes(Op::Add, both).contains(DType::F16));
}

// I65 @with_unsupported_device_and_dtypes({"2.5.1 and below": {"cpu": ("int8", "int16", "uint8")}}, backend_version)
// def gcd(x1, x2, /, *, out=None): x1, x2 = promote_types_of_inputs(x1, x2); return paddle.gcd(x1, x2)
// `bitwise_and` stands for `gcd`.
#[test]
fn gcd_support_depends_on_the_device() {
    let cpu = without("paddle_cpu", Op::BitwiseAnd, [DType::I8, DType::I16, DType::U8]);
    let gpu = without("paddle_gpu", Op::BitwiseAnd, DTypeSet::EMPTY);
    let and = || Array::from([6i8]) & Array::from([4i8]);
    assert_eq!(refused(&with_device(cpu, and)).code(), ErrorCode::DType);
    gives(Ok(with_device(gpu, and)), DType::I8, &[4i8]);
    assert_eq!(
        (
            supported_devices(Op::BitwiseAnd, DType::I8).contains(&cpu),
            supported_devices(Op::BitwiseAnd, DType::I32).contains(&cpu)
        ),
        (false, true)
    );
    // Promoted first: of i8 with i32 the i32 counts.
    gives(Ok(with_device(cpu, || Array::from([6i8]) & Array::from([4i32]))), DType::I32, &[4i32]);
}

// I66 with with_unsupported_dtypes({"0.4.11 and below": ("complex",)}, backend_version):
//     def f1(*args, **kwargs): pass
//     def f2(*args, **kwargs): pass
#[test]
fn restrictions_apply_to_a_scope() {
    let z = Array::from([Complex::new(1.0f32, 2.0)]);
    let [f1, f2]: [fn(&Array) -> Array; 2] = [|x| x + 1, |x| x * 2];
    let inside = restrict_dtypes(Restriction::unsupported(DTypeSet::COMPLEX), || [f1(&z), f2(&z)]);
    for array in inside {
        assert!(refused(&array).headline().contains("c64 is not supported here"));
    }
    assert!(f1(&z).eval().is_ok() && f2(&z).eval().is_ok());
}

// I67 "lossy" cases are declared unsupported: each row of data says why, and where that is written
#[test]
fn lossy_cases_are_declared_unsupported() {
    torch();
    for device in devices() {
        assert!(device.gaps().iter().all(|gap| !gap.reason.is_empty() && gap.link.starts_with("https://")), "{device}");
    }
}

// I69 x = torch.randint(1, 10, ([1, 2, 3]), dtype=torch.int32); torch.tensordot(x, x, dims=([0], [0]))
// # ToDo: re-add int32 support once (https://github.com/pytorch/pytorch/issues/84530) is fixed
// @with_unsupported_dtypes({"2.0.1 and below": ("int32",)}, backend_version)
// `multiply` stands for `tensordot`.
#[test]
fn tensordot_int32_declared_because_of_a_bug() {
    let link = "https://github.com/pytorch/pytorch/issues/84530";
    let device =
        Device::describe("torch_2_0_1").unsupported([Op::Multiply], DType::I32, "a bug", link).register().unwrap();
    let product = with_device(device, || Array::from([3i32]) * Array::from([3i32]));
    assert!(refused(&product).facts().iter().any(|fact| fact.contains(link)));
    gives(Ok(with_device(device, || Array::from([3i64]) * Array::from([3i64]))), DType::I64, &[9i64]);
}

// I70 x = torch.tensor([0], dtype=torch.float32); torch.cumsum(x, axis=0, dtype=torch.bfloat16)
// An error in 1.11.0, not in 1.12.1: the dtype asked for is checked as well as the array's. A creation function stands for it.
#[test]
fn cumsum_bfloat16_bug() {
    let device =
        Device::describe("torch_1_11").invalid(DType::Bf16, "a bug", "https://example.org").register().unwrap();
    let x = Array::from([0.0f32]);
    assert!(refused(&with_device(device, || dtype(DType::Bf16).zeros_like(&x))).headline().contains("no bf16"));
    assert!(refused(&with_device(device, || x.cast(DType::Bf16))).headline().contains("no bf16"));
    assert!(with_device(device, || dtype(DType::F64).zeros_like(&x)).eval().is_ok());
}

// I71 @with_unsupported_dtypes({"2.0.1 and below": ("uint8", "bfloat16", "float16"), "1.12.1": ()}, backend_version)
// def cumsum(x, axis=0, exclusive=False, reverse=False, *, dtype=None, out=None)
// "if the current version is not found in the dictionary, then it defaults to the behaviour of the last known version"
// The dictionary is the user's, and so is what to look up in it: here as Ivy does, the version itself, else the first range it is
// in, else the last row. (The page also says that "starting from version 1.12.1" all is supported; its range says otherwise of
// 1.13.) What it gives is a device, or a declaration. `negative` stands for `cumsum`.
#[test]
fn cumsum_support_by_version() {
    type Version = [u32; 3];
    enum Versions {
        Below(Version),
        One(Version),
    }
    let halves = DType::Bf16 | DType::F16;
    let table = [(Versions::Below([2, 0, 1]), halves | DType::U8), (Versions::One([1, 12, 1]), DTypeSet::EMPTY)];
    let unsupported = |version: Version| {
        let one = |(versions, _): &&(Versions, DTypeSet)| matches!(versions, Versions::One(one) if *one == version);
        let range =
            |(versions, _): &&(Versions, DTypeSet)| matches!(versions, Versions::Below(last) if version <= *last);
        let row = table.iter().find(one).or_else(|| table.iter().find(range)).or(table.last());
        row.map_or(DTypeSet::EMPTY, |(_, dtypes)| *dtypes)
    };
    let old = halves | DType::U8;
    let versions = [[1, 11, 0], [1, 12, 1], [1, 13, 0], [2, 0, 1], [2, 1, 0]];
    for (version, expected) in versions.into_iter().zip([old, DTypeSet::EMPTY, old, old, DTypeSet::EMPTY]) {
        let [major, minor, patch] = version;
        let torch = without(&format!("torch_cumsum_{major}_{minor}_{patch}"), Op::Negative, unsupported(version));
        let f = jit!(|x| x.negative()).restrict_dtypes(Restriction::unsupported(unsupported(version)));
        for (dtype, x) in [(DType::U8, Array::from([1u8])), (DType::F32, Array::from([1.0f32]))] {
            let taken = !expected.contains(dtype);
            assert_eq!(with_device(torch, || -&x).eval().is_ok(), taken, "{dtype} in {version:?}");
            assert_eq!(f.call((&x,)).is_ok(), taken, "{dtype} in {version:?}");
        }
        let all_but_bool = DTypeSet::ALL.difference(DType::Bool.into());
        assert_eq!(supported_dtypes(Op::Negative, torch), all_but_bool.difference(expected));
    }
}

// I72 "The same workflow has been implemented for supported_dtypes, unsupported_devices and supported_devices"
#[test]
fn same_for_supported_and_devices() {
    let torch = torch();
    for dtype in DType::ALL {
        let (yes, no) = (supported_devices(Op::Exp, dtype), unsupported_devices(Op::Exp, dtype));
        assert_eq!(yes.contains(&torch), supported_dtypes(Op::Exp, torch).contains(dtype), "{dtype}");
        assert!(yes.contains(&torch) != no.contains(&torch) && yes.contains(&Device::CPU) != no.contains(&Device::CPU));
    }
    assert!(supported_devices(Op::Exp, DType::F16).contains(&Device::CPU));
}

// R14 valid_dtype(None) -> True, ivy.float64, 'bool' True; invalid_dtype(None) -> False, "uint64" False (no backend set)
#[test]
fn valid_and_invalid_dtype_docstring() {
    for dtype in [DType::F64, DType::Bool, DType::F16, DType::U64] {
        assert!(valid_dtypes(None, dtype).contains(dtype) && !invalid_dtypes(None, DTypeSet::ALL).contains(dtype));
    }
    assert!(invalid_dtypes(torch(), DTypeSet::ALL).contains(DType::U64));
}

// R20 ivy.function_unsupported_dtypes(ivy.acosh) on torch -> ('float16', 'uint16', 'uint32', 'uint64')
// The docstring lists the invalid dtypes with the unsupported ones; the page keeps them apart (I62), as ndjit does. `exp` stands
// for `acosh`; here an op's domain is what it computes in, so integers, which become floats, are not in it.
#[test]
fn function_unsupported_dtypes_docstring() {
    let unsupported = unsupported_dtypes(Op::Exp, torch());
    assert!(unsupported.contains(DType::F16) && !unsupported.contains(DType::U16));
    assert_eq!(supported_dtypes(Op::Exp, torch()).to_string(), "bf16 f32 f64");
    let taken = with_device(torch(), || supports!(jit(|x| exp(x)), F32));
    assert_eq!(taken.to_string(), "bool u8 i8 i16 i32 i64 bf16 f32 f64");
}
