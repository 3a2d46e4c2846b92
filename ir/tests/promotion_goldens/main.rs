//! The policies against tables measured from the libraries they are named after, cell by cell. Prints a line per table and
//! fails if a cell differs for no listed reason, if a listed reason is not needed, or if a file has no policy.
//!
//! Not under the usual harness, which hides what passing tests print.

mod docs;
mod golden;
mod many;
mod op_differences;
mod op_outcome;
mod ops;
mod report;
mod tables;

use ndjit_ir::{Policy, ValueType};
use report::Report;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Tools list tests by this argument; here is one only.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let reports = reports();
    let mut problems = 0;
    for report in &reports {
        println!("{report}");
        problems += report.unexplained.len();
    }
    for problem in tables::files_without_policy().chain(wrong_counts()) {
        println!("{problem}");
        problems += 1;
    }
    if !docs::is_current(&docs::page(&reports)) {
        println!("docs/policies.md is not what this test writes with NDJIT_WRITE_DOCS=1");
        problems += 1;
    }
    if !docs::shows_reductions() {
        println!("docs/promotion.md lacks the table of reductions:\n{}", docs::reductions());
        problems += 1;
    }
    if problems == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn reports() -> Vec<Report> {
    let mut reports: Vec<Report> =
        tables::TABLES.iter().map(|&(file, key, policy)| tables::compare(file, key, policy)).collect();
    for (library, section, policy) in ops::libraries() {
        reports.push(ops::compare(library, section, policy));
        reports.push(many::compare_defaults(library, section, policy));
    }
    reports.extend(many::FUNCTIONS.iter().map(|&(file, function, policy)| many::compare_order(file, function, policy)));
    reports
}

/// The number of non-associative triples of dtypes that golden files state, against the policy's list.
fn wrong_counts() -> impl Iterator<Item = String> {
    let stated =
        |file: &str| golden::read(&format!("promotion/{file}.json"))["non_associative_concrete_count"].as_u64();
    let torch = &golden::read("ops/torch_result_dtypes.json")["nary"]["non_associative"];
    let counts = [
        (Policy::NumPy2, stated("numpy2")),
        (Policy::NumPy1, stated("numpy1")),
        (Policy::NumPy2MlDtypes, stated("numpy2_ml_dtypes")),
        (Policy::IvyPrecise, stated("ivy_precise")),
        (Policy::IvyImprecise, stated("ivy_imprecise")),
        (Policy::Torch, torch.as_array().map(|triples| triples.len() as u64)),
    ];
    counts.into_iter().filter_map(|(policy, theirs)| {
        let is_strong = |triple: &&[ValueType; 3]| !triple.iter().any(|ty| ty.is_weak());
        let ours = policy.non_associative().iter().filter(is_strong).count() as u64;
        (theirs != Some(ours))
            .then(|| format!("{policy}: {ours} non-associative triples of dtypes, measured {theirs:?}"))
    })
}
