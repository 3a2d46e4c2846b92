//! Sine, cosine and tangent on `f32` and `f64`.
//!
//! `|x| = q pi/2 + r + low` with `|r| <= pi/4` (see `reduce`), then `sin r = r + r^3 s(r^2)`, `cos r = 1 - r^2/2 + r^4 c(r^2)`.
//! `s` and `c` are own minimax fits by a Remez exchange in 200-bit arithmetic over `r^2 <= 0.617`, weighted for the relative
//! error of the result: after rounding the coefficients 2^-28.0 and 2^-32.6 (`f32`), 2^-57.1 and 2^-59.6 (`f64`). Both
//! are sums of a large and a small term, hence more precise than a float, and one `fma` makes their quotient `tan x` so.

use crate::kit::double_word::{DoubleWord, exact_product, quotient};
use crate::kit::reduce::reduce;
use crate::kit::util::{Format, fast_two_sum, polynomial, select_pair, sign_of, two_sum, xor_sign};
use crate::real::exp::clamp;
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

const S_SINGLE: &[f64] = &[-0.1666666716337204, 0.008333329111337662, -0.00019839311426039785, 2.7181140467291698e-06];
const C_SINGLE: &[f64] = &[0.04166664555668831, -0.0013887315290048718, 2.443308403599076e-05];

const S_DOUBLE: &[f64] = &[
    -0.16666666666666666,
    0.008333333333333323,
    -0.00019841269841254784,
    2.7557319214056574e-06,
    -2.505210487966735e-08,
    1.6058362882989472e-10,
    -7.57852613728305e-13,
];
const C_DOUBLE: &[f64] = &[
    0.041666666666666595,
    -0.001388888888887304,
    2.480158728884133e-05,
    -2.755731417621464e-07,
    2.087570041212872e-09,
    -1.1358513729362734e-11,
];

/// Sine of `x` radians.
pub(crate) fn sin(b: &mut BodyBuilder, x: Reg) -> Reg {
    sin_cos(b, x).0
}

/// Cosine of `x` radians.
pub(crate) fn cos(b: &mut BodyBuilder, x: Reg) -> Reg {
    sin_cos(b, x).1
}

/// Sine and cosine of `x` radians by one reduction.
pub(crate) fn sin_cos(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg) {
    let (sine, cosine) = sin_cos_parts(b, x);
    (sine.0, cosine.0)
}

/// Sine and cosine of `x` radians, each as a double-word number.
pub(crate) fn sin_cos_parts(b: &mut BodyBuilder, x: Reg) -> (DoubleWord, DoubleWord) {
    let magnitude = b.fabs(x);
    let reduced = reduce(b, magnitude);
    sin_cos_of_reduced(b, x, reduced)
}

/// Sine and cosine of `x.0 + x.1` radians, each as a double-word number.
pub(crate) fn sin_cos_of_sum(b: &mut BodyBuilder, x: DoubleWord) -> (DoubleWord, DoubleWord) {
    let magnitude = b.fabs(x.0);
    let (r, rest, q) = reduce(b, magnitude);
    let sign = sign_of(b, x.0);
    let low = xor_sign(b, x.1, sign);
    let low = b.fadd(rest, low);
    // An ULP of a large x.0 is not a small angle; if it is a turn no result is correct.
    let low = clamp(b, low, -0.5, 0.5);
    let (r, low) = two_sum(b, r, low);
    sin_cos_of_reduced(b, x.0, (r, low, q))
}

/// Sine and cosine of an angle with the sign of `x`, whose magnitude was reduced.
pub(crate) fn sin_cos_of_reduced(b: &mut BodyBuilder, x: Reg, reduced: (Reg, Reg, Reg)) -> (DoubleWord, DoubleWord) {
    let (s, c, q) = both(b, reduced);
    let one = b.int(b.ty(q), 1);
    let next = b.iadd(q, one);
    let sine = (quadrant(b, s.0, c.0, q), quadrant(b, s.1, c.1, q));
    let cosine = (quadrant(b, s.0, c.0, next), quadrant(b, s.1, c.1, next));
    // On the magnitude first, so that -0 gives -0.
    let sign = sign_of(b, x);
    ((xor_sign(b, sine.0, sign), xor_sign(b, sine.1, sign)), cosine)
}

/// Sine and cosine of `x.0 + x.1` radians, at most `pi/4`, each as a double-word number.
pub(crate) fn sin_cos_of_small(b: &mut BodyBuilder, x: DoubleWord) -> (DoubleWord, DoubleWord) {
    let no_turns = b.int(b.ty(x.0).as_int(), 0);
    let (sine, cosine, _) = both(b, (x.0, x.1, no_turns));
    (sine, with_rounded_square(b, cosine, x.0))
}

