//! Kernels touch no byte beside their operands: every operand abuts a page that may not be touched, at its end or its start,
//! for all lengths around the vector lengths. A fault ends the process, so passing is the assertion; that the pages bite is
//! proved in a child process.

#![cfg(unix)]

#[path = "common/programs.rs"]
mod programs;

use ndjit_ir::DType;
use ndjit_ir::interp::eval_graph;
use ndjit_runtime::{Argument, Executable, Output, RunOptions};
use programs::{lowered, tensor};
use std::process::Command;

/// Bytes between two pages without access.
struct Guarded {
    map: *mut u8,
    page: usize,
    at_end: bool,
    len: usize,
}

impl Guarded {
    fn new(bytes: &[u8], at_end: bool) -> Guarded {
        // SAFETY: plain calls; results are checked.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        assert!(bytes.len() <= page);
        // SAFETY: a fresh private mapping of three pages, of which the middle one is opened.
        let map = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let map = libc::mmap(std::ptr::null_mut(), 3 * page, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            let middle = map.cast::<u8>().add(page);
            assert_eq!(libc::mprotect(middle.cast(), page, libc::PROT_READ | libc::PROT_WRITE), 0);
            map.cast::<u8>()
        };
        let mut guarded = Guarded { map, page, at_end, len: bytes.len() };
        guarded.bytes().copy_from_slice(bytes);
        guarded
    }

    fn bytes(&mut self) -> &mut [u8] {
        let start = if self.at_end { 2 * self.page - self.len } else { self.page };
        // SAFETY: inside the middle page, which is ours, open and zeroed.
        unsafe { std::slice::from_raw_parts_mut(self.map.add(start), self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, once.
        unsafe { libc::munmap(self.map.cast(), 3 * self.page) };
    }
}

fn check_program(text: &str, params: &[(DType, Vec<usize>)]) {
    let program = lowered(text);
    let params: Vec<_> = params.iter().enumerate().map(|(n, (dtype, shape))| tensor(*dtype, shape, n)).collect();
    let expected = eval_graph(&program.typed, &params, &[]).unwrap();
    for vector in [true, false] {
        let executable = Executable::new(&program, &RunOptions { vector, threads: Some(1), ..RunOptions::default() });
        let executable = executable.unwrap_or_else(|e| panic!("{e}"));
        for at_end in [true, false] {
            let mut inputs: Vec<Guarded> = params.iter().map(|p| Guarded::new(&p.bytes, at_end)).collect();
            let mut outputs: Vec<Guarded> =
                expected.iter().map(|e| Guarded::new(&vec![0x5a; e.bytes.len()], at_end)).collect();
            let arguments = inputs.iter_mut().map(|i| Argument::Borrowed(i.bytes()));
            let mut into: Vec<Output> = outputs.iter_mut().map(|o| Output::Into(o.bytes())).collect();
            executable.run(arguments, &[], &mut into).unwrap();
            for (output, expected) in outputs.iter_mut().zip(&expected) {
                assert!(output.bytes() == expected.bytes, "{text}");
            }
        }
    }
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
fn reductions_of_rows_and_columns() {
    for (reduction, dtype) in [("sum", DType::F32), ("max", DType::U8)] {
        for n in (1..=70).chain([255, 256, 257]) {
            for (shape, axis, result) in [([3, n], 1, 3), ([n, 3], 0, 3), ([1, n], 1, 1), ([2, n], 0, n)] {
                let [rows, columns] = shape;
                let text = format!(
                    "graph (%0: {dtype}[{rows}, {columns}]) {{
  %1 = {reduction} %0 axes [{axis}] : {dtype}[{result}]
  return %1
}}"
                );
                check_program(&text, &[(dtype, vec![rows, columns])]);
            }
        }
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
        // SAFETY: none: this read is meant to fault, in a process made for it.
        std::process::exit(i32::from(unsafe { beside.read_volatile() }));
    }
    for side in ["end", "start"] {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["the_pages_bite", "--exact"])
            .env(CHILD, side)
            .output()
            .unwrap()
            .status;
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        assert!(matches!(signal, Some(libc::SIGSEGV | libc::SIGBUS)), "{side}: {status}");
    }
}
