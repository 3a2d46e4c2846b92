//! Runs of programs: results against the interpreter, arguments and outputs of every kind, memory reused in place.

mod backend;
#[path = "../../common/programs.rs"]
mod programs;
mod reductions;
#[path = "../../common/running.rs"]
mod running;
mod scans;
mod sorts;

use ndjit_codegen::{Lowered, LoweredStep, Options, Scheduled, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, ErrorCode, ValueType};
use ndjit_runtime::buffer::MOVED;
use ndjit_runtime::{Argument, Buffer, Executable, Execution, Output, RunOptions};
use ndjit_transform::access::contiguous;
use programs::{axpy, lowered, tensor};
use running::{check, fresh, run};
use std::sync::Arc;

fn executable(lowered: &Lowered) -> Executable {
    Executable::new(lowered, &RunOptions::default()).unwrap()
}

fn f32s(values: &[f32]) -> Arc<Buffer> {
    Arc::new(Buffer::from_vec(values.to_vec()))
}

#[test]
fn every_dtype_and_engine_gives_the_interpreters_bits() {
    for dtype in DType::ALL.into_iter().filter(|&d| d != DType::Bool) {
        let program = lowered(&axpy(dtype, &[67]));
        let params = [tensor(dtype, &[67], 1), tensor(dtype, &[67], 2)];
        for (vector, execution) in reductions::ENGINES {
            let options = RunOptions { vector, execution, ..RunOptions::default() };
            let executable = check(&program, &options, &params, &[]);
            let kernel = executable.kernels().next().unwrap();
            let compiled = execution == Execution::Compiled;
            assert_eq!(kernel.is_compiled(), compiled);
            assert_eq!(kernel.code_bytes() > 0, compiled);
        }
    }
}

#[test]
fn broadcast_axes_scalars_and_several_results() {
    let program = lowered(
        "graph (%0: f32[5, 1], %1: f32[7]) {
  %2 = literal #0 argument 2 : f*[]
  %3 = multiply %0, %1 : f32[5, 7]
  %4 = add %3, %2 : f32[5, 7]
  %5 = subtract %0, %2 : f32[5, 1]
  return %4, %5, %4, %0
}",
    );
    let params = [tensor(DType::F32, &[5, 1], 3), tensor(DType::F32, &[7], 4)];
    let executable = check(&program, &RunOptions::default(), &params, &[(2, Literal::weak(0.5))]);
    let again = run(&executable, &params, &[(2, Literal::weak(-1.5))], 4);
    assert_ne!(again[0].as_bytes(), again[1].as_bytes());
    assert!(Arc::ptr_eq(&again[0], &again[2]));

    let wrong = |scalars: &[(usize, Literal)]| {
        let arguments = params.iter().map(|p| Argument::Borrowed(&p.bytes));
        let mut outputs: Vec<Output> = (0..4).map(|_| Output::Fresh(None)).collect();
        executable.run(arguments, scalars, &mut outputs).unwrap_err().code()
    };
    assert_eq!(wrong(&[]), ErrorCode::Arity);
    assert_eq!(wrong(&[(2, Literal::weak(2))]), ErrorCode::Argument);
}

#[test]
fn results_go_into_the_callers_memory() {
    let program = lowered(
        "graph (%0: i32[3]) {
  %1 = add %0, %0 : i32[3]
  %2 = multiply %1, %0 : i32[3]
  return %1, %2, %2, %1
}",
    );
    let executable = executable(&program);
    let x = [1i32, -2, 3].map(i32::to_ne_bytes).concat();
    let (mut a, mut b) = ([0u8; 12], [0u8; 12]);
    let mut outputs = [Output::Into(&mut a), Output::Fresh(None), Output::Into(&mut b), Output::Fresh(None)];
    executable.run(vec![Argument::Borrowed(&x)], &[], &mut outputs).unwrap();
    let [_, c, _, d] = outputs;
    assert_eq!(fresh(c).as_slice::<i32>().unwrap(), [2, 8, 18]);
    assert_eq!(fresh(d).as_slice::<i32>().unwrap(), [2, -4, 6]);
    assert_eq!(a, [2i32, -4, 6].map(i32::to_ne_bytes).concat()[..]);
    assert_eq!(b, [2i32, 8, 18].map(i32::to_ne_bytes).concat()[..]);
}

#[test]
fn large_vecs_are_taken_over_and_small_ones_moved_where_vectors_are_read_best() {
    for len in [1, 1000, MOVED / 4, MOVED / 4 + 1] {
        let elements = vec![1.5f32; len];
        let address = elements.as_ptr();
        let buffer = Arc::new(Buffer::from_vec(elements));
        let at = buffer.as_bytes().as_ptr().addr();
        assert!(if 4 * len > MOVED { at == address.addr() } else { at.is_multiple_of(64) }, "{len}");
        let back = buffer.into_vec::<f32>().unwrap();
        assert!(back.len() == len && back.iter().all(|&x| x == 1.5));
        assert!(4 * len <= MOVED || back.as_ptr() == address, "without a copy");
    }
}

