//! `log(1 + x)` on `f32` and `f64`, also for an `x` in two parts.
//!
//! `1 + x = 2^k (1 + f)` with `f = 2^-k x + (2^-k - 1)`: both terms are exact while they matter, and so is the rounding error of
//! their sum (Knuth's TwoSum), the low part for the core of `log`. For `k = 0`, `f` is `x` itself.

use crate::kit::decompose::{decompose, small_integer};
use crate::kit::util::{Format, fast_two_sum, ln2, tiny_as_is, two_sum};
use crate::real::log::{parts_to_base_2, rest_of_log};
use ndjit_ir::body::{BodyBuilder, Reg};

/// `log(1 + x)`.
pub(crate) fn log1p(b: &mut BodyBuilder, x: Reg) -> Reg {
    log1p_of(b, x, None, None)
}

/// `log(1 + x + low)`, plus `doublings` times `ln 2`, an integer register.
pub(crate) fn log1p_of(b: &mut BodyBuilder, x: Reg, low: Option<Reg>, doublings: Option<Reg>) -> Reg {
    let (high, rest) = log1p_parts(b, x, low, doublings);
    let result = b.fadd(high, rest);
    with_special_values(b, x, result)
}

/// The logarithm as an unrounded sum of two floats, for finite `x > -1`; below half an ULP of 1 it may have lost a subnormal's bits.
pub(crate) fn log1p_parts(b: &mut BodyBuilder, x: Reg, low: Option<Reg>, doublings: Option<Reg>) -> (Reg, Reg) {
    let ty = b.ty(x);
    let (k, fraction, error) = decomposed(b, x, low);
    let k = doublings.map_or(k, |more| b.iadd(k, more));
    let k = small_integer(b, k, Format::of(ty));
    let (ln2_high, ln2_low) = ln2(ty);
    let (ln2_high, ln2_low) = (b.float(ty, ln2_high), b.float(ty, ln2_low));
    let error = b.fma(k, ln2_low, error);
    let rest = rest_of_log(b, fraction, error);
    // |k ln 2| > |f| unless k = 0.
    let whole = b.fmul(k, ln2_high);
    let (sum, lost) = fast_two_sum(b, whole, fraction);
    (sum, b.fadd(lost, rest))
}

/// Like [`log1p_parts`], to base 2.
pub(crate) fn log2_1p_parts(b: &mut BodyBuilder, x: Reg, low: Reg) -> (Reg, Reg) {
    let (k, fraction, error) = decomposed(b, x, Some(low));
    let f = Format::of(b.ty(x));
    let k = small_integer(b, k, f);
    let rest = rest_of_log(b, fraction, error);
    let (high, low) = parts_to_base_2(b, k, (fraction, rest));
    // Below, the error of the product is subnormal and loses bits.
    let limit = b.float(f.ty, 2f64.powi(f.mantissa as i32 + 4 - f.bias as i32));
    let tiny = b.flt(x, limit);
    let (zero, log2_e) = (b.float(f.ty, 0.0), b.float(f.ty, std::f64::consts::LOG2_E));
    let product = b.fmul(x, log2_e);
    (b.select(tiny, product, high), b.select(tiny, zero, low))
}

/// `(k, f, error)` with `1 + x + low = 2^k (1 + f) e^error`, `k` an integer register, `1 + f` between `sqrt(1/2)` and `sqrt 2`.
fn decomposed(b: &mut BodyBuilder, x: Reg, low: Option<Reg>) -> (Reg, Reg, Reg) {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let one = b.float(f.ty, 1.0);
    let about = b.fadd(one, x);
    let k = decompose(b, about, std::f64::consts::FRAC_1_SQRT_2).exponent(b);
    // 2^-k may be subnormal, but not four times that.
    let top = b.int(int, f.bias + 2);
    let field = b.isub(top, k);
    let shift = b.int(int, i64::from(f.mantissa));
    let bits = b.shl(field, shift);
    let four_power = b.bitcast(bits, f.ty);
    let quarter = b.float(f.ty, 0.25);
    let power = b.fmul(four_power, quarter);
    let quarter_x = b.fmul(x, quarter);
    let scaled = b.fmul(quarter_x, four_power);
    let less = b.fsub(power, one);
    let (fraction, error) = two_sum(b, scaled, less);
    let error = match low {
        Some(low) => b.fma(low, power, error),
        None => error,
    };
    // error / (1 + f), to first order.
    let minus = b.fneg(error);
    let error = b.fma(minus, fraction, error);
    (k, fraction, error)
}

fn with_special_values(b: &mut BodyBuilder, x: Reg, result: Reg) -> Reg {
    let ty = b.ty(x);
    let (minus_one, inf) = (b.float(ty, -1.0), b.float(ty, f64::INFINITY));
    let finite = b.flt(x, inf);
    let result = b.select(finite, result, x);
    let at_pole = b.feq(x, minus_one);
    let minus_inf = b.float(ty, f64::NEG_INFINITY);
    let result = b.select(at_pole, minus_inf, result);
    let below = b.flt(x, minus_one);
    let nan = b.float(ty, f64::NAN);
    let result = b.select(below, nan, result);
    tiny_as_is(b, x, result)
}
