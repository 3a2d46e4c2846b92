//! Linear and logistic regression, each by gradient descent and by Newton's method. Both share the two loops, since `grad` and `hessian`
//! accept any loss. Prints the number of steps to convergence, and the weights.

use ndjit::{
    Array, DType, Expr, NewAxis, concat, dtype, fori_loop, grad, hessian, jit, matmul, mean, norm, random, sigmoid,
    softplus, square, take, trace, while_loop, zeros_like,
};
use std::error::Error;

const EXAMPLES: usize = 500;
const WEIGHTS: usize = 4;
/// The norm of the gradient at convergence.
const NOTHING: f64 = 1e-9;

/// A loss of weights, examples and their labels.
type Loss = fn(Expr, Expr, Expr) -> Expr;

/// A method that minimizes a loss: the weights, and the number of steps.
type Method = fn(Loss, Expr, Expr) -> (Expr, Expr);

/// Half the mean squared error of `x w`.
fn linear(w: Expr, x: Expr, y: Expr) -> Expr {
    mean(square(matmul(x, w) - y), ..) / 2
}

/// The negative mean log-likelihood of labels 0 or 1 under the probabilities `sigmoid(x w)`.
fn logistic(w: Expr, x: Expr, y: Expr) -> Expr {
    let score = matmul(x, w);
    mean(softplus(score) - y * score, ..)
}

/// Solves `a x = b` for `x` by Gauss-Jordan elimination. The Hessian of a convex loss needs no pivoting.
fn solve(a: Expr, b: Expr) -> Expr {
    let eliminate = |i: Expr, both: Expr| {
        let row = take(both, i, 0);
        let row = row / take(row, i, 0);
        (both - take(both, i, 1).slice((.., NewAxis)) * row).at(i).set(row)
    };
    fori_loop(0, WEIGHTS as i64, concat([a, b.slice((.., NewAxis))], 1), eliminate).slice((.., -1))
}

/// Repeats `w -= step(w, gradient)` from 0 to convergence; returns the weights and the number of steps.
fn descend(loss: Loss, x: Expr, y: Expr, step: impl Fn(Expr, Expr) -> Expr) -> (Expr, Expr) {
    let gradient = |w: Expr| grad(loss)(w, x, y);
    let w = zeros_like(x.slice(0));
    let next = |(w, slope, steps): (Expr, Expr, Expr)| {
        let w = w - step(w, slope);
        (w, gradient(w), steps + 1)
    };
    let start = (w, gradient(w), Expr::from(0));
    let (w, _, steps) = while_loop(start, |(_, slope, _)| norm(slope, ..).gt(NOTHING), next);
    (w, steps)
}

fn gradient_descent(loss: Loss, x: Expr, y: Expr) -> (Expr, Expr) {
    // The curvature of both losses is largest at 0, and at most the trace of their Hessian: a longer step might lead uphill.
    let rate = 1 / trace(hessian(loss)(zeros_like(x.slice(0)), x, y), 0, [0, 1]);
    descend(loss, x, y, |_, slope| rate * slope)
}

fn newton(loss: Loss, x: Expr, y: Expr) -> (Expr, Expr) {
    descend(loss, x, y, |w, slope| solve(hessian(loss)(w, x, y), slope))
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Each example has three features and a constant; labels are drawn from the logistic model.
    let [a, b, c] = random::split(&random::key(3));
    let f64s = dtype(DType::F64);
    let x = concat([f64s.ones([EXAMPLES, 1]), f64s.normal(&a, [EXAMPLES, WEIGHTS - 1])], 1);
    let truth = Array::from([0.5f64, -1.0, 2.0, 0.25]);
    let score = matmul(&x, &truth);
    let value = &score + f64s.normal(&b, EXAMPLES) * 0.5;
    let label = random::bernoulli(&c, EXAMPLES, sigmoid(&score)).cast(DType::F64);

    println!("{:29} steps  weights\n{:35} {truth:6.3}", "", "what the data were made with");
    for (name, loss, y) in [("linear", linear as Loss, &value), ("logistic", logistic, &label)] {
        let methods = [("gradient descent", gradient_descent as Method), ("Newton's method", newton)];
        for (method, minimize) in methods {
            let (w, steps) = jit(move |x, y| minimize(loss, x, y)).call((&x, y))?;
            println!("{:28}{:6}  {w:6.3}", format!("{name}, {method}"), steps.item::<i32>()?);
        }
    }
    Ok(())
}
