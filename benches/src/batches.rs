//! Per-lane functions batched by `vmap`, with and without gradients, compared with JAX's: rows of `ndjit-bench gradients
//! --batched`.

use crate::gradients::{Compiled, Made, Pair, compiled, matrix, normal};
use ndjit::{Array, Expr, Same, jit, scan, sum, value_and_grad, vmap};

/// Like [`FUNCTIONS`](crate::gradients::FUNCTIONS); each gradient is that of a lane.
pub const BATCHED: &[(&str, Made)] = &[
    ("examples", |threads| {
        // Logistic regression: the loss and the gradient of each example.
        let (w, x) = (Array::from(normal(64, 1)), matrix(4096, 64, 2));
        let loss = |w: Expr, x: Expr| ndjit::softplus(-sum(w * x, ..));
        Pair {
            value: compiled!(threads, vmap(loss, (Same, 0)), w, x),
            gradient: compiled!(threads, vmap(value_and_grad(loss), (Same, 0)), w, x),
        }
    }),
    ("layers", |threads| {
        // A small network: 128 gradients of 64 x 64 weights.
        let (w, x) = (matrix(64, 64, 3), matrix(128, 64, 4));
        let loss = |w: Expr, x: Expr| sum(ndjit::tanh(ndjit::matmul(w, ndjit::tanh(ndjit::matmul(w, x * 0.1)))), ..);
        Pair {
            value: compiled!(threads, vmap(loss, (Same, 0)), w, x),
            gradient: compiled!(threads, vmap(value_and_grad(loss), (Same, 0)), w, x),
        }
    }),
    ("matvec", |threads| {
        let (a, x) = (matrix(256, 256, 5), matrix(1000, 256, 6));
        let f = move |x: Expr| sum(ndjit::tanh(ndjit::matmul(Expr::from(&a), x) * 0.05), ..);
        let g = f.clone();
        Pair { value: compiled!(threads, vmap(f, 0), x), gradient: compiled!(threads, vmap(value_and_grad(g), 0), x) }
    }),
    ("row_norm", |threads| {
        let x = matrix(4096, 256, 7);
        let f = |x: Expr| {
            let y = (x - ndjit::mean(x, ..)) / ndjit::sqrt(ndjit::var(x, ..) + 1e-5);
            sum(y * y * y, ..)
        };
        Pair { value: compiled!(threads, vmap(f, 0), x), gradient: compiled!(threads, vmap(value_and_grad(f), 0), x) }
    }),
    ("row_softmax", |threads| {
        let x = matrix(4096, 100, 8);
        let f = |x: Expr| ndjit::logsumexp(x * 2.0, ..);
        Pair { value: compiled!(threads, vmap(f, 0), x), gradient: compiled!(threads, vmap(value_and_grad(f), 0), x) }
    }),
    ("row_sort", |threads| {
        let x = matrix(2000, 100, 9);
        let f = |x: Expr| sum(ndjit::sort(x, 0) * ndjit::arange(100), ..);
        Pair { value: compiled!(threads, vmap(f, 0), x), gradient: compiled!(threads, vmap(value_and_grad(f), 0), x) }
    }),
    ("oscillators", |threads| {
        // 10,000 oscillators, each over 100 steps of its own scan.
        let x = matrix(10_000, 2, 10);
        let f = |x: Expr| {
            let step = |(p, v): (Expr, Expr), _: Expr| {
                let v = v - ndjit::sin(p) * 0.05;
                ((p + v * 0.05, v), ())
            };
            let steps = Expr::from(ndjit::zeros(100));
            let ((p, v), ()) = scan(step, (ndjit::take(x, 0, 0), ndjit::take(x, 1, 0)), steps);
            p * p + v * v
        };
        Pair { value: compiled!(threads, vmap(f, 0), x), gradient: compiled!(threads, vmap(value_and_grad(f), 0), x) }
    }),
    ("lookups", |threads| {
        let (table, at) = (Array::from(normal(1000, 11)), matrix(50_000, 16, 12));
        let f = move |x: Expr| {
            let index = ndjit::clip(ndjit::floor(x * 100.0 + 500.0), 0, 999).cast(ndjit::DType::I32);
            sum(ndjit::take(Expr::from(&table), index, 0) * x * x, ..)
        };
        let g = f.clone();
        Pair { value: compiled!(threads, vmap(f, 0), at), gradient: compiled!(threads, vmap(value_and_grad(g), 0), at) }
    }),
];
