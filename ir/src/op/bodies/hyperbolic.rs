//! Hyperbolic sine, cosine and tangent on `f32` and `f64`.
//!
//! With `x = k ln 2 + r` (see `exp`), `A = cosh(k ln 2)` and `B = sinh(k ln 2)`, which are sums of two powers of two, the addition
//! theorems are `cosh x = A cosh r + B sinh r` and `sinh x = B cosh r + A sinh r`: no division, and no cancellation, since for
//! `k = 0` they are `cosh r` and `sinh r`. `cosh r = 1 + r^2 c(r^2)`, `sinh r = r + r^3 s(r^2)`; `c` and `s` are own minimax fits by a
//! Remez exchange in 250-bit arithmetic over `|r| <= 0.34661`, weighted for the relative error of the result, which is 2^-30.0 and
//! 2^-31.0 (`f32`), 2^-64.4 and 2^-59.7 (`f64`) after rounding the coefficients.

use super::double_word::{DoubleWord, quotient};
use super::exp::{Reduced, clamp, less_one, reduce};
use super::util::{
    Format, at_most, copysign, fast_two_sum, fma_two_sum, polynomial, power_of_two, tiny_as_is, two_sum,
};
use crate::body::{BodyBuilder, Reg};
use crate::dtype::PrimType;

/// What depends on the format.
struct Constants {
    c: &'static [f64],
    s: &'static [f64],
    /// Above, both are infinite.
    largest: f64,
    /// Above, `tanh` is 1.
    tanh_one: f64,
}

const SINGLE: Constants = Constants {
    c: &[0.5, 0.041666269302368164, 0.0013946029357612133],
    s: &[0.1666666716337204, 0.008333289064466953, 0.00019904886721633375],
    largest: 90.0,
    tanh_one: 10.0,
};

const DOUBLE: Constants = Constants {
    c: &[
        0.5,
        0.04166666666666671,
        0.0013888888888864206,
        2.480158736294659e-05,
        2.755724216496262e-07,
        2.0924329587712227e-09,
    ],
    s: &[
        0.16666666666666666,
        0.008333333333333337,
        0.00019841269841253267,
        2.755731926508825e-06,
        2.5052056866453162e-08,
        1.609079870243039e-10,
    ],
    largest: 711.0,
    tanh_one: 20.0,
};

fn constants(ty: PrimType) -> &'static Constants {
    if ty == PrimType::F32 { &SINGLE } else { &DOUBLE }
}

/// Hyperbolic cosine.
pub(super) fn cosh(b: &mut BodyBuilder, x: Reg) -> Reg {
    let magnitude = b.fabs(x);
    let p = quarter_parts(b, magnitude);
    let (sum, rest) = cosh_of(b, &p);
    times_four(b, sum, rest)
}

/// Hyperbolic sine.
pub(super) fn sinh(b: &mut BodyBuilder, x: Reg) -> Reg {
    let p = quarter_parts(b, x);
    let (sum, rest) = sinh_of(b, &p);
    let result = times_four(b, sum, rest);
    tiny_as_is(b, x, result)
}

/// Hyperbolic sine and cosine of `x >= 0` less a factor of `2^excess`.
pub(super) struct SinhCosh {
    pub sinh: DoubleWord,
    pub cosh: DoubleWord,
    /// An integer register, 0 until the exponent of the results is about `top`.
    pub excess: Reg,
}

/// Both for `x >= 0`, which is taken for `largest` beyond it; `top` is below the bias of the format.
pub(super) fn sinh_cosh_parts(b: &mut BodyBuilder, x: Reg, largest: f64, top: i64) -> SinhCosh {
    let ty = b.ty(x);
    let largest = b.float(ty, largest);
    let x = at_most(b, x, largest);
    let reduced = reduce(b, x);
    let top = b.int(ty.as_int(), top);
    let k = b.smin(reduced.k, top);
    let excess = b.isub(reduced.k, k);
    let p = parts(b, &Reduced { k, ..reduced }, 0);
    let (sinh, cosh) = (sinh_of(b, &p), cosh_of(b, &p));
    // A quarter of an ULP at most, which the function of a real number does without.
    let rest = b.fadd(sinh.1, p.b_low);
    SinhCosh { sinh: fast_two_sum(b, sinh.0, rest), cosh: fast_two_sum(b, cosh.0, cosh.1), excess }
}

fn times_four(b: &mut BodyBuilder, sum: Reg, rest: Reg) -> Reg {
    let quarter = b.fadd(sum, rest);
    let four = b.float(b.ty(quarter), 4.0);
    b.fmul(quarter, four)
}

