//! sigmoid, softplus and log_sigmoid against references beyond the format's precision, and their special cases.

use super::double_double::Dd;
use super::math::{assert_doubles, assert_singles, assert_special, wrong_halves};
use super::support::{doubles, singles};
use ndjit_ir::DType;
use ndjit_ir::op::Op;

/// A function's nearest `f64`.
pub type Exact = fn(f64) -> f64;

const FUNCTIONS: [(Op, Exact); 3] = [(Op::Sigmoid, sigmoid), (Op::Softplus, softplus), (Op::LogSigmoid, log_sigmoid)];

/// The `f64` nearest to `1 / (1 + e^-x)`.
fn sigmoid(x: f64) -> f64 {
    logistic(x.into(), Dd::from(1.0))
}

/// The `f64` nearest to `factor / (1 + e^-x)`.
pub fn logistic(x: Dd, factor: Dd) -> f64 {
    let one = Dd::from(1.0);
    if x.0.is_nan() {
        return x.0;
    }
    if factor.0 == 0.0 {
        return factor.0;
    }
    if x.0.abs() > 2000.0 {
        return if x.0 > 0.0 { factor.0 } else { 0f64.copysign(factor.0) };
    }
    let (m, exponent) = (if x.0 < 0.0 { x } else { -x }).exp();
    let divisor = one + m.scaled(exponent.max(-1000));
    if x.0 < 0.0 { (factor * m / divisor).rounded(exponent) } else { (factor / divisor).0 }
}

/// The `f64` nearest to `log(1 + e^x)`.
fn softplus(x: f64) -> f64 {
    if x.is_nan() || x > 2000.0 {
        return x;
    }
    if x < -2000.0 {
        return 0.0;
    }
    let (m, exponent) = Dd::from(-x.abs()).exp();
    if exponent < -120 {
        return if x < 0.0 { m.rounded(exponent) } else { x };
    }
    (Dd::from(x.max(0.0)) + m.scaled(exponent).log1p()).0
}

/// The `f64` nearest to `-log(1 + e^-x)`.
fn log_sigmoid(x: f64) -> f64 {
    -softplus(-x)
}

/// Function, `x` and the nearest `f64` (mpmath, 4000 bits), to check the references.
const EXACT: &[(Exact, f64, f64)] = &[
    (sigmoid, 0.7, 0.668187772168166),
    (sigmoid, -1.5, 0.18242552380635635),
    (sigmoid, -36.9, 9.430476078526807e-17),
    (sigmoid, -720.25, 1.5827029403e-313),
    (sigmoid, -744.9, 5e-324),
    (sigmoid, 30.5, 0.9999999999999433),
    (softplus, 0.3, 0.8543552444685271),
    (softplus, -2.5, 0.07888973429254963),
    (softplus, 12.0, 12.000006144193478),
    (softplus, -35.7, 3.131028321777891e-16),
    (softplus, -730.5, 5.596044e-318),
    (softplus, -744.9, 5e-324),
];

#[test]
fn references_are_the_nearest_floats() {
    for &(reference, x, expected) in EXACT {
        assert_eq!(reference(x).to_bits(), expected.to_bits(), "{x:e}: {:e}, not {expected:e}", reference(x));
    }
}

#[test]
fn singles_stay_within_their_bounds() {
    for (op, exact) in FUNCTIONS {
        assert_singles(op, &singles(8191), |x| exact(x.into()) as f32);
    }
}

#[test]
fn doubles_stay_within_their_bounds() {
    for (op, exact) in FUNCTIONS {
        assert_doubles(op, &doubles(20, &[1.0, 40.0, 760.0], 50_000), exact);
    }
}

/// The halves that are not correctly rounded, 1 ULP off.
const NOT_CORRECTLY_ROUNDED: &[(Op, DType, f64)] = &[
    (Op::Sigmoid, DType::F16, 0.0029296875),
    (Op::Sigmoid, DType::F16, 0.0068359375),
    (Op::Sigmoid, DType::F16, 0.0107421875),
    (Op::Sigmoid, DType::F16, -0.00146484375),
    (Op::Sigmoid, DType::F16, -0.00341796875),
    (Op::Sigmoid, DType::F16, -0.00537109375),
    (Op::Sigmoid, DType::F16, -0.00732421875),
    (Op::Softplus, DType::F16, -6.389617919921875e-5),
    (Op::Softplus, DType::F16, -6.395578384399414e-5),
    (Op::LogSigmoid, DType::F16, 6.389617919921875e-5),
    (Op::LogSigmoid, DType::F16, 6.395578384399414e-5),
];

#[test]
fn every_half_is_correctly_rounded_but_for_a_few() {
    let wrong: Vec<_> = FUNCTIONS.into_iter().flat_map(|(op, exact)| wrong_halves(op, exact)).collect();
    assert_eq!(wrong, NOT_CORRECTLY_ROUNDED);
}

#[test]
fn special_values_are_exact() {
    let (inf, ln_2) = (f64::INFINITY, std::f64::consts::LN_2);
    for (op, x, expected, sentence) in [
        (Op::Sigmoid, 0.0, 0.5, "1 / (1 + 1)."),
        (Op::Sigmoid, -0.0, 0.5, "1 / (1 + 1)."),
        (Op::Sigmoid, inf, 1.0, "1 / (1 + 0)."),
        (Op::Sigmoid, -inf, 0.0, "1 / (1 + inf)."),
        (Op::Sigmoid, 1e30, 1.0, "1 / (1 + 0)."),
        (Op::Sigmoid, -1e30, 0.0, "It underflows."),
        (Op::Softplus, 0.0, ln_2, "log(1 + 1)."),
        (Op::Softplus, -0.0, ln_2, "log(1 + 1)."),
        (Op::Softplus, inf, inf, "log(1 + inf)."),
        (Op::Softplus, -inf, 0.0, "log(1 + 0)."),
        (Op::Softplus, 3e4, 3e4, "No overflow."),
        (Op::Softplus, -1e30, 0.0, "It underflows."),
        (Op::LogSigmoid, 0.0, -ln_2, "log(1 / 2)."),
        (Op::LogSigmoid, inf, -0.0, "Minus softplus(-inf)."),
        (Op::LogSigmoid, -inf, -inf, "log(0)."),
        (Op::LogSigmoid, -3e4, -3e4, "No overflow."),
        (Op::LogSigmoid, 1e30, -0.0, "It underflows."),
    ] {
        assert_special(op, &[x], expected, sentence);
    }
    for (op, _) in FUNCTIONS {
        assert_special(op, &[f64::NAN], f64::NAN, "NaN gives NaN.");
    }
}
