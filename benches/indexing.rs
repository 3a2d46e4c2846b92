//! Indexing: `cargo bench -p ndjit-bench --bench indexing`. Throughput is in elements gathered, scattered or searched. NumPy's counterparts
//! on the same machine are `x[i]`, `numpy.add.at(x, i, y)`, `numpy.bincount(i, y)` and `numpy.searchsorted(x, v)`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndjit::{Array, Expr, Side, jit, searchsorted, take};
use std::hint::black_box;

/// Unordered indices below `end`.
fn positions(n: usize, end: usize) -> Vec<i32> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state) * end as u128) >> 64) as i32
    };
    (0..n).map(|_| next()).collect()
}

fn floats(n: usize) -> Vec<f32> {
    positions(n, 1 << 24).into_iter().map(|x| x as f32 / (1 << 24) as f32 - 0.5).collect()
}

/// 1e6 elements at indices in `from`.
fn gather(c: &mut Criterion, name: &str, from: usize) {
    let (table, i) = (floats(from), positions(1_000_000, from));
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(i.len() as u64)).sample_size(10);
    let mut out = vec![0f32; i.len()];
    let (x, at) = (Array::from(table.clone()), Array::from(i.clone()));
    for threads in [1, 2] {
        let f = jit(|x: Expr, i: Expr| take(x, i, 0)).threads(threads);
        group.bench_function(format!("take, {threads} threads"), |b| {
            b.iter(|| f.call_into((black_box(&x), &at), &mut out[..]).expect("runs"));
        });
    }
    group.bench_function("loop", |b| {
        b.iter(|| out.iter_mut().zip(&i).for_each(|(out, &i)| *out = black_box(&table)[i as usize]));
    });
    group.finish();
}

/// 1e7 values added to elements of `into`.
fn scatter(c: &mut Criterion, name: &str, into: usize) {
    let (y, i) = (floats(10_000_000), positions(10_000_000, into));
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(i.len() as u64)).sample_size(10);
    let (zeros, at, added) = (Array::from(vec![0f32; into]), Array::from(i.clone()), Array::from(y.clone()));
    let mut out = vec![0f32; into];
    for threads in [1, 2] {
        let f = jit(|x: Expr, i: Expr, y: Expr| x.at(i).add(y)).threads(threads);
        group.bench_function(format!("at.add, {threads} threads"), |b| {
            b.iter(|| f.call_into((&zeros, black_box(&at), &added), &mut out[..]).expect("runs"));
        });
    }
    group.bench_function("loop", |b| {
        b.iter(|| {
            out.fill(0.0);
            black_box(&i).iter().zip(&y).for_each(|(&i, &y)| out[i as usize] += y);
        });
    });
    group.finish();
}

/// 1e6 values searched in as many.
fn search(c: &mut Criterion) {
    let n = 1_000_000;
    let (mut sorted, values) =
        (floats(n), positions(n, 1 << 20).into_iter().map(|x| x as f32 / (1 << 20) as f32 - 0.5));
    sorted.sort_unstable_by(f32::total_cmp);
    let values: Vec<f32> = values.collect();
    let mut group = c.benchmark_group("1e6 searched in 1e6 f32");
    group.throughput(Throughput::Elements(n as u64)).sample_size(10);
    let (x, v) = (Array::from(sorted.clone()), Array::from(values.clone()));
    let mut out = vec![0i64; n];
    for threads in [1, 2] {
        let f = jit(|x: Expr, v: Expr| searchsorted(x, v, Side::Left)).threads(threads);
        group.bench_function(format!("searchsorted, {threads} threads"), |b| {
            b.iter(|| f.call_into((black_box(&x), &v), &mut out[..]).expect("runs"));
        });
    }
    group.bench_function("std, partition_point", |b| {
        b.iter(|| {
            let found = |&v: &f32| black_box(&sorted).partition_point(|&x| x < v) as i64;
            out.iter_mut().zip(&values).for_each(|(out, v)| *out = found(v));
        });
    });
    group.finish();
}

fn indexing(c: &mut Criterion) {
    gather(c, "1e6 taken from 1e3 f32", 1_000);
    gather(c, "1e6 taken from 1e6 f32", 1_000_000);
    scatter(c, "1e7 added to 1e3 f32", 1_000);
    scatter(c, "1e7 added to 1e6 f32", 1_000_000);
    search(c);
}

criterion_group!(benches, indexing);
criterion_main!(benches);
