//! Checks of distributions: counts in a million equally likely classes, whose bounds are used to compare distribution functions.

use crate::bits::Check;
use crate::probability::{chi_square_of, kolmogorov, normal};
use ndjit::{Array, DType, Expr, Result, dtype, erfc, expm1, jit, random};

/// The number of draws at a time.
pub const CHUNK: usize = 1 << 20;
const CLASSES: usize = 1 << 20;

/// Numbers to be uniformly distributed in [0, 1].
pub struct Even {
    classes: Vec<u64>,
    count: u64,
    sums: [f64; 2],
}

impl Even {
    pub fn new() -> Even {
        Even { classes: vec![0; CLASSES], count: 0, sums: [0.0; 2] }
    }

    pub fn see(&mut self, numbers: &[f64]) {
        for &number in numbers {
            self.classes[((number * CLASSES as f64) as usize).min(CLASSES - 1)] += 1;
            let off = number - 0.5;
            self.sums[0] += off;
            self.sums[1] += off * off - 1.0 / 12.0;
        }
        self.count += numbers.len() as u64;
    }

    /// The largest distance of the distribution functions, and its probability.
    pub fn kolmogorov(&self) -> f64 {
        let (mut below, mut distance) = (0, 0f64);
        for (n, seen) in self.classes.iter().enumerate() {
            below += seen;
            let expected = (n + 1) as f64 / CLASSES as f64;
            distance = distance.max((below as f64 / self.count as f64 - expected).abs());
        }
        kolmogorov(distance, self.count as f64)
    }

    /// Mean and variance.
    pub fn moments(&self) -> [f64; 2] {
        let root = (self.count as f64).sqrt();
        // The variance of x^2 about its mean is 1/180.
        [self.sums[0] / root * 12f64.sqrt(), self.sums[1] / root * 180f64.sqrt()].map(normal)
    }
}

/// A distribution: its name, its numbers, and their distribution function.
struct Distribution {
    name: &'static str,
    about: &'static str,
    even: fn(Expr) -> Expr,
}

/// `Φ`, exact in its tails too.
fn normal_below(x: Expr) -> Expr {
    0.5 * erfc(x.cast(DType::F64) * -std::f64::consts::FRAC_1_SQRT_2)
}

/// Classes are wider than the resolution of draws, so numbers represent the middle of a step.
const DISTRIBUTIONS: [Distribution; 5] = [
    Distribution {
        name: "uniform f32",
        about: "Kolmogorov and Smirnov",
        even: |key| dtype(DType::F32).uniform(key, CHUNK, 0..1).cast(DType::F64) + 0.5f64.powi(24),
    },
    Distribution {
        name: "uniform f64",
        about: "Kolmogorov and Smirnov",
        even: |key| dtype(DType::F64).uniform(key, CHUNK, 0..1),
    },
    Distribution {
        name: "normal f32",
        about: "Kolmogorov and Smirnov, after its distribution function",
        even: |key| normal_below(dtype(DType::F32).normal(key, CHUNK)),
    },
    Distribution {
        name: "normal f64",
        about: "Kolmogorov and Smirnov, after its distribution function",
        even: |key| normal_below(dtype(DType::F64).normal(key, CHUNK)),
    },
    Distribution {
        name: "exponential f64",
        about: "Kolmogorov and Smirnov, after its distribution function",
        even: |key| -expm1(-dtype(DType::F64).exponential(key, CHUNK)),
    },
];

/// Checks of all distributions on so many chunks of numbers each.
pub fn distributions(key: &Array, chunks: usize) -> Result<Vec<Check>> {
    let mut checks = Vec::new();
    for (n, Distribution { name, about, even }) in DISTRIBUTIONS.iter().enumerate() {
        let keys = random::keys(random::fold_in(key, n), chunks);
        let even = jit(even);
        let mut seen = Even::new();
        for chunk in 0..chunks {
            seen.see(&even.call((&keys.slice(chunk),))?.to_vec::<f64>()?);
        }
        checks.push(Check { name, about, p: seen.kolmogorov() });
        if n < 2 {
            let [mean, variance] = seen.moments();
            checks.push(Check { name, about: "mean", p: mean });
            checks.push(Check { name, about: "variance", p: variance });
        }
    }
    checks.extend(counted(key, chunks)?);
    Ok(checks)
}

/// Checks of integers and bools.
fn counted(key: &Array, chunks: usize) -> Result<Vec<Check>> {
    let (mut dice, mut heads, mut wide) = ([0u64; 6], 0u64, [0u64; 1000]);
    let drawn = jit(|key: Expr| {
        let [a, b, c] = random::split(key);
        let (dice, heads) = (random::randint(a, CHUNK, 1..7), random::bernoulli(b, CHUNK, 0.3));
        (dice, heads.count_nonzero(..), dtype(DType::I64).randint(c, CHUNK, -500..500))
    });
    let keys = random::keys(random::fold_in(key, 1000), chunks);
    for chunk in 0..chunks {
        let (faces, on, far) = drawn.call((&keys.slice(chunk),))?;
        faces.to_vec::<i32>()?.into_iter().for_each(|face| dice[face as usize - 1] += 1);
        far.to_vec::<i64>()?.into_iter().for_each(|n| wide[(n + 500) as usize] += 1);
        heads += on.item::<i32>()? as u64;
    }
    let count = (chunks * CHUNK) as f64;
    // The effective probability: the nearest multiple of 2^-23.
    let p = (0.3f64 * 2f64.powi(23)).ceil() / 2f64.powi(23);
    let z = (heads as f64 - count * p) / (count * p * (1.0 - p)).sqrt();
    Ok(vec![
        Check { name: "randint 1..7", about: "each as often", p: chi_square_of(&dice, |_| count / 6.0) },
        Check { name: "randint -500..500", about: "each as often", p: chi_square_of(&wide, |_| count / 1000.0) },
        Check { name: "bernoulli 0.3", about: "how many are true", p: normal(z) },
    ])
}
