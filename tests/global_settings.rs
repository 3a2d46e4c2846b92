//! Process-wide settings. One test, since it affects every thread.

use ndjit::{
    Array, DType, Defaults, Policy, default_dtype, defaults, jit, policy, set_default_dtype, set_defaults, set_policy,
    with_policy,
};

#[test]
fn global_settings_reach_every_thread() -> Result<(), ndjit::Error> {
    let f = jit(|x, y| x + y);
    let (x, y) = (Array::from([1u32]), Array::from([1i32]));
    assert_eq!(f.call((&x, &y))?.dtype(), DType::I64);

    set_policy(Policy::Jax32);
    assert_eq!(std::thread::spawn(policy).join().expect("a policy"), Policy::Jax32);
    assert_eq!(f.call((&x, &y))?.dtype(), DType::I32);
    assert_eq!(with_policy(Policy::Standard, || f.call((&x, &y)))?.dtype(), DType::I64);

    let (mut sums, locks) = ([0i32], ndjit_ir::lock::taken());
    f.call_into((&x, &y), &mut sums)?;
    assert_eq!(ndjit_ir::lock::taken(), locks, "they are looked up under a lock once per change");

    set_policy(Policy::Standard);
    set_defaults(Defaults::BITS_64)?;
    assert_eq!((defaults(), default_dtype()), (Defaults::BITS_64, DType::F64));
    assert_eq!((Array::from([true]) + 1).dtype(), DType::I64);
    assert!(set_defaults(Defaults { int: DType::F32, ..Defaults::BITS_64 }).is_err());
    assert_eq!(defaults(), Defaults::BITS_64);

    set_default_dtype(DType::I8);
    assert_eq!(std::thread::spawn(default_dtype).join().expect("a dtype"), DType::I8);
    set_default_dtype(None);
    set_defaults(Defaults::BITS_32)?;
    assert_eq!(default_dtype(), DType::F32);
    Ok(())
}
