//! Inverse hyperbolic functions on `f32` and `f64`, as `log(1 + t)` of a `t` in two parts (see `log1p`).
//!
//! With `a = |x|`: `asinh` has `t = a + a^2 / (1 + sqrt(a^2 + 1))`, `acosh`, with `d = x - 1`, `t = d + sqrt(d^2 + 2 d)`, and `atanh`,
//! halved, `t = 2 a / (1 - a)`: forms after Kahan in which nothing cancels. If squares might overflow, `asinh` and `acosh` are
//! `log(2 x)`.

use crate::kit::util::{Format, at_most, copysign, fast_two_sum};
use crate::real::log1p::{log1p_of, log1p_parts};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// Beyond it, `x + 1` and `x` have the same logarithm; its square is far from overflow.
fn large(ty: PrimType) -> f64 {
    2f64.powi(if ty == PrimType::F32 { 30 } else { 60 })
}

/// Inverse hyperbolic sine.
pub(crate) fn asinh(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let a = b.fabs(x);
    let limit = b.float(ty, large(ty));
    let limited = at_most(b, a, limit);
    let one = b.float(ty, 1.0);
    let square = b.fmul(limited, limited);
    let next = b.fadd(square, one);
    let root = b.fsqrt(next);
    let divisor = b.fadd(root, one);
    let more = b.fdiv(square, divisor);
    let (t, low) = fast_two_sum(b, limited, more);
    let result = log_of_large(b, a, t, low);
    copysign(b, result, x)
}

/// Inverse hyperbolic cosine.
pub(crate) fn acosh(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let one = b.float(ty, 1.0);
    let d = b.fsub(x, one);
    let twice = b.fadd(d, d);
    let product = b.fma(d, d, twice);
    let root = b.fsqrt(product);
    let (t, low) = fast_two_sum(b, root, d);
    // t is 0 or at least the root of an ULP: no special case.
    let (high, rest) = log1p_parts(b, t, Some(low), None);
    let result = b.fadd(high, rest);
    let limit = b.float(ty, large(ty));
    let is_large = b.flt(limit, x);
    let result = b.if_any(is_large, &[result], &[x], |b, args| vec![log_of_double(b, args[0])])[0];
    let (inside, nan) = (b.fle(one, x), b.float(ty, f64::NAN));
    b.select(inside, result, nan)
}

/// `log(2 a)` of a large `a`.
fn log_of_double(b: &mut BodyBuilder, a: Reg) -> Reg {
    let (none, doublings) = (b.float(b.ty(a), 0.0), b.int(b.ty(a).as_int(), 1));
    log1p_of(b, a, Some(none), Some(doublings))
}

/// `log(1 + t + low)`, or `log(2 a)` for large `a`.
fn log_of_large(b: &mut BodyBuilder, a: Reg, t: Reg, low: Reg) -> Reg {
    let f = Format::of(b.ty(a));
    let limit = b.float(f.ty, large(f.ty));
    let is_large = b.flt(limit, a);
    let zero = b.float(f.ty, 0.0);
    let t = b.select(is_large, a, t);
    let low = b.select(is_large, zero, low);
    let (none, one) = (b.int(f.ty.as_int(), 0), b.int(f.ty.as_int(), 1));
    let doublings = b.select(is_large, one, none);
    log1p_of(b, t, Some(low), Some(doublings))
}

/// Inverse hyperbolic tangent.
pub(crate) fn atanh(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let a = b.fabs(x);
    let one = b.float(ty, 1.0);
    let minus = b.fneg(a);
    let (divisor, lost) = fast_two_sum(b, one, minus);
    let inverse = b.fdiv(one, divisor);
    let twice = b.fadd(a, a);
    let t = b.fmul(twice, inverse);
    // The quotient's remainder, divided.
    let minus_t = b.fneg(t);
    let left = b.fma(minus_t, divisor, twice);
    let left = b.fma(minus_t, lost, left);
    let low = b.fmul(left, inverse);
    let log = log1p_of(b, t, Some(low), None);
    let half = b.float(ty, 0.5);
    let result = b.fmul(half, log);
    copysign(b, result, x)
}
