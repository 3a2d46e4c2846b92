//! Ivy's page "Data Types", casting modes: <https://docs.ivy.dev/overview/deep_dive/data_types.html>,
//! `docs/overview/deep_dive/data_types.rst` at 0afe7bbb. "Ivy gives" is what ivy 1.0.0.5 gives.
//!
//! `exp` stands for `expm1`, whose values it does not have, and `bitwise_xor` for `lcm`: both have the page's dtypes.

use super::ivy_support::{torch, without};
use super::support::{both, gives, text};
use insta::assert_snapshot;
use ndjit::{
    Array, CastingModes, Complex, DType, DTypeSet, Defaults, Device, ErrorCode, Mode, Op, Policy, Stage, casting, exp,
    f16, jit, spec, with_casting, with_defaults, with_device, with_policy,
};

/// The dtype of `negative` for `dtype` on a device under casting modes; `None` for the usual error.
fn negative(device: Device, modes: CastingModes, dtype: DType) -> Option<DType> {
    let x = Array::from([1u8]).cast(dtype);
    let result = with_device(device, || with_casting(modes, || -&x));
    match result.eval() {
        Ok(array) => Some(array.dtype()),
        Err(error) => {
            assert_eq!(error.code(), ErrorCode::DType);
            None
        }
    }
}

fn halves(values: &[f32]) -> Array {
    Array::from_iter(values.iter().copied().map(f16::from_f32))
}

// I73 upcast_data_types, downcast_data_types, crosscast_data_types, cast_data_types; all off at first
#[test]
fn four_casting_modes() {
    assert_eq!(casting(), CastingModes::ERROR);
    assert_eq!(CastingModes::UP | CastingModes::DOWN | CastingModes::CROSS, CastingModes::ALL);
    for modes in [CastingModes::UP, CastingModes::DOWN, CastingModes::CROSS, CastingModes::ALL] {
        assert_eq!(with_casting(modes, casting), modes);
    }
    let device = without("no_f16", Op::Negative, DType::F16);
    assert_eq!(negative(device, CastingModes::ERROR, DType::F16), None);
}

// I74 "casts the unsupported dtype encountered to the next highest supported dtype in the same dtype group"
#[test]
fn upcast_goes_to_the_next_supported_of_the_group() {
    let device = without("no_small", Op::Negative, DType::I8 | DType::I16 | DType::F16 | DType::C64);
    let cases =
        [(DType::I8, DType::I32), (DType::I16, DType::I32), (DType::F16, DType::F32), (DType::C64, DType::C128)];
    for (from, to) in cases {
        assert_eq!(negative(device, CastingModes::UP, from), Some(to), "{from}");
    }
    assert_eq!(negative(device, CastingModes::UP, DType::I64), Some(DType::I64), "supported as it is");
}

// I75 "If no higher uint dtype is available, then there won't be any upcasting performed."
#[test]
fn upcast_without_a_higher_dtype_does_nothing() {
    let device = without("no_wide", Op::Negative, DTypeSet::FLOAT | DType::I64 | DType::U64);
    for dtype in [DType::I64, DType::U64, DType::F16, DType::F64] {
        assert_eq!(negative(device, CastingModes::UP, dtype), None, "{dtype}");
    }
    // Torch has one unsigned dtype; bool has no group.
    let bytes = Device::describe("torch_bytes")
        .invalid([DType::U16, DType::U32, DType::U64], "torch has no such types", "https://docs.pytorch.org")
        .unsupported([Op::Negative], DType::U8, "made up", "https://example.org")
        .register();
    assert_eq!(negative(bytes.unwrap(), CastingModes::UP, DType::U8), None);
    assert_eq!(negative(Device::CPU, CastingModes::UP, DType::Bool), None);
}

// I76 "ivy.upcast_data_types() with an optional val keyword argument that defaults to True"
#[test]
fn modes_take_a_bool() {
    for (mode, alone) in
        [(Mode::Up, CastingModes::UP), (Mode::Down, CastingModes::DOWN), (Mode::Cross, CastingModes::CROSS)]
    {
        assert_eq!(CastingModes::ERROR.with(mode, true), alone);
        assert_eq!(alone.with(mode, false), CastingModes::ERROR);
        assert!(!CastingModes::ALL.with(mode, false).has(mode));
    }
}

