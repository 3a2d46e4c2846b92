//! The error function in multi-precision.

use crate::format::power_of_two;
use crate::multi::Real;

/// From here on `erfc` is computed as a continued fraction.
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
}
