//! Grades a photograph in one fused kernel: a tone curve, a saturation that keeps luminance, a vignette from broadcast axes
//! and a blend with film grain, on u8, f16 and f32 pixels. Prints the dtypes with explanations, the number of kernels, the times, and
//! a check that the unfused program gives the same bits. Writes `target/photo.png`.

use ndjit::{Array, DType, Expr, Stage, jit, spec};
use ndjit_pictures as picture;
use std::error::Error;
use std::time::Instant;

/// One colour channel, 0 to 255, as a value from 0 to 1 on a filmic curve.
fn tone(channel: Expr) -> Expr {
    let v = channel / 255.0;
    let shoulder = 1.0 - (-2.6 * v).exp();
    let s_curve = v * v * (3.0 - 2.0 * v);
    0.6 * shoulder + 0.4 * s_curve
}

/// The graded channels, as 8-bit pixels.
fn grade(red: Expr, green: Expr, blue: Expr, grain: Expr, y: Expr, x: Expr) -> [Expr; 3] {
    let [r, g, b] = [tone(red), tone(green), tone(blue)];
    let luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    let grain = grain * 0.06;
    let falloff = 1.0 - 0.45 * (x * x + y * y);
    [r, g, b].map(|channel| {
        let vivid = luminance + (channel - luminance) * 1.35;
        let shaded = vivid * falloff;
        let blended = shaded * 0.94 + grain;
        (blended.clip(0.0, 1.0) * 255.0).round().cast(DType::U8)
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let ([height, width], photo) = picture::read("examples/pictures/data/astronaut.png")?;

    // Three u8 planes, an f16 grain texture, and f32 coordinates from -1 to 1 that broadcast to the whole picture.
    let plane = |c: usize| photo.iter().skip(c).step_by(3).copied().collect::<Vec<u8>>();
    let [red, green, blue] = [0, 1, 2].map(|c| Array::from_shape_vec([height, width], plane(c)));
    let (red, green, blue) = (red?, green?, blue?);
    let grain = Array::from_shape_vec([height, width], grain(width * height))?;
    let axis = |n: usize| (0..n).map(|i| 2.0 * i as f32 / (n - 1) as f32 - 1.0).collect::<Vec<f32>>();
    let y = Array::from_shape_vec([height, 1], axis(height))?;
    let x = Array::from_shape_vec([1, width], axis(width))?;

    let fused = jit(grade);
    let started = Instant::now();
    let result = fused.call((&red, &green, &blue, &grain, &y, &x))?;
    let first = started.elapsed();
    let mut best = first;
    for _ in 0..20 {
        let started = Instant::now();
        fused.call((&red, &green, &blue, &grain, &y, &x))?;
        best = best.min(started.elapsed());
    }

    println!("The graph, with the type of every value (f* is a weak float: it takes the width of what it meets):\n");
    println!("{}", fused.explain(Stage::Graph));
    println!("Dtypes and why (`*` marks a weak type; it is stored with 32 bits):");
    let [pixel, texture, coordinate] = [DType::U8, DType::F16, DType::F32].map(|d| spec(d, [height, width]));
    let weak = jit(|c| c / 255.0).trace(std::slice::from_ref(&pixel))?.results()[0].clone();
    let half = jit(|g| g * 0.06).trace(std::slice::from_ref(&texture))?.results()[0].clone();
    let shaded = jit(|v, d| v * d).trace(&[weak.clone(), coordinate])?.results()[0].clone();
    let blended = jit(|v, g| v + g).trace(&[shaded.clone(), half.clone()])?.results()[0].clone();
    println!("  pixel / 255.0     {weak}: true division makes u8 a float, and the literal names no width");
    println!("  grain * 0.06      {half}: a weak literal takes the width of what it meets");
    println!("  vivid * falloff   {shaded}: a weak float meets f32 coordinates");
    println!("  shaded + grain    {blended}: f32 and f16 join in f32\n");
    let kernels = fused.kernels();
    println!("kernels:            {}", kernels.len());
    println!("machine code:       {} bytes", kernels.iter().map(|k| k.code_bytes).sum::<usize>());
    println!("compile:            {:.2} ms", kernels.iter().map(|k| k.compile_time.as_secs_f64()).sum::<f64>() * 1e3);
    println!("first call:         {:.2} ms (trace, compile, run)", first.as_secs_f64() * 1e3);
    println!("later calls, best:  {:.3} ms for {width} x {height} pixels", best.as_secs_f64() * 1e3);

    let unfused = jit(grade).fuse(false);
    let started = Instant::now();
    let plain = unfused.call((&red, &green, &blue, &grain, &y, &x))?;
    println!(
        "unfused:            {} kernels, {:.1} ms first call",
        unfused.kernels().len(),
        started.elapsed().as_secs_f64() * 1e3
    );

    let mut planes = Vec::new();
    for (a, b) in result.iter().zip(&plain) {
        let (a, b) = (a.to_vec::<u8>()?, b.to_vec::<u8>()?);
        if a != b {
            return Err("fused and unfused results differ".into());
        }
        planes.push(a);
    }
    println!("bit-equal:          fused and unfused agree on all {} values", 3 * width * height);

    let pixels: Vec<u8> = (0..width * height).flat_map(|i| [planes[0][i], planes[1][i], planes[2][i]]).collect();
    picture::write("photo.png", [height, width], &pixels)?;
    println!("written:            target/photo.png");
    Ok(())
}

/// Film grain around 0.5, from a counter-based hash.
fn grain(n: usize) -> Vec<ndjit::f16> {
    let noise = |i: u32| {
        let mut h = i.wrapping_mul(0x9E37_79B9) ^ 0x85EB_CA6B;
        h = (h ^ (h >> 15)).wrapping_mul(0x2C1B_3C6D);
        h = (h ^ (h >> 12)).wrapping_mul(0x297A_2D39);
        (h ^ (h >> 15)) as f32 / u32::MAX as f32
    };
    (0..n as u32).map(|i| ndjit::f16::from_f32(noise(i))).collect()
}
