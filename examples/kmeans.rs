//! k-means in a single traced function: each step assigns every point to its nearest center and moves centers to the means of their
//! points, summed by a scatter. The loop ends at convergence; it is compiled once for any number of steps.

use ndjit::{Array, DType, Expr, Stage, all, argmin, dtype, jit, random, sum, while_loop, zeros};
use std::error::Error;

const POINTS: usize = 3000;
const CENTERS: usize = 4;

/// Squared distances of points from centers, `[points, centers]`.
fn distances(points: Expr, centers: Expr) -> Expr {
    let apart = points.expand_dims(1) - centers;
    sum(apart * apart, -1)
}

/// The centers after convergence, the center of each point, and the number of steps.
fn k_means(points: Expr, start: Expr) -> (Expr, Expr, Expr) {
    let nearest = |centers| argmin(distances(points, centers), 1);
    let step = |(centers, of, _, steps): (Expr, Expr, Expr, Expr)| {
        let sums = Expr::from(zeros([CENTERS, 2])).at(of).add(points);
        let counts = Expr::from(zeros([CENTERS, 1])).at(of).add(1);
        // A center without points does not move.
        let centers = ndjit::where_(counts.gt(0), sums / ndjit::maximum(counts, 1), centers);
        let next = nearest(centers);
        (centers, next, ndjit::logical_not(all(next.eq(of), ..)), steps + 1)
    };
    let first = (start, nearest(start), Expr::from(Array::from(true)), Expr::from(0));
    let (centers, of, _, steps) = while_loop(first, |(_, _, changed, _)| changed, step);
    (centers, of, steps)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Points around four centers.
    let places = Array::from_rows(&[[0.0f32, 0.0], [6.0, 1.0], [2.0, 7.0], [8.0, 8.0]]);
    let [noise, which] = [1, 2].map(random::key);
    let of = random::randint(&which, POINTS, 0..CENTERS as i64);
    let points = places.take(&of, 0) + dtype(DType::F32).normal(&noise, [POINTS, 2]) * 0.8;

    let f = jit(k_means);
    let (centers, nearest, steps) = f.call((&points, &points.slice(..CENTERS as isize)))?;
    println!("after {} steps:\n{:.2}", steps.item::<i32>()?, centers);
    let counts = zeros(CENTERS).at(&nearest).add(1);
    println!("points of each: {counts}");
    let spread = sum((&points - centers.take(&nearest, 0)).square(), ..).item::<f32>()? / POINTS as f32;
    println!("mean squared distance from them: {spread:.3}");
    let kernels = f.explain(Stage::Kernels);
    println!("the program has one loop: {}", kernels.matches("while {").count() == 1);
    Ok(())
}
