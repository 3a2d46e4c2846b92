//! The digamma function, its derivatives and the gamma function: in `f64` within a few units in the last place, except near zeros, and in
//! multi-precision.

use crate::format::F64;
use crate::multi::Real;
use std::f64::consts::{PI, TAU};

/// The Bernoulli numbers `B(2j)`.
const BERNOULLI: [(f64, f64); 13] = [
    (1.0, 6.0),
    (-1.0, 30.0),
    (1.0, 42.0),
    (-1.0, 30.0),
    (5.0, 66.0),
    (-691.0, 2730.0),
    (7.0, 6.0),
    (-3617.0, 510.0),
    (43_867.0, 798.0),
    (-174_611.0, 330.0),
    (854_513.0, 138.0),
    (-236_364_091.0, 2730.0),
    (8_553_103.0, 6.0),
];

/// The start of asymptotic series, in `f64` and in multi-precision.
const LARGE: [f64; 2] = [12.0, 100.0];
/// The maximum number of terms before the Euler-Maclaurin formula.
const TERMS: [u32; 2] = [12, 40];

fn distance_from_integer(x: f64) -> f64 {
    x - x.round_ties_even()
}

pub fn digamma(x: f64) -> f64 {
    match () {
        () if x == 0.0 => -1.0 / x,
        () if x < 0.0 && x.floor() == x || x.is_nan() => f64::NAN,
        () if x < 0.0 => digamma(1.0 - x) - PI / (PI * distance_from_integer(x)).tan(),
        () if x.is_infinite() => x,
        () => of_positive_argument(x),
    }
}

fn of_positive_argument(x: f64) -> f64 {
    let (mut w, mut sum) = (x, 0.0);
    while w < LARGE[0] {
        sum += 1.0 / w;
        w += 1.0;
    }
    let inverse = 1.0 / (w * w);
    let series = BERNOULLI
        .iter()
        .enumerate()
        .take(8)
        .rev()
        .fold(0.0, |rest, (i, (top, bottom))| inverse * (top / bottom / (2 * i + 2) as f64 + rest));
    w.ln() - 0.5 / w - series - sum
}

pub fn precise_digamma(x: &Real) -> Real {
    if x.is_negative() {
        return precise_digamma(&(Real::from(1.0) - x)) - pi_cotangent(x);
    }
    let (mut w, mut sum) = (x.clone(), Real::from(0.0));
    while w.nearest(F64) < LARGE[1] {
        sum = sum + Real::from(1.0) / &w;
        w = w + 1.0;
    }
    let inverse = Real::from(1.0) / (&w * &w);
    let series = BERNOULLI.iter().enumerate().rev().fold(Real::from(0.0), |rest, (i, &(top, bottom))| {
        &inverse * (Real::from(top) / bottom / (2 * i + 2) as f64 + rest)
    });
    w.ln() - Real::from(0.5) / w - series - sum
}

fn precise_distance_from_integer(x: &Real) -> Real {
    x - Real::from(x.nearest(F64).round_ties_even())
}

/// `pi / tan(pi x)`.
fn pi_cotangent(x: &Real) -> Real {
    let angle = Real::pi() * precise_distance_from_integer(x);
    Real::pi() * angle.cos() / angle.sin()
}

fn is_odd(n: f64) -> bool {
    n % 2.0 != 0.0
}

