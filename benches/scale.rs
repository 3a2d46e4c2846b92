//! A program of a million nodes, on a thread with a stack of 256 KiB: time of each step, and memory per node.
//! `cargo bench --bench scale`; prints a table, no statistics. Another number of ops may follow `--`.

use ndjit::{Array, DType, Expr, Stage, jit, spec};
use std::time::Instant;

/// A chain of `n` distinct ops on two arrays and literals: every third op has a literal of its own.
fn chain(x: Expr, y: Expr, n: usize) -> Expr {
    (0..n).fold(x, |acc, i| match i % 3 {
        0 => acc * 0.5,
        1 => acc + y,
        _ => y - acc,
    })
}

/// Resident memory of the process in bytes; 0 where the system does not tell.
fn resident(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<usize>().ok()).unwrap_or(0) * 1024
}

fn run(n: usize) -> Result<(), ndjit::Error> {
    let base = resident("VmRSS:");
    let total = Instant::now();
    let f = jit(move |x, y| chain(x, y, n));
    let step = |name: &str, since: Instant| println!("{name:<22} {:>8.2} s", since.elapsed().as_secs_f64());

    let started = Instant::now();
    let traced = f.trace(&[spec(DType::F32, [16]), spec(DType::F32, [16])])?;
    step("trace", started);
    println!("{:<22} {:>8.0} bytes per op", "graph", (resident("VmRSS:") - base) as f64 / n as f64);
    let started = Instant::now();
    let lowered = traced.lower()?;
    step("lower", started);
    println!("{:<22} {:>8}", "kernels", lowered.kernel_count());
    let started = Instant::now();
    let compiled = lowered.compile()?;
    step("compile", started);
    println!("{:<22} {:>8.0} bytes per op, everything", "resident", (resident("VmRSS:") - base) as f64 / n as f64);
    println!("{:<22} {:>8.0} bytes per op", "at its highest", (resident("VmHWM:") - base) as f64 / n as f64);
    let started = Instant::now();
    let text = compiled.explain(Stage::Graph);
    step("print", started);
    println!("{:<22} {:>8} lines", "text", text.lines().count());
    println!("{:<22} {:>8.0} bytes per op", "at its highest so", (resident("VmHWM:") - base) as f64 / n as f64);
    drop(text);
    let started = Instant::now();
    let (x, y) = (Array::from([1.0f32; 16]), Array::from([0.25f32; 16]));
    let result = compiled.call((&x, &y))?.to_vec::<f32>()?;
    step("run", started);
    let started = Instant::now();
    drop((compiled, f));
    step("drop", started);
    step("total", total);
    println!("{:<22} {:>8}", "result", result[0]);
    Ok(())
}

fn main() {
    let n = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(1_000_000);
    println!("{n} ops on a stack of 256 KiB");
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(move || run(n)).expect("a thread");
    match thread.join() {
        Ok(Ok(())) => {}
        Ok(Err(e)) => println!("{e}"),
        Err(_) => println!("panicked"),
    }
}
