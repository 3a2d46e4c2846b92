//! Arc tangent of a number and of a quotient, on `f32` and `f64`.
//!
//! The magnitude of the argument is reduced to a quotient `t <= 1` of the smaller by the larger of two numbers, with more than a
//! float's precision; `atan t = t + t^3 p(t^2)`; `pi/2` and `pi`, in two parts, complete the result. `p` are own
//! minimax fits by a Remez exchange in 200-bit arithmetic over `t^2 <= 1`, weighted for the relative error of the result:
//! after rounding the coefficients 2^-31.1 (`f32`) and 2^-56.5 (`f64`). The last coefficient for
//! `f32` was then adjusted, which costs 2^-26.9 near 1 and makes `atan 1` correctly rounded.

use crate::kit::angle::{Arc, placed, quarter_turns};
use crate::kit::util::{Format, at_least, at_most, copysign, fma_two_sum, in_order, polynomial, select_pair};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

const P_SINGLE: &[f64] = &[
    -0.333333283662796,
    0.1999971568584442,
    -0.14280343055725098,
    0.11061231791973114,
    -0.0882144644856453,
    0.06763583421707153,
    -0.04498184472322464,
    0.022775961086153984,
    -0.0074243564158678055,
    0.001134279533289373,
];

const P_DOUBLE: &[f64] = &[
    -0.3333333333333307,
    0.19999999999951756,
    -0.14285714282588552,
    0.11111111007353054,
    -0.09090907007918227,
    0.07692279889959062,
    -0.06666404449387096,
    0.05880530276536321,
    -0.05253531441427783,
    0.047223772596933764,
    -0.042193647922491105,
    0.03664676643186551,
    -0.029913562534610708,
    0.021999563779545234,
    -0.013917291836151948,
    0.00721052643993274,
    -0.0028933121095922514,
    0.0008347147200190427,
    -0.00015299050736755407,
    1.3317747910935644e-05,
];

/// The angle in (-pi/2, pi/2) whose tangent is `x`.
pub(crate) fn atan(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let magnitude = b.fabs(x);
    // Beyond, the result is pi/2; this keeps infinity out of the quotient.
    let limit = b.float(ty, 2f64.powi(60));
    let magnitude = at_most(b, magnitude, limit);
    let one = b.float(ty, 1.0);
    let (smaller, larger) = in_order(b, magnitude, one);
    // One of the two is 1, so the product is exact or the inverse itself.
    let inverse = b.fdiv(one, larger);
    let t = b.fmul(smaller, inverse);
    let minus = b.fneg(t);
    let rest = b.fma(minus, larger, smaller);
    let low = b.fmul(rest, inverse);
    let turned = b.flt(one, magnitude);
    let (zero, quarter) = (quarter_turns(b, ty, 0), quarter_turns(b, ty, 1));
    let base = select_pair(b, turned, quarter, zero);
    let result = arc(b, t, low, base, turned);
    copysign(b, result, x)
}

/// The angle in [-pi, pi] between the positive x axis and the point `(x, y)`.
pub(crate) fn atan2(b: &mut BodyBuilder, y: Reg, x: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let (ax, ay) = (b.fabs(x), b.fabs(y));
    let turned = b.flt(ax, ay);
    let (t, low) = quotient(b, ax, ay);
    let (zero, quarter, half) = (quarter_turns(b, f.ty, 0), quarter_turns(b, f.ty, 1), quarter_turns(b, f.ty, 2));
    // The sign bit, since -0 is on the left too.
    let bits = b.bitcast(x, int);
    let origin = b.int(int, 0);
    let left = b.slt(bits, origin);
    let base = select_pair(b, left, half, zero);
    let base = select_pair(b, turned, quarter, base);
    let backwards = b.xor(turned, left);
    let result = arc(b, t, low, base, backwards);
    copysign(b, result, y)
}

/// The smaller magnitude by the larger and a correction; 1 for two infinities, 0 for two zeros.
fn quotient(b: &mut BodyBuilder, x: Reg, y: Reg) -> (Reg, Reg) {
    let f = Format::of(b.ty(x));
    let (n, d) = in_order(b, x, y);
    // Scaled so far that the remainder of the division is not subnormal where the correction counts.
    let (bound, lift) = if f.ty == PrimType::F32 { (60, 64) } else { (500, 520) };
    let (bound, lift) = (b.float(f.ty, 2f64.powi(bound)), b.float(f.ty, 2f64.powi(lift)));
    let small = b.flt(d, bound);
    let one = b.float(f.ty, 1.0);
    let scale = b.select(small, lift, one);
    let (n, d) = (b.fmul(n, scale), b.fmul(d, scale));
    // Nothing scaled is as small, except 0.
    let least = b.float(f.ty, 2f64.powi(1 - f.bias as i32));
    let d = at_least(b, d, least);
    let t = b.fdiv(n, d);
    let equal = b.feq(n, d);
    let t = b.select(equal, one, t);
    let minus = b.fneg(t);
    let rest = b.fma(minus, d, n);
    let low = b.fdiv(rest, d);
    let (inf, zero) = (b.float(f.ty, f64::INFINITY), b.float(f.ty, 0.0));
    let finite = b.flt(d, inf);
    (t, b.select(finite, low, zero))
}

/// `base + atan(t + low)`, or `base - atan(t + low)` where `backwards`.
fn arc(b: &mut BodyBuilder, t: Reg, low: Reg, base: (Reg, Reg), backwards: Reg) -> Reg {
    let ty = b.ty(t);
    let z = b.fmul(t, t);
    let coefficients = if ty == PrimType::F32 { P_SINGLE } else { P_DOUBLE };
    let first = b.float(ty, coefficients[0]);
    let rest = polynomial(b, z, &coefficients[1..]);
    let (p, p_low) = fma_two_sum(b, z, rest, first);
    // The derivative 1 / (1 + z) is close enough to 1 - z / 2 for the correction.
    let half = b.float(ty, 0.5);
    let half_z = b.fmul(half, z);
    let minus_low = b.fneg(low);
    let low = b.fma(minus_low, half_z, low);
    // At t = 1 the second term is a quarter of the first, so the roundings of t^2, of p and of their product count.
    let minus = b.fneg(z);
    let z_low = b.fma(t, t, minus);
    let second = b.fmul(z, p);
    let minus = b.fneg(second);
    let second_low = b.fma(z, p, minus);
    let second_low = b.fma(z_low, p, second_low);
    let second_low = b.fma(z, p_low, second_low);
    let low = b.fma(t, second_low, low);
    placed(b, base, &Arc { high: t, low, x: t, y: second }, backwards)
}
