//! The dtypes of devices and ops: the queries are consistent for every op, device and dtype; wrong descriptions are refused.

use insta::assert_snapshot;
use ndjit_ir::support::*;
use ndjit_ir::{DType, DTypeSet, Op};

const LINK: &str = "https://docs.ivy.dev/overview/deep_dive/data_types.html";

/// Ivy's description of torch, with one more row about a dtype that is invalid anyway.
fn torch() -> Device {
    Device::describe("torch_like")
        .invalid([DType::U16, DType::U32, DType::U64], "torch has no such types", LINK)
        .unsupported([Op::Exp], DTypeSet::COMPLEX | DType::F16, "declared for expm1", LINK)
        .unsupported([Op::Add, Op::Multiply], DTypeSet::UNSIGNED, "classes may hold invalid dtypes", LINK)
        .register()
        .unwrap()
}

#[test]
fn every_dtype_is_one_of_supported_unsupported_and_invalid() {
    let devices = [None, Some(Device::CPU), Some(torch())];
    for (op, device) in Op::ALL.into_iter().flat_map(|op| devices.map(|device| (op, device))) {
        let supported = supported_dtypes(op, device);
        let unsupported_set = unsupported_dtypes(op, device);
        let invalid = invalid_dtypes(device, DTypeSet::ALL);
        assert!(unsupported_set.intersection(invalid).is_empty(), "{op} on {device:?}");
        assert!(supported.intersection(invalid | unsupported_set).is_empty(), "{op} on {device:?}");
        assert_eq!(supported | unsupported_set | invalid, DTypeSet::ALL, "{op} on {device:?}");
        for dtype in DType::ALL {
            let why = unsupported(op, dtype, device);
            assert_eq!(why.is_none(), supported.contains(dtype), "{op} {dtype} on {device:?}");
            assert_eq!(matches!(why, Some(Unsupported::Invalid(..))), invalid.contains(dtype), "{op} {dtype}");
            assert!(why.is_none_or(|why| !why.reason().is_empty() && why.link().starts_with("https://")));
        }
    }
}

#[test]
fn the_processor_and_no_device_take_what_ops_compute_in() {
    for op in Op::ALL {
        assert_eq!(supported_dtypes(op, None), op.row().domain);
        assert_eq!(supported_dtypes(op, Device::CPU), op.row().domain);
    }
    assert_eq!(valid_dtypes(None, DTypeSet::ALL), DTypeSet::ALL);
    assert!(invalid_dtypes(None, DTypeSet::ALL).is_empty());
}

#[test]
fn valid_and_invalid_per_class() {
    let torch = torch();
    for (_, class) in DTypeSet::CLASSES {
        assert_eq!(valid_dtypes(torch, class) | invalid_dtypes(torch, class), class);
        assert!(valid_dtypes(torch, class).intersection(invalid_dtypes(torch, class)).is_empty());
    }
    assert_snapshot!(valid_dtypes(torch, DTypeSet::INT), @"u8 i8 i16 i32 i64");
    assert_snapshot!(valid_dtypes(torch, DTypeSet::UNSIGNED), @"u8");
    assert_snapshot!(invalid_dtypes(torch, DTypeSet::ALL), @"u16 u32 u64");
    assert!(invalid_dtypes(torch, DTypeSet::FLOAT).is_empty());
}

#[test]
fn devices_by_op_and_dtype() {
    let torch = torch();
    assert!(devices().contains(&Device::CPU) && devices().contains(&torch));
    for op in Op::ALL {
        for dtype in DType::ALL {
            // Other tests describe devices at the same time.
            let all = devices();
            let (yes, no) = (supported_devices(op, dtype), unsupported_devices(op, dtype));
            assert_eq!(yes.contains(&torch), supported_dtypes(op, torch).contains(dtype));
            assert_eq!(yes.contains(&Device::CPU), op.row().domain.contains(dtype));
            assert!(yes.iter().all(|device| !no.contains(device)));
            assert!(all.iter().all(|device| yes.contains(device) || no.contains(device)));
        }
    }
}

