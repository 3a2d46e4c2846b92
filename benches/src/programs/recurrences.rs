//! Recurrences of a few values: the logistic map, Lorenz's equations, a Kalman filter.

use super::{Case, called, unit};
use ndjit::{Array, Expr, fori_loop, scan, strong, while_loop};

/// The logistic map of many seeds.
pub fn logistic(large: bool) -> Case {
    let (n, steps) = if large { (1_000_000, 200) } else { (1000, 1000) };
    let seeds = unit(n);
    let x = Array::from(seeds.as_slice());
    let ours = called!(move |x: Expr| vec![fori_loop(0, steps, x, |_, x| x * 3.7 * (1 - x))], x);
    let rust = Box::new(move || {
        let mut all = seeds.clone();
        for x in &mut all {
            for _ in 0..steps {
                *x = *x * 3.7 * (1.0 - *x);
            }
        }
        vec![Array::from(all)]
    });
    Case { size: format!("{n}"), steps, ours, rust, within: 0.0 }
}

const DT: f64 = 0.001;

/// Lorenz's equations by the fourth-order Runge-Kutta method, until a time.
pub fn lorenz(large: bool) -> Case {
    let steps = if large { 1_000_000 } else { 10_000 };
    let end = DT * (steps as f64 - 0.5);
    let begin = [1.0, 1.0, 1.0];
    let at = Array::from(begin);
    let ours = called!(
        move |at: Expr| {
            let slope = |[x, y, z]: [Expr; 3]| [(y - x) * 10, x * (28 - z) - y, x * y - z * (8.0 / 3.0)];
            let moved = |at: [Expr; 3], slope: [Expr; 3], by: f64| std::array::from_fn(|i| at[i] + slope[i] * by);
            let step = |(at, t): ([Expr; 3], Expr)| {
                let a = slope(at);
                let b = slope(moved(at, a, DT / 2.0));
                let c = slope(moved(at, b, DT / 2.0));
                let d = slope(moved(at, c, DT));
                let next = |i: usize| at[i] + (a[i] + (b[i] + c[i]) * 2 + d[i]) * (DT / 6.0);
                (std::array::from_fn(next), t + DT)
            };
            let begin = [0, 1, 2].map(|i| at.slice(i));
            let (at, t) = while_loop((begin, Expr::from(strong(0.0))), |(_, t)| t.lt(end), step);
            at.into_iter().chain([t]).collect::<Vec<Expr>>()
        },
        at
    );
    let rust = Box::new(move || {
        let slope = |[x, y, z]: [f64; 3]| [(y - x) * 10.0, x * (28.0 - z) - y, x * y - z * (8.0 / 3.0)];
        let moved =
            |at: [f64; 3], slope: [f64; 3], by: f64| -> [f64; 3] { std::array::from_fn(|i| at[i] + slope[i] * by) };
        let (mut at, mut t) = (begin, 0.0);
        while t < end {
            let a = slope(at);
            let b = slope(moved(at, a, DT / 2.0));
            let c = slope(moved(at, b, DT / 2.0));
            let d = slope(moved(at, c, DT));
            at = std::array::from_fn(|i| at[i] + (a[i] + (b[i] + c[i]) * 2.0 + d[i]) * (DT / 6.0));
            t += DT;
        }
        at.into_iter().chain([t]).map(Array::from).collect()
    });
    Case { size: format!("{steps} steps"), steps, ours, rust, within: 0.0 }
}

/// A Kalman filter for position and velocity, with measured positions.
pub fn kalman(large: bool) -> Case {
    const NOISE: [f64; 2] = [0.01, 0.5];
    let n = if large { 1_000_000 } else { 10_000 };
    let measured: Vec<f64> = unit(n).iter().enumerate().map(|(i, x)| i as f64 * 0.01 + x).collect();
    let z = Array::from(measured.as_slice());
    let ours = called!(
        |z: Expr| {
            type State = [Expr; 5];
            let step = |[x, v, p, q, r]: State, z: Expr| {
                // A time step, then the measurement.
                let (x, p, q, r) = (x + v, p + q * 2 + r + NOISE[0], q + r, r + NOISE[0]);
                let scale = 1 / (p + NOISE[1]);
                let (of_x, of_v, off) = (p * scale, q * scale, z - x);
                let x = x + of_x * off;
                ([x, v + of_v * off, p - of_x * p, q - of_x * q, r - of_v * q], x)
            };
            let (last, places) = scan(step, [0.0, 0.0, 1.0, 0.0, 1.0].map(|x| Expr::from(strong(x))), z);
            vec![places, last[1]]
        },
        z
    );
    let rust = Box::new(move || {
        let ([mut x, mut v, mut p, mut q, mut r], mut places) = ([0.0, 0.0, 1.0, 0.0, 1.0], Vec::with_capacity(n));
        for z in &measured {
            (x, p, q, r) = (x + v, p + q * 2.0 + r + NOISE[0], q + r, r + NOISE[0]);
            let scale = 1.0 / (p + NOISE[1]);
            let (of_x, of_v, off) = (p * scale, q * scale, z - x);
            x += of_x * off;
            (v, p, q, r) = (v + of_v * off, p - of_x * p, q - of_x * q, r - of_v * q);
            places.push(x);
        }
        vec![Array::from(places), Array::from(v)]
    });
    Case { size: format!("{n}"), steps: n, ours, rust, within: 1e-12 }
}
