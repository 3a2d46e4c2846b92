//! sinc against sines beyond the format's precision, and its special cases.

use super::double_double::{Dd, PI};
use super::math::{assert_doubles, assert_singles, assert_special, distance32, wrong_halves};
use super::support::{Runner, doubles, single, singles};
use ndjit_ir::DType;
use ndjit_ir::op::Op;
use ndjit_math::body;

/// The `f64` nearest to `sin(pi x) / (pi x)`.
fn exact(x: f64) -> f64 {
    let x = x.abs();
    if x == 0.0 || x.is_nan() {
        return 1.0 + x;
    }
    let rest = x % 2.0;
    let (rest, sign) = if rest >= 1.0 { (rest - 1.0, -1.0) } else { (rest, 1.0) };
    let sine = Dd::from(rest.min(1.0 - rest)).sin_pi();
    if sine.0 == 0.0 || x.is_infinite() { 0.0 } else { sign * (sine / (PI * Dd::from(x))).0 }
}

#[test]
fn floats_stay_within_their_bounds() {
    assert_singles(Op::Sinc, &singles(4093), |x| exact(x.into()) as f32);
    assert_doubles(Op::Sinc, &doubles(100, &[1.0, 10.0, 1e4, 1e9], 50_000), exact);
}

/// 2.02 ULP off without the quotient's remainder, the worst of all singles.
#[test]
fn a_quotient_of_a_rounded_sine_is_not_enough() {
    let (mut run, x) = (Runner::default(), 10.491_925_f32);
    let got = single(run.one(&body(Op::Sinc, DType::F32), &[x.to_bits().into()]));
    assert!(distance32(got, exact(x.into()) as f32) <= 1, "{got:e}");
}

#[test]
fn every_half_is_correctly_rounded() {
    assert_eq!(wrong_halves(Op::Sinc, exact), []);
}

#[test]
fn special_values_are_exact() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (x, expected, sentence) in [
        (0.0, 1.0, "The limit."),
        (-0.0, 1.0, "The limit."),
        (1.0, 0.0, "IEEE 754: sinPi(1) is +0."),
        (-1.0, 0.0, "IEEE 754: sinPi(-1) is -0."),
        (2.0, 0.0, "IEEE 754: sinPi(2) is +0."),
        (-1e4, 0.0, "IEEE 754: sinPi(-1e4) is -0."),
        (inf, 0.0, "The limit."),
        (-inf, 0.0, "The limit."),
        (nan, nan, "NaN gives NaN."),
    ] {
        assert_special(Op::Sinc, &[x], expected, sentence);
    }
}
