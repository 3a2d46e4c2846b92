//! Random programs on every engine of the processor, for as long as one likes: the interpreter, scalar code, vectors of 128 and of 256 bits, the
//! widest ones; results must have the same bits.
//!
//! `cargo run --release --example soak -- [PROGRAMS] [FIRST]` makes so many programs from the seed `FIRST` on: 1000 and 0 if nothing
//! else is said. Each runs on one thread and on two; every other one reads strided parts of larger buffers, every fourth is not fused, every fifth
//! is contracted. A
//! program that differs is made smaller and printed, and the exit status is 1.

#[path = "../tests/engines/mod.rs"]
mod engines;

use engines::{ALL, Matrix, check};
use ndjit_ir::random::{Limits, Program, program, shrink};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How often it is said how far it has come.
const REPORTED: Duration = Duration::from_secs(30);

/// Programs of a few operations to many, every third with branches and loops; those of the most operations have elements of several blocks of the
/// widest vectors, those of the fewest of several blocks of a reduction.
fn limits(seed: u64) -> Limits {
    // Each number with each of the options of `matrix`.
    let nodes = [24, 4, 8, 12, 16, 6, 10, 14][(seed / 4 % 8) as usize];
    let elements = match nodes {
        24 => 700,
        4 => 5000,
        _ => 140,
    };
    Limits { nodes, elements, control: seed.is_multiple_of(3), ..Limits::default() }
}

fn matrix(seed: u64) -> Matrix {
    Matrix {
        fuse: if seed.is_multiple_of(4) { &[false] } else { &[true] },
        threads: &[1, 2],
        strided: if seed.is_multiple_of(2) { &[false] } else { &[true] },
        // Changes with all the others, whose numbers are no multiples of 5.
        fp_contract: seed.is_multiple_of(5),
        // All widths of vectors.
        ..ALL
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (count, first) = match (arguments.next().unwrap_or(Ok(1000)), arguments.next().unwrap_or(Ok(0))) {
        (Ok(count), Ok(first)) => (count, first),
        _ => {
            eprintln!("usage: soak [PROGRAMS] [FIRST SEED]");
            return ExitCode::from(2);
        }
    };
    let (next, done, different) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let start = Instant::now();
    let work = || {
        loop {
            let n = next.fetch_add(1, Relaxed);
            if n >= count || different.load(Relaxed) > 0 {
                return;
            }
            if let Err(report) = one(first + n) {
                different.fetch_add(1, Relaxed);
                println!("{report}");
            }
            done.fetch_add(1, Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..std::thread::available_parallelism().map_or(1, usize::from))
            .map(|_| std::thread::Builder::new().stack_size(32 << 20).spawn_scoped(scope, work))
            .collect();
        let mut reported = Instant::now();
        while workers.iter().flatten().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(100));
            if reported.elapsed() >= REPORTED {
                reported = Instant::now();
                println!("{} programs, {} s", done.load(Relaxed), start.elapsed().as_secs());
            }
        }
    });
    let (done, different) = (done.into_inner(), different.into_inner());
    println!("{done} programs from seed {first}, {different} differ, {} s", start.elapsed().as_secs());
    ExitCode::from(u8::from(different > 0))
}

/// One program on every engine.
fn one(seed: u64) -> Result<(), String> {
    let (made, matrix) = (program(seed, &limits(seed)).map_err(|e| format!("seed {seed}: {e}"))?, matrix(seed));
    let Err(difference) = check(&made, matrix) else { return Ok(()) };
    let small = shrink(&made, |p: &Program| check(p, matrix).is_err());
    let difference = check(&small, matrix).err().unwrap_or(difference);
    Err(format!("seed {seed}: {}: {}\n{small}", difference.engine, difference.what))
}
