//! The GPUs of this machine: what they are, what they can do, and how fast they are.
//!
//! `cargo run --release --features gpu --example gpu` prints that; with `-- --write` it writes docs/gpu.md, of the device it finds.

use ndjit::gpu::{Capabilities, GpuKind, capabilities, list};
use ndjit::{Array, Device, Expr, Result, exp, jit, report};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Where the page's table begins, and where it ends.
const MARKS: (&str, &str) = ("<!-- written by examples/gpu.rs -->", "<!-- to here -->");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/gpu.md");

fn main() {
    if let Err(error) = run() {
        eprintln!("{}", report(&error));
        std::process::exit(1);
    }
}

fn run() -> Result<()> {
    let gpus = list();
    if gpus.is_empty() {
        println!("there is no GPU, and no driver that computes on the processor");
        return Ok(());
    }
    for (n, info) in gpus.iter().enumerate() {
        println!("GPU {n}: {info}");
    }
    let device = Device::gpu();
    let capabilities = capabilities(device)?;
    let mut text = table(&capabilities);
    text += &figures(&capabilities)?;
    println!("\n{text}");
    if std::env::args().any(|argument| argument == "--write") {
        write(&text);
    }
    Ok(())
}

/// What the device can do.
fn table(capabilities: &Capabilities) -> String {
    let mut text = format!("### {}\n| | |\n|---|---|\n", capabilities.info);
    for (what, answer) in capabilities.rows() {
        let _ = writeln!(text, "| {what} | {answer} |");
    }
    text
}

/// How fast it is. Of software the figures say nothing, so that few are taken.
fn figures(capabilities: &Capabilities) -> Result<String> {
    let device = capabilities.device;
    let software = capabilities.info.kind == GpuKind::Software;
    let len = if software { 1_000_000 } else { 100_000_000 };
    let mut text = String::from("\n| measured | |\n|---|---|\n");
    let small = Array::from([1.0f32; 16]).on(device);
    let add = jit(|x| x + 1).on(device);
    let latency = best(50, || add.call((&small,))?.to_vec::<f32>().map(drop))?;
    let _ =
        writeln!(text, "| a call on 16 elements, with reading its result | {:.0} µs |", 1e6 * latency.as_secs_f64());
    let x = Array::from(vec![0.5f32; len]).on(device);
    let y = Array::from(vec![0.25f32; len]).on(device);
    let kernels: [(&str, usize, Function); 3] = [
        ("`x + 0`, a copy", 2, |x, _| x + 0),
        ("`x + y * 2`", 3, |x, y| x + y * 2),
        ("`exp(x) * y`", 3, |x, y| exp(x) * y),
    ];
    for (name, arrays, function) in kernels {
        let kernel = jit(function).on(device);
        let time = best(5, || kernel.call((&x, &y))?.block_until_ready().map(drop))?;
        let gigabytes = (4 * arrays * len) as f64 / 1e9;
        let (ms, rate) = (1e3 * time.as_secs_f64(), gigabytes / time.as_secs_f64());
        let _ = writeln!(text, "| {name} on {len} `f32` | {ms:.2} ms, {rate:.1} GB/s |");
    }
    if software {
        text += "\nThis device is software on the processor; its figures do not apply to GPUs.\n";
    }
    Ok(text)
}

type Function = fn(Expr, Expr) -> Expr;

fn write(text: &str) {
    let page = std::fs::read_to_string(PAGE).unwrap_or_default();
    let (Some(start), Some(end)) = (page.find(MARKS.0), page.find(MARKS.1)) else {
        eprintln!("{PAGE} has no place for the table");
        std::process::exit(1);
    };
    let page = format!("{}{}\n{text}{}", &page[..start], MARKS.0, &page[end..]);
    match std::fs::write(PAGE, page) {
        Ok(()) => println!("written to docs/gpu.md"),
        Err(error) => eprintln!("{PAGE}: {error}"),
    }
}

/// The shortest time of some runs.
fn best(runs: usize, mut body: impl FnMut() -> Result<()>) -> Result<Duration> {
    body()?;
    let mut best = Duration::MAX;
    for _ in 0..runs {
        let start = Instant::now();
        body()?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}
