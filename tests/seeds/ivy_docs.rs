//! Examples around Ivy's page: other pages of its documentation and docstrings of the functions the page names, from ivy
//! 1.0.0.5 and `docs/overview/deep_dive/` at 0afe7bbb (`operating_modes.rst`, `function_wrapping.rst`, `superset_behaviour.rst`).

use super::support::{both, gives};
use ndjit::{
    Array, Complex, DType, DTypeSet, Defaults, Policy, Weak, asarray, can_cast, default_dtype, defaults, dtype, f16,
    finfo, full, full_like, iinfo, isdtype, linspace, policy, result_type, strong, where_, with_default_dtype,
    with_defaults, with_policy, zeros, zeros_like,
};

// R01 operating_modes: ivy.precise_mode is read only; ivy.set_precise_mode, ivy.unset_precise_mode
// The policy is read by a function, and a scope cannot be left without having been entered.
#[test]
fn precise_mode_is_read_only_state() {
    assert_eq!(policy(), Policy::Standard);
    let inside = with_policy(Policy::IvyPrecise, || (policy(), with_policy(Policy::IvyImprecise, policy), policy()));
    assert_eq!(inside, (Policy::IvyPrecise, Policy::IvyImprecise, Policy::IvyPrecise));
    assert_eq!(policy(), Policy::Standard);
}

// R02 function_wrapping: infer_dtype "infers the dtype argument to be passed to a function based on the array arguments passed
// to it. If dtype is explicitly passed to the function, then it is used directly"
#[test]
fn infer_dtype_from_arguments() {
    let x = Array::from([1i16, 2]);
    assert_eq!(zeros_like(&x).dtype(), DType::I16);
    assert_eq!(dtype(DType::F64).zeros_like(&x).dtype(), DType::F64);
    assert_eq!(full_like(&x, 7).to_vec::<i16>(), Ok(vec![7, 7]));
}

// R03 superset_behaviour: ivy.where(mask, ivy.logical_and(x, y), ivy.zeros_like(mask))
// "TensorFlow supports only boolean arrays … both numeric and boolean arrays"
#[test]
fn logical_and_takes_numbers() {
    gives(both!(|x, y| x.logical_and(y), [1i32, 2, 0], [0.0f32, 0.5, 1.0]), DType::Bool, &[false, true, false]);
    let masked = both!(
        |mask, x, y| where_(mask, x.logical_and(y), zeros_like(mask)),
        [true, true, false],
        [1i32, 0, 3],
        [2.0f32, 1.0, 1.0]
    );
    gives(masked, DType::Bool, &[true, false, false]);
}

// R04 superset_behaviour: res = softplus(x * beta) / beta; where(x * beta > threshold, x, res)
// Softplus of its definition, log(1 + exp(x)).
#[test]
fn softplus_composition_keeps_the_dtype() {
    for float in DType::ALL_FLOAT {
        let x = Array::from([0.0f64, 100.0]).cast(float);
        let softplus = both!(|x| where_((x * 1).gt(20), x, (1 + (x * 1).exp()).log() / 1), x).unwrap();
        assert_eq!(softplus.value_type(), float.into());
        let [at_0, at_100] = softplus.cast(DType::F64).to_vec::<f64>().unwrap()[..] else { panic!("two elements") };
        assert!((at_0 - 2f64.ln()).abs() < 0.01 && at_100 == 100.0, "{float}: {at_0} {at_100}");
    }
}

// R05 superset_behaviour: linspace with arrays as start and stop takes their dtype
// Its ends are numbers here: strong ones stand for arrays.
#[test]
fn linspace_takes_arrays() {
    let half = |number| strong(f16::from_f32(number));
    gives(Ok(linspace(half(0.0)..=half(1.0), 3)), DType::F16, &[0.0, 0.5, 1.0].map(f16::from_f32));
    gives(Ok(linspace(0..=1, 3)), DType::F32, &[0.0f32, 0.5, 1.0]);
}

// R06 can_cast(ivy.uint8, ivy.int32) -> True; can_cast(ivy.float64, 'int64') -> False; arrays likewise
#[test]
fn can_cast_docstring() {
    with_policy(Policy::IvyPrecise, || {
        assert_eq!(can_cast(DType::U8, DType::I32), Ok(true));
        assert_eq!(can_cast(DType::F64, "int64".parse().unwrap()), Ok(false));
        assert_eq!(can_cast(Array::from([1.0f32, 2.0]), DType::F64), Ok(true));
        assert_eq!(can_cast(Array::from([1i16, 2]), DType::U8), Ok(false));
        assert_eq!(can_cast(DType::F32, DType::I64), Ok(false));
        assert_eq!(can_cast(DType::I32, DType::I64), Ok(true));
    });
}

