//! Random programs, and their derivatives and batches, saved and loaded: the same text, the same bits, and no more memory than the estimate.

use super::reloaded;
use crate::random_transforms::{TRANSFORMS, transformed};
use ndjit::operand::{AnyOperand, Operand};
use ndjit::{Array, Complex, ErrorCode, Program, Scalar, weak};
use ndjit_ir::{Literal, LiteralValue};
use ndjit_random::{Limits, program};

/// The arguments of a random program; `None` if one is a weak array: only programs make these.
fn arguments(random: &ndjit_random::Program, program: &Program) -> Option<Vec<AnyOperand>> {
    let (mut arrays, mut numbers) = (random.params.iter(), random.scalars.iter());
    let argument = |spec: &ndjit::Spec| {
        if spec.is_number() {
            return numbers.next().map(|(_, literal)| number(literal).operand());
        }
        let tensor = arrays.next()?;
        let array = Array::from_bytes(tensor.dtype, tensor.shape.clone(), &tensor.bytes).ok()?;
        (spec.value_type() == array.value_type()).then(|| array.operand())
    };
    program.inputs().iter().map(argument).collect()
}

fn number(literal: &Literal) -> Scalar {
    match literal.value() {
        LiteralValue::Int(n) => i64::try_from(n).map(weak).unwrap_or_else(|_| weak(n as u64)),
        LiteralValue::Float(x) => weak(x),
        LiteralValue::Complex(re, im) => weak(Complex::new(re, im)),
        LiteralValue::Bool(b) => weak(b),
    }
}

/// Checks a program; returns whether it ran.
fn check(random: &ndjit_random::Program, seed: u64) -> bool {
    let program = match Program::parse(&random.graph.to_string()) {
        Ok(program) => program,
        Err(error) => panic!("seed {seed}: {error}\n{random}"),
    };
    let loaded = reloaded(&program);
    let parsed: ndjit_ir::graph::Graph<ndjit::ValueType> = loaded.to_string().parse().unwrap();
    let (estimate, memory) = (parsed.estimated_bytes(), program.memory().unwrap() as u64);
    // Small arrays are less than the blocks of reductions and the alignment of buffers.
    let estimate = estimate + 4096 * parsed.expanded() as u64;
    assert!(estimate >= memory, "seed {seed}: estimated {estimate} bytes, {memory} are used\n{random}");
    let Some(arguments) = arguments(random, &program) else { return false };
    let (expected, found) = (program.call(&arguments), loaded.call(&arguments));
    match (expected, found) {
        (Ok(expected), Ok(found)) => {
            for (n, (a, b)) in expected.iter().zip(&found).enumerate() {
                let same = a.to_bytes().unwrap() == b.to_bytes().unwrap();
                assert!(same && a.value_type() == b.value_type(), "seed {seed}: result {n}: {a} and {b}\n{random}");
            }
            true
        }
        (Err(expected), Err(found)) => {
            assert_eq!((expected.code(), expected.headline()), (found.code(), found.headline()));
            assert_eq!(expected.code(), ErrorCode::Literal, "seed {seed}: {expected}");
            false
        }
        (expected, found) => panic!("seed {seed}: {expected:?} and {found:?}\n{random}"),
    }
}

fn run(seeds: std::ops::Range<u64>, limits: &Limits) {
    let count = seeds.end - seeds.start;
    let ran = seeds.filter(|&seed| check(&program(seed, limits).unwrap(), seed)).count() as u64;
    assert!(ran * 4 > count, "only {ran} of {count} programs ran");
}

#[test]
fn small_programs_of_everything() {
    run(0..120, &Limits { nodes: 12, elements: 70, ..Limits::default() });
}

#[test]
fn large_arrays() {
    run(1000..1040, &Limits { nodes: 6, elements: 200_000, ..Limits::default() });
}

#[test]
fn branches_and_loops() {
    run(0..60, &Limits { nodes: 12, elements: 70, control: true, ..Limits::default() });
}

#[test]
fn derivatives_and_lanes() {
    let limits = Limits { nodes: 6, elements: 30, params: 3, ..Limits::default() };
    let mut checked = 0;
    for seed in 0..40 {
        let limits = Limits { control: seed % 3 == 0, ..limits.clone() };
        let random = program(seed, &limits).unwrap();
        let transform = TRANSFORMS[seed as usize % TRANSFORMS.len()];
        if let Ok(random) = transformed(&random, transform, seed) {
            check(&random, seed);
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked} programs have derivatives");
}
