//! The policy of an operation: per function, per scope, per node; default dtypes; weak arrays under other defaults.

use insta::assert_snapshot;
use ndjit::{
    Array, DType, Defaults, Error, ErrorCode, Policy, Stage, ValueType, Weak, default_dtype, defaults, jit, policy,
    spec, strong, weak, with_default_dtype, with_defaults, with_policy,
};

const WIDE: Defaults = Defaults::BITS_64;

fn f32s() -> Array {
    Array::from([1.0f32, 2.0])
}

fn i32s() -> Array {
    Array::from([1i32, 2])
}

#[test]
fn an_operation_keeps_the_policy_it_was_made_under() {
    let strict = with_policy(Policy::Strict, || f32s() + i32s());
    let standard = f32s() + i32s();
    assert_eq!(strict.eval().unwrap_err().code(), ErrorCode::Promotion);
    assert_eq!(standard.dtype(), DType::F32);
    // Evaluated outside of its scope.
    let narrow = with_policy(Policy::Jax32, || Array::from([1u32]) + i32s());
    assert_eq!((narrow.dtype(), narrow.to_vec::<i32>()), (DType::I32, Ok(vec![2, 3])));
}

#[test]
fn scopes_nest_and_end_with_a_panic() {
    with_policy(Policy::Strict, || {
        with_policy(Policy::Jax32, || assert_eq!(policy(), Policy::Jax32));
        assert_eq!(policy(), Policy::Strict);
        let _ = std::panic::catch_unwind(|| with_policy(Policy::Jax2019, || panic!("inside")));
        assert_eq!(policy(), Policy::Strict);
    });
    assert_eq!(policy(), Policy::Standard);
}

#[test]
fn a_scope_around_a_call_is_part_of_the_plan() {
    let f = jit(|x, y| x + y);
    let (x, y) = (Array::from([1u32]), Array::from([1i32]));
    let dtypes = [Policy::Standard, Policy::Jax32, Policy::Standard]
        .map(|policy| with_policy(policy, || f.call((&x, &y)).expect("a result").dtype()));
    assert_eq!(dtypes, [DType::I64, DType::I32, DType::I64]);
    assert_eq!(f.trace_count(), 2);
    assert!(with_policy(Policy::Strict, || f.call((&x, &y))).is_err());
}

#[test]
fn a_functions_own_policy_wins_over_the_scope_it_is_called_in() {
    let f = jit(|x, y| x + y).with_policy(Policy::Jax32);
    let (x, y) = (Array::from([1u32]), Array::from([1i32]));
    assert_eq!(with_policy(Policy::Strict, || f.call((&x, &y))).expect("a result").dtype(), DType::I32);
    // A scope inside the function takes precedence over the function's policy.
    let g = jit(|x, y| with_policy(Policy::Standard, move || x + y)).with_policy(Policy::Strict);
    assert_eq!(g.call((&x, &y)).expect("a result").dtype(), DType::I64);
    // So does an inlined function with its own policy.
    let h = jit(move |x, y| f.inline((x, y)) + 1);
    assert_eq!(h.call((&x, &y)).expect("a result").dtype(), DType::I32);
}

