//! Every possible failure: each event of each kind of fault, in programs of each form, from one thread and from four. Each injected failure
//! is counted; it gives an error of the right code, or the right results where recovery is possible. The same program gives the right
//! results afterwards, on the device or on a reopened one, and on the CPU.

use super::corpus;
use ndjit_codegen::Lowered;
use ndjit_engines::{ProgramInputs, compare, lowered};
use ndjit_ir::{Error, ErrorCode, Literal, Result};
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_runtime::gpu::{self, Fault, Faults, Gpu, GpuOptions};
use ndjit_runtime::{Argument, DeviceProgram, Fallback, Output};
use ndjit_runtime::{Executable, RunOptions};
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

/// The minimum number of failures of a valid test.
const LEAST: usize = 1000;
/// A longer run hangs.
const DEADLINE: Duration = Duration::from_secs(60);
/// The name of threads that run programs.
const NAME: &str = "a run that fails";

/// Text, and the maximum number of bytes per binding.
const PROGRAMS: &[(&str, Option<u64>, &str)] = &[
    (
        "elements",
        None,
        "graph (%0: f32[300], %1: f32[300], %2: f32[0, 5]) {
           %3 = multiply %0, %1 : f32[300]
           %4 = subtract %3, %0 : f32[300]
           %5 = sum %2 axes [0] : f32[5]
           return %4, %5
         }",
    ),
    (
        "reduction",
        None,
        "graph (%0: i32[40000], %1: i32[40000]) {
           %2 = multiply %0, %1 : i32[40000]
           %3 = sum %2 axes [0] : i32[]
           return %3
         }",
    ),
    (
        "scan",
        None,
        "graph (%0: i32[2, 2100]) {
           %1 = cumulative_sum %0 axis 1 : i32[2, 2100]
           return %1
         }",
    ),
    (
        "chunks",
        Some(1024),
        "graph (%0: i32[1200], %1: f32[1200]) {
           %2 = negative %0 : i32[1200]
           %3 = multiply %1, %1 : f32[1200]
           return %2, %3
         }",
    ),
    (
        "bytes",
        None,
        "graph (%0: u8[1003], %1: u8[1003]) {
           %2 = add %0, %1 : u8[1003]
           %3 = cummax %2 axis 0 : u8[1003]
           return %2, %3
         }",
    ),
];

/// A program, its results, and its machine code.
struct Case {
    name: &'static str,
    max_binding: Option<u64>,
    lowered: Lowered,
    given: ProgramInputs,
    scalars: Vec<(usize, Literal)>,
    expected: Vec<Tensor>,
    cpu: Executable,
}

fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        PROGRAMS.iter().map(|program| case(program).unwrap_or_else(|e| panic!("{}: {e}", program.0))).collect()
    })
}

