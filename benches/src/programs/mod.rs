//! Whole programs with loops, compared with plain Rust and other libraries.
//!
//! `ndjit-bench programs --json ours.jsonl` compares the results of each program with a loop in Rust, then times both, and the first call.
//! `python benches/peers/programs.py > peers.jsonl` times NumPy, numba and JAX on the same data and numbers of steps.
//! `ndjit-bench programs --from ours.jsonl --peers peers.jsonl` prints one table of both; without `--from` it measures first.
//! `ndjit-bench programs --only wave --explain kernels` prints the compiled program.

mod bodies;
mod bytes;
mod flow;
#[cfg(test)]
mod memory;
mod recurrences;
mod relaxation;
mod series;
mod solves;
mod stencils;
mod table;
mod tables;

use crate::timing::time;
use clap::Args;
use ndjit::{Array, DType, FunctionStats, Stage};
use serde_json::json;
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Threads of every program.
pub const THREADS: usize = 2;

/// A traced function and its arguments.
pub struct Called {
    call: Box<dyn Fn() -> ndjit::Result<Vec<Array>>>,
    explain: Box<dyn Fn(Stage) -> String>,
    stats: Box<dyn Fn() -> FunctionStats>,
}

/// The compiled function of a closure that returns a `Vec` of results, with arrays as arguments.
macro_rules! called {
    ($function:expr, $($argument:ident),+) => {{
        let f = std::rc::Rc::new(ndjit::jit($function).threads($crate::programs::THREADS));
        let (explained, counted, ($($argument,)+)) = (f.clone(), f.clone(), ($($argument.clone(),)+));
        $crate::programs::Called {
            call: Box::new(move || f.call(($(&$argument,)+))),
            explain: Box::new(move |stage| explained.explain(stage)),
            stats: Box::new(move || counted.stats()),
        }
    }};
}
use called;

/// A program of one size, ready to run.
pub struct Case {
    /// The size, in words.
    pub size: String,
    /// Steps of its loop.
    pub steps: usize,
    /// The program in ndjit.
    pub ours: Called,
    /// The same as a loop in Rust.
    pub rust: Box<dyn Fn() -> Vec<Array>>,
    /// The maximum difference of results, relative to the largest.
    pub within: f64,
}

