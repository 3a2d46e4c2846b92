//! The examples of `tests/seeds/` with process-wide settings, which other tests would see. One test, since they affect every
//! thread.

use ndjit::{
    Array, CastingModes, DType, Defaults, ErrorCode, Policy, asarray, casting, default_dtype, defaults, f16, full,
    policy, set_casting, set_default_dtype, set_defaults, set_policy, zeros,
};

#[test]
fn global_examples() {
    strict_set_globally();
    standard_restored();
    set_default_dtype_sets_the_global_default();
    set_default_int_and_float_dtype();
    set_precise_mode();
    crosscast_data_types();
}

fn sum() -> Array {
    Array::from(1.0f32) + Array::from(1i32)
}

// J26 jax.config.update('jax_numpy_dtype_promotion', 'strict')
fn strict_set_globally() {
    set_policy(Policy::Strict);
    let elsewhere = std::thread::spawn(sum).join().unwrap();
    for refused in [sum(), elsewhere] {
        assert_eq!(refused.eval().unwrap_err().code(), ErrorCode::Promotion);
    }
}

// J27 jax.config.update('jax_numpy_dtype_promotion', 'standard')
fn standard_restored() {
    set_policy(Policy::Standard);
    assert_eq!(policy(), Policy::default());
    assert_eq!((sum().dtype(), sum().item::<f32>()), (DType::F32, Ok(2.0)));
}

// I15 "ivy.set_default_dtype which sets the global default data type"
fn set_default_dtype_sets_the_global_default() {
    set_default_dtype(DType::I16);
    assert_eq!(std::thread::spawn(|| (default_dtype(), zeros(1).dtype())).join().unwrap(), (DType::I16, DType::I16));
    set_default_dtype(None);
    assert_eq!(zeros(1).dtype(), DType::F32);
}

// ivy.set_default_int_dtype, ivy.set_default_float_dtype
fn set_default_int_and_float_dtype() {
    set_defaults(Defaults { int: DType::I8, float: DType::F64, ..Defaults::BITS_32 }).unwrap();
    assert_eq!(
        [full(2, 1), asarray(1), asarray(1.5), zeros(1)].map(|x| x.dtype()),
        [DType::I8, DType::I8, DType::F64, DType::F64]
    );
    assert!(set_defaults(Defaults { int: DType::F32, ..Defaults::BITS_32 }).is_err());
    set_defaults(Defaults::BITS_32).unwrap();
    assert_eq!(defaults(), Defaults::BITS_32);
}

// ivy.set_precise_mode(False), ivy.unset_precise_mode()
fn set_precise_mode() {
    set_policy(Policy::IvyPrecise);
    assert_eq!(sum().dtype(), DType::F64);
    set_policy(Policy::IvyImprecise);
    assert_eq!(sum().dtype(), DType::F32);
    set_policy(Policy::Standard);
}

// ivy.crosscast_data_types(), ivy.crosscast_data_types(val=False)
fn crosscast_data_types() {
    let xor = || Array::from([f16::from_f32(6.0)]) ^ 3;
    assert!(xor().eval().is_err());
    set_casting(CastingModes::CROSS);
    assert_eq!(std::thread::spawn(xor).join().unwrap().to_vec::<i32>(), Ok(vec![5]));
    set_casting(CastingModes::ERROR);
    assert_eq!((casting(), xor().eval().is_err()), (CastingModes::ERROR, true));
}
