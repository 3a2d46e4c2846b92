//! Inverse trigonometric and inverse hyperbolic functions of complex numbers.
//!
//! With `z = x + iy` in the first quadrant, `r = |z + 1|`, `s = |z - 1|` and `a = (r + s) / 2` (Hull, Fairgrieve and Tang, 1997)
//! `asin z = atan2(x, p) + i log(a + q)` and `acos z = atan2(p, x) - i log(a + q)`, with `p^2 = a^2 - x^2` and `q^2 = a^2 - 1`. These are
//! `(r s + y^2 + 1 - x^2) / 2` and `(r s + y^2 + x^2 - 1) / 2`: the larger is a sum of positive terms. The other follows from
//! `p q = a y`, and `log(a + q) = log1p(q + q^2 / (a + 1))`. So nothing cancels or underflows, and one formula suffices, unlike in the paper.
//!
//! `atanh z = log1p(4 x / ((1 - x)^2 + y^2)) / 4 + i atan2(2 y, 1 - x^2 - y^2) / 2` (Kahan, 1987). Other quadrants follow by
//! symmetry, also of signs of zeros, which choose the side of a branch cut; `asinh z = -i asin(iz)` and `atan z = -i atanh(iz)`.

use crate::kit::double_word::{DoubleWord, quotient_of};
use crate::kit::util::{
    Format, Pair, at_least, at_most, copysign, copysign_of_number, exchanged, fast_two_sum, in_order, is_inf,
    power_scale,
};
use crate::real::atan::atan2;
use crate::real::log1p::log1p_of;
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// Exponents of two that depend on the format.
struct InverseConstants {
    /// Larger operands are scaled down to it. Adding 1 does not change it, and its square is far from overflow.
    large: i32,
    /// At `x = 1`, `atanh` uses a smaller `y` itself: its square would underflow.
    near_pole: i32,
    /// The exponent that scales `2 / y` back into the format there.
    pole_scale: i32,
}

const SINGLE: InverseConstants = InverseConstants { large: 40, near_pole: -60, pole_scale: 30 };
const DOUBLE: InverseConstants = InverseConstants { large: 100, near_pole: -500, pole_scale: 100 };

fn constants(ty: PrimType) -> &'static InverseConstants {
    if ty == PrimType::F32 { &SINGLE } else { &DOUBLE }
}

fn power(b: &mut BodyBuilder, ty: PrimType, exponent: i32) -> Reg {
    b.float(ty, 2f64.powi(exponent))
}

/// The number with sine `z`, real part in [-pi/2, pi/2]; cuts beyond -1 and 1 on the real axis.
pub(crate) fn asin(b: &mut BodyBuilder, z: Pair) -> Pair {
    let s = sides(b, z);
    let re = atan2(b, s.re, s.other);
    (re, copysign_of_number(b, s.log, z.1))
}

/// The number with cosine `z`, real part in [0, pi]; cuts beyond -1 and 1 on the real axis.
pub(crate) fn acos(b: &mut BodyBuilder, z: Pair) -> Pair {
    let s = sides(b, z);
    let re = atan2(b, s.other, s.re);
    let minus = b.fneg(z.1);
    (re, copysign_of_number(b, s.log, minus))
}

/// The number with hyperbolic cosine `z`, real part not negative; cut below 1 on the real axis.
pub(crate) fn acosh(b: &mut BodyBuilder, z: Pair) -> Pair {
    let s = sides(b, z);
    let angle = atan2(b, s.other, s.re);
    (s.log, copysign_of_number(b, angle, z.1))
}

/// The number with hyperbolic sine `z`, imaginary part in [-pi/2, pi/2]; cuts beyond -i and i on the imaginary axis.
pub(crate) fn asinh(b: &mut BodyBuilder, z: Pair) -> Pair {
    exchanged(b, z, asin)
}

/// The number with tangent `z`, real part in [-pi/2, pi/2]; cuts beyond -i and i on the imaginary axis.
pub(crate) fn atan(b: &mut BodyBuilder, z: Pair) -> Pair {
    exchanged(b, z, atanh)
}

/// The common part of the inverses of sine and cosine: the sides of a triangle with the angle, and the logarithm.
struct Sides {
    /// The real part, scaled.
    re: Reg,
    /// `p`, not negative.
    other: Reg,
    /// `log(a + q)`.
    log: Reg,
}