#[test]
fn a_donated_buffer_nobody_else_holds_becomes_the_result() {
    let executable = executable(&lowered(&axpy(DType::F32, &[4])));
    let y = f32s(&[1.0, 2.0, 3.0, 4.0]);
    let call = |x: Arc<Buffer>| {
        let mut outputs = [Output::Fresh(None)];
        executable.run(vec![Argument::Donated(x), Argument::Shared(&y)], &[], &mut outputs).unwrap();
        let [output] = outputs;
        fresh(output)
    };
    let x = f32s(&[1.0; 4]);
    let address = x.as_bytes().as_ptr();
    let result = call(x);
    assert_eq!(result.as_slice::<f32>().unwrap(), [3.0, 5.0, 7.0, 9.0]);
    assert_eq!((result.as_bytes().as_ptr(), executable.in_place()), (address, 1));
    assert_eq!(result.into_vec::<f32>().unwrap(), [3.0, 5.0, 7.0, 9.0]);

    let x = f32s(&[1.0; 4]);
    let result = call(Arc::clone(&x));
    assert_ne!(result.as_bytes().as_ptr(), x.as_bytes().as_ptr());
    assert_eq!((x.as_slice::<f32>().unwrap(), executable.in_place()), (&[1.0; 4][..], 1));
    // Larger than the result: not reused.
    let x = f32s(&[1.0; 5]);
    let address = x.as_bytes().as_ptr();
    assert_ne!(call(x).as_bytes().as_ptr(), address);
    // Donated and shared at once.
    let mut outputs = [Output::Fresh(None)];
    executable.run(vec![Argument::Donated(Arc::clone(&y)), Argument::Shared(&y)], &[], &mut outputs).unwrap();
    assert_eq!(y.as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn memory_is_not_taken_over_where_layouts_differ_or_a_reader_follows() {
    // The second kernel reads the first one's operand again; a narrower result never fits.
    let unfused = |text: &str| {
        let graph: Graph<ValueType> = text.parse().unwrap();
        let layout = |&p| contiguous(graph.shape(p), DType::F32).unwrap();
        let layouts: Vec<Layout> = graph.params().iter().map(layout).collect();
        let options = Options { fuse: false, ..Options::default() };
        lower(&graph, &SourceLocs::default(), &layouts, &options).unwrap()
    };
    let program = unfused(
        "graph (%0: f32[4]) {
  %1 = add %0, %0 : f32[4]
  %2 = multiply %1, %0 : f32[4]
  %3 = negative %2 : f32[4]
  return %3
}",
    );
    let executable = executable(&program);
    assert_eq!(executable.kernels().count(), 3);
    let x = f32s(&[1.0, 2.0, 3.0, 4.0]);
    let mut outputs = [Output::Fresh(None)];
    executable.run(vec![Argument::Donated(x)], &[], &mut outputs).unwrap();
    let [output] = outputs;
    assert_eq!(fresh(output).as_slice::<f32>().unwrap(), [-2.0, -8.0, -18.0, -32.0]);
    // The second kernel took the first one's result or the parameter, the third the second's result.
    assert_eq!(executable.in_place(), 2);

    let broadcast = unfused(
        "graph (%0: f32[4], %1: f32[4, 4]) {
  %2 = add %0, %1 : f32[4, 4]
  return %2
}",
    );
    let executable = Executable::new(&broadcast, &RunOptions::default()).unwrap();
    let row = f32s(&[1.0, 2.0, 3.0, 4.0]);
    let square = f32s(&[0.0; 16]);
    let mut outputs = [Output::Fresh(None)];
    executable.run(vec![Argument::Donated(row), Argument::Shared(&square)], &[], &mut outputs).unwrap();
    assert_eq!(executable.in_place(), 0);
}

#[test]
fn a_transposed_buffer_is_not_overwritten_while_it_is_read() {
    let graph: Graph<ValueType> = axpy(DType::F32, &[3, 3]).parse().unwrap();
    let plain = contiguous(graph.shape(graph.params()[0]), DType::F32).unwrap();
    let transposed = Layout { offset: 0, strides: plain.strides.iter().rev().copied().collect() };
    let program = lower(&graph, &SourceLocs::default(), &[transposed, plain], &Options::default()).unwrap();
    let executable = executable(&program);
    let x = f32s(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let mut outputs = [Output::Fresh(None)];
    executable.run(vec![Argument::Donated(x), Argument::Shared(&f32s(&[0.5; 9]))], &[], &mut outputs).unwrap();
    let [output] = outputs;
    assert_eq!(fresh(output).as_slice::<f32>().unwrap(), [1.0, 4.0, 7.0, 2.0, 5.0, 8.0, 3.0, 6.0, 9.0]);
    assert_eq!(executable.in_place(), 0);
}

#[test]
fn wrong_calls_are_errors() {
    let executable = executable(&lowered(&axpy(DType::F32, &[4])));
    let (x, y) = (f32s(&[1.0; 4]), f32s(&[1.0; 3]));
    let call = |arguments: Vec<Argument>, outputs: &mut [Output]| executable.run(arguments, &[], outputs);
    let error = call(vec![Argument::Shared(&x)], &mut [Output::Fresh(None)]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Arity);
    let error = call(vec![Argument::Shared(&x), Argument::Shared(&x)], &mut []).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Arity);
    let error = call(vec![Argument::Shared(&x), Argument::Shared(&y)], &mut [Output::Fresh(None)]).unwrap_err();
    assert_eq!((error.code(), &*error.facts()[0]), (ErrorCode::Argument, "12 bytes given, 16 needed"));
    for size in [12, 20] {
        let mut memory = vec![0; size];
        let error =
            call(vec![Argument::Shared(&x), Argument::Shared(&x)], &mut [Output::Into(&mut memory)]).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Argument);
    }
}