// I77 "next lower supported dtype in the same dtype group. No casting is performed if no lower dtype is found"
// In Ivy float16 goes to bfloat16. They are not ordered here: neither goes to the other.
#[test]
fn downcast_goes_to_the_next_lower_of_the_group() {
    let device = without("no_lower", Op::Negative, DType::F32 | DType::I16 | DType::I8 | DType::C128);
    assert_eq!(negative(device, CastingModes::DOWN, DType::F32), Some(DType::F16));
    assert_eq!(negative(device, CastingModes::DOWN, DType::C128), Some(DType::C64));
    assert_eq!(negative(device, CastingModes::DOWN, DType::I8), None);
    assert_eq!(negative(device, CastingModes::DOWN, DType::I16), None, "int8 is not supported either");
    let only_i16 = without("no_i16", Op::Negative, DType::I16 | DType::F16);
    assert_eq!(negative(only_i16, CastingModes::DOWN, DType::I16), Some(DType::I8));
    assert_eq!(negative(only_i16, CastingModes::DOWN, DType::F16), None);
}

// I78 "when a function doesn't support int dtypes, but supports float … cast to the default supported float dtype if it's the
// unsupported integer case"
#[test]
fn crosscast_integers_to_the_default_float() {
    let device = without("no_integers", Op::Negative, DTypeSet::INT);
    for int in DType::ALL_INT {
        assert_eq!(negative(device, CastingModes::CROSS, int), Some(DType::F32), "{int}");
    }
    let wide = Defaults { float: DType::F64, ..Defaults::BITS_32 };
    assert_eq!(with_defaults(wide, || negative(device, CastingModes::CROSS, DType::I8)), Ok(Some(DType::F64)));
    // Some integer is supported: nothing is crossed.
    assert_eq!(negative(without("no_i8", Op::Negative, DType::I8), CastingModes::CROSS, DType::I8), None);
}

// I79 "or … the default supported int dtype if unsupported float case"
#[test]
fn crosscast_floats_to_the_default_int() {
    let device = without("no_floats", Op::Negative, DTypeSet::FLOAT);
    for float in DType::ALL_FLOAT {
        assert_eq!(negative(device, CastingModes::CROSS, float), Some(DType::I32), "{float}");
    }
    // Ivy's rule looks at no more than the floats, and would drop the imaginary part.
    let neither = without("no_inexact", Op::Negative, DTypeSet::FLOAT | DTypeSet::COMPLEX);
    assert_eq!(negative(neither, CastingModes::CROSS, DType::C64), None);
}

// I80 "works its way from crosscasting to upcasting and finally to downcasting"
#[test]
fn cast_is_cross_then_up_then_down() {
    let all =
        |name: &str, dtypes: DTypeSet, dtype| negative(without(name, Op::Negative, dtypes), CastingModes::ALL, dtype);
    assert_eq!(all("without_i8", DType::I8.into(), DType::I8), Some(DType::I16), "up");
    assert_eq!(all("without_i16", DType::I16.into(), DType::I16), Some(DType::I32), "up before down");
    assert_eq!(all("without_i64", DType::I64.into(), DType::I64), Some(DType::I32), "down");
    assert_eq!(all("without_floats", DTypeSet::FLOAT, DType::F16), Some(DType::I32), "cross");
    assert_eq!(all("without_f16", DType::F16.into(), DType::F16), Some(DType::F32), "up");
}

// I81 ivy.set_backend('torch')
// ret = ivy.expm1(ivy.array([1], dtype='float16'))  # raises exception
// ivy.upcast_data_types()
// ret = ivy.expm1(ivy.array([1], dtype='float16'))  # doesn't raise exception
// Ivy itself has no check: today's torch takes float16, and with the mode Ivy 1.0.0.5 recurses without end. The rule in its code
// gives float32, not cast back.
#[test]
fn expm1_f16_upcast() {
    let x = halves(&[1.0]);
    let error = with_device(torch(), || exp(&x)).eval().unwrap_err().clone();
    assert_eq!((error.code(), error.headline()), (ErrorCode::DType, "exp: f16 is not supported on the device torch"));
    let up = with_device(torch(), || with_casting(CastingModes::UP, || both!(|x| x.exp(), x)));
    gives(up, DType::F32, &[std::f32::consts::E]);
}

