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
    exp2 ndjit::exp2, f32::exp2, -10.0, 10.0;
    expm1 ndjit::expm1, f32::exp_m1, -3.0, 3.0;
    log ndjit::log, f32::ln, 0.01, 100.0;
    log2 ndjit::log2, f32::log2, 0.01, 100.0;
    log10 ndjit::log10, f32::log10, 0.01, 100.0;
    log1p ndjit::log1p, f32::ln_1p, -0.9, 10.0;
    sin ndjit::sin, f32::sin, -10.0, 10.0;
    cos ndjit::cos, f32::cos, -10.0, 10.0;
    tan ndjit::tan, f32::tan, -10.0, 10.0;
    asin ndjit::asin, f32::asin, -1.0, 1.0;
    acos ndjit::acos, f32::acos, -1.0, 1.0;
    atan ndjit::atan, f32::atan, -10.0, 10.0;
    atan2 |x| ndjit::atan2(x, 1 - x), |x| x.atan2(1.0 - x), -10.0, 10.0;
    sinh ndjit::sinh, f32::sinh, -3.0, 3.0;
    cosh ndjit::cosh, f32::cosh, -3.0, 3.0;
    tanh ndjit::tanh, f32::tanh, -3.0, 3.0;
    asinh ndjit::asinh, f32::asinh, -10.0, 10.0;
    acosh ndjit::acosh, f32::acosh, 1.0, 10.0;
    atanh ndjit::atanh, f32::atanh, -1.0, 1.0;
    cbrt ndjit::cbrt, f32::cbrt, -10.0, 10.0;
    hypot |x| ndjit::hypot(x, 1 - x), |x| x.hypot(1.0 - x), -10.0, 10.0;
    pow |x| ndjit::pow(x, 1 - x), |x| x.powf(1.0 - x), 0.01, 10.0;
}

benches! { double f64:
    exp ndjit::exp, f64::exp, -10.0, 10.0;
    exp2 ndjit::exp2, f64::exp2, -10.0, 10.0;
    expm1 ndjit::expm1, f64::exp_m1, -3.0, 3.0;
    log ndjit::log, f64::ln, 0.01, 100.0;
    log2 ndjit::log2, f64::log2, 0.01, 100.0;
    log10 ndjit::log10, f64::log10, 0.01, 100.0;
    log1p ndjit::log1p, f64::ln_1p, -0.9, 10.0;
    sin ndjit::sin, f64::sin, -10.0, 10.0;
    cos ndjit::cos, f64::cos, -10.0, 10.0;
    tan ndjit::tan, f64::tan, -10.0, 10.0;
    asin ndjit::asin, f64::asin, -1.0, 1.0;
    acos ndjit::acos, f64::acos, -1.0, 1.0;
    atan ndjit::atan, f64::atan, -10.0, 10.0;
    atan2 |x| ndjit::atan2(x, 1 - x), |x| x.atan2(1.0 - x), -10.0, 10.0;
    sinh ndjit::sinh, f64::sinh, -3.0, 3.0;
    cosh ndjit::cosh, f64::cosh, -3.0, 3.0;
    tanh ndjit::tanh, f64::tanh, -3.0, 3.0;
    asinh ndjit::asinh, f64::asinh, -10.0, 10.0;
    acosh ndjit::acosh, f64::acosh, 1.0, 10.0;
    atanh ndjit::atanh, f64::atanh, -1.0, 1.0;
    cbrt ndjit::cbrt, f64::cbrt, -10.0, 10.0;
    hypot |x| ndjit::hypot(x, 1 - x), |x| x.hypot(1.0 - x), -10.0, 10.0;
    pow |x| ndjit::pow(x, 1 - x), |x| x.powf(1.0 - x), 0.01, 10.0;
}

criterion_group!(functions, single, double);
criterion_main!(functions);
