//! Functions in cache on one thread, beside a scalar loop over Rust's: `cargo bench --bench functions`. Throughput is in elements.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndjit::{Expr, jit};
use std::hint::black_box;

/// Elements: inputs and results fit the first cache.
const LEN: usize = 2048;

macro_rules! benches {
    ($group:ident $float:ty: $($name:ident $ours:expr, $std:expr, $low:expr, $high:expr;)*) => {
        fn $group(c: &mut Criterion) {
            $(
                let (low, high): ($float, $float) = ($low, $high);
                let x: Vec<$float> = (0..LEN).map(|i| low + (high - low) * (i as $float + 0.5) / LEN as $float).collect();
                let mut out = vec![0.0 as $float; LEN];
                let mut group = c.benchmark_group(concat!(stringify!($group), " ", stringify!($name)));
                group.throughput(Throughput::Elements(LEN as u64)).sample_size(20);
                let ours: fn(Expr) -> Expr = $ours;
                let f = jit(ours).threads(1);
                group.bench_function("ndjit", |b| {
                    b.iter(|| f.call_into((black_box(&x[..]),), &mut out[..]).expect("runs"));
                });
                let std: fn($float) -> $float = $std;
                group.bench_function("std", |b| {
                    b.iter(|| out.iter_mut().zip(black_box(&x)).for_each(|(out, &x)| *out = std(x)));
                });
                group.finish();
            )*
        }
    };
}

benches! { single f32:
    exp ndjit::exp, f32::exp, -10.0, 10.0;
    log ndjit::log, f32::ln, 0.01, 100.0;
    sin ndjit::sin, f32::sin, -10.0, 10.0;
    cos ndjit::cos, f32::cos, -10.0, 10.0;
    tanh ndjit::tanh, f32::tanh, -3.0, 3.0;
}

benches! { double f64:
    exp ndjit::exp, f64::exp, -10.0, 10.0;
    log ndjit::log, f64::ln, 0.01, 100.0;
    sin ndjit::sin, f64::sin, -10.0, 10.0;
    cos ndjit::cos, f64::cos, -10.0, 10.0;
    tanh ndjit::tanh, f64::tanh, -3.0, 3.0;
}

criterion_group!(functions, single, double);
criterion_main!(functions);
