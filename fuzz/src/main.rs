//! Drives the fuzz targets on a stable compiler: `cargo run -p ndjit-fuzz -- TARGET --seconds 60 [--seed N]`.
//! `TARGET` is a name, or `all`; `-- TARGET FILE` runs one file. Without `--release` arithmetic overflow is a finding.
//! `-- campaign TARGET --seconds 600` tries new inputs, from the number of `--seed` on, and adds its counts to `fuzz/counts.csv` and
//! `docs/reliability.md`.
//! Other commands: `-- refusals` runs programs whose large blocks are refused in turn, `-- limited` runs them once, in a process with
//! little memory, and `-- soak --threads 64 --calls 100000 --functions 100000` runs long. `campaign refusals` and `campaign soak` count
//! them.
//!
//! A finding is an input that panics, takes more than a second of processor time, or allocates more than 256 MB (programs: 1 GB). It is
//! reduced and written to `fuzz/findings/`, and the exit status is 1. An input that ends the process (an abort, a stack overflow: the stack
//! is small) or never ends stays there as `running-TARGET-PROCESS`. Instead of coverage, inputs are kept by outcome: the error of a parser,
//! or the function of a call.

#![forbid(unsafe_code)]

use ndjit_fuzz::counts::{self, Row};
use ndjit_fuzz::mutate::Mutator;
use ndjit_fuzz::outcome::Outcome;
use ndjit_fuzz::refusals::{PROGRAMS, check, is_of_memory};
use ndjit_fuzz::{TARGETS, Target, soak};
use ndjit_runtime::CountingAllocator;
use std::any::Any;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The timeout of an input, which ends the process.
const GIVEN_UP: Duration = Duration::from_secs(10);
/// The stack size, which limits recursion.
const STACK: usize = 1 << 20;
/// The time limit of reducing a finding.
const SMALLER: Duration = Duration::from_secs(10);
/// The maximum number of findings per target.
const MOST_FINDINGS: usize = 5;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let campaign = arguments.first().is_some_and(|argument| argument == "campaign");
    arguments.drain(..usize::from(campaign));
    let option = |name: &str, usual: u64| match arguments.iter().position(|argument| argument == name) {
        Some(at) => arguments.get(at + 1).and_then(|value| value.parse().ok()),
        None => Some(usual),
    };
    let run = arguments.first().map_or("", String::as_str);
    let numbers = [("--elements", 1 << 22), ("--threads", 64), ("--calls", 100_000), ("--functions", 100_000)];
    if let ("refusals" | "limited" | "soak", [Some(elements), Some(threads), Some(calls), Some(functions)]) =
        (run, numbers.map(|(name, usual)| option(name, usual)))
    {
        let here = if campaign { counts::here().map(Some) } else { Ok(None) };
        let findings = here.and_then(|here| match run {
            "limited" => Ok(limited(elements as usize)),
            "refusals" => refusals(arguments.get(1), here),
            _ => soaked(threads, calls, functions, here),
        });
        return match findings {
            Ok(findings) => ExitCode::from(u8::from(findings > 0)),
            Err(error) => {
                eprintln!("{run}: {error}");
                ExitCode::from(2)
            }
        };
    }
    let named = |target: &&Target| arguments.first().is_some_and(|name| name == "all" || name == target.name);
    let targets: Vec<&Target> = TARGETS.iter().filter(named).collect();
    let (Some(seconds), Some(seed), false) = (option("--seconds", 60), option("--seed", 1), targets.is_empty()) else {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        let names = names.join("|");
        eprintln!(
            "usage: ndjit-fuzz [campaign] all|{names} [--seconds N] [--seed N]\n       ndjit-fuzz TARGET FILE\n       \
             ndjit-fuzz [campaign] refusals [PROGRAM]\n       ndjit-fuzz [campaign] soak [--threads N] [--calls N] [--functions N]\n       \
             ndjit-fuzz limited [--elements N]"
        );
        return ExitCode::from(2);
    };
    // Panics are reported once, with their input.
    std::panic::set_hook(Box::new(|_| {}));
    let file = arguments.get(1).filter(|argument| !argument.starts_with("--"));
    let mut findings = 0;
    for target in targets {
        let run = || match file {
            Some(file) => one(target, Path::new(file)),
            None if campaign => counted(target, Duration::from_secs(seconds), seed),
            None => Ok(many(target, Duration::from_secs(seconds), seed)?.1.len()),
        };
        let ran = std::thread::scope(|scope| {
            std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, run)?
                .join()
                .map_err(|panic| std::io::Error::other(format!("the driver itself panicked: {}", words(&*panic))))?
        });
        match ran {
            Ok(found) => findings += found,
            Err(error) => {
                eprintln!("{}: {error}", target.name);
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::from(u8::from(findings > 0))
}

/// Refuses large blocks to the programs of [`PROGRAMS`], or to one of them; returns the number of findings.
fn refusals(only: Option<&String>, here: Option<Row>) -> Result<u64, String> {
    if let Some(name) = only.filter(|name| PROGRAMS.iter().all(|program| *name != program.0)) {
        let names: Vec<&str> = PROGRAMS.iter().map(|program| program.0).collect();
        return Err(format!("there is no program {name}; there are {}", names.join(", ")));
    }
    let (mut blocks, mut findings) = (0, 0);
    for program in PROGRAMS.iter().filter(|program| only.is_none_or(|name| name == program.0)) {
        match check(program) {
            Ok(refused) => {
                println!("{}: {refused} blocks refused", program.0);
                blocks += refused;
            }
            Err(what) => {
                println!("{what}");
                findings += 1;
            }
        }
    }
    count(&here, "refusals", blocks, findings)?;
    Ok(findings)
}

/// Runs the programs of [`PROGRAMS`] under the system's memory limit: prints a line for each, with its bits or its error, then the peak
/// address space. Returns the number of errors other than refused memory.
fn limited(elements: usize) -> u64 {
    let mut others = 0;
    for (name, run) in PROGRAMS {
        match run(elements) {
            Ok(bits) => println!("{name}: {bits:016x}"),
            Err(error) => {
                println!("{name}: {}", error.code().name());
                if !is_of_memory(error.code()) {
                    eprintln!("{error}");
                    others += 1;
                }
            }
        }
    }
    println!("peak: {}", soak::status("VmPeak:"));
    others
}

/// Threads that share functions, then distinct functions, ten calls of each; returns the number of findings.
fn soaked(threads: u64, calls: u64, functions: u64, here: Option<Row>) -> Result<u64, String> {
    let told = |done: u64, resident: u64| println!("{done} functions: {} KiB", resident >> 10);
    let wrong = soak::threads(threads, calls).map_err(|error| error.to_string())?;
    println!("{threads} threads, {calls} calls each: {wrong} wrong");
    count(&here, "threads", threads * calls, wrong)?;
    let growth = soak::functions(functions, soak::CALLS, told).map_err(|error| error.to_string())?;
    println!("{functions} functions, {} calls: {} KiB added", functions * soak::CALLS, growth.bytes() >> 10);
    let grown = u64::from(growth.bytes() > soak::MOST_GROWTH);
    count(&here, "functions", functions * soak::CALLS, grown)?;
    Ok(wrong + grown)
}

/// Adds a campaign's run to the counts.
fn count(here: &Option<Row>, target: &str, executions: u64, findings: u64) -> Result<(), String> {
    match here.clone() {
        Some(here) => counts::append(Row { target: target.to_owned(), first: 1, executions, findings, ..here }),
        None => Ok(()),
    }
}

/// Runs one file; returns the number of findings.
fn one(target: &Target, file: &Path) -> std::io::Result<usize> {
    ndjit_fuzz::api::ALOUD.store(true, Relaxed);
    let result = execute(target, &std::fs::read(file)?);
    println!("{}: {}", target.name, result.as_ref().unwrap_or_else(|found| found));
    Ok(usize::from(result.is_err()))
}

/// Runs new inputs, from the number `least` on, and counts them; returns the number of findings.
fn counted(target: &Target, time: Duration, least: u64) -> std::io::Result<usize> {
    let known = counts::read().map_err(std::io::Error::other)?;
    let first = counts::next(&known, target.name, target.numbered).max(least);
    let here = counts::here().map_err(std::io::Error::other)?;
    let (executions, found) = many(target, time, first)?;
    let row = Row { target: target.name.to_owned(), first, executions, findings: found.len() as u64, ..here };
    counts::append(row).map_err(std::io::Error::other)?;
    Ok(found.len())
}

/// Runs random inputs; returns their number, and the findings.
fn many(target: &Target, time: Duration, seed: u64) -> std::io::Result<(u64, Vec<String>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("findings");
    std::fs::create_dir_all(&folder)?;
    // Several processes may run a target.
    let running = folder.join(format!("running-{}-{}", target.name, std::process::id()));
    let mut current = File::create(&running)?;
    let seeds = (target.seeds)();
    println!("{}: {} seeds, {} s, seed {seed}", target.name, seeds.len(), time.as_secs());
    let mut mutator = Mutator::new(seed, seeds);
    // Start of the input, in milliseconds since the beginning.
    let (start, began) = (Instant::now(), AtomicU64::new(0));
    let (mut executions, mut findings) = (0u64, Vec::new());
    std::thread::scope(|scope| {
        let (done, finished) = std::sync::mpsc::channel::<()>();
        scope.spawn({
            let (began, running) = (&began, &running);
            move || {
                while finished.recv_timeout(Duration::from_millis(500)).is_err_and(|e| e == TIMEOUT) {
                    if start.elapsed() > Duration::from_millis(began.load(Relaxed)) + GIVEN_UP {
                        eprintln!("{}: an input takes longer than {GIVEN_UP:?}: {}", target.name, running.display());
                        std::process::exit(1);
                    }
                }
            }
        });
        while start.elapsed() < time && findings.len() < MOST_FINDINGS {
            let input = match target.numbered {
                true => (seed + executions).to_le_bytes().to_vec(),
                false => mutator.next(),
            };
            current.rewind()?;
            current.write_all(&input)?;
            current.set_len(input.len() as u64)?;
            began.store(start.elapsed().as_millis() as u64, Relaxed);
            executions += 1;
            match execute(target, &input) {
                Ok(outcome) => mutator.learn(&input, outcome),
                Err(found) if findings.iter().any(|known: &String| kind(known) == kind(&found)) => {}
                Err(found) => {
                    let small = smaller(target, &input, &found, &began, start);
                    let file = folder.join(format!("{}-{seed}-{executions}", target.name));
                    std::fs::write(&file, &small)?;
                    println!("{}: {found}\n  {} bytes: {}", target.name, small.len(), file.display());
                    findings.push(found);
                }
            }
        }
        drop(done);
        Ok::<(), std::io::Error>(())
    })?;
    let rate = executions as f64 / start.elapsed().as_secs_f64();
    let (outcomes, found) = (mutator.outcomes(), findings.len());
    println!("{}: {executions} executions, {rate:.0}/s, {outcomes} outcomes, {found} findings", target.name);
    std::fs::remove_file(&running)?;
    Ok((executions, findings))
}

const TIMEOUT: std::sync::mpsc::RecvTimeoutError = std::sync::mpsc::RecvTimeoutError::Timeout;

/// Runs one input: its outcome, or its finding.
fn execute(target: &Target, input: &[u8]) -> Result<Outcome, String> {
    let (start, before) = (taken(), CountingAllocator::counts());
    let outcome =
        catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|panic| format!("panic: {}", words(&*panic)))?;
    let (time, bytes) = (taken().saturating_sub(start), CountingAllocator::counts().bytes - before.bytes);
    if time > target.most_time {
        return Err(format!("time: {time:?}"));
    }
    if bytes > target.most_bytes {
        return Err(format!("memory: {} MB", bytes >> 20));
    }
    Ok(outcome)
}

