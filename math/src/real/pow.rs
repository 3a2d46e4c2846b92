//! Powers of floats, `f32` and `f64`: `x^y = 2^(y log2 |x|)`, where the logarithm and its product with `y` are sums of two floats.
//!
//! The logarithm is that of `log2_parts`. `2^f = 1 + f ln 2 + f^2 w(f)` with `|f| <= 1/2`; the polynomials `w` are own minimax fits by a
//! Remez exchange in 240-bit arithmetic; the relative errors left in `2^f` after rounding the coefficients are 2^-29.7 (`f32`) and
//! 2^-58.7 (`f64`). docs/accuracy.md has the errors of the results.

use crate::kit::double_word::{DoubleWord, times};
use crate::kit::log2_parts::log2_of_lifted;
use crate::kit::util::{
    Format, Pair, if_any_pair, is_nan, is_normal, is_not_positive_normal, polynomial, sign_of, xor_sign,
};
use crate::real::exp::{clamp, scale};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;
use std::f64::consts::LN_2;

/// The constants of a format.
struct PowConstants {
    /// `ln 2` less its nearest float.
    ln2_low: f64,
    w: &'static [f64],
    /// Powers of two beyond this exponent are infinite or 0 after rounding; half of it is an exponent of the format.
    limit: f64,
}

const SINGLE: PowConstants = PowConstants {
    ln2_low: -1.9046542121259336e-09,
    w: &[
        0.24022650718688965,
        0.05550410598516464,
        0.009618042968213558,
        0.0013333812821656466,
        0.0001546548883197829,
        1.5215963685477618e-05,
    ],
    limit: 200.0,
};

const DOUBLE: PowConstants = PowConstants {
    ln2_low: 2.3190468138462996e-17,
    w: &[
        0.24022650695910072,
        0.05550410866482164,
        0.009618129107628347,
        0.001333355814640221,
        0.00015403530393626874,
        1.5252733846615952e-05,
        1.3215486596617993e-06,
        1.017805475837784e-07,
        7.054976106127952e-09,
        4.4561884685832854e-10,
        2.5621128434549886e-11,
    ],
    limit: 1200.0,
};

fn constants(ty: PrimType) -> &'static PowConstants {
    if ty == PrimType::F32 { &SINGLE } else { &DOUBLE }
}

/// `x` to the power `y`.
pub(crate) fn pow(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    // A base that is not positive, finite and normal.
    let rare = is_not_positive_normal(b, x);
    let magic = b.float(f.ty, f.magic());
    let (base, magic) = if_any_pair(b, rare, (x, magic), &[x], |b, args| normal_magnitude(b, args[0]));
    let logarithm = log2_of_lifted(b, base, magic);
    let power = exp2_of_product(b, (x, y), logarithm);
    b.if_any(rare, &[power], &[x, y, power], |b, args| vec![special_cases(b, args[0], args[1], args[2])])[0]
}

/// The magnitude, and the `magic` for [`log2_of_lifted`].
fn normal_magnitude(b: &mut BodyBuilder, x: Reg) -> Pair {
    let f = Format::of(b.ty(x));
    let lift = f.mantissa + 2;
    let (magic, more) = (b.float(f.ty, f.magic()), b.float(f.ty, f.magic() + f64::from(lift)));
    let factor = b.float(f.ty, (1u64 << lift) as f64);
    let magnitude = b.fabs(x);
    let lifted = b.fmul(magnitude, factor);
    let normal = is_normal(b, magnitude);
    (b.select(normal, magnitude, lifted), b.select(normal, magic, more))
}

