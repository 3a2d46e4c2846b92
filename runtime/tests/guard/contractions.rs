//! Products of large matrices, whose tiles access whole vectors, on integral values, whose sums are exact in any order.

use crate::memory::{Program, check};
use crate::programs::lowered;
use ndjit_ir::DType;
use ndjit_ir::kernel::KernelKind;

/// `[m, k]` times `[k, n]`, each stored by columns or rows.
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
        // Matrices of at most 64 rows, columns and products per sum, and larger ones.
        for (n, most) in [16, 17, 23, 31, 33, 47].into_iter().flat_map(|n| [(n, 67), (n, 59)]) {
            for (turn, extents) in [[n, 41, most], [most, n, 41], [41, most, n]].into_iter().enumerate() {
                let by_columns = [(n + turn) % 2 == 0, (n / 2 + turn) % 2 == 0];
                let (program, params) = product(dtype, extents, by_columns);
                let contracts = program.kernels().any(|kernel| matches!(kernel.fused.kind, KernelKind::Contract(_)));
                assert!(contracts, "{extents:?}");
                check(&program, &params, None);
            }
        }
    }
}

/// Two successive products, with elementwise operations around them; the right matrices are stored by columns or by
/// rows.
fn layers(dtype: DType, [m, k, n]: [usize; 3], by_columns: bool) -> Program {
    let (w, order) = if by_columns { ([n, k], "d1, d2") } else { ([k, n], "d2, d1") };
    let text = format!(
        "graph (%0: {dtype}[{m}, {k}], %1: {dtype}[{}, {}], %2: {dtype}[{n}], %3: bool[{n}, {k}]) {{
  %4 = add %0, %0 : {dtype}[{m}, {k}]
  %5 = view %4 (d0, d1, d2) -> (d0, d2) : {dtype}[{m}, 1, {k}]
  %6 = view %1 (d0, d1, d2) -> ({order}) : {dtype}[1, {n}, {k}]
  %7 = multiply %5, %6 : {dtype}[{m}, {n}, {k}]
  %8 = sum %7 axes [2] contracts : {dtype}[{m}, {n}]
  %9 = subtract %8, %2 : {dtype}[{m}, {n}]
  %10 = view %9 (d0, d1, d2) -> (d0, d2) : {dtype}[{m}, 1, {n}]
  %11 = cast %3 : {dtype}[{n}, {k}]
  %12 = view %11 (d0, d1, d2) -> (d2, d1) : {dtype}[1, {k}, {n}]
  %13 = multiply %10, %12 : {dtype}[{m}, {k}, {n}]
  %14 = sum %13 axes [2] contracts : {dtype}[{m}, {k}]
  %15 = add %14, %0 : {dtype}[{m}, {k}]
  return %15
}}",
        w[0], w[1]
    );
    (lowered(&text), vec![(dtype, vec![m, k]), (dtype, w.to_vec()), (dtype, vec![n]), (DType::Bool, vec![n, k])])
}

#[test]
fn products_within_tiles() {
    for dtype in [DType::F32, DType::F64, DType::C64, DType::C128] {
        for by_columns in [false, true] {
            let (program, params) = layers(dtype, [53, 33, 37], by_columns);
            let longest = program.launches.iter().map(|launch| launch.steps.len()).max();
            assert!(longest >= Some(4), "{:?}", program.launches);
            for tile in [1, 5, 16, 53] {
                check(&program, &params, Some(tile));
            }
        }
    }
}
