//! Random programs on every engine. A failing one is shrunk and printed as a corpus file.

mod engines;

use engines::{ALL, Matrix, check};
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
fn many_small_programs_fused_and_vectorised() {
    let matrix = Matrix { fuse: &[true], vector: &[true], threads: &[1], strided: &[false, true] };
    run(1_000..1_400, &Limits { nodes: 16, elements: 140, ..Limits::default() }, matrix);
}
