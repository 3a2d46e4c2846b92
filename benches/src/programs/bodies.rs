//! N-body attraction: the sum over all pairs.

use super::{Case, called, unit};
use ndjit::{Array, Expr, NewAxis, fori_loop, sqrt, sum, zeros_like};

const DT: f64 = 0.001;
const SOFTENING: f64 = 0.01;

/// An n-body simulation by leapfrog steps. An acceleration is a sum over all bodies.
pub fn nbody(large: bool) -> Case {
    let (n, steps) = if large { (2000, 5) } else { (100, 50) };
    let all = unit(4 * n);
    let parts: [Vec<f64>; 4] = std::array::from_fn(|axis| all[axis * n..(axis + 1) * n].to_vec());
    let [x, y, z, mass] = parts.clone().map(Array::from);
    let ours = called!(
        move |x: Expr, y: Expr, z: Expr, mass: Expr| {
            let step = |_, (at, speed): ([Expr; 3], [Expr; 3])| {
                let to = at.map(|x| x.slice((NewAxis, ..)) - x.slice((.., NewAxis)));
                let square = to[0] * to[0] + to[1] * to[1] + to[2] * to[2] + SOFTENING;
                let pull = mass / (square * sqrt(square));
                let speed: [Expr; 3] = std::array::from_fn(|i| speed[i] + sum(to[i] * pull, 1) * DT);
                (std::array::from_fn(|i| at[i] + speed[i] * DT), speed)
            };
            let still = zeros_like(x);
            let (at, speed) = fori_loop(0, steps, ([x, y, z], [still; 3]), step);
            at.into_iter().chain(speed).collect::<Vec<Expr>>()
        },
        x,
        y,
        z,
        mass
    );
    let rust = Box::new(move || {
        let [mut x, mut y, mut z, mass] = parts.clone();
        let mut speed = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        for _ in 0..steps {
            for i in 0..n {
                let mut total = [0.0; 3];
                for j in 0..n {
                    let to = [x[j] - x[i], y[j] - y[i], z[j] - z[i]];
                    let square: f64 = to[0] * to[0] + to[1] * to[1] + to[2] * to[2] + SOFTENING;
                    let pull = mass[j] / (square * square.sqrt());
                    (0..3).for_each(|axis| total[axis] += to[axis] * pull);
                }
                (0..3).for_each(|axis| speed[axis][i] += total[axis] * DT);
            }
            for i in 0..n {
                x[i] += speed[0][i] * DT;
                y[i] += speed[1][i] * DT;
                z[i] += speed[2][i] * DT;
            }
        }
        [x, y, z].into_iter().chain(speed.clone()).map(Array::from).collect()
    });
    Case { size: format!("{n}"), steps, ours, rust, within: 1e-9 }
}
