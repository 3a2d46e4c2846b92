//! Exponentials of complex numbers: bases e and 2, and `e^z - 1`.
//!
//! `e^(x + iy) = 2^k (m cos y + i m sin y)` where `m`, `cos y` and `sin y` are double-word numbers, so that each part of the result
//! is rounded nearly once. `2^k` may be outside the format if a small sine or cosine brings the product back into it.
//! Infinities, NaN and signs of zeros are those of C99 Annex G and the Array API, unspecified signs as if the imaginary part
//! were a zero of its sign.

use crate::kit::double_word::{DoubleWord, constant, product, rounded, times};
use crate::kit::reduce::{BINARY, reduce_from};
use crate::kit::util::{Format, Pair, copysign_of_number, fast_two_sum, is_finite, power_of_two, two_sum};
use crate::real::exp::{clamp, exp_significand, less_one, reduce, scale};
use crate::real::trig::{cos_less_one, sin_cos_of_reduced, sin_cos_of_sum, sin_cos_parts};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// `ln 2`, and its rounding error.
const LN2: (f64, f64) = (std::f64::consts::LN_2, 2.3190468138462996e-17);

/// `e^z`.
pub(crate) fn exp(b: &mut BodyBuilder, z: Pair) -> Pair {
    let y = imaginary_part(b, z.0, z.1);
    let circle = sin_cos_parts(b, y);
    scaled(b, z.0, None, y, circle)
}

/// `e^z` of a number whose parts are double-word numbers.
pub(crate) fn exp_of_sums(b: &mut BodyBuilder, re: DoubleWord, im: DoubleWord) -> Pair {
    let y = imaginary_part(b, re.0, im.0);
    let circle = sin_cos_of_sum(b, (y, im.1));
    scaled(b, re.0, Some(re.1), y, circle)
}

/// `2^z = e^(z ln 2)`. The angle is reduced from the imaginary part itself, so it is accurate for large ones too.
pub(crate) fn exp2(b: &mut BodyBuilder, z: Pair) -> Pair {
    let f = Format::of(b.ty(z.0));
    let int = f.ty.as_int();
    let ln2 = constant(b, f.ty, LN2);
    let (x, low) = times(b, ln2, z.0);
    let y = imaginary_part(b, x, z.1);
    let magnitude = b.fabs(y);
    // A scaled tiny angle is still its own sine, and loses no bits in the cast to radians.
    let (tiny, lift) = if f.ty == PrimType::F32 { (-100, 60) } else { (-900, 200) };
    let (tiny, factor) = (b.float(f.ty, 2f64.powi(tiny)), b.float(f.ty, 2f64.powi(lift)));
    let tiny = b.flt(magnitude, tiny);
    let lifted = b.fmul(magnitude, factor);
    let magnitude = b.select(tiny, lifted, magnitude);
    let (zero, lift) = (b.int(int, 0), b.int(int, lift.into()));
    let lift = b.select(tiny, lift, zero);
    let reduced = reduce_from(b, magnitude, &BINARY);
    let circle = sin_cos_of_reduced(b, y, reduced);
    let (re, im, n) = unscaled(b, (x, Some(low)), circle);
    let (re, im) = (rounded(b, re), rounded(b, im));
    let im_n = b.isub(n, lift);
    let (re, im) = (scale(b, re, n), scale(b, im, im_n));
    special_values(b, x, y, (re, im))
}

/// `e^(x + low)` times the cosine, and times the sine, of an angle that is 0 if `y` is.
fn scaled(b: &mut BodyBuilder, x: Reg, low: Option<Reg>, y: Reg, circle: (DoubleWord, DoubleWord)) -> Pair {
    let (re, im, n) = unscaled(b, (x, low), circle);
    let (re, im) = (rounded(b, re), rounded(b, im));
    let (re, im) = (scale(b, re, n), scale(b, im, n));
    special_values(b, x, y, (re, im))
}

