//! Derivatives as formulas that keep their accuracy where the plain ones cancel, overflow or round. Second derivatives
//! are those of the exact functions: corrections of rounding are constants.

use super::rules::output as ruled_output;
use crate::append::SlopeTerm;
use crate::append::ops::*;
use ndjit_ir::DType;
use ndjit_ir::graph::{DerivativeRule, RuleKind};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2, PI};

/// Selects 1 where `greater`, one half where `equal`, and 0 elsewhere.
pub(super) fn share<'a>(x: SlopeTerm<'a>, greater: SlopeTerm<'a>, equal: SlopeTerm<'a>) -> SlopeTerm<'a> {
    where_(greater, x.number(1.0), where_(equal, x.number(0.5), x.number(0.0)))
}

/// Computes `x / h`: 0 if `h` is 0, the sign of `x` if `x` is infinite.
pub(super) fn part<'a>(x: SlopeTerm<'a>, h: SlopeTerm<'a>) -> SlopeTerm<'a> {
    (x / h).unless(isinf(x), sign(x)).unless(equal(h, h.number(0.0)), x.number(0.0))
}

/// Gives a formula of `x` a separate formula of its derivative, for terms whose derivatives cancel.
fn with_slope<'a>(
    formula: SlopeTerm<'a>,
    x: SlopeTerm<'a>,
    slope: impl FnOnce(SlopeTerm<'a>) -> SlopeTerm<'a>,
) -> SlopeTerm<'a> {
    let to = x.to;
    let (itself, tangent) = (to.variable(formula.value), to.variable(x.value));
    let mapped = slope(to.term(itself)).scaled(to.term(tangent));
    let rule = DerivativeRule { kind: RuleKind::Jvp, output: 0, outputs: 1 };
    to.term(ruled_output(to, rule, formula.value, &[itself, tangent, mapped.value]))
}

/// Computes the slope of `tanh(x)` with result `r`: `1 - r * r` loses all digits where `r` rounds to 1.
pub(super) fn tanh_slope<'a>(x: SlopeTerm<'a>, r: SlopeTerm<'a>) -> SlopeTerm<'a> {
    let e = exp(abs(x) * -2.0);
    let sum = e + 1.0;
    with_slope(e * 4.0 / (sum * sum), x, |slope| r * slope * -2.0)
}

/// Computes the slope of `sigmoid(x)` with result `r`.
pub(super) fn sigmoid_slope<'a>(x: SlopeTerm<'a>, r: SlopeTerm<'a>) -> SlopeTerm<'a> {
    with_slope(r * sigmoid(-x), x, |slope| -(tanh(x * 0.5) * slope))
}

/// Computes the slope of `atan(x)`.
pub(super) fn atan_slope<'a>(x: SlopeTerm<'a>) -> SlopeTerm<'a> {
    let formula = 1.0 / (x * x + 1.0);
    if x.is_complex() { formula } else { with_slope(formula, x, |slope| slope.scaled(x) * slope * -2.0) }
}

/// Computes `1 - x * x`, rounded once. Its slope does not cancel near 0, unlike that of `(1 - x) (1 + x)`.
pub(super) fn rest_of_square<'a>(x: SlopeTerm<'a>) -> SlopeTerm<'a> {
    if x.is_complex() { (1.0 - x) * (1.0 + x) } else { mul_add(-x, x, x.number(1.0)) }
}

/// Computes the slope of `x^y` with respect to `x`. It is a quotient if `y - 1` is rounded, which a power amplifies to
/// many ULP; otherwise the quotient would cancel in second derivatives.
pub(super) fn power_slope<'a>(
    x: SlopeTerm<'a>,
    y: SlopeTerm<'a>,
    r: SlopeTerm<'a>,
    power: fn(SlopeTerm<'a>, SlopeTerm<'a>) -> SlopeTerm<'a>,
) -> SlopeTerm<'a> {
    let slope = y.scaled(power(x, y - 1.0));
    if x.is_complex() {
        return slope;
    }
    // Above 2^22 integers may no longer be exact.
    let rounded = logical_or(less(y, y.number(0.5)), greater(y, y.number(4_194_304.0)));
    let divides = logical_and(isfinite(x), not_equal(x, x.number(0.0)));
    slope.unless(logical_and(rounded, divides), y.scaled(r) / x)
}

