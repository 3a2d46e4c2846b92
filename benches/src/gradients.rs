//! Values and gradients of functions, compared with JAX's: `ndjit-bench gradients --peers jax.jsonl` prints a table; `python
//! benches/peers/gradients.py > jax.jsonl` measures the same functions on as many elements. `--threads 1` and 2 are measured there too.

use crate::batches::BATCHED;
use crate::timing::time;
use clap::Args;
use ndjit::{Array, Expr, FunctionStats, Stage, grad, jit, keepdims, scan, sum, value_and_grad, wrt};
use serde_json::{Value, json};
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

/// A function of arrays, compiled.
pub struct Compiled {
    pub call: Box<dyn Fn() -> ndjit::Result<()>>,
    pub explain: Box<dyn Fn(Stage) -> String>,
    pub stats: Box<dyn Fn() -> FunctionStats>,
}

/// A function, and the same with its gradient.
pub struct Pair {
    pub value: Compiled,
    pub gradient: Compiled,
}

macro_rules! compiled {
    ($threads:expr, $function:expr, $($argument:ident),+) => {{
        let f = std::rc::Rc::new(jit($function).threads($threads));
        let (explained, counted, ($($argument,)+)) = (f.clone(), f.clone(), ($($argument.clone(),)+));
        Compiled {
            call: Box::new(move || f.call(($(&$argument,)+)).map(drop)),
            explain: Box::new(move |stage| explained.explain(stage)),
            stats: Box::new(move || counted.stats()),
        }
    }};
}

pub(crate) use compiled;

macro_rules! pair {
    ($threads:expr, $function:expr, $x:ident) => {
        Pair { value: compiled!($threads, $function, $x), gradient: compiled!($threads, value_and_grad($function), $x) }
    };
}

/// Approximately normal values with random mantissas: sums of a few uniform ones.
pub fn normal(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    (0..count).map(|_| (0..6).map(|_| next()).sum::<f32>() * 1.414 - 4.242).collect()
}

pub fn matrix(rows: isize, columns: isize, seed: u64) -> Array {
    Array::from(normal((rows * columns) as usize, seed)).reshape([rows, columns])
}

/// Builds a pair for so many threads.
pub type Made = fn(usize) -> Pair;

pub const FUNCTIONS: &[(&str, Made)] = &[
    ("lse", |threads| {
        let x = Array::from(normal(1_000_000, 1));
        pair!(threads, |x: Expr| ndjit::logsumexp(x, ..), x)
    }),
    ("sin_exp", |threads| {
        let x = Array::from(normal(1_000_000, 2));
        pair!(threads, |x: Expr| sum(ndjit::sin(x) * ndjit::exp(-x * x), ..), x)
    }),
    ("std", |threads| {
        let x = Array::from(normal(1_000_000, 3));
        pair!(threads, |x: Expr| ndjit::std(x, ..), x)
    }),
    ("cross_entropy", |threads| {
        let x = matrix(4096, 1000, 4);
        let labels = Array::from((0..4096).map(|n| n % 1000).collect::<Vec<i64>>());
        let f = move |x: Expr| {
            let log_softmax = x - ndjit::logsumexp(x, keepdims(1));
            let index = ndjit::reshape(Expr::from(&labels), [4096, 1]);
            -ndjit::mean(ndjit::take_along_axis(log_softmax, index, 1), ..)
        };
        let g = f.clone();
        Pair { value: compiled!(threads, f, x), gradient: compiled!(threads, value_and_grad(g), x) }
    }),
    ("layer_norm", |threads| {
        let x = matrix(4096, 1024, 5);
        let f = |x: Expr| {
            let y = (x - ndjit::mean(x, keepdims(1))) / ndjit::sqrt(ndjit::var(x, keepdims(1)) + 1e-5);
            sum(y * y * y, ..)
        };
        pair!(threads, f, x)
    }),
    ("tanh_matmul", |threads| {
        let (a, b) = (matrix(512, 512, 6), matrix(512, 512, 7));
        let f = |a: Expr, b: Expr| sum(ndjit::tanh(ndjit::matmul(a, b)), ..);
        Pair { value: compiled!(threads, f, a, b), gradient: compiled!(threads, wrt((0, 1)).value_and_grad(f), a, b) }
    }),
    ("scan", |threads| {
        let h = Array::from(normal(10_000, 8));
        let f = |h: Expr| {
            let steps = Expr::from(ndjit::zeros(1000));
            sum(scan(|c: Expr, _: Expr| (ndjit::tanh(c * 1.01 + 0.1), ()), h, steps).0, ..)
        };
        pair!(threads, f, h)
    }),
    ("cumprod", |threads| {
        let x = Array::from(normal(100_000, 9));
        pair!(threads, |x: Expr| sum(ndjit::cumulative_prod(x * 1e-3 + 1.0, 0), ..), x)
    }),
    ("prod", |threads| {
        let x = Array::from(normal(100_000, 10));
        pair!(threads, |x: Expr| ndjit::prod(x * 1e-3 + 1.0, ..), x)
    }),
    ("sort", |threads| {
        let x = Array::from(normal(100_000, 11));
        pair!(threads, |x: Expr| sum(ndjit::sort(x, 0) * ndjit::arange(100_000), ..), x)
    }),
    ("gather", |threads| {
        let index =
            Array::from(normal(1_000_000, 12).iter().map(|x| (x.abs() * 1e4) as i64 % 1000).collect::<Vec<i64>>());
        let w = Array::from(normal(1000, 13));
        let f = move |w: Expr| sum(ndjit::sin(ndjit::take(w, &index, 0)), ..);
        let g = f.clone();
        Pair { value: compiled!(threads, f, w), gradient: compiled!(threads, value_and_grad(g), w) }
    }),
    ("windows", |threads| {
        let x = Array::from(normal(1_000_000, 14));
        let f = |x: Expr| sum(ndjit::square(sum(ndjit::sliding_window(x, 16, 0), 1)), ..);
        pair!(threads, f, x)
    }),
    ("gmm", |threads| {
        let (n, k, d) = (1000, 25, 10);
        let (alpha, mu) = (Array::from(normal(25, 15)), matrix(k, d, 16));
        let (q, x) = (matrix(k, d, 17), matrix(n, d, 18));
        let f = move |alpha: Expr, mu: Expr, q: Expr| {
            let apart = Expr::from(&x).reshape([n, 1, d]) - mu;
            let scaled = apart * ndjit::exp(q);
            let likely = alpha + sum(q, 1) - sum(scaled * scaled, 2) * 0.5;
            sum(ndjit::logsumexp(likely, 1), ..) - ndjit::logsumexp(alpha, ..) * 1000.0
        };
        let g = f.clone();
        Pair {
            value: compiled!(threads, f, alpha, mu, q),
            gradient: compiled!(threads, wrt((0, 1, 2)).value_and_grad(g), alpha, mu, q),
        }
    }),
    ("second", |threads| {
        let x = Array::from(normal(1_000_000, 19));
        let f = |x: Expr| sum(grad(|x: Expr| sum(ndjit::tanh(x) * x, ..))(x), ..);
        pair!(threads, f, x)
    }),
];