// R07 result_type(ivy.array([3, 4, 5]), ivy.array([3., 4., 5.])) -> float32; result_type(ivy.uint8, ivy.uint64) -> uint64
// The docstring is of imprecise mode. Ivy gives float64 as it comes.
#[test]
fn result_type_docstring() {
    let (ints, floats) = (Array::from([3i32, 4, 5]), Array::from([3.0f32, 4.0, 5.0]));
    let meet = |policy| with_policy(policy, || result_type((&ints, &floats)));
    assert_eq!(meet(Policy::IvyImprecise), Ok(DType::F32.into()));
    assert_eq!(meet(Policy::IvyPrecise), Ok(DType::F64.into()));
    for policy in [Policy::IvyPrecise, Policy::IvyImprecise] {
        assert_eq!(with_policy(policy, || result_type([DType::U8, DType::U64])), Ok(DType::U64.into()));
    }
}

// R08 default_dtype() -> 'float32'; after set_default_dtype(ivy.bool) 'bool', (ivy.int16) 'int16', ("float64") 'float64';
// default_dtype(dtype="int32") -> 'int32'; (item=53.234), (item=[1, 2, 3]), (item=x) by the item
#[test]
fn default_dtype_docstring() {
    assert_eq!(default_dtype(), DType::F32);
    for any in [DType::Bool, DType::I16, DType::F64] {
        assert_eq!(with_default_dtype(any, default_dtype), any);
        assert_eq!(with_default_dtype(any, || dtype(DType::I32).zeros(1).dtype()), DType::I32);
    }
    // Of an item: what asarray makes of it.
    let float64 = Defaults { float: DType::F64, ..defaults() };
    assert_eq!(asarray(53.234).dtype(), DType::F32);
    assert_eq!(with_defaults(float64, || asarray(53.234).dtype()), Ok(DType::F64));
    assert_eq!(asarray([1, 2, 3]).dtype(), DType::I32);
    assert_eq!(asarray([Complex::new(1.0f64, 0.0)]).dtype(), DType::C128);
    assert_eq!(asarray(true).dtype(), DType::Bool);
}

// R09 default_float_dtype() -> float32; after set_default_float_dtype("float64") float64; (float_dtype=ivy.FloatDtype("float16"))
// -> float16; (input=4294.967346) -> float32; (input=float16 array) -> float16
#[test]
fn default_float_dtype_docstring() {
    assert_eq!(defaults().float, DType::F32);
    assert_eq!(with_defaults(Defaults { float: DType::F64, ..defaults() }, || defaults().float), Ok(DType::F64));
    assert_eq!(dtype(DType::F16).full(1, 4294.967346).dtype(), DType::F16);
    assert_eq!(full(1, 4294.967346).dtype(), DType::F32);
    assert_eq!(full_like(&Array::from([f16::ONE]), 1.5).dtype(), DType::F16);
}

// R10 default_int_dtype() after set_intdefault_dtype("int16") -> int16; (input=4294967346) -> int64; (int_dtype=int8) -> int8;
// (input=int32 array) -> int32
// 4294967346 is int64 by its value in Ivy. Here it is an error.
#[test]
fn default_int_dtype_docstring() {
    assert_eq!(with_defaults(Defaults { int: DType::I16, ..defaults() }, || full(1, 1).dtype()), Ok(DType::I16));
    assert!(asarray(4_294_967_346i64).error().is_some());
    assert_eq!(dtype(DType::I8).asarray(1).dtype(), DType::I8);
    assert_eq!(full_like(&Array::from([1i32]), 1).dtype(), DType::I32);
}

// R11 default_uint_dtype() after set_default_uint_dtype(ivy.UintDtype("uint16")) -> uint16; (input=4294967346) -> uint64
// No default of its own here: it has the width of the default integer, which may be unsigned itself.
#[test]
fn default_uint_dtype_docstring() {
    let accumulated = |int| {
        let policy = Policy::Standard.with_defaults(Defaults { int, ..Defaults::BITS_32 }).unwrap();
        policy.sum(DType::U8.into()).unwrap()
    };
    assert_eq!(
        [DType::I32, DType::I16, DType::U16].map(accumulated),
        [DType::U32, DType::U16, DType::U16].map(Into::into)
    );
    assert_eq!(with_defaults(Defaults { int: DType::U16, ..defaults() }, || full(1, 1).dtype()), Ok(DType::U16));
}

