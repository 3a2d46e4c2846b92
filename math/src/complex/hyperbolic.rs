//! Hyperbolic and trigonometric functions of complex numbers.
//!
//! `sinh z = sinh x cos y + i cosh x sin y`, `cosh z = cosh x cos y + i sinh x sin y`. A power of two of `cosh x` beyond the
//! format is multiplied last: a product with a small sine or cosine may be finite. `tanh z = (sinh x cosh x + i sin y cos y) / D`
//! with `D = sinh^2 x + cos^2 y`, which is Kahan's formula (1987) times `cos^2 y`; nothing cancels. All factors are double-word numbers,
//! so that each part is rounded nearly once.
//!
//! `sin z = -i sinh(iz)`, `tan z = -i tanh(iz)`, `cos z = cosh(iz)`. If a part of a result is NaN, it is replaced by the special
//! value of C99 Annex G for infinities and NaN.

use crate::kit::double_word::{DoubleWord, product, quotient};
use crate::kit::util::{
    Format, Pair, copysign, copysign_of_number, exchanged, if_any_pair, is_inf, is_nan, power_of_two, sign_of, two_sum,
    xor_sign,
};
use crate::real::exp::scale;
use crate::real::hyperbolic::sinh_cosh_parts;
use crate::real::trig::sin_cos_parts;
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// The constants of a format.
struct ComplexHyperbolicConstants {
    /// From this real part on even the smallest sine times the hyperbolic functions is infinite.
    largest: f64,
    /// From this real part on the imaginary part of `tanh` is 0.
    tanh_largest: f64,
    /// Beyond this exponent of `sinh` and `cosh` their quotient is 1.
    tanh_top: i64,
    /// A power of two that scales the remainders of quotients out of the subnormals.
    lift: i32,
}

const SINGLE: ComplexHyperbolicConstants =
    ComplexHyperbolicConstants { largest: 194.0, tanh_largest: 54.0, tanh_top: 20, lift: 64 };
const DOUBLE: ComplexHyperbolicConstants =
    ComplexHyperbolicConstants { largest: 1457.0, tanh_largest: 374.0, tanh_top: 60, lift: 512 };

fn constants(ty: PrimType) -> &'static ComplexHyperbolicConstants {
    if ty == PrimType::F32 { &SINGLE } else { &DOUBLE }
}

/// Hyperbolic sine.
pub(crate) fn sinh(b: &mut BodyBuilder, z: Pair) -> Pair {
    let (sinh, cosh, excess) = of_real_part(b, z.0);
    let (sin, cos) = sin_cos_parts(b, z.1);
    let parts = (rounded_product(b, sinh, cos), rounded_product(b, cosh, sin));
    let parts = scaled(b, parts, excess);
    where_nan(b, parts, z, |b, parts, (x, y)| {
        let zero = b.float(b.ty(x), 0.0);
        let at_zero = b.feq(y, zero);
        let im = b.select(at_zero, y, parts.1);
        let twice = b.fadd(x, x);
        let zero_or_infinite = b.feq(twice, x);
        (b.select(zero_or_infinite, x, parts.0), im)
    })
}

/// Hyperbolic cosine.
pub(crate) fn cosh(b: &mut BodyBuilder, z: Pair) -> Pair {
    let (sinh, cosh, excess) = of_real_part(b, z.0);
    let (sin, cos) = sin_cos_parts(b, z.1);
    let parts = (rounded_product(b, cosh, cos), rounded_product(b, sinh, sin));
    let parts = scaled(b, parts, excess);
    where_nan(b, parts, z, |b, parts, (x, y)| {
        let ty = b.ty(x);
        let (zero, inf) = (b.float(ty, 0.0), b.float(ty, f64::INFINITY));
        let infinite = is_inf(b, x);
        let re = b.select(infinite, inf, parts.0);
        let (x_zero, y_zero) = (b.feq(x, zero), b.feq(y, zero));
        let real = b.or(x_zero, y_zero);
        let (first, one) = (copysign_of_number(b, zero, x), b.float(ty, 1.0));
        let second = copysign_of_number(b, one, y);
        let signed = b.fmul(first, second);
        (re, b.select(real, signed, parts.1))
    })
}