#[test]
fn reasons() {
    let torch = torch();
    let why = |op, dtype| unsupported(op, dtype, torch).unwrap().to_string();
    assert_snapshot!(why(Op::Exp, DType::F16), @"torch_like does not do exp in f16: declared for expm1");
    assert_snapshot!(why(Op::Add, DType::U8), @"torch_like does not do add in u8: classes may hold invalid dtypes");
    assert_snapshot!(why(Op::Add, DType::U16), @"torch_like has no u16: torch has no such types");
    assert_snapshot!(why(Op::Cbrt, DType::I32), @"cbrt computes in bf16 f16 f32 f64 only: it is computed in floating point; policies that allow it convert integers first");
    assert_snapshot!(why(Op::Cbrt, DType::Bool), @"cbrt computes in bf16 f16 f32 f64 only: it is computed in floating point; policies that allow it convert integers first");
    assert_snapshot!(why(Op::Floor, DType::C64), @"floor computes in bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 only: it is defined for real numbers");
    let complex = unsupported(Op::Silu, DType::C64, None).unwrap();
    assert_snapshot!(format!("{complex}\n{}", complex.link()), @r"
    silu computes in bf16 f16 f32 f64 only: JAX's takes complex numbers; here this is not written yet
    https://docs.jax.dev/en/latest/_autosummary/jax.nn.silu.html
    ");
}

#[test]
fn wrong_descriptions_are_refused() {
    let refused = |name: &str| Device::describe(name).register().unwrap_err().to_string();
    assert_snapshot!(refused("two words"), @r"
    error[dtype]: device: the name `two words` is not one word
      help: use letters, digits and `_`
    ");
    assert_snapshot!(refused("cpu"), @r"
    error[dtype]: device: `cpu` is described already
      help: it is `Device::CPU` or `Device::gpu()`; choose another name
    ");
    assert!(refused("gpu1").contains("`gpu1` is described already"));
    assert_eq!(torch(), torch());
    assert_snapshot!(refused("torch_like"), @r"
    error[dtype]: device: another device is named `torch_like`
      help: devices are told apart by name: choose another
    ");
}

#[test]
fn gpus_have_their_places_before_anything_is_known_of_them() {
    let gpu = Device::gpu();
    assert_eq!((gpu.name(), gpu.gpu_number(), Device::gpus(0)), ("gpu", Some(0), Some(gpu)));
    assert_eq!((Device::CPU.gpu_number(), Device::gpus(8)), (None, None));
    // Those opened with options are no others' numbers.
    let optioned = Device::with_options(0).unwrap();
    assert_eq!((optioned.name(), optioned.gpu_number()), ("gpu (options 1)", Some(8)));
    assert!((0..8).all(|n| Device::gpus(n) != Some(optioned)));
    let third = Device::gpus(3).unwrap();
    assert_eq!((third.name(), third.valid_dtypes()), ("gpu3", DTypeSet::ALL));
    assert!(!Device::all().contains(&third));
    let gap = |dtypes: DTypeSet| Gap { ops: Vec::new(), dtypes, reason: "it has none".into(), link: String::new() };
    third.set_gaps(vec![gap(DType::F64.into()), gap(DType::I64.into())]);
    third.emulating().set_gaps(vec![gap(DType::F64.into())]);
    // The first description wins.
    third.set_gaps(Vec::new());
    assert!(third.invalid(DType::I64).is_some() && third.emulating().invalid(DType::I64).is_none());
    assert!(third.emulating().invalid(DType::F64).is_some());
    assert_eq!(third.emulating().gpu_number(), Some(3));
    assert!(Device::all().contains(&third));
    assert_eq!(Device::CPU.emulating(), Device::CPU);
    Device::CPU.set_gaps(vec![gap(DType::F32.into())]);
    assert_eq!(Device::CPU.valid_dtypes(), DTypeSet::ALL);
}

#[test]
fn declarations() {
    let error = Restriction::supported(DTypeSet::EMPTY).unwrap_err().to_string().replace(file!(), "devices.rs");
    let line = line!() - 1;
    assert_eq!(
        error,
        format!(
            "error[dtype]: restrict_dtypes: no dtype is supported\n  at devices.rs:{line}:17\n  help: name at least one \
             dtype, or those that are unsupported: `Restriction::unsupported(…)`"
        )
    );
    let classes = Restriction::unsupported(DTypeSet::UNSIGNED | DType::Bf16 | DType::F16);
    assert_snapshot!(DTypeSet::ALL.difference(classes.dtypes()), @"u8 u16 u32 u64 bf16 f16");
    assert_eq!(Restriction::unsupported(DTypeSet::EMPTY).dtypes(), DTypeSet::ALL);

    let (floats, no_f64) = (Restriction::supported(DTypeSet::FLOAT).unwrap(), Restriction::unsupported(DType::F64));
    let both = Restrictions::NONE.with(floats).with(no_f64);
    assert_snapshot!(both.dtypes(), @"bf16 f16 f32");
    assert_eq!(both.excluding(DType::F64), Some(no_f64));
    assert_eq!(both.excluding(DType::I8), Some(floats));
    assert_eq!(both.excluding(DType::F32), None);
    // Restrictions that exclude nothing more are dropped, so chains are bounded.
    assert_eq!(both.with(no_f64), both);
    assert_eq!(Restrictions::NONE.with(floats).with(no_f64), both);
}
