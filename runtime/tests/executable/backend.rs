//! The CPU through the trait every device implements.

use crate::programs::{axpy, lowered};
use ndjit_ir::{DType, ErrorCode};
use ndjit_runtime::code::CodeOptions;
use ndjit_runtime::{Backend, Cpu, bytes_of};

#[test]
fn a_kernel_runs_on_uploaded_memory() {
    let program = lowered(&axpy(DType::F32, &[5]));
    let scheduled = &program.scheduled[0];
    let kernel = Cpu.compile(&scheduled.nest, CodeOptions { vector: true, compile: true }).unwrap();
    let x = Cpu.upload(bytes_of(&[1.0f32, 2.0, 3.0, 4.0, 5.0])).unwrap();
    let mut out = [Cpu.allocate(20).unwrap()];
    let two = u64::from(2f32.to_bits());
    // The same buffer read twice.
    Cpu.run(&kernel, &scheduled.geometry, &[two], &[&x, &x], &mut out).unwrap();
    let mut host = [0u8; 20];
    Cpu.download(&out[0], &mut host).unwrap();
    assert_eq!(host, bytes_of(&[3.0f32, 6.0, 9.0, 12.0, 15.0]));

    let mut short = [Cpu.allocate(16).unwrap()];
    let code = |result: ndjit_ir::Result<()>| result.unwrap_err().code();
    assert_eq!(code(Cpu.run(&kernel, &scheduled.geometry, &[two], &[&x, &x], &mut short)), ErrorCode::Verify);
    assert_eq!(code(Cpu.run(&kernel, &scheduled.geometry, &[], &[&x, &x], &mut out)), ErrorCode::Argument);
    assert_eq!(code(Cpu.run(&kernel, &scheduled.geometry, &[two], &[&x], &mut out)), ErrorCode::Verify);
    assert_eq!(code(Cpu.download(&x, &mut host[..4])), ErrorCode::Argument);
}

#[test]
fn a_reduction_and_positions_on_the_trait() {
    let program = lowered(
        "graph (%0: f32[2, 3]) {
  %1 = max %0 axes [1] keepdims : f32[2, 1]
  %2 = argmin %0 axes [0] : i32[3]
  return %1, %2
}",
    );
    let x = Cpu.upload(bytes_of(&[1.0f32, 5.0, 3.0, 4.0, 2.0, 6.0])).unwrap();
    let maximum = &program.scheduled[0];
    let kernel = Cpu.compile(&maximum.nest, CodeOptions { vector: true, compile: true }).unwrap();
    let mut out = [Cpu.allocate(8).unwrap()];
    Cpu.run(&kernel, &maximum.geometry, &[], &[&x], &mut out).unwrap();
    assert_eq!(out[0].as_slice::<f32>().unwrap(), [5.0, 6.0]);
    let mut short = [Cpu.allocate(4).unwrap()];
    let error = Cpu.run(&kernel, &maximum.geometry, &[], &[&x], &mut short).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Verify);
}
