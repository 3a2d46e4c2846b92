//! A GPU compared with the processor: call latency, elementwise kernels and a copy, reductions, scans, and copies between host and device.
//! `cargo bench -p ndjit-bench --features gpu --bench gpu`; it prints the device, and whether it is software. Arrays have 1e8 elements on
//! cards, 1e6 on software.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ndjit::gpu::{GpuKind, list};
use ndjit::{Array, Device, Expr, Result, exp, jit};
use std::hint::black_box;

/// The device, and the number of elements for it; `None` without a device, which is printed.
fn device() -> Option<(Device, usize)> {
    let Some(info) = list().into_iter().next() else {
        println!("SKIPPED: there is no GPU");
        return None;
    };
    println!("on {info}");
    Some((Device::gpu(), if info.kind == GpuKind::Software { 1_000_000 } else { 100_000_000 }))
}

fn call(c: &mut Criterion) {
    let Some((device, _)) = device() else { return };
    let x = Array::from([1.0f32; 8]).on(device);
    let f = jit(|x| x + 1).on(device);
    let mut group = c.benchmark_group("gpu call, 8 elements");
    group.bench_function("until it is done", |b| b.iter(|| finished(f.call((black_box(&x),)))));
    group.bench_function("with reading the result", |b| {
        b.iter(|| f.call((black_box(&x),)).and_then(|y| y.to_vec::<f32>()).expect("runs"));
    });
    group.bench_function("100 calls, then waiting", |b| {
        b.iter(|| finished((0..99).try_fold(x.clone(), |x, _| f.call((&x,))).and_then(|x| f.call((&x,)))));
    });
    group.finish();
}

fn kernels(c: &mut Criterion) {
    let Some((device, len)) = device() else { return };
    let arrays = [Array::from(vec![0.5f32; len]), Array::from(vec![0.25f32; len])];
    type Function = fn(Expr, Expr) -> Expr;
    let kernels: [(&str, u64, Function); 6] = [
        ("x + 0, a copy", 2, |x, _| x + 0),
        ("x + y * 2", 3, |x, y| x + y * 2),
        ("exp(x) * y", 3, |x, y| exp(x) * y),
        ("x.f16 + y.f16", 3, |x, y| x.astype(ndjit::DType::F16) + y.astype(ndjit::DType::F16)),
        ("sum of squares", 1, |x, _| ndjit::sum(x * x, ..)),
        ("cumulative sum", 2, |x, _| ndjit::cumulative_sum(x, -1)),
    ];
    let mut group = c.benchmark_group(format!("gpu, {len} f32"));
    group.sample_size(10);
    for (name, moved, function) in kernels {
        group.throughput(Throughput::Bytes(moved * 4 * len as u64));
        for (place, device) in [("gpu", device), ("cpu", Device::CPU)] {
            let f = jit(function).on(device);
            let [x, y] = arrays.clone().map(|array| array.on(device));
            group.bench_function(BenchmarkId::new(name, place), |b| b.iter(|| finished(f.call((&x, &y)))));
        }
    }
    group.finish();
}

fn copies(c: &mut Criterion) {
    let Some((device, len)) = device() else { return };
    let mut group = c.benchmark_group(format!("gpu copies, {len} f32"));
    group.sample_size(10).throughput(Throughput::Bytes(4 * len as u64));
    let here = Array::from(vec![0.5f32; len]);
    let there = here.on(device);
    group.bench_function("to the device", |b| b.iter(|| finished(Ok(here.on(device)))));
    group.bench_function("to the host", |b| b.iter(|| finished(Ok(there.on(Device::CPU)))));
    group.finish();
}

/// Waits for a result.
fn finished(result: Result<Array>) -> Array {
    let array = result.expect("runs");
    array.block_until_ready().expect("runs");
    array
}

criterion_group!(gpu, call, kernels, copies);
criterion_main!(gpu);
