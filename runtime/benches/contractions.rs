//! Matrix products compared with the crate `gemm`, called directly on one thread: `cargo bench -p ndjit-runtime --bench contractions`.
//! Prints the best processor time of each, the best wall time of two threads, and the floating-point operations per second.

use gemm::{Parallelism, gemm};
use ndjit_codegen::{Options, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Shape, ValueType};
use ndjit_runtime::{Argument, Buffer, Executable, Output, RunOptions};
use ndjit_transform::access::contiguous;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The processor time of this thread, excluding other programs on the machine.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a plain call, which writes to its argument.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The best processor time of each run, interleaved, for a second or five times.
fn best<const N: usize>(mut runs: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let begun = Instant::now();
    let mut best = [Duration::MAX; N];
    let mut rounds = 0;
    while rounds < 5 || begun.elapsed() < Duration::from_secs(1) {
        for (run, best) in runs.iter_mut().zip(&mut best) {
            let start = processor_time();
            run();
            *best = processor_time().saturating_sub(start).min(*best);
        }
        rounds += 1;
    }
    best
}

fn direct<T: Copy + 'static>(n: usize, x: &[T], y: &[T], zero: T, one: T) -> impl FnMut() {
    let mut out = vec![zero; n * n];
    let stride = n as isize;
    move || {
        // SAFETY: three square matrices in row-major order, of `n * n` elements each.
        unsafe {
            gemm(
                n,
                n,
                n,
                out.as_mut_ptr(),
                1,
                stride,
                false,
                x.as_ptr(),
                1,
                stride,
                y.as_ptr(),
                1,
                stride,
                one,
                one,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
    }
}

/// Runs a program given as text with arguments of these shapes.
fn program<const N: usize>(
    text: &str,
    dtype: DType,
    arguments: [(&[usize], &[u8]); N],
    options: RunOptions,
) -> impl FnMut() + use<N> {
    let graph: Graph<ValueType> = text.parse().expect("a graph");
    let layouts = arguments.iter().map(|(shape, _)| contiguous(&Shape::from(*shape), dtype).expect("fits"));
    let layouts: Vec<Layout> = layouts.collect();
    let lowered = lower(&graph, &SourceLocs::default(), &layouts, &Options::default()).expect("lowers");
    let executable = Executable::new(&lowered, &options).expect("compiles");
    let arguments = arguments.map(|(_, bytes)| Arc::new(Buffer::from_bytes(bytes).expect("memory")));
    // Each call writes into the same memory, as the direct call of the crate does.
    let result = lowered.simplified.outputs()[0];
    let bytes = lowered.simplified.shape(result).bytes(dtype.bytes()).expect("fits");
    let mut out = Buffer::zeroed(bytes).expect("memory");
    move || {
        let mut outputs = [Output::Into(out.as_bytes_mut().expect("own memory"))];
        executable.run(arguments.each_ref().map(Argument::Shared), &[], &mut outputs).expect("runs");
    }
}

fn own(n: usize, dtype: DType, x: &[u8], y: &[u8], threads: usize) -> impl FnMut() + use<> {
    let text = format!(
        "graph (%0: {dtype}[{n}, {n}], %1: {dtype}[{n}, {n}]) {{
  %2 = view %0 (d0, d1, d2) -> (d0, d2) : {dtype}[{n}, 1, {n}]
  %3 = view %1 (d0, d1, d2) -> (d2, d1) : {dtype}[1, {n}, {n}]
  %4 = multiply %2, %3 : {dtype}[{n}, {n}, {n}]
  %5 = sum %4 axes [2] contracts : {dtype}[{n}, {n}]
  return %5
}}"
    );
    let options = RunOptions { threads: Some(threads), ..RunOptions::default() };
    program(&text, dtype, [(&[n, n], x), (&[n, n], y)], options)
}

/// `abs((x + x) @ w + b)` of an m by k and a k by n matrix: tile by tile where there are enough rows, compared with one kernel after the
/// other.
fn layer([m, k, n]: [usize; 3]) {
    let text = format!(
        "graph (%0: f32[{m}, {k}], %1: f32[{k}, {n}], %2: f32[{n}]) {{
  %3 = add %0, %0 : f32[{m}, {k}]
  %4 = view %3 (d0, d1, d2) -> (d0, d2) : f32[{m}, 1, {k}]
  %5 = view %1 (d0, d1, d2) -> (d2, d1) : f32[1, {n}, {k}]
  %6 = multiply %4, %5 : f32[{m}, {n}, {k}]
  %7 = sum %6 axes [2] contracts : f32[{m}, {n}]
  %8 = add %7, %2 : f32[{m}, {n}]
  %9 = abs %8 : f32[{m}, {n}]
  return %9
}}"
    );
    let numbers = |count: usize| (0..count).map(|i| (i % 1013) as f32 / 1013.0 - 0.5).collect::<Vec<f32>>();
    let [x, w, b] = [m * k, k * n, n].map(numbers);
    let [x, w, b] = [&x, &w, &b].map(|x| ndjit_runtime::bytes_of(x));
    let with = |tile| {
        let options = RunOptions { threads: Some(1), tile, ..RunOptions::default() };
        program(&text, DType::F32, [(&[m, k], x), (&[k, n], w), (&[n], b)], options)
    };
    let (mut tiles, mut whole) = (with(None), with(Some(m)));
    let [tiles, whole] = best([&mut tiles, &mut whole]);
    println!(
        "layer {m:5} x {k:3} x {n:4}: tile by tile {tiles:>9.2?}, one by one {whole:>9.2?} ({:.2})",
        whole.as_secs_f64() / tiles.as_secs_f64()
    );
}

fn row(n: usize, dtype: DType, mut direct: impl FnMut(), x: &[u8], y: &[u8]) {
    let [mut one, mut two] = [1, 2].map(|threads| own(n, dtype, x, y, threads));
    let [crate_alone, one] = best([&mut direct, &mut one]);
    let two = (0..5).map(|_| {
        let start = Instant::now();
        two();
        start.elapsed()
    });
    let two = two.min().unwrap_or_default();
    let rate = |time: Duration| 2.0 * (n as f64).powi(3) / time.as_secs_f64() / 1e9;
    println!(
        "{dtype} {n:4}: gemm {crate_alone:>9.2?} {:6.1} Gflop/s, ndjit {one:>9.2?} {:6.1} ({:.2} of gemm), two threads {two:>9.2?} {:6.1}",
        rate(crate_alone),
        rate(one),
        crate_alone.as_secs_f64() / one.as_secs_f64(),
        rate(two)
    );
}

fn main() {
    for n in [32, 64, 100, 128, 256, 500, 1000, 1024, 2048] {
        let numbers = |seed: u64| {
            (0..n * n).map(move |i| ((i as u64 + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / 4e6 - 2.0)
        };
        let [x, y] = [1, 2].map(|seed| numbers(seed).map(|x| x as f32).collect::<Vec<f32>>());
        let alone = direct(n, &x, &y, 0.0, 1.0);
        row(n, DType::F32, alone, ndjit_runtime::bytes_of(&x), ndjit_runtime::bytes_of(&y));
        let [x, y] = [1, 2].map(|seed| numbers(seed).collect::<Vec<f64>>());
        let alone = direct(n, &x, &y, 0.0, 1.0);
        row(n, DType::F64, alone, ndjit_runtime::bytes_of(&x), ndjit_runtime::bytes_of(&y));
    }
    for shape in
        [[512, 512, 512], [1024, 256, 1024], [2048, 64, 2048], [4096, 64, 1024], [4096, 512, 512], [65536, 64, 64]]
    {
        layer(shape);
    }
}
