//! Filters on a photograph: a Gaussian blur with sliding windows along each axis, a sharpened copy, and Sobel edges from slices of the
//! padded picture. Writes all four side by side to `target/filters.png`.

#![allow(clippy::reversed_empty_ranges, reason = "the end of a slice may count from the last element")]

use ndjit::{Array, DType, Expr, Pad, concat, hypot, jit, pad, sliding_window};
use ndjit_pictures as picture;
use std::error::Error;

/// The part of the photograph to show: first row and column, rows and columns.
const PART: [usize; 4] = [40, 150, 150, 130];

/// The Gaussian-weighted mean of seven by seven pixels: along rows, then along columns.
fn blur(x: Expr, weights: Expr) -> Expr {
    let along = |x: Expr, axis: isize| (sliding_window(x, 7, axis) * weights).sum(-1);
    along(along(pad(x, 3, Pad::Reflect), 0), 1)
}

/// Doubles the difference from the blurred picture.
fn sharpen(x: Expr, blurred: Expr) -> Expr {
    (x + 2 * (x - blurred)).clip(0, 1)
}

/// The gradient's magnitude: differences along both axes, each smoothed along the other.
fn edges(x: Expr) -> Expr {
    let x = pad(x, 1, Pad::Edge);
    let smooth_rows = x.slice((..-2, ..)) + 2 * x.slice((1..-1, ..)) + x.slice((2.., ..));
    let smooth_columns = x.slice((.., ..-2)) + 2 * x.slice((.., 1..-1)) + x.slice((.., 2..));
    let across = smooth_rows.slice((.., 2..)) - smooth_rows.slice((.., ..-2));
    let down = smooth_columns.slice((2.., ..)) - smooth_columns.slice((..-2, ..));
    (hypot(across, down) / 2).clip(0, 1)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let ([height, width], photo) = picture::read("examples/pictures/data/astronaut.png")?;
    let [top, left, rows, columns] = PART.map(|n| n as isize);
    let colour = Array::from_shape_vec([height, width, 3], photo)?;
    let colour = colour.slice((top..top + rows, left..left + columns, ..));
    let grey = (colour * Array::from([0.2126f32, 0.7152, 0.0722])).sum(-1) / 255;

    let bell = ndjit::exp(-ndjit::square(ndjit::arange(-3..4) / 1.5) / 2).cast(DType::F32);
    let bell = &bell / bell.sum(..);
    println!("weights: {bell:.3}");
    let (f, g, h) = (jit(blur), jit(sharpen), jit(edges));
    let blurred = f.call((&grey, &bell))?;
    let sharpened = g.call((&grey, &blurred))?;
    let steep = h.call((&grey,))?;
    let kernels = [f.kernels(), g.kernels(), h.kernels()].map(|kernels| kernels.len());
    println!("kernels to blur, to sharpen, to find edges: {kernels:?}");
    for (name, x) in [("photograph", &grey), ("blurred", &blurred), ("sharpened", &sharpened)] {
        println!("{name}: mean {:.3}, standard deviation {:.3}", x.mean(..), x.std(..));
    }

    let all = concat([&grey, &blurred, &sharpened, &steep], 1);
    let pixels = (all * 255).round().cast(DType::U8).to_vec::<u8>()?;
    picture::write("filters.png", [rows as usize, 4 * columns as usize], &pixels)?;
    println!("written: target/filters.png");
    Ok(())
}
