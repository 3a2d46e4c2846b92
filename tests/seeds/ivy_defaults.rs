//! Ivy's page "Data Types", dtype arguments and default dtypes: <https://docs.ivy.dev/overview/deep_dive/data_types.html>,
//! `docs/overview/deep_dive/data_types.rst` at 0afe7bbb. "Ivy gives" is what ivy 1.0.0.5 gives on NumPy 1.26.
//!
//! A default dtype never depends on a value here. In Ivy `full(2, 3_000_000_000)` is int64 and `full(2, 1e300)` float64.
//! What the page sets for the whole process is set for a scope; `tests/seeds_global.rs` sets it globally.

use super::support::{gives, program};
use ndjit::{
    Array, Complex, DType, Defaults, ErrorCode, Policy, Shape, Stage, ValueType, Weak, arange, asarray, default_dtype,
    defaults, dtype, eye, f16, full, full_like, jit, linspace, ones, ones_like, strong, with_default_dtype,
    with_defaults, with_policy, zeros, zeros_like,
};

/// The dtypes of arrays.
fn dtypes<const N: usize>(arrays: [Array; N]) -> [DType; N] {
    arrays.map(|array| array.eval().unwrap_or_else(|e| panic!("{e}")).dtype())
}

/// Runs `body` with another default integer.
fn with_int<R>(int: DType, body: impl FnOnce() -> R) -> R {
    with_defaults(Defaults { int, ..defaults() }, body).unwrap()
}

/// Runs `body` with another default float.
fn with_float<R>(float: DType, body: impl FnOnce() -> R) -> R {
    with_defaults(Defaults { float, ..defaults() }, body).unwrap()
}

// I39 "All dtype arguments are keyword-only."
// Ivy's zeros(2, 'int8') is a TypeError. Here a shape is all that zeros takes: the compiler refuses a dtype beside it
// (`tests/wrong/creation_arguments.rs`).
#[test]
fn dtype_is_never_positional() {
    let shape_only: [fn(Shape) -> Array; 2] = [zeros, ones];
    for make in shape_only {
        assert_eq!(make(Shape::from([2, 8])).shape().extents(), [2, 8]);
    }
    assert_eq!(dtypes([dtype(DType::I8).zeros(2)]), [DType::I8]);
}

// I88 "All creation functions include the dtype argument"
#[test]
fn creation_functions_take_a_dtype() {
    let x = Array::from([1i32, 2]);
    for to in [DType::F16, DType::F64, DType::C64] {
        let d = dtype(to);
        let made = [d.zeros(2), d.ones(2), d.full(2, 1), d.empty(2), d.eye(2), d.linspace(0..=1, 2), d.asarray([1, 2])];
        assert_eq!(dtypes(made), [to; 7]);
        assert_eq!(dtypes([d.zeros_like(&x), d.ones_like(&x), d.full_like(&x, 3)]), [to; 3]);
    }
    assert_eq!(dtypes([dtype(DType::I8).arange(3), dtype(DType::F64).arange(3)]), [DType::I8, DType::F64]);
}

// I40 "such as ivy.prod and ivy.sum", which take a dtype because "compounding reduction … could result in overflows"
// Ivy gives prod(int8, dtype=int64) as int64. Functions that only shrink, as max, take none.
#[test]
fn sum_and_prod_take_a_dtype() {
    let x = Array::from([100i8, 100, 100]);
    gives(Ok(dtype(DType::I64).prod(&x, ..)), DType::I64, &[1_000_000i64]);
    gives(Ok(dtype(DType::I64).sum(&x, 0)), DType::I64, &[300i64]);
    gives(Ok(dtype(DType::I8).sum(&x, ..)), DType::I8, &[44i8]);
    // What it is for: under Ivy's own rule the sum of i8 is i8, and wraps.
    with_policy(Policy::IvyPrecise, || {
        gives(Ok(x.sum(..)), DType::I8, &[44i8]);
        gives(Ok(dtype(DType::I32).sum(&x, ..)), DType::I32, &[300i32]);
    });
}

// I41 1. "if the dtype argument is provided, use this directly"
#[test]
fn explicit_dtype_wins() {
    let x = Array::from([f16::ONE]);
    with_default_dtype(DType::I16, || {
        let d = dtype(DType::U8);
        assert_eq!(dtypes([d.zeros(2), d.full(2, 1), d.full_like(&x, 1), d.asarray(&x)]), [DType::U8; 4]);
    });
}

