//! The logistic function `1 / (1 + e^-x)` on `f32` and `f64`, and products with it: silu, and the approximation of gelu by tanh, since
//! `(1 + tanh u) / 2 = 1 / (1 + e^-2u)`.
//!
//! With `e^-v = 2^k m` (see `exp`) it is `2^-k / (2^-k + m)`: one formula for both signs, with an exact numerator and without
//! overflow. The quotient is corrected by its remainder, including the rounding error of the sum: without it `sigmoid` had an error
//! of 2 ULP next to 0. `2^-k` comes last, so that a result rounds once to a subnormal.

use crate::kit::double_word::{exact_product, times_constant};
use crate::kit::util::{Format, fast_two_sum, power_of_two, two_sum};
use crate::real::exp::{clamp, less_one, reduce};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;
use std::f64::consts::LOG2_E;

/// The constants of a format.
struct LogisticConstants {
    /// At minus this and below `x e^x` is 0.
    zero: f64,
    /// From here on `1 + e^-x` is 1.
    one: f64,
    /// The same for the argument of `gelu_tanh`.
    gelu_zero: f64,
    gelu_one: f64,
    /// `sqrt(8 / pi)`, and 0.044715 times that, in two parts.
    linear: (f64, f64),
    cubic: (f64, f64),
}

const SINGLE: LogisticConstants = LogisticConstants {
    zero: 110.0,
    one: 25.0,
    gelu_zero: 10.91,
    gelu_one: 6.0,
    linear: (1.5957691669464111, -4.534068054340423e-08),
    cubic: (0.07135481387376785, 2.3988324659995897e-09),
};

const DOUBLE: LogisticConstants = LogisticConstants {
    zero: 760.0,
    one: 40.0,
    gelu_zero: 21.66,
    gelu_one: 8.0,
    linear: (1.5957691216057308, -9.96930880911092e-17),
    cubic: (0.07135481627260025, -6.175149918155315e-19),
};

fn constants(ty: PrimType) -> &'static LogisticConstants {
    if ty == PrimType::F32 { &SINGLE } else { &DOUBLE }
}

/// `1 / (1 + e^-x)`.
pub(crate) fn sigmoid(b: &mut BodyBuilder, x: Reg) -> Reg {
    let c = constants(b.ty(x));
    let one = b.float(b.ty(x), 1.0);
    let v = clamp(b, x, -c.zero, c.one);
    times_sigmoid(b, one, (v, None))
}

/// `x / (1 + e^-x)`.
pub(crate) fn silu(b: &mut BodyBuilder, x: Reg) -> Reg {
    let c = constants(b.ty(x));
    let v = clamp(b, x, -c.zero, c.one);
    let result = times_sigmoid(b, v, (v, None));
    as_is_from(b, x, c.one, result)
}

/// `x / (1 + e^-v)` with `v = sqrt(8 / pi) (x + 0.044715 x^3)`, in two parts: its error is multiplied by up to 100 (`f32`).
pub(crate) fn gelu_tanh(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let c = constants(ty);
    let bounded = clamp(b, x, -c.gelu_zero, c.gelu_one);
    let square = exact_product(b, bounded, bounded);
    let (cubic, cubic_low) = times_constant(b, square, c.cubic);
    let (linear, linear_low) = (b.float(ty, c.linear.0), b.float(ty, c.linear.1));
    let (slope, slope_low) = two_sum(b, linear, cubic);
    let low = b.fadd(cubic_low, linear_low);
    let slope_low = b.fadd(slope_low, low);
    let (v, v_low) = exact_product(b, bounded, slope);
    let v_low = b.fma(bounded, slope_low, v_low);
    let result = times_sigmoid(b, bounded, (v, Some(v_low)));
    as_is_from(b, x, c.gelu_one, result)
}

/// `x` from `limit` on, `result` below.
fn as_is_from(b: &mut BodyBuilder, x: Reg, limit: f64, result: Reg) -> Reg {
    let limit = b.float(b.ty(x), limit);
    let above = b.flt(limit, x);
    b.select(above, x, result)
}

/// `factor / (1 + e^-v)` where `v` is a float with an optional correction.
fn times_sigmoid(b: &mut BodyBuilder, factor: Reg, (v, low): (Reg, Option<Reg>)) -> Reg {
    let f = Format::of(b.ty(v));
    let one = b.float(f.ty, 1.0);
    let minus_v = b.fneg(v);
    let reduced = reduce(b, minus_v);
    let (r, r_low) = match low {
        Some(low) => {
            let low = b.fsub(reduced.low, low);
            let (r, low) = fast_two_sum(b, reduced.value, low);
            (r, Some(low))
        }
        None => (reduced.value, None),
    };
    let rest = less_one(b, r, None);
    let rest = r_low.map_or(rest, |low| b.fadd(rest, low));
    // 2^-k may be below the format, but not when raised. The last is raised to a factor 0: products that underflow are ten times as slow.
    let lift = (constants(f.ty).zero * LOG2_E).round() as i64 - f.bias;
    let lift_by = b.int(f.ty.as_int(), lift);
    let raised = b.isub(lift_by, reduced.k);
    let raised = power_of_two(b, raised, f);
    let down = b.float(f.ty, 2f64.powi(-lift as i32));
    let power = b.fmul(raised, down);
    // `power + m` and its rounding error, `m` being `1 + rest`.
    let whole = b.fadd(power, one);
    let back = b.fsub(whole, one);
    let lost = b.fsub(power, back);
    let rest = b.fadd(rest, lost);
    let (divisor, divisor_low) = fast_two_sum(b, whole, rest);
    let inverse = b.fdiv(one, divisor);
    let quotient = b.fmul(factor, inverse);
    // The negated remainder: its 0 would make a quotient of -0 +0.
    let minus = b.fneg(factor);
    let excess = b.fma(quotient, divisor, minus);
    let excess = b.fma(quotient, divisor_low, excess);
    let minus = b.fneg(inverse);
    let quotient = b.fma(excess, minus, quotient);
    let scaled = b.fmul(quotient, raised);
    b.fmul(scaled, down)
}