// I82 ivy.downcast_data_types(); ret = ivy.expm1(ivy.array([1], dtype='float16'))  # doesn't raise exception
// Ivy gives bfloat16 there. No dtype is below float16 here (see I77), so this is the usual error.
#[test]
fn expm1_f16_downcast() {
    let down = || with_casting(CastingModes::DOWN, || both!(|x| x.exp(), halves(&[1.0])));
    assert_snapshot!(text(with_device(torch(), down).unwrap_err()), @"
    error[dtype]: exp: f16 is not supported on the device torch
      x: f16[1] from argument 0
      because: Ivy declares it of expm1 (https://docs.ivy.dev)
      supported: bf16 f32 f64
      help: cast explicitly: `cast(x, DType::F32)`; or `with_casting(CastingModes::UP, || …)` casts to f32
    ");
}

// I83 ivy.cast_data_types(); ret = ivy.expm1(ivy.array([1], dtype='float16'))  # doesn't raise exception
#[test]
fn expm1_f16_cast_all() {
    let all = || with_casting(CastingModes::ALL, || both!(|x| x.exp(), halves(&[1.0])));
    gives(with_device(torch(), all), DType::F32, &[std::f32::consts::E]);
}

// I84 @with_unsupported_dtypes({"2.0.1 and below": ("float",)}, backend_version) def lcm(x1, x2, /, *, out=None)
// ret = ivy.lcm(ivy.array([1], dtype='float16'), ivy.array([1], dtype='float16'))  # raises exception
// ivy.crosscast_data_types()
// ret = ivy.lcm(ivy.array([1], dtype='float16'), ivy.array([1], dtype='float16'))  # doesn't raise exception
// "it is casted to the default integer dtype, i.e int32"
#[test]
fn lcm_f16_crosscast() {
    let xor = |modes| with_casting(modes, || both!(|x, y| x ^ y, halves(&[6.0, 2.7]), halves(&[3.0, 1.0])));
    for modes in [CastingModes::ERROR, CastingModes::UP, CastingModes::DOWN] {
        assert_eq!(xor(modes).unwrap_err().code(), ErrorCode::DType, "{modes}");
    }
    gives(xor(CastingModes::CROSS), DType::I32, &[5i32, 3]);
    gives(xor(CastingModes::ALL), DType::I32, &[5i32, 3]);
    let wide = Defaults { int: DType::I64, ..Defaults::BITS_32 };
    gives(with_defaults(wide, || xor(CastingModes::CROSS)).unwrap(), DType::I64, &[5i64, 3]);
}

// I85 "In cases where there is no other supported dtype available to cast to, casting mode won't work and the function would
// throw the usual error."
#[test]
fn no_candidate_is_the_usual_error() {
    let z = Array::from([Complex::new(1.0f32, 2.0)]);
    let usual = with_device(torch(), || exp(&z)).eval().unwrap_err().headline().to_owned();
    for modes in [CastingModes::UP, CastingModes::DOWN, CastingModes::CROSS, CastingModes::ALL] {
        let error = with_device(torch(), || with_casting(modes, || exp(&z))).eval().unwrap_err().clone();
        assert_eq!((error.code(), error.headline()), (ErrorCode::DType, usual.as_str()), "{modes}");
    }
}

// I86 Casting "may lead to loss of precision and/or an increase in memory"
// So each cast is seen: in the traced graph with its mode.
#[test]
fn casting_may_lose_precision_or_use_memory() {
    let f = jit(|x| exp(x) + 1);
    let traced =
        with_device(torch(), || with_casting(CastingModes::UP, || f.trace(&[spec(DType::F16, [1000])]))).unwrap();
    assert_eq!(traced.results(), [spec(DType::F32, [1000])]);
    let graph = traced.lower().unwrap().explain(Stage::Graph);
    assert!(graph.contains("= cast[up] %0 : f32[1000]"), "{graph}");
}

// I87 "tensorflow.cos only supports non-integer values … we simply promote any integer array passed to the function to the
// default float dtype"
// Ivy does not: on TensorFlow it fails, on NumPy it is float64 of int32 and float16 of int8. Its policies follow that; the
// page's rule is PyTorch's. By default 64-bit integers give float64.
#[test]
fn cos_of_integers_is_the_default_float() {
    let cos = |policy, x: Array| both!(|x| with_policy(policy, move || x.cos()), x);
    for policy in [Policy::Standard, Policy::Torch] {
        gives(cos(policy, Array::from([0i32, 1])), DType::F32, &[1.0f32, 0.540_302_3]);
        gives(cos(policy, Array::from([0u8])), DType::F32, &[1.0f32]);
    }
    assert_eq!(cos(Policy::Torch, Array::from([0i64])).unwrap().dtype(), DType::F32);
    assert_eq!(cos(Policy::Standard, Array::from([0i64])).unwrap().dtype(), DType::F64);
    assert_eq!(cos(Policy::IvyPrecise, Array::from([0i32])).unwrap().dtype(), DType::F64);
    assert_eq!(cos(Policy::IvyPrecise, Array::from([0i8])).unwrap().dtype(), DType::F16);
    assert_eq!(cos(Policy::TensorFlow, Array::from([0i32])).unwrap_err().code(), ErrorCode::Promotion);
}