#[test]
fn dumps_show_each_nodes_policy() -> Result<(), Error> {
    let f = jit(|x, y| {
        let sum = with_policy(Policy::Jax32, || x + y);
        with_defaults(WIDE, || sum / 2).expect("defaults of their kinds")
    });
    let lowered = f.trace(&[spec(DType::U32, [3]), spec(DType::I32, [3])])?.lower()?;
    let bare = |stage| {
        let text = lowered.explain(stage);
        text.lines().map(|line| line.split("  ;").next().unwrap_or(line).to_owned() + "\n").collect::<String>()
    };
    assert_snapshot!(bare(Stage::Graph), @"
    graph (%0: u32[3], %1: i32[3]) {
      %2 = add[jax32] %0, %1 : i32[3]
      %3 = literal #0 2 : i*[]
      %4 = divide[standard(i64,f64,c128)] %2, %3 : f32[3]
      return %4
    }
    ");
    assert_snapshot!(bare(Stage::Typed), @"
    graph (%0: u32[3], %1: i32[3]) {
      %2 = cast %0 : i32[3]
      %3 = add %2, %1 : i32[3]
      %4 = cast %3 : f32[3]
      %5 = literal #0 2 : f32[]
      %6 = divide %4, %5 : f32[3]
      return %6
    }
    ");
    Ok(())
}

#[test]
fn defaults_belong_to_the_policy() -> Result<(), Error> {
    assert_eq!(defaults(), Defaults::BITS_32);
    with_defaults(WIDE, || {
        assert_eq!((defaults(), policy().to_string()), (WIDE, "standard(i64,f64,c128)".to_owned()));
        assert_eq!(default_dtype(), DType::F64);
        assert_eq!((weak(1) + Array::from([true])).dtype(), DType::I64);
    })?;
    let error = with_defaults(Defaults { float: DType::I32, ..WIDE }, || ()).unwrap_err();
    assert_snapshot!(error, @"
    error[promotion]: defaults: i32 cannot be the default float dtype
      help: choose one of that kind, such as f64
    ");
    assert_eq!("standard(i64,f64,c128)".parse(), Policy::Standard.with_defaults(WIDE).map_err(|_| unreachable!()));
    assert!("standard(f64,i64,c128)".parse::<Policy>().is_err());
    assert!("standard(i64,f64)".parse::<Policy>().is_err());
    Ok(())
}

#[test]
fn the_overall_default_may_be_of_any_kind() {
    assert_eq!(default_dtype(), DType::F32);
    assert_eq!(with_default_dtype(DType::I16, default_dtype), DType::I16);
    assert_eq!(with_default_dtype(DType::I16, || with_default_dtype(None, default_dtype)), DType::F32);
}

/// A weak array created under wide defaults.
fn wide_weak(numbers: impl ndjit::operand::Number) -> Array {
    with_defaults(WIDE, || Array::scalar(weak(numbers))).expect("defaults of their kinds")
}

#[test]
fn weak_arrays_keep_their_elements_under_other_defaults() -> Result<(), Error> {
    let third = wide_weak(1.0) / 3.0;
    assert_eq!(
        (third.value_type(), third.dtype()),
        (Weak::Float.into(), DType::F32),
        "computed under the defaults of now"
    );
    let big = wide_weak(1i64 << 40);
    assert_eq!((big.value_type(), big.dtype(), big.item::<i64>()?), (Weak::Int.into(), DType::I64, 1 << 40));
    // With an array it takes that dtype, from all its bits.
    assert_eq!((&big + Array::from([1i64])).to_vec::<i64>()?, [(1 << 40) + 1]);
    assert_eq!((&big + Array::from([1.0f64])).to_vec::<f64>()?, [(1u64 << 40) as f64 + 1.0]);
    // Through a traced function, as an argument and as a result.
    let f = jit(|x, y| (x, x + y));
    let (same, sum) = f.call((&big, &Array::from([2i64])))?;
    assert_eq!(
        (same.value_type(), same.item::<i64>()?, sum.to_vec::<i64>()?),
        (Weak::Int.into(), 1 << 40, vec![(1 << 40) + 2])
    );
    assert_eq!(jit(|x| x).call((&weak_i32(7),))?.dtype(), DType::I32);
    Ok(())
}

fn weak_i32(number: i32) -> Array {
    Array::scalar(weak(number))
}

#[test]
fn traced_values_know_what_they_are_stored_as() -> Result<(), Error> {
    let f = jit!(|x, y| {
        assert_eq!((x.value_type(), x.dtype()), (Weak::Int.into(), DType::I64));
        assert_eq!((y.value_type(), y.dtype()), (Weak::Int.into(), DType::I32));
        assert_eq!((x + y).dtype(), DType::I32);
        assert_eq!(with_defaults(WIDE, || (x + y).dtype()).expect("defaults"), DType::I64);
        (x + y) / 2
    });
    let result = f.call((&wide_weak(3), &weak_i32(4)))?;
    assert_eq!((result.value_type(), result.item::<f32>()?), (Weak::Float.into(), 3.5));
    assert!(f.explain(Stage::Graph).starts_with("graph (%0: i*:i64[], %1: i*[])"), "{}", f.explain(Stage::Graph));
    Ok(())
}

#[test]
fn a_policy_of_ones_own() -> Result<(), Error> {
    use ndjit::promotion::{Lattice, Table};
    let lattice = Lattice::new("halves_first", [("f32", ["f16"]), ("bf16", ["f16"])]).expect("a lattice");
    let policy = Policy::from_lattice(&lattice, Policy::Standard.rules())?;
    let sum = with_policy(policy, || f32s() + Array::from([ndjit::f16::ONE]));
    assert_eq!(sum.dtype(), DType::F16);
    assert_snapshot!(with_policy(policy, || f32s() + i32s()).eval().unwrap_err().headline(), @"add: the halves_first policy does not promote f32 and i32");
    assert_eq!("halves_first".parse(), Ok(policy));
    // A second policy of the same lattice is equal; another with its name is rejected, as is a name of two words.
    assert_eq!(Policy::from_lattice(&lattice, Policy::Standard.rules())?, policy);
    assert_snapshot!(Policy::new("halves_first", Table::EMPTY, policy.rules()).unwrap_err(), @"
    error[promotion]: policy: another policy is named `halves_first`
      help: policies are told apart by name: choose another
    ");
    assert_snapshot!(Policy::new("two words", Table::EMPTY, policy.rules()).unwrap_err(), @"
    error[promotion]: policy: the name `two words` is not one word
      help: use letters, digits and `_`: graphs are printed and read with it
    ");
    Ok(())
}

#[test]
fn with_64_bit_types_off_casts_narrow() -> Result<(), Error> {
    with_policy(Policy::Jax32, || {
        assert_eq!(i32s().cast(DType::F64).dtype(), DType::F32);
        assert_eq!((Array::from([1.0f64]) + Array::from([1.0f64])).dtype(), DType::F32);
        assert_eq!((i32s() + strong(1i64)).value_type(), ValueType::Strong(DType::I32));
        let f = jit!(|x| x.cast(DType::I64) + 1);
        assert_eq!(f.call((&i32s(),))?.to_vec::<i32>()?, [2, 3]);
        Ok(())
    })
}

/// Policies define promotion, not indices: these are as wide as memory under every policy.
#[test]
fn elements_are_found_under_every_policy() {
    let found = || {
        let x = Array::from([3i16, 1, 2, 9]);
        let positions = Array::from([-1i32, 0, 2]);
        let traced = jit(|x: ndjit::Expr, at: ndjit::Expr| {
            (x.take(at, 0), x.at(at).get(), x.at(at).set(x.at(at).get()), ndjit::topk(x, 2, 0).0, x.sort(0))
        });
        let (a, b, c, d, e) = traced.call((&x, &positions)).unwrap();
        let scanned =
            jit(|x: ndjit::Expr| ndjit::scan(|carry: ndjit::Expr, row: ndjit::Expr| (row, carry), x.at(0).get(), x));
        let (last, rows) = scanned.call((&x,)).unwrap();
        let key = ndjit::random::key(1);
        let drawn = with_policy(Policy::Standard, || ndjit::random::bits(&key, 2).to_vec::<u32>().unwrap());
        assert_eq!(drawn, ndjit::random::bits(&key, 2).to_vec::<u32>().unwrap());
        let arrays = [
            a,
            b,
            c,
            d,
            e,
            last,
            rows,
            x.take(&positions, 0),
            x.at(-1).get(),
            x.at((Array::from([0u64, 3]),)).add(x.slice(..2)),
            x.reshape([2, 2]).at((Array::from([1i8, 0]), -1)).max(x.slice(..2)),
            x.at(x.gt(x.slice(1))).set(x.slice(1)),
            ndjit::take_along_axis(&x, x.argsort(0), 0),
            ndjit::searchsorted(x.sort(0), &x, ndjit::Side::Right),
            ndjit::random::permutation(&key, 5),
            ndjit::random::shuffle(&key, &x, 0),
        ];
        arrays.map(|array| array.cast(DType::I32).to_vec::<i32>())
    };
    let standard = found();
    assert!(standard.iter().all(Result::is_ok), "{standard:?}");
    for policy in Policy::ALL {
        assert_eq!(with_policy(policy, found), standard, "{policy}");
    }
}

#[test]
fn floor_division_by_or_of_infinities_is_the_policys() {
    const INF: f32 = f32::INFINITY;
    let (x, y) =
        (Array::from([INF, INF, -INF, 5.0, -5.0, -5.0, INF, 7.0]), [2.0, -2.0, 2.0, -INF, INF, -INF, INF, -2.0]);
    let y = Array::from(y);
    // The sign of a NaN is unspecified.
    let bit = |x: &f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
    let bits = |x: Array| x.to_vec::<f32>().unwrap().iter().map(bit).collect::<Vec<u32>>();
    let of = |values: [f32; 8]| bits(Array::from(values));
    let nan = f32::NAN;
    // Python pairs `//` with `%`; the Array API prefers the floor of the quotient.
    let paired = of([nan, nan, nan, -1.0, -1.0, 0.0, nan, -4.0]);
    let quotient = of([INF, -INF, -INF, -0.0, -0.0, 0.0, nan, -4.0]);
    let divided = |policy: Policy| with_policy(policy, || bits(ndjit::floor_divide(&x, &y)));
    assert_eq!(divided(Policy::Standard), paired);
    assert_eq!(divided(Policy::NumPy2), paired);
    assert_eq!(divided(Policy::ArrayApi), quotient);
    let f = jit(|x, y| ndjit::floor_divide(x, y)).with_policy(Policy::ArrayApi);
    assert_eq!(bits(f(&x, &y)), quotient);
    // Integers have no infinities.
    let whole = with_policy(Policy::ArrayApi, || ndjit::floor_divide(Array::from([7, -7]), Array::from([2, 2])));
    assert_eq!(whole.to_vec::<i32>(), Ok(vec![3, -4]));
}
