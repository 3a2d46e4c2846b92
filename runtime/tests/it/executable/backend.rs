//! The CPU through the trait of all devices.

use super::programs::{axpy, lowered};
use ndjit_codegen::{LoweredKernel, LoweredStep, Scheduled};
use ndjit_ir::support::Device;
use ndjit_ir::{DType, ErrorCode};
use ndjit_runtime::code::CodeOptions;
use ndjit_runtime::devices::open;
use ndjit_runtime::{Buffer, bytes_of, drivers};

#[test]
fn a_kernel_runs_on_uploaded_memory() {
    let program = lowered(&axpy(DType::F32, &[5]));
    let [LoweredStep::Kernel(LoweredKernel { scheduled, .. })] = &program.steps[..] else {
        panic!("{:?}", program.steps)
    };
    let kernel = drivers::get(&scheduled.nest, CodeOptions::default()).unwrap();
    let x = Buffer::from_bytes(bytes_of(&[1.0f32, 2.0, 3.0, 4.0, 5.0])).unwrap();
    let mut out = [Buffer::zeroed(20).unwrap()];
    let two = u64::from(2f32.to_bits());
    // The same buffer read twice.
    kernel.run(&scheduled.domain, &[two], &[&x, &x], &mut out).unwrap();
    assert_eq!(out[0].as_bytes(), bytes_of(&[3.0f32, 6.0, 9.0, 12.0, 15.0]));

    let mut short = [Buffer::zeroed(16).unwrap()];
    let code = |result: ndjit_ir::Result<()>| result.unwrap_err().code();
    assert_eq!(code(kernel.run(&scheduled.domain, &[two], &[&x, &x], &mut short)), ErrorCode::Verify);
    assert_eq!(code(kernel.run(&scheduled.domain, &[], &[&x, &x], &mut out)), ErrorCode::Argument);
    assert_eq!(code(kernel.run(&scheduled.domain, &[two], &[&x], &mut out)), ErrorCode::Verify);
    let alone = |inputs: &[Vec<u8>]| {
        open(Device::CPU).unwrap().run_nest(&scheduled.nest, &scheduled.domain, &[two], inputs, &[20])
    };
    let bytes = x.as_bytes().to_vec();
    assert_eq!(alone(&[bytes.clone(), bytes]).unwrap(), [out[0].as_bytes()]);
    assert_eq!(alone(&[]).unwrap_err().code(), ErrorCode::Verify);
}

#[test]
fn reductions_run_and_positions_need_no_memory() {
    let program = lowered("graph (%0: f32[2, 3]) {\n  %1 = argmin %0 axes [0] : i32[3]\n  return %1\n}");
    let kernels: Vec<&Scheduled> = program.kernels().map(|kernel| &kernel.scheduled).collect();
    let [minimum, positions] = kernels[..] else { panic!("{:?}", program.steps) };
    let compile = |nest| drivers::get(nest, CodeOptions::default()).unwrap();
    let x = Buffer::from_bytes(bytes_of(&[1.0f32, 5.0, 3.0, 4.0, 2.0, 6.0])).unwrap();

    let mut least = [Buffer::zeroed(12).unwrap()];
    let kernel = compile(&minimum.nest);
    kernel.run(&minimum.domain, &[], &[&x], &mut least).unwrap();
    assert_eq!(least[0].as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0]);
    let mut short = [Buffer::zeroed(8).unwrap()];
    let error = kernel.run(&minimum.domain, &[], &[&x], &mut short).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Verify);

    let nothing = Buffer::zeroed(0).unwrap();
    let inputs = positions.nest.inputs.iter().zip(&positions.domain.inputs);
    let inputs: Vec<&Buffer> = inputs
        .map(|(access, layout)| match layout.strides[1] {
            _ if access.is_index() => &nothing,
            0 => &least[0],
            _ => &x,
        })
        .collect();
    let mut first = [Buffer::zeroed(12).unwrap()];
    compile(&positions.nest).run(&positions.domain, &[2], &inputs, &mut first).unwrap();
    assert_eq!(first[0].as_slice::<i32>().unwrap(), [0, 1, 0]);
}