/// 2 to the power `y` times the logarithm of `x`, a sum of two floats. An `x` that is not positive counts as its magnitude.
fn exp2_of_product(b: &mut BodyBuilder, (x, y): (Reg, Reg), logarithm: DoubleWord) -> Reg {
    let f = Format::of(b.ty(y));
    let int = f.ty.as_int();
    let c = constants(f.ty);
    let (product, error) = times(b, logarithm, y);

    // Adding 1.5 * 2^mantissa rounds to an integer in the low bits.
    let magic = b.float(f.ty, f.magic());
    let shifted = b.fadd(product, magic);
    let whole = b.fsub(shifted, magic);
    let first = b.fsub(product, whole);
    let fraction = b.fadd(first, error);
    let gone = b.fsub(first, fraction);
    let tail = b.fadd(gone, error);

    // The sum of 1 and the first term is kept with its error.
    let (ln2, ln2_low, one) = (b.float(f.ty, LN_2), b.float(f.ty, c.ln2_low), b.float(f.ty, 1.0));
    let sum = b.fma(fraction, ln2, one);
    let less = b.fsub(one, sum);
    let rest = b.fma(fraction, ln2, less);
    let rest = b.fma(tail, ln2, rest);
    let w = polynomial(b, fraction, c.w);
    let next = b.fma(fraction, w, ln2_low);
    let rest = b.fma(fraction, next, rest);
    let power = b.fadd(sum, rest);

    // The exponent is in the low bits; those above it leave the word.
    let (n, shift) = (b.bitcast(shifted, int), b.int(int, f.mantissa.into()));
    let exponent = b.shl(n, shift);
    let bits = b.bitcast(power, int);
    let bits = b.iadd(bits, exponent);
    let result = b.bitcast(bits, f.ty);
    // As integers, for which NaN is extreme too.
    let magnitude = b.fabs(product);
    let (magnitude, limit) = (b.bitcast(magnitude, int), b.float(f.ty, (f.bias - 2) as f64));
    let limit = b.bitcast(limit, int);
    let extreme = b.slt(limit, magnitude);
    b.if_any(extreme, &[result], &[x, y, power, product], |b, args| {
        let scaled = extreme_power(b, args[2], args[3]);
        vec![with_special_exponents(b, args[0], args[1], scaled)]
    })[0]
}

/// If the exponent is infinite or NaN, a base of 1 gives 1.
fn with_special_exponents(b: &mut BodyBuilder, x: Reg, y: Reg, power: Reg) -> Reg {
    let ty = b.ty(x);
    let (one, nan) = (b.float(ty, 1.0), b.float(ty, f64::NAN));
    let (y_nan, base_one) = (is_nan(b, y), b.feq(x, one));
    let power = b.select(y_nan, nan, power);
    b.select(base_one, one, power)
}

/// A number between 1/2 and 2 times the power of two nearest to `2^product`, which may be outside the format.
fn extreme_power(b: &mut BodyBuilder, power: Reg, product: Reg) -> Reg {
    let f = Format::of(b.ty(power));
    let int = f.ty.as_int();
    let limit = constants(f.ty).limit;
    let bounded = clamp(b, product, -limit, limit);
    let magic = b.float(f.ty, f.magic());
    let shifted = b.fadd(bounded, magic);
    let (bits, magic) = (b.bitcast(shifted, int), b.bitcast(magic, int));
    let n = b.isub(bits, magic);
    let within = b.feq(bounded, product);
    let one = b.float(f.ty, 1.0);
    // Far beyond, the power is not known.
    let power = b.select(within, power, one);
    scale(b, power, n)
}

/// The sign, and the Array API's special cases of zeros, infinities, NaN and negative bases. `power` is `|x|^y` for a finite
/// `|x| > 0` and finite `y`, and correct for an infinite `y` unless `|x| = 1`.
fn special_cases(b: &mut BodyBuilder, x: Reg, y: Reg, power: Reg) -> Reg {
    let ty = b.ty(x);
    let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
    let (inf, nan) = (b.float(ty, f64::INFINITY), b.float(ty, f64::NAN));
    let magnitude = b.fabs(x);
    let (at_zero, at_inf) = (b.feq(magnitude, zero), b.feq(magnitude, inf));
    let positive = b.flt(zero, y);
    let grows = b.xor(positive, at_zero);
    let end = b.select(grows, inf, zero);
    let at_end = b.or(at_zero, at_inf);
    let power = b.select(at_end, end, power);
    let at_unit = b.feq(magnitude, one);
    let power = b.select(at_unit, one, power);

    let trunc = b.ftrunc(y);
    let integral = b.feq(trunc, y);
    let half = b.float(ty, 0.5);
    let half_y = b.fmul(half, y);
    let half_trunc = b.ftrunc(half_y);
    let halves = b.fne(half_trunc, half_y);
    let odd = b.and(integral, halves);
    let sign = sign_of(b, x);
    let signed = xor_sign(b, power, sign);
    let power = b.select(odd, signed, power);

    let fraction = b.not(integral);
    let (below_zero, finite) = (b.flt(x, zero), b.flt(magnitude, inf));
    let outside = b.and(below_zero, finite);
    let outside = b.and(outside, fraction);
    let (x_nan, y_nan) = (is_nan(b, x), is_nan(b, y));
    let outside = b.or(outside, x_nan);
    let outside = b.or(outside, y_nan);
    let power = b.select(outside, nan, power);
    let (base_one, exponent_zero) = (b.feq(x, one), b.feq(y, zero));
    let always_one = b.or(base_one, exponent_zero);
    b.select(always_one, one, power)
}
