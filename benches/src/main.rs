//! Times the kernels of the comparison of array libraries, through the public `jit`.
//!
//! `cargo run --release -p ndjit-bench -- --json out.jsonl` writes one JSON object per line: backend, threads, kernel, dtype, n, mode
//! (`fresh`, `out`, `donate`), the minimum and the median time of a call in seconds, and the number of timed calls. It adds the minimum
//! number of bytes moved and the arithmetic operations per second, relative to the machine's limits probed in the same run. Results are
//! compared with `f64` before timing; a wrong one ends the program. `report` generates `docs/performance.md` from such lines and those of
//! other libraries. `programs` times whole programs with loops: see its module.

mod batches;
mod calls;
mod check;
mod gradients;
#[path = "../../tests/growing/mod.rs"]
mod growing;
mod growth;
mod inputs;
mod kernels;
mod llvm;
mod probe;
mod programs;
mod report;
mod scale;
mod timing;

use clap::Parser;
use kernels::{KERNELS, Kernel, Setting};
use ndjit::{DType, VectorWidth};
use probe::Machine;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Times the kernels that array libraries are compared by.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Where lines of JSON go; without it they are printed.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Kernels to time, separated by commas; all of them otherwise.
    #[arg(long, value_delimiter = ',')]
    kernels: Vec<String>,
    /// Numbers of threads.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// Vectors: `widest`, `256`, `128` or `scalar`.
    #[arg(long, default_value = "widest", value_parser = width)]
    width: VectorWidth,
    /// Without floating-point contraction, which JAX always has, and numba with `fastmath`.
    #[arg(long)]
    strict: bool,
    /// The largest number of elements.
    #[arg(long, default_value_t = 10_000_000)]
    most: usize,
    /// Seconds that each row is timed for.
    #[arg(long, default_value_t = 0.35)]
    budget: f64,
}

/// What is done instead of timing.
#[derive(clap::Subcommand)]
enum Command {
    /// Writes the page of results.
    Report(report::Report),
    /// Compares machine code with LLVM's for the same primitives
    Llvm(llvm::Llvm),
    /// Times each stage of programs that grow.
    Scale(scale::Scale),
    /// Times kernels on arrays that grow.
    Growth(growth::Growth),
    /// Times whole programs with loops beside other libraries.
    Programs(programs::Programs),
    /// Times values and gradients beside JAX.
    Gradients(gradients::Gradients),
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    match arguments.command {
        Some(Command::Report(report)) => return report.write(),
        Some(Command::Llvm(llvm)) => return llvm.run(),
        Some(Command::Scale(scale)) => return Ok(scale.run()?),
        Some(Command::Growth(growth)) => return Ok(growth.run()?),
        Some(Command::Programs(programs)) => return programs.run(),
        Some(Command::Gradients(gradients)) => return gradients.run(),
        None => {}
    }
    let mut out: Box<dyn Write> = match &arguments.json {
        Some(path) => Box::new(BufWriter::new(File::create(path)?)),
        None => Box::new(std::io::stdout()),
    };
    let wanted = |kernel: &Kernel| arguments.kernels.is_empty() || arguments.kernels.iter().any(|k| k == kernel.name);
    for &threads in &arguments.threads {
        let machine = Machine::measure(threads, arguments.budget);
        writeln!(out, "{}", machine.line(threads))?;
        for kernel in KERNELS.iter().filter(|kernel| wanted(kernel)) {
            for (dtype, n) in kernel.cases().filter(|(_, n)| *n <= arguments.most || kernel.sizes.len() == 1) {
                let Arguments { width, budget, strict, .. } = arguments;
                let setting = Setting { threads, width, fp_contract: !strict, budget };
                for row in kernel.time(dtype, n, setting)? {
                    let line = row.line(kernel, dtype, n, threads, &machine);
                    writeln!(out, "{line}")?;
                    if arguments.json.is_some() {
                        eprintln!("{}", row.text(kernel, dtype, n, threads, &machine));
                    }
                }
            }
        }
    }
    for row in calls::rows(arguments.budget)? {
        writeln!(out, "{row}")?;
    }
    for compared in llvm::compare(arguments.budget)? {
        writeln!(out, "{}", compared.line())?;
    }
    out.flush()?;
    Ok(())
}

fn width(name: &str) -> Result<VectorWidth, String> {
    match name {
        "widest" => Ok(VectorWidth::Widest),
        "256" => Ok(VectorWidth::Bits256),
        "128" => Ok(VectorWidth::Bits128),
        "scalar" => Ok(VectorWidth::Scalar),
        _ => Err("`widest`, `256`, `128` or `scalar`".to_owned()),
    }
}

/// The name of a dtype in NumPy.
fn numpy_name(dtype: DType) -> &'static str {
    if dtype == DType::F64 { "float64" } else { "float32" }
}
