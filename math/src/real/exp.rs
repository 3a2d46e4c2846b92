//! Exponentials on `f32` and `f64` to the bases e, 2 and 10, and their shared argument reduction.
//!
//! `x = k ln 2 + r` with `|r| <= ln(2)/2` (Cody and Waite, `ln 2` in two parts of which the first times `k` is exact), then
//! `e^r - 1 = r + r^2 q(r)`. The polynomials `q` are own minimax fits: a Remez exchange in 200-bit arithmetic on
//! `(e^r - 1 - r) / r^2` over `|r| <= 0.34661`, weighted with `r^2 / (e^r - 1)`, each coefficient then rounded to the format;
//! the largest relative error left in `e^r - 1` is 2^-28.3 (`f32`) and 2^-56.2 (`f64`).
//!
//! In base 2 the reduction `x = k + r` with `|r| <= 1/2` is exact, and `2^r = 1 + r p(r)`: fits as above of `(2^r - 1) / r`, which
//! leave a relative error of 2^-28.7 and 2^-55.0 in `2^r`.
//!
//! In base 10, `x = k log10(2) + r` as in base e, and `10^r = e^(r ln 10)` of a product in two parts: exact powers are exact.

use crate::kit::double_word::{DoubleWord, times_constant};
use crate::kit::util::{
    Format, LOG10_2_DOUBLE, LOG10_2_SINGLE, at_least, at_most, fast_two_sum, ln2, polynomial, power_of_two, two_sum,
};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;
use std::f64::consts::{LOG2_10, LOG2_E};

/// The constants of a format: the polynomials, and the clamps beyond which results do not change.
struct ExpConstants {
    q: &'static [f64],
    p: &'static [f64],
    /// `ln 2` and `ln 10` in two parts.
    ln_2: (f64, f64),
    ln_10: (f64, f64),
    /// `log10 2` in two parts, of which the first times an exponent is exact.
    log10_2: (f64, f64),
    /// Above, `e^x` is infinite.
    largest: f64,
    /// Below, `e^x` is 0.
    smallest: f64,
}

const SINGLE: ExpConstants = ExpConstants {
    q: &[
        0.5,
        0.1666666716337204,
        0.04166632518172264,
        0.008333220146596432,
        0.0013943208614364266,
        0.0001996218488784507,
    ],
    p: &[
        0.6931471824645996,
        0.24022650718688965,
        0.055504102259874344,
        0.00961803924292326,
        0.001333393156528473,
        0.0001546648272778839,
        1.5196356798696797e-05,
    ],
    ln_2: (0.6931471824645996, -1.9046542121259336e-09),
    ln_10: (2.3025851249694824, -3.1975435632602967e-08),
    log10_2: LOG10_2_SINGLE,
    largest: 89.0,
    smallest: -104.5,
};

const DOUBLE: ExpConstants = ExpConstants {
    q: &[
        0.5000000000000001,
        0.1666666666666667,
        0.04166666666665229,
        0.008333333333326153,
        0.0013888888895597134,
        0.00019841269874765812,
        2.4801574538112827e-05,
        2.755725546096703e-06,
        2.7567927136823274e-07,
        2.510519452187155e-08,
        1.7687748130284484e-09,
    ],
    p: &[
        std::f64::consts::LN_2,
        0.24022650695910128,
        0.055504108664820154,
        0.009618129107595094,
        0.0013333558146765494,
        0.00015403530456034774,
        1.5252733497805076e-05,
        1.3215435764665092e-06,
        1.0178198712588099e-07,
        7.073707609264994e-09,
        4.434788397974103e-10,
    ],
    ln_2: (std::f64::consts::LN_2, 2.3190468138462996e-17),
    ln_10: (std::f64::consts::LN_10, -2.1707562233822494e-16),
    log10_2: LOG10_2_DOUBLE,
    largest: 710.0,
    smallest: -746.0,
};

