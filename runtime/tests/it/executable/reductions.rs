//! Reductions on the CPU give the interpreter's bits: every elementary one in every dtype, along every choice of axes, for numbers
//! of elements around lanes, blocks and tiles, on any number of threads, compiled and interpreted.

use super::programs::lowered;
use ndjit_codegen::target::VectorWidth;
use ndjit_codegen::{Lowered, Options, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::loops::Layout;
use ndjit_ir::reduction::{AxisSet, Reduction};
use ndjit_ir::{DType, ErrorCode, PrimType, Shape, ValueType};
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_runtime::{Argument, Executable, Execution, Output, RunOptions};
use ndjit_transform::access::contiguous;
use std::sync::Arc;

/// A program that reduces one array.
fn program(reduction: Reduction, dtype: DType, shape: &[usize], axes: &[isize]) -> String {
    let set = AxisSet::new(axes, shape.len()).unwrap();
    let asked = if reduction.takes_dtype() { format!(" dtype {dtype}") } else { String::new() };
    let (shape, result) = (Shape::new(shape), set.reduced(&Shape::new(shape), false));
    format!("graph (%0: {dtype}{shape}) {{\n  %1 = {reduction} %0 axes {set}{asked} : {dtype}{result}\n  return %1\n}}")
}

/// Elements of many magnitudes, which make the order of sums visible, and some special values.
pub fn elements(dtype: DType, shape: &[usize], specials: bool) -> Tensor {
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 20
    };
    Tensor::from_repr(dtype, Shape::new(shape), |_| {
        let words = dtype.repr().iter().map(|ty| {
            let bits = next();
            let special = specials && bits.is_multiple_of(89);
            let float = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY][bits as usize / 89 % 5];
            let float = if special { float } else { (bits % 4001) as f64 / 1000.0 - 2.0 };
            match ty {
                PrimType::F32 => u64::from((float as f32).to_bits()),
                PrimType::F64 => float.to_bits(),
                PrimType::Bool => u64::from(bits.is_multiple_of(3)),
                PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 => bits & ty.mask(),
            }
        });
        words.collect::<Vec<u64>>()
    })
    .unwrap()
}

pub const ENGINES: [(VectorWidth, Execution); 5] = [
    (VectorWidth::Widest, Execution::Compiled),
    (VectorWidth::Bits256, Execution::Compiled),
    (VectorWidth::Bits128, Execution::Compiled),
    (VectorWidth::Scalar, Execution::Compiled),
    (VectorWidth::Widest, Execution::Interpreted),
];

/// Runs a program on bytes with these options and compares with the expected tensors.
pub fn check(program: &Lowered, options: &RunOptions, bytes: &[&[u8]], expected: &[Tensor], what: &str) {
    let executable = Executable::new(program, options).unwrap_or_else(|e| panic!("{what}: {e}"));
    let mut outputs: Vec<Output> = expected.iter().map(|_| Output::Fresh(None)).collect();
    let arguments = bytes.iter().map(|bytes| Argument::Borrowed(bytes));
    executable.run(arguments, &[], &mut outputs).unwrap_or_else(|e| panic!("{what}: {e}"));
    for (output, expected) in outputs.iter().zip(expected) {
        let Output::Fresh(Some(buffer)) = output else { panic!("{what}: no buffer") };
        let found = Tensor { bytes: buffer.as_bytes().to_vec(), ..expected.clone() };
        let at = found.first_difference(expected);
        assert!(found.same_bits(expected), "{what}, {options:?}: at {at:?} {found:?} for {expected:?}");
    }
}

pub fn options(vector: impl Into<VectorWidth>, execution: Execution, threads: usize) -> RunOptions {
    RunOptions { vector: vector.into(), execution, threads: Some(threads), tile: None }
}

fn all_dtypes() -> impl Iterator<Item = (Reduction, DType)> {
    let pairs = Reduction::ALL.into_iter().flat_map(|reduction| DType::ALL.map(|dtype| (reduction, dtype)));
    pairs.filter(|(reduction, dtype)| reduction.accumulates(*dtype))
}

