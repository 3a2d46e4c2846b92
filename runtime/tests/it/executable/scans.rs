//! Scans on the CPU give the interpreter's bits: every one in every dtype, along every axis, for numbers of elements around
//! blocks and tiles, on any number of threads, compiled and interpreted, for any operand.

use super::programs::lowered;
use super::reductions::{ENGINES, check, elements, options};
use ndjit_codegen::target::VectorWidth;
use ndjit_codegen::{Options, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::loops::Layout;
use ndjit_ir::reduction::Scan;
use ndjit_ir::{DType, Shape, ValueType};
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_runtime::Execution;

/// A program that scans one array.
fn program(reduction: Scan, dtype: DType, shape: &[usize], axis: usize) -> String {
    let asked = if reduction.takes_dtype() { format!(" dtype {dtype}") } else { String::new() };
    let shape = Shape::new(shape);
    format!("graph (%0: {dtype}{shape}) {{\n  %1 = {reduction} %0 axis {axis}{asked} : {dtype}{shape}\n  return %1\n}}")
}

fn all() -> impl Iterator<Item = (Scan, DType)> {
    Scan::ALL.into_iter().flat_map(|scan| DType::ALL.map(|dtype| (scan, dtype))).filter(|(scan, dtype)| {
        // Halves are computed in f32.
        scan.accumulates(*dtype) || dtype.is_half()
    })
}

#[test]
fn every_scan_in_every_dtype() {
    for (scan, dtype) in all() {
        for (shape, axis) in [(&[3, 83][..], 1), (&[83, 3], 0), (&[83, 40], 0), (&[2, 17, 19], 1), (&[2100], 0)] {
            let text = program(scan, dtype, shape, axis);
            let lowered = lowered(&text);
            let params = [elements(dtype, shape, true)];
            let expected = eval_graph(&lowered.typed, &params, &[]).unwrap();
            for (vector, execution) in ENGINES {
                check(&lowered, &options(vector, execution, 2), &[&params[0].bytes], &expected, &text);
            }
        }
    }
}

#[test]
fn numbers_of_elements_around_blocks_and_tiles() {
    for n in [0, 1, 2, 1023, 1024, 1025, 2048, 2049, 5000, 70_000] {
        for kept in [0, 1, 2, 3, 17, 600].into_iter().filter(|kept| kept * n <= 700_000) {
            for (scan, dtype) in [
                (Scan::CumulativeSum, DType::F32),
                (Scan::CumulativeSum, DType::F64),
                (Scan::CumMax, DType::U8),
                (Scan::CumulativeProd, DType::C64),
            ] {
                for (shape, axis) in [([kept, n], 1), ([n, kept], 0)] {
                    let text = program(scan, dtype, &shape, axis);
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
fn any_axis_of_any_layout() {
    let shapes: [&[usize]; 5] =
        [&[40, 50, 60], &[3, 1500, 7], &[300, 20, 5], &[2, 1, 3, 2, 70], &[2, 2, 3, 2, 2, 1, 3, 40]];
    for shape in shapes {
        for axis in 0..shape.len() {
            let scan = if axis % 2 == 0 { Scan::CumulativeSum } else { Scan::CumMin };
            let logical = elements(DType::F32, shape, false);
            let text = program(scan, DType::F32, shape, axis);
            let graph: Graph<ValueType> = text.parse().unwrap();
            // In C order, and in Fortran order.
            for reversed in [false, true] {
                let (layout, memory) = stored(&logical, reversed);
                let lowered = lower(&graph, &SourceLocs::default(), &[layout], &Options::default()).unwrap();
                let expected = eval_graph(&lowered.typed, std::slice::from_ref(&logical), &[]).unwrap();
                for (vector, execution) in ENGINES {
                    for threads in [1, 3] {
                        check(&lowered, &options(vector, execution, threads), &[&memory], &expected, &text);
                    }
                }
            }
        }
    }
}

/// A tensor of `f32` in memory, C-contiguous or Fortran-contiguous.
fn stored(logical: &Tensor, reversed: bool) -> (Layout, Vec<u8>) {
    let extents = logical.shape.extents();
    let mut strides = vec![0isize; extents.len()];
    let mut step = 4;
    let axes: Vec<usize> = if reversed { (0..extents.len()).collect() } else { (0..extents.len()).rev().collect() };
    for axis in axes {
        strides[axis] = step;
        step *= extents[axis] as isize;
    }
    let mut memory = vec![0; logical.bytes.len()];
    for (position, element) in logical.bytes.chunks(4).enumerate() {
        let mut left = position;
        let mut at = 0;
        for (&extent, &stride) in extents.iter().zip(&strides).rev() {
            at += (left % extent) * stride as usize;
            left /= extent;
        }
        memory[at..at + 4].copy_from_slice(element);
    }
    (Layout { offset: 0, strides: strides.into_iter().collect() }, memory)
}

#[test]
fn what_is_scanned_is_computed_in_its_kernel() {
    let text = "graph (%0: f32[3, 2000], %1: f32[3, 1]) {
  %2 = multiply %0, %1 : f32[3, 2000]
  %3 = cumulative_sum %2 axis 1 : f32[3, 2000]
  %4 = sqrt %3 : f32[3, 2000]
  return %4
}";
    let lowered = lowered(text);
    assert_eq!(lowered.steps.len(), 2);
    let params = [elements(DType::F32, &[3, 2000], false), elements(DType::F32, &[3, 1], false)];
    let expected = eval_graph(&lowered.typed, &params, &[]).unwrap();
    check(&lowered, &options(true, Execution::Compiled, 2), &[&params[0].bytes, &params[1].bytes], &expected, text);
}
