//! The heat equation on a square plate with its border at 0, by explicit finite differences: adjacent cells are slices of the
//! same array, and `pad` restores the border. Compares a wave with the exact solution, then cools a pattern and
//! writes it at four times to `target/heat.png`.

#![allow(clippy::reversed_empty_ranges, reason = "the end of a slice may count from the last element")]

use ndjit::{Array, DType, Expr, abs, concat, exp, from_fn, jit, pad, sin, stack, where_};
use ndjit_pictures as picture;
use std::error::Error;
use std::f64::consts::PI;

/// Cells from border to border, and the fraction of the difference between adjacent cells that flows in one step.
const CELLS: usize = 128;
const FLOW: f64 = 0.2;

/// One step in time.
fn step(heat: Expr) -> Expr {
    let middle = heat.slice((1..-1, 1..-1));
    let (up, down) = (heat.slice((..-2, 1..-1)), heat.slice((2.., 1..-1)));
    let (left, right) = (heat.slice((1..-1, ..-2)), heat.slice((1..-1, 2..)));
    pad(middle + FLOW * (up + down + left + right - 4 * middle), 1, 0)
}

/// Black, red, yellow, white as heat goes from 0 to 1, side by side for each plate.
fn picture_of(plates: &[Array]) -> Result<Vec<u8>, Box<dyn Error>> {
    let heat = concat(plates, 1);
    let channel = |from: f64| ((3 * &heat - from).clip(0, 1) * 255).round().cast(DType::U8);
    Ok(stack([channel(0.0), channel(1.0), channel(2.0)], -1).to_vec::<u8>()?)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let f = jit(step);

    // Half a wave along each side keeps its shape and decays exponentially.
    let wave = from_fn([CELLS + 1; 2], |[y, x]| {
        sin(x.cast(DType::F64) * (PI / CELLS as f64)) * sin(y.cast(DType::F64) * (PI / CELLS as f64))
    });
    let (mut heat, steps) = (wave.eval()?.clone(), 1000);
    for _ in 0..steps {
        heat = f.call((heat.donate(),))?;
    }
    let decay = exp(Array::scalar(-2.0 * (PI / CELLS as f64).powi(2) * FLOW * f64::from(steps)));
    let error = abs(&heat - &wave * &decay).max(..).item::<f64>()?;
    println!("after {steps} steps a wave is {:.4} high; exactly it is {decay:.4}", heat.max(..));
    println!("largest error: {error:.1e}");

    // A ring and a bar.
    let plate = from_fn([CELLS + 1; 2], |[y, x]| {
        let (dy, dx) = (&y - 56, &x - 56);
        let distance = &dy * &dy + &dx * &dx;
        let ring = distance.gt(30 * 30) & distance.lt(40 * 40);
        let bar = y.gt(104) & y.lt(116) & x.gt(12) & x.lt(116);
        where_(ring | bar, 1.0, 0.0).cast(DType::F32)
    });
    let mut plates = vec![plate.eval()?.clone()];
    for steps in [20, 180, 1000] {
        let mut heat = plates[plates.len() - 1].clone();
        for _ in 0..steps {
            heat = f.call((&heat,))?;
        }
        plates.push(heat);
    }
    let left = plates.iter().map(|heat| heat.sum(..).item::<f32>()).collect::<Result<Vec<_>, _>>()?;
    println!("heat at the start and after 20, 200, 1200 steps: {left:.0?}");

    picture::write("heat.png", [CELLS + 1, 4 * (CELLS + 1)], &picture_of(&plates)?)?;
    println!("written: target/heat.png");
    Ok(())
}
