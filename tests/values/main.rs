//! Values against those measured from NumPy and JAX, and against correctly rounded ones, element by element: every file below the
//! folder that `NDJIT_GOLDENS` names (`tests/goldens/values` unless given). Prints how many elements were compared per file; fails
//! on an element beyond the op's bound and on another dtype, unless a listed difference explains it. And the sentences of the Array
//! API about special cases ([`special_cases`]).
//!
//! Not under the usual harness, which hides what passing tests print.

mod differences;
mod file;
mod run;
mod special_cases;

use differences::{DIFFERENCES, Element};
use file::{Case, Words};
use ndjit_ir::interp::Tensor;
use ndjit_ir::op::Accuracy;
use ndjit_ir::{DType, Op};
use run::{Function, function, run};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Problems printed per file, at most.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/values");
    let folder = std::env::var_os("NDJIT_GOLDENS").map_or(default, PathBuf::from);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    let mut used = vec![false; DIFFERENCES.len()];
    let mut failed = false;
    for path in &files {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        if !json["cases"].is_array() || !json["inputs"].is_object() {
            continue;
        }
        let mut report = Report::default();
        file::cases(&json).iter().for_each(|case| compare(case, &mut report, &mut used));
        failed |= !report.problems.is_empty();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        println!("{name}: {report}");
    }
    for (difference, _) in DIFFERENCES.iter().zip(&used).filter(|(_, used)| !**used) {
        // With files of one's own, not every difference comes up.
        if std::env::var_os("NDJIT_GOLDENS").is_none() {
            println!("no element needs the listed difference: {}", difference.reason);
            failed = true;
        }
    }
    let special = special_cases::check();
    println!("special cases of the Array API: {special}");
    failed |= !special.problems.is_empty();
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[derive(Default)]
struct Report {
    compared: usize,
    within: usize,
    listed: usize,
    absent: BTreeSet<String>,
    problems: Vec<String>,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Report { compared, within, listed, absent, problems } = self;
        write!(f, "{compared} elements compared, {within} within their bounds, {listed} listed differences")?;
        write!(f, ", {} unexplained", problems.len())?;
        if !absent.is_empty() {
            write!(f, "; not in ndjit: {}", absent.iter().map(String::as_str).collect::<Vec<_>>().join(" "))?;
        }
        problems.iter().take(SHOWN).try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}

fn compare(case: &Case, report: &mut Report, used: &mut [bool]) {
    let Some(function) = function(&case.function) else {
        report.absent.insert(case.function.clone());
        return;
    };
    let got = match run(function, &case.operands) {
        Ok(got) => got,
        Err(refusal) => {
            let element = Element { case, whole_case: true, parts: Vec::new() };
            note(&element, report, used, || format!("{} of {}: {refusal}", case.function, case.dtype));
            return;
        }
    };
    let dtypes = [case.jax.as_ref().map(|j| j.0), case.numpy.as_ref().map(|n| n.0)];
    if !dtypes.contains(&Some(got.dtype)) {
        let element = Element { case, whole_case: true, parts: Vec::new() };
        note(&element, report, used, || format!("{} of {}: {}, not {dtypes:?}", case.function, case.dtype, got.dtype));
        return;
    }
    for at in (0..got.len()).filter(|at| !case.undefined.contains(at)) {
        let Some(verdict) = judge(case, function, &got, at) else { continue };
        report.compared += 1;
        if verdict {
            report.within += 1;
            continue;
        }
        let parts = case.operands.iter().flat_map(|x| numbers(x, at)).collect();
        let element = Element { case, whole_case: false, parts };
        note(&element, report, used, || {
            let operands: Vec<String> = case.operands.iter().map(|x| format!("{:x?}", x.get(at))).collect();
            let numpy = case.numpy.as_ref().map(|n| n.1[at].clone());
            let jax = case.jax.as_ref().map(|j| j.1[at].clone());
            let reference = case.reference.as_ref().map(|r| r[at].clone());
            format!(
                "{}({}) of {}: {:x?}, NumPy {numpy:x?}, JAX {jax:x?}, reference {reference:x?}",
                case.function,
                operands.join(", "),
                case.dtype,
                got.get(at)
            )
        });
    }
}

