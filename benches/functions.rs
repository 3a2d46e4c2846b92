//! Functions in cache on one thread, compared with a scalar loop over Rust's, or CORE-MATH's if Rust has none (erf, erfc, lgamma,
//! tgamma): `cargo bench -p ndjit-bench --bench functions`. Throughput is in elements.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndjit::{Expr, jit};
use std::hint::black_box;

/// Elements: inputs and results fit the second-level cache, and the call overhead (0.2 us, see the bench `engine`) is small.
const LEN: usize = 8192;

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

macro_rules! functions {
    ($group:ident $float:ident $erf:ident $erfc:ident $lgamma:ident $tgamma:ident) => {
        benches! { $group $float:
            exp ndjit::exp, $float::exp, -10.0, 10.0;
            exp2 ndjit::exp2, $float::exp2, -10.0, 10.0;
            expm1 ndjit::expm1, $float::exp_m1, -3.0, 3.0;
            log ndjit::log, $float::ln, 0.01, 100.0;
            log2 ndjit::log2, $float::log2, 0.01, 100.0;
            log10 ndjit::log10, $float::log10, 0.01, 100.0;
            log1p ndjit::log1p, $float::ln_1p, -0.9, 10.0;
            sin ndjit::sin, $float::sin, -10.0, 10.0;
            cos ndjit::cos, $float::cos, -10.0, 10.0;
            tan ndjit::tan, $float::tan, -10.0, 10.0;
            asin ndjit::asin, $float::asin, -1.0, 1.0;
            acos ndjit::acos, $float::acos, -1.0, 1.0;
            atan ndjit::atan, $float::atan, -10.0, 10.0;
            atan2 |x| ndjit::atan2(x, 1 - x), |x| x.atan2(1.0 - x), -10.0, 10.0;
            sinh ndjit::sinh, $float::sinh, -3.0, 3.0;
            cosh ndjit::cosh, $float::cosh, -3.0, 3.0;
            tanh ndjit::tanh, $float::tanh, -3.0, 3.0;
            asinh ndjit::asinh, $float::asinh, -10.0, 10.0;
            acosh ndjit::acosh, $float::acosh, 1.0, 10.0;
            atanh ndjit::atanh, $float::atanh, -1.0, 1.0;
            cbrt ndjit::cbrt, $float::cbrt, -10.0, 10.0;
            hypot |x| ndjit::hypot(x, 1 - x), |x| x.hypot(1.0 - x), -10.0, 10.0;
            pow |x| ndjit::pow(x, 1 - x), |x| x.powf(1.0 - x), 0.01, 10.0;
            sigmoid ndjit::sigmoid, |x| 1.0 / (1.0 + (-x).exp()), -10.0, 10.0;
            fmod |x| ndjit::fmod(x, 0.7), |x| x % 0.7, -100.0, 100.0;
            erf ndjit::erf, core_math::$erf, -3.0, 3.0;
            erfc ndjit::erfc, core_math::$erfc, -3.0, 8.0;
            lgamma ndjit::lgamma, core_math::$lgamma, 0.1, 20.0;
            tgamma ndjit::tgamma, core_math::$tgamma, 0.1, 20.0;
        }
    };
}

functions!(single f32 erff erfcf lgammaf tgammaf);
functions!(double f64 erf erfc lgamma tgamma);

criterion_group!(functions, single, double);
criterion_main!(functions);
