//! The error function in multi-precision, and its inverse.

use crate::format::{F64, power_of_two};
use crate::multi::Real;

/// The argument from which `erfc` is computed as a continued fraction.
const LARGE: f64 = 3.0;
/// Enough of its terms for 160 bits.
const TERMS: u32 = 300;

pub fn erf(x: &Real) -> Real {
    if x.exceeds(&Real::from(LARGE)) {
        let rest = Real::from(1.0) - erfc(&x.abs());
        return if x.is_negative() { -rest } else { rest };
    }
    // e^(x^2) erf(x) is a sum of terms of one sign (Abramowitz and Stegun 7.1.6).
    let (square, least) = (x * x, x * power_of_two(-270));
    let (mut term, mut sum, mut n) = (x.clone(), x.clone(), 1.0);
    while term.exceeds(&least) {
        n += 2.0;
        term = term * &square * 2.0 / n;
        sum = sum + &term;
    }
    sum * (-square).exp() * 2.0 / Real::pi().sqrt()
}

pub fn erfc(x: &Real) -> Real {
    if x.is_negative() || !x.exceeds(&Real::from(LARGE)) {
        return Real::from(1.0) - erf(x);
    }
    // 7.1.14 there, from the innermost term.
    let fraction = (1..=TERMS).rev().fold(x.clone(), |inner, k| x + Real::from(f64::from(k) / 2.0) / inner);
    (-(x * x)).exp() / (fraction * Real::pi().sqrt())
}

/// The inverse of `erf` in `f64`, within a few units in the last place: Winitzki's approximation with Newton steps.
pub fn inverse(x: f64) -> f64 {
    let m = x.abs();
    if m.is_nan() || m > 1.0 {
        return f64::NAN;
    }
    if m == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    let slope = std::f64::consts::FRAC_2_SQRT_PI;
    if m < 1e-9 {
        return x / slope;
    }
    let logarithm = (-m * m).ln_1p();
    let half = 2.0 / (std::f64::consts::PI * 0.147) + logarithm / 2.0;
    let mut y = ((half * half - logarithm / 0.147).sqrt() - half).sqrt();
    for _ in 0..5 {
        let error = if m < 0.5 { core_math::erf(y) - m } else { (1.0 - m) - core_math::erfc(y) };
        y -= error / (slope * (-y * y).exp());
    }
    y.copysign(x)
}

/// The inverse of `erf` for an argument in (-1, 1).
pub fn precise_inverse(x: &Real) -> Real {
    let mut y = Real::from(inverse(x.nearest(F64)));
    for _ in 0..2 {
        // Near 1 and -1 from the complement, which has more digits there.
        let error = if !x.exceeds(&Real::from(0.5)) {
            erf(&y) - x
        } else if x.is_negative() {
            erfc(&-&y) - (Real::from(1.0) + x)
        } else {
            (Real::from(1.0) - x) - erfc(&y)
        };
        y = &y - error * Real::pi().sqrt() * (&y * &y).exp() / 2.0;
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;
    use crate::format::F64;

    #[test]
    fn both_are_exact() {
        for i in 0..2000 {
            let x = Draw::new(i).ranged(F64, i);
            let [erf, erfc] = [erf(&x.into()), erfc(&x.into())].map(|value| value.nearest(F64));
            assert_eq!(erf, core_math::erf(x), "erf {x:e}");
            assert_eq!(erfc, core_math::erfc(x), "erfc {x:e}");
        }
    }

    #[test]
    fn the_inverse_inverts() {
        for i in 0..500 {
            let x = f64::from(i - 250) / 250.5;
            let y = precise_inverse(&x.into());
            assert_eq!(erf(&y).nearest(F64), x);
            assert!((inverse(x) - y.nearest(F64)).abs() <= 4.0 * f64::EPSILON * x.abs().max(1.0), "{x}");
        }
        assert!(inverse(1.5).is_nan() && inverse(-1.0) == f64::NEG_INFINITY);
    }
}
