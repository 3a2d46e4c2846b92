//! silu, gelu_tanh, relu and heaviside: references of more than the format's precision, and special cases.

use crate::double_double::{Dd, PI};
use crate::logistic::logistic;
use crate::math::{assert_doubles, assert_singles, assert_special, wrong_halves};
use crate::support::{doubles, singles};
use ndjit_ir::DType;
use ndjit_ir::op::Op;

const FUNCTIONS: [(Op, fn(f64) -> f64); 2] = [(Op::Silu, silu), (Op::GeluTanh, gelu_tanh)];

/// The `f64` nearest to `x / (1 + e^-x)`.
fn silu(x: f64) -> f64 {
    logistic(x.into(), x.into())
}

/// The `f64` nearest to `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`.
fn gelu_tanh(x: f64) -> f64 {
    if x.abs() > 1e3 {
        return silu(x);
    }
    // The square root by one step of Newton's iteration.
    let square = Dd::from(8.0) / PI;
    let root = Dd::from(square.0.sqrt());
    let root = (root + square / root).scaled(-1);
    let cubic = Dd::from(44715.0) / Dd::from(1e6);
    let x = Dd::from(x);
    logistic(root * (x + cubic * x * x * x), x)
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
    (Op::GeluTanh, DType::F16, -0.0003864765167236328),
    (Op::GeluTanh, DType::F16, -0.001338958740234375),
];

#[test]
fn every_half_is_correctly_rounded_but_for_a_few() {
    let wrong: Vec<_> = FUNCTIONS.into_iter().flat_map(|(op, exact)| wrong_halves(op, exact)).collect();
    assert_eq!(wrong, NOT_CORRECTLY_ROUNDED);
}

#[test]
fn special_values_are_exact() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for op in [Op::Silu, Op::GeluTanh] {
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
