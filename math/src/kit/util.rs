//! Small steps shared by many bodies: signs, exponents, tests of special values. Operands and results are registers.

use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// The parameters of a float format.
#[derive(Clone, Copy)]
pub(crate) struct Format {
    pub ty: PrimType,
    /// Stored mantissa bits.
    pub mantissa: u32,
    /// Exponent bias.
    pub bias: i64,
}

impl Format {
    pub fn of(ty: PrimType) -> Format {
        if ty == PrimType::F32 {
            Format { ty, mantissa: 23, bias: 127 }
        } else {
            Format { ty, mantissa: 52, bias: 1023 }
        }
    }

    /// Returns `1.5 * 2^mantissa`. Its addition rounds a number to an integer in the low bits.
    pub fn magic(self) -> f64 {
        1.5 * (1u64 << self.mantissa) as f64
    }

    pub fn sign_bit(self) -> u64 {
        1 << (self.ty.bits() - 1)
    }
}

/// Returns `ln 2` in two parts; the product of the first part and an exponent is exact.
pub(crate) fn ln2(ty: PrimType) -> (f64, f64) {
    if ty == PrimType::F32 {
        (0.693145751953125, 1.428606765330187e-06)
    } else {
        (0.6931471803691238, 1.9082149292705877e-10)
    }
}

/// `log10 2` in two parts, like [`ln2`].
pub(crate) const LOG10_2_SINGLE: (f64, f64) = (0.30103302001953125, -3.024355464731343e-06);
/// The same in `f64`.
pub(crate) const LOG10_2_DOUBLE: (f64, f64) = (0.3010299956640665, -8.532344317057107e-14);

/// Combines the magnitude of `a` with the sign of `s`.
pub(crate) fn copysign(b: &mut BodyBuilder, a: Reg, s: Reg) -> Reg {
    let f = Format::of(b.ty(a));
    let sign = sign_of(b, s);
    let magnitude = b.fabs(a);
    let magnitude = b.bitcast(magnitude, f.ty.as_int());
    let bits = b.or(magnitude, sign);
    b.bitcast(bits, f.ty)
}

/// Combines the magnitude of `a` with the sign of `s`, or plus if `s` is NaN, whose sign is not specified.
pub(crate) fn copysign_of_number(b: &mut BodyBuilder, a: Reg, s: Reg) -> Reg {
    let (unordered, signed) = (is_nan(b, s), copysign(b, a, s));
    b.select(unordered, a, signed)
}

/// Returns only the sign bit of a float, as an integer.
pub(crate) fn sign_of(b: &mut BodyBuilder, a: Reg) -> Reg {
    let f = Format::of(b.ty(a));
    let bits = b.bitcast(a, f.ty.as_int());
    let mask = b.bits(f.ty.as_int(), f.sign_bit());
    b.and(bits, mask)
}

/// Flips the sign of `a` if the integer `sign` is the sign bit, not 0.
pub(crate) fn xor_sign(b: &mut BodyBuilder, a: Reg, sign: Reg) -> Reg {
    let ty = b.ty(a);
    let bits = b.bitcast(a, ty.as_int());
    let bits = b.xor(bits, sign);
    b.bitcast(bits, ty)
}

/// Evaluates `c[0] + c[1] x + c[2] x^2 + …` after Horner, with one `fma` per step.
pub(crate) fn polynomial(b: &mut BodyBuilder, x: Reg, coefficients: &[f64]) -> Reg {
    let ty = b.ty(x);
    let constants: Vec<Reg> = coefficients.iter().map(|&c| b.float(ty, c)).collect();
    let Some((&highest, lower)) = constants.split_last() else { return b.float(ty, 0.0) };
    lower.iter().rev().fold(highest, |sum, &c| b.fma(sum, x, c))
}

/// The registers of a complex number: real and imaginary part.
pub(crate) type Pair = (Reg, Reg);

/// Selects `x` if the mask is true, else `y`.
pub(crate) fn select_pair(b: &mut BodyBuilder, mask: Reg, x: Pair, y: Pair) -> Pair {
    (b.select(mask, x.0, y.0), b.select(mask, x.1, y.1))
}

/// Computes a value by `then` from the parts `args` if a lane's `mask` is true; otherwise the value is `default`.
pub(crate) fn if_any_pair(
    b: &mut BodyBuilder,
    mask: Reg,
    default: Pair,
    args: &[Reg],
    then: impl FnOnce(&mut BodyBuilder, &[Reg]) -> Pair,
) -> Pair {
    let results = b.if_any(mask, &[default.0, default.1], args, |b, args| {
        let (re, im) = then(b, args);
        vec![re, im]
    });
    (results[0], results[1])
}

pub(crate) fn is_nan(b: &mut BodyBuilder, a: Reg) -> Reg {
    b.fne(a, a)
}

pub(crate) fn is_inf(b: &mut BodyBuilder, a: Reg) -> Reg {
    let magnitude = b.fabs(a);
    let inf = b.float(b.ty(a), f64::INFINITY);
    b.feq(magnitude, inf)
}

/// Returns a mask that a number is positive, finite and not subnormal.
pub(crate) fn is_normal(b: &mut BodyBuilder, x: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    let (least, inf) = (b.float(f.ty, 2f64.powi(1 - f.bias as i32)), b.float(f.ty, f64::INFINITY));
    let (above, below) = (b.fle(least, x), b.flt(x, inf));
    b.and(above, below)
}

