//! Reductions compared with hand-written loops in any order: `cargo bench -p ndjit-bench --bench reductions`. Throughput is in bytes read.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndjit::{Array, Expr, jit};
use std::hint::black_box;

const SIDE: usize = 4096;

/// A sum in 32 lanes, as vector code.
fn by_hand(values: &[f32]) -> f32 {
    let mut lanes = [0f32; 32];
    let (groups, rest) = values.as_chunks::<32>();
    for group in groups {
        lanes.iter_mut().zip(group).for_each(|(lane, value)| *lane += value);
    }
    lanes.iter().sum::<f32>() + rest.iter().sum::<f32>()
}

fn group(
    c: &mut Criterion,
    (name, shape): (&str, &[usize]),
    input: &[f32],
    sum: fn(Expr) -> Expr,
    hand: fn(&[f32], &mut [f32]),
) {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Bytes(size_of_val(input) as u64)).sample_size(20);
    let array = Array::from_shape_vec(shape, input.to_vec()).expect("fits");
    let mut out = vec![0f32; if shape.len() == 2 { SIDE } else { 1 }];
    for threads in [1, 2] {
        let f = jit(sum).threads(threads);
        group.bench_function(format!("ndjit, {threads} threads"), |b| {
            b.iter(|| f.call_into((black_box(&array),), &mut out[..]).expect("runs"));
        });
    }
    group.bench_function("by hand, 1 thread", |b| b.iter(|| hand(black_box(input), &mut out)));
    group.finish();
}

fn reductions(c: &mut Criterion) {
    let square: Vec<f32> = (0..SIDE * SIDE).map(|i| (i % 1000) as f32 / 1000.0).collect();
    let rows = |input: &[f32], out: &mut [f32]| {
        out.iter_mut().zip(input.chunks_exact(SIDE)).for_each(|(out, row)| *out = by_hand(row));
    };
    let columns = |input: &[f32], out: &mut [f32]| {
        out.fill(0.0);
        for row in input.chunks_exact(SIDE) {
            out.iter_mut().zip(row).for_each(|(out, value)| *out += value);
        }
    };
    let all = |input: &[f32], out: &mut [f32]| out[0] = by_hand(input);
    group(c, ("rows of 4096x4096 f32", &[SIDE, SIDE]), &square, |x| x.sum(1), rows);
    group(c, ("columns of 4096x4096 f32", &[SIDE, SIDE]), &square, |x| x.sum(0), columns);
    group(c, ("1e7 f32", &[10_000_000]), &square[..10_000_000], |x| x.sum(..), all);
}

criterion_group!(benches, reductions);
criterion_main!(benches);