// R12 infer_default_dtype: the default of the dtype's kind
// The docstring has int8 for int8, where Ivy gives int32.
#[test]
fn infer_default_dtype_docstring() {
    let of_kind = |defaults: Defaults| Weak::ALL.map(|weak| defaults.of(weak));
    assert_eq!(of_kind(defaults()), [DType::I32, DType::F32, DType::C64]);
    assert_eq!(of_kind(Defaults { float: DType::F64, ..defaults() }), [DType::I32, DType::F64, DType::C64]);
    let sums = [DType::Bool, DType::I8, DType::U8, DType::U64].map(|dtype| Policy::Standard.sum(dtype.into()));
    assert_eq!(sums, [DType::I32, DType::I32, DType::U32, DType::U64].map(|dtype| Ok(dtype.into())));
}

// R13 ivy.set_default_dtype(ivy.bool); ivy.unset_default_dtype(); ivy.set_default_dtype("float64"); ivy.unset_default_dtype()
#[test]
fn set_default_dtype_docstring() {
    let mut seen = vec![default_dtype()];
    with_default_dtype(DType::Bool, || {
        seen.push(default_dtype());
        with_default_dtype(DType::F64, || seen.push(zeros(1).dtype()));
        seen.push(zeros(1).dtype());
    });
    seen.push(default_dtype());
    assert_eq!(seen, [DType::F32, DType::Bool, DType::F64, DType::Bool, DType::F32]);
}

// R15 is_int_dtype(ivy.float64) -> False; of arrays and numbers likewise; is_float_dtype(ivy.float32) -> True
#[test]
fn is_int_and_is_float_dtype_docstring() {
    assert!(!isdtype(DType::F64, DTypeSet::INT));
    assert!(!isdtype(Array::from([1.0f32]).dtype(), DTypeSet::INT));
    assert!(isdtype(Array::from([1i16]).dtype(), DTypeSet::INT));
    assert!(isdtype(asarray(1).dtype(), DTypeSet::INT));
    assert!(isdtype(DType::F32, DTypeSet::FLOAT) && !isdtype(DType::C64, DTypeSet::FLOAT));
}

// R16 ivy.array([1, 2]).astype(ivy.float64) -> [1., 2.]; [3.141, 2.718, 1.618] to int32 -> [3, 2, 1]; [0, 2, 1] to bool ->
// [False, True, True]; bool to int32
#[test]
#[expect(clippy::approx_constant, reason = "the docstring's numbers")]
fn astype_docstring() {
    gives(both!(|x| x.astype(DType::F64), [1i32, 2]), DType::F64, &[1.0f64, 2.0]);
    gives(both!(|x| x.astype(DType::I32), [3.141f32, 2.718, 1.618]), DType::I32, &[3i32, 2, 1]);
    gives(both!(|x| x.astype(DType::Bool), [0i32, 2, 1]), DType::Bool, &[false, true, true]);
    gives(both!(|x| x.astype(DType::I32), [true, false]), DType::I32, &[1i32, 0]);
}

// R17 finfo: resolution=1e-06, min and max ±3.4028235e+38 of float32; 1e-15, ±1.7976931348623157e+308 of float64; 0.001,
// ±6.55040e+04 of float16
// A resolution is 10 to the number of decimal digits kept; `eps` is the exact bound that ndjit has.
#[test]
fn finfo_docstring() {
    let page = [(DType::F32, 1e-6, 3.4028234663852886e38), (DType::F64, 1e-15, f64::MAX), (DType::F16, 0.001, 65504.0)];
    for (dtype, resolution, max) in page {
        let info = finfo(dtype).unwrap();
        assert_eq!((info.min, info.max), (-max, max));
        assert!(info.eps <= resolution && resolution < 10.0 * info.eps, "{dtype}");
    }
}

// R18 iinfo: of int32 ±2147483648; int8 -128 127; int64; uint16 0 65535; uint32 0 4294967295
#[test]
fn iinfo_docstring() {
    let page: [(DType, i128, i128); 5] = [
        (DType::I32, -2147483648, 2147483647),
        (DType::I8, -128, 127),
        (DType::I64, -9223372036854775808, 9223372036854775807),
        (DType::U16, 0, 65535),
        (DType::U32, 0, 4294967295),
    ];
    for (dtype, min, max) in page {
        let info = iinfo(dtype).unwrap();
        assert_eq!((info.min, info.max), (min, max));
    }
}

// R19 dtype_bits(ivy.float32) -> 32; ('int64') -> 64; bool -> 1
// Of a bool ndjit counts the bits it is stored in, 8, and its binary digits, 1.
#[test]
fn dtype_bits_docstring() {
    assert_eq!((DType::F32.bits(), DType::I64.bits()), (32, 64));
    assert_eq!((DType::Bool.bits(), DType::Bool.digits()), (8, 1));
}