fn constants(ty: PrimType) -> &'static ExpConstants {
    if ty == PrimType::F32 { &SINGLE } else { &DOUBLE }
}

/// e to the power `x`.
pub(crate) fn exp(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let c = constants(ty);
    let x = clamp(b, x, c.smallest, c.largest);
    let r = reduce(b, x);
    let e = less_one(b, r.value, None);
    one_more(b, e, r.k)
}

/// `(e + 1) * 2^k` of an `e` from [`less_one`].
pub(crate) fn one_more(b: &mut BodyBuilder, e: Reg, k: Reg) -> Reg {
    let lift = b.float(b.ty(e), lift(b.ty(e)));
    let lifted = b.fma(e, lift, lift);
    scale_lifted(b, lifted, k)
}

/// `e^(x + low)` as an unrounded sum of two floats; `low` is a rounding error of `x`.
pub(crate) fn exp_parts(b: &mut BodyBuilder, x: Reg, low: Reg) -> DoubleWord {
    let ((high, low), k) = exp_unscaled(b, x, low);
    (lift_and_scale(b, high, k), lift_and_scale(b, low, k))
}

/// Like [`exp_significand`], for every `x`.
pub(crate) fn exp_unscaled(b: &mut BodyBuilder, x: Reg, low: Reg) -> (DoubleWord, Reg) {
    let c = constants(b.ty(x));
    let x = clamp(b, x, c.smallest, c.largest);
    exp_significand(b, x, Some(low))
}

/// `e^(x + low)` as a double-word number near 1 times two to the power of an integer register. `x` may be twice the limit of
/// `e^x` in the format.
pub(crate) fn exp_significand(b: &mut BodyBuilder, x: Reg, low: Option<Reg>) -> (DoubleWord, Reg) {
    let r = reduce(b, x);
    let (value, low) = match low {
        Some(low) => {
            let low = b.fadd(r.low, low);
            two_sum(b, r.value, low)
        }
        None => (r.value, r.low),
    };
    // e^value low, to first order.
    let low = b.fma(value, low, low);
    (unscaled_parts(b, value, low), r.k)
}

/// `e^(r + low)` as an unrounded sum of two floats, for an `|r|` up to `ln(2)/2` and a `low` below its last place.
pub(crate) fn unscaled_parts(b: &mut BodyBuilder, r: Reg, low: Reg) -> (Reg, Reg) {
    let rest = less_one(b, r, Some(low));
    let one = b.float(b.ty(r), 1.0);
    let (sum, error) = fast_two_sum(b, one, r);
    let rest = b.fadd(error, rest);
    fast_two_sum(b, sum, rest)
}

/// 2 to the power `x`.
pub(crate) fn exp2(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (k, r) = reduce_base_2(b, x);
    let lift = lift(ty);
    let p: Vec<f64> = constants(ty).p.iter().map(|c| c * lift).collect();
    let p = polynomial(b, r, &p);
    let one = b.float(ty, lift);
    let lifted = b.fma(r, p, one);
    scale_lifted(b, lifted, k)
}

/// `2^(x + low)` as an unrounded sum of two floats; `low` is a rounding error of `x`.
pub(crate) fn exp2_parts(b: &mut BodyBuilder, x: Reg, low: Reg) -> (Reg, Reg) {
    let ty = b.ty(x);
    let (k, r) = reduce_base_2(b, x);
    let (r, low) = fast_two_sum(b, r, low);
    let (high, low) = times_constant(b, (r, low), constants(ty).ln_2);
    let (high, low) = unscaled_parts(b, high, low);
    (lift_and_scale(b, high, k), lift_and_scale(b, low, k))
}

