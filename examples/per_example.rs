//! The gradient of each example by `vmap(grad(loss))`, as differentially private training needs (DP-SGD, Abadi and others, 2016):
//! each gradient is clipped, which bounds the weight of an example, and noise is added to their sum. Compares the gradients with a loop
//! over the examples, then trains with and without noise.

use ndjit::{
    Array, DType, Expr, Same, dtype, fori_loop, grad, jit, keepdims, maximum, mean, norm, random, softplus, sum, vmap,
    zeros_like,
};
use std::error::Error;

const EXAMPLES: usize = 400;
const WEIGHTS: usize = 3;
const LONGEST: f64 = 0.5;
const STEPS: i64 = 100;

/// The logistic loss of one example.
fn loss(w: Expr, x: Expr, label: Expr) -> Expr {
    let score = sum(w * x, ..);
    softplus(score) - label * score
}

/// The gradients of all examples, one per row.
fn each(w: Expr, x: Expr, label: Expr) -> Expr {
    vmap(grad(loss), (Same, 0, 0))(w, x, label)
}

/// Clips the norm of rows to [`LONGEST`].
fn clipped(rows: Expr) -> Expr {
    rows / maximum(norm(rows, keepdims(-1)) / LONGEST, 1)
}

/// The final weights, and the number of examples classified correctly. `noise` is the deviation relative to the maximum contribution of an example.
fn train(x: Expr, label: Expr, key: Expr, noise: Expr) -> (Expr, Expr) {
    let step = |n: Expr, w: Expr| {
        let drawn = dtype(DType::F64).normal(random::fold_in(key, n), WEIGHTS) * (noise * LONGEST);
        w - (sum(clipped(each(w, x, label)), 0) + drawn) / EXAMPLES as f64 * 2
    };
    let w = fori_loop(0, STEPS, zeros_like(x.slice(0)), step);
    let right = sum(x * w, -1).gt(0).eq(label.gt(0));
    (w, right.count_nonzero(..))
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let [a, b, c] = random::split(&random::key(6));
    let x = dtype(DType::F64).normal(&a, [EXAMPLES, WEIGHTS]);
    let truth = Array::from([2.0f64, -1.0, 0.5]);
    let score = sum(&x * &truth, -1) + dtype(DType::F64).normal(&b, EXAMPLES) * 0.5;
    let label = score.gt(0).cast(DType::F64);
    let w = Array::from([0.5f64, 0.5, 0.5]);

    let rows = jit(each).call((&w, &x, &label))?;
    println!("gradients of the first examples, their lengths, and clipped to {LONGEST}:");
    let lengths = norm(&rows, -1);
    let short = jit(clipped).call((&rows,))?;
    for n in 0..4 {
        println!("{:7.4} {:.4} {:7.4}", rows.slice(n), lengths.slice(n), short.slice(n));
    }
    let longer = lengths.gt(LONGEST).count_nonzero(..);
    println!("longest {:.4}; {longer} of {EXAMPLES} are longer than {LONGEST}", lengths.max(..));

    // A loop over examples gives the same bits, and the gradient of the mean loss is their mean.
    let one = jit(grad(loss));
    let loop_of = (0..EXAMPLES as isize).map(|n| one.call((&w, &x.slice(n), &label.slice(n)))?.to_vec::<f64>());
    let looped = loop_of.collect::<ndjit::Result<Vec<_>>>()?.concat();
    println!("a loop gives the same bits: {}", looped == rows.to_vec::<f64>()?);
    let whole = jit(grad(|w, x, label| mean(vmap(loss, (Same, 0, 0))(w, x, label), ..)));
    let off = (whole.call((&w, &x, &label))? - rows.mean(0)).abs().max(..).item::<f64>()?;
    println!("their mean is the gradient of the mean loss: {}", off < 1e-15);

    let f = jit(train);
    let direction = |w: &Array| w / norm(w, ..);
    println!("trained with clipped gradients, the labels have weights {:5.2}:", direction(&truth));
    for noise in [0.0, 1.0, 10.0, 100.0] {
        let (w, right) = f.call((&x, &label, &c, noise))?;
        println!("noise {noise:3}: {right} of {EXAMPLES} right, weights {:5.2}", direction(&w));
    }
    Ok(())
}
