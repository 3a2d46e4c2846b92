//! Derivatives of the digamma function on `f32` and `f64`.
//!
//! For `n >= 1` and positive `x` the magnitude is `n! zeta(n + 1, x)`, `n!` times the sum of all `(x + k)^-(n + 1)`: the first terms
//! directly, the others after Euler and Maclaurin. All are summed relative to `(n - 1)! x^-n`, the limit for large `x`, so
//! that nothing overflows or underflows before the result does. A quotient's power comes from its logarithm, both in two floats, and
//! accurate for every `n`. So is `(n - 1)! x^-n`: for large `n` by Stirling's formula it is
//! `sqrt(2 pi / n) e^rest (e x / n)^-n`, whose base is near 1 wherever the result is finite. Negative `x` use reflections.

use crate::kit::double_word::{DoubleWord, constant, exact_product, product, quotient_of, rounded, sqrt, sum, times};
use crate::kit::log2_parts::log2_of_sum;
use crate::kit::util::{at_least, at_most, is_inf, is_nan, select_pair, sign_of, two_sum, xor_sign};
use crate::real::digamma::{PI, digamma, pi_cotangent, turn};
use crate::real::exp::{exp2_parts, exp2_unscaled, less_one, scale};
use crate::real::gamma;
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// The constants of a format.
struct PolygammaConstants {
    /// The maximum number of terms before Euler and Maclaurin's.
    terms: u32,
    /// The number of Euler and Maclaurin's terms.
    tail: usize,
    /// Powers of two: up to the first all results are infinite; beyond the second the sum relative to `x^-n` has its limit.
    range: (i32, i32),
    /// A number that is negligible beside 1.
    negligible: f64,
}

const SINGLE: PolygammaConstants =
    PolygammaConstants { terms: 5, tail: 5, range: (-64, 100), negligible: 1.0 / (1u64 << 31) as f64 };
const DOUBLE: PolygammaConstants =
    PolygammaConstants { terms: 10, tail: 10, range: (-512, 1000), negligible: 1.0 / (1u64 << 60) as f64 };

/// The Bernoulli numbers `B(2j)` over `(2j)!`.
const TAIL: [f64; 10] = [
    0.08333333333333333,
    -0.001388888888888889,
    3.306878306878307e-05,
    -8.267195767195768e-07,
    2.08767569878681e-08,
    -5.284190138687493e-10,
    1.3382536530684679e-11,
    -3.3896802963225827e-13,
    8.586062056277845e-15,
    -2.174868698558062e-16,
];

/// e and `2 pi`, in two parts.
const E: (f64, f64) = (std::f64::consts::E, 1.4456468917292502e-16);
const TWO_PI: (f64, f64) = (std::f64::consts::TAU, 2.4492935982947064e-16);

fn constants(ty: PrimType) -> &'static PolygammaConstants {
    if ty == PrimType::F32 { &SINGLE } else { &DOUBLE }
}

/// The `n`th derivative of the digamma function.
pub(crate) fn polygamma(b: &mut BodyBuilder, n: Reg, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (zero, half, one) = (b.float(ty, 0.0), b.float(ty, 0.5), b.float(ty, 1.0));
    let (inf, nan) = (b.float(ty, f64::INFINITY), b.float(ty, f64::NAN));
    let negative = b.flt(x, zero);
    let mirrored = b.fsub(one, x);
    let positive = b.select(negative, mirrored, x);
    let magnitude = of_positive(b, n, positive);
    let half_n = b.fmul(n, half);
    let whole = b.ffloor(half_n);
    let odd = b.fne(whole, half_n);
    let flipped = b.fneg(magnitude);
    let result = b.select(odd, magnitude, flipped);
    let result =
        b.if_any(negative, &[result], &[n, x, magnitude], |b, args| vec![of_negative(b, args[0], args[1], args[2])])[0];

    // Poles: the limit from the side of a zero's sign.
    let at_zero = b.feq(x, zero);
    let side = sign_of(b, x);
    let minus_inf = b.fneg(inf);
    let even_pole = xor_sign(b, minus_inf, side);
    let pole = b.select(odd, inf, even_pole);
    let result = b.select(at_zero, pole, result);
    let floor = b.ffloor(x);
    let integral = b.feq(floor, x);
    let below = b.and(integral, negative);
    let pole = b.select(odd, inf, nan);
    let result = b.select(below, pole, result);

    let order_zero = b.feq(n, zero);
    let result = b.if_any(order_zero, &[result], &[x], |b, args| vec![digamma(b, args[0])])[0];
    // An invalid order.
    let floor = b.ffloor(n);
    let integral = b.feq(floor, n);
    let (not_negative, finite) = (b.fle(zero, n), b.flt(n, inf));
    let order = b.and(integral, not_negative);
    let order = b.and(order, finite);
    let result = b.select(order, result, nan);
    let minus_inf = b.feq(x, minus_inf);
    let unordered = is_nan(b, x);
    let outside = b.or(minus_inf, unordered);
    b.select(outside, nan, result)
}

