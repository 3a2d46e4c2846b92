//! Sorts compared with the standard library's: `cargo bench -p ndjit-bench --bench sorts`. Throughput is in elements. NumPy's counterparts
//! on the same machine are `numpy.sort(x)`, `numpy.sort(x, kind="stable")` and the same with `argsort`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndjit::{Array, Expr, jit};
use std::hint::black_box;

/// Unordered values from -0.5 to 0.5.
fn numbers(n: usize) -> Vec<f32> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..n).map(|_| next()).collect()
}

fn group(c: &mut Criterion, name: &str, shape: &[usize]) {
    let elements = numbers(shape.iter().product());
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(elements.len() as u64)).sample_size(10);
    let array = Array::from_shape_vec(shape, elements.clone()).expect("fits");
    let (mut sorted, mut order) = (vec![0f32; elements.len()], vec![0i32; elements.len()]);
    for threads in [1, 2] {
        let f = jit(|x: Expr| x.sort(-1)).threads(threads);
        group.bench_function(format!("sort, {threads} threads"), |b| {
            b.iter(|| f.call_into((black_box(&array),), &mut sorted[..]).expect("runs"));
        });
        let f = jit(|x: Expr| x.argsort(-1)).threads(threads);
        group.bench_function(format!("argsort, {threads} threads"), |b| {
            b.iter(|| f.call_into((black_box(&array),), &mut order[..]).expect("runs"));
        });
    }
    let row = shape.last().copied().unwrap_or(1);
    group.bench_function("std, sort_unstable", |b| {
        b.iter(|| {
            sorted.copy_from_slice(black_box(&elements));
            sorted.chunks_mut(row).for_each(|row| row.sort_unstable_by(f32::total_cmp));
        });
    });
    group.finish();
}

fn sorts(c: &mut Criterion) {
    group(c, "1e7 f32", &[10_000_000]);
    group(c, "1e5 f32", &[100_000]);
    group(c, "10000 rows of 1000 f32", &[10_000, 1_000]);
    group(c, "1000000 rows of 8 f32", &[1_000_000, 8]);
}

criterion_group!(benches, sorts);
criterion_main!(benches);