/// `cos x - 1` for `|x| <= pi/4`.
pub(crate) fn cos_less_one(b: &mut BodyBuilder, x: Reg) -> DoubleWord {
    let ty = b.ty(x);
    let (square, error) = exact_product(b, x, x);
    let (zero, half) = (b.float(ty, 0.0), b.float(ty, 0.5));
    let c = polynomial(b, square, cosine_coefficients(ty));
    let minus_half = b.float(ty, -0.5);
    let low = b.fmul(error, minus_half);
    let fourth = b.fmul(square, square);
    let half_square = b.fmul(square, half);
    (b.fsub(zero, half_square), b.fma(fourth, c, low))
}

/// Tangent of `x` radians.
pub(crate) fn tan(b: &mut BodyBuilder, x: Reg) -> Reg {
    let magnitude = b.fabs(x);
    let reduced = reduce(b, magnitude);
    let (sine, cosine, q) = both(b, reduced);
    let ty = b.ty(x);
    let int = ty.as_int();
    // The error in `f32` was up to 1.07 ULP.
    let cosine = with_rounded_square(b, cosine, reduced.0);
    let (one, zero) = (b.int(int, 1), b.int(int, 0));
    let odd = b.and(q, one);
    let top = b.int(int, i64::from(ty.bits()) - 1);
    let flip = b.shl(odd, top);
    let even = b.ieq(odd, zero);
    let numerator = select_pair(b, even, sine, cosine);
    let divisor = select_pair(b, even, cosine, sine);
    let result = quotient(b, numerator, divisor);
    let sign = sign_of(b, x);
    let sign = b.xor(sign, flip);
    xor_sign(b, result, sign)
}

/// The cosine of a reduced `r` with the rounding error of `r^2`, a quarter ULP near pi/4.
fn with_rounded_square(b: &mut BodyBuilder, cosine: DoubleWord, r: Reg) -> DoubleWord {
    let (_, square_low) = exact_product(b, r, r);
    let minus_half = b.float(b.ty(r), -0.5);
    (cosine.0, b.fma(square_low, minus_half, cosine.1))
}

/// Sine and cosine of a reduced magnitude, and the number of quarter turns in the low bits of an integer.
fn both(b: &mut BodyBuilder, (r, low, q): (Reg, Reg, Reg)) -> (DoubleWord, DoubleWord, Reg) {
    let ty = b.ty(r);
    let z = b.fmul(r, r);
    let s = polynomial(b, z, if ty == PrimType::F32 { S_SINGLE } else { S_DOUBLE });
    let cube = b.fmul(z, r);
    // sin(r + low) = sin r + low cos r, where cos r = 1 - r^2/2 suffices.
    let half = b.float(ty, 0.5);
    let half_square = b.fmul(half, z);
    let minus_low = b.fneg(low);
    let low_part = b.fma(minus_low, half_square, low);
    let tail = b.fma(cube, s, low_part);
    let sine = fast_two_sum(b, r, tail);

    let c = polynomial(b, z, cosine_coefficients(ty));
    let one = b.float(ty, 1.0);
    let near = b.fsub(one, half_square);
    let lost = b.fsub(one, near);
    let lost = b.fsub(lost, half_square);
    let fourth = b.fmul(z, z);
    let tail = b.fma(fourth, c, lost);
    let minus_r = b.fneg(r);
    let tail = b.fma(minus_r, low, tail);
    let cosine = fast_two_sum(b, near, tail);
    (sine, cosine, q)
}

fn cosine_coefficients(ty: PrimType) -> &'static [f64] {
    if ty == PrimType::F32 { C_SINGLE } else { C_DOUBLE }
}

/// The sine of an angle `q` quarter turns further.
fn quadrant(b: &mut BodyBuilder, sine: Reg, cosine: Reg, q: Reg) -> Reg {
    let f = Format::of(b.ty(sine));
    let int = f.ty.as_int();
    let (one, two, zero) = (b.int(int, 1), b.int(int, 2), b.int(int, 0));
    let odd = b.and(q, one);
    let even = b.ieq(odd, zero);
    let value = b.select(even, sine, cosine);
    let half_turn = b.and(q, two);
    let to_top = b.int(int, i64::from(f.ty.bits()) - 2);
    let sign = b.shl(half_turn, to_top);
    xor_sign(b, value, sign)
}
