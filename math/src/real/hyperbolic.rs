//! Hyperbolic sine, cosine and tangent on `f32` and `f64`.
//!
//! With `x = k ln 2 + r` (see `exp`), `A = cosh(k ln 2)` and `B = sinh(k ln 2)`, which are sums of two powers of two, the addition
//! theorems are `cosh x = A cosh r + B sinh r` and `sinh x = B cosh r + A sinh r`: no division, and no cancellation, since for
//! `k = 0` they are `cosh r` and `sinh r`. `cosh r = 1 + r^2 c(r^2)`, `sinh r = r + r^3 s(r^2)`; `c` and `s` are own minimax fits by a
//! Remez exchange in 250-bit arithmetic over `|r| <= 0.34661`, weighted for the relative error of the result, which is 2^-30.0 and
//! 2^-31.0 (`f32`), 2^-64.4 and 2^-59.7 (`f64`) after rounding the coefficients. So are the polynomials of `tanh`: the one near 0, over
//! `x <= 0.575`, to 2^-29.1 and 2^-59.1; that of `e^2r - 1`, over `|r| <= 0.1733`, to 2^-28.3 and 2^-58.0 of 1, since 2 and more are added.

use crate::kit::double_word::{DoubleWord, reciprocal};
use crate::kit::util::{Format, at_most, fast_two_sum, fma_two_sum, polynomial, power_of_two, sign_of, tiny_as_is};
use crate::real::exp::{Reduced, clamp, reduce, reduce_half};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// The constants of a format.
struct HyperbolicConstants {
    c: &'static [f64],
    s: &'static [f64],
    /// Above, both are infinite.
    largest: f64,
    /// The polynomial of `tanh`, up to [`TANH_NEAR`].
    tanh: &'static [f64],
    /// `(e^2r - 1 - 2r) / (2r^2)` for `|r| <= ln(2)/4`.
    half: &'static [f64],
    /// Above, `tanh` is 1.
    tanh_one: f64,
}

/// Below, `tanh` is computed by a polynomial.
const TANH_NEAR: f64 = 0.575;

const SINGLE: HyperbolicConstants = HyperbolicConstants {
    c: &[0.5, 0.041666269302368164, 0.0013946029357612133],
    s: &[0.1666666716337204, 0.008333289064466953, 0.00019904886721633375],
    largest: 90.0,
    tanh: &[-0.3333331048488617, 0.13332298398017883, -0.05382111668586731, 0.02094012126326561, -0.006085108034312725],
    half: &[1.0, 0.666660726070404, 0.3333296477794647, 0.1339021772146225, 0.044641729444265366],
    tanh_one: 10.0,
};

const DOUBLE: HyperbolicConstants = HyperbolicConstants {
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
    tanh: &[
        -0.3333333333333325,
        0.13333333333317993,
        -0.05396825395885441,
        0.021869488248305882,
        -0.008863230393873578,
        0.003592070187996598,
        -0.0014554050846375946,
        0.0005878893409426812,
        -0.0002319981508153955,
        8.137455565075459e-05,
        -1.832069172597528e-05,
    ],
    half: &[
        1.0000000000000024,
        0.666666666666668,
        0.3333333333321239,
        0.13333333333291508,
        0.044444444630389865,
        0.012698412747154206,
        0.0031745907151915624,
        0.0007054647360232035,
        0.0001414721175873819,
        2.572070737069188e-05,
    ],
    tanh_one: 20.0,
};

fn constants(ty: PrimType) -> &'static HyperbolicConstants {
    if ty == PrimType::F32 { &SINGLE } else { &DOUBLE }
}

/// Hyperbolic cosine.
pub(crate) fn cosh(b: &mut BodyBuilder, x: Reg) -> Reg {
    let magnitude = b.fabs(x);
    let p = quarter_parts(b, magnitude);
    let (sum, rest) = cosh_of(b, &p);
    times_four(b, sum, rest)
}

/// Hyperbolic sine.
pub(crate) fn sinh(b: &mut BodyBuilder, x: Reg) -> Reg {
    let p = quarter_parts(b, x);
    let (sum, rest) = sinh_of(b, &p);
    let result = times_four(b, sum, rest);
    tiny_as_is(b, x, result)
}

/// Hyperbolic sine and cosine of `x >= 0` less a factor of `2^excess`.
pub(crate) struct SinhCosh {
    pub sinh: DoubleWord,
    pub cosh: DoubleWord,
    /// An integer register, 0 until the exponent of the results is about `top`.
    pub excess: Reg,
}