/// `2^(x + low)` as a double-word number near 1 times two to the power of an integer register, for [`scale`]. It is clamped beyond the
/// range that any factor brings back into the format; there `low`, a rounding error of `x`, is ignored.
pub(crate) fn exp2_unscaled(b: &mut BodyBuilder, x: Reg, low: Reg) -> (DoubleWord, Reg) {
    let ty = b.ty(x);
    let limit = if ty == PrimType::F32 { 220.0 } else { 2000.0 };
    let bounded = clamp(b, x, -limit, limit);
    let (within, zero) = (b.feq(bounded, x), b.float(ty, 0.0));
    let low = b.select(within, low, zero);
    let (k, r) = split_exponent(b, bounded);
    let (r, low) = fast_two_sum(b, r, low);
    let (high, low) = times_constant(b, (r, low), constants(ty).ln_2);
    (unscaled_parts(b, high, low), k)
}

/// `(k, r)` with `x = k + r`, `|r| <= 1/2`.
fn reduce_base_2(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg) {
    let f = Format::of(b.ty(x));
    let (bias, mantissa) = (f.bias as f64, f64::from(f.mantissa));
    // Beyond the largest exponent, and below half the smallest subnormal.
    let x = clamp(b, x, -bias - mantissa - 1.0, bias + 1.0);
    split_exponent(b, x)
}

/// Like [`reduce_base_2`], for an `x` not far outside the range of exponents.
fn split_exponent(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg) {
    let f = Format::of(b.ty(x));
    let magic = b.float(f.ty, f.magic());
    let shifted = b.fadd(x, magic);
    let whole = b.fsub(shifted, magic);
    (low_bits(b, shifted, magic), b.fsub(x, whole))
}

/// 10 to the power `x`.
pub(crate) fn exp10(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    // Beyond, the result is 0 or infinite.
    let (smallest, largest) = if ty == PrimType::F32 { (-45.5, 39.0) } else { (-324.0, 309.0) };
    let x = clamp(b, x, smallest, largest);
    let r = reduce_by(b, x, LOG2_10, constants(ty).log10_2);
    let (high, low) = times_constant(b, (r.value, r.low), constants(ty).ln_10);
    let (power, _) = unscaled_parts(b, high, low);
    lift_and_scale(b, power, r.k)
}

/// `x` between two bounds; NaN stays.
pub(crate) fn clamp(b: &mut BodyBuilder, x: Reg, low: f64, high: f64) -> Reg {
    let ty = b.ty(x);
    let (low, high) = (b.float(ty, low), b.float(ty, high));
    let x = at_most(b, x, high);
    at_least(b, x, low)
}

/// An argument less a multiple of a step.
pub(crate) struct Reduced {
    /// The multiple, an integer register.
    pub k: Reg,
    /// The remainder, rounded.
    pub value: Reg,
    /// The rounding error of `value`, which counts if a result is much smaller than `2^k`.
    pub low: Reg,
}

/// `x = k ln 2 + value + low` with `|value| <= ln(2)/2`, for `x` such that `2^k` is not far outside the format.
pub(crate) fn reduce(b: &mut BodyBuilder, x: Reg) -> Reduced {
    let step = ln2(b.ty(x));
    reduce_by(b, x, LOG2_E, step)
}

/// Like [`reduce`], by multiples of a `step` in two parts, of which the first times an exponent is exact; `inverse` is `1 / step`.
fn reduce_by(b: &mut BodyBuilder, x: Reg, inverse: f64, step: (f64, f64)) -> Reduced {
    let f = Format::of(b.ty(x));
    // Adding 1.5 * 2^mantissa rounds to an integer in the low bits.
    let magic = b.float(f.ty, f.magic());
    let inverse = b.float(f.ty, inverse);
    let shifted = b.fma(x, inverse, magic);
    let whole = b.fsub(shifted, magic);
    let minus_high = b.float(f.ty, -step.0);
    let minus_low = b.float(f.ty, -step.1);
    let first = b.fma(whole, minus_high, x);
    let value = b.fma(whole, minus_low, first);
    let gone = b.fsub(first, value);
    let low = b.fma(whole, minus_low, gone);
    Reduced { k: low_bits(b, shifted, magic), value, low }
}