/// `e^z - 1`. The real part is `2^k m cos y - 1`, but if both parts of `z` are small the sum of `e^x - 1`, `cos y - 1` and their
/// product, whose largest terms `x` and `y^2/2` are added exactly.
pub(crate) fn expm1(b: &mut BodyBuilder, z: Pair) -> Pair {
    let f = Format::of(b.ty(z.0));
    let y = imaginary_part(b, z.0, z.1);
    let circle = sin_cos_parts(b, y);
    let (re, im, n) = unscaled(b, (z.0, None), circle);
    let im = rounded(b, im);
    let im = scale(b, im, n);

    let (high, low) = fast_two_sum(b, re.0, re.1);
    let (high, low) = (scale(b, high, n), scale(b, low, n));
    let minus_one = b.float(f.ty, -1.0);
    let (less, error) = two_sum(b, high, minus_one);
    let rest = b.fadd(error, low);
    let less = b.fadd(less, rest);
    // An infinite product has a NaN error.
    let (magnitude, large) = (b.fabs(high), b.float(f.ty, (1u64 << (f.mantissa + 2)) as f64));
    let large = b.fle(large, magnitude);
    let re = b.select(large, high, less);

    let near_zero = small(b, z.0, y);
    let (x_bound, y_bound) = (b.float(f.ty, 0.34), b.float(f.ty, 0.78));
    let (x_size, y_size) = (b.fabs(z.0), b.fabs(y));
    let (x_small, y_small) = (b.flt(x_size, x_bound), b.flt(y_size, y_bound));
    let both_small = b.and(x_small, y_small);
    let re = b.select(both_small, near_zero, re);
    special_values(b, z.0, y, (re, im))
}

/// `e^x cos y - 1` for `|x| < 0.34` and `|y| < 0.78`.
fn small(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let r = reduce(b, x);
    let rest = less_one(b, r.value, Some(r.low));
    let (cos, cos_rest) = cos_less_one(b, y);
    let (first, error) = two_sum(b, x, cos);
    let (e, c) = (b.fadd(x, rest), b.fadd(cos, cos_rest));
    let rest = b.fadd(rest, cos_rest);
    let rest = b.fma(e, c, rest);
    let rest = b.fadd(error, rest);
    b.fadd(first, rest)
}

/// The imaginary part; a zero of its sign if it is not finite and the real part is `-inf`: the result is 0 there.
fn imaginary_part(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let ty = b.ty(x);
    let (minus_inf, zero) = (b.float(ty, f64::NEG_INFINITY), b.float(ty, 0.0));
    let (vanishing, finite) = (b.feq(x, minus_inf), is_finite(b, y));
    let infinite = b.not(finite);
    let replaced = b.and(vanishing, infinite);
    let zero = copysign_of_number(b, zero, y);
    b.select(replaced, zero, y)
}

/// `e^x cos y` and `e^x sin y` over a common power of two, with its exponent.
fn unscaled(
    b: &mut BodyBuilder,
    (x, low): (Reg, Option<Reg>),
    (sine, cosine): (DoubleWord, DoubleWord),
) -> (DoubleWord, DoubleWord, Reg) {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    // Below, the result is 0 even for cos 0; above, it is infinite even for the smallest sine.
    let (smallest, largest) = if f.ty == PrimType::F32 { (-104.5, 195.0) } else { (-746.0, 1460.0) };
    let clamped = clamp(b, x, smallest, largest);
    let low = low.map(|low| {
        let (within, zero) = (b.feq(clamped, x), b.float(f.ty, 0.0));
        b.select(within, low, zero)
    });
    let (power, k) = exp_significand(b, clamped, low);
    // The largest part of 2^k within the format goes first, so that a subnormal sine loses no bits.
    let (zero, most) = (b.int(int, 0), b.int(int, f.bias - 7));
    let first = b.smax(k, zero);
    let first = b.smin(first, most);
    let factor = power_of_two(b, first, f);
    let power = (b.fmul(power.0, factor), b.fmul(power.1, factor));
    let (re, im) = (product(b, power, cosine), product(b, power, sine));
    (re, im, b.isub(k, first))
}

/// A zero imaginary part stays, even beside NaN; `+inf` and an imaginary part that is not finite give an infinite real part.
fn special_values(b: &mut BodyBuilder, x: Reg, y: Reg, (re, im): Pair) -> Pair {
    let ty = b.ty(y);
    let (zero, inf) = (b.float(ty, 0.0), b.float(ty, f64::INFINITY));
    let real = b.feq(y, zero);
    let im = b.select(real, y, im);
    let (infinite, finite) = (b.feq(x, inf), is_finite(b, y));
    let re_magnitude = b.select(finite, re, inf);
    (b.select(infinite, re_magnitude, re), im)
}