/// Returns the imaginary unit.
pub(super) fn i<'a>(like: SlopeTerm<'a>) -> SlopeTerm<'a> {
    let real = like.dtype().real();
    complex(like.to.number(0.0, real), like.to.number(1.0, real))
}

/// Computes `exp(-scale * x * x)` from the exact square; `scale` is a power of two.
fn bell<'a>(x: SlopeTerm<'a>, scale: f64) -> SlopeTerm<'a> {
    let square = x * x;
    let rest = mul_add(x, x, -square);
    let scaled = |t: SlopeTerm<'a>| if scale == 1.0 { t } else { t * scale };
    // If the square overflows the rest is infinite, too.
    exp(-scaled(square)).scaled(1.0 - scaled(rest))
}

/// Computes `exp(-x * x)`.
pub(super) fn gauss<'a>(x: SlopeTerm<'a>) -> SlopeTerm<'a> {
    bell(x, 1.0)
}

/// Computes the density of the normal distribution.
pub(super) fn normal_density<'a>(x: SlopeTerm<'a>) -> SlopeTerm<'a> {
    bell(x, 0.5) * (FRAC_1_SQRT_2 * FRAC_2_SQRT_PI / 2.0)
}

/// The difference of `ln(2)` and `LN_2`.
const LN_2_REST: f64 = 2.319_046_813_846_3e-17;

/// Multiplies a number by `ln(2)`. Returns the product and its rounding error, given the number's.
fn times_ln_2<'a>(x: SlopeTerm<'a>, rest: SlopeTerm<'a>) -> (SlopeTerm<'a>, SlopeTerm<'a>) {
    let stored = if x.dtype() == DType::F32 { f64::from(LN_2 as f32) } else { LN_2 };
    let product = x * stored;
    (product, mul_add(x, x.number(stored), -product) + (x * (LN_2 - stored + LN_2_REST) + rest * stored))
}

/// Computes the slope of `log(exp(x) + exp(y))` with respect to `x`, or of its base-2 form, from the exact difference;
/// for equal infinities a half, or 0.
pub(super) fn logistic_share<'a>(x: SlopeTerm<'a>, y: SlopeTerm<'a>, r: SlopeTerm<'a>, binary: bool) -> SlopeTerm<'a> {
    let alike = logical_and(isinf(x), equal(x, y));
    let distance = where_(alike, x.number(0.0), x - y);
    // Knuth's TwoSum gives the rounding error of the difference: many ULP of a small share.
    let part = distance - x;
    let rest = ((x - (distance - part)) - (y + part)).unless(alike, x.number(0.0));
    let (distance, rest) = if binary { times_ln_2(distance, rest) } else { (distance, rest) };
    let share = sigmoid(distance);
    let share = share + share.scaled(sigmoid(-distance).scaled(rest));
    where_(equal(r, r.number(f64::NEG_INFINITY)), r.number(0.0), share)
}

/// Computes the slope of `sin(pi x) / (pi x)`. Near 0 the terms of its quotient cancel, so it is a polynomial there.
pub(super) fn sinc_slope<'a>(x: SlopeTerm<'a>) -> SlopeTerm<'a> {
    let z = x * PI;
    let square = z * z;
    // (cos z - sin z / z) / z = sum of (-1)^k 2k / (2k + 1)! z^(2k - 1), to 1e-17 below 1.
    let mut factorial = 1.0;
    let mut coefficients = [0.0; 9];
    for (k, coefficient) in coefficients.iter_mut().enumerate().map(|(n, c)| (n + 1, c)) {
        factorial *= (2 * k * (2 * k + 1)) as f64;
        *coefficient = if k % 2 == 0 { 2.0 } else { -2.0 } * k as f64 / factorial;
    }
    let mut sum = x.number(coefficients[8]);
    for &coefficient in coefficients[..8].iter().rev() {
        sum = mul_add(sum, square, x.number(coefficient));
    }
    let near = less(abs(z), z.number(1.0));
    // The polynomial's range needs a quotient other than 0 / 0, at any order of derivative.
    let away = where_(near, z.number(1.0), z);
    // The angle is taken from the exact remainder of x by 2, since the product with pi is rounded.
    let turn = where_(near, x.number(1.0 / PI), x - rint(x * 0.5) * 2.0) * PI;
    where_(near, sum * z, (cos(turn) - sin(turn) / away) / away) * PI
}
