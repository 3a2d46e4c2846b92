//! Float remainder and floor division, with the sign rules of Python and NumPy.
//!
//! The remainder of the magnitudes is exact. If the quotient is below 2^p it is one `fma`; beyond, a cold path
//! divides integer mantissas, a few bits per trip. `x // y` and `x % y` share all steps.

use crate::kit::util::{Format, copysign, is_finite, sign_of, xor_sign};
use ndjit_ir::body::{BodyBuilder, Reg};

/// `x - floor(x / y) * y`, exact up to one rounding of `|y| - |r|` if the signs differ; the sign of `y`, also for zeros.
pub(crate) fn remainder(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let ay = b.fabs(y);
    let (Divided { remainder: r, .. }, up) = truncated(b, x, y);
    let raised = b.fsub(ay, r);
    let magnitude = b.select(up, raised, r);
    copysign(b, magnitude, y)
}

/// `x - trunc(x / y) * y`, exact; the sign of `x`, also for zeros.
pub(crate) fn fmod(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let (ax, ay) = (b.fabs(x), b.fabs(y));
    let magnitude = divided(b, ax, ay).remainder;
    copysign(b, magnitude, x)
}

/// The quotient for [`remainder`], exact below 2^p and beyond the nearest float to `x / y`; `x / 0` for a zero divisor, NaN
/// for an infinite `x`, like NumPy.
pub(crate) fn floor_divide(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let ty = b.ty(x);
    let (divided, up) = truncated(b, x, y);
    let one = b.float(ty, 1.0);
    let next = b.fadd(divided.quotient, one);
    // A float beyond the limit may be odd in its last place: the sum would be moved by two.
    let exact = b.not(divided.large);
    let up = b.and(up, exact);
    let magnitude = b.select(up, next, divided.quotient);
    let (sx, sy) = (sign_of(b, x), sign_of(b, y));
    let sign = b.xor(sx, sy);
    let result = xor_sign(b, magnitude, sign);
    let number = b.feq(divided.remainder, divided.remainder);
    let plain = b.fdiv(x, y);
    let (zero, nan) = (b.float(ty, 0.0), b.float(ty, f64::NAN));
    let result = b.select(number, result, nan);
    let by_zero = b.feq(y, zero);
    b.select(by_zero, plain, result)
}

/// `|x|` divided by `|y|`, and whether the floored remainder of `x` and `y` differs from the truncated one.
fn truncated(b: &mut BodyBuilder, x: Reg, y: Reg) -> (Divided, Reg) {
    let ty = b.ty(x);
    let (ax, ay) = (b.fabs(x), b.fabs(y));
    let divided = divided(b, ax, ay);
    let (sx, sy) = (sign_of(b, x), sign_of(b, y));
    let differ = b.ine(sx, sy);
    let zero = b.float(ty, 0.0);
    let inexact = b.fne(divided.remainder, zero);
    let up = b.and(inexact, differ);
    (divided, up)
}

/// Two magnitudes divided.
struct Divided {
    /// `trunc(x / y)`, exact below 2^p, beyond the nearest float to `x / y`.
    quotient: Reg,
    /// True if it lies beyond.
    large: Reg,
    /// `fmod(x, y)`, exact; NaN for an infinite `x` or a zero `y`.
    remainder: Reg,
}

fn divided(b: &mut BodyBuilder, x: Reg, y: Reg) -> Divided {
    let f = Format::of(b.ty(x));
    let quotient = b.fdiv(x, y);
    let whole = b.ftrunc(quotient);
    let minus = b.fneg(whole);
    // Exact below the limit; the quotient may have rounded up to an integer, then this is below zero by less than y.
    let r = b.fma(minus, y, x);
    let raised = b.fadd(r, y);
    let (zero, one) = (b.float(f.ty, 0.0), b.float(f.ty, 1.0));
    let limit = b.float(f.ty, (1u64 << (f.mantissa + 1)) as f64);
    let large = b.fle(limit, quotient);
    let negative = b.flt(r, zero);
    let less = b.fsub(whole, one);
    let lowered = b.select(negative, less, whole);
    let quotient = b.select(large, whole, lowered);
    let r = b.select(negative, raised, r);
    let smaller = b.flt(x, y);
    let r = b.select(smaller, x, r);
    let finite = is_finite(b, x);
    let nonzero = b.flt(zero, y);
    let cold = b.and(large, finite);
    let cold = b.and(cold, nonzero);
    let remainder = b.if_any(cold, &[r], &[x, y], |b, args| vec![fmod_integers(b, args[0], args[1])])[0];
    Divided { quotient, large, remainder }
}

/// The same for finite `x >= y > 0`, on mantissas as integers: `r = (r << s) mod my` until the exponents meet.
fn fmod_integers(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let (mx, ex) = decompose(b, x);
    let (my, ey) = decompose(b, y);
    let distance = b.isub(ex, ey);
    // A mantissa has `mantissa + 1` bits, so this many fit above it.
    let step = f.ty.bits() - f.mantissa - 1;
    let first = b.urem(mx, my);
    let range = 2 * f.bias + i64::from(f.mantissa);
    let trips = range as u32 / step + 1;
    let state = b.repeat(trips, &[first, distance], &[my], |b, state, invariant| {
        let zero = b.int(int, 0);
        let step = b.int(int, i64::from(step));
        let shift = b.smin(state[1], step);
        let shifted = b.shl(state[0], shift);
        let r = b.urem(shifted, invariant[0]);
        let left = b.isub(state[1], shift);
        let go_on = b.slt(zero, state[1]);
        (go_on, vec![r, left])
    });
    // r * 2^-mantissa is exact, and so is the power of two with y's exponent field.
    let r = b.fromuint(state[0], f.ty);
    let unit = b.float(f.ty, 1.0 / (1u64 << f.mantissa) as f64);
    let r = b.fmul(r, unit);
    let width = b.int(int, i64::from(f.mantissa));
    let scale = b.shl(ey, width);
    let scale = b.bitcast(scale, f.ty);
    b.fmul(r, scale)
}

/// Integer mantissa and exponent field of a positive finite float; subnormals have field 1 and no hidden bit.
fn decompose(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg) {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let bits = b.bitcast(x, int);
    let width = b.int(int, i64::from(f.mantissa));
    let field = b.ushr(bits, width);
    let low = b.bits(int, (1 << f.mantissa) - 1);
    let fraction = b.and(bits, low);
    let hidden = b.bits(int, 1 << f.mantissa);
    let full = b.or(fraction, hidden);
    let zero = b.int(int, 0);
    let subnormal = b.ieq(field, zero);
    let one = b.int(int, 1);
    (b.select(subnormal, fraction, full), b.smax(field, one))
}