fn sides(b: &mut BodyBuilder, z: Pair) -> Sides {
    let f = Format::of(b.ty(z.0));
    let (re_inf, im_inf) = (is_inf(b, z.0), is_inf(b, z.1));
    let infinite = b.or(re_inf, im_inf);
    let (scale, doublings) = scale_of_large(b, z, f);
    let re = b.fmul(z.0, scale);
    let magnitude = b.fabs(z.1);
    let (x, y) = (b.fabs(re), b.fmul(magnitude, scale));
    let (p, argument) = roots(b, x, y);
    let log = log1p_of(b, argument.0, Some(argument.1), Some(doublings));

    let (zero, one, inf) = (b.float(f.ty, 0.0), b.float(f.ty, 1.0), b.float(f.ty, f64::INFINITY));
    let other = b.select(infinite, magnitude, p);
    // The angle of an imaginary number does not depend on its size, nor on whether it is NaN.
    let imaginary = b.feq(x, zero);
    let other = b.select(imaginary, one, other);
    Sides { re, other, log: b.select(infinite, inf, log) }
}

/// `(2^-k, k)` that scales a large operand into the range of `roots`; `(1, 0)` for others.
fn scale_of_large(b: &mut BodyBuilder, z: Pair, f: Format) -> Pair {
    let int = f.ty.as_int();
    let exponent = constants(f.ty).large;
    let (re, im) = (b.fabs(z.0), b.fabs(z.1));
    let (_, largest) = in_order(b, re, im);
    let limit = power(b, f.ty, exponent);
    let large = b.flt(limit, largest);
    let (one, none) = (b.float(f.ty, 1.0), b.int(int, 0));
    let scales = b.if_any(large, &[one, none], &[largest], |b, args| {
        let (down, _, k) = power_scale(b, args[0]);
        let (up, kept) = (power(b, f.ty, exponent), b.int(int, exponent.into()));
        vec![b.fmul(down, up), b.isub(k, kept)]
    });
    (scales[0], scales[1])
}

/// `p`, and `a - 1 + q` as a double-word number, for `x` and `y` not negative and not large.
fn roots(b: &mut BodyBuilder, x: Reg, y: Reg) -> (Reg, DoubleWord) {
    let f = Format::of(b.ty(x));
    let (half, one) = (b.float(f.ty, 0.5), b.float(f.ty, 1.0));
    let (next, difference) = from_one(b, x);
    let square = b.fmul(y, y);
    let r = hypotenuse(b, next, square);
    let s = hypotenuse(b, difference, square);
    // If the square underflows, it counts only beside 0.
    let zero = b.float(f.ty, 0.0);
    let above_one = b.feq(difference.0, zero);
    let s = b.select(above_one, y, s);
    let (twice_a, lost) = fast_two_sum(b, r, s);
    let (a, a_low) = (b.fmul(twice_a, half), b.fmul(lost, half));

    let sum = b.fma(difference.0, next.1, square);
    let sum = b.fma(difference.1, next.0, sum);
    let sum = b.fma(difference.0, next.0, sum);
    let sum = b.fma(r, s, sum);
    let sum = b.fmul(sum, half);
    let large = b.fsqrt(sum);
    // At 1 both are 0.
    let least = power(b, f.ty, 1 - f.bias as i32);
    let divisor = at_least(b, large, least);
    let inverse = b.fdiv(one, divisor);
    // The rounding error of the root.
    let minus = b.fneg(large);
    let rest = b.fma(minus, large, sum);
    let half_inverse = b.fmul(inverse, half);
    let large_low = b.fmul(rest, half_inverse);
    let quotient = quotient_of(b, (a, a_low), (divisor, large_low));
    let low = b.fmul(y, quotient.1);
    let small = b.fma(y, quotient.0, low);
    let minus = b.fneg(small);
    let small_low = b.fma(y, quotient.0, minus);
    let small_low = b.fadd(small_low, low);

    let inside = b.fle(x, one);
    let (p, q) = (b.select(inside, large, small), b.select(inside, small, large));
    let next = b.fadd(a, one);
    let quotient = b.fdiv(q, next);
    let less_one = b.fmul(q, quotient);
    let q_low = b.select(inside, small_low, large_low);
    let (argument, lost) = fast_two_sum(b, q, less_one);
    (p, (argument, b.fadd(lost, q_low)))
}