/// Times values and gradients.
#[derive(Args)]
pub struct Gradients {
    /// Where lines of JSON go.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Lines of JAX: a table is printed.
    #[arg(long)]
    peers: Option<PathBuf>,
    /// Functions, separated by commas; all of them otherwise.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Functions of lanes in place of those of arrays.
    #[arg(long)]
    batched: bool,
    /// Threads.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// Seconds that each function is timed for.
    #[arg(long, default_value_t = 0.5)]
    budget: f64,
    /// Prints a stage, `graph`, `kernels` or `loops`, or `stats`, of a gradient in place of timing.
    #[arg(long)]
    explain: Option<String>,
}

impl Gradients {
    /// Runs them.
    pub fn run(self) -> Result<(), Box<dyn Error>> {
        let peers: Vec<Value> = match &self.peers {
            Some(path) => BufReader::new(File::open(path)?)
                .lines()
                .map(|line| Ok::<Value, Box<dyn Error>>(serde_json::from_str(&line?)?))
                .collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        let mut out: Option<File> = self.json.as_ref().map(File::create).transpose()?;
        println!(
            "| function | threads | value ms | value and gradient ms | ratio | first calls ms | ratio | JAX's ms | JAX / ours |"
        );
        println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
        let mut ratios: Vec<f64> = Vec::new();
        let wanted = |name: &str| self.only.is_empty() || self.only.iter().any(|only| only == name);
        let functions = if self.batched { BATCHED } else { FUNCTIONS };
        for (name, make) in functions.iter().filter(|(name, _)| wanted(name)) {
            for &threads in &self.threads {
                let pair = make(threads);
                let first = |f: &Compiled| {
                    let begin = std::time::Instant::now();
                    (f.call)().map(|()| begin.elapsed().as_secs_f64())
                };
                let [first_value, first_gradient] = [first(&pair.value)?, first(&pair.gradient)?];
                if let Some(stage) = &self.explain {
                    match stage.as_str() {
                        "graph" => println!("{}", (pair.gradient.explain)(Stage::Graph)),
                        "loops" => println!("{}", (pair.gradient.explain)(Stage::Loops)),
                        "stats" => println!("{}", (pair.gradient.stats)()),
                        _ => println!("{}", (pair.gradient.explain)(Stage::Kernels)),
                    }
                    continue;
                }
                let [value, gradient] = [&pair.value, &pair.gradient].map(|f| {
                    time(self.budget, || {
                        let _ = (f.call)();
                    })
                });
                let of = |line: &&Value| line["function"] == *name && line["threads"] == threads;
                let jax = peers.iter().find(of).and_then(|line| line["gradient_s"].as_f64());
                ratios.extend(jax.map(|jax| jax / gradient.least));
                let shown = jax.map_or_else(
                    || " | |".to_owned(),
                    |jax| format!("{:.3} | {:.2} |", jax * 1e3, jax / gradient.least),
                );
                println!(
                    "| {name} | {threads} | {:.3} | {:.3} | {:.1} | {:.1}, {:.1} | {:.1} | {shown}",
                    value.least * 1e3,
                    gradient.least * 1e3,
                    gradient.least / value.least,
                    first_value * 1e3,
                    first_gradient * 1e3,
                    first_gradient / first_value,
                );
                if let Some(out) = &mut out {
                    let line = json!({"backend": "ndjit", "function": name, "threads": threads, "value_s": value.least,
                        "gradient_s": gradient.least, "first_s": [first_value, first_gradient]});
                    writeln!(out, "{line}")?;
                }
            }
        }
        if !ratios.is_empty() {
            let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
            println!("| geometric mean | | | | | | | | {mean:.2} |");
        }
        Ok(())
    }
}
