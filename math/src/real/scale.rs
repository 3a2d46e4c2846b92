//! Decomposition and scaling of floats: `ldexp`, `frexp`, `modf`, on `f32` and `f64`.

use crate::kit::util::{Format, at_least, at_most, copysign, is_finite};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// `x * 2^n`, `n` an integral float, in the format of `x`.
pub(crate) fn ldexp(b: &mut BodyBuilder, x: Reg, n: Reg) -> Reg {
    let (mantissa, exponent) = parts(b, x);
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    // Beyond it, every number leaves the format.
    let span = (2 * f.bias + i64::from(f.mantissa) + 3) as f64;
    let (low, high) = (b.float(f.ty, -span), b.float(f.ty, span));
    let n = at_least(b, n, low);
    let n = at_most(b, n, high);
    let n = b.tosint(n, int);
    let exponent = b.iadd(exponent, n);
    // Half the smallest subnormal rounds to 0 like every smaller number.
    let (low, high) = (b.int(int, -f.bias - i64::from(f.mantissa) - 3), b.int(int, f.bias + 3));
    let exponent = b.smax(exponent, low);
    let exponent = b.smin(exponent, high);
    let product = crate::real::exp::scale(b, mantissa, exponent);
    unless_special(b, x, product)
}

/// `(m, n)` with `x = m 2^n` and the magnitude of `m` in [0.5, 1); unspecified for zeros, infinities and NaN. `n` is an integer.
fn parts(b: &mut BodyBuilder, x: Reg) -> (Reg, Reg) {
    let f = Format::of(b.ty(x));
    let int = f.ty.as_int();
    let magnitude = b.fabs(x);
    let smallest_normal = b.float(f.ty, 2f64.powi(1 - f.bias as i32));
    let subnormal = b.flt(magnitude, smallest_normal);
    let lift = i64::from(f.mantissa) + 1;
    let factor = b.float(f.ty, (1u64 << lift) as f64);
    let lifted = b.fmul(magnitude, factor);
    let magnitude = b.select(subnormal, lifted, magnitude);
    let bits = b.bitcast(magnitude, int);
    let shift = b.int(int, i64::from(f.mantissa));
    let field = b.ushr(bits, shift);
    let above = b.shl(field, shift);
    let fraction = b.isub(bits, above);
    let half = b.float(f.ty, 0.5);
    let half = b.bitcast(half, int);
    let mantissa = b.or(fraction, half);
    let mantissa = b.bitcast(mantissa, f.ty);
    let mantissa = copysign(b, mantissa, x);
    let (lift, zero, bias) = (b.int(int, lift), b.int(int, 0), b.int(int, f.bias - 1));
    let lifted_by = b.select(subnormal, lift, zero);
    let exponent = b.isub(field, bias);
    (mantissa, b.isub(exponent, lifted_by))
}

/// `result`; zeros, infinities and NaN themselves.
fn unless_special(b: &mut BodyBuilder, x: Reg, result: Reg) -> Reg {
    let zero = b.float(b.ty(x), 0.0);
    let (finite, nonzero) = (is_finite(b, x), b.fne(x, zero));
    let ordinary = b.and(finite, nonzero);
    b.select(ordinary, result, x)
}

/// The first result of `frexp`.
pub(crate) fn frexp_mantissa(b: &mut BodyBuilder, x: Reg) -> Reg {
    let (mantissa, _) = parts(b, x);
    unless_special(b, x, mantissa)
}

/// The second result of `frexp`, an `I32`.
pub(crate) fn frexp_exponent(b: &mut BodyBuilder, x: Reg) -> Reg {
    let (_, exponent) = parts(b, x);
    let exponent = b.itrunc(exponent, PrimType::I32);
    let zero = b.float(b.ty(x), 0.0);
    let (finite, nonzero) = (is_finite(b, x), b.fne(x, zero));
    let ordinary = b.and(finite, nonzero);
    let none = b.int(PrimType::I32, 0);
    b.select(ordinary, exponent, none)
}

/// The first result of `modf`.
pub(crate) fn modf_fraction(b: &mut BodyBuilder, x: Reg) -> Reg {
    let whole = b.ftrunc(x);
    let fraction = b.fsub(x, whole);
    let finite = is_finite(b, x);
    let (zero, number) = (b.float(b.ty(x), 0.0), b.feq(x, x));
    let fraction = b.select(finite, fraction, zero);
    let signed = copysign(b, fraction, x);
    b.select(number, signed, x)
}
