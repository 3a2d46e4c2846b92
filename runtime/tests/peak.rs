//! The memory of a run equals its program's prediction: peak, arena, results, accumulators. One test, because it counts the process's
//! allocations.

use ndjit_codegen::{Lowered, Options, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Literal, Shape, ValueType};
use ndjit_math::interp::Tensor;
use ndjit_runtime::{Argument, Executable, Output, RunOptions, pool};
use ndjit_transform::access::contiguous;
use std::alloc::{GlobalAlloc, System};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// The system's allocator with counts of the pool's blocks, recognized by their alignment.
struct Blocks;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn is_block(layout: std::alloc::Layout) -> bool {
    layout.align() == 64 || layout.align() == 2 << 20
}

// SAFETY: every call is forwarded to `System`; counting neither allocates nor panics.
unsafe impl GlobalAlloc for Blocks {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        if is_block(layout) {
            let held = HELD.fetch_add(layout.size(), SeqCst) + layout.size();
            PEAK.fetch_max(held, SeqCst);
            COUNT.fetch_add(1, SeqCst);
        }
        // SAFETY: the caller's promises are those of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: std::alloc::Layout) {
        if is_block(layout) {
            HELD.fetch_sub(layout.size(), SeqCst);
        }
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Blocks = Blocks;

/// The number of blocks allocated by some work, and their peak in bytes.
fn measured(work: impl FnOnce()) -> (usize, usize) {
    let (before, count) = (HELD.load(SeqCst), COUNT.load(SeqCst));
    PEAK.store(before, SeqCst);
    work();
    (COUNT.load(SeqCst) - count, PEAK.load(SeqCst) - before)
}

/// Programs with arrays of `n` and `m` elements.
const PROGRAMS: [(&str, &str); 8] = [
    (
        "one kernel",
        "graph (%0: f32[N, M], %1: f32[N, M]) {
  %2 = add %0, %1 : f32[N, M]
  return %2
}",
    ),
    (
        "a row softmax",
        "graph (%0: f32[N, M]) {
  %1 = max %0 axes [1] keepdims : f32[N, 1]
  %2 = subtract %0, %1 : f32[N, M]
  %3 = exp %2 : f32[N, M]
  %4 = sum %3 axes [1] keepdims : f32[N, 1]
  %5 = divide %3, %4 : f32[N, M]
  return %5
}",
    ),
    (
        "arrays of many sizes, one after the other",
        "graph (%0: f32[N, M]) {
  %1 = exp %0 : f32[N, M]
  %2 = sum %1 axes [0] : f32[M]
  %3 = multiply %1, %2 : f32[N, M]
  %4 = cumulative_sum %3 axis 1 dtype f64 : f64[N, M]
  %5 = sum %4 axes [1] : f64[N]
  %6 = sqrt %5 : f64[N]
  return %6
}",
    ),
    (
        "a sum of all",
        "graph (%0: f32[N, M]) {
  %1 = multiply %0, %0 : f32[N, M]
  %2 = sum %1 axes [0, 1] : f32[]
  return %2
}",
    ),
    (
        "results early and late",
        "graph (%0: f32[N, M]) {
  %1 = exp %0 : f32[N, M]
  %2 = sum %1 axes [1] : f32[N]
  %3 = cumulative_sum %1 axis 0 : f32[N, M]
  %4 = sqrt %3 : f32[N, M]
  return %2, %4, %2
}",
    ),
    (
        "two long-lived arrays",
        "graph (%0: f32[N, M]) {
  %1 = cumulative_sum %0 axis 1 : f32[N, M]
  %2 = cumulative_sum %0 axis 0 : f32[N, M]
  %3 = cumulative_sum %1 axis 0 : f32[N, M]
  %4 = subtract %2, %3 : f32[N, M]
  return %4
}",
    ),
    (
        "integers added to a row",
        "graph (%0: f32[N, M]) {
  %1 = sum %0 axes [0] keepdims : f32[1, M]
  %2 = cast %1 : i32[1, M]
  %3 = max %0 axes [1] keepdims : f32[N, 1]
  %4 = cast %3 : i64[N, 1]
  %5 = cast %0 : i32[N, M]
  %6 = scatter add %2, %4, %5 : i32[1, M]
  return %6
}",
    ),
    (
        "floats added to a row",
        "graph (%0: f32[N, M]) {
  %1 = sum %0 axes [0] keepdims : f32[1, M]
  %2 = max %0 axes [1] keepdims : f32[N, 1]
  %3 = cast %2 : i64[N, 1]
  %4 = scatter add %1, %3, %0 : f32[1, M]
  return %4
}",
    ),
];

fn lowered(text: &str, fuse: bool) -> Lowered {
    let graph: Graph<ValueType> = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
    let layouts: Vec<Layout> =
        graph.params().iter().map(|&p| contiguous(graph.shape(p), DType::F32).unwrap()).collect();
    lower(&graph, &SourceLocs::default(), &layouts, &Options { fuse, ..Options::default() }).unwrap()
}

fn tensor(shape: &[usize]) -> Tensor {
    let element = |i: usize| Literal::weak((i % 61) as i64).to_repr(DType::F32).unwrap();
    Tensor::from_repr(DType::F32, Shape::new(shape), element).unwrap()
}

