//! Expressions over rows and columns, and the memory bandwidth: `cargo bench -p ndjit-bench --bench rows`. Throughput is in bytes of the
//! inputs. The first three are kernels of the peers' benchmark (jax, numexpr, numba, NumPy), with its sizes.

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use ndjit::{Array, Expr, exp, jit, keepdims, sliding_window};
use std::hint::black_box;

fn array(shape: &[usize]) -> Array {
    let count = shape.iter().product::<usize>();
    let numbers = (0..count).map(|i| ((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / 4e6 - 2.0);
    Array::from_shape_vec(shape, numbers.collect::<Vec<f32>>()).expect("fits")
}

fn sized<'a>(c: &'a mut Criterion, name: &str, bytes: usize) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Bytes(bytes as u64)).sample_size(20);
    group
}

fn softmax(x: Expr) -> Expr {
    let e = exp(x - x.max(keepdims(-1)));
    e / e.sum(keepdims(-1))
}

fn rows(c: &mut Criterion) {
    let (x, a, b) = (array(&[1000, 1000]), array(&[10_000_000]), array(&[10_000_000]));
    let (column, row) = (array(&[3000, 1]), array(&[1, 3000]));
    let big = array(&[4096, 4096]);
    for threads in [1, 2] {
        let name = |what: &str| format!("{what}, {threads} threads");
        let f = jit(softmax).threads(threads);
        sized(c, &name("softmax of rows, 1000x1000"), 4_000_000)
            .bench_function("ndjit", |bench| bench.iter(|| f(black_box(&x))));
        let f = jit(|a: Expr, b: Expr| ((a - b) * (a - b)).sum(..)).threads(threads);
        sized(c, &name("sum of squares of differences, 1e7"), 80_000_000)
            .bench_function("ndjit", |bench| bench.iter(|| f(black_box(&a), &b).item::<f32>()));
        let outer = |a: Expr, b: Expr| {
            let distance = a - b;
            exp(-(distance * distance))
        };
        let f = jit(outer).threads(threads);
        sized(c, &name("exp(-(a-b)^2), 3000x3000"), 36_000_000)
            .bench_function("ndjit", |bench| bench.iter(|| f(black_box(&column), &row)));
        let f = jit(|x: Expr| sliding_window(x, 7, 0).mean(-1)).threads(threads);
        sized(c, &name("moving average of 7, 1e7"), 40_000_000)
            .bench_function("ndjit", |bench| bench.iter(|| f(black_box(&a))));
        for axis in [1, 0] {
            let mut group = sized(c, &name(&format!("4096x4096 along axis {axis}")), 4 * 4096 * 4096);
            let probe = jit(move |x: Expr| x.sum(axis)).threads(threads);
            group.bench_function("sum (probe)", |bench| bench.iter(|| probe(black_box(&big))));
            let f = jit(move |x: Expr| (x.mean(axis), x.var(axis))).threads(threads);
            group.bench_function("mean and variance", |bench| bench.iter(|| f(black_box(&big))));
            let f = jit(move |x: Expr| (x.min(axis), x.max(axis))).threads(threads);
            group.bench_function("min and max", |bench| bench.iter(|| f(black_box(&big))));
            let f = jit(move |x: Expr| x.argmax(axis)).threads(threads);
            group.bench_function("argmax", |bench| bench.iter(|| f(black_box(&big))));
            let f = jit(move |x: Expr| x.cumulative_sum(axis)).threads(threads);
            group.bench_function("cumulative sum", |bench| bench.iter(|| f(black_box(&big))));
        }
    }
}

criterion_group!(benches, rows);
criterion_main!(benches);
