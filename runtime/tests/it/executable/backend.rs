//! The CPU through the trait every device implements.

use super::programs::{axpy, lowered};
use ndjit_codegen::{LoweredKernel, LoweredStep, Scheduled};
use ndjit_ir::{DType, ErrorCode};
use ndjit_runtime::code::CodeOptions;
use ndjit_runtime::{Backend, Buffer, Cpu, bytes_of};

#[test]
fn a_kernel_runs_on_uploaded_memory() {
    let program = lowered(&axpy(DType::F32, &[5]));
    let [LoweredStep::Kernel(LoweredKernel { scheduled, .. })] = &program.steps[..] else {
        panic!("{:?}", program.steps)
    };
    let kernel = Cpu.compile(&scheduled.nest, CodeOptions::default()).unwrap();
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
    let error = Cpu.run_on_bytes(&scheduled.nest, &scheduled.geometry, &[], &[20]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Verify);
}

#[test]
fn reductions_run_and_positions_need_no_memory() {
    let program = lowered("graph (%0: f32[2, 3]) {\n  %1 = argmin %0 axes [0] : i32[3]\n  return %1\n}");
    let kernels: Vec<&Scheduled> = program.kernels().map(|kernel| &kernel.scheduled).collect();
    let [minimum, positions] = kernels[..] else { panic!("{:?}", program.steps) };
    let compile = |nest| Cpu.compile(nest, CodeOptions::default()).unwrap();
    let x = Cpu.upload(bytes_of(&[1.0f32, 5.0, 3.0, 4.0, 2.0, 6.0])).unwrap();

    let mut least = [Cpu.allocate(12).unwrap()];
    let kernel = compile(&minimum.nest);
    Cpu.run(&kernel, &minimum.geometry, &[], &[&x], &mut least).unwrap();
    assert_eq!(least[0].as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0]);
    let mut short = [Cpu.allocate(8).unwrap()];
    let error = Cpu.run(&kernel, &minimum.geometry, &[], &[&x], &mut short).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Verify);

    let nothing = Cpu.allocate(0).unwrap();
    let inputs = positions.nest.inputs.iter().zip(&positions.geometry.inputs);
    let inputs: Vec<&Buffer> = inputs
        .map(|(access, layout)| match layout.strides[1] {
            _ if access.is_index() => &nothing,
            0 => &least[0],
            _ => &x,
        })
        .collect();
    let mut first = [Cpu.allocate(12).unwrap()];
    Cpu.run(&compile(&positions.nest), &positions.geometry, &[2], &inputs, &mut first).unwrap();
    assert_eq!(first[0].as_slice::<i32>().unwrap(), [0, 1, 0]);
}
