//! The Mandelbrot set as a picture. Eight steps are unrolled by a Rust loop into one traced function, which is called
//! sixteen times on its own results, with donated memory. Colours depend on how soon a point escapes.
//! Writes `target/mandelbrot.png`.

use ndjit::{DType, Expr, cos, from_fn, jit, log2, where_};
use ndjit_pictures as picture;
use std::error::Error;

const WIDTH: usize = 360;
const HEIGHT: usize = 240;
/// Steps per call, and calls.
const STEPS: usize = 8;
const CALLS: usize = 16;

/// Steps of `z = z² + c`, as real and imaginary part, and the number of steps before the escape.
fn steps(mut re: Expr, mut im: Expr, mut count: Expr, c_re: Expr, c_im: Expr) -> [Expr; 3] {
    for _ in 0..STEPS {
        let inside = (re * re + im * im).le(64);
        let next = (re * re - im * im + c_re, 2 * re * im + c_im);
        (re, im) = (where_(inside, next.0, re), where_(inside, next.1, im));
        count += inside.cast(DType::F32);
    }
    [re, im, count]
}

/// Red, green and blue, from 0 to 255: black inside, smooth waves of colour outside.
fn colours(re: Expr, im: Expr, count: Expr) -> [Expr; 3] {
    let smooth = count - log2(log2(re * re + im * im) / 2);
    let outside = count.lt((STEPS * CALLS) as i32);
    [0.0, 0.6, 1.0].map(|phase| {
        let wave = 0.5 - 0.5 * cos(0.22 * smooth + phase);
        (where_(outside, wave, 0.0) * 255).round().cast(DType::U8)
    })
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // The plane from -2.4 to 1.2 and from -1.2 to 1.2, sampled at the centers of pixels.
    let step = 2.4 / HEIGHT as f64;
    let c_re = from_fn([HEIGHT, WIDTH], |[_, x]| (x * step + (step / 2.0 - 2.4)).cast(DType::F32));
    let c_im = from_fn([HEIGHT, WIDTH], |[y, _]| (y * step + (step / 2.0 - 1.2)).cast(DType::F32));
    let (c_re, c_im) = (c_re.eval()?, c_im.eval()?);

    let f = jit(steps);
    let zero = ndjit::zeros_like(c_re);
    let [mut re, mut im, mut count] = f.call((&zero, &zero, &zero, c_re, c_im))?;
    for _ in 1..CALLS {
        [re, im, count] = f.call((re.donate(), im.donate(), count.donate(), c_re, c_im))?;
    }
    println!("{} steps a call in {} kernel, compiled once", STEPS, f.kernels().len());
    let inside = count.ge((STEPS * CALLS) as i32);
    println!("{} of {} points stay", inside.count_nonzero(..), inside.len());

    let paint = jit(colours);
    let planes = paint.call((&re, &im, &count))?.map(|plane| plane.to_vec::<u8>());
    let [red, green, blue] = planes;
    let (red, green, blue) = (red?, green?, blue?);
    let pixels = (0..WIDTH * HEIGHT).flat_map(|i| [red[i], green[i], blue[i]]).collect::<Vec<u8>>();
    picture::write("mandelbrot.png", [HEIGHT, WIDTH], &pixels)?;
    println!("written: target/mandelbrot.png");
    Ok(())
}
