//! Sorts on the CPU give the interpreter's results: in every dtype, along every axis, for rows sorted by comparison, by digits, and by
//! several threads, compiled and interpreted, for any operand.

use super::programs::lowered;
use super::reductions::{ENGINES, check, elements, options};
use ndjit_codegen::{Lowered, Options, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Shape, ValueType};
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_runtime::{Executable, Execution};

/// A program that sorts one array, and finds the order of its elements in both dtypes of indices.
fn program(dtype: DType, shape: &[usize], axis: usize) -> String {
    let shape = Shape::new(shape);
    format!(
        "graph (%0: {dtype}{shape}) {{
  %1 = sort %0 axis {axis} : {dtype}{shape}
  %2 = argsort %0 axis {axis} : i32{shape}
  %3 = argsort %0 axis {axis} dtype i64 : i64{shape}
  return %1, %2, %3
}}"
    )
}

fn assert_sorts(dtype: DType, shape: &[usize], axis: usize, params: &Tensor, threads: &[usize]) {
    let text = program(dtype, shape, axis);
    let lowered = lowered(&text);
    let expected = eval_graph(&lowered.typed, std::slice::from_ref(params), &[]).unwrap();
    for &threads in threads {
        check(&lowered, &options(true, Execution::Compiled, threads), &[&params.bytes], &expected, &text);
    }
}

#[test]
fn every_dtype_by_every_engine() {
    for dtype in DType::ALL {
        for (shape, axis) in [(&[3, 83][..], 1), (&[83, 3], 0), (&[2, 300], 1), (&[2, 17, 19], 1), (&[2100], 0)] {
            let text = program(dtype, shape, axis);
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
fn rows_of_any_number_and_length() {
    for n in [0, 1, 2, 3, 20, 21, 255, 256, 257, 5_000, 70_000] {
        for kept in [0, 1, 2, 3, 17, 600].into_iter().filter(|kept| kept * n <= 80_000) {
            for dtype in [DType::U8, DType::F16, DType::F32, DType::I64, DType::C64] {
                for (shape, axis) in [([kept, n], 1), ([n, kept], 0)] {
                    assert_sorts(dtype, &shape, axis, &elements(dtype, &shape, true), &[1, 3]);
                }
            }
        }
    }
}

/// Rows shared by threads, with many equal elements.
#[test]
fn long_rows_are_shared_by_threads() {
    for dtype in DType::ALL {
        let shape = [2, 40_000];
        assert_sorts(dtype, &shape, 1, &elements(dtype, &shape, true), &[1, 2, 5]);
    }
}

/// All keys have equal digits, or are in order, or in reverse order, or are zeros of both signs.
#[test]
fn rows_that_are_special() {
    let n = 3_000usize;
    for dtype in [DType::F32, DType::F64, DType::Bf16] {
        let bits = |x: f64| match dtype {
            DType::F64 => [x.to_bits()],
            _ => [u64::from((x as f32).to_bits())],
        };
        let rows: [&dyn Fn(usize) -> f64; 7] = [
            &|_| -0.0,
            &|i| if i % 3 == 0 { -0.0 } else { 0.0 },
            &|i| {
                if i % 7 == 0 {
                    -0.0
                } else if i % 5 == 0 {
                    0.0
                } else {
                    i as f64 - 1500.0
                }
            },
            &|i| i as f64,
            &|i| -(i as f64),
            &|_| f64::NAN,
            &|i| if i % 2 == 0 { f64::NAN } else { -1.0 },
        ];
        for row in rows {
            let params = Tensor::from_repr(dtype, Shape::from([n]), |i| bits(row(i))).unwrap();
            assert_sorts(dtype, &[n], 0, &params, &[1, 3]);
        }
    }
}

#[test]
fn any_axis_of_any_layout() {
    let shapes: [&[usize]; 5] =
        [&[40, 50, 60], &[3, 1500, 7], &[300, 20, 5], &[2, 1, 3, 2, 70], &[2, 2, 3, 2, 2, 1, 3, 40]];
    for shape in shapes {
        for axis in 0..shape.len() {
            let logical = elements(DType::F32, shape, true);
            let text = program(DType::F32, shape, axis);
            let graph: Graph<ValueType> = text.parse().unwrap();
            // In C order, and in Fortran order.
            for reversed in [false, true] {
                let (layout, memory) = stored(&logical, reversed);
                let lowered = lower(&graph, &SourceLocs::default(), &[layout], &Options::default()).unwrap();
                let expected = eval_graph(&lowered.typed, std::slice::from_ref(&logical), &[]).unwrap();
                for threads in [1, 3] {
                    check(&lowered, &options(true, Execution::Compiled, threads), &[&memory], &expected, &text);
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

fn kernels(lowered: &Lowered) -> usize {
    Executable::new(lowered, &options(true, Execution::Compiled, 1)).unwrap().kernels().count()
}

#[test]
fn what_is_sorted_is_computed_in_its_kernel() {
    let text = "graph (%0: f32[3, 2000], %1: f32[3, 1]) {
  %2 = multiply %0, %1 : f32[3, 2000]
  %3 = sort %2 axis 1 : f32[3, 2000]
  %4 = sqrt %3 : f32[3, 2000]
  return %4
}";
    let lowered = lowered(text);
    assert_eq!(kernels(&lowered), 2);
    let params = [elements(DType::F32, &[3, 2000], false), elements(DType::F32, &[3, 1], false)];
    let expected = eval_graph(&lowered.typed, &params, &[]).unwrap();
    check(&lowered, &options(true, Execution::Compiled, 2), &[&params[0].bytes, &params[1].bytes], &expected, text);
}
