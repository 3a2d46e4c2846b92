//! Growth of each stage's time with the program: programs of many kinds, ten times as large from row to row, on a thread with a small
//! stack. Linear is ten times the time. Columns: milliseconds of each stage of the first call, of a second call, and of the drop; `x`, the
//! factor to the previous row; the launches of a call; the longest compile time of a kernel; bytes of the program per node.

use crate::growing::{ELEMENTS, SORTS, Sort};
use clap::Args;
use ndjit::{Array, Result, jit};
use std::time::{Duration, Instant};

/// Times each stage of programs that grow.
#[derive(Args)]
pub struct Scale {
    /// Programs, separated by commas; all of them otherwise.
    #[arg(long, value_delimiter = ',')]
    programs: Vec<String>,
    /// Nodes of the smallest programs.
    #[arg(long, default_value_t = 1_000)]
    least: usize,
    /// Nodes of the largest programs.
    #[arg(long, default_value_t = 1_000_000)]
    most: usize,
}

/// Bytes of the thread's stack, too small for recursion over programs.
const STACK: usize = 256 << 10;
/// The printed stages.
const STAGES: &[&str] = &[
    "trace",
    "inline",
    "commit",
    "simplify",
    "networks",
    "gathers",
    "windows",
    "views",
    "accesses",
    "fuse",
    "tile",
    "schedule",
    "trips",
    "loop_kernels",
    "split",
    "expand",
    "legalize",
    "compile",
];

impl Scale {
    /// Prints a row for each program and size.
    pub fn run(self) -> Result<()> {
        print!("{:<16} {:>8}", "program", "nodes");
        for stage in STAGES.iter().chain(&["call", "drop", "all", "x"]) {
            print!(" {stage:>9}");
        }
        println!(" {:>9} {:>9} {:>9}", "launches", "slowest", "bytes");
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || self.rows());
        let rows = thread.map(std::thread::JoinHandle::join);
        match rows {
            Ok(Ok(rows)) => rows,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => std::panic::resume_unwind(Box::new(error.to_string())),
        }
    }

    fn rows(&self) -> Result<()> {
        for sort in SORTS.iter().filter(|sort| self.programs.is_empty() || self.programs.iter().any(|p| p == sort.name))
        {
            let mut before = None;
            let mut nodes = self.least;
            while nodes <= self.most {
                let all = row(sort, nodes, before)?;
                before = Some(all);
                nodes *= 10;
            }
        }
        Ok(())
    }
}

/// Prints a row; returns the time of all stages.
fn row(sort: &Sort, nodes: usize, before: Option<Duration>) -> Result<Duration> {
    let function = (sort.make)(nodes);
    let f = jit(function).fuse(sort.fuse).threads(1);
    let (x, y) = (Array::from([1f32; ELEMENTS]), Array::from([0.25f32; ELEMENTS]));
    let before_call = resident();
    drop(f.call((&x, &y))?);
    let held = resident().saturating_sub(before_call);
    let start = Instant::now();
    drop(f.call((&x, &y))?);
    let call = start.elapsed();
    let stats = f.stats();
    let start = Instant::now();
    drop(f);
    let dropped = start.elapsed();
    let time =
        |stage: &str| stats.stages.iter().find(|(name, _)| *name == stage).map_or(Duration::ZERO, |(_, time)| *time);
    print!("{:<16} {nodes:>8}", sort.name);
    for stage in STAGES {
        print!(" {:>9}", milliseconds(time(stage)));
    }
    let all = stats.time() + dropped;
    let factor = before.map_or_else(String::new, |before| format!("{:.1}", all.as_secs_f64() / before.as_secs_f64()));
    let slowest = stats.kernels.iter().map(|kernel| kernel.slowest_compile).max().unwrap_or_default();
    print!(" {:>9} {:>9} {:>9} {factor:>9}", milliseconds(call), milliseconds(dropped), milliseconds(all));
    println!(" {:>9} {:>9} {:>9}", stats.kernels.len(), milliseconds(slowest), held / nodes);
    Ok(all)
}

/// Resident bytes of the process; 0 if unknown.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<usize>().ok()).unwrap_or(0) * 1024
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}
