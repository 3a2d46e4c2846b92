//! Products of large matrices, multiplied by a crate that reads and writes vectors: whole numbers, whose sums are exact in any order.

use crate::memory::{Program, check};
use crate::programs::lowered;
use ndjit_ir::DType;

/// `[m, k]` times `[k, n]`, the first or the second of them stored by columns.
fn product(dtype: DType, [m, k, n]: [usize; 3], by_columns: [bool; 2]) -> Program {
    let stored = |turned: bool, rows: usize, columns: usize| if turned { [columns, rows] } else { [rows, columns] };
    let (x, y) = (stored(by_columns[0], m, k), stored(by_columns[1], k, n));
    let (left, right) =
        (if by_columns[0] { "d2, d0" } else { "d0, d2" }, if by_columns[1] { "d1, d2" } else { "d2, d1" });
    let text = format!(
        "graph (%0: {dtype}[{}, {}], %1: {dtype}[{}, {}]) {{
  %2 = view %0 (d0, d1, d2) -> ({left}) : {dtype}[{m}, 1, {k}]
  %3 = view %1 (d0, d1, d2) -> ({right}) : {dtype}[1, {n}, {k}]
  %4 = multiply %2, %3 : {dtype}[{m}, {n}, {k}]
  %5 = sum %4 axes [2] contracts : {dtype}[{m}, {n}]
  return %5
}}",
        x[0], x[1], y[0], y[1]
    );
    (lowered(&text), vec![(dtype, x.to_vec()), (dtype, y.to_vec())])
}

#[test]
fn matrices_of_every_dtype_and_remainder() {
    for dtype in [DType::F32, DType::F64, DType::C64, DType::C128] {
        for n in [16, 17, 23, 31, 33, 47] {
            for (turn, extents) in [[n, 41, 67], [67, n, 41], [41, 67, n]].into_iter().enumerate() {
                let by_columns = [(n + turn) % 2 == 0, (n / 2 + turn) % 2 == 0];
                let (program, params) = product(dtype, extents, by_columns);
                let contracts =
                    program.kernels.iter().any(|kernel| kernel.reduce.as_ref().is_some_and(|r| r.contracts));
                assert!(contracts, "{extents:?}");
                check(&program, &params, None);
            }
        }
    }
}
