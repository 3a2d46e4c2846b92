//! Values against NumPy's and JAX's measurements, and against correctly rounded ones, element by element: every file in the folder
//! `NDJIT_GOLDENS` (default `tests/goldens/values`). Prints the number of compared elements per file; fails on an element beyond
//! the op's bound and on another dtype, unless a listed difference explains it. Also the Array API's sentences about special cases
//! ([`special_cases`]), and the rules on operands outside of the files ([`drawn`]).
//!
//! Each file is a test. Without the usual harness, which hides the output of passing tests.

mod drawn;
mod file;
mod formulas;
mod rules;
mod run;
mod special_cases;

use file::{Case, Words};
use formulas::Bounded;
use libtest_mimic::{Arguments, Failed, Trial};
use ndjit_ir::op::Accuracy;
use ndjit_ir::{DType, Op};
use ndjit_math::interp::Tensor;
use rules::{Answer, Element, RULES, Rule, finite, rounded};
use run::{Function, function, run};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of printed problems per file.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let default = ndjit_tests::root().join("tests/goldens/values");
    let own = std::env::var_os("NDJIT_GOLDENS");
    let folder = own.clone().map_or(default, PathBuf::from);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    let used = Arc::new(Mutex::new(vec![0usize; RULES.len()]));
    let trial = |path: PathBuf| {
        let used = Arc::clone(&used);
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(name, move || compared(&path, &used))
    };
    let mut trials: Vec<Trial> = files.into_iter().map(trial).collect();
    trials.push(Trial::test("rules_of_the_page", rules_of_the_page));
    trials.push(Trial::test("drawn_operands", || if drawn::check() { Ok(()) } else { Err(Failed::without_message()) }));
    trials.push(Trial::test("special_cases", || {
        let special = special_cases::check();
        println!("special cases of the Array API: {special}");
        if special.problems.is_empty() { Ok(()) } else { Err(Failed::without_message()) }
    }));
    let conclusion = libtest_mimic::run(&arguments, trials);
    let unused = || {
        let used = used.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = RULES.iter().zip(&*used).filter(|(_, used)| **used == 0);
        unused.inspect(|(rule, _)| println!("no element needs the rule: {}", rule.row())).count()
    };
    // Other files, or a part of these, do not need every rule.
    let whole = own.is_none() && conclusion.num_filtered_out == 0 && !arguments.list;
    if whole && unused() > 0 { ExitCode::FAILURE } else { conclusion.exit_code() }
}

/// Compares the cases of a file.
fn compared(path: &Path, used: &Mutex<Vec<usize>>) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let json: serde_json::Value = serde_json::from_str(&text)?;
    if !json["cases"].is_array() || !json["inputs"].is_object() {
        return Ok(());
    }
    let (mut report, mut own) = (Report::default(), vec![0usize; RULES.len()]);
    file::cases(&json).iter().for_each(|case| compare(case, &mut report, &mut own));
    let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
    used.iter_mut().zip(own).for_each(|(used, own)| *used += own);
    println!("{}: {report}", path.file_stem().unwrap_or_default().to_string_lossy());
    if report.problems.is_empty() { Ok(()) } else { Err(Failed::without_message()) }
}

/// docs/numpy.md shows the current rules.
fn rules_of_the_page() -> Result<(), Failed> {
    let page = fs::read_to_string(ndjit_tests::root().join("docs/numpy.md"))?;
    let table: String = RULES.iter().map(Rule::row).collect();
    if page.contains(&table) { Ok(()) } else { Err(format!("it lacks them:\n{table}").into()) }
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

fn compare(case: &Case, report: &mut Report, used: &mut [usize]) {
    let Some(function) = function(&case.function) else {
        report.absent.insert(case.function.clone());
        return;
    };
    let got = run(function, &case.operands);
    let dtypes = [case.jax.as_ref().map(|j| j.0), case.numpy.as_ref().map(|n| n.0)];
    let got = match got {
        Ok(got) if dtypes.contains(&Some(got.dtype)) => got,
        got => {
            match whole_rule(case, got) {
                Ok(at) => {
                    used[at] += 1;
                    report.listed += 1;
                }
                Err(problem) => {
                    report.problems.push(format!("{} of {}: {problem}, not {dtypes:?}", case.function, case.dtype))
                }
            }
            return;
        }
    };
    for at in (0..got.len()).filter(|at| !case.undefined.contains(at)) {
        let Some(verdict) = judge(case, function, &got, at) else { continue };
        report.compared += 1;
        let element = element(case, Some(at));
        let listed = rule(&element);
        let answered = listed.is_none_or(|listed| answers(&RULES[listed], &element, function, &got, at));
        match listed {
            _ if verdict && answered => report.within += 1,
            Some(listed) if answered => {
                used[listed] += 1;
                report.listed += 1;
            }
            _ => report.problems.push(problem(case, &got, at, answered)),
        }
    }
}

/// The rule for an error or a dtype unlike both libraries', if it says so.
fn whole_rule(case: &Case, got: Result<Tensor, String>) -> Result<usize, String> {
    let rule = rule(&element(case, None)).map(|at| (at, &RULES[at].answer));
    match (rule, got) {
        (Some((at, Answer::Refused)), Err(_)) => Ok(at),
        (Some((at, Answer::OwnDType(integer))), Ok(got)) if got.dtype == case.dtype => {
            match (0..got.len()).find(|&i| i128::from(got.get(i)[0]) != integer(&element(case, Some(i)))) {
                Some(i) => Err(format!("{:x?} at element {i}, which is not the answer of its rule", got.get(i))),
                None => Ok(at),
            }
        }
        (_, Ok(got)) => Err(got.dtype.to_string()),
        (_, Err(refusal)) => Err(refusal),
    }
}

fn problem(case: &Case, got: &Tensor, at: usize, answered: bool) -> String {
    let operands: Vec<String> = case.operands.iter().map(|x| format!("{:x?}", x.get(at))).collect();
    let numpy = case.numpy.as_ref().map(|n| n.1[at].clone());
    let jax = case.jax.as_ref().map(|j| j.1[at].clone());
    let reference = case.reference.as_ref().map(|r| r[at].clone());
    let why = if answered { "" } else { ", which is not the answer of its rule" };
    let (function, operands, got) = (&case.function, operands.join(", "), got.get(at));
    format!(
        "{function}({operands}) of {}: {got:x?}{why}, NumPy {numpy:x?}, JAX {jax:x?}, reference {reference:x?}",
        case.dtype
    )
}

/// The operands of an element, or of the whole case.
fn element(case: &Case, at: Option<usize>) -> Element<'_> {
    operands_at(&case.function, case.dtype, &case.operands, at)
}

