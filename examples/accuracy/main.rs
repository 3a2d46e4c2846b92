//! Measures how far each function's results are from the exact ones and writes docs/accuracy.md.
//!
//! `cargo run --release --example accuracy [-- [FUNCTION …] [--full]]`: the named functions, or all. Without `--full` every
//! 1009th `f32` and two million `f64`; with it all `f32` and a hundred million `f64`. Chunks that are done are kept in
//! `target/accuracy.json`, so that a run that was stopped goes on.

mod functions;
mod measure;
mod page;

use functions::{FUNCTIONS, Function};
use indicatif::{ProgressBar, ProgressStyle};
use measure::{Figures, Inputs, Kernel};
use ndjit::DType;
use page::{Results, key};
use rayon::prelude::*;
use serde_json::json;
use std::error::Error;
use std::path::Path;

const DTYPES: [DType; 4] = [DType::F16, DType::Bf16, DType::F32, DType::F64];
/// Chunks measured between two notes of how far a run got.
const BATCH: u64 = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let full = arguments.iter().any(|argument| argument == "--full");
    let named: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut results = Results::read(&root.join("docs/accuracy.json"));
    let mut progress = Results::read(&root.join("target/accuracy.json"));
    for function in FUNCTIONS.iter().filter(|f| named.is_empty() || named.iter().any(|name| *name == f.op.name())) {
        for dtype in DTYPES.into_iter().filter(|&dtype| function.op.row().domain.contains(dtype)) {
            let inputs = Inputs {
                dtype,
                stride: if full { 1 } else { 1009 },
                count: if full { 100_000_000 } else { 2_000_000 },
            };
            let figures = measured(function, &inputs, &mut progress)?;
            println!("{:<12} {dtype:<5} {figures:?}", function.op.name());
            // What was measured on fewer inputs does not take the place of more.
            let name = key(function.op.name(), dtype);
            let before = results.get(&name).and_then(Figures::from_json).map_or(0, |before| before.inputs);
            if figures.inputs >= before {
                results.set(name, figures.to_json())?;
            }
        }
    }
    std::fs::write(root.join("docs/accuracy.md"), results.page())?;
    Ok(())
}

/// The figures over all inputs, from where an earlier run stopped.
fn measured(function: &Function, inputs: &Inputs, progress: &mut Results) -> Result<Figures, Box<dyn Error>> {
    let kernel = Kernel::new(function.op, inputs.dtype)?;
    let (name, chunks) = (format!("{} of {}", key(function.op.name(), inputs.dtype), inputs.len()), inputs.chunks());
    let started = progress.get(&name).and_then(|value| Some((value["chunks"].as_u64()?, Figures::from_json(value)?)));
    let (mut done, mut figures) = started.unwrap_or_default();
    let style = ProgressStyle::with_template("{msg:<24} {wide_bar} {percent:>3} % {eta:>6}")?;
    let bar = ProgressBar::new(chunks).with_style(style).with_message(name.clone());
    while done < chunks {
        let batch = done..chunks.min(done + BATCH);
        bar.set_position(done);
        let found: Vec<Figures> = batch
            .clone()
            .into_par_iter()
            .map(|chunk| kernel.measure(&inputs.chunk(chunk), function.reference))
            .collect::<Result<_, _>>()?;
        found.iter().for_each(|found| figures.add(found));
        done = batch.end;
        let mut note = figures.to_json();
        note["chunks"] = json!(done);
        progress.set(name.clone(), note)?;
    }
    bar.finish_and_clear();
    progress.remove(&name)?;
    Ok(figures)
}
