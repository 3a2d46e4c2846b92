//! Strict mode on JAX's page "Type promotion semantics":
//! <https://docs.jax.dev/en/latest/type_promotion.html#strict-dtype-promotion>, `docs/type_promotion.rst` at cec06d116c.
//! What the page sets for the whole process is in `tests/seeds_global.rs`.

use super::support::{both, gives, pairs, text};
use insta::assert_snapshot;
use ndjit::{Array, DType, ErrorCode, Policy, ValueType, policy, with_policy};
use ndjit_ir::Kind;

// J23 x = jnp.float32(1); y = jnp.int32(1); with jax.numpy_dtype_promotion('strict'): z = x + y
// TypePromotionError: Input dtypes ('float32', 'int32') have no available implicit dtype promotion path when
// jax_numpy_dtype_promotion=strict. Try explicitly casting inputs to the desired output type, or set
// jax_numpy_dtype_promotion=standard.
#[test]
fn strict_f32_plus_i32_is_an_error() {
    let sum = both!(|x, y| with_policy(Policy::Strict, move || x + y), 1.0f32, 1i32).unwrap_err();
    assert_eq!(sum.code(), ErrorCode::Promotion);
    assert_snapshot!(text(sum), @"
    error[promotion]: add: the strict policy does not promote f32 and i32
      x: f32[] from argument 0
      y: i32[] from argument 1
      help: cast explicitly: `cast(y, DType::F32)`; f32 keeps 24 binary digits, i32 has 31
    ");
    let swapped = both!(|x, y| with_policy(Policy::Strict, move || y + x), 1.0f32, 1i32).unwrap_err();
    assert_snapshot!(text(swapped), @"
    error[promotion]: add: the strict policy does not promote i32 and f32
      x: i32[] from argument 1
      y: f32[] from argument 0
      help: cast explicitly: `cast(y, DType::F32)`; f32 keeps 24 binary digits, i32 has 31
    ");
    // Both ways out.
    gives(
        both!(|x, y| with_policy(Policy::Strict, move || x + y.cast(DType::F32)), 1.0f32, 1i32),
        DType::F32,
        &[2.0f32],
    );
    gives(both!(|x, y| with_policy(Policy::Standard, move || x + y), 1.0f32, 1i32), DType::F32, &[2.0f32]);
}

// J24 with jax.numpy_dtype_promotion('strict'): z = x + 1; print(z) -> 2.0
#[test]
fn strict_f32_plus_1() {
    gives(both!(|x| with_policy(Policy::Strict, move || x + 1), 1.0f32), DType::F32, &[2.0f32]);
    let printed = with_policy(Policy::Strict, || Array::from(1.0f32) + 1);
    assert_snapshot!(printed, @"2.");
}

// J25 "strict promotion mode will still allow safe weakly-typed promotions"
// "code that mixes JAX arrays and Python scalars" works only where the scalar's kind is not above the array's.
#[test]
fn strict_allows_safe_weak_pairs_only() {
    let order = |ty: ValueType| match ty.kind() {
        Kind::Bool => 0,
        Kind::UInt | Kind::Int => 1,
        Kind::Float => 2,
        Kind::Complex => 3,
    };
    let mut allowed = 0;
    for (a, b) in pairs() {
        let expected = match (a.is_weak(), b.is_weak()) {
            (false, false) => (a == b).then_some(a),
            (true, true) => Some(if order(a) < order(b) { b } else { a }),
            (true, false) => (order(a) <= order(b)).then_some(b),
            (false, true) => (order(b) <= order(a)).then_some(a),
        };
        assert_eq!(Policy::Strict.join(a, b), expected, "{a} with {b}");
        allowed += usize::from(expected.is_some());
    }
    // The diagonal; 8 integers, 4 floats and 2 complex dtypes with the weak types up to their kind; the weak ones.
    assert_eq!(allowed, 18 + 2 * (8 + 4 * 2 + 2 * 3) + 6);
    let refused = |sum: ndjit::Result<Array>| assert_eq!(sum.unwrap_err().code(), ErrorCode::Promotion);
    refused(both!(|x| with_policy(Policy::Strict, move || x + 1.5), [1i32]));
    refused(both!(|x| with_policy(Policy::Strict, move || x + 1.5), [1u8]));
    refused(both!(|x| with_policy(Policy::Strict, move || x + ndjit::Complex::new(0.0, 1.0)), [1.0f32]));
    refused(both!(|x| with_policy(Policy::Strict, move || x + 1), [true]));
}

// The page's `with` ends: what is made after it is under the policy from before, also if it failed inside.
#[test]
fn the_scope_ends() {
    let failed = with_policy(Policy::Strict, || Array::from(1.0f32) + Array::from(1i32));
    assert!(failed.eval().is_err());
    assert_eq!(policy(), Policy::Standard);
    gives(both!(|x, y| x + y, 1.0f32, 1i32), DType::F32, &[2.0f32]);
}
