//! What moves, joins, reduces, scans, sorts, contracts and indexes elements, against NumPy: every file of `tests/goldens/arrays`, element by element. Each case
//! runs as operations on arrays and inside a traced function, on arrays in row-major order and on strided parts of larger ones, under NumPy's
//! promotion and the default one; what indexes in the interpreter too. Movement and integers are exact, inexact reductions and scans within the bounds that
//! `ndjit::reductions`, `ndjit::scans` and `ndjit::contractions` state.
//!
//! Prints how many elements were compared per file. Not under the usual harness, which hides what passing tests print.

mod bounds;
mod call;
mod data;
mod expect;
mod indexed;

use call::{Case, traced};
use data::{array, operands, strided, tensor};
use expect::{DIFFERENCES, Expected};
use ndjit::{Array, Policy, Result, with_policy};
use ndjit_ir::interp::Tensor;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Problems printed per file, at most.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let folder = ndjit_tests::root().join("tests/goldens/arrays");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .flatten()
        .map(|entry| entry.path())
        .collect();
    files.sort();
    let pools = read(&folder.join("operands.json"));
    let mut used = BTreeSet::new();
    let mut failed = false;
    for path in &files {
        let json = read(path);
        let Some(rows) = json["cases"].as_array() else { continue };
        let mut report = Report::default();
        for row in rows {
            for case in Case::read(row) {
                check(&Arc::new(case), row, &pools, &mut report, &mut used);
            }
        }
        let Report { compared, functions, problems } = &report;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        println!("{name}: {compared} elements of {} functions compared, {} problems", functions.len(), problems.len());
        problems.iter().take(SHOWN).for_each(|problem| println!("  {problem}"));
        failed |= !problems.is_empty() || *compared == 0;
    }
    for (_, difference) in DIFFERENCES.iter().enumerate().filter(|(n, _)| !used.contains(n)) {
        println!("nothing needs the listed difference: {}", difference.reason);
        failed = true;
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
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

/// Runs a case in all ways: each policy with both layouts, each layout with and without a trace.
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