fn case(&(name, max_binding, text): &(&'static str, Option<u64>, &str)) -> Result<Case> {
    let program = corpus::program(text, 1);
    let given = ProgramInputs::new(&program, false)?;
    let lowered = lowered(&program.graph, &given.layouts, crate::on_device(usize::MAX))?;
    let expected = eval_graph(&lowered.typed, &program.params, &program.scalars)?;
    let cpu = Executable::new(&lowered, &RunOptions::default())?;
    Ok(Case { name, max_binding, lowered, given, scalars: program.scalars, expected, cpu })
}

impl Case {
    fn options(&self) -> GpuOptions {
        GpuOptions { max_binding: self.max_binding, patience: Duration::from_secs(20), ..GpuOptions::default() }
    }

    fn open(&self, faults: &Arc<Faults>) -> Arc<Gpu> {
        Gpu::open_with_faults(self.options(), faults).unwrap_or_else(|e| panic!("{e}"))
    }

    fn results(&self) -> Result<Vec<Tensor>> {
        self.expected.iter().map(|tensor| Tensor::zeros(tensor.dtype, tensor.shape.clone())).collect()
    }

    fn on_gpu(&self, gpu: &Arc<Gpu>) -> Result<Vec<Tensor>> {
        let program = gpu::GpuProgram::new(gpu, &self.lowered, Fallback::Error, &RunOptions::default())?;
        let arguments: Vec<Argument<'_>> =
            self.given.memory.iter().map(|tensor| Argument::Borrowed(&tensor.bytes)).collect();
        let mut results = self.results()?;
        // The first result is read afterwards, the others by the program.
        let mut outputs: Vec<Output<'_>> = vec![Output::Device(None)];
        let (first, others) = results.split_at_mut(1);
        outputs.extend(others.iter_mut().map(|tensor| Output::Into(&mut tensor.bytes)));
        program.run(&mut arguments.into_iter(), &self.scalars, &mut outputs, None)?;
        let Output::Device(Some(memory)) = outputs.swap_remove(0) else { panic!("a fresh output stays empty") };
        memory.download(&mut first[0].bytes)?;
        Ok(results)
    }

    fn on_cpu(&self) -> Result<Vec<Tensor>> {
        let arguments = self.given.memory.iter().map(|tensor| ndjit_runtime::Argument::Borrowed(&tensor.bytes));
        let mut results = self.results()?;
        let mut outputs: Vec<_> =
            results.iter_mut().map(|tensor| ndjit_runtime::Output::Into(&mut tensor.bytes)).collect();
        self.cpu.run(arguments, &self.scalars, &mut outputs)?;
        Ok(results)
    }

    fn right(&self, results: &[Tensor]) -> bool {
        compare(self.name, &self.expected, results).is_ok()
    }
}

/// The outcome of a run.
#[derive(Debug)]
enum End {
    Right,
    Wrong,
    Failed(Error),
    Panicked,
    Hung,
}

/// Runs a program on some threads at once.
fn run(case: &'static Case, gpu: &Arc<Gpu>, threads: usize) -> Vec<End> {
    let (sender, receiver) = mpsc::channel();
    for _ in 0..threads {
        let (sender, gpu) = (sender.clone(), Arc::clone(gpu));
        let body = move || {
            let end = match panic::catch_unwind(AssertUnwindSafe(|| case.on_gpu(&gpu))) {
                Ok(Ok(results)) if case.right(&results) => End::Right,
                Ok(Ok(_)) => End::Wrong,
                Ok(Err(error)) => End::Failed(error),
                Err(_) => End::Panicked,
            };
            // Dropping the device is part of the run.
            let dropped = panic::catch_unwind(AssertUnwindSafe(|| drop(gpu)));
            let _ = sender.send(if dropped.is_ok() { end } else { End::Panicked });
        };
        std::thread::Builder::new().name(NAME.into()).spawn(body).expect("a thread");
    }
    drop(sender);
    (0..threads).map(|_| receiver.recv_timeout(DEADLINE).unwrap_or(End::Hung)).collect()
}

/// The outcomes of all failures.
#[derive(Default)]
struct Tally {
    injected: usize,
    fired: u64,
    made_good: usize,
    errors: BTreeMap<&'static str, usize>,
    hangs: usize,
    wrong: usize,
    panicked: usize,
    kinds: BTreeMap<String, usize>,
    complaints: Vec<String>,
}

impl Tally {
    /// Records the outcomes of the runs of one failure, and whether they are allowed.
    fn add(&mut self, what: &str, kind: String, ends: &[End], fired: u64, codes: &[ErrorCode], may_be_right: bool) {
        self.injected += 1;
        self.fired += fired;
        *self.kinds.entry(kind).or_default() += 1;
        let mut failed = 0;
        for end in ends {
            match end {
                End::Right => {}
                End::Wrong => self.wrong += 1,
                End::Panicked => self.panicked += 1,
                End::Hung => self.hangs += 1,
                End::Failed(error) => {
                    failed += 1;
                    *self.errors.entry(error.code().name()).or_default() += 1;
                    if !codes.contains(&error.code()) {
                        self.complaints.push(format!("{what}: {error}"));
                    }
                }
            }
        }
        self.made_good += usize::from(failed == 0);
        if failed == 0 && !may_be_right {
            self.complaints.push(format!("{what}: nobody failed: {ends:?}"));
        }
    }

    fn must(&mut self, holds: bool, what: impl fmt::Display) {
        if !holds {
            self.complaints.push(what.to_string());
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors: usize = self.errors.values().sum();
        write!(
            f,
            "{} failures injected, {} fired: {errors} errors by code {:?}, {} made good, {} panics, {} hangs, {} wrong results",
            self.injected, self.fired, self.errors, self.made_good, self.panicked, self.hangs, self.wrong
        )
    }
}

/// Panics of threads that run programs, except those of naga and of wgpu's waits.
static UNEXPECTED: AtomicUsize = AtomicUsize::new(0);
static EXPECTED: AtomicUsize = AtomicUsize::new(0);

fn count_panics() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() == Some(NAME) {
            let naga = info.location().is_some_and(|location| location.file().contains("naga"));
            if naga || info.payload_as_str().is_some_and(|text| text.starts_with("claimed: ")) {
                EXPECTED.fetch_add(1, SeqCst);
                return;
            }
            UNEXPECTED.fetch_add(1, SeqCst);
        }
        before(info);
    }));
}