// I42 2. The dtype of an array argument
// Ivy's full_like of int32 with 3.5 is 3. Here a fraction is no integer, and an error.
#[test]
fn then_an_array_argument() {
    let (half, int) = (Array::from([f16::ONE]), Array::from([1i32]));
    with_default_dtype(DType::F64, || {
        gives(Ok(full_like(&half, 3.5)), DType::F16, &[f16::from_f32(3.5)]);
        gives(Ok(zeros_like(&half)), DType::F16, &[f16::ZERO]);
        gives(Ok(ones_like(&int)), DType::I32, &[1i32]);
        assert_eq!(full_like(&int, 3.5).error().unwrap().code(), ErrorCode::Literal);
    });
}

// I43 3. default_int_dtype for a relevant scalar that is an integer
#[test]
fn then_a_relevant_scalar_integer() {
    assert_eq!(dtypes([full(2, 1), asarray(1), arange(3)]), [DType::I32; 3]);
    with_int(DType::I64, || assert_eq!(dtypes([full(2, 1), asarray(1), arange(3)]), [DType::I64; 3]));
}

// I44 default_float_dtype for a relevant scalar that is a float; in Ivy's code the default complex dtype and bool likewise
#[test]
fn then_a_relevant_scalar_float() {
    assert_eq!(dtypes([full(2, 1.0), asarray(1.0), arange(3.0)]), [DType::F32; 3]);
    with_float(DType::F16, || assert_eq!(dtypes([full(2, 1.0), asarray(1.0), arange(3.0)]), [DType::F16; 3]));
    assert_eq!(dtypes([full(2, Complex::new(0.0, 1.0)), full(2, true)]), [DType::C64, DType::Bool]);
}

// I45 "settable via ivy.set_default_int_dtype and ivy.set_default_float_dtype"
#[test]
fn set_default_int_and_float_dtype() {
    with_int(DType::I8, || {
        assert_eq!(dtypes([full(2, 1), asarray(1), zeros(2)]), [DType::I8, DType::I8, DType::F32]);
    });
    with_float(DType::F64, || {
        assert_eq!(dtypes([full(2, 1.0), full(2, 1), zeros(2)]), [DType::F64, DType::I32, DType::F64])
    });
    assert!(with_defaults(Defaults { int: DType::F32, ..defaults() }, || ()).is_err());
}

// I46 "start in the function ivy.arange" is relevant
// Ivy's arange ignores the defaults, int32 and float32 being written into it; here they hold, as its page says.
#[test]
fn arange_start_is_relevant() {
    let three = || dtypes([arange(3), arange(3.0), arange((0, 3, 0.5))]);
    assert_eq!(three(), [DType::I32, DType::F32, DType::F32]);
    assert_eq!(with_int(DType::I8, three), [DType::I8, DType::F32, DType::F32]);
    assert_eq!(with_float(DType::F64, three), [DType::I32, DType::F64, DType::F64]);
}

// I47 "axis, axes, dims etc. which must be integers … with no bearing at all on the data types"
// In Ivy neither have the ends of linspace. Here they have: integers give the default float, strong ones their quotient's.
#[test]
fn axes_and_counts_are_irrelevant() {
    with_int(DType::I8, || {
        assert_eq!(dtypes([zeros(3), ones([2, 3]), eye(2), linspace(0..=1, 3)]), [DType::F32; 4]);
        assert_eq!(dtypes([full(3, 1.5), full([3, 3], true)]), [DType::F32, DType::Bool]);
        assert_eq!(dtypes([ones([2, 3]).sum(0), ones([2, 3]).mean([0, 1])]), [DType::F32; 2]);
    });
}

// I48 4. "the global default data type, which can either be an int or float data type"
// In Ivy it changes linspace and, if it is an integer, the default integer. Here each kind keeps its own default, and linspace
// stays a float.
#[test]
fn global_default_may_be_an_integer() {
    with_default_dtype(DType::I16, || {
        assert_eq!((default_dtype(), defaults().int, defaults().float), (DType::I16, DType::I32, DType::F32));
        assert_eq!(dtypes([zeros(2), ones(2), eye(2)]), [DType::I16; 3]);
        assert_eq!(dtypes([full(2, 1.0), linspace(0..=2, 3)]), [DType::F32; 2]);
    });
    for any in DType::ALL {
        assert_eq!(with_default_dtype(any, || dtypes([zeros(2), ones(2)])), [any; 2]);
    }
}