#[test]
fn peak_memory_is_known_before_a_run() {
    pool::set_limit(0);
    let mut cases = 0;
    for (name, text) in PROGRAMS {
        for (n, m) in [(16, 64), (100, 300), (1, 70_000), (2000, 256), (700, 1)] {
            let text = text.replace('N', &n.to_string()).replace('M', &m.to_string());
            for (fuse, threads, tile) in
                [(true, 1, None), (false, 1, None), (true, 2, None), (false, 2, None), (true, 2, Some(3))]
            {
                let case = format!("{name}, {n} by {m}, fuse {fuse}, {threads} threads, tiles {tile:?}");
                let program = lowered(&text, fuse);
                let options = RunOptions { threads: Some(threads), tile, ..RunOptions::default() };
                let executable = Executable::new(&program, &options).unwrap();
                let params: Vec<Tensor> = vec![tensor(&[n, m]); program.simplified.params().len()];
                let sizes: Vec<usize> = program
                    .stored
                    .iter()
                    .map(|&v| {
                        let graph = &program.simplified;
                        graph.shape(v).bytes(graph.ty(v).bytes()).unwrap()
                    })
                    .collect();
                let arguments = || params.iter().map(|p| Argument::Borrowed(&p.bytes));
                let memory = executable.memory();
                let (peak, scratch) = (memory.peak as usize, memory.scratch as usize);

                let mut fresh: Vec<Output> = sizes.iter().map(|_| Output::Fresh(None)).collect();
                let (blocks, held) = measured(|| executable.run(arguments(), &[], &mut fresh).unwrap());
                // Blocks exceed the request by a quarter at most.
                assert!(held <= peak + peak / 4 + 64 * blocks, "{case}: {held} held, {peak} said");
                let least = if threads == 1 { peak } else { peak - scratch };
                assert!(held >= least, "{case}: {held} held, {memory:?}");

                let mut into: Vec<Vec<u8>> = sizes.iter().map(|&size| vec![0; size]).collect();
                let mut outputs: Vec<Output> = into.iter_mut().map(|bytes| Output::Into(bytes)).collect();
                let (blocks, held) = measured(|| executable.run(arguments(), &[], &mut outputs).unwrap());
                let most = memory.arena as usize + scratch;
                assert!(held <= most + most / 4 + 64 * blocks, "{case}: {held} held into the caller's memory");
                for (result, bytes) in fresh.into_iter().zip(&into) {
                    let Output::Fresh(Some(result)) = result else { panic!("{case}: no result") };
                    assert!(result.as_bytes() == bytes, "{case}: results differ");
                }
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 200);

    // The array of each operation dies at the next one: only the result's buffer is needed.
    let chain: String = (1..=50).map(|n| format!("  %{n} = sqrt %{} : f32[16384]\n", n - 1)).collect();
    let program = lowered(&format!("graph (%0: f32[16384]) {{\n{chain}  return %50\n}}"), false);
    let executable = Executable::new(&program, &RunOptions::default()).unwrap();
    let memory = executable.memory();
    assert_eq!((memory.arrays, memory.temporaries, memory.arena, memory.peak), (50, 49 * 65536, 0, 65536));
    let x = tensor(&[16384]);
    let run = |output| executable.run([Argument::Borrowed(&x.bytes)], &[], &mut [output]).unwrap();
    assert_eq!(measured(|| run(Output::Fresh(None))), (1, 65536));
    let mut out = vec![0; 65536];
    assert_eq!(measured(|| run(Output::Into(&mut out))), (0, 0), "all of it in the caller's memory");

    // A loop has its state, and its body's next state; a nested loop the same.
    let text = "child @0 (%0: i32[], %1: i32[]) {
  %2 = less %0, %1 : bool[]
  return %2
}
child @1 (%0: i32[], %1: f32[N]) {
  %2 = literal #0 1_i32 : i32[]
  %3 = add %0, %2 : i32[]
  %4 = cumulative_sum %1 axis 0 : f32[N]
  %5 = cumulative_sum %4 axis 0 dtype f64 : f64[N]
  %6 = view %5 (d0) -> (-d0 + M) : f64[N]
  %7 = cumulative_sum %6 axis 0 : f64[N]
  %8 = cast %7 : f32[N]
  return %3, %8
}
child @2 (%0: i32[], %1: f32[N], %2: i32[]) {
  $0 = while condition @0 of [0, 2] body @1 of [0, 1]
  %3 = literal #0 0_i32 : i32[]
  %4, %5 = while $0 %3, %1, %2 : i32[], f32[N]
  %6 = literal #1 1_i32 : i32[]
  %7 = add %0, %6 : i32[]
  %8 = add %5, %1 : f32[N]
  return %7, %8
}
graph (%0: f32[N], %1: f32[]) {
  $0 = while condition @0 of [0, 2] body @2 of [0, 1, 2]
  %2 = literal #0 0_i32 : i32[]
  %3 = cast %1 : i32[]
  %4, %5 = while $0 %2, %0, %3 : i32[], f32[N]
  return %5
}";
    let n: usize = 40_000;
    let program = lowered(&text.replace('N', &n.to_string()).replace('M', &(n - 1).to_string()), true);
    let executable = Executable::new(&program, &RunOptions { threads: Some(1), ..RunOptions::default() }).unwrap();
    let said = executable.memory().peak as usize;
    let x = tensor(&[n]);
    let times = Tensor { shape: Shape::scalar(), bytes: 3f32.to_le_bytes().to_vec(), ..x.clone() };
    let arguments = [Argument::Borrowed(&x.bytes), Argument::Borrowed(&times.bytes)];
    let (blocks, held) = measured(|| executable.run(arguments, &[], &mut [Output::Fresh(None)]).unwrap());
    assert!(held <= said + said / 4 + 64 * blocks, "{held} held, {said} said");
    assert!(held >= said / 2, "{held} held, {said} said");
    // The result, the state of both loops, and three live arrays in the inner one.
    assert!(said > 4 * n * 5, "{said} said");
    let before = ndjit_runtime::planned::PlannedProgram::of(&program).unwrap().memory.peak as usize;
    assert!(before <= said && before > said - said / 10, "{before} before it is compiled, {said} after");
}