/// The message of a panic.
fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without words")
}

/// Processor time of this thread, independent of other processes; wall time if the system lacks it.
fn taken() -> Duration {
    thread_local! {
        static SAYS: Option<File> = File::open("/proc/thread-self/schedstat").ok();
    }
    let nanoseconds = SAYS.with(|file| {
        let (mut file, mut text) = (file.as_ref()?, [0; 64]);
        file.rewind().ok()?;
        let read = file.read(&mut text).ok()?;
        std::str::from_utf8(&text[..read]).ok()?.split(' ').next()?.parse().ok()
    });
    match nanoseconds {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => std::time::UNIX_EPOCH.elapsed().unwrap_or_default(),
    }
}

/// The common part of similar findings: panic messages up to their first number, otherwise slow or large.
fn kind(found: &str) -> &str {
    let end = if found.starts_with("panic") { found.find(|c: char| c.is_ascii_digit()) } else { found.find(':') };
    &found[..end.unwrap_or(found.len())]
}

/// Removes ever smaller parts that are not needed for a finding of the same kind.
fn smaller(target: &Target, input: &[u8], found: &str, began: &AtomicU64, start: Instant) -> Vec<u8> {
    let (mut small, until) = (input.to_vec(), Instant::now() + SMALLER);
    let mut part = small.len().div_ceil(2);
    while part > 0 {
        let mut at = 0;
        while at < small.len() && Instant::now() < until {
            let mut candidate = small.clone();
            candidate.drain(at..(at + part).min(small.len()));
            began.store(start.elapsed().as_millis() as u64, Relaxed);
            match execute(target, &candidate) {
                Err(other) if kind(&other) == kind(found) => small = candidate,
                _ => at += part,
            }
        }
        part /= 2;
    }
    small
}