// I49 @outputs_to_ivy_arrays @handle_out_argument @infer_dtype @infer_device
// def zeros(shape, *, dtype: Optional[ivy.Dtype] = None, device: Optional[ivy.Device] = None) -> ivy.Array
#[test]
fn zeros_infers_its_dtype() {
    gives(Ok(zeros(2)), DType::F32, &[0.0f32, 0.0]);
    gives(Ok(dtype(DType::I8).zeros(2)), DType::I8, &[0i8, 0]);
}

// I50 def zeros(shape, *, dtype: jnp.dtype, device) and the other backends', in which dtype is no longer optional: a backend is
// "only entered into once the correct dtype has been determined"
#[test]
fn backends_see_a_determined_dtype() {
    for any in DType::ALL {
        let made = with_default_dtype(any, || [zeros(1), ones(1), eye(1)]);
        assert!(made.iter().all(|array| array.value_type() == ValueType::Strong(any)));
    }
    // Weak types end where code is made.
    let f = jit!(|x| zeros_like(x) + full_like(x, 2) * 1.5);
    let weak = f.call((&asarray(1),)).unwrap();
    assert_eq!(weak.value_type(), Weak::Float.into());
    let [graph, typed] = [Stage::Graph, Stage::Typed].map(|stage| program(f.explain(stage)));
    assert!(graph.contains("i*") && !typed.contains('*'), "{graph}\n{typed}");
}

// I51 dtype=ivy.default_dtype(dtype=dtype, item=fill_value, as_native=True) in full for PyTorch
// Ivy gives int64 for 3_000_000_000 and float64 for 1e300 and 1e-40; but int32 for -3_000_000_000.
#[test]
fn full_takes_its_fill_value_as_relevant() {
    let filled = [full(2, 1), full(2, 1.5), full(2, true), full(2, Complex::new(0.0, 1.0))];
    assert_eq!(dtypes(filled), [DType::I32, DType::F32, DType::Bool, DType::C64]);
    for large in [3_000_000_000i64, -3_000_000_000] {
        assert_eq!(full(2, large).error().unwrap().code(), ErrorCode::Literal);
        assert_eq!(dtypes([dtype(DType::I64).full(2, large)]), [DType::I64]);
    }
    gives(Ok(full(1, 1e300).cast(DType::F32)), DType::F32, &[f32::INFINITY]);
    gives(Ok(full(1, strong(1e300))), DType::F64, &[1e300]);
}

// I52 full_like takes the dtype of its array, whatever the fill value
#[test]
fn full_like_takes_its_array() {
    for any in DType::ALL {
        let x = Array::from([1u8]).cast(any);
        assert_eq!(full_like(&x, true).value_type(), any.into());
    }
    assert_eq!(
        dtypes([full_like(&Array::from([1.5f64]), 1), full_like(&Array::from([1i8]), 1)]),
        [DType::F64, DType::I8]
    );
}

// I68 "prod upcasts the unsigned integer return to have the same number of bits as the default integer data type. By default
// int32, and so we should return uint32 despite uint8"
// Ivy's sum does not widen (int8 stays).
#[test]
fn prod_of_uint8_widens_unsigned() {
    let narrow = Policy::NumPy2.with_defaults(Defaults::BITS_32).unwrap();
    for policy in [Policy::IvyPrecise, Policy::IvyImprecise, Policy::Standard, narrow] {
        assert_eq!(policy.product(DType::U8.into()).unwrap(), DType::U32.into(), "{policy}");
        assert_eq!(policy.product(DType::I8.into()).unwrap(), DType::I32.into(), "{policy}");
    }
    assert_eq!(Policy::IvyPrecise.product(DType::F16.into()).unwrap(), DType::F32.into());
    assert_eq!(Policy::IvyPrecise.sum(DType::U8.into()).unwrap(), DType::U8.into());
    let x = Array::from([100u8, 100]);
    with_policy(Policy::IvyPrecise, || {
        gives(Ok(x.prod(..)), DType::U32, &[10_000u32]);
        gives(Ok(x.sum(..)), DType::U8, &[200u8]);
        assert_eq!((&x * &x).dtype(), DType::U8);
    });
}