/// A program: its name, and its constructor, large or small.
type Program = (&'static str, fn(bool) -> Case);

const PROGRAMS: &[Program] = &[
    ("wave", stencils::wave),
    ("life", stencils::life),
    ("gray_scott", stencils::gray_scott),
    ("shock_tube", flow::shock_tube),
    ("gauss_seidel", relaxation::gauss_seidel),
    ("thomas", solves::thomas),
    ("ldlt", solves::ldlt),
    ("forward", solves::forward),
    ("needleman", bytes::needleman),
    ("lcs", tables::lcs),
    ("sieve", tables::sieve),
    ("viterbi", tables::viterbi),
    ("adler32", bytes::adler32),
    ("fnv1a", bytes::fnv1a),
    ("blend", bytes::blend),
    ("logistic", recurrences::logistic),
    ("lorenz", recurrences::lorenz),
    ("kalman", recurrences::kalman),
    ("smoothing", series::smoothing),
    ("median", series::running_median),
    ("histogram", series::histogram),
    ("nbody", bodies::nbody),
];

/// Times whole programs.
#[derive(Args)]
pub struct Programs {
    /// Where lines of JSON go.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Lines measured before, in place of measuring.
    #[arg(long)]
    from: Option<PathBuf>,
    /// Lines of other libraries: a table is printed.
    #[arg(long)]
    peers: Option<PathBuf>,
    /// Programs, separated by commas; all of them otherwise.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Sizes, `S` and `L`.
    #[arg(long, value_delimiter = ',', default_values_t = ["S", "L"].map(String::from))]
    sizes: Vec<String>,
    /// Seconds that each program is timed for.
    #[arg(long, default_value_t = 0.5)]
    budget: f64,
    /// Prints a stage, `graph`, `kernels` or `loops`, or `stats`, of one run in place of timing.
    #[arg(long)]
    explain: Option<String>,
}

impl Programs {
    /// Runs them.
    pub fn run(self) -> Result<(), Box<dyn Error>> {
        let lines = match &self.from {
            Some(path) => table::lines(path)?,
            None => self.measured()?,
        };
        if let Some(peers) = &self.peers {
            println!("{}", table::table(&lines, &table::lines(peers)?));
        }
        Ok(())
    }

    fn measured(&self) -> Result<Vec<serde_json::Value>, Box<dyn Error>> {
        let mut out = self.json.as_ref().map(File::create).transpose()?;
        let mut lines = Vec::new();
        for (name, make) in
            PROGRAMS.iter().filter(|(name, _)| self.only.is_empty() || self.only.iter().any(|o| o == name))
        {
            for size in &self.sizes {
                let case = make(size == "L");
                if let Some(stage) = &self.explain {
                    (case.ours.call)()?;
                    match stage.as_str() {
                        "stats" => println!("{name} {size}\n{}", (case.ours.stats)()),
                        _ => println!("{name} {size}\n{}", (case.ours.explain)(stage_of(stage)?)),
                    }
                    continue;
                }
                let line = case.measure(name, size, self.budget)?;
                eprintln!("{line}");
                if let Some(out) = &mut out {
                    writeln!(out, "{line}")?;
                }
                lines.push(line);
            }
        }
        Ok(lines)
    }
}

fn stage_of(name: &str) -> Result<Stage, String> {
    name.parse()
}

impl Case {
    /// Compares the results, then times both.
    fn measure(&self, name: &str, size: &str, budget: f64) -> Result<serde_json::Value, Box<dyn Error>> {
        let begin = Instant::now();
        let results = (self.ours.call)()?;
        results.iter().try_for_each(|x| x.eval().map(drop))?;
        let first = begin.elapsed().as_secs_f64();
        let sum = agree(&results, &(self.rust)(), self.within).map_err(|wrong| format!("{name} {size}: {wrong}"))?;
        let ours = time(budget, || drop((self.ours.call)()));
        let rust = time(budget.min(0.3), || drop((self.rust)()));
        let kernels = (self.ours.stats)().kernels;
        let inner = kernels.iter().filter(|kernel| kernel.depth > 0).count();
        Ok(json!({
            "kernels": kernels.len(), "kernels_of_a_step": inner, "backend": "ndjit", "program": name, "size": size, "what": self.size, "steps": self.steps, "first_s": first,
            "min_s": ours.least, "median_s": ours.median, "step_s": ours.least / self.steps as f64, "rust_s": rust.least, "sum": sum,
        }))
    }
}

/// The sum of all elements, after comparison with the loop in Rust.
fn agree(ours: &[Array], rust: &[Array], within: f64) -> Result<f64, Box<dyn Error>> {
    if ours.len() != rust.len() {
        return Err("another number of results".into());
    }
    let mut total = 0.0;
    for (n, (ours, rust)) in ours.iter().zip(rust).enumerate() {
        let values = |x: &Array| x.cast(DType::F64).to_vec::<f64>();
        let (ours, rust) = (values(ours)?, values(rust)?);
        if ours.len() != rust.len() {
            return Err(format!("result {n} has {} elements instead of {}", ours.len(), rust.len()).into());
        }
        let scale = rust.iter().fold(0f64, |most, x| most.max(x.abs()));
        let near = |x: f64, y: f64| (x - y).abs() <= within * scale;
        let far = ours.iter().zip(&rust).position(|(&x, &y)| !near(x, y));
        if let Some(i) = far {
            return Err(format!("element {i} of result {n} is {} instead of {}", ours[i], rust[i]).into());
        }
        total += ours.iter().sum::<f64>();
    }
    Ok(total)
}

/// Values in [0, 1), reproducible in other languages: `k * 7919 % 100003 / 100003`.
fn unit(n: usize) -> Vec<f64> {
    (0..n).map(|k| (k * 7919 % 100_003) as f64 / 100_003.0).collect()
}

/// An array of a shape and its elements.
fn array(values: &[f64], shape: &[usize]) -> Array {
    Array::from(values).reshape(shape.to_vec())
}
