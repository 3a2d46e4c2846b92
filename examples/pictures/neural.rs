//! A neural network learns a photograph from a quarter of its pixels, as a map from coordinates to colours. The whole training, with batches,
//! gradients and steps, is one `scan` of one jitted function. Then the network predicts the other pixels.
//! Writes the given pixels, the prediction and the photograph to `target/neural.png`, and the errors during training to `target/neural.svg`.

use ndjit::{
    Array, DType, Expr, arange, concat, cos, dtype, from_fn, jit, matmul, mean, random, relu, repeat, reshape, scan,
    sigmoid, sin, sqrt, square, take, value_and_grad_at, where_, zeros, zeros_like,
};
use ndjit_pictures::{self as picture, Series};
use std::array;
use std::error::Error;
use std::f64::consts::TAU;

/// Rows and columns of the training picture: the upper part of the photograph, at a quarter of its size.
const ROWS: usize = 104;
const COLUMNS: usize = 128;
const PIXELS: usize = ROWS * COLUMNS;
const SEEN: usize = PIXELS / 4;

const WAVES: usize = 64;
const UNITS: usize = 64;
const BATCH: usize = 512;
const STEPS: usize = 2000;

/// Weights and biases of three layers.
type Network = [Expr; 6];

/// The colours at coordinates; all are from 0 to 1. Coordinates are encoded as waves of many lengths: from bare ones the network only learns blurs.
fn paint([w1, b1, w2, b2, w3, b3]: Network, waves: Expr, places: Expr) -> Expr {
    let phase = matmul(places, waves);
    let x = concat([sin(phase), cos(phase)], -1);
    let x = relu(matmul(x, w1) + b1);
    let x = relu(matmul(x, w2) + b2);
    sigmoid(matmul(x, w3) + b3)
}

/// The final prediction, and the mean squared errors at each step: on the training batch, and on held-out pixels.
/// `order` has the indices of the training pixels, then of the others.
fn train(key: Expr, places: Expr, colours: Expr, order: Expr) -> (Expr, [Expr; 2]) {
    let [a, b, c, d, key] = random::split(key);
    let normal = |key, rows: usize, columns: usize| dtype(DType::F32).normal(key, [rows, columns]);
    let waves = normal(a, 2, WAVES) * (2.0 * TAU);
    // Random weights, scaled to keep the magnitude of values from layer to layer.
    let layer = |key, rows: usize, columns: usize| normal(key, rows, columns) * (2.0 / rows as f64).sqrt();
    let bias = |columns: usize| Expr::from(dtype(DType::F32).zeros(columns));
    let (first, second, third) = (layer(b, 2 * WAVES, UNITS), layer(c, UNITS, UNITS), layer(d, UNITS, 3));
    let start: Network = [first, bias(UNITS), second, bias(UNITS), third, bias(3)];

    let error = |network, key: Expr, from: usize, to: usize| {
        let which = take(order, random::randint(key, BATCH, from as i64..to as i64), 0);
        mean(square(paint(network, waves, take(places, which, 0)) - take(colours, which, 0)), ..)
    };
    // Adam: the mean of recent gradients over the root of their mean square, with a learning rate that falls to 0.
    let step = |(network, slope, size): (Network, Network, Network), n: Expr| {
        let [seen, hidden] = random::split(random::fold_in(key, n));
        let (loss, gradient) = value_and_grad_at(|network| error(network, seen, 0, SEEN), network);
        let rate = 0.005 * (1 - n / STEPS as f32);
        let slope: Network = array::from_fn(|i| 0.9 * slope[i] + 0.1 * gradient[i]);
        let size: Network = array::from_fn(|i| 0.99 * size[i] + 0.01 * square(gradient[i]));
        let next = array::from_fn(|i| network[i] - rate * slope[i] / (sqrt(size[i]) + 1e-6));
        ((next, slope, size), [loss, error(network, hidden, SEEN, PIXELS)])
    };
    let none = start.map(|x| zeros_like(x));
    let ((network, ..), errors) = scan(step, (start, none, none), Expr::from(arange(STEPS as i64)));
    (paint(network, waves, places), errors)
}

/// A mean squared error in decibels, as usual for photographs: a tenth of the error is 10 dB more.
fn decibels(error: f64) -> f64 {
    -10.0 * error.log10()
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (size, photo) = picture::read("examples/pictures/data/astronaut.png")?;
    let photo = Array::from_shape_vec([size[0], size[1], 3], photo)?.slice(..4 * ROWS as isize) / 255;
    let blocks = photo.reshape([ROWS as isize, 4, COLUMNS as isize, 4, 3]).cast(DType::F32);
    let colours = blocks.mean([1, 3]).reshape([PIXELS as isize, 3]);
    let width = COLUMNS as i64;
    let places = from_fn([PIXELS, 2], |[pixel, axis]| where_(axis.eq(0), &pixel / width, &pixel % width) / width);
    let order = random::permutation(&random::key(4), PIXELS);
    let f = jit(train);
    let (painted, errors) = f.call((&random::key(5), &places, &colours, &order))?;

    let [seen, hidden] = errors.map(|errors| errors.to_vec::<f32>());
    let (seen, hidden) = (seen?, hidden?);
    // Batches vary: each point is the mean of fifty steps.
    let curve = |errors: &[f32]| -> Vec<(f64, f64)> {
        let means =
            errors.chunks(50).map(|chunk| chunk.iter().map(|&e| f64::from(e)).sum::<f64>() / chunk.len() as f64);
        means.enumerate().map(|(i, error)| (50.0 * i as f64 + 25.0, decibels(error))).collect()
    };
    let (seen, hidden) = (curve(&seen), curve(&hidden));
    for step in [0, 3, 11, 39] {
        println!("step {:4}: {:.1} dB seen, {:.1} dB hidden", seen[step].0, seen[step].1, hidden[step].1);
    }
    let off = (&painted - &colours).square().mean(1).take(order.slice(SEEN as isize..), 0).mean(..).item::<f32>()?;
    let grey = (&colours - colours.mean(0)).square().mean(..).item::<f32>()?;
    println!("in the end: {:.1} dB hidden; the mean colour has {:.1} dB", decibels(off.into()), decibels(grey.into()));

    let line = |label: &str, points, color| Series { label: label.to_owned(), points, color, width: 2 };
    let lines = [line("pixels it sees", seen, [20, 40, 80]), line("pixels it never sees", hidden, [235, 130, 30])];
    picture::plot("neural.svg", "A network learns a photograph", ["step", "quality in dB"], &lines)?;
    let given = zeros([PIXELS, 3]).at(order.slice(..SEEN as isize)).set(colours.take(order.slice(..SEEN as isize), 0));
    let panels = [&given, &painted, &colours].map(|x| reshape(x, [ROWS as isize, COLUMNS as isize, 3]));
    let pixels = (repeat(repeat(concat(panels, 1), 2, 0), 2, 1) * 255).round().cast(DType::U8).to_vec::<u8>()?;
    picture::write("neural.png", [2 * ROWS, 6 * COLUMNS], &pixels)?;
    println!("written: target/neural.png, target/neural.svg");
    Ok(())
}
