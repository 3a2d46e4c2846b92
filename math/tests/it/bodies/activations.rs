//! silu, gelu, gelu_tanh, relu and heaviside: references beyond the format's precision, and special cases.

use super::double_double::{Dd, PI};
use super::logistic::{Exact, logistic};
use super::math::{assert_doubles, assert_singles, assert_special, wrong_halves};
use super::support::{doubles, singles};
use ndjit_ir::DType;
use ndjit_ir::op::Op;

const FUNCTIONS: [(Op, Exact); 3] = [(Op::Silu, silu), (Op::Gelu, gelu), (Op::GeluTanh, gelu_tanh)];

/// The `f64` nearest to `x / (1 + e^-x)`.
fn silu(x: f64) -> f64 {
    logistic(x.into(), x.into())
}

/// The `f64` nearest to `x / 2 erfc(-x / sqrt 2)`.
fn gelu(x: f64) -> f64 {
    if x.is_nan() || x == 0.0 || x.abs() > 50.0 {
        return if x < 0.0 { -0.0 } else { x };
    }
    let magnitude = Dd::from(x.abs());
    if magnitude.0 < 1e-6 {
        return (Dd::from(x).scaled(-1) + Dd::from(x * x) / PI.scaled(1).sqrt()).0;
    }
    let (tail, exponent) = magnitude.normal_tail();
    if x < 0.0 {
        -(magnitude * tail).rounded(exponent)
    } else {
        (magnitude - magnitude * tail.scaled(exponent.max(-1000))).0
    }
}

/// The `f64` nearest to `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`.
fn gelu_tanh(x: f64) -> f64 {
    if x.abs() > 1e3 {
        return silu(x);
    }
    let root = (Dd::from(8.0) / PI).sqrt();
    let cubic = Dd::from(44715.0) / Dd::from(1e6);
    let x = Dd::from(x);
    logistic(root * (x + cubic * x * x * x), x)
}

/// Function, `x` and the nearest `f64` (mpmath, 4000 bits), to check the references.
const EXACT: &[(Exact, f64, f64)] = &[
    (silu, 1e-09, 5.000000002500001e-10),
    (silu, 1.7, 1.437409049357991),
    (silu, -3.3, -0.11738492459969939),
    (silu, -100.0, -3.720075976020836e-42),
    (silu, -715.75, -1.0197317333092143e-308),
    (silu, -751.0, -5e-324),
    (gelu, 3e-08, 1.500000035904805e-08),
    (gelu, 0.6, 0.4354481293499558),
    (gelu, -0.6, -0.16455187065004415),
    (gelu, 5.5, 5.499999895557407),
    (gelu, -7.5, -2.393168754683172e-13),
    (gelu, -37.6, -4.041290298447291e-308),
    (gelu, -38.5, -5.4e-323),
    (gelu_tanh, 3e-08, 1.500000035904805e-08),
    (gelu_tanh, 0.6, 0.43541519923081473),
    (gelu_tanh, -0.6, -0.16458480076918525),
    (gelu_tanh, 5.5, 5.499999994072359),
    (gelu_tanh, -7.5, -4.01626821751414e-18),
    (gelu_tanh, -20.9, -8.451582056968937e-297),
    (gelu_tanh, -21.4, -6.26041e-318),
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
        assert_doubles(op, &doubles(20, &[1.0, 25.0, 760.0], 50_000), exact);
    }
}

/// The halves that are not correctly rounded, 1 ULP off.
const NOT_CORRECTLY_ROUNDED: &[(Op, DType, f64)] = &[
    (Op::Silu, DType::F16, 5.960464477539063e-8),
    (Op::Silu, DType::F16, -2.724609375),
    (Op::Gelu, DType::F16, 5.960464477539063e-8),
    (Op::Gelu, DType::F16, 0.001338958740234375),
    (Op::Gelu, DType::F16, -0.001338958740234375),
    (Op::GeluTanh, DType::F16, 5.960464477539063e-8),
    (Op::GeluTanh, DType::F16, 0.001338958740234375),
    (Op::GeluTanh, DType::F16, 0.353271484375),
    (Op::GeluTanh, DType::F16, -0.001338958740234375),
    (Op::GeluTanh, DType::F16, -0.353271484375),
];

#[test]
fn every_half_is_correctly_rounded_but_for_a_few() {
    let wrong: Vec<_> = FUNCTIONS.into_iter().flat_map(|(op, exact)| wrong_halves(op, exact)).collect();
    assert_eq!(wrong, NOT_CORRECTLY_ROUNDED);
}

#[test]
fn special_values_are_exact() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (op, _) in FUNCTIONS {
        for (x, expected, sentence) in [
            (0.0, 0.0, "0 / 2."),
            (-0.0, -0.0, "-0 / 2."),
            (inf, inf, "inf * 1."),
            (-inf, -0.0, "The limit."),
            (1e4, 1e4, "It is x from some x on."),
            (-1e30, -0.0, "It underflows."),
            (nan, nan, "NaN gives NaN."),
        ] {
            assert_special(op, &[x], expected, sentence);
        }
    }
    for (x, expected) in [(-1.5, 0.0), (-0.0, 0.0), (0.0, 0.0), (2.5, 2.5), (inf, inf), (-inf, 0.0), (nan, nan)] {
        assert_special(Op::Relu, &[x], expected, "The maximum of x and +0.");
    }
}

#[test]
fn the_unit_step_is_numpys() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for h in [0.5, -0.0, 7.0, inf, nan] {
        for (x, expected, sentence) in [
            (-2.0, 0.0, "0 if x1 < 0."),
            (-inf, 0.0, "0 if x1 < 0."),
            (0.0, h, "x2 if x1 == 0."),
            (-0.0, h, "x2 if x1 == 0."),
            (1e-5, 1.0, "1 if x1 > 0."),
            (inf, 1.0, "1 if x1 > 0."),
            (nan, nan, "NaN gives NaN."),
        ] {
            assert_special(Op::Heaviside, &[x, h], expected, sentence);
        }
    }
}