/// The words of an element as numbers, of a complex one its parts.
fn numbers(x: &Tensor, at: usize) -> Vec<f64> {
    let number = |&word: &u64| match x.dtype.real() {
        DType::F16 => half::f16::from_bits(word as u16).to_f64(),
        DType::Bf16 => half::bf16::from_bits(word as u16).to_f64(),
        DType::F32 => f32::from_bits(word as u32).into(),
        DType::F64 => f64::from_bits(word),
        _ => word as f64,
    };
    x.get(at).iter().map(number).collect()
}

fn note(element: &Element<'_>, report: &mut Report, used: &mut [bool], problem: impl FnOnce() -> String) {
    match DIFFERENCES.iter().position(|difference| difference.explains(element)) {
        Some(listed) => {
            used[listed] = true;
            report.listed += 1;
        }
        None => report.problems.push(problem()),
    }
}

/// Whether an element is what it may be; `None` where nothing says what that is.
fn judge(case: &Case, function: Function, got: &Tensor, at: usize) -> Option<bool> {
    let (words, dtype) = (got.get(at).to_vec(), got.dtype);
    let bound = match function {
        Function::Op(op) => bound(op, dtype),
        Function::Cast(_) => 0,
    };
    let measured = case.numpy.as_ref().is_some_and(|(numpy, _)| *numpy == dtype);
    if let Some((kind, reference)) = case.reference.as_ref().filter(|_| measured).map(|r| &r[at]) {
        match kind {
            'm' => return Some(distance(&words, reference, dtype) <= bound),
            's' => return Some(distance(&words, reference, dtype) == 0),
            _ => {}
        }
    }
    let numpy = case.numpy.as_ref().filter(|(numpy, _)| *numpy == dtype).and_then(|(_, elements)| elements[at].clone());
    let jax = case.jax.as_ref().filter(|(jax, _)| *jax == dtype).map(|(_, elements)| elements[at].clone());
    // Without a reference, what the libraries give is as far from the exact result as they may be.
    let slack = if bound == 0 { 0 } else { bound + 2 };
    let known: Vec<Words> = numpy.into_iter().chain(jax).collect();
    (!known.is_empty()).then(|| known.iter().any(|expected| distance(&words, expected, dtype) <= slack))
}

/// The largest error of an op, in units in the last place of each part.
fn bound(op: Op, dtype: DType) -> u64 {
    match op.row().accuracy {
        // Complex results, and moduli, have bounds of their own in the docs.
        _ if dtype.is_complex() && matches!(op, Op::Sqrt | Op::Divide | Op::Reciprocal | Op::Sign) => 4,
        Accuracy::Exact if op == Op::Abs => u64::from(dtype.is_float()),
        Accuracy::Exact => 0,
        Accuracy::Ulp(n) => u64::from(n),
    }
}

/// The largest number of steps between the parts of two elements; any NaN equals any other.
fn distance(a: &[u64], b: &[u64], dtype: DType) -> u64 {
    if a.len() != b.len() {
        return u64::MAX;
    }
    a.iter().zip(b).map(|(&a, &b)| steps(a, b, dtype.real())).max().unwrap_or(0)
}

fn steps(a: u64, b: u64, dtype: DType) -> u64 {
    if a == b {
        return 0;
    }
    let infinity = match dtype {
        DType::Bf16 => 0x7f80,
        DType::F16 => 0x7c00,
        DType::F32 => 0x7f80_0000,
        DType::F64 => 0x7ff0_0000_0000_0000,
        _ => return u64::MAX,
    };
    let sign = 1u64 << (8 * dtype.bytes() - 1);
    let (magnitude_a, magnitude_b) = (a & (sign - 1), b & (sign - 1));
    match (magnitude_a > infinity, magnitude_b > infinity) {
        (true, true) => 0,
        (false, false) if (a ^ b) & sign == 0 => magnitude_a.abs_diff(magnitude_b),
        // Across zero; the zeros themselves differ.
        (false, false) => magnitude_a.saturating_add(magnitude_b).max(1),
        _ => u64::MAX,
    }
}