/// Both for `x >= 0`, clamped to `largest`; `top` is below the bias of the format.
pub(crate) fn sinh_cosh_parts(b: &mut BodyBuilder, x: Reg, largest: f64, top: i64) -> SinhCosh {
    let ty = b.ty(x);
    let largest = b.float(ty, largest);
    let x = at_most(b, x, largest);
    let reduced = reduce(b, x);
    let top = b.int(ty.as_int(), top);
    let k = b.smin(reduced.k, top);
    let excess = b.isub(reduced.k, k);
    let p = parts(b, &Reduced { k, ..reduced }, 0);
    let (sinh, cosh) = (sinh_of(b, &p), cosh_of(b, &p));
    // At most a quarter of an ULP, omitted for real numbers.
    let rest = b.fadd(sinh.1, p.b_low);
    SinhCosh { sinh: fast_two_sum(b, sinh.0, rest), cosh: fast_two_sum(b, cosh.0, cosh.1), excess }
}

fn times_four(b: &mut BodyBuilder, sum: Reg, rest: Reg) -> Reg {
    let quarter = b.fadd(sum, rest);
    let four = b.float(b.ty(quarter), 4.0);
    b.fmul(quarter, four)
}

/// The cosine from its parts, as a sum of two floats.
fn cosh_of(b: &mut BodyBuilder, p: &ScaledSums) -> DoubleWord {
    // |B r| < A.
    let (sum, error) = fma_two_sum(b, p.b, p.r, p.a);
    // A is not exact in `f32` for k = 12, by nearly an ULP of the result.
    let error = b.fadd(error, p.a_low);
    let rest = b.fma(p.b, p.sinh_rest, error);
    (sum, b.fma(p.a, p.cosh_rest, rest))
}

/// The sine from its parts, as a sum of two floats.
fn sinh_of(b: &mut BodyBuilder, p: &ScaledSums) -> DoubleWord {
    // |A r| < |B| unless k = 0, where B is 0.
    let (sum, error) = fma_two_sum(b, p.a, p.r, p.b);
    let rest = b.fma(p.a, p.sinh_rest, error);
    (sum, b.fma(p.b, p.cosh_rest, rest))
}

/// The parts of both results, less a common power of two.
struct ScaledSums {
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

/// The parts less a factor of 4, since they overflow before the results.
fn quarter_parts(b: &mut BodyBuilder, x: Reg) -> ScaledSums {
    let largest = constants(b.ty(x)).largest;
    let x = clamp(b, x, -largest, largest);
    let reduced = reduce(b, x);
    parts(b, &reduced, 2)
}

/// The parts less a factor of `2^drop`.
fn parts(b: &mut BodyBuilder, reduced: &Reduced, drop: i64) -> ScaledSums {
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

    // Halves of 2^k and of 2^-k; the smaller does not count if it underflows.
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
    ScaledSums { a, a_low, b: difference, b_low: b.fsub(gone, down), r, cosh_rest, sinh_rest }
}

/// Hyperbolic tangent: `x + x^3 p(x^2)` near 0, else `1 - 2 / (e^(2|x|) + 1)`, whose quotient is at most a half. The divisor is in
/// two parts and its reciprocal corrected by its remainder: with rounding at each step the error was up to 1.4 ULP in `f32`.
pub(crate) fn tanh(b: &mut BodyBuilder, x: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    let c = constants(f.ty);
    let magnitude = b.fabs(x);
    let square = b.fmul(x, x);
    let cube = b.fmul(square, magnitude);
    let p = polynomial(b, square, c.tanh);
    let near = b.fma(cube, p, magnitude);

    let limit = b.float(f.ty, c.tanh_one);
    let bounded = at_most(b, magnitude, limit);
    let reduced = reduce_half(b, bounded);
    let q = polynomial(b, reduced.value, c.half);
    let square = b.fmul(reduced.value, reduced.value);
    let rest = b.fma(square, q, reduced.value);
    let (one, half, minus_two) = (b.float(f.ty, 1.0), b.float(f.ty, 0.5), b.float(f.ty, -2.0));
    let next = b.int(f.ty.as_int(), 1);
    let k = b.iadd(reduced.k, next);
    let power = power_of_two(b, k, f);
    let above_one = b.fma(power, half, one);
    let divisor = b.fma(power, rest, above_one);
    let gone = b.fsub(above_one, divisor);
    let low = b.fma(power, rest, gone);
    let reciprocal = reciprocal(b, (divisor, low));
    let far = b.fma(reciprocal, minus_two, one);

    let limit = b.float(f.ty, TANH_NEAR);
    let is_near = b.flt(magnitude, limit);
    let result = b.select(is_near, near, far);
    let (result, sign) = (b.bitcast(result, f.ty.as_int()), sign_of(b, x));
    let result = b.or(result, sign);
    b.bitcast(result, f.ty)
}