/// Hyperbolic sine and cosine of a real part with the excess of their exponents.
fn of_real_part(b: &mut BodyBuilder, x: Reg) -> (DoubleWord, DoubleWord, Reg) {
    let f = Format::of(b.ty(x));
    let magnitude = b.fabs(x);
    let p = sinh_cosh_parts(b, magnitude, constants(f.ty).largest, f.bias - 1);
    let sign = sign_of(b, x);
    let sinh = (xor_sign(b, p.sinh.0, sign), xor_sign(b, p.sinh.1, sign));
    (sinh, p.cosh, p.excess)
}

/// The nearest float to a product, with few exceptions. A zero, to which a correction would add the other zero, has the factors' sign.
fn rounded_product(b: &mut BodyBuilder, x: DoubleWord, y: DoubleWord) -> Reg {
    let (high, low) = product(b, x, y);
    let sum = b.fadd(high, low);
    let zero = b.float(b.ty(high), 0.0);
    let at_zero = b.feq(high, zero);
    b.select(at_zero, high, sum)
}

/// `parts` times `2^excess`.
fn scaled(b: &mut BodyBuilder, parts: Pair, excess: Reg) -> Pair {
    let none = b.int(b.ty(excess), 0);
    let some = b.ine(excess, none);
    if_any_pair(b, some, parts, &[parts.0, parts.1, excess], |b, args| {
        (scale(b, args[0], args[2]), scale(b, args[1], args[2]))
    })
}

/// Applies `special` to the parts of a result and the operand if a part is NaN.
fn where_nan(
    b: &mut BodyBuilder,
    parts: Pair,
    z: Pair,
    special: impl FnOnce(&mut BodyBuilder, Pair, Pair) -> Pair,
) -> Pair {
    let (re, im) = (is_nan(b, parts.0), is_nan(b, parts.1));
    let either = b.or(re, im);
    if_any_pair(b, either, parts, &[parts.0, parts.1, z.0, z.1], |b, args| {
        special(b, (args[0], args[1]), (args[2], args[3]))
    })
}

/// Hyperbolic tangent.
pub(crate) fn tanh(b: &mut BodyBuilder, z: Pair) -> Pair {
    let f = Format::of(b.ty(z.0));
    let c = constants(f.ty);
    let magnitude = b.fabs(z.0);
    let p = sinh_cosh_parts(b, magnitude, c.tanh_largest, c.tanh_top);
    let (sin, cos) = sin_cos_parts(b, z.1);
    let lift = b.float(f.ty, 2f64.powi(c.lift));
    let lifted = (b.fmul(p.sinh.0, lift), b.fmul(p.sinh.1, lift));
    let re = product(b, lifted, p.cosh);
    let im = product(b, sin, cos);
    let (sinh_square, cos_square) = (product(b, p.sinh, p.sinh), product(b, cos, cos));
    let (divisor, error) = two_sum(b, sinh_square.0, cos_square.0);
    let low = b.fadd(sinh_square.1, cos_square.1);
    let divisor = (divisor, b.fadd(error, low));

    let real = quotient(b, re, divisor);
    let drop = b.float(f.ty, 2f64.powi(-c.lift));
    let real = b.fmul(real, drop);
    let real = copysign(b, real, z.0);
    let imaginary = quotient(b, im, divisor);
    // The divisor lacks twice the excess.
    let twice = b.iadd(p.excess, p.excess);
    let none = b.int(f.ty.as_int(), 0);
    let back = b.isub(none, twice);
    let back = power_of_two(b, back, f);
    let imaginary = b.fmul(imaginary, back);
    let imaginary = copysign(b, imaginary, im.0);
    where_nan(b, (real, imaginary), z, |b, parts, (x, y)| {
        let ty = b.ty(x);
        let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
        let (x_zero, y_zero) = (b.feq(x, zero), b.feq(y, zero));
        let infinite = is_inf(b, x);
        let unit = copysign(b, one, x);
        let re = b.select(infinite, unit, parts.0);
        let re = b.select(x_zero, x, re);
        let vanished = copysign_of_number(b, zero, y);
        let im = b.select(infinite, vanished, parts.1);
        (re, b.select(y_zero, y, im))
    })
}

/// Sine.
pub(crate) fn sin(b: &mut BodyBuilder, z: Pair) -> Pair {
    exchanged(b, z, sinh)
}

/// Cosine.
pub(crate) fn cos(b: &mut BodyBuilder, z: Pair) -> Pair {
    let (re, im) = cosh(b, (z.1, z.0));
    (re, b.fneg(im))
}

/// Tangent.
pub(crate) fn tan(b: &mut BodyBuilder, z: Pair) -> Pair {
    exchanged(b, z, tanh)
}
