//! Python scalars on JAX's page "Type promotion semantics": <https://docs.jax.dev/en/latest/type_promotion.html>,
//! `docs/type_promotion.rst` at cec06d116c. A Rust literal stands for a Python scalar, `strong(…)` for a NumPy scalar.
//!
//! The page was printed with 64-bit types off, where an integer is an int32: ndjit's default as well.

use super::support::{both, gives};
use insta::assert_snapshot;
use ndjit::{Array, Complex, DType, Policy, Scalar, Weak, asarray, dtype, jit, strong, weak, with_policy};

// J06 jnp.int16(1) + 1
// "will return int16 rather than promoting to int64 as in NumPy": as in NumPy 1; NumPy 2 gives int16 too.
#[test]
fn int16_1_plus_1() {
    gives(both!(|x| x + 1, 1i16), DType::I16, &[2i16]);
    gives(both!(|x| with_policy(Policy::NumPy2, move || x + 1), 1i16), DType::I16, &[2i16]);
}

// J07 jnp.int16(1) + np.array(1)
// "will return int64", if 64-bit types are on in JAX; with them off it is int32.
#[test]
fn int16_1_plus_array_1() {
    gives(both!(|x| x + strong(1i64), 1i16), DType::I64, &[2i64]);
    gives(both!(|x, y| x + y, 1i16, 1i64), DType::I64, &[2i64]);
    gives(both!(|x, y| with_policy(Policy::Jax32, move || x + y), 1i16, 1i64), DType::I32, &[2i32]);
}

// J14 np.int16(1) + 1
// By NumPy's rules. In NumPy 1 two scalars met as arrays do, the Python one as int64; to say that here takes `strong`.
#[test]
fn np_int16_1_plus_1_promotes_by_numpy_rules() {
    gives(both!(|x| with_policy(Policy::NumPy1, move || x + strong(1i64)), 1i16), DType::I64, &[2i64]);
    gives(both!(|x| with_policy(Policy::NumPy2, move || x + 1), 1i16), DType::I16, &[2i16]);
}

// J15 jnp.int16(1) + 1
#[test]
fn jnp_int16_1_plus_1_promotes_by_jax_rules() {
    gives(both!(|x| with_policy(Policy::Jax, move || x + 1), 1i16), DType::I16, &[2i16]);
}

// J16 np.int16(1) + 1 + jnp.int16(1)
// "confusing non-associative promotion semantics when the two types of promotion are combined". It took NumPy 1 to see it.
#[test]
fn np_int16_1_plus_1_plus_jnp_int16_1_is_not_associative() {
    let numpy_first = both!(|x, y| with_policy(Policy::NumPy1, move || x + strong(1i64)) + y, 1i16, 1i16);
    gives(numpy_first, DType::I64, &[3i64]);
    gives(both!(|x, y| x + (1 + y), 1i16, 1i16), DType::I16, &[3i16]);
    gives(both!(|x, y| with_policy(Policy::NumPy2, move || x + 1) + y, 1i16, 1i16), DType::I16, &[3i16]);
}

// J17 x = jnp.arange(5, dtype='int8'); 2 * x -> Array([0, 2, 4, 6, 8], dtype=int8)
#[test]
fn two_times_arange_5_i8() {
    gives(both!(|x| 2 * x, dtype(DType::I8).arange(5)), DType::I8, &[0i8, 2, 4, 6, 8]);
}

// J18 jnp.int32(2) * x -> Array([0, 2, 4, 6, 8], dtype=int32)
#[test]
fn int32_2_times_arange_5_i8() {
    gives(both!(|x| strong(2i32) * x, dtype(DType::I8).arange(5)), DType::I32, &[0i32, 2, 4, 6, 8]);
}

// J19 "Python scalars are sometimes promoted to Array objects, for example during JIT compilation. … weakly-typed values can in
// most cases be thought of as having promotion behavior equivalent to that of Python scalars"
#[test]
fn weak_values_promote_like_bare_numbers() {
    type PlusLiteral = fn(&Array) -> Array;
    let numbers: [(Scalar, PlusLiteral); 3] = [
        (weak(2), |x| x + 2),
        (weak(2.5), |x| x + 2.5),
        (weak(Complex::new(0.0, 1.0)), |x| x + Complex::new(0.0, 1.0)),
    ];
    let sum = jit(|x, y| x + y);
    for dtype in DType::ALL {
        let x = Array::from([1u8, 0]).cast(dtype);
        for (number, plus_literal) in numbers {
            let literal = plus_literal(&x);
            let array = Array::scalar(number);
            let argument = sum.call((&x, number));
            for other in [&x + &array, sum.call((&x, &array)).unwrap(), argument.unwrap()] {
                assert_eq!(literal.value_type(), other.value_type(), "{dtype} with {array}");
                assert_eq!(literal.to_string(), other.to_string(), "{dtype} with {array}");
            }
        }
    }
}

// J20 jnp.asarray(2) -> Array(2, dtype=int32, weak_type=True)
#[test]
fn asarray_2_is_weak() {
    let two = asarray(2);
    assert_eq!((two.value_type(), two.dtype()), (Weak::Int.into(), DType::I32));
    assert_snapshot!(two, @"2 i*");
    assert_snapshot!(format!("{two:?}"), @"Array(i*[] stored as i32)");
}

// J21 jnp.asarray(2, dtype='int32') -> Array(2, dtype=int32)
#[test]
fn asarray_2_with_dtype_is_strong() {
    let two = dtype(DType::I32).asarray(2);
    assert_eq!(two.value_type(), DType::I32.into());
    assert_snapshot!(two, @"2");
    assert_snapshot!(format!("{two:?}"), @"Array(i32[])");
}

// J22 asarray(2) * x and asarray(2, dtype='int32') * x, which the text before them implies
#[test]
fn asarray_2_times_arange_5_i8() {
    let x = dtype(DType::I8).arange(5);
    gives(both!(|two, x| two * x, asarray(2), x.clone()), DType::I8, &[0i8, 2, 4, 6, 8]);
    gives(both!(|two, x| two * x, dtype(DType::I32).asarray(2), x), DType::I32, &[0i32, 2, 4, 6, 8]);
}
