//! Kernels touch no byte beside their operands: every operand abuts a page that may not be touched, at its end or its start,
//! for all lengths around the vector lengths. A fault ends the process, so passing is the assertion; that the pages bite is
//! proved in a child process.

#![cfg(unix)]

#[path = "common/programs.rs"]
mod programs;

use ndjit_codegen::Lowered;
use ndjit_ir::graph::{Graph, NodeKind};
use ndjit_ir::interp::eval_graph;
use ndjit_ir::reduction::{Axes, Reduce};
use ndjit_ir::view::{self, Slice, View};
use ndjit_ir::{DType, Policy, Reduction, Shape, ValueType};
use ndjit_runtime::{Argument, Executable, Output, RunOptions};
use programs::{lowered, lowered_graph, tensor};
use std::process::Command;

/// Bytes between two pages without access.
struct Guarded {
    map: *mut u8,
    page: usize,
    /// Bytes of the pages between.
    open: usize,
    at_end: bool,
    len: usize,
}

impl Guarded {
    fn new(bytes: &[u8], at_end: bool) -> Guarded {
        // SAFETY: plain calls; results are checked.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        let open = bytes.len().max(1).next_multiple_of(page);
        // SAFETY: a fresh private mapping, of which all but the first and the last page is opened.
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

    fn bytes(&mut self) -> &mut [u8] {
        let start = if self.at_end { self.page + self.open - self.len } else { self.page };
        // SAFETY: inside the pages between, which are ours, open and zeroed.
        unsafe { std::slice::from_raw_parts_mut(self.map.add(start), self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, once.
        unsafe { libc::munmap(self.map.cast(), self.open + 2 * self.page) };
    }
}

fn check_program(text: &str, params: &[(DType, Vec<usize>)]) {
    check(&lowered(text), params);
}

fn check(program: &Lowered, params: &[(DType, Vec<usize>)]) {
    let params: Vec<_> = params.iter().enumerate().map(|(n, (dtype, shape))| tensor(*dtype, shape, n)).collect();
    let expected = eval_graph(&program.typed, &params, &[]).unwrap();
    for vector in [true, false] {
        let executable = Executable::new(program, &RunOptions { vector, threads: Some(1), ..RunOptions::default() });
        let executable = executable.unwrap_or_else(|e| panic!("{e}"));
        for at_end in [true, false] {
            let mut inputs: Vec<Guarded> = params.iter().map(|p| Guarded::new(&p.bytes, at_end)).collect();
            let mut outputs: Vec<Guarded> =
                expected.iter().map(|e| Guarded::new(&vec![0x5a; e.bytes.len()], at_end)).collect();
            let arguments = inputs.iter_mut().map(|i| Argument::Borrowed(i.bytes()));
            let mut into: Vec<Output> = outputs.iter_mut().map(|o| Output::Into(o.bytes())).collect();
            executable.run(arguments, &[], &mut into).unwrap();
            for (output, expected) in outputs.iter_mut().zip(&expected) {
                assert!(output.bytes() == expected.bytes, "{:?}", program.simplified);
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

type Made = ndjit_ir::Result<(View, Shape)>;

/// The extents of an operand, and the view of it that `n` makes.
type Seen = (Vec<usize>, fn(&Shape, usize) -> Made);

/// Views with `n` places along an axis, each of which reads the first and the last element of its operand.
fn views(n: usize) -> [Seen; 11] {
    const fn step(step: isize) -> Slice {
        Slice::Range { start: None, end: None, step }
    }
    let spread = (2 * n).saturating_sub(1);
    [
        (vec![spread], |shape, _| view::slice(shape, &[step(2)])),
        (vec![spread], |shape, _| view::slice(shape, &[step(-2)])),
        (vec![3, spread], |shape, _| view::slice(shape, &[step(-2), step(2)])),
        (vec![n], |shape, _| view::flip(shape, &[0])),
        (vec![3, n], |shape, _| view::flip(shape, &[0, 1])),
        (vec![n, 3], |shape, _| view::permute_dims(shape, &[1, 0])),
        (vec![3, 1], |shape, n| view::broadcast_to(shape, &Shape::from([3, n]))),
        (vec![n], |shape, n| view::broadcast_to(shape, &Shape::from([3, n]))),
        (vec![n + 2], |shape, _| view::sliding_window(shape, &[3], &[0])),
        (vec![n + 2], |shape, _| {
            view::sliding_window(shape, &[3], &[0]).and_then(|own| after(own, |s| view::permute_dims(s, &[1, 0])))
        }),
        (vec![n.min(67); 2], |shape, _| view::diagonal(shape, 0, [0, 1])),
    ]
}

/// One view of another's result.
fn after((inner, shape): (View, Shape), outer: fn(&Shape) -> Made) -> Made {
    let (outer, shape) = outer(&shape)?;
    Ok((outer.of(&inner).canonical(&shape), shape))
}

/// Stores each of the views, the sum and the largest element along its last axis, and its elements twice, after each other.
fn of_views(dtype: DType, n: usize, views: &[Seen]) -> (Lowered, Vec<(DType, Vec<usize>)>) {
    let policy = Policy::default();
    let mut graph: Graph<ValueType> = Graph::new();
    let mut params = Vec::new();
    let mut outputs = Vec::new();
    let given: Vec<_> = views.iter().map(|(own, _)| graph.param(dtype.into(), &Shape::new(own))).collect();
    for ((extents, make), x) in views.iter().zip(given) {
        params.push((dtype, extents.clone()));
        let Ok((seen, shape)) = &make(&Shape::new(extents), n) else {
            assert_eq!(n, 0, "a window of 3 fits into 2 elements");
            continue;
        };
        let seen = graph.view(x, seen.clone(), shape);
        outputs.push(seen);
        for reduction in [Reduction::Sum, Reduction::Max] {
            if shape.extents().ends_with(&[0]) {
                continue;
            }
            let axes = Axes::new(&[-1], shape.rank()).unwrap();
            let types = policy.resolve_reduction(reduction, None, dtype.into()).unwrap();
            let result = (types.result.into(), graph.intern(&axes.reduced(shape, false)));
            let kind = NodeKind::Reduce(Reduce { reduction, axes, keepdims: false, dtype: None, policy });
            outputs.push(graph.add(kind, &[seen], &[result]));
        }
        let joined = view::concat_shape(&[shape; 2], 0).unwrap();
        let joined = (dtype.into(), graph.intern(&joined));
        outputs.push(graph.add(NodeKind::Concat(0, policy), &[seen, seen], &[joined]));
    }
    graph.set_outputs(outputs);
    (lowered_graph(&graph), params)
}

#[test]
fn views_of_every_dtype_and_length() {
    for n in 0..=257 {
        for (at, dtype) in DType::ALL.into_iter().enumerate() {
            // Every dtype around the vector lengths, else each has its turn.
            if n <= 35 || (64..=67).contains(&n) || n % 5 == at % 5 {
                let (program, params) = of_views(dtype, n, &views(n));
                check(&program, &params);
            }
        }
    }
}

/// Runs this test again in a process of its own, told to do what a fault must end.
fn assert_faults(test: &str, variable: &str, what: &str) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let status = child.args([test, "--exact"]).env(variable, what).output().unwrap().status;
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    assert!(matches!(signal, Some(libc::SIGSEGV | libc::SIGBUS)), "{what}: {status}");
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
        assert_faults("the_pages_bite", CHILD, side);
    }
}

#[test]
fn a_kernel_that_reads_an_element_too_far_faults() {
    const CHILD: &str = "NDJIT_TEST_TOO_FAR";
    let n = 67;
    if let Some(planted) = std::env::var_os(CHILD) {
        let planted: Vec<usize> = planted.to_str().unwrap().split(' ').map(|number| number.parse().unwrap()).collect();
        let [which, at_end, vector] = planted[..] else { panic!("a view, a side, vectors or not") };
        let (program, params) = of_views(DType::F32, n, &views(n)[which..=which]);
        let (dtype, shape) = &params[0];
        let size = shape.iter().product::<usize>() * dtype.bytes();
        // One element less than the program was made for, at the end or the start.
        let mut guarded = Guarded::new(&vec![0; size - dtype.bytes()], at_end == 1);
        let start = guarded.bytes().as_ptr().wrapping_sub(if at_end == 1 { 0 } else { dtype.bytes() });
        // SAFETY: none: reading all of it is meant to fault, in a process made for it.
        let bytes = unsafe { std::slice::from_raw_parts(start, size) };
        let options = RunOptions { vector: vector == 1, threads: Some(1), ..RunOptions::default() };
        let mut outputs: Vec<Output> = program.stored.iter().map(|_| Output::Fresh(None)).collect();
        let run = Executable::new(&program, &options).unwrap().run([Argument::Borrowed(bytes)], &[], &mut outputs);
        panic!("no fault, {run:?}");
    }
    for which in 0..views(n).len() {
        for (at_end, vector) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert_faults(
                "a_kernel_that_reads_an_element_too_far_faults",
                CHILD,
                &format!("{which} {at_end} {vector}"),
            );
        }
    }
}