#[test]
fn empty_arrays_have_empty_results() {
    let executable = executable(&lowered(&axpy(DType::F64, &[3, 0])));
    let mut outputs = [Output::Fresh(None)];
    executable.run(vec![Argument::Borrowed(&[]), Argument::Borrowed(&[])], &[], &mut outputs).unwrap();
    let [output] = outputs;
    assert!(fresh(output).is_empty());
}

/// The first step of a program, a kernel.
fn first(lowered: &mut Lowered) -> &mut Scheduled {
    match &mut lowered.steps[0] {
        LoweredStep::Kernel(kernel) => &mut kernel.scheduled,
        LoweredStep::Control(_) => panic!("control flow"),
    }
}

#[test]
fn a_program_that_leaves_its_operands_is_refused() {
    let good = lowered(&axpy(DType::F32, &[4, 4]));
    let refused = |change: &dyn Fn(&mut Lowered)| {
        let mut wrong = good.clone();
        change(&mut wrong);
        assert_eq!(Executable::new(&wrong, &RunOptions::default()).unwrap_err().code(), ErrorCode::Verify);
    };
    refused(&|l| first(l).domain.extents[0] += 1);
    refused(&|l| first(l).domain.outputs[0].offset = 4);
    refused(&|l| first(l).domain.outputs[0].strides[0] = 8);
    refused(&|l| first(l).domain.inputs[0].strides[0] = 0);
    refused(&|l| first(l).domain.inputs[0].strides.clear());
    refused(&|l| first(l).inputs[0] = ndjit_ir::graph::Value(4));
    refused(&|l| first(l).nest.rank = 2);
    refused(&|l| l.steps.clear());
    // An offset past the end of a parameter is the call's error.
    let mut shifted = good.clone();
    first(&mut shifted).domain.inputs[0].offset = 4;
    let executable = executable(&shifted);
    let x = f32s(&[0.0; 16]);
    let error =
        executable.run(vec![Argument::Shared(&x), Argument::Shared(&x)], &[], &mut [Output::Fresh(None)]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Argument);
}

#[test]
fn threads_do_not_change_results() {
    let program = lowered(
        "graph (%0: f32[300, 1], %1: f32[1001]) {
  %2 = multiply %0, %1 : f32[300, 1001]
  %3 = divide %2, %1 : f32[300, 1001]
  %4 = sqrt %3 : f32[300, 1001]
  return %4, %2
}",
    );
    let long = lowered(&axpy(DType::F32, &[300_007]));
    let inputs = [tensor(DType::F32, &[300, 1], 5), tensor(DType::F32, &[1001], 1)];
    let long_inputs = [tensor(DType::F32, &[300_007], 5), tensor(DType::F32, &[300_007], 1)];
    let with = |threads: Option<usize>| {
        let options = RunOptions { threads, ..RunOptions::default() };
        let a = run(&Executable::new(&program, &options).unwrap(), &inputs, &[], 2);
        let b = run(&Executable::new(&long, &options).unwrap(), &long_inputs, &[], 1);
        [a, b].concat().iter().map(|b| b.as_bytes().to_vec()).collect::<Vec<_>>()
    };
    let serial = with(Some(1));
    for threads in [None, Some(2), Some(3), Some(8)] {
        assert!(with(threads) == serial, "{threads:?}");
    }
}

#[test]
fn results_that_memory_cannot_hold_are_errors() {
    let program = lowered(
        "graph (%0: f32[]) {
  %1 = add %0, %0 : f32[]
  return %1
}",
    );
    let mut huge = program.clone();
    let shape = huge.simplified.intern(&ndjit_ir::Shape::from([1usize << 50]));
    let (kind, operand) = (ndjit_ir::graph::NodeKind::Cast(()), huge.simplified.params()[0]);
    let value = huge.simplified.add(kind, &[operand], &[(DType::F32, shape)]);
    huge.simplified.set_outputs(vec![value]);
    huge.stored = vec![value];
    first(&mut huge).outputs = vec![value];
    first(&mut huge).domain.extents[0] = 1 << 50;
    first(&mut huge).domain.inputs[0].strides[0] = 0;
    first(&mut huge).nest.inputs[0].inner = ndjit_ir::loops::Stride::Broadcast;
    let executable = executable(&huge);
    let error = executable.run(vec![Argument::Borrowed(&[0; 4])], &[], &mut [Output::Fresh(None)]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Allocation);
}
