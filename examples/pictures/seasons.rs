//! The seasons in a year of temperatures: a wave over the year and one over half of it are fitted to the mean of each day, with unknown amplitudes
//! and phases. Gradient descent needs many steps, since a day changes the error far less than a degree does; Newton's method, with `hessian` and
//! an elimination, needs a few. Prints both and draws the days and the curves to `target/seasons.svg`.

use ndjit::{
    Array, DType, Expr, NewAxis, concat, cos, dtype, fori_loop, grad, hessian, jit, mean, norm, sqrt, square, take,
    while_loop,
};
use ndjit_pictures::{self as picture, Series};
use std::error::Error;
use std::f64::consts::TAU;

const DAYS: usize = 365;
/// The norm of the gradient at convergence.
const NOTHING: f64 = 1e-9;

/// The mean of the year in °C, and for both waves the amplitude and the day of the maximum.
fn curve(w: Expr, day: Expr) -> Expr {
    let [mean, swing, top, swing_2, top_2] = [0, 1, 2, 3, 4].map(|n| w.slice(n));
    mean + swing * cos((day - top) * (TAU / DAYS as f64)) + swing_2 * cos((day - top_2) * (2.0 * TAU / DAYS as f64))
}

/// Half the mean squared error.
fn loss(w: Expr, day: Expr, celsius: Expr) -> Expr {
    mean(square(curve(w, day) - celsius), ..) / 2
}

/// Solves `a x = b` for `x` by Gauss-Jordan elimination without pivoting.
fn solve(a: Expr, b: Expr) -> Expr {
    let eliminate = |i: Expr, both: Expr| {
        let row = take(both, i, 0);
        let row = row / take(row, i, 0);
        (both - take(both, i, 1).slice((.., NewAxis)) * row).at(i).set(row)
    };
    fori_loop(0, 5, concat([a, b.slice((.., NewAxis))], 1), eliminate).slice((.., -1))
}

/// Descends from `w` to convergence, for at most `most` steps; returns the weights and the number of steps.
fn descend(w: Expr, day: Expr, celsius: Expr, most: Expr, step: fn(Expr, Expr, Expr, Expr) -> Expr) -> (Expr, Expr) {
    let gradient = |w: Expr| grad(loss)(w, day, celsius);
    let next = |(w, slope, n): (Expr, Expr, Expr)| {
        let w = w - step(w, slope, day, celsius);
        (w, gradient(w), n + 1)
    };
    let going = |(_, slope, n): (Expr, Expr, Expr)| norm(slope, ..).gt(NOTHING) & n.lt(most);
    let (w, _, n) = while_loop((w, gradient(w), Expr::from(0)), going, next);
    (w, n)
}

/// The daily means in °C from a file of lines `year/month/day hour:00,°F` in order.
fn days(text: &str) -> Result<Array, Box<dyn Error>> {
    let (mut dates, mut day, mut fahrenheit) = (Vec::new(), Vec::new(), Vec::new());
    for line in text.lines().skip(1) {
        let (time, value) = line.split_once(',').ok_or("a line without a comma")?;
        let date = time.split_once(' ').ok_or("a line without a time")?.0;
        if dates.last() != Some(&date) {
            dates.push(date);
        }
        day.push(dates.len() as i64 - 1);
        fahrenheit.push(value.parse::<f64>()?);
    }
    let (day, fahrenheit) = (Array::from(day), Array::from(fahrenheit));
    let sum = |x: Array| dtype(DType::F64).zeros(dates.len()).at(&day).add(x);
    Ok((sum(fahrenheit) / sum(ndjit::ones_like(&day)) - 32) / 1.8)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let file = picture::of_checkout("examples/pictures/data/seattle-temps.csv");
    let celsius = days(&std::fs::read_to_string(file)?)?.eval()?.clone();
    let day = dtype(DType::F64).arange(1..DAYS + 1);
    let start = Array::from([10.0f64, 5.0, 180.0, 1.0, 30.0]);

    let newton = jit(|w, day, celsius, most| {
        descend(w, day, celsius, most, |w, slope, day, celsius| solve(hessian(loss)(w, day, celsius), slope))
    });
    let steepest = jit(|w, day, celsius, most| descend(w, day, celsius, most, |_, slope, _, _| slope));
    let error = jit(|w, day, celsius| sqrt(2 * loss(w, day, celsius)));
    let tell = |name: &str, (w, steps): (Array, Array)| -> ndjit::Result<Array> {
        let off = error.call((&w, &day, &celsius))?.item::<f64>()?;
        println!("{name:16} {:6}  {off:6.3}  {w:7.2}", steps.item::<i32>()?);
        Ok(w)
    };
    println!("{:18}steps  °C off     mean   swing     day   swing     day", "");
    for most in [0, 1, 2, 3] {
        tell("Newton's method", newton.call((&start, &day, &celsius, most))?)?;
    }
    let best = tell("Newton's method", newton.call((&start, &day, &celsius, 1_000_000))?)?;
    let on_the_way = tell("gradient descent", steepest.call((&start, &day, &celsius, 20))?)?;
    for most in [1000, 1_000_000] {
        tell("gradient descent", steepest.call((&start, &day, &celsius, most))?)?;
    }

    let series = |label: &str, y: Array, color, width| -> ndjit::Result<Series> {
        let points = day.to_vec()?.into_iter().zip(y.to_vec()?).collect();
        Ok(Series { label: label.to_owned(), points, color, width })
    };
    let f = jit(curve);
    let all = [
        series("mean of a day", celsius.clone(), [120, 160, 200], 0)?,
        series("gradient descent, 20 steps", f.call((&on_the_way, &day))?, [235, 130, 30], 2)?,
        series("Newton's method, 5 steps", f.call((&best, &day))?, [20, 40, 80], 2)?,
    ];
    picture::plot("seasons.svg", "Seattle, two waves fitted to the days of a year", ["day of the year", "°C"], &all)?;
    println!("written: target/seasons.svg");
    Ok(())
}
