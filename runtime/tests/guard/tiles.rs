//! Tiled launches of several kernels: softmax, standard scores, and the same for integers, over both axes.

use crate::memory::{Program, assert_all_fault, check};
use crate::programs::lowered;
use ndjit_ir::DType;

/// Programs that compute along an axis of a matrix and use the result beside it. `{x}` is the matrix's type, `{one}` that of the
/// reduced array, `{real}` the same with real elements.
fn programs_of(dtype: DType) -> Vec<&'static str> {
    const SOFTMAX: &str = "graph (%0: {x}) {
  %1 = max %0 axes [{axis}] keepdims : {one}
  %2 = subtract %0, %1 : {x}
  %3 = exp %2 : {x}
  %4 = sum %3 axes [{axis}] keepdims : {one}
  %5 = divide %3, %4 : {x}
  return %5
}";
    const SCORE: &str = "graph (%0: {x}) {
  %1 = mean %0 axes [{axis}] keepdims : {one}
  %2 = subtract %0, %1 : {x}
  %3 = literal #0 1 : i*[]
  %4 = var %0, %3 axes [{axis}] keepdims : {real}
  %5 = sqrt %4 : {real}
  %6 = divide %2, %5 : {x}
  return %6
}";
    const INTEGERS: &str = "graph (%0: {x}) {
  %1 = max %0 axes [{axis}] keepdims : {one}
  %2 = subtract %1, %0 : {x}
  %3 = sum %2 axes [{axis}] keepdims dtype {dtype} : {one}
  %4 = bitwise_xor %2, %3 : {x}
  return %4
}";
    const TRUTH: &str = "graph (%0: {x}) {
  %1 = all %0 axes [{axis}] keepdims : {one}
  %2 = logical_xor %0, %1 : {x}
  %3 = any %2 axes [{axis}] keepdims : {one}
  %4 = logical_and %2, %3 : {x}
  return %4
}";
    match dtype {
        DType::Bool => vec![TRUTH],
        _ if dtype.is_int() => vec![INTEGERS],
        _ => vec![SOFTMAX, SCORE],
    }
}

fn program(text: &str, dtype: DType, shape: [usize; 2], axis: usize) -> Program {
    let mut one = shape;
    one[axis] = 1;
    let of = |dtype: DType, [rows, columns]: [usize; 2]| format!("{dtype}[{rows}, {columns}]");
    let text = text
        .replace("{x}", &of(dtype, shape))
        .replace("{one}", &of(dtype, one))
        .replace("{real}", &of(dtype.real(), one))
        .replace("{axis}", &axis.to_string())
        .replace("{dtype}", dtype.name());
    (lowered(&text), vec![(dtype, shape.to_vec())])
}

/// Along rows and columns; tiles are cut along the other axis.
fn cases(n: usize) -> [([usize; 2], usize); 4] {
    [([3, n], 0), ([n, 3], 1), ([3, n], 1), ([n, 3], 0)]
}

#[test]
fn tiles_of_every_dtype_and_length() {
    let mut tiled = 0;
    for n in 0..=257 {
        for (at, dtype) in DType::ALL.into_iter().enumerate() {
            // Every dtype around the vector lengths, otherwise in turn.
            if n > 19 && n % DType::ALL.len() != at {
                continue;
            }
            for (text, (shape, axis)) in
                programs_of(dtype).into_iter().flat_map(|text| cases(n).map(|case| (text, case)))
            {
                // The largest of no elements is an error.
                if shape[axis] == 0 {
                    continue;
                }
                let (program, params) = program(text, dtype, shape, axis);
                tiled += usize::from(program.launches.iter().any(|launch| launch.steps.len() > 1));
                let len = [1, 2, 5, 16, 64, n.max(1)][(n + at) % 6];
                check(&program, &params, Some(len));
            }
        }
    }
    assert!(tiled > 2000, "{tiled} launches of several kernels");
}

#[test]
fn a_tile_that_reads_an_element_too_far_faults() {
    let programs: Vec<Program> = programs_of(DType::F32)
        .into_iter()
        .flat_map(|text| cases(67).map(|(shape, axis)| program(text, DType::F32, shape, axis)))
        .collect();
    assert_all_fault("tiles::a_tile_that_reads_an_element_too_far_faults", &programs, Some(5));
}
