//! Three bodies under gravity on a figure-eight orbit (Chenciner and Montgomery, 2000): all pairs of bodies
//! by broadcasting, leapfrog steps in time. After a period they return to their start, and energy is conserved.

use ndjit::{Array, Expr, NewAxis, jit, keepdims, norm, where_};
use std::error::Error;

/// One period, and its number of steps.
const PERIOD: f64 = 6.325_913_985_4;
const STEPS: usize = 4000;

/// Accelerations of bodies of mass 1 at these positions, an array of bodies and coordinates.
fn acceleration(position: Expr) -> Expr {
    let to = position.slice((NewAxis, .., ..)) - position.slice((.., NewAxis, ..));
    let distance = norm(to, keepdims(-1));
    // A body does not attract itself.
    let pull = where_(distance.gt(0), to / (distance * distance * distance), 0.0);
    pull.sum(1)
}

/// Positions and velocities one step later: half a kick, a drift, half a kick.
fn leapfrog(position: Expr, velocity: Expr, dt: Expr) -> (Expr, Expr) {
    let velocity = velocity + acceleration(position) * (dt / 2);
    let position = position + velocity * dt;
    (position, velocity + acceleration(position) * (dt / 2))
}

/// Kinetic and potential energy.
fn energy(position: Expr, velocity: Expr) -> Expr {
    let distance = norm(position.slice((NewAxis, .., ..)) - position.slice((.., NewAxis, ..)), -1);
    let potential = where_(distance.gt(0), 1 / distance, 0.0).sum(..);
    (velocity * velocity).sum(..) / 2 - potential / 2
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let start = Array::from_rows(&[[0.970_004_36f64, -0.243_087_53], [-0.970_004_36, 0.243_087_53], [0.0, 0.0]]);
    let last = [-0.932_407_37f64, -0.864_731_46];
    let velocity = Array::from_rows(&[last.map(|v| -v / 2.0), last.map(|v| -v / 2.0), last]);

    let (step, energy) = (jit(leapfrog), jit(energy));
    let before = energy.call((&start, &velocity))?.item::<f64>()?;
    let (mut position, mut speed) = (start.clone(), velocity);
    for n in 0..STEPS {
        if n % (STEPS / 4) == 0 {
            println!("after {:4} steps the bodies are at {:.3?}", n, position.to_vec::<f64>()?);
        }
        (position, speed) = step.call((&position, &speed, PERIOD / STEPS as f64))?;
    }
    println!("after {STEPS} steps the bodies are at {:.3?}", position.to_vec::<f64>()?);
    println!("away from where they began: {:.0e}", norm(&position - &start, ..).item::<f64>()?);
    println!(
        "energy {before:.6}, changed by {:.0e}",
        (energy.call((&position, &speed))?.item::<f64>()? - before).abs()
    );
    println!("a step is {} kernels, compiled once", step.kernels().len());
    Ok(())
}
