//! Benchmarks of the engine: compile time per kernel, call overhead, and fused kernels compared with unfused ones and hand-written loops.
//! Run all with `cargo bench -p ndjit-bench --bench engine`, one group with `cargo bench -p ndjit-bench --bench engine -- compile`.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use ndjit::{Array, Expr, jit};
use ndjit_runtime::cache::Bounds;
use ndjit_runtime::kernels;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Duration;

/// Twenty arithmetic ops.
fn twenty(x: Expr, y: Expr) -> Expr {
    let a = (x + y) * (x - y) + x * y;
    let b = (a * 0.5 - x) * (a + 1.5) + y * 0.25;
    let c = (b - a) * (b + a) - b * 3.0;
    (c + b) * (c - a) + x
}

/// From closure to result on 8 elements, with every kernel compiled anew: the process's kernel cache is disabled.
fn compile(c: &mut Criterion) {
    kernels::set_bounds(Bounds { count: 0, weight: 0 });
    let x = Array::from([1.0f32; 8]);
    let y = Array::from([2.0f32; 8]);
    let mut group = c.benchmark_group("compile");
    group.bench_function("x + y * 2", |b| {
        b.iter(|| jit(|x, y| x + y * 2).call((black_box(&x), &y)).expect("runs"));
    });
    group.bench_function("20 ops", |b| b.iter(|| jit(twenty).call((black_box(&x), &y)).expect("runs")));
    group.bench_function("exp", |b| b.iter(|| jit(|x: Expr| x.exp()).call((black_box(&x),)).expect("runs")));
    group.finish();
    kernels::set_bounds(Bounds { count: 1024, weight: 64 << 20 });
    let mut group = c.benchmark_group("trace");
    group.bench_function("x + y * 2, kernel cached", |b| {
        b.iter(|| jit(|x, y| x + y * 2).call((black_box(&x), &y)).expect("runs"));
    });
    group.finish();
}

/// A call on 8 elements: its overhead.
fn call(c: &mut Criterion) {
    let (x, y) = (Array::from([1.0f32; 8]), Array::from([2.0f32; 8]));
    let f = jit(|x, y| x + y * 2);
    let mut out = [0.0f32; 8];
    let mut group = c.benchmark_group("call");
    group.bench_function("8 elements, result into a slice", |b| {
        b.iter(|| f.call_into((black_box(&x), &y), &mut out[..]).expect("runs"));
    });
    group.bench_function("8 elements, fresh result", |b| b.iter(|| f.call((black_box(&x), &y)).expect("runs")));
    group.finish();
}

/// `x + y * 2` on 1e7 f32 in place, compared with a hand-written rayon loop.
fn in_place(c: &mut Criterion) {
    const N: usize = 10_000_000;
    let mut group = c.benchmark_group("in place, 1e7 f32");
    group.throughput(Throughput::Elements(N as u64)).measurement_time(Duration::from_secs(8));
    let f = jit(|x, y| x + y * 2);
    let y = Array::from(vec![1e-6f32; N]);
    let mut x = Some(Array::from(vec![1.0f32; N]));
    group.bench_function("ndjit, donated", |b| {
        b.iter(|| x = x.take().map(|x| f.call((x, &y)).expect("runs")));
    });
    let (mut x, y) = (vec![1.0f32; N], vec![1e-6f32; N]);
    group.bench_function("rayon by hand", |b| {
        b.iter(|| {
            x.par_chunks_mut(1 << 16).zip(y.par_chunks(1 << 16)).for_each(|(x, y)| {
                x.iter_mut().zip(y).for_each(|(x, y)| *x += y * 2.0);
            });
        });
    });
    group.finish();
}

/// A chain of ops in one kernel, in a kernel each, and hand-written; one thread.
fn fusion(c: &mut Criterion) {
    let mut group = c.benchmark_group("fusion, 20 ops, one thread");
    for n in [1_000usize, 100_000, 4_000_000] {
        group.throughput(Throughput::Elements(n as u64));
        let xs: Vec<f32> = (0..n).map(|i| i as f32 / n as f32).collect();
        let ys: Vec<f32> = xs.iter().map(|x| 1.0 - x).collect();
        let mut out = vec![0.0f32; n];
        for (name, fuse) in [("fused", true), ("unfused", false)] {
            let f = jit(twenty).threads(1).fuse(fuse);
            group.bench_function(format!("{name}/{n}"), |b| {
                b.iter(|| f.call_into((black_box(&xs), &ys), &mut out[..]).expect("runs"));
            });
        }
        group.bench_function(format!("by hand/{n}"), |b| {
            b.iter_batched(
                || (),
                |()| {
                    for ((out, &x), &y) in out.iter_mut().zip(black_box(&xs)).zip(&ys) {
                        let a = (x + y) * (x - y) + x * y;
                        let b = (a * 0.5 - x) * (a + 1.5) + y * 0.25;
                        let c = (b - a) * (b + a) - b * 3.0;
                        *out = (c + b) * (c - a) + x;
                    }
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, compile, call, in_place, fusion);
criterion_main!(benches);
