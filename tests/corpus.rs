//! The corpus: every program in `tests/programs/` on every engine and configuration, bit-equal.

use ndjit_engines::{ALL, check};
use ndjit_ir::ValueType;
use ndjit_ir::graph::Graph;
use ndjit_tests::programs::{files, program};

#[test]
fn every_program_on_every_engine() {
    let mut failures = Vec::new();
    let files = files();
    for (name, text) in &files {
        for seed in 1..=3 {
            if let Err(difference) = check(&program(text, seed), ALL) {
                failures.push(format!("{name}, seed {seed}: {}: {}", difference.engine, difference.what));
            }
        }
    }
    println!("{} programs", files.len());
    assert!(files.len() >= 15, "the corpus has programs");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn programs_print_as_they_parse() {
    for (name, text) in files() {
        let graph: Graph<ValueType> = text.parse().unwrap_or_else(|e| panic!("{name}: {e}"));
        let code: String = text.lines().filter(|l| !l.starts_with(';')).map(|l| format!("{l}\n")).collect();
        assert_eq!(graph.to_string().trim(), code.trim(), "{name}");
    }
}
