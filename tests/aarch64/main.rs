//! Code for aarch64, run by an emulator on any machine: every op and dtype, the corpus, random programs, bit-equal to the interpreter.
//!
//! `NDJIT_UNICORN` is the path of the emulator's library; without it these tests are skipped, with a message. `pip install unicorn` has it.
#![cfg(feature = "emulated")]

use ndjit_tests::each;
use ndjit_tests::programs;

use ndjit_codegen::target::VectorWidth;
use ndjit_engines::{ALL, Matrix, check};
use ndjit_random::{Limits, program};
use ndjit_runtime::{Execution, RunOptions, emulated};
use std::path::Path;

/// Cranelift's widths for aarch64: scalars, and 128-bit registers.
const WIDTHS: [VectorWidth; 2] = [VectorWidth::Scalar, VectorWidth::Bits128];

const MATRIX: Matrix = Matrix { vector: &WIDTHS, threads: &[1, 2], execution: Execution::Emulated, ..ALL };

/// Whether the emulator is available.
fn emulator() -> bool {
    let Some(library) = std::env::var_os("NDJIT_UNICORN") else {
        println!("skipped: NDJIT_UNICORN does not say where the emulator's library is");
        return false;
    };
    emulated::open(Path::new(&library)).unwrap_or_else(|e| panic!("{e}"));
    true
}

#[test]
fn every_op_dtype_and_length() {
    if emulator() {
        let options = WIDTHS.map(|vector| RunOptions {
            threads: Some(1),
            vector,
            execution: Execution::Emulated,
            ..RunOptions::default()
        });
        let combinations = each::check(&options);
        println!("{combinations} ops and dtypes, {} lengths, vector and scalar", each::LENGTHS + 1);
        assert!(combinations > 400);
    }
}

#[test]
fn every_program_of_the_corpus() {
    if emulator() {
        let mut failures = Vec::new();
        for (name, text) in programs::files() {
            if let Err(difference) = check(&programs::program(&text, 1), MATRIX) {
                failures.push(format!("{name}: {}: {}", difference.engine, difference.what));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}

#[test]
fn random_programs() {
    if emulator() {
        let mut failures = Vec::new();
        for seed in 0..200 {
            let limits = Limits { nodes: 12, elements: 140, control: seed % 2 == 0, ..Limits::default() };
            let program = program(seed, &limits).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            if let Err(difference) = check(&program, MATRIX) {
                failures.push(format!("seed {seed}: {}: {}", difference.engine, difference.what));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}