/// The error codes that a fault may cause.
fn codes(fault: Fault) -> &'static [ErrorCode] {
    match fault {
        Fault::Budget | Fault::Size | Fault::Memory => &[ErrorCode::Allocation],
        Fault::Silence | Fault::Fatal | Fault::Destroy | Fault::DestroyLate | Fault::Limits => &[ErrorCode::Device],
        Fault::ShortLimits => &[ErrorCode::Allocation, ErrorCode::Backend],
        _ => &[ErrorCode::Backend],
    }
}

/// The number of attempts before a refusal is an error: for a budget also after freeing buffers for reuse, and kept elements.
fn asked(fault: Fault) -> u64 {
    match fault {
        Fault::Budget => 3,
        Fault::Size | Fault::Memory => 2,
        _ => 1,
    }
}

fn kills(fault: Fault) -> bool {
    matches!(fault, Fault::Fatal | Fault::Destroy | Fault::DestroyLate)
}

/// Every event of a kind, in order. `times` consecutive ones fail.
fn sweep(tally: &mut Tally, case: &'static Case, fault: Fault, times: u64, threads: usize) {
    let faults = Arc::new(Faults::new());
    let mut gpu = case.open(&faults);
    for event in 1.. {
        let what = format!("{}, {fault:?} {event} (of {times} in a row), {threads} threads", case.name);
        gpu.trim();
        if matches!(fault, Fault::Compile | Fault::Translate | Fault::Pipeline) {
            gpu.forget_kernels();
        }
        faults.arm(fault, event..event + times);
        let ends = run(case, &gpu, threads);
        faults.disarm();
        if faults.fired() == 0 {
            tally.must(
                ends.iter().all(|end| matches!(end, End::Right)),
                format_args!("{what}: without a fault: {ends:?}"),
            );
            tally.must(event > 1, format_args!("{what}: there is no such event"));
            return;
        }
        let retried = times < asked(fault);
        if retried && fault != Fault::Memory {
            let right = ends.iter().all(|end| matches!(end, End::Right));
            tally.must(right, format_args!("{what}: it was not made good: {ends:?}"));
        }
        // The last events may follow the results; with several threads the others may have ended between the event and its effect.
        let last = kills(fault) && (threads > 1 || faults.seen() == event);
        let may_be_right = retried || last;
        tally.add(&what, format!("{fault:?}"), &ends, faults.fired(), codes(fault), may_be_right);
        if ends.iter().any(|end| matches!(end, End::Hung)) {
            return;
        }
        if kills(fault) {
            let ends = run(case, &gpu, 1);
            let lost = matches!(&ends[..], [End::Failed(error)] if error.code() == ErrorCode::Device);
            tally.must(lost, format_args!("{what}: later: {ends:?}"));
            gpu = case.open(&faults);
        }
        let after = run(case, &gpu, 1);
        tally.must(matches!(after[..], [End::Right]), format_args!("{what}: afterwards: {after:?}"));
        let cpu = case.on_cpu();
        tally.must(cpu.as_ref().is_ok_and(|results| case.right(results)), format_args!("{what}: on the CPU: {cpu:?}"));
    }
}

