//! The programs in `tests/programs/`, with inputs.

use ndjit_ir::graph::Graph;
use ndjit_ir::{Literal, Policy, ValueType, Weak};
use ndjit_random::{Program, Rng, tensor};
use std::fs;

/// The files: name and text.
pub fn files() -> Vec<(String, String)> {
    let folder = crate::root().join("tests/programs");
    let mut files: Vec<_> = fs::read_dir(&folder).expect("the corpus").flatten().map(|f| f.path()).collect();
    files.sort();
    files.iter().map(|file| (file.display().to_string(), fs::read_to_string(file).expect("a program"))).collect()
}

/// A program with random inputs, including many special values.
pub fn program(text: &str, seed: u64) -> Program {
    let graph: Graph<ValueType> = text.parse().unwrap_or_else(|e| panic!("{e}"));
    let mut rng = Rng::new(seed);
    let policy = Policy::default();
    let params = graph.params().iter().map(|&p| {
        tensor(&mut rng, graph.storage_dtype(p, policy), graph.shape(p).clone()).unwrap_or_else(|e| panic!("{e}"))
    });
    let params = params.collect();
    let scalars = graph.numbers().into_iter().map(|(index, ty)| (index, scalar(ty))).collect();
    Program { graph, params, scalars }
}

fn scalar(ty: Weak) -> Literal {
    match ty {
        Weak::Int => Literal::weak(3),
        Weak::Float => Literal::weak(0.1),
        Weak::Complex => Literal::weak(num_complex::Complex::new(0.5, -2.0)),
    }
}
