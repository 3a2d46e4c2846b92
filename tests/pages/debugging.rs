//! The examples of docs/debugging.md.

use super::{Examples, examples};
use ndjit::Result;

fn misses() -> Result<()> {
    use ndjit::{Array, jit, step};

    let f = jit(|x, y| x + y * 2);
    let (x, y) = (Array::from(vec![1.0f32; 6]), Array::from(vec![1i8; 6]));
    f.call((&x, &y))?;
    f.call((&x.slice(..3), 2))?;
    f.call((&x.slice(step(2)), 3))?;
    for miss in f.explain_cache_misses() {
        println!("{} differs from {}", miss.signature, miss.nearest.as_deref().unwrap_or("nothing known"));
        for difference in &miss.differences {
            println!("  {difference}");
        }
        println!("  kernels: {}", miss.kernels);
    }
    Ok(())
}

fn forbidden() -> Result<()> {
    use ndjit::{jit, no_recompile};

    let f = jit(|x| x * 2);
    f.call((&[1.0f32; 3],))?;
    let error = no_recompile(|| f.call((&[1.0f32; 4],))).unwrap_err();
    println!("{error}");
    Ok(())
}

fn counted() -> Result<()> {
    use ndjit::{Array, jit, keepdims};

    let f = jit!(|x| x / x.sum(keepdims(-1)));
    f.call((&Array::from_shape_vec([256, 1024], vec![1.0f32; 256 * 1024])?,))?;
    let stats = f.stats();
    println!("{} bytes read, {} written, {} flops", stats.bytes_read(), stats.bytes_written(), stats.flops());
    let arrays = stats.peak_bytes - stats.scratch_bytes;
    println!("{} bytes of intermediate arrays, {arrays} of all at once", stats.intermediate_bytes);
    let stages: Vec<&str> = stats.stages.iter().map(|(stage, _)| *stage).collect();
    println!("timed: {}", stages.join(" "));
    Ok(())
}

fn planned() -> Result<()> {
    use ndjit::{DType, jit, keepdims, spec};

    let f = jit!(|x| {
        let spread = x - x.mean(keepdims(-1));
        spread / (spread * spread).mean(keepdims(-1)).sqrt()
    });
    let lowered = f.trace(&[spec(DType::F32, [1000, 1000])])?.lower()?;
    println!("{}", lowered.memory_plan()?);
    Ok(())
}

fn looped() -> Result<()> {
    use ndjit::{DType, fori_loop, jit, spec};

    let f = jit!(|x| fori_loop(0, 10, x, |_, x| {
        let y = fori_loop(0, 3, x.cumulative_sum(0), |_, y| y * (1 - y));
        y + x.flip(0)
    }));
    println!("{}", f.trace(&[spec(DType::F32, [1000])])?.lower()?.memory_plan()?);
    Ok(())
}

fn printed() -> Result<()> {
    use ndjit::debug::{collect_debug_output, debug_print};
    use ndjit::{Array, jit};

    let half = jit(|x| debug_print("half", x / 2));
    let f = jit(move |x, y| {
        let z = debug_print("sum", x + y);
        half.inline((z,)) * 10
    });
    let (x, y) = (Array::from([1.0f32, 2.0]), Array::from([10i8, 20]));
    // Without this it goes to standard error.
    let (z, values) = collect_debug_output(|| f.call((&x, &y)));
    for value in values {
        println!("{value}");
    }
    println!("result: {}", z?);
    Ok(())
}

fn nan() -> Result<()> {
    use ndjit::debug::first_nan;
    use ndjit::{Array, exp, jit, log};

    let f = jit(|x, y| exp(log(x - y) + 1) * 2);
    let (x, y) = (Array::from([3.0f32, 1.0, 5.0]), Array::from(2.5f32));
    if let Some(found) = first_nan(&f, (&x, &y))? {
        println!("{found}");
    }
    Ok(())
}

fn checked() -> Result<()> {
    use ndjit::{jit, sqrt};

    let f = jit(|x, y| sqrt(x - y) * 2).check_nans(true);
    println!("{}", f.call((&[5.0f32], &[1.0f32]))?);
    println!("{}", f.call((&[5.0f32, 0.0], &[1.0f32, 1.0])).unwrap_err());
    Ok(())
}

fn interpreted() -> Result<()> {
    use ndjit::debug::with_jit_disabled;
    use ndjit::{Array, exp, jit};

    let f = jit(|x| exp(x) / 3);
    let x = Array::from([0.1f32, 0.2]);
    let (compiled, interpreted) = (f.call((&x,))?, with_jit_disabled(|| f.call((&x,)))?);
    println!("{compiled} {interpreted}");
    Ok(())
}

fn shrunk() -> Result<()> {
    use ndjit::{Array, Expr, Stage, debug, jit, keepdims};

    let f = jit(|x: Expr, y: Expr| {
        let shares = x.mt() / x.mt().sum(keepdims(-1));
        ndjit::exp(shares + 1) * ndjit::floor(y * 2.5)
    });
    let (x, y) = (Array::from_shape_vec([5, 7], vec![1.0f64; 35])?, Array::from([2.0f32]));
    f.call((&x, &y))?;
    // What would fail: here that there is a `floor` of a product.
    let fails = |text: &str| text.contains("floor") && text.contains("multiply");
    println!("{}", debug::shrink(&f.explain(Stage::Graph), fails)?);
    Ok(())
}

fn escaped() -> Result<()> {
    use ndjit::{Array, Expr, jit};
    use std::cell::Cell;

    thread_local!(static KEPT: Cell<Option<Expr>> = const { Cell::new(None) });
    let f = jit(|x| {
        let y = x * 2;
        KEPT.set(Some(y));
        y
    });
    let x = Array::from([1.0f32]);
    f.call((&x,))?;
    let g = jit(|x: Expr| KEPT.get().map_or(x, |y| x + y));
    println!("{}", g.call((&x,)).unwrap_err());
    Ok(())
}

examples! { misses forbidden counted planned looped printed nan checked interpreted shrunk escaped }
