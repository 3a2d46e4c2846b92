//! The examples of `tests/seeds/` that set something for the whole process, which other tests would see. One test, since what
//! it sets every thread sees.

use ndjit::{Array, DType, ErrorCode, Policy, policy, set_policy};

// J26 jax.config.update('jax_numpy_dtype_promotion', 'strict')
// J27 jax.config.update('jax_numpy_dtype_promotion', 'standard')
#[test]
fn strict_set_globally_then_standard_restored() {
    let sum = || Array::from(1.0f32) + Array::from(1i32);
    set_policy(Policy::Strict);
    let elsewhere = std::thread::spawn(sum).join().unwrap();
    for refused in [sum(), elsewhere] {
        assert_eq!(refused.eval().unwrap_err().code(), ErrorCode::Promotion);
    }
    set_policy(Policy::Standard);
    assert_eq!(policy(), Policy::default());
    assert_eq!((sum().dtype(), sum().item::<f32>()), (DType::F32, Ok(2.0)));
}
