//! Functions that move, join, reduce, scan, sort, contract and index elements, against NumPy: every file of `tests/goldens/arrays`, element
//! by element. Each case runs as operations on arrays and inside a traced function, on arrays in row-major order and on strided parts of
//! larger ones, under NumPy's promotion and the default one; indexing also in the interpreter. Movement and integers are exact, inexact
//! results within the bounds of `ndjit::reductions`, `ndjit::scans` and `ndjit::contractions`.
//!
//! Prints the number of compared elements per file, each a test. Without the usual harness, which hides passing tests' output.

mod bounds;
mod call;
mod data;
mod expect;
mod indexed;

use call::{Case, traced};
use data::{array, operands, strided, tensor};
use expect::{DIFFERENCES, Expected};
use libtest_mimic::{Arguments, Failed, Trial};
use ndjit::{Array, Policy, Result, with_policy};
use ndjit_math::interp::Tensor;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of printed problems per file.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = ndjit_tests::root().join("tests/goldens/arrays");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_stem().is_some_and(|name| name != "operands"))
        .collect();
    files.sort();
    let pools = Arc::new(read(&folder.join("operands.json")));
    let used = Arc::new(Mutex::new(BTreeSet::new()));
    let trial = |path: PathBuf| {
        let (pools, used) = (Arc::clone(&pools), Arc::clone(&used));
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(name, move || file(&path, &pools, &used))
    };
    let conclusion = libtest_mimic::run(&arguments, files.into_iter().map(trial).collect());
    let unused = || {
        let used = used.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = DIFFERENCES.iter().enumerate().filter(|(n, _)| !used.contains(n));
        unused.inspect(|(_, listed)| println!("nothing needs the listed difference: {}", listed.reason)).count()
    };
    // A part of the files does not need every difference.
    let whole = conclusion.num_filtered_out == 0 && !arguments.list;
    if whole && unused() > 0 { ExitCode::FAILURE } else { conclusion.exit_code() }
}

/// Compares the cases of a file.
fn file(path: &Path, pools: &Value, used: &Mutex<BTreeSet<usize>>) -> std::result::Result<(), Failed> {
    let json = read(path);
    let rows = json["cases"].as_array().ok_or("the file has no cases")?;
    let (mut report, mut own) = (Report::default(), BTreeSet::new());
    for row in rows {
        for case in Case::read(row) {
            check(&Arc::new(case), row, pools, &mut report, &mut own);
        }
    }
    used.lock().unwrap_or_else(PoisonError::into_inner).extend(own);
    let Report { compared, functions, problems } = &report;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    println!("{name}: {compared} elements of {} functions compared, {} problems", functions.len(), problems.len());
    match problems.first() {
        None if *compared > 0 => Ok(()),
        None => Err("nothing was compared".into()),
        Some(_) => Err(problems[..problems.len().min(SHOWN)].join("\n").into()),
    }
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[derive(Default)]
struct Report {
    compared: usize,
    functions: BTreeSet<String>,
    problems: Vec<String>,
}

/// Runs a case in all modes: each policy with both layouts, each layout with and without a trace.
fn check(case: &Arc<Case>, row: &Value, pools: &Value, report: &mut Report, used: &mut BTreeSet<usize>) {
    let operands = operands(pools, case);
    let expected = Expected::read(case, row, &operands);
    report.functions.insert(case.function.clone());
    let dense: Vec<Array> = operands.iter().map(array).collect();
    let parts: Vec<Array> = operands.iter().map(strided).collect();
    let numpy = if case.has_bf16() { Policy::NumPy2MlDtypes } else { Policy::NumPy2 };
    for (policy, xs, way) in [
        (numpy, &dense, "eager"),
        (numpy, &parts, "traced"),
        (Policy::Standard, &parts, "eager"),
        (Policy::Standard, &dense, "traced"),
        (Policy::Standard, &parts, "interpreted"),
    ] {
        if way == "interpreted" && !case.indexes() {
            continue;
        }
        let run = || if way == "eager" { Ok(case.call(xs)) } else { traced(case, xs, way == "interpreted") };
        let got = with_policy(policy, || run()?.iter().map(tensor).collect::<Result<Vec<Tensor>>>());
        let verdict = got.map_err(|e| e.to_string()).and_then(|got| expected.compare(case, &got, used));
        match verdict {
            Ok(compared) => report.compared += compared,
            Err(problem) => {
                let layout = if std::ptr::eq(xs, &parts) { "strided" } else { "dense" };
                report.problems.push(format!("{case}, {way}, {layout}, {policy}: {problem}"));
            }
        }
    }
}
