//! Ivy's page "Data Types", promotion and its precise mode: <https://docs.ivy.dev/overview/deep_dive/data_types.html>,
//! `docs/overview/deep_dive/data_types.rst` at 0afe7bbb. "Ivy gives" is what ivy 1.0.0.5 gives on NumPy 1.26.

use super::support::{both, gives, pairs};
use ndjit::{
    Array, Complex, DType, Error, Policy, Scalar, Stage, ValueType, Weak, f16, jit, policy, promote_arrays,
    promote_types, result_type, weak, with_policy,
};

const IVY: [Policy; 2] = [Policy::IvyPrecise, Policy::IvyImprecise];

/// All ordered pairs of dtypes.
fn dtype_pairs() -> impl Iterator<Item = (DType, DType)> {
    DType::ALL.into_iter().flat_map(|a| DType::ALL.into_iter().map(move |b| (a, b)))
}

/// The common dtype of two dtypes.
#[track_caller]
fn join(policy: Policy, a: DType, b: DType) -> DType {
    match policy.join(a.into(), b.into()) {
        Some(ValueType::Strong(dtype)) => dtype,
        other => panic!("{a} with {b} in {policy}: {other:?}"),
    }
}

fn is_inexact(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}

/// Bits of a number, or of each part of a complex one.
fn bits(dtype: DType) -> u32 {
    dtype.real().bits()
}

