//! Comparison of multi-precision with CORE-MATH, and rounding to formats.

use super::*;
use crate::draw::Draw;
use crate::format::FORMATS;

/// On real arguments the functions agree with CORE-MATH, an independent, correctly rounded
/// implementation.
#[test]
fn functions_are_exact() {
    type Row = (&'static str, fn(&Real) -> Real, fn(f64) -> f64);
    let rows: [Row; 22] = [
        ("sin", Real::sin, core_math::sin),
        ("cos", Real::cos, core_math::cos),
        ("tan", Real::tan, core_math::tan),
        ("asin", Real::asin, core_math::asin),
        ("acos", Real::acos, core_math::acos),
        ("atan", Real::atan, core_math::atan),
        ("tanh", Real::tanh, core_math::tanh),
        ("asinh", Real::asinh, core_math::asinh),
        ("acosh", Real::acosh, core_math::acosh),
        ("atanh", Real::atanh, core_math::atanh),
        ("ln", Real::ln, core_math::log),
        ("log2", Real::log2, core_math::log2),
        ("log10", Real::log10, core_math::log10),
        ("ln_1p", Real::ln_1p, core_math::log1p),
        ("exp", Real::exp, core_math::exp),
        ("exp2", Real::exp2, core_math::exp2),
        ("exp_m1", Real::exp_m1, core_math::expm1),
        ("sinh", Real::sinh, core_math::sinh),
        ("cosh", Real::cosh, core_math::cosh),
        ("sqrt", Real::sqrt, f64::sqrt),
        ("rsqrt", Real::rsqrt, core_math::rsqrt),
        ("cbrt", Real::cbrt, core_math::cbrt),
    ];
    for (name, function, exact) in rows {
        let mut compared = 0;
        for i in 0..400 {
            let x = Draw::new(i).ranged(F64, i);
            let (got, exact) = (function(&Real::from(x)).nearest(F64), exact(x));
            if exact.is_finite() {
                compared += 1;
                assert_eq!(got, exact, "{name} of {x:e}");
            }
        }
        assert!(compared > 100, "{name}: {compared}");
    }
}

#[test]
fn angles() {
    for i in 0..500 {
        let mut draw = Draw::new(i);
        let (y, x) = (draw.ranged(F64, i), draw.ranged(F64, i + 1));
        assert_eq!(Real::from(y).atan2(&Real::from(x)).nearest(F64), core_math::atan2(y, x), "{y:e} {x:e}");
    }
    for (y, x) in
        [(0.0, 1.0), (-0.0, 1.0), (0.0, -1.0), (-0.0, -1.0), (1.0, 0.0), (1.0, -0.0), (-1.0, 0.0), (-1.0, -0.0)]
    {
        let got = Real::from(y).atan2(&Real::from(x)).nearest(F64);
        assert_eq!(got.to_bits(), core_math::atan2(y, x).to_bits(), "{y:e} {x:e}");
    }
}

#[test]
fn rounding_to_a_format() {
    for i in 0..20_000 {
        for format in FORMATS {
            let (x, tail) = (Draw::new(i).any(F64), power_of_two(-60));
            let x = if i % 2 == 0 { x } else { format.nearest(x) + format.ulp(x) / 2.0 };
            if x.is_finite() && x != 0.0 {
                assert_eq!(Real::from(x).nearest(format).to_bits(), format.nearest(x).to_bits(), "{x:e} {format:?}");
                // Slightly above the midpoint rounds up, which double rounding would miss.
                let more = Real::from(x) * (Real::from(1.0) + tail);
                let outwards = f64::from_bits(x.to_bits() + 1);
                if format != F64 && outwards.is_finite() {
                    assert_eq!(more.nearest(format).to_bits(), format.nearest(outwards).to_bits(), "{x:e} {format:?}");
                }
            }
        }
    }
    assert_eq!(Real::from(-0.0).nearest(F64).to_bits(), (-0.0f64).to_bits());
    assert_eq!(Real::from(3.0).in_units(-1), 6.0);
    assert!(Real::from(-3.0).exceeds(&Real::from(2.0)));
    for x in [5e-324, -3e-310, f64::MIN_POSITIVE, f64::MAX] {
        assert_eq!(Real::from(x).nearest(F64), x);
    }
}