/// The cosine from its parts, as a sum of two floats.
fn cosh_of(b: &mut BodyBuilder, p: &Parts) -> DoubleWord {
    // |B r| < A.
    let (sum, error) = fma_two_sum(b, p.b, p.r, p.a);
    // `f32` cannot hold A for k = 12, by nearly an ULP of the result.
    let error = b.fadd(error, p.a_low);
    let rest = b.fma(p.b, p.sinh_rest, error);
    (sum, b.fma(p.a, p.cosh_rest, rest))
}

/// The sine from its parts, as a sum of two floats.
fn sinh_of(b: &mut BodyBuilder, p: &Parts) -> DoubleWord {
    // |A r| < |B| unless k = 0, where B is 0.
    let (sum, error) = fma_two_sum(b, p.a, p.r, p.b);
    let rest = b.fma(p.a, p.sinh_rest, error);
    (sum, b.fma(p.b, p.cosh_rest, rest))
}

/// The parts of both results, less a common power of two.
struct Parts {
    /// `cosh(k ln 2)`.
    a: Reg,
    /// The rounding error of `a`, for `k >= 0`.
    a_low: Reg,
    /// `sinh(k ln 2)`.
    b: Reg,
    /// The rounding error of `b`, for `k >= 0`.
    b_low: Reg,
    r: Reg,
    /// `cosh r - 1`.
    cosh_rest: Reg,
    /// `sinh r - r`, with the rounding error of `r`.
    sinh_rest: Reg,
}

/// The parts less a factor of 4, without which they would overflow before the results do.
fn quarter_parts(b: &mut BodyBuilder, x: Reg) -> Parts {
    let largest = constants(b.ty(x)).largest;
    let x = clamp(b, x, -largest, largest);
    let reduced = reduce(b, x);
    parts(b, &reduced, 2)
}

/// The parts less a factor of `2^drop`.
fn parts(b: &mut BodyBuilder, reduced: &Reduced, drop: i64) -> Parts {
    let r = reduced.value;
    let f = Format::of(b.ty(r));
    let int = f.ty.as_int();
    let c = constants(f.ty);
    let square = b.fmul(r, r);
    let cosh = polynomial(b, square, c.c);
    let cosh_rest = b.fmul(square, cosh);
    let sinh = polynomial(b, square, c.s);
    let cube = b.fmul(square, r);
    let sinh_rest = b.fma(cube, sinh, reduced.low);

    // Halves of 2^k and of 2^-k; the smaller does not count where it is below the format.
    let halved = b.int(int, 1 + drop);
    let least = b.int(int, 1 - f.bias);
    let up = b.isub(reduced.k, halved);
    let up = b.smax(up, least);
    let up = power_of_two(b, up, f);
    let minus_halved = b.int(int, -1 - drop);
    let down = b.isub(minus_halved, reduced.k);
    let down = b.smax(down, least);
    let down = power_of_two(b, down, f);
    let (a, a_low) = fast_two_sum(b, up, down);
    let difference = b.fsub(up, down);
    let gone = b.fsub(up, difference);
    Parts { a, a_low, b: difference, b_low: b.fsub(gone, down), r, cosh_rest, sinh_rest }
}

/// Hyperbolic tangent: with `t = e^(2|x|) - 1` it is `t / (t + 2)`, numerator and divisor each held in two parts and the quotient
/// corrected by its remainder. Rounded at each step instead, it was wrong by up to 2.25 ULP in `f32`.
pub(super) fn tanh(b: &mut BodyBuilder, x: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    let magnitude = b.fabs(x);
    let limit = b.float(f.ty, constants(f.ty).tanh_one);
    let magnitude = at_most(b, magnitude, limit);
    let twice = b.fadd(magnitude, magnitude);
    let r = reduce(b, twice);
    let rest = less_one(b, r.value, Some(r.low));
    let power = power_of_two(b, r.k, f);
    let one = b.float(f.ty, 1.0);
    let less = b.fsub(power, one);
    let scaled = b.fmul(power, r.value);
    let (t, error) = fast_two_sum(b, less, scaled);
    let rest = b.fma(power, rest, error);
    let (t, low) = fast_two_sum(b, t, rest);
    let two = b.float(f.ty, 2.0);
    let (divisor, divisor_error) = two_sum(b, t, two);
    let divisor_low = b.fadd(divisor_error, low);
    let quotient = quotient(b, (t, low), (divisor, divisor_low));
    copysign(b, quotient, x)
}
