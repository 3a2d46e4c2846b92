//! Linear and logistic regression, each by gradient descent and by Newton's method: the same two loops for both, as `grad` and `hessian` derive
//! whatever loss they get. Prints how many steps each takes until the gradient is nothing, and what it finds.

use ndjit::{
    Array, DType, Expr, NewAxis, concat, dtype, fori_loop, grad, hessian, jit, matmul, mean, norm, random, sigmoid,
    softplus, square, take, trace, while_loop, zeros_like,
};
use std::error::Error;

const EXAMPLES: usize = 500;
const WEIGHTS: usize = 4;
/// A gradient this short is none.
const NOTHING: f64 = 1e-9;

/// A loss of weights, examples and what they should give.
type Loss = fn(Expr, Expr, Expr) -> Expr;

/// What finds the weights of least loss, and counts its steps.
type Method = fn(Loss, Expr, Expr) -> (Expr, Expr);

/// Half the mean squared error of `x w`.
fn linear(w: Expr, x: Expr, y: Expr) -> Expr {
    mean(square(matmul(x, w) - y), ..) / 2
}

/// Minus the mean logarithm of the probability that `sigmoid(x w)` gives to the labels, which are 0 or 1.
fn logistic(w: Expr, x: Expr, y: Expr) -> Expr {
    let score = matmul(x, w);
    mean(softplus(score) - y * score, ..)
}

/// The `x` of `a x = b`, by Gauss and Jordan's elimination. The Hessian of a convex loss needs no pivots.
fn solve(a: Expr, b: Expr) -> Expr {
    let eliminate = |i: Expr, both: Expr| {
        let row = take(both, i, 0);
        let row = row / take(row, i, 0);
        (both - take(both, i, 1).slice((.., NewAxis)) * row).at(i).set(row)
    };
    fori_loop(0, WEIGHTS as i64, concat([a, b.slice((.., NewAxis))], 1), eliminate).slice((.., -1))
}

/// Weights from 0 on, each less what `step` makes of them and of the gradient there, until the gradient is nothing; and how many steps that took.
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
    // Both losses are curved most at 0, in no direction more than the trace of their Hessian: a longer step might lead uphill.
    let rate = 1 / trace(hessian(loss)(zeros_like(x.slice(0)), x, y), 0, [0, 1]);
    descend(loss, x, y, |_, slope| rate * slope)
}

fn newton(loss: Loss, x: Expr, y: Expr) -> (Expr, Expr) {
    descend(loss, x, y, |w, slope| solve(hessian(loss)(w, x, y), slope))
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Three numbers to an example, and a constant; labels are drawn as the logistic model says.
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
