//! Gas flow: a shock tube, with time steps bounded by the fastest wave.

#![allow(clippy::reversed_empty_ranges, reason = "the end of a range may count from the last element")]

use super::{Case, called};
use ndjit::{Array, Expr, abs, max, sqrt, strong, while_loop};

const GAMMA: f64 = 1.4;
const CFL: f64 = 0.9;

/// Sod's shock tube by Rusanov's method: density, momentum and energy, from a step in the middle until a time, with fixed
/// ends.
pub fn shock_tube(large: bool) -> Case {
    let (n, end) = if large { (100_000, 0.001) } else { (1000, 0.1) };
    let dx = 1.0 / n as f64;
    let sides = |left: f64, right: f64| -> Vec<f64> { (0..n).map(|i| if i < n / 2 { left } else { right }).collect() };
    let begin = [sides(1.0, 0.125), vec![0.0; n], sides(1.0 / (GAMMA - 1.0), 0.1 / (GAMMA - 1.0))];
    let [density, momentum, energy] = begin.clone().map(Array::from);
    let ours = called!(
        move |density: Expr, momentum: Expr, energy: Expr| {
            let zero = Expr::from(strong(0.0));
            let step = |(density, momentum, energy, t): (Expr, Expr, Expr, Expr)| {
                let speed = momentum / density;
                let pressure = (energy - momentum * speed * 0.5) * (GAMMA - 1.0);
                let fastest = max(abs(speed) + sqrt(pressure * GAMMA / density), ..);
                let dt = (CFL * dx / fastest).minimum(end - t);
                let next = |x: Expr, flux: Expr| {
                    let between = (flux.slice(..-1) + flux.slice(1..) - (x.slice(1..) - x.slice(..-1)) * fastest) * 0.5;
                    x.at(1..-1).add((between.slice(..-1) - between.slice(1..)) * (dt / dx))
                };
                let (a, b) = (next(density, momentum), next(momentum, momentum * speed + pressure));
                (a, b, next(energy, (energy + pressure) * speed), t + dt)
            };
            let (density, momentum, energy, _) =
                while_loop((density, momentum, energy, zero), |(_, _, _, t)| t.lt(end - 1e-12), step);
            vec![density, momentum, energy]
        },
        density,
        momentum,
        energy
    );
    let steps = loop_in_rust(&begin, dx, end).1;
    let rust = Box::new(move || loop_in_rust(&begin, dx, end).0.into());
    Case { size: format!("{n}"), steps, ours, rust, within: 1e-9 }
}

/// The results and the number of steps.
fn loop_in_rust(begin: &[Vec<f64>; 3], dx: f64, end: f64) -> ([Array; 3], usize) {
    let (mut x, n) = (begin.clone(), begin[0].len());
    let (mut t, mut steps, mut flux) = (0.0, 0, [vec![0.0; n], vec![0.0; n], vec![0.0; n]]);
    while t < end - 1e-12 {
        let mut fastest = 0f64;
        for i in 0..n {
            let speed = x[1][i] / x[0][i];
            let pressure = (x[2][i] - x[1][i] * speed * 0.5) * (GAMMA - 1.0);
            fastest = fastest.max(speed.abs() + (pressure * GAMMA / x[0][i]).sqrt());
            flux[0][i] = x[1][i];
            flux[1][i] = x[1][i] * speed + pressure;
            flux[2][i] = (x[2][i] + pressure) * speed;
        }
        let dt = (CFL * dx / fastest).min(end - t);
        for (x, flux) in x.iter_mut().zip(&flux) {
            let between = |x: &[f64], i: usize| (flux[i] + flux[i + 1] - (x[i + 1] - x[i]) * fastest) * 0.5;
            let mut left = between(x, 0);
            for i in 1..n - 1 {
                let right = between(x, i);
                x[i] += (left - right) * (dt / dx);
                left = right;
            }
        }
        (t, steps) = (t + dt, steps + 1);
    }
    (x.map(Array::from), steps)
}