/// The integer in the low bits of a float, from its sum with the magic number.
fn low_bits(b: &mut BodyBuilder, shifted: Reg, magic: Reg) -> Reg {
    let int = b.ty(shifted).as_int();
    let bits = b.bitcast(shifted, int);
    let magic_bits = b.bitcast(magic, int);
    b.isub(bits, magic_bits)
}

/// `e^r - 1`; given the rounding error `low` of `r`, `e^(r + low) - 1 - r`.
pub(crate) fn less_one(b: &mut BodyBuilder, r: Reg, low: Option<Reg>) -> Reg {
    let q = polynomial(b, r, constants(b.ty(r)).q);
    let square = b.fmul(r, r);
    b.fma(square, q, low.unwrap_or(r))
}

/// `x = k ln(2)/2 + r`, which needs no doubling for `e^(2x) = 2^k e^(2r)`.
pub(crate) fn reduce_half(b: &mut BodyBuilder, x: Reg) -> Reduced {
    let (high, low) = ln2(b.ty(x));
    reduce_by(b, x, 2.0 * LOG2_E, (high / 2.0, low / 2.0))
}

/// `power * 2^k` for `k` at most 0, or not far above. A constant factor keeps the other a normal power of two.
pub(crate) fn scale_down(b: &mut BodyBuilder, power: Reg, k: Reg) -> Reg {
    let f = Format::of(b.ty(power));
    let lift = f.bias / 2;
    let lift_by = b.int(f.ty.as_int(), lift);
    let k = b.iadd(k, lift_by);
    let lifted = power_of_two(b, k, f);
    let lifted = b.fmul(power, lifted);
    let down = b.float(f.ty, 2f64.powi(-lift as i32));
    b.fmul(lifted, down)
}

/// The power of two of [`scale_lifted`]'s operands.
fn lift(ty: PrimType) -> f64 {
    let f = Format::of(ty);
    2f64.powi((f.bias - i64::from(f.mantissa) - 2) as i32)
}

/// `power * 2^k` of a `power` from 1/2 to 2 that was multiplied by [`lift`], for `k` from one below that of half the least subnormal on. There
/// a factor is zero, so that no product underflows, which costs a hundred cycles: an `exp` of far negative numbers took 13 times as long.
fn scale_lifted(b: &mut BodyBuilder, lifted: Reg, k: Reg) -> Reg {
    let f = Format::of(b.ty(lifted));
    scale_by(b, (lifted, k), f.bias + i64::from(f.mantissa) + 2, f)
}

/// `power * 2^k` like [`scale_lifted`]; also for the error of a `power` in two parts.
fn lift_and_scale(b: &mut BodyBuilder, power: Reg, k: Reg) -> Reg {
    let lift = b.float(b.ty(power), lift(b.ty(power)));
    let lifted = b.fmul(power, lift);
    scale_lifted(b, lifted, k)
}

/// `power * 2^k`. `2^k` may be outside the format, but not each half of it; only the second product can round.
pub(crate) fn scale(b: &mut BodyBuilder, power: Reg, k: Reg) -> Reg {
    let f = Format::of(b.ty(power));
    scale_by(b, (power, k), 2 * f.bias, f)
}

/// `power` times two powers of two, whose biased exponents add up to `k + bias`.
fn scale_by(b: &mut BodyBuilder, (power, k): (Reg, Reg), bias: i64, f: Format) -> Reg {
    let int = f.ty.as_int();
    // Biased exponents are not negative: unsigned 64-bit shifts are faster.
    let (bias, one) = (b.int(int, bias), b.int(int, 1));
    let biased = b.iadd(k, bias);
    let half = b.ushr(biased, one);
    let rest = b.isub(biased, half);
    let shift = b.int(int, i64::from(f.mantissa));
    let [half, rest] = [half, rest].map(|field| {
        let bits = b.shl(field, shift);
        b.bitcast(bits, f.ty)
    });
    let scaled = b.fmul(power, half);
    b.fmul(scaled, rest)
}