#[test]
fn every_reduction_in_every_dtype_it_accumulates() {
    for (reduction, dtype) in all_dtypes() {
        for (shape, axes) in [(&[3, 83][..], &[1][..]), (&[83, 3], &[0]), (&[2, 17, 3], &[0, 2]), (&[1100], &[0])] {
            let text = program(reduction, dtype, shape, axes);
            let lowered = lowered(&text);
            let params = [elements(dtype, shape, true)];
            let expected = eval_graph(&lowered.typed, &params, &[]).unwrap();
            for (vector, execution) in ENGINES {
                check(&lowered, &options(vector, execution, 1), &[&params[0].bytes], &expected, &text);
            }
        }
    }
}

#[test]
fn numbers_of_elements_around_lanes_blocks_and_tiles() {
    let lengths = [1, 2, 9, 15, 16, 17, 33, 1023, 1024, 1025, 1039, 1040, 2048 + 5, 5000, 70_000];
    for n in lengths {
        for kept in [1, 2, 3, 17, 600].into_iter().filter(|kept| kept * n <= 700_000) {
            for (reduction, dtype) in [
                (Reduction::Sum, DType::F32),
                (Reduction::Sum, DType::F64),
                (Reduction::Max, DType::U8),
                (Reduction::Prod, DType::C64),
            ] {
                for (shape, axes) in [([kept, n], [1]), ([n, kept], [0])] {
                    let text = program(reduction, dtype, &shape, &axes);
                    let lowered = lowered(&text);
                    let params = [elements(dtype, &shape, false)];
                    let expected = eval_graph(&lowered.typed, &params, &[]).unwrap();
                    for threads in [1, 3] {
                        check(
                            &lowered,
                            &options(true, Execution::Compiled, threads),
                            &[&params[0].bytes],
                            &expected,
                            &text,
                        );
                    }
                    if kept * n < 4000 {
                        check(&lowered, &options(false, Execution::Compiled, 2), &[&params[0].bytes], &expected, &text);
                        check(
                            &lowered,
                            &options(VectorWidth::Bits128, Execution::Compiled, 2),
                            &[&params[0].bytes],
                            &expected,
                            &text,
                        );
                        check(
                            &lowered,
                            &options(true, Execution::Interpreted, 2),
                            &[&params[0].bytes],
                            &expected,
                            &text,
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn any_axes_of_any_layout() {
    let cases: [(&[usize], &[isize]); 12] = [
        (&[40, 50, 60], &[0]),
        (&[40, 50, 60], &[1]),
        (&[40, 50, 60], &[2]),
        (&[40, 50, 60], &[0, 1]),
        (&[40, 50, 60], &[0, 2]),
        (&[40, 50, 60], &[1, 2]),
        (&[40, 50, 60], &[0, 1, 2]),
        (&[3, 1500, 7], &[1]),
        (&[300, 20, 5], &[0, 2]),
        (&[5, 4, 300, 6], &[0, 2]),
        (&[5, 4, 3, 2, 70], &[1, 3]),
        (&[5, 4, 3, 2, 70], &[0, 2, 4]),
    ];
    for (shape, axes) in cases {
        let logical = elements(DType::F32, shape, false);
        for (reduction, order) in [(Reduction::Sum, 0), (Reduction::Sum, 1), (Reduction::Max, 2), (Reduction::Sum, 3)] {
            let (layout, bytes) = laid_out(&logical, order);
            let text = program(reduction, DType::F32, shape, axes);
            let graph: Graph<ValueType> = text.parse().unwrap();
            let lowered = lower(&graph, &SourceLocs::default(), &[layout], &Options::default()).unwrap();
            let expected = eval_graph(&lowered.typed, std::slice::from_ref(&logical), &[]).unwrap();
            for threads in [1, 2] {
                check(
                    &lowered,
                    &options(true, Execution::Compiled, threads),
                    &[&bytes],
                    &expected,
                    &format!("{order}: {text}"),
                );
            }
        }
    }
}

/// The same elements in another layout: 0 C order, 1 reversed axes, 2 every third element, 3 transposed axes.
fn laid_out(tensor: &Tensor, order: usize) -> (Layout, Vec<u8>) {
    let (size, extents) = (tensor.dtype.bytes(), tensor.shape.extents());
    let mut layout = contiguous(&tensor.shape, tensor.dtype).unwrap();
    let total = tensor.bytes.len();
    match order {
        1 => {
            layout.offset = total - size;
            layout.strides.iter_mut().for_each(|stride| *stride = -*stride);
        }
        2 => layout.strides.iter_mut().for_each(|stride| *stride *= 3),
        3 => {
            let mut step = size as isize;
            for (stride, &extent) in layout.strides.iter_mut().zip(extents) {
                *stride = step;
                step *= extent as isize;
            }
        }
        _ => {}
    }
    let mut bytes = vec![0x7f; if order == 2 { 3 * total } else { total }];
    for index in 0..tensor.len() {
        let (mut left, mut at) = (index, layout.offset as isize);
        for (&extent, &stride) in extents.iter().zip(&layout.strides).rev() {
            at += (left % extent) as isize * stride;
            left /= extent;
        }
        bytes[at as usize..][..size].copy_from_slice(&tensor.bytes[index * size..][..size]);
    }
    (layout, bytes)
}

#[test]
fn what_is_computed_on_the_way_literals_positions_and_several_results() {
    let text = "graph (%0: f32[70, 900], %1: f32[900]) {
  %2 = literal #0 0.5 : f*[]
  %3 = multiply %0, %2 : f32[70, 900]
  %4 = subtract %3, %1 : f32[70, 900]
  %5 = sum %4 axes [1] : f32[70]
  %6 = max %4 axes [1] : f32[70]
  %7 = argmax %4 axes [0] : i32[900]
  %8 = argmin %4 axes [0, 1] : i32[]
  %9 = var %4, %2 axes [0] keepdims : f32[1, 900]
  %10 = mean %0 axes [0, 1] : f32[]
  return %5, %6, %7, %8, %9, %10
}";
    let program = lowered(text);
    let params = [elements(DType::F32, &[70, 900], false), elements(DType::F32, &[900], false)];
    let expected = eval_graph(&program.typed, &params, &[]).unwrap();
    for (vector, execution) in ENGINES {
        for threads in 1..=3 {
            check(
                &program,
                &options(vector, execution, threads),
                &[&params[0].bytes, &params[1].bytes],
                &expected,
                text,
            );
        }
    }
}

#[test]
fn sums_of_negative_zeros_and_of_nothing() {
    let run = |text: &str, bytes: &[u8]| {
        let executable = Executable::new(&lowered(text), &RunOptions::default()).unwrap();
        let mut outputs = [Output::Fresh(None)];
        executable.run([Argument::Borrowed(bytes)], &[], &mut outputs).unwrap();
        let [Output::Fresh(Some(buffer))] = outputs else { panic!("no buffer") };
        buffer.as_bytes().to_vec()
    };
    let sum = |n: usize| format!("graph (%0: f32[{n}]) {{\n  %1 = sum %0 axes [0] : f32[]\n  return %1\n}}");
    for n in [1, 5, 16, 40, 3000] {
        assert_eq!(run(&sum(n), &(-0.0f32).to_ne_bytes().repeat(n)), (-0.0f32).to_ne_bytes(), "{n}");
    }
    assert_eq!(run(&sum(0), &[]), 0.0f32.to_ne_bytes());
    let rows = "graph (%0: f64[3, 0]) {\n  %1 = prod %0 axes [1] : f64[3]\n  return %1\n}";
    assert_eq!(run(rows, &[]), 1f64.to_ne_bytes().repeat(3));
    let none = "graph (%0: f64[0, 3]) {\n  %1 = prod %0 axes [1] : f64[0]\n  return %1\n}";
    assert_eq!(run(none, &[]), []);
}

#[test]
fn other_sizes_are_not_compiled_again() {
    let kernel = |shape: &[usize]| {
        let text = program(Reduction::Sum, DType::U16, shape, &[1]);
        let executable = Executable::new(&lowered(&text), &RunOptions::default()).unwrap();
        Arc::clone(executable.kernels().next().unwrap())
    };
    let (small, large) = (kernel(&[3, 5]), kernel(&[5, 4000]));
    assert!(Arc::ptr_eq(&small, &large) && small.is_compiled() && small.code_bytes() > 0);
}

#[test]
fn a_wrong_size_is_an_error() {
    let executable =
        Executable::new(&lowered(&program(Reduction::Sum, DType::F32, &[4, 4], &[0])), &RunOptions::default()).unwrap();
    let mut outputs = [Output::Fresh(None)];
    let error = executable.run([Argument::Borrowed(&[0; 60])], &[], &mut outputs).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Argument);
}