/// Returns a mask that `x` is not positive, or subnormal, infinite or NaN. It takes fewer instructions on integers than
/// the opposite on floats.
pub(crate) fn is_not_positive_normal(b: &mut BodyBuilder, x: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let bits = b.bitcast(x, int);
    let (least, greatest) = (1_i64 << f.mantissa, ((2 * f.bias + 1) << f.mantissa) - 1);
    let (least, greatest) = (b.int(int, least), b.int(int, greatest));
    let (below, above) = (b.slt(bits, least), b.slt(greatest, bits));
    b.or(below, above)
}

pub(crate) fn is_finite(b: &mut BodyBuilder, a: Reg) -> Reg {
    let magnitude = b.fabs(a);
    let inf = b.float(b.ty(a), f64::INFINITY);
    b.flt(magnitude, inf)
}

/// Computes `2^k` for an integer `k` in the range of normal exponents.
pub(crate) fn power_of_two(b: &mut BodyBuilder, k: Reg, f: Format) -> Reg {
    let int = f.ty.as_int();
    let bias = b.int(int, f.bias);
    let field = b.iadd(k, bias);
    let shift = b.int(int, i64::from(f.mantissa));
    let bits = b.shl(field, shift);
    b.bitcast(bits, f.ty)
}

/// Computes two exact powers of two for a positive `m`: `(2^-k, 2^k, k)` with `k` the exponent of `m`, clamped so that
/// both are normal. `m * 2^-k` is in [1, 4) for normal `m`; `k` is an integer register of the float's width.
pub(crate) fn power_scale(b: &mut BodyBuilder, m: Reg) -> (Reg, Reg, Reg) {
    let f = Format::of(b.ty(m));
    let int = f.ty.as_int();
    let bits = b.bitcast(m, int);
    let shift = b.int(int, i64::from(f.mantissa));
    let biased = b.ushr(bits, shift);
    let low = b.int(int, 1);
    let high = b.int(int, 2 * f.bias - 1);
    let biased = b.smax(biased, low);
    let biased = b.smin(biased, high);
    let double_bias = b.int(int, 2 * f.bias);
    let inverse = b.isub(double_bias, biased);
    let down = b.shl(inverse, shift);
    let up = b.shl(biased, shift);
    let bias = b.int(int, f.bias);
    let k = b.isub(biased, bias);
    (b.bitcast(down, f.ty), b.bitcast(up, f.ty), k)
}

/// Computes the minimum of `x` and `limit`; NaN stays. Unlike `fmin`, it is one instruction of most machines, since the
/// sign of zero is unspecified.
pub(crate) fn at_most(b: &mut BodyBuilder, x: Reg, limit: Reg) -> Reg {
    let above = b.flt(limit, x);
    b.select(above, limit, x)
}

/// Computes the maximum of `x` and `limit`; NaN stays.
pub(crate) fn at_least(b: &mut BodyBuilder, x: Reg, limit: Reg) -> Reg {
    let below = b.flt(x, limit);
    b.select(below, limit, x)
}

/// Orders two numbers: the smaller and the larger. Equal and incomparable numbers are in any order.
pub(crate) fn in_order(b: &mut BodyBuilder, x: Reg, y: Reg) -> (Reg, Reg) {
    let less = b.flt(x, y);
    (b.select(less, x, y), b.select(less, y, x))
}

/// Computes a sum and its rounding error, exact for any order of the operands (Knuth).
pub(crate) fn two_sum(b: &mut BodyBuilder, x: Reg, y: Reg) -> (Reg, Reg) {
    let sum = b.fadd(x, y);
    let y_part = b.fsub(sum, x);
    let x_part = b.fsub(sum, y_part);
    let y_error = b.fsub(y, y_part);
    let x_error = b.fsub(x, x_part);
    (sum, b.fadd(x_error, y_error))
}

/// Computes a sum and its rounding error, exact if `|x| >= |y|` or `x = 0` (Dekker).
pub(crate) fn fast_two_sum(b: &mut BodyBuilder, x: Reg, y: Reg) -> (Reg, Reg) {
    let sum = b.fadd(x, y);
    let y_part = b.fsub(sum, x);
    (sum, b.fsub(y, y_part))
}

/// Computes `x y + z` and its rounding error, exact if `|z| >= |x y|` or `z = 0`.
pub(crate) fn fma_two_sum(b: &mut BodyBuilder, x: Reg, y: Reg, z: Reg) -> (Reg, Reg) {
    let sum = b.fma(x, y, z);
    let minus_part = b.fsub(z, sum);
    (sum, b.fma(x, y, minus_part))
}

/// Returns `x` if it is so small that `x + x^2` rounds to it, else `result`: for functions with slope 1 at 0. Zeros
/// keep their sign and subnormals are exact.
pub(crate) fn tiny_as_is(b: &mut BodyBuilder, x: Reg, result: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    let limit = b.float(f.ty, 2f64.powi(-2 - f.mantissa as i32));
    let magnitude = b.fabs(x);
    let tiny = b.flt(magnitude, limit);
    b.select(tiny, x, result)
}

/// Computes `-i f(iz)` for an odd `f` that commutes with conjugation: `f` between swaps of the parts.
pub(crate) fn exchanged(b: &mut BodyBuilder, z: Pair, f: fn(&mut BodyBuilder, Pair) -> Pair) -> Pair {
    let (re, im) = f(b, (z.1, z.0));
    (im, re)
}
