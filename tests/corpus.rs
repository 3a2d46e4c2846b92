//! The corpus: every program in `tests/programs/` on every engine and configuration, bit-equal.

mod engines;

use ndjit_ir::graph::{Graph, Slot};
use ndjit_ir::random::{Program, Rng, tensor};
use ndjit_ir::{Literal, Policy, ValueType, Weak};
use std::fs;
use std::path::Path;

/// A program with random inputs that are rich in special values.
fn program(text: &str, seed: u64) -> Program {
    let graph: Graph<ValueType> = text.parse().unwrap_or_else(|e| panic!("{e}"));
    let mut rng = Rng::new(seed);
    let policy = Policy::default();
    let params = graph
        .params()
        .iter()
        .map(|&p| tensor(&mut rng, graph.stored(p, policy), graph.shape(p).clone()).unwrap_or_else(|e| panic!("{e}")));
    let params = params.collect();
    let scalars = graph.slots().iter().filter_map(|slot| match slot {
        Slot::Value(_) => None,
        Slot::Argument { index, ty } => Some((*index, scalar(*ty))),
    });
    let scalars = scalars.collect();
    Program { graph, params, scalars }
}

fn scalar(ty: Weak) -> Literal {
    match ty {
        Weak::Int => Literal::weak(3),
        Weak::Float => Literal::weak(0.1),
        Weak::Complex => Literal::weak(num_complex::Complex::new(0.5, -2.0)),
    }
}

#[test]
fn every_program_on_every_engine() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut files: Vec<_> = fs::read_dir(&folder).expect("the corpus").flatten().map(|f| f.path()).collect();
    files.sort();
    let mut failures = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("a program");
        for seed in 1..=3 {
            if let Err(difference) = engines::check(&program(&text, seed), engines::ALL) {
                failures.push(format!("{}, seed {seed}: {}: {}", file.display(), difference.engine, difference.what));
            }
        }
    }
    println!("{} programs", files.len());
    assert!(files.len() >= 15, "the corpus has programs");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn programs_print_as_they_parse() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    for file in fs::read_dir(&folder).expect("the corpus").flatten() {
        let text = fs::read_to_string(file.path()).expect("a program");
        let graph: Graph<ValueType> = text.parse().unwrap_or_else(|e| panic!("{}: {e}", file.path().display()));
        let code: String = text.lines().filter(|l| !l.starts_with(';')).map(|l| format!("{l}\n")).collect();
        assert_eq!(graph.to_string().trim(), code.trim(), "{}", file.path().display());
    }
}