/// The first two derivatives of `psi(x) = psi(1 - x) - pi / tan(pi x)`, given the magnitudes of those of `psi` at `1 - x`; NaN for others.
fn of_negative(b: &mut BodyBuilder, n: Reg, x: Reg, magnitude: Reg) -> Reg {
    let ty = b.ty(x);
    let (one, two) = (b.float(ty, 1.0), b.float(ty, 2.0));
    let nan = b.float(ty, f64::NAN);
    // (pi / sin(pi x))^2
    let turn = turn(b, x);
    let sine = select_pair(b, turn.exchanged, turn.cosine, turn.sine);
    let pi = constant(b, ty, PI);
    let inverse = quotient_of(b, pi, sine);
    let square = product(b, inverse, inverse);
    let cotangent = pi_cotangent(b, x);
    let first = rounded_or_infinite(b, square);
    let first = b.fsub(first, magnitude);
    // 2 pi^3 cos(pi x) / sin(pi x)^3
    let second = product(b, square, cotangent);
    let second = rounded_or_infinite(b, second);
    let minus_two = b.fneg(two);
    let flipped = b.fneg(magnitude);
    let second = b.fma(minus_two, second, flipped);
    let (is_first, is_second) = (b.feq(n, one), b.feq(n, two));
    let result = b.select(is_second, second, nan);
    b.select(is_first, first, result)
}

/// The nearest float; the low part of an infinite number is NaN.
fn rounded_or_infinite(b: &mut BodyBuilder, x: DoubleWord) -> Reg {
    let (infinite, value) = (is_inf(b, x.0), rounded(b, x));
    b.select(infinite, x.0, value)
}

/// `n! zeta(n + 1, x)` for `n >= 1` and `x > 0`.
fn of_positive(b: &mut BodyBuilder, n: Reg, x: Reg) -> Reg {
    let ty = b.ty(x);
    let c = constants(ty);
    let (zero, inf) = (b.float(ty, 0.0), b.float(ty, f64::INFINITY));
    let least = b.float(ty, 2f64.powi(c.range.0));
    let bounded = at_least(b, x, least);
    let (power, exponent, factor) = leading(b, n, bounded);
    let relative = relative_sum(b, n, bounded);
    let value = product(b, power, relative);
    let value = product(b, value, factor);
    let value = rounded(b, value);
    let value = scale(b, value, exponent);
    let at_infinity = b.feq(x, inf);
    let value = b.select(at_infinity, zero, value);
    let overflow = b.fle(x, least);
    b.select(overflow, inf, value)
}

/// `(n - 1)! x^-n` as a number near 1, times two to the power of an integer register, times a factor.
fn leading(b: &mut BodyBuilder, n: Reg, x: Reg) -> (DoubleWord, Reg, DoubleWord) {
    let ty = b.ty(x);
    let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
    let from = gamma::large(ty);
    let large = b.float(ty, from);
    let is_large = b.fle(large, n);
    // (n - 1)!, exact for a small n.
    let mut factorial = one;
    for factor in (2..).map(f64::from).take_while(|&factor| factor < from - 1.0) {
        let factor = b.float(ty, factor);
        let below = b.flt(factor, n);
        let next = b.fmul(factorial, factor);
        factorial = b.select(below, next, factorial);
    }
    let two_pi = constant(b, ty, TWO_PI);
    let square = quotient_of(b, two_pi, (n, zero));
    let root = sqrt(b, square);
    let rest = gamma::stirling_rest(b, n);
    let less = less_one(b, rest, None);
    let more = b.fmul(root.0, less);
    let stirling = sum(b, root, (more, zero));
    let factor = select_pair(b, is_large, stirling, (factorial, zero));

    let ratio = quotient_of(b, (x, zero), (n, zero));
    let e = constant(b, ty, E);
    let base = product(b, ratio, e);
    let base = select_pair(b, is_large, base, (x, zero));
    // A normal number: that of results which are not infinite.
    let least = b.float(ty, 2f64.powi(constants(ty).range.0));
    let high = at_least(b, base.0, least);
    let same = b.feq(high, base.0);
    let low = b.select(same, base.1, zero);
    let (power, low) = logarithm_times(b, (high, low), n);
    let (power, low) = (b.fneg(power), b.fneg(low));
    let (power, exponent) = exp2_unscaled(b, power, low);
    (power, exponent, factor)
}

