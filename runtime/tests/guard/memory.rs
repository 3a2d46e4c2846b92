//! Operands between inaccessible pages, and programs that run on them.

use crate::programs::tensor;
use ndjit_codegen::Lowered;
use ndjit_codegen::target::VectorWidth;
use ndjit_ir::DType;
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_runtime::{Argument, Executable, Output, RunOptions};
use std::process::Command;

/// Bytes between two inaccessible pages.
pub struct Guarded {
    map: *mut u8,
    page: usize,
    /// Bytes of the accessible pages.
    open: usize,
    at_end: bool,
    len: usize,
}

impl Guarded {
    pub fn new(bytes: &[u8], at_end: bool) -> Guarded {
        // SAFETY: plain calls; results are checked.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        let open = bytes.len().max(1).next_multiple_of(page);
        // SAFETY: a fresh private mapping; all but the first and the last page is opened.
        let map = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let map = libc::mmap(std::ptr::null_mut(), open + 2 * page, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(map, libc::MAP_FAILED);
            let middle = map.cast::<u8>().add(page);
            assert_eq!(libc::mprotect(middle.cast(), open, libc::PROT_READ | libc::PROT_WRITE), 0);
            map.cast::<u8>()
        };
        let mut guarded = Guarded { map, page, open, at_end, len: bytes.len() };
        guarded.bytes().copy_from_slice(bytes);
        guarded
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        let start = if self.at_end { self.page + self.open - self.len } else { self.page };
        // SAFETY: within the accessible pages, which are ours and zeroed.
        unsafe { std::slice::from_raw_parts_mut(self.map.add(start), self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, once.
        unsafe { libc::munmap(self.map.cast(), self.open + 2 * self.page) };
    }
}

fn options(vector: VectorWidth, tile: Option<usize>) -> RunOptions {
    RunOptions { vector, threads: Some(1), tile, ..RunOptions::default() }
}

/// Runs a program on operands at the ends and at the starts of pages, in each width of vectors, and compares with the interpreter's results.
/// Launches of several kernels have tiles of this length.
pub fn check(program: &Lowered, params: &[(DType, Vec<usize>)], tile: Option<usize>) {
    let params: Vec<_> = params.iter().enumerate().map(|(n, (dtype, shape))| tensor(*dtype, shape, n)).collect();
    let expected = eval_graph(&program.typed, &params, &[]).unwrap();
    for vector in VectorWidth::ALL {
        let executable = Executable::new(program, &options(vector, tile)).unwrap_or_else(|e| panic!("{e}"));
        for at_end in [true, false] {
            let mut inputs: Vec<Guarded> = params.iter().map(|p| Guarded::new(&p.bytes, at_end)).collect();
            let mut outputs: Vec<Guarded> =
                expected.iter().map(|e| Guarded::new(&vec![0x5a; e.bytes.len()], at_end)).collect();
            let arguments = inputs.iter_mut().map(|i| Argument::Borrowed(i.bytes()));
            let mut into: Vec<Output> = outputs.iter_mut().map(|o| Output::Into(o.bytes())).collect();
            executable.run(arguments, &[], &mut into).unwrap();
            for (output, expected) in outputs.iter_mut().zip(&expected) {
                let found = Tensor { bytes: output.bytes().to_vec(), ..expected.clone() };
                let what = format_args!("{vector:?}, tile {tile:?}, at end {at_end}\n{}", program.simplified);
                assert!(found.same_bits(expected), "{what}\nfound {found:?}\nexpected {expected:?}");
            }
        }
    }
}

/// Runs this test again in its own process, in the mode that must fault.
pub fn assert_faults(test: &str, variable: &str, what: &str) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let status = child.args([test, "--exact"]).env(variable, what).output().unwrap().status;
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    assert!(matches!(signal, Some(libc::SIGSEGV | libc::SIGBUS)), "{test} {what}: {status}");
}

/// A program and its parameters.
pub type Program = (Lowered, Vec<(DType, Vec<usize>)>);

/// Asserts that each of these programs of one parameter faults on an array one element shorter than its parameter, at its end or its start,
/// in each width of vectors. `test` is the name of the calling test.
pub fn assert_all_fault(test: &str, programs: &[Program], tile: Option<usize>) {
    const CHILD: &str = "NDJIT_TEST_TOO_FAR";
    if let Some(planted) = std::env::var_os(CHILD) {
        let planted: Vec<usize> = planted.to_str().unwrap().split(' ').map(|number| number.parse().unwrap()).collect();
        let [which, at_end, vector] = planted[..] else { panic!("a program, a side, a width of vectors") };
        let (program, params) = &programs[which];
        let (dtype, shape) = &params[0];
        let size = shape.iter().product::<usize>() * dtype.bytes();
        let mut guarded = Guarded::new(&vec![0; size - dtype.bytes()], at_end == 1);
        let start = guarded.bytes().as_ptr().wrapping_sub(if at_end == 1 { 0 } else { dtype.bytes() });
        // SAFETY: none: this read is meant to fault, in its own process.
        let bytes = unsafe { std::slice::from_raw_parts(start, size) };
        let mut outputs: Vec<Output> = program.stored.iter().map(|_| Output::Fresh(None)).collect();
        let executable = Executable::new(program, &options(VectorWidth::ALL[vector], tile)).unwrap();
        let run = executable.run([Argument::Borrowed(bytes)], &[], &mut outputs);
        panic!("no fault, {run:?}");
    }
    for which in 0..programs.len() {
        for (at_end, vector) in [0, 1].into_iter().flat_map(|end| (0..VectorWidth::ALL.len()).map(move |v| (end, v))) {
            assert_faults(test, CHILD, &format!("{which} {at_end} {vector}"));
        }
    }
}
