//! Hares and lynxes after Lotka and Volterra: the rates of the equations, fitted to the pelts of each year. The integrator adapts its
//! steps to their errors, so their number is unknown in advance; reverse mode differentiates its `while_loop` nevertheless.
//! Checks the gradient against finite differences, then finds the rates with the BFGS method.

use ndjit::{
    Array, DType, Expr, arange, clip, dtype, exp, hypot, jit, log, matmul, mean, minimum, norm, outer, scan, sqrt,
    square, stack, value_and_grad, vecdot, where_, while_loop, zeros_like,
};
use std::error::Error;

/// Thousands of pelts that the Hudson's Bay Company collected in 1900, 1901, ..., 1920 (Howard, Modeling basics, 2009).
const HARES: [f64; 21] = [
    30.0, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22.0, 25.4, 27.1, 40.3, 57.0, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6,
    16.2, 24.7,
];
const LYNXES: [f64; 21] = [
    4.0, 6.1, 9.8, 35.2, 59.4, 41.7, 19.0, 13.0, 8.3, 9.1, 7.4, 8.0, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6,
];

/// The maximum error of a step, and the length of the first, in years.
const TOLERANCE: f64 = 1e-4;
const FIRST: f64 = 0.01;

/// Logarithms of hares and lynxes; the time and the length of the next step in years; the number of attempted steps.
type State = (Expr, Expr, Expr, Expr, Expr);

/// A step of Heun's method. Its difference from Euler's step estimates the error and sets the length of the next step. A step
/// with too large an error is repeated.
fn heun([born, eaten, die, fed]: [Expr; 4], (hares, lynxes, time, length, tried): State) -> State {
    let growth = |hares, lynxes| (born - eaten * exp(lynxes), fed * exp(hares) - die);
    // The last step ends with the year.
    let step = minimum(length, 1 - time);
    let (h, l) = growth(hares, lynxes);
    let (h_then, l_then) = growth(hares + step * h, lynxes + step * l);
    let error = step / 2 * hypot(h_then - h, l_then - l);
    let good = error.le(TOLERANCE);
    let better = step * clip(0.9 * sqrt(TOLERANCE / error), 0.2, 5);
    // After a step shortened by the end of the year, the next has the original length.
    let cut = good & step.lt(length);
    let hares = where_(good, hares + step / 2 * (h + h_then), hares);
    let lynxes = where_(good, lynxes + step / 2 * (l + l_then), lynxes);
    (hares, lynxes, where_(good, time + step, time), where_(cut, length, better), tried + 1)
}

/// Logarithms of hares and lynxes in all years, from those of the four rates and of the initial populations; and the number of steps.
fn integrate(logs: Expr) -> (Expr, Expr) {
    let rates = [0, 1, 2, 3].map(|n| exp(logs.slice(n)));
    let zero = zeros_like(logs.slice(0));
    let start = (logs.slice(4), logs.slice(5), zero, zero + FIRST, Expr::from(0));
    let year = |(hares, lynxes, _, length, tried): State, _: Expr| {
        let begun = (hares, lynxes, zero, length, tried);
        let next = while_loop(begun, |(_, _, time, ..)| time.lt(1), |state| heun(rates, state));
        (next, stack([hares, lynxes], 0))
    };
    let ((.., tried), years) = scan(year, start, Expr::from(arange(HARES.len() as i64)));
    (years, tried)
}

/// The distance of logarithms from those of the pelts.
fn loss(logs: Expr, pelts: Expr) -> Expr {
    mean(square(integrate(logs).0 - log(pelts)), ..)
}

/// Updates the inverse of the Hessian from the last step and the change of the gradient.
fn learn(inverse: Expr, step: Expr, change: Expr) -> Expr {
    let scale = 1 / vecdot(step, change, -1);
    let left = dtype(DType::F64).eye(6) - outer(step, change) * scale;
    matmul(matmul(left, inverse), left.mt()) + outer(step, step) * scale
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let pelts = stack([Array::from(HARES), Array::from(LYNXES)], 1);
    let mut logs = log(Array::from([0.5f64, 0.02, 0.5, 0.02, 30.0, 4.0]));
    let (value, value_and_slope, steps) = (jit(loss), jit(value_and_grad(loss)), jit(|logs| integrate(logs).1));
    let learn = jit(learn);

    let (mut error, mut slope) = value_and_slope.call((&logs, &pelts))?;
    println!("gradient at the first guess, through {} steps of the loop:", steps.call((&logs,))?.item::<i32>()?);
    println!("{slope:9.6}");
    let near = |n: usize, off: f64| value.call((&logs.at(n).add(off), &pelts))?.item::<f64>();
    let differences = (0..6).map(|n| Ok((near(n, 1e-6)? - near(n, -1e-6)?) / 2e-6));
    println!("{:9.6} by differences", Array::from(differences.collect::<ndjit::Result<Vec<_>>>()?));

    let (mut inverse, mut count) = (dtype(DType::F64).eye(6) * 0.01, 0);
    while norm(&slope, ..).item::<f64>()? > 1e-6 {
        let mut step = -matmul(&inverse, &slope);
        // Halves a step that leads uphill, until it leads down.
        let (next_error, next_slope) = loop {
            let next = value_and_slope.call((&(&logs + &step), &pelts))?;
            if next.0.item::<f64>()? < error.item()? {
                break next;
            }
            step /= 2;
        };
        inverse = learn.call((&inverse, &step, &(&next_slope - &slope)))?;
        (logs, error, slope, count) = (logs + step, next_error, next_slope, count + 1);
        if count % 10 == 0 {
            println!("step {count}: logarithms are {:.4} off", sqrt(&error));
        }
    }
    let [born, eaten, die, fed, hares, lynxes] = exp(&logs).to_vec::<f64>()?[..] else { unreachable!() };
    println!("after {count} steps, {} of the loop: {:.4} off", steps.call((&logs,))?.item::<i32>()?, sqrt(&error));
    println!("hares:  +{born:.3} a year, -{eaten:.4} for each thousand lynxes; {hares:.1} thousand in 1900");
    println!("lynxes: -{die:.3} a year, +{fed:.4} for each thousand hares; {lynxes:.1} thousand in 1900");
    Ok(())
}