/// The base-2 logarithm of `x` times `n`.
fn logarithm_times(b: &mut BodyBuilder, x: DoubleWord, n: Reg) -> DoubleWord {
    let ty = b.ty(n);
    // A quarter of it: the largest numbers would exceed its range.
    let (zero, quarter, one) = (b.float(ty, 0.0), b.float(ty, 0.25), b.int(ty.as_int(), 1));
    let (high, low) = (b.fmul(x.0, quarter), b.fmul(x.1, quarter));
    let logarithm = log2_of_sum(b, high, (low, zero), one);
    times(b, logarithm, n)
}

/// `x^n` for an `x` up to 1 and an `n >= 1`.
fn power(b: &mut BodyBuilder, x: DoubleWord, n: Reg) -> DoubleWord {
    let ty = b.ty(n);
    let (high, low) = logarithm_times(b, x, n);
    // Far below the format, where the low part may be NaN.
    let (least, zero) = (b.float(ty, if ty == PrimType::F32 { -160.0 } else { -1100.0 }), b.float(ty, 0.0));
    let within = b.flt(least, high);
    let (high, low) = (b.select(within, high, least), b.select(within, low, zero));
    exp2_parts(b, high, low)
}

/// `n zeta(n + 1, x) x^n`.
fn relative_sum(b: &mut BodyBuilder, n: Reg, x: Reg) -> DoubleWord {
    let ty = b.ty(x);
    let c = constants(ty);
    let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
    let most = b.float(ty, 2f64.powi(c.range.1));
    let x = at_most(b, x, most);
    let s = b.fadd(n, one);

    // Terms (x / (x + k))^s while they count, and where x is not large beside s.
    let enough = b.float(ty, 2.0 * c.tail as f64);
    let enough = b.fadd(s, enough);
    let state = b.repeat(c.terms - 1, &[one, zero, one, one], &[x, s, enough], |b, state, fixed| {
        let ty = b.ty(fixed[0]);
        let (zero, one, negligible) = (b.float(ty, 0.0), b.float(ty, 1.0), b.float(ty, c.negligible));
        let (k, last, x) = (state[2], state[3], fixed[0]);
        let (w, w_low) = two_sum(b, x, k);
        let (near, counts) = (b.flt(w, fixed[2]), b.flt(negligible, last));
        let go_on = b.and(near, counts);
        let quotient = quotient_of(b, (x, zero), (w, w_low));
        let term = power(b, quotient, fixed[1]);
        let total = sum(b, (state[0], state[1]), term);
        (go_on, vec![total.0, total.1, b.fadd(k, one), term.0])
    });
    let (total, k) = ((state[0], state[1]), state[2]);

    // The tail from w = x + k on, relative to (x / w)^s: w / n + 1/2 + s / w (B2 / 2! + (s + 1) (s + 2) / w^2 (B4 / 4! + …)).
    let w = two_sum(b, x, k);
    let quotient = quotient_of(b, (x, zero), w);
    let to_n = power(b, quotient, n);
    let to_s = product(b, to_n, quotient);
    let inverse = b.fdiv(one, w.0);
    // For larger orders the power is 0.
    let limit = b.float(ty, 60.0);
    let limit = b.fmul(limit, w.0);
    let s = at_most(b, s, limit);
    let first = b.fmul(s, inverse);
    let mut series = b.float(ty, TAIL[c.tail - 1]);
    for j in (1..c.tail).rev() {
        let (i, next) = (b.float(ty, (2 * j - 1) as f64), b.float(ty, (2 * j) as f64));
        let (i, next) = (b.fma(i, inverse, first), b.fma(next, inverse, first));
        let factors = b.fmul(i, next);
        let coefficient = b.float(ty, TAIL[j - 1]);
        series = b.fma(factors, series, coefficient);
    }
    let half = b.float(ty, 0.5);
    let tail = b.fma(first, series, half);
    let tail = exact_product(b, to_s.0, tail);
    let total = sum(b, total, tail);

    // The quotient is larger only if the result is infinite.
    let small = b.float(ty, 2f64.powi(-c.range.1));
    let least = b.fmul(n, small);
    let divisor = at_least(b, x, least);
    let ratio = quotient_of(b, (n, zero), (divisor, zero));
    let total = product(b, total, ratio);
    sum(b, total, to_n)
}
