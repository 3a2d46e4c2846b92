//! Kernels access only their operands: every operand abuts an inaccessible page, at its end or its start, for all lengths
//! around the vector lengths. A fault ends the process, so passing is the assertion. Child processes prove that the pages
//! fault, and that a kernel that reads one element too many is caught.

#![cfg(unix)]

mod contractions;
mod memory;
#[path = "../common/programs.rs"]
mod programs;
mod reductions;
mod rows;
mod scans;
mod tiles;
mod views;

use memory::{Guarded, assert_faults, check};
use ndjit_ir::DType;

fn check_program(text: &str, params: &[(DType, Vec<usize>)]) {
    check(&programs::lowered(text), params, None);
}

/// Whether a dtype is tested at this length: all around the vector lengths, otherwise in turn.
fn has_turn(dtype: DType, n: usize) -> bool {
    n <= 35 || (64..=67).contains(&n) || n % 5 == dtype as usize % 5
}

#[test]
fn contiguous_operands_of_every_dtype_and_length() {
    for dtype in DType::ALL {
        for n in 0..=67 {
            let ty = format!("{dtype}[{n}]");
            let text = match dtype {
                DType::Bool => {
                    format!("graph (%0: {ty}, %1: {ty}) {{\n  %2 = logical_and %0, %1 : {ty}\n  return %2\n}}")
                }
                _ => programs::axpy(dtype, &[n]),
            };
            check_program(&text, &[(dtype, vec![n]), (dtype, vec![n])]);
        }
    }
}

#[test]
fn mixed_widths_and_broadcast_operands() {
    for n in 0..=67 {
        let text = format!(
            "graph (%0: u8[{n}], %1: f64[{n}], %2: f32[3, 1]) {{
  %3 = cast %0 : f32[{n}]
  %4 = multiply %3, %2 : f32[3, {n}]
  %5 = cast %4 : f64[3, {n}]
  %6 = add %5, %1 : f64[3, {n}]
  %7 = cast %4 : i8[3, {n}]
  return %4, %6, %7
}}"
        );
        check_program(&text, &[(DType::U8, vec![n]), (DType::F64, vec![n]), (DType::F32, vec![3, 1])]);
    }
}

#[test]
fn the_pages_bite() {
    const CHILD: &str = "NDJIT_TEST_TOUCH";
    if let Some(side) = std::env::var_os(CHILD) {
        let mut guarded = Guarded::new(&[1, 2, 3, 4], side == "end");
        let bytes = guarded.bytes();
        let beside =
            if side == "end" { bytes.as_ptr().wrapping_add(bytes.len()) } else { bytes.as_ptr().wrapping_sub(1) };
        // SAFETY: none: this read is meant to fault, in its own process.
        std::process::exit(i32::from(unsafe { beside.read_volatile() }));
    }
    for side in ["end", "start"] {
        assert_faults("the_pages_bite", CHILD, side);
    }
}