// I17 "promotion table that extends Array API Standard promotion table"
#[test]
fn ivy_extends_the_array_api_table() {
    let mut compared = 0;
    for (a, b) in dtype_pairs() {
        if let Some(standard) = Policy::ArrayApi.join(a.into(), b.into()) {
            for policy in IVY {
                assert_eq!(policy.join(a.into(), b.into()), Some(standard), "{a} with {b}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 73);
}

// I18 x1, x2 = ivy.promote_types_of_inputs(x1, x2); return jnp.add(x1, x2)
// and the same with np.add(x1, x2, out=out), tf.experimental.numpy.add(x1, x2), torch.add(x1, x2, out=out)
// One answer on every backend: here from lazy arrays and compiled code, with fusion and vectors or without.
#[test]
fn add_promotes_alike_on_every_backend() {
    let add = || jit(|x, y| x + y).with_policy(Policy::IvyPrecise);
    let ways = [add(), add().fuse(false), add().vector(false), add().threads(1)];
    for (a, b) in dtype_pairs() {
        let (x, y) = (Array::from([1u8, 1]).cast(a), Array::from([0u8, 1]).cast(b));
        let lazy = with_policy(Policy::IvyPrecise, || &x + &y);
        let expected = with_policy(Policy::IvyPrecise, || promote_types(a, b)).unwrap();
        assert_eq!(lazy.value_type(), expected, "{a} with {b}");
        for way in &ways {
            let sum = way.call((&x, &y)).unwrap();
            assert_eq!((sum.value_type(), sum.to_string()), (expected, lazy.to_string()), "{a} with {b}");
        }
    }
    assert_eq!(join(Policy::IvyPrecise, DType::F32, DType::I32), DType::F64);
}

// I19 "promote data types in the inputs and return the new data types"
// A missing operand leaves the other alone, and the order never matters.
#[test]
fn promote_types_returns_the_dtype() {
    for policy in IVY {
        for (a, b) in dtype_pairs() {
            assert_eq!(join(policy, a, b), join(policy, b, a));
        }
        for dtype in DType::ALL {
            assert_eq!(with_policy(policy, || result_type([dtype])), Ok(dtype.into()));
        }
    }
}

// I20 ivy.type_promote_arrays
#[test]
fn type_promote_arrays_returns_new_arrays() -> Result<(), Error> {
    let (x, y) = (Array::from([1i32, 2]), Array::from([0.5f32]));
    let [a, b] = with_policy(Policy::IvyPrecise, || promote_arrays((&x, &y)))?;
    gives(Ok(a), DType::F64, &[1.0f64, 2.0]);
    gives(Ok(b), DType::F64, &[0.5f64]);
    assert_eq!((x.dtype(), y.dtype()), (DType::I32, DType::F32));
    Ok(())
}

// I21 "promote the data types of the numeric or array values inputs and return new type promoted values"
// int8 with 1000 wraps in Ivy on NumPy and fails on torch; here it is an error. bool with 1 is bool in Ivy on torch.
#[test]
fn promote_types_of_inputs_takes_numbers() {
    let promoted = |x: &Array, number: Scalar| {
        with_policy(Policy::IvyPrecise, || promote_arrays((x, number))).map(|[x, _]| x.dtype())
    };
    let (i8, bool, f32) = (Array::from([1i8]), Array::from([true]), Array::from([1.0f32]));
    assert_eq!(promoted(&i8, weak(1.5)), Ok(DType::F64));
    assert_eq!(promoted(&i8, weak(1)), Ok(DType::I8));
    assert_eq!(promoted(&bool, weak(1)), Ok(DType::I32));
    assert_eq!(promoted(&bool, weak(1.5)), Ok(DType::F32));
    assert_eq!(promoted(&f32, weak(1)), Ok(DType::F32));
    assert_eq!(promoted(&f32, weak(Complex::new(0.0, 1.0))), Ok(DType::C128));
    assert_eq!(promoted(&i8, weak(1000)).unwrap_err().code(), ndjit::ErrorCode::Literal);
}

// I22 "rules which will subtly differ from one another and from Ivy's"
// In Ivy even its own result_type leaks them: on torch it gives float32 for float32 and int32, where promote_types has float64.
#[test]
fn backend_promotion_differs_from_ivys() {
    let differs = |policy: Policy, a: DType, b: DType| {
        policy.join(a.into(), b.into()) != Policy::IvyPrecise.join(a.into(), b.into())
    };
    assert!(differs(Policy::Jax, DType::F32, DType::I32) && differs(Policy::Jax, DType::U64, DType::I64));
    assert!(differs(Policy::Torch, DType::F32, DType::I32) && differs(Policy::Torch, DType::U64, DType::I64));
    assert!(differs(Policy::TensorFlow, DType::U16, DType::F16));
    assert!(differs(Policy::NumPy2, DType::Bf16, DType::F32) && !differs(Policy::NumPy2, DType::F32, DType::I32));
    for policy in Policy::ALL {
        for (a, b) in pairs() {
            let two = with_policy(policy, || promote_types(a, b)).ok();
            let list = with_policy(policy, || result_type([a, b])).ok();
            assert_eq!(two, list, "{a} with {b} in {policy}");
        }
    }
}

// I23 "exactly the same promotion rules as the frontend framework uses"
#[test]
fn each_frontend_has_its_own_rules() {
    let frontends = [
        (Policy::NumPy2, Some(DType::F64)),
        (Policy::Jax, Some(DType::F32)),
        (Policy::Torch, Some(DType::F32)),
        (Policy::TensorFlow, None),
    ];
    for (policy, dtype) in frontends {
        let sum = both!(|x, y| with_policy(policy, move || x + y), [1.0f32], [2i32]);
        assert_eq!(sum.ok().map(|sum| sum.value_type()), dtype.map(ValueType::from), "{policy}");
    }
}

// I24 "they are promoted to the least common type"
// The least of the lowest kind that holds both, where NumPy's idea that float64 holds 64-bit integers is taken over.
#[test]
fn sum_is_of_the_least_common_type() {
    let holds = |dtype: DType, other: DType| {
        dtype.holds(other) || other.is_int() && other.bits() == 64 && matches!(dtype, DType::F64 | DType::C128)
    };
    for (a, b) in dtype_pairs() {
        let common: Vec<DType> = DType::ALL.into_iter().filter(|&c| holds(c, a) && holds(c, b)).collect();
        let kind = common.iter().map(|dtype| dtype.kind()).min();
        let of_kind: Vec<DType> = common.into_iter().filter(|dtype| Some(dtype.kind()) == kind).collect();
        let joined = join(Policy::IvyPrecise, a, b);
        assert!(of_kind.contains(&joined) && of_kind.iter().all(|&c| holds(c, joined)), "{a} with {b}: {joined}");
    }
    gives(both!(|x, y| with_policy(Policy::IvyPrecise, move || x + y), [200u8], [-1i8]), DType::I16, &[199i16]);
}

// I25 "data promotion is never used for increasing the accuracy or precision": "inverse of a nearly singular matrix in float32"
// There is no matrix inverse here, so other operations that a wider dtype would do better.
#[test]
fn promotion_never_raises_precision() {
    for policy in [Policy::Standard, Policy::IvyPrecise] {
        let overflow = both!(|x| with_policy(policy, move || x * 10 / 10), [1e38f32]);
        gives(overflow, DType::F32, &[f32::INFINITY]);
        let halves = both!(|x| with_policy(policy, move || x * 2 / 2), [f16::from_f32(60000.0)]);
        gives(halves, DType::F16, &[f16::INFINITY]);
    }
    let f = jit!(|x, y| (x.exp() / y).sqrt() + x * y);
    f.call((&[1.0f32], &[2.0f32])).unwrap();
    assert!(!f.explain(Stage::Typed).contains("cast"), "{}", f.explain(Stage::Typed));
}

// I26 "Tensorflow leaves integer/floating mixed promotion undefined"
#[test]
fn tensorflow_leaves_int_float_undefined() {
    for (a, b) in dtype_pairs().filter(|(a, b)| a.is_int() && is_inexact(*b)) {
        for (a, b) in [(a, b), (b, a)] {
            assert_eq!(Policy::TensorFlow.join(a.into(), b.into()), None, "{a} with {b}");
        }
    }
}

// I27 "Numpy avoids precision loss at all costs even if … wider-than-necessary"
// But for 64-bit integers in float64.
#[test]
fn numpy_avoids_precision_loss_at_all_costs() {
    let audit = Policy::NumPy2.audit();
    assert!(!audit.lost_precision.is_empty());
    for finding in &audit.lost_precision {
        let operands = [finding.left, finding.right];
        assert!(operands.contains(&DType::U64.into()) || operands.contains(&DType::I64.into()), "{finding:?}");
        assert!([DType::F64, DType::C128].contains(&Policy::NumPy2.commit(finding.result)), "{finding:?}");
    }
    assert!(audit.wider.len() > Policy::Jax.audit().wider.len());
}

// I28 "mixed operations between uint16 and float16 would promote all the way to float64, which is not ideal"
// Ivy gives float32. The sentence is the JEP's, of another table (P49).
#[test]
fn precise_uint16_with_float16() {
    assert_eq!(join(Policy::IvyPrecise, DType::U16, DType::F16), DType::F32);
    assert_eq!(join(Policy::IvyPrecise, DType::U16, DType::Bf16), DType::F32);
}

// I29 "still leaves int64 and uint64 promotion undefined … We could relax the precision constraint and use float64 as the upper
// bound"
// Ivy does so; nothing is undefined.
#[test]
fn precise_int64_and_uint64() {
    for int in [DType::I64, DType::U64] {
        for float in DType::ALL_FLOAT {
            assert_eq!(join(Policy::IvyPrecise, int, float), DType::F64);
        }
    }
    assert_eq!(join(Policy::IvyPrecise, DType::I64, DType::U64), DType::F64);
}

// I30 "A 16-bit signed or unsigned integer cannot be represented at full precision by a 16-bit float … promote integers to
// floats represented by twice the number of bits"
#[test]
fn sixteen_bit_integer_needs_float32() {
    let cases = [
        (DType::I16, DType::F16, DType::F32),
        (DType::U16, DType::F16, DType::F32),
        (DType::I32, DType::F32, DType::F64),
        (DType::I8, DType::F16, DType::F16),
        (DType::I8, DType::Bf16, DType::Bf16),
        (DType::I16, DType::F32, DType::F32),
    ];
    for (a, b, result) in cases {
        assert_eq!(join(Policy::IvyPrecise, a, b), result, "{a} with {b}");
    }
}

// I31 with ivy.PreciseMode(True): print(ivy.promote_types("float32", "int32"))  # float64
#[test]
fn precise_mode_on() {
    assert_eq!(with_policy(Policy::IvyPrecise, || promote_types(DType::F32, DType::I32)), Ok(DType::F64.into()));
}

// I32 with ivy.PreciseMode(False): print(ivy.promote_types("float32", "int32"))  # float32
#[test]
fn imprecise_mode() {
    assert_eq!(with_policy(Policy::IvyImprecise, || promote_types(DType::F32, DType::I32)), Ok(DType::F32.into()));
}

// I33 Nested: leaving the inner scope restores the outer one, also after an error in it
#[test]
fn precise_mode_scopes_nest() {
    let sum = || (Array::from([1.0f32]) + Array::from([1i32])).dtype();
    with_policy(Policy::IvyPrecise, || {
        assert_eq!(with_policy(Policy::IvyImprecise, sum), DType::F32);
        assert_eq!(sum(), DType::F64);
        let refused = with_policy(Policy::IvyImprecise, || Array::from([1i8]) + 1000);
        assert!(refused.eval().is_err());
        assert_eq!((sum(), policy()), (DType::F64, Policy::IvyPrecise));
    });
}

// I34 "outside unsigned ints … you can never get an f64 output without a 64-bit input, and you can never get an float32 output
// without a 32-bit input"
// But for float16 with bfloat16.
#[test]
fn imprecise_never_gives_f64_without_64_bits() {
    let widening = |width: u32| -> Vec<String> {
        let found = dtype_pairs().filter(|&(a, b)| a < b && bits(a) != width && bits(b) != width);
        let found = found.map(|(a, b)| (a, b, join(Policy::IvyImprecise, a, b)));
        let found = found.filter(|&(a, b, joined)| bits(joined) == width && width > bits(a).max(bits(b)));
        found.map(|(a, b, joined)| format!("{a} {b} = {joined}")).collect()
    };
    assert_eq!(widening(64), ["u32 i8 = i64", "u32 i16 = i64", "u32 i32 = i64"]);
    assert_eq!(widening(32), ["u16 i8 = i32", "u16 i16 = i32", "bf16 f16 = f32"]);
}

// I35 "gives primacy to floating point types resembles PyTorch"
#[test]
fn imprecise_resembles_pytorch() {
    for (a, b) in dtype_pairs().filter(|(a, b)| a.is_int() && b.is_float()) {
        let torch = Policy::Torch.join(a.into(), b.into());
        assert_eq!(torch, Some(join(Policy::IvyImprecise, a, b).into()), "{a} with {b}");
    }
}

// I36 And resembles JAX, but for u64 with signed integers
#[test]
fn imprecise_differs_from_standard_in_u64_signed() {
    let differs =
        |a: DType, b: DType| Policy::Standard.join(a.into(), b.into()) != Policy::IvyImprecise.join(a.into(), b.into());
    let cells: Vec<(DType, DType)> = dtype_pairs().filter(|&(a, b)| differs(a, b)).collect();
    assert_eq!(cells.len(), 8);
    for (a, b) in cells {
        assert!(a == DType::U64 && b.is_signed() || b == DType::U64 && a.is_signed(), "{a} with {b}");
    }
}

// I37 "int64 (max 9.2*10^18) can be promoted to float16 (max 6.5*10^4), meaning most representable values will become inf, but
// … (but not loss of magnitude)"
// The magnitude is lost; the sentence is the JEP's.
#[test]
fn imprecise_int64_with_float16() {
    let sum = both!(|x, y| with_policy(Policy::IvyImprecise, move || x + y), [100_000i64, 3], [f16::ONE]);
    gives(sum, DType::F16, &[f16::INFINITY, f16::from_f32(4.0)]);
    assert!(!Policy::IvyImprecise.audit().lost_magnitude.is_empty());
    assert!(Policy::IvyPrecise.audit().lost_magnitude.is_empty());
}

// I38 The two tables of its code: precise_extra_promotion_table and extra_promotion_table
#[test]
fn precise_and_imprecise_differ_in_44_cells() {
    let differs = |&(a, b): &(ValueType, ValueType)| Policy::IvyPrecise.join(a, b) != Policy::IvyImprecise.join(a, b);
    let cells: Vec<(ValueType, ValueType)> = pairs().filter(differs).collect();
    let (weak, strong): (Vec<_>, Vec<_>) = cells.into_iter().partition(|(a, b)| a.is_weak() || b.is_weak());
    let int = ValueType::from(Weak::Int);
    assert!(weak.iter().all(|&(a, b)| (a.is_weak() && b.is_weak()) && (a == int) != (b == int)));
    assert_eq!((strong.len(), weak.len()), (40, 4));
    let narrow = [DType::Bf16, DType::F16];
    for (a, b) in dtype_pairs().filter(|(a, b)| a.is_int() && is_inexact(*b)) {
        let precise = match (bits(a), b) {
            (16, half) if narrow.contains(&half) => DType::F32,
            (32 | 64, DType::C64) => DType::C128,
            (32 | 64, DType::Bf16 | DType::F16 | DType::F32) => DType::F64,
            _ => b,
        };
        assert_eq!((join(Policy::IvyPrecise, a, b), join(Policy::IvyImprecise, a, b)), (precise, b), "{a} with {b}");
    }
}
