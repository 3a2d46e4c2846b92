//! Random programs on every engine. A failing one is shrunk and printed as a corpus file.

mod engines;

use engines::{ALL, Matrix, check};
use ndjit_codegen::passes::access::contiguous;
use ndjit_codegen::target::VectorWidth;
use ndjit_codegen::{Options, lower};
use ndjit_ir::graph::{NodeKind, Places};
use ndjit_ir::random::{Limits, Program, program, shrink};
use std::fmt::Write;

fn run(seeds: std::ops::Range<u64>, limits: &Limits, matrix: Matrix) {
    let mut report = String::new();
    for seed in seeds {
        let program = program(seed, limits).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        if check(&program, matrix).is_err() {
            let small = shrink(&program, |p: &Program| check(p, matrix).is_err());
            let difference = check(&small, matrix).expect_err("a shrunk program fails as well");
            let _ = writeln!(report, "seed {seed}: {}: {}\n{small}", difference.engine, difference.what);
            if report.lines().count() > 60 {
                break;
            }
        }
    }
    assert!(report.is_empty(), "add as tests/programs/NAME.graph:\n{report}");
}

#[test]
fn small_programs_of_everything() {
    run(0..150, &Limits { nodes: 12, elements: 70, ..Limits::default() }, ALL);
}

#[test]
fn branches_and_loops() {
    let matrix = Matrix {
        fuse: &[true, false],
        vector: &[VectorWidth::Scalar, VectorWidth::Bits128, VectorWidth::Widest],
        threads: &[1, 2],
        ..ALL
    };
    run(0..150, &Limits { nodes: 12, elements: 70, control: true, ..Limits::default() }, matrix);
}

#[test]
fn many_small_programs_fused_and_vectorised() {
    let matrix = Matrix {
        fuse: &[true],
        vector: &[VectorWidth::Bits128, VectorWidth::Bits256, VectorWidth::Widest],
        threads: &[1],
        ..ALL
    };
    run(1_000..1_400, &Limits { nodes: 16, elements: 140, ..Limits::default() }, matrix);
}

#[test]
fn contracted_programs() {
    let matrix =
        Matrix { vector: &[VectorWidth::Scalar, VectorWidth::Widest], threads: &[1], fp_contract: true, ..ALL };
    run(3_000..3_100, &Limits { nodes: 16, elements: 140, ..Limits::default() }, matrix);
    run(3_100..3_150, &Limits { nodes: 12, elements: 70, control: true, ..Limits::default() }, matrix);
}

#[test]
fn programs_have_what_is_hard() {
    let [mut scans, mut seen, mut tiled, mut chained, mut copied, mut many] = [0; 6];
    for seed in 0..2_000 {
        let program = program(seed, &Limits { nodes: 16, elements: 140, ..Limits::default() }).unwrap();
        let layouts = program.params.iter().map(|x| contiguous(&x.shape, x.dtype).unwrap());
        let layouts: Vec<_> = layouts.collect();
        let lowered = lower(&program.graph, &Places::default(), &layouts, &Options::default()).unwrap();
        let graph = &lowered.simplified;
        for kernel in lowered.kernels.iter().filter(|kernel| kernel.reduce.as_ref().is_some_and(|r| r.scans())) {
            scans += 1;
            let is_view = |value| matches!(graph.node(graph.producer(value)).kind, NodeKind::View(_));
            seen += usize::from(kernel.inputs.iter().any(|input| is_view(input.value)));
        }
        for launch in lowered.launches.iter().filter(|launch| launch.kernels.len() > 1) {
            let kernels = &lowered.kernels[launch.kernels.clone()];
            tiled += 1;
            chained += usize::from(kernels.iter().filter(|kernel| kernel.reduce.is_some()).count() > 1);
        }
        many += lowered.kernels.iter().filter(|kernel| kernel.reduce.is_some() && kernel.inputs.len() > 8).count();
        copied += lowered.kernels.iter().filter(|k| k.outputs.iter().any(|&v| !k.stores(graph.shape(v)))).count();
    }
    println!(
        "{scans} scans, {seen} of views; {tiled} in tiles, {chained} with reductions; {copied} copies; {many} of many"
    );
    assert!(
        scans > 60 && seen > 10 && tiled > 120 && chained > 20 && copied > 0 && many > 10,
        "{scans} {seen} {tiled} {chained} {copied} {many}"
    );
}
