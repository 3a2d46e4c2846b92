//! The corpus: every program in `tests/programs/` is a test, on every engine and configuration, bit-equal.

use libtest_mimic::{Arguments, Failed, Trial};
use ndjit_engines::{ALL, check};
use ndjit_ir::ValueType;
use ndjit_ir::graph::Graph;
use ndjit_tests::programs::{files, program};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let files = files();
    assert!(files.len() >= 35, "the corpus has programs");
    let trials = files.into_iter().flat_map(|(path, text)| {
        let name = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let printed = text.clone();
        [
            Trial::test(format!("engines::{name}"), move || on_every_engine(&text)),
            Trial::test(format!("text::{name}"), move || prints_as_it_parses(&printed)),
        ]
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn on_every_engine(text: &str) -> Result<(), Failed> {
    for seed in 1..=3 {
        let checked = check(&program(text, seed), ALL);
        checked.map_err(|difference| format!("seed {seed}: {}: {}", difference.engine, difference.what))?;
    }
    Ok(())
}

fn prints_as_it_parses(text: &str) -> Result<(), Failed> {
    let graph: Graph<ValueType> = text.parse()?;
    let code: String = text.lines().filter(|l| !l.starts_with(';')).map(|l| format!("{l}\n")).collect();
    if graph.to_string().trim() == code.trim() { Ok(()) } else { Err(format!("it prints as\n{graph}").into()) }
}