/// The derivative of order `n`.
pub fn polygamma(n: f64, x: f64) -> f64 {
    let sign = if is_odd(n) { 1.0 } else { -1.0 };
    match () {
        () if !n.is_finite() || n < 0.0 || n.floor() != n || x.is_nan() => f64::NAN,
        () if n == 0.0 => digamma(x),
        () if x == f64::NEG_INFINITY => f64::NAN,
        () if x == 0.0 => {
            if is_odd(n) {
                f64::INFINITY
            } else {
                f64::NEG_INFINITY.copysign(-x)
            }
        }
        () if x == f64::INFINITY => 0f64.copysign(sign),
        () if x < 0.0 && x.floor() == x => {
            if is_odd(n) {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
        () if x < 0.0 && n > 2.0 => f64::NAN,
        () if x < 0.0 => {
            let angle = PI * distance_from_integer(x);
            let square = (PI / angle.sin()).powi(2);
            let mirrored = polygamma(n, 1.0 - x);
            if n == 1.0 { square - mirrored } else { mirrored - 2.0 * square * PI / angle.tan() }
        }
        () => sign * of_positive(n, x),
    }
}

/// The logarithm of `n! x^-(n + 1)`.
fn log_leading(n: f64, x: f64) -> f64 {
    if n < 150.0 {
        return core_math::lgamma(n + 1.0) - (n + 1.0) * x.ln();
    }
    (TAU.ln() + n.ln()) / 2.0 + 1.0 / (12.0 * n) + n * ((n / x).ln() - 1.0) - x.ln()
}

/// `n! zeta(n + 1, x)`, relative to its first term.
fn of_positive(n: f64, x: f64) -> f64 {
    let s = n + 1.0;
    let power = |k: u32, s: f64| core_math::exp(-s * core_math::log1p(f64::from(k) / x));
    let (mut sum, mut k) = (0.0, 0);
    while k < TERMS[0] && x + f64::from(k) < 3.0 * s + 20.0 {
        sum += power(k, s);
        k += 1;
    }
    let w = x + f64::from(k);
    let scale = power(k, s);
    let (mut tail, mut rising) = (0.5, s / w);
    if scale > 0.0 {
        let mut factorial = 1.0;
        for (j, (top, bottom)) in (1..).map(f64::from).zip(BERNOULLI) {
            factorial *= (2.0 * j - 1.0) * (2.0 * j);
            tail += top / bottom / factorial * rising;
            rising *= (s + 2.0 * j - 1.0) / w * ((s + 2.0 * j) / w);
        }
    }
    // x^-(n + 1) may underflow where x^-n does not.
    let (sum, leading) = (sum + scale * tail, log_leading(n, x));
    if x < 1e3 {
        return core_math::exp(leading + (sum + scale * w / n).ln());
    }
    core_math::exp(leading + x.ln() + (sum / x + power(k, n) / n).ln())
}

pub fn precise_polygamma(order: &Real, x: &Real) -> Real {
    let n = order.nearest(F64);
    if n == 0.0 || order.exponent() < -1000 {
        return precise_digamma(x);
    }
    if x.is_negative() {
        let mirrored = precise_polygamma(order, &(Real::from(1.0) - x));
        let angle = Real::pi() * precise_distance_from_integer(x);
        let inverse = Real::pi() / angle.sin();
        let square = &inverse * &inverse;
        return if n == 1.0 { square - mirrored } else { mirrored - square * pi_cotangent(x) * 2.0 };
    }
    let s = order + 1.0;
    let power = |w: &Real| ((x / w).ln() * &s).exp();
    let (mut sum, mut w, mut k) = (Real::from(0.0), x.clone(), 0);
    while k < TERMS[1] && w.nearest(F64) < 3.0 * n + LARGE[1] {
        sum = sum + power(&w);
        w = w + 1.0;
        k += 1;
    }
    let (mut tail, mut rising) = (&w / order + 0.5, &s / &w);
    let mut factorial = 1.0;
    for (j, (top, bottom)) in (1..).map(f64::from).zip(BERNOULLI) {
        factorial *= (2.0 * j - 1.0) * (2.0 * j);
        tail = tail + &rising * top / bottom / factorial;
        rising = rising * (&s + (2.0 * j - 1.0)) * (&s + 2.0 * j) / (&w * &w);
    }
    let value = (sum + tail * power(&w)) * (log_factorial(order) - x.ln() * s).exp();
    if is_odd(n) { value } else { -value }
}

fn log_factorial(order: &Real) -> Real {
    let n = order.nearest(F64);
    if n < LARGE[1] {
        return (2..=n as u32).fold(Real::from(1.0), |product, factor| product * f64::from(factor)).ln();
    }
    stirling(order) + order.ln()
}

/// The logarithm of the gamma function of a large argument.
fn stirling(x: &Real) -> Real {
    let square = Real::from(1.0) / (x * x);
    let series = BERNOULLI.iter().enumerate().rev().fold(Real::from(0.0), |rest, (i, &(top, bottom))| {
        let j = (i + 1) as f64;
        Real::from(top) / bottom / (2.0 * j * (2.0 * j - 1.0)) + &square * rest
    });
    (x - Real::from(0.5)) * x.ln() - x + (Real::pi() * 2.0).ln() / 2.0 + series / x
}

/// The gamma function.
pub fn precise_gamma(x: &Real) -> Real {
    if x.is_negative() {
        let sine = (Real::pi() * precise_distance_from_integer(x)).sin();
        let sine = if is_odd(x.nearest(F64).round_ties_even()) { -sine } else { sine };
        return Real::pi() / (sine * precise_gamma(&(Real::from(1.0) - x)));
    }
    let (mut w, mut product) = (x.clone(), Real::from(1.0));
    while w.nearest(F64) < LARGE[1] {
        product = product * &w;
        w = w + 1.0;
    }
    stirling(&w).exp() / product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;

    /// The derivatives at 1 of DLMF 5.15, and the recurrence.
    #[test]
    fn values_are_known() {
        let zeta3 = 1.202_056_903_159_594_2;
        for (n, x, expected) in [
            (0.0, 1.0, -0.577_215_664_901_532_9),
            (0.0, -0.5, 0.036_489_973_978_576_52),
            (1.0, 1.0, PI * PI / 6.0),
            (1.0, 0.5, PI * PI / 2.0),
            (1.0, -0.5, PI * PI / 2.0 + 4.0),
            (2.0, 1.0, -2.0 * zeta3),
            (2.0, -0.5, 16.0 - 14.0 * zeta3),
            (3.0, 1.0, PI.powi(4) / 15.0),
        ] {
            for value in [polygamma(n, x), precise_polygamma(&n.into(), &x.into()).nearest(F64)] {
                assert!((value - expected).abs() <= 4e-15 * (1.0 + expected.abs()), "{n} {x}: {value} {expected}");
            }
        }
        for x in [0.25, 5.0, 30.5, -0.5, -1.5, -20.75] {
            let (value, expected) = (precise_gamma(&x.into()).nearest(F64), core_math::tgamma(x));
            assert!((value / expected - 1.0).abs() <= 4e-16, "{x}: {value} {expected}");
        }
        for i in 0..200 {
            let [n, x] = Draw::order(i, F64);
            let (value, precise) = (polygamma(n, x), precise_polygamma(&n.into(), &x.into()).nearest(F64));
            let finite = precise.is_finite() && precise.abs() > 1e-300 && value.is_finite();
            assert!(!finite || (value - precise).abs() <= 1e-8 * precise.abs().max(1.0), "{n} {x}: {value} {precise}");
        }
    }
}
