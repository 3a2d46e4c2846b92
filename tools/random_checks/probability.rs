//! Probabilities of statistics: of one at least as extreme as observed.

/// A normally distributed statistic of mean 0 and variance 1, two-sided.
pub fn normal(z: f64) -> f64 {
    core_math::erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// A chi-square statistic with so many degrees of freedom, upper tail.
pub fn chi_square(statistic: f64, degrees: usize) -> f64 {
    1.0 - lower_gamma(degrees as f64 / 2.0, statistic / 2.0)
}

/// The statistic of counts against expected ones.
pub fn chi_square_of(counts: &[u64], expected: impl Fn(usize) -> f64) -> f64 {
    let term = |(n, &count): (usize, &u64)| (count as f64 - expected(n)).powi(2) / expected(n);
    let statistic = counts.iter().enumerate().map(term).sum();
    chi_square(statistic, counts.len() - 1)
}

/// Of a count with a Poisson distribution, to either side.
pub fn poisson(count: u64, mean: f64) -> f64 {
    let at_least = if count == 0 { 1.0 } else { lower_gamma(count as f64, mean) };
    let at_most = 1.0 - lower_gamma(count as f64 + 1.0, mean);
    (2.0 * at_least.min(at_most)).min(1.0)
}

/// Of the largest distance between two distribution functions, the second of so many numbers (Kolmogorov and Smirnov, with Stephens's
/// correction).
pub fn kolmogorov(distance: f64, count: f64) -> f64 {
    let root = count.sqrt();
    let x = (root + 0.12 + 0.11 / root) * distance;
    if x < 0.3 {
        return 1.0;
    }
    let term = |k: i32| (-2.0 * f64::from(k * k) * x * x).exp() * if k % 2 == 1 { 2.0 } else { -2.0 };
    (1..100).map(term).sum::<f64>().clamp(0.0, 1.0)
}

/// The incomplete gamma function, over the whole one: by its series below, by its continued fraction above (Lentz).
fn lower_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let factor = (a * x.ln() - x - core_math::lgamma(a)).exp();
    if x < a + 1.0 {
        let (mut sum, mut term, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * 1e-16 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return (sum * factor).min(1.0);
    }
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (f64::INFINITY, 1.0 / b);
    let mut fraction = d;
    for n in 1..100_000 {
        let n = f64::from(n);
        let step = -n * (n - a);
        b += 2.0;
        d = 1.0 / (step * d + b);
        c = b + step / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (1.0 - factor * fraction).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SciPy 1.17: `norm.sf`, `chi2.sf`, `poisson`, `kstwobign.sf`.
    #[test]
    fn the_probabilities_are_those_of_scipy() {
        let near =
            |got: f64, expected: f64| assert!((got - expected).abs() < 1e-9 + 1e-3 * expected, "{got} {expected}");
        near(normal(1.96), 0.04999579029644087);
        near(chi_square(293.2478, 255), 0.050000146);
        near(chi_square(3.0, 5), 0.6999858358786276);
        near(chi_square(65_535.0, 65_535), 0.4992653724);
        near(poisson(64, 64.0), 1.0);
        near(poisson(90, 64.0), 0.002490919090);
        near(kolmogorov(1.3581 / 1e4, 1e8), 0.04999963);
    }
}
