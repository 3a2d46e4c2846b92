//! Comparison of the formulas with those of num-complex, on branch cuts, and where `f64` would cancel.

use super::*;
use crate::draw::Draw;
use crate::format::F64;
use num_complex::Complex64;
use std::f64::consts::{FRAC_PI_2, PI};

type Function = fn(&Complex) -> Complex;

fn at(f: Function, x: f64, y: f64) -> [f64; 2] {
    f(&[x.into(), y.into()]).map(|part| part.nearest(F64))
}

/// The formulas agree with an independent implementation, which is exact to `f64` without cancellation.
#[test]
fn formulas() {
    type Complexes = fn(Complex64) -> Complex64;
    let rows: [(Function, Complexes); 24] = [
        (square, |z| z * z),
        (reciprocal, |z| 1.0 / z),
        (sign, |z| z / z.norm()),
        (sqrt, Complex64::sqrt),
        (rsqrt, |z| 1.0 / z.sqrt()),
        (exp, Complex64::exp),
        (exp2, Complex64::exp2),
        (expm1, |z| z.exp() - 1.0),
        (log, Complex64::ln),
        (log2, Complex64::log2),
        (log10, Complex64::log10),
        (log1p, |z| (z + 1.0).ln()),
        (sin, Complex64::sin),
        (cos, Complex64::cos),
        (tan, Complex64::tan),
        (asin, Complex64::asin),
        (acos, Complex64::acos),
        (atan, Complex64::atan),
        (sinh, Complex64::sinh),
        (cosh, Complex64::cosh),
        (tanh, Complex64::tanh),
        (asinh, Complex64::asinh),
        (acosh, Complex64::acosh),
        (atanh, Complex64::atanh),
    ];
    for (row, (exact, other)) in rows.into_iter().enumerate() {
        for i in 0..200 {
            let mut draw = Draw::new(i);
            let (x, y) = (draw.ranged(F64, 6 * i + 2) / 10.0, draw.ranged(F64, 6 * i + 2) / 10.0);
            let (got, other) = (at(exact, x, y), other(Complex64::new(x, y)));
            let distance = (Complex64::new(got[0], got[1]) - other).norm();
            assert!(distance <= 1e-13 * (1.0 + other.norm()), "row {row} at {x:e}, {y:e}: {got:?}, not {other}");
        }
    }
}

#[test]
fn formulas_of_two() {
    for i in 0..200 {
        let mut draw = Draw::new(i);
        let parts = [0, 1, 2, 3].map(|_| draw.ranged(F64, 6 * i + 1));
        let (z, w) = (Complex64::new(parts[0], parts[1]), Complex64::new(parts[2], parts[3]));
        let operands: [Complex; 2] = [[z.re.into(), z.im.into()], [w.re.into(), w.im.into()]];
        for (f, other) in [
            (add as fn(&Complex, &Complex) -> Complex, z + w),
            (subtract, z - w),
            (multiply, z * w),
            (divide, z / w),
            (pow, z.powc(w)),
        ] {
            let [re, im] = f(&operands[0], &operands[1]).map(|part| part.nearest(F64));
            assert!((Complex64::new(re, im) - other).norm() <= 1e-13 * (1.0 + other.norm()), "{z} {w}: {re} {im}");
        }
        assert_eq!(abs(&operands[0]).nearest(F64), core_math::hypot(z.re, z.im));
    }
}

/// On the cuts the sign of zero selects the side.
#[test]
fn branch_cuts() {
    let half = core_math::atanh(0.5);
    let rows: [(Function, [f64; 2], [f64; 2]); 9] = [
        (sqrt, [-4.0, 0.0], [0.0, 2.0]),
        (log, [-1.0, 0.0], [0.0, PI]),
        (log10, [-10.0, 0.0], [1.0, 1.3643763538418414]),
        (log1p, [-2.0, 0.0], [0.0, PI]),
        (asin, [2.0, 0.0], [FRAC_PI_2, core_math::acosh(2.0)]),
        (acos, [2.0, 0.0], [0.0, -core_math::acosh(2.0)]),
        (acosh, [-2.0, 0.0], [core_math::acosh(2.0), PI]),
        (atanh, [2.0, 0.0], [half, FRAC_PI_2]),
        (acosh, [0.5, 0.0], [0.0, core_math::acos(0.5)]),
    ];
    for (f, [x, y], [re, im]) in rows {
        assert_eq!(at(f, x, y), [re, im]);
        let below = at(f, x, -y);
        assert_eq!(below, [re, -im]);
        assert_eq!(below[0].is_sign_negative(), re.is_sign_negative());
    }
    assert_eq!(at(atan, 0.0, 2.0), [FRAC_PI_2, half]);
    assert_eq!(at(atan, -0.0, 2.0), [-FRAC_PI_2, half]);
    assert_eq!(at(asinh, 0.0, 2.0), [core_math::acosh(2.0), FRAC_PI_2]);
    assert_eq!(at(asinh, -0.0, -2.0), [-core_math::acosh(2.0), -FRAC_PI_2]);
    assert!(at(atanh, 1.0, 0.0)[0].is_nan());
}

/// Where `f64` cancels: near the unit circle, near 0, and for parts of any sizes.
#[test]
fn small_results() {
    assert_eq!(at(log, 1.0, 1e-200), [0.0, 1e-200]);
    assert_eq!(at(log, 1e-150, 1.0), [5e-301, FRAC_PI_2]);
    assert_eq!(at(log, 0.6, 0.8), [2.2204460492503132e-17, core_math::atan2(0.8, 0.6)]);
    assert_eq!(at(log1p, 1e-300, -1e-170), [1e-300, -1e-170]);
    assert_eq!(at(log1p, -1.0, 1e-100), [core_math::log(1e-100), FRAC_PI_2]);
    assert_eq!(at(expm1, 1e-300, 1e-170), [1e-300, 1e-170]);
    assert_eq!(at(tanh, 1e3, 1.0), [1.0, 0.0]);
    assert_eq!(at(atanh, 1e-300, 1e-200), [1e-300, 1e-200]);
    assert_eq!(at(asin, 1e-300, 1e-200), [1e-300, 1e-200]);
}