/// `x + 1` and `|x - 1|` for `x >= 0`.
fn from_one(b: &mut BodyBuilder, x: Reg) -> (DoubleWord, DoubleWord) {
    let one = b.float(b.ty(x), 1.0);
    let (smaller, larger) = in_order(b, x, one);
    let minus = b.fneg(smaller);
    (fast_two_sum(b, larger, smaller), fast_two_sum(b, larger, minus))
}

/// `sqrt(x^2 + square)`.
fn hypotenuse(b: &mut BodyBuilder, x: DoubleWord, square: Reg) -> Reg {
    let square = square_plus(b, x, square);
    b.fsqrt(square)
}

/// `x^2 + y`.
fn square_plus(b: &mut BodyBuilder, x: DoubleWord, y: Reg) -> Reg {
    let twice = b.fadd(x.0, x.0);
    let low = b.fma(twice, x.1, y);
    b.fma(x.0, x.0, low)
}

/// The number with hyperbolic tangent `z`, imaginary part in [-pi/2, pi/2]; cuts beyond -1 and 1 on the real axis.
pub(crate) fn atanh(b: &mut BodyBuilder, z: Pair) -> Pair {
    let f = Format::of(b.ty(z.0));
    let (x, y) = (b.fabs(z.0), b.fabs(z.1));
    let re = atanh_re(b, z, (x, y));

    // Beyond it the angle is pi/2.
    let limit = power(b, f.ty, constants(f.ty).large);
    let limited = at_most(b, y, limit);
    let one = b.float(f.ty, 1.0);
    let minus = b.fneg(x);
    let less = b.fma(minus, x, one);
    let minus = b.fneg(limited);
    let adjacent = b.fma(minus, limited, less);
    let im_inf = is_inf(b, z.1);
    let minus_inf = b.float(f.ty, f64::NEG_INFINITY);
    let adjacent = b.select(im_inf, minus_inf, adjacent);
    let opposite = b.fadd(limited, limited);
    let angle = atan2(b, opposite, adjacent);
    let half = b.float(f.ty, 0.5);
    let im = b.fmul(half, angle);
    (re, copysign(b, im, z.1))
}

/// The real part of `atanh z` from the magnitudes of `z`'s parts.
fn atanh_re(b: &mut BodyBuilder, z: Pair, (x, y): Pair) -> Reg {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let c = constants(f.ty);
    let zero = b.float(f.ty, 0.0);
    let (scale, _) = scale_of_large(b, z, f);
    let four = b.float(f.ty, 4.0);
    let numerator = b.fmul(x, scale);
    let numerator = b.fmul(numerator, four);
    let (_, rest) = from_one(b, x);
    let rest_scaled = (b.fmul(rest.0, scale), b.fmul(rest.1, scale));
    let y_scaled = b.fmul(y, scale);
    let square = b.fmul(y_scaled, y_scaled);
    let denominator = square_plus(b, rest_scaled, square);

    // Close to the pole it is log(2 / y) / 2.
    let at_one = b.feq(rest.0, zero);
    let limit = power(b, f.ty, c.near_pole);
    let low = b.flt(y, limit);
    let pole = b.and(at_one, low);
    let pole_numerator = power(b, f.ty, 1 - c.pole_scale);
    let numerator = b.select(pole, pole_numerator, numerator);
    let denominator = b.select(pole, y, denominator);
    let (none, doublings) = (b.int(int, 0), b.int(int, c.pole_scale.into()));
    let doublings = b.select(pole, doublings, none);
    let (quarter, half) = (b.float(f.ty, 0.25), b.float(f.ty, 0.5));
    let factor = b.select(pole, half, quarter);

    let quotient = b.fdiv(numerator, denominator);
    let t = b.fmul(quotient, scale);
    let log = log1p_of(b, t, None, Some(doublings));
    let re = b.fmul(log, factor);
    let (re_inf, im_inf) = (is_inf(b, z.0), is_inf(b, z.1));
    let infinite = b.or(re_inf, im_inf);
    let imaginary = b.feq(x, zero);
    let vanishes = b.or(infinite, imaginary);
    let re = b.select(vanishes, zero, re);
    copysign_of_number(b, re, z.0)
}
