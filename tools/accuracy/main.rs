//! Measures the errors of compiled functions and casts, and writes docs/accuracy.md.
//!
//! `cargo run --release -p ndjit-tools --bin accuracy [-- [NAME …] [--slopes] [--full] [--check]]`. A name is that of a function, of one in
//! a dtype (`"exp f32"`), of a slope (`tanh/x`), or `cast`; without one everything is measured, with `--slopes` only slopes. `--full` takes
//! hours; without it a part of the operands is tried in minutes. `--check` writes nothing and tries less. Finished chunks are stored in
//! `target/accuracy.json` (without `--check`), so a stopped run can continue. It fails if an error exceeds the bound of the op table, or of
//! `slopes/table.rs`.

mod activations;
mod casts;
mod complex_functions;
mod complex_references;
mod digamma;
mod draw;
mod error_function;
mod exact;
mod figures;
mod format;
mod functions;
mod inputs;
mod kernel;
mod measure;
mod multi;
mod operands;
mod page;
mod plan;
mod references;
mod results;
mod slopes;

use figures::Figures;
use indicatif::{ProgressBar, ProgressStyle};
use plan::{CHECKED, FULL, Measurement, STRIDED, plan};
use rayon::prelude::*;
use results::Results;
use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// Chunks between two progress messages.
const BATCH: u64 = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let (full, check, slopes) = (flag("--full"), flag("--check"), flag("--slopes"));
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut results = Results::read(&root.join("docs/accuracy.json"));
    let mut progress = if check { Results::default() } else { Results::read(&root.join("target/accuracy.json")) };
    let mut exceeded = 0;
    let scale = match (full, check) {
        (true, _) => FULL,
        (_, true) => CHECKED,
        _ => STRIDED,
    };
    for measurement in plan(scale)? {
        let (name, function) = (&measurement.name, measurement.name.split(' ').next());
        if !names.is_empty() && !names.iter().any(|given| *given == name || Some(given.as_str()) == function) {
            continue;
        }
        if slopes && !name.contains('/') {
            continue;
        }
        let start = Instant::now();
        let figures = measured(&measurement, &mut progress)?;
        println!("{name:<20} {} in {:.1} s", figures.line(), start.elapsed().as_secs_f64());
        if let Some(what) = measurement.exceeded(&figures) {
            exceeded += 1;
            println!("{name:<20} EXCEEDS: {what}");
        }
        // A measurement on fewer inputs does not replace one on more.
        let before = results.get(name).and_then(Figures::from_json).map_or(0, |before| before.inputs);
        if !check && figures.inputs >= before {
            results.set(name.clone(), figures.to_json())?;
        }
    }
    if !check {
        std::fs::write(root.join("docs/accuracy.md"), page::page(&results))?;
    }
    if exceeded > 0 { Err(format!("{exceeded} exceed their bounds").into()) } else { Ok(()) }
}

/// The figures over all inputs, from where an earlier run stopped.
fn measured(measurement: &Measurement, progress: &mut Results) -> Result<Figures, Box<dyn Error>> {
    let (compiled, chunks) = (measurement.compile()?, measurement.chunks());
    let name = format!("{} of {}", measurement.name, measurement.inputs.len());
    let started = progress.get(&name).and_then(|value| Some((value["chunks"].as_u64()?, Figures::from_json(value)?)));
    let (mut done, mut figures) = started.unwrap_or_default();
    let style = ProgressStyle::with_template("{msg:<24} {wide_bar} {percent:>3} % {eta:>6}")?;
    let bar = ProgressBar::new(chunks).with_style(style).with_message(name.clone());
    while done < chunks {
        let batch = done..chunks.min(done + BATCH);
        bar.set_position(done);
        let found: Vec<Figures> =
            batch.clone().into_par_iter().map(|chunk| compiled.chunk(chunk)).collect::<Result<_, _>>()?;
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
