//! The policies against tables measured from the libraries they are named after, cell by cell: a test for each table, which fails if a cell
//! differs for no listed reason, or if a listed reason is not needed. Prints the number of cells with each name.

mod docs;
mod golden;
mod many;
mod numexpr_differences;
mod op_differences;
mod op_outcome;
mod ops;
mod report;
mod tables;

use libtest_mimic::{Arguments, Failed, Trial};
use ndjit_ir::{Policy, ValueType};
use report::Report;
use std::process::ExitCode;

fn main() -> ExitCode {
    let reports = reports();
    let page = docs::page(&reports);
    let mut trials: Vec<Trial> = reports.into_iter().map(trial).collect();
    trials.push(Trial::test("every_file_has_a_policy", || none(tables::files_without_policy().collect())));
    trials.push(Trial::test("triples_that_do_not_associate", || none(wrong_counts().collect())));
    trials.push(Trial::test("page_of_policies", move || {
        let stale =
            (!docs::is_current(&page)).then(|| "docs/policies.md differs: NDJIT_WRITE_DOCS=1 writes it".to_owned());
        none(stale.into_iter().collect())
    }));
    trials.push(Trial::test("table_of_reductions", || {
        let table = (!docs::shows_reductions()).then(|| format!("docs/promotion.md lacks\n{}", docs::reductions()));
        none(table.into_iter().collect())
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The comparison of one table, named after it and the policy.
fn trial(report: Report) -> Trial {
    let name = format!("{} ({})", report.name, report.policy);
    let kind = format!("{} cells, {} equal, {} listed", report.compared, report.equal, report.differences());
    Trial::test(name, move || none(report.unexplained)).with_kind(kind)
}

/// Fails with all problems, if there are some.
fn none(problems: Vec<String>) -> Result<(), Failed> {
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn reports() -> Vec<Report> {
    let mut reports: Vec<Report> =
        tables::TABLES.iter().map(|&(file, key, policy)| tables::compare(file, key, policy)).collect();
    for (library, section, policy) in ops::libraries() {
        reports.push(ops::compare(library, section, policy));
        reports.extend(many::compare_defaults(library, section, policy));
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