/// Devices opened with lower limits.
fn limits(tally: &mut Tally, case: &'static Case) {
    for (fault, events) in [(Fault::Limits, 1..=1), (Fault::ShortLimits, 1..=4)] {
        for event in events {
            let what = format!("{}, {fault:?} {event}", case.name);
            let faults = Arc::new(Faults::new());
            faults.arm(fault, event..event + 1);
            let ends = match Gpu::open_with_faults(case.options(), &faults) {
                Ok(gpu) => run(case, &gpu, 1),
                Err(error) => vec![End::Failed(error)],
            };
            tally.must(faults.fired() == 1, format_args!("{what}: it did not fire"));
            // Some programs stay within them.
            tally.add(&what, format!("{fault:?}"), &ends, faults.fired(), codes(fault), fault == Fault::ShortLimits);
            faults.disarm();
            let after = run(case, &case.open(&faults), 1);
            tally.must(matches!(after[..], [End::Right]), format_args!("{what}: afterwards: {after:?}"));
        }
    }
}

/// Devices destroyed at some time while four threads use them.
fn given_up(tally: &mut Tally, case: &'static Case, delay: Duration) {
    let what = format!("{}, given up after {delay:?}", case.name);
    let gpu = case.open(&Arc::new(Faults::new()));
    let other = Arc::clone(&gpu);
    let killer = std::thread::spawn(move || {
        std::thread::sleep(delay);
        other.destroy();
    });
    let mut ends = run(case, &gpu, 4);
    tally.must(killer.join().is_ok(), format_args!("{what}: giving it up panicked"));
    ends.extend(run(case, &gpu, 1));
    tally.add(&what, "given up".into(), &ends, 1, &[ErrorCode::Device], false);
}

#[test]
fn failures_are_errors() {
    let [(_, gpu), ..] = super::devices() else { return };
    count_panics();
    let start = Instant::now();
    let mut tally = Tally::default();
    let opened = Instant::now();
    drop(cases()[0].open(&Arc::new(Faults::new())));
    let opening = opened.elapsed();
    for case in cases() {
        for &fault in Fault::ALL {
            let from = Instant::now();
            match fault {
                Fault::Limits | Fault::ShortLimits => continue,
                _ => {
                    for times in 1..=asked(fault) {
                        sweep(&mut tally, case, fault, times, 1);
                    }
                    sweep(&mut tally, case, fault, 1, 4);
                }
            }
            if std::env::var_os("NDJIT_TIMES").is_some() {
                println!("{}, {fault:?}: {:.1?}", case.name, from.elapsed());
            }
        }
        limits(&mut tally, case);
        for n in 0..8 {
            given_up(&mut tally, case, Duration::from_micros(250 * n));
        }
    }
    tally.panicked += UNEXPECTED.load(SeqCst);
    let meant: usize = ["Translate", "Fatal"].iter().map(|kind| tally.kinds.get(*kind).copied().unwrap_or(0)).sum();
    let (mut report, caught) = (tally.complaints.join("\n"), EXPECTED.load(SeqCst));
    if caught != meant {
        report += &format!("\n{meant} panics were to be caught, and {caught} were");
    }
    println!("on {}, {:.0?}, {opening:.1?} to open:\n{tally}\n{:?}", gpu.info(), start.elapsed(), tally.kinds);
    assert!(report.is_empty(), "{report}");
    assert!(tally.injected >= LEAST, "only {} failures", tally.injected);
    assert_eq!((tally.panicked, tally.hangs, tally.wrong), (0, 0, 0));
}

#[test]
fn waiting_has_an_end() {
    if super::devices().is_empty() {
        return;
    }
    // Too much work for any device by its first poll.
    let sqrts: String = (1..=12).map(|n| format!("  %{n} = sqrt %{} : f32[1048576]\n", n - 1)).collect();
    let text = format!("graph (%0: f32[1048576]) {{\n{sqrts}  return %12\n}}\n");
    let case = case(&("roots", None, &text)).unwrap();
    let gpu = Gpu::open(GpuOptions { patience: Duration::ZERO, ..case.options() }).unwrap_or_else(|e| panic!("{e}"));
    let mut silent = 0;
    for _ in 0..5 {
        match case.on_gpu(&gpu) {
            Ok(results) => assert!(case.right(&results)),
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::Device, "{error}");
                assert!(error.headline().contains("does not answer"), "{error}");
                silent += 1;
            }
        }
    }
    assert!(silent > 0, "the device was always ready at once");
}
