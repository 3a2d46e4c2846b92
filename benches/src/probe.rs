//! The machine's limits, measured in the same run: bytes moved and arithmetic operations per second, by loops that the Rust compiler
//! vectorizes for the widest vectors.

use ndjit::DType;
use pulp::{Arch, Simd, WithSimd};
use serde_json::{Value, json};
use std::hint::black_box;
use std::time::Instant;

/// Bytes of three arrays together: in a core's caches, in the shared cache, and in memory.
const SETS: [usize; 3] = [24_000, 1_200_000, 120_000_000];

/// The machine's limits for so many threads.
pub struct Machine {
    /// Bytes per second of `x = y + s * z`, for each of [`SETS`].
    bandwidths: [f64; 3],
    /// Operations per second of multiply-adds on `f32` and `f64`.
    operations: [f64; 2],
}

impl Machine {
    /// Measures the machine, about `budget` seconds for each number.
    pub fn measure(threads: usize, budget: f64) -> Machine {
        let budget = budget.min(0.3);
        Machine {
            bandwidths: SETS.map(|bytes| {
                let part = bytes / threads / 12;
                together(threads, || {
                    let (mut x, y, z) = (vec![0f32; part], vec![1f32; part], vec![2f32; part]);
                    rate(budget, 12 * part, || {
                        Arch::new().dispatch(Triad { x: &mut x, y: &y, z: &z });
                        black_box(&mut x);
                    })
                })
            }),
            operations: [
                together(threads, || {
                    rate(budget, MultiplyAdds::<f32>::count(), || {
                        black_box(Arch::new().dispatch(MultiplyAdds(1f32)));
                    })
                }),
                together(threads, || {
                    rate(budget, MultiplyAdds::<f64>::count(), || {
                        black_box(Arch::new().dispatch(MultiplyAdds(1f64)));
                    })
                }),
            ],
        }
    }

    /// Bytes per second for calls that move so many.
    pub fn bandwidth(&self, bytes: usize) -> f64 {
        let nearest = |set: &usize| (*set as f64 / bytes.max(1) as f64).ln().abs();
        let set = (0..SETS.len()).min_by(|&a, &b| nearest(&SETS[a]).total_cmp(&nearest(&SETS[b])));
        self.bandwidths[set.unwrap_or(0)]
    }

    /// Operations per second.
    pub fn operations(&self, dtype: DType) -> f64 {
        self.operations[usize::from(dtype == DType::F64)]
    }

    /// The measurements as JSON.
    pub fn line(&self, threads: usize) -> Value {
        json!({
            "backend": "probe", "threads": threads, "sets_bytes": SETS, "bandwidth_bytes_per_s": self.bandwidths,
            "f32_ops_per_s": self.operations[0], "f64_ops_per_s": self.operations[1],
        })
    }
}

/// The sum over concurrent threads.
fn together(threads: usize, one: impl Fn() -> f64 + Sync) -> f64 {
    std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(&one)).collect();
        started.into_iter().filter_map(|thread| thread.join().ok()).sum()
    })
}

/// The best rate per second of calls that do `amount`.
fn rate(budget: f64, amount: usize, mut call: impl FnMut()) -> f64 {
    let (start, mut best) = (Instant::now(), f64::INFINITY);
    while start.elapsed().as_secs_f64() < budget {
        let begin = Instant::now();
        let mut calls = 0;
        while begin.elapsed().as_secs_f64() < 1e-3 {
            call();
            calls += 1;
        }
        best = best.min(begin.elapsed().as_secs_f64() / f64::from(calls));
    }
    amount as f64 / best
}

/// `x = y + s * z`, STREAM's triad.
struct Triad<'a> {
    x: &'a mut [f32],
    y: &'a [f32],
    z: &'a [f32],
}

impl WithSimd for Triad<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for ((x, y), z) in self.x.iter_mut().zip(self.y).zip(self.z) {
            *x = *y + 3.0 * *z;
        }
    }
}

/// Independent chains of multiply-adds.
struct MultiplyAdds<T>(T);

const CHAINS: usize = 12;
const STEPS: usize = 2000;

impl<T> MultiplyAdds<T> {
    /// Operations per call.
    fn count() -> usize {
        struct Width(usize);
        impl WithSimd for Width {
            type Output = usize;

            #[inline(always)]
            fn with_simd<S: Simd>(self, _: S) -> usize {
                size_of::<S::f32s>() / self.0
            }
        }
        2 * CHAINS * STEPS * Arch::new().dispatch(Width(size_of::<T>()))
    }
}

impl WithSimd for MultiplyAdds<f32> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let (a, b) = (simd.splat_f32s(black_box(0.999)), simd.splat_f32s(black_box(self.0)));
        let mut chains = [b; CHAINS];
        for _ in 0..STEPS {
            for chain in &mut chains {
                *chain = simd.mul_add_f32s(*chain, a, b);
            }
        }
        chains.into_iter().map(|chain| simd.reduce_sum_f32s(chain)).sum()
    }
}

impl WithSimd for MultiplyAdds<f64> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (a, b) = (simd.splat_f64s(black_box(0.999)), simd.splat_f64s(black_box(self.0)));
        let mut chains = [b; CHAINS];
        for _ in 0..STEPS {
            for chain in &mut chains {
                *chain = simd.mul_add_f64s(*chain, a, b);
            }
        }
        chains.into_iter().map(|chain| simd.reduce_sum_f64s(chain)).sum()
    }
}
