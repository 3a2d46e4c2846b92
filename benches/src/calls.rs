//! Call overhead and compile times, as rows of the report.

use crate::inputs;
use crate::kernels::{Function, KERNELS};
use crate::timing::{Times, time};
use ndjit::{Array, DType, Result, Spec, jit};
use ndjit_runtime::cache::Bounds;
use ndjit_runtime::kernels;
use serde_json::{Value, json};
use std::time::Instant;

/// Compilations of each kernel.
const COMPILATIONS: usize = 15;

/// The rows.
pub fn rows(budget: f64) -> Result<Vec<Value>> {
    let mut rows = dispatch(budget)?;
    for kernel in KERNELS {
        let made = inputs::make(kernel.inputs, &kernel.shapes(kernel.sizes[0]), DType::F32)?;
        let specs: Vec<Spec> = made.iter().map(|made| Spec::of(&made.array)).collect();
        macro_rules! with {
            ($function:expr) => {{
                compile(kernel.name, || {
                    let f = jit($function);
                    let start = Instant::now();
                    let lowered = f.trace(&specs)?.lower()?;
                    let traced = start.elapsed().as_secs_f64();
                    let compiled = lowered.compile()?;
                    let all = start.elapsed().as_secs_f64();
                    drop(compiled);
                    Ok((traced, all - traced))
                })?
            }};
        }
        rows.push(match kernel.function {
            Function::One(function) => with!(function),
            Function::Two(function) => with!(function),
            Function::Three(function) => with!(function),
            Function::Four(function) => with!(function),
        });
    }
    Ok(rows)
}

/// A call on 8 elements.
fn dispatch(budget: f64) -> Result<Vec<Value>> {
    let (x, y) = (Array::from([0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), Array::from([1f32; 8]));
    let f = jit(|x, y| x + y * 2).threads(1);
    let mut out = [0f32; 8];
    f.call_into((&x, &y), &mut out[..])?;
    let fresh = time(budget, || drop(f.call((&x, &y))));
    let into = time(budget, || drop(f.call_into((&x, &y), &mut out[..])));
    let row = |mode: &str, Times { least, median, calls }: Times| {
        json!({
            "backend": "ndjit", "threads": 1, "kernel": "dispatch", "dtype": "float32", "n": 8, "mode": mode,
            "min_s": least, "med_s": median, "reps": calls,
        })
    };
    Ok(vec![row("fresh", fresh), row("out", into)])
}

/// Compiles a kernel repeatedly without the process's cache: the first time, and the median of the others.
fn compile(name: &str, once: impl Fn() -> Result<(f64, f64)>) -> Result<Value> {
    kernels::set_bounds(Bounds { count: 0, weight: 0 });
    let first = once()?;
    let mut others = (1..COMPILATIONS).map(|_| once()).collect::<Result<Vec<(f64, f64)>>>()?;
    kernels::set_bounds(Bounds { count: 1024, weight: 64 << 20 });
    others.sort_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1)));
    let median = others[others.len() / 2];
    Ok(json!({
        "backend": "ndjit", "kernel": name, "mode": "compile", "first_s": first.0 + first.1, "trace_lower_s": median.0,
        "compile_s": median.1, "total_s": median.0 + median.1,
    }))
}