fn operands_at<'a>(function: &'a str, dtype: DType, operands: &[Tensor], at: Option<usize>) -> Element<'a> {
    let pair = |x: &Tensor, at| {
        let parts = numbers(x, at);
        [parts[0], parts.get(1).copied().unwrap_or(0.0)]
    };
    let signed = |x: &Tensor, at: usize| {
        let (word, unused) = (x.get(at)[0], 64 - 8 * x.dtype.bytes().min(8));
        if x.dtype.is_signed() { i128::from((word << unused) as i64 >> unused) } else { i128::from(word) }
    };
    let parts = at.map(|at| operands.iter().map(|x| pair(x, at)).collect()).unwrap_or_default();
    let integers = at.map(|at| operands.iter().map(|x| signed(x, at)).collect()).unwrap_or_default();
    Element { function, dtype, whole_case: at.is_none(), operands: parts, integers }
}

fn rule(element: &Element<'_>) -> Option<usize> {
    RULES.iter().position(|rule| rule.holds(element))
}

/// Whether an element satisfies its rule.
fn answers(rule: &Rule, element: &Element<'_>, function: Function, got: &Tensor, at: usize) -> bool {
    let dtype = got.dtype;
    let words = |parts: [f64; 2]| -> Words {
        let word = |part: f64| match dtype.real() {
            DType::F16 => half::f16::from_f64(part).to_bits().into(),
            DType::Bf16 => half::bf16::from_f64(part).to_bits().into(),
            DType::F32 => u64::from((part as f32).to_bits()),
            _ => part.to_bits(),
        };
        parts[..if dtype.is_complex() { 2 } else { 1 }].iter().map(|&part| word(part)).collect()
    };
    let own = got.get(at).to_vec();
    let bound = match function {
        Function::Op(op) => bound(op, dtype),
        Function::Cast(_) => 0,
    };
    match rule.answer {
        Answer::Refused | Answer::OwnDType(_) => false,
        Answer::Exactly(parts) => distance(&own, &words(parts(element)), dtype) == 0,
        // The answer itself has an error of one or two roundings.
        Answer::Near(parts) => distance(&own, &words(parts(element)), dtype) <= bound + 2,
        Answer::Within(bounded) => bounded(element).is_none_or(|Bounded { parts, share, absolute }| {
            let own = numbers(got, at);
            let size = parts[0].abs().max(parts[1].abs());
            let least = if dtype.real() == DType::F32 { f64::from(f32::from_bits(1)) } else { f64::from_bits(1) };
            let off = size * share + absolute + 2.0 * least;
            // Next to an overflowing part finite ones do not count; the infinity itself does.
            let overflows =
                size.is_infinite() && finite(element.operands[0]) && !parts.iter().any(|part| part.is_nan());
            let near = |(own, part): (&f64, f64)| {
                *own == part || part.is_finite() && (overflows || size.is_finite()) && (own - part).abs() <= off
            };
            distance(&got.get(at), &words(parts), dtype) <= bound
                || size.is_nan() && own.iter().all(|own| own.is_nan())
                || own.iter().zip(parts.map(|part| rounded(part, dtype))).all(near)
        }),
        Answer::Integer(integer) => own[0] == integer(element) as u64 & (u64::MAX >> (64 - 8 * dtype.bytes())),
    }
}

/// The parts of an element as `f64`.
fn numbers(x: &Tensor, at: usize) -> Vec<f64> {
    let number = |&word: &u64| match x.dtype.real() {
        DType::F16 => half::f16::from_bits(word as u16).to_f64(),
        DType::Bf16 => half::bf16::from_bits(word as u16).to_f64(),
        DType::F32 => f32::from_bits(word as u32).into(),
        DType::F64 => f64::from_bits(word),
        real if real.is_signed() => (((word << (64 - 8 * real.bytes())) as i64) >> (64 - 8 * real.bytes())) as f64,
        _ => word as f64,
    };
    x.get(at).iter().map(number).collect()
}

/// Whether an element is allowed; `None` if unspecified.
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
    // Without a reference, the libraries' results may be as far from the exact result as their own bounds.
    let slack = if bound == 0 { 0 } else { bound + 2 };
    let known: Vec<Words> = numpy.into_iter().chain(jax).collect();
    (!known.is_empty()).then(|| known.iter().any(|expected| distance(&words, expected, dtype) <= slack))
}

/// The largest error of an op, in units in the last place of each part.
fn bound(op: Op, dtype: DType) -> u64 {
    match op.row().accuracy {
        // Complex results, and moduli, have separate bounds in the docs.
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
