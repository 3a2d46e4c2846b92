//! Kernels that compute with indices: every width and number of threads has the interpreter's bits, for any motion of indices along
//! the loops; such kernels use the machine's widest vectors.

use ndjit::{
    Array, DType, Expr, Stage, VectorWidth, arange, argmax, argmin, concat, flip, from_fn, jit, random, rotate_left,
    step, strong, zeros_like,
};

/// Values of indices in every arrangement, and their combination.
fn arranged(x: Expr, rows: usize, columns: usize) -> Vec<Expr> {
    let grid = || from_fn([rows, columns], |[row, column]| row * 1000 + column);
    let (row, column) = (arange(rows).reshape([rows, 1]), arange(columns));
    let table = zeros_like(x) + grid();
    vec![
        x + grid(),
        x * &row - &column,
        flip(x + grid(), 1),
        (x + grid()).matrix_transpose() * 3,
        (x * 2 + grid()).slice((.., step(2))),
        (x + &column).sum(0),
        (x + &row).sum(1),
        (x * grid()).sum(..),
        (table * (x + 1)).max(1),
        argmax(x * 7 % 5, 1),
        argmin(x * 7 % 5, 0),
        argmax(x * 7 % 11, ..),
        (x + grid()).cumulative_sum(1),
        concat([x + &column, x + &row], 0),
        (x + &row).cast(DType::F64) * 0.5 + arange(columns).cast(DType::F64),
        rotate_left((x + grid()).cast(DType::U32), 7) ^ rotate_left((x + &row).cast(DType::U32), strong(13)),
        rotate_left((x + grid()).cast(DType::U64), 41) + rotate_left((x + &column).cast(DType::U64), -1),
    ]
}

fn bits(results: &[Array]) -> Vec<Vec<u64>> {
    let of = |x: &Array| -> Vec<u64> {
        match x.dtype() {
            DType::F64 => x.to_vec::<f64>().unwrap().into_iter().map(f64::to_bits).collect(),
            _ => x.cast(DType::U64).to_vec::<u64>().unwrap(),
        }
    };
    results.iter().map(of).collect()
}

#[test]
fn positions_are_the_same_on_every_width() {
    for (rows, columns) in [(1, 1), (3, 7), (5, 64), (2, 67), (40, 33), (1, 2500), (130, 17)] {
        let x = Array::from((0..rows * columns).map(|n| (n * n % 101) as i64).collect::<Vec<i64>>())
            .reshape([rows, columns]);
        let expected = bits(&jit(move |x: Expr| arranged(x, rows, columns)).interpreted(true)(&x));
        for vector in VectorWidth::ALL {
            for (threads, fuse) in [(1, true), (2, true), (3, false)] {
                let f = jit(move |x: Expr| arranged(x, rows, columns)).vector(vector).threads(threads).fuse(fuse);
                let got = bits(&f(&x));
                for (n, (got, expected)) in got.iter().zip(&expected).enumerate() {
                    assert!(
                        got == expected,
                        "result {n} of {rows}x{columns}, {vector:?}, {threads} threads, fused {fuse}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_computes_with_positions_has_wide_code() {
    if ndjit::host().unwrap().vector_bits < 512 {
        return;
    }
    let code = |f: fn(Expr) -> Expr, x: Array| {
        let f = jit(f);
        f.call((&x,)).unwrap();
        f.explain(Stage::Assembly)
    };
    assert!(code(|x| x + arange(1000), arange(1000)).contains("zmm"));
    let bits = code(|key| random::bits(key, 1000), random::key(0));
    assert!(bits.contains("zmm") && bits.contains("vprold"), "{bits}");
}
