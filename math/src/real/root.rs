//! Reciprocal square root and cube root on `f32` and `f64`. Both correct an approximation by its residual, which is almost exact with
//! `fma`; beyond the last rounding the error is below 2^-18 ULP.

use crate::kit::util::{Format, copysign, is_finite, polynomial};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// `1 / sqrt(x)`. With `s` the rounded root and `y` its rounded reciprocal, `x = s^2 + e` and `s y = 1 + t`, so the exact
/// value is `y - y (t + e y^2 / 2)` up to terms of second order.
pub(crate) fn rsqrt(b: &mut BodyBuilder, x: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    let (zero, one, inf) = (b.float(f.ty, 0.0), b.float(f.ty, 1.0), b.float(f.ty, f64::INFINITY));
    // Scaled so far that the residual of the root is not subnormal.
    let root_of_lift = if f.ty == PrimType::F32 { 2f64.powi(32) } else { 2f64.powi(128) };
    let limit = b.float(f.ty, 1.0 / (root_of_lift * root_of_lift));
    let (lift, root_of_lift) = (b.float(f.ty, root_of_lift * root_of_lift), b.float(f.ty, root_of_lift));
    let small = b.flt(x, limit);
    let lifted = b.fmul(x, lift);
    let scaled = b.select(small, lifted, x);
    let s = b.fsqrt(scaled);
    let y = b.fdiv(one, s);
    let minus_one = b.float(f.ty, -1.0);
    let t = b.fma(s, y, minus_one);
    let minus_s = b.fneg(s);
    let e = b.fma(minus_s, s, scaled);
    let half = b.float(f.ty, 0.5);
    let half_y = b.fmul(half, y);
    let e = b.fmul(e, half_y);
    let correction = b.fma(e, y, t);
    let minus_y = b.fneg(y);
    let corrected = b.fma(minus_y, correction, y);
    let (above, below) = (b.flt(zero, x), b.flt(x, inf));
    let ordinary = b.and(above, below);
    let y = b.select(ordinary, corrected, y);
    let lifted = b.fmul(y, root_of_lift);
    b.select(small, lifted, y)
}

/// `c^(-1/3)` for the `c` of the first guess (see [`cbrt`]), between 1.2984 and 1.5396: an own minimax fit by a Remez
/// exchange in 240-bit arithmetic, relative error 2^-19.9.
const INVERSE_ROOT: &[f64] = &[1.540084719657898, -0.8165079951286316, 0.3294215500354767, -0.05420444533228874];

/// The number added to a third of the negated bits of `x` to approximate the bits of `x^(-1/3)`, in units of the exponent and beside
/// 4/3 of its bias. It gives `c = x y^3` the smallest range.
const GUESS: f64 = 0.0995;

/// Cube root. A guess `y` of `x^(-1/3)` from the exponent (the method is Kahan's, the reciprocal form after Moroz and others,
/// 2021), one polynomial in `c = x y^3`, for `f64` one step of third order; then `x y^2` is corrected by its residual.
pub(crate) fn cbrt(b: &mut BodyBuilder, x: Reg) -> Reg {
    let f = Format::of(b.ty(x));
    let magnitude = b.fabs(x);
    // Scaled so far that the residual is not subnormal.
    let root_of_lift = if f.ty == PrimType::F32 { 2f64.powi(20) } else { 2f64.powi(100) };
    let lift = root_of_lift * root_of_lift * root_of_lift;
    let limit = b.float(f.ty, 1.0 / lift);
    let (lift, drop) = (b.float(f.ty, lift), b.float(f.ty, 1.0 / root_of_lift));
    let small = b.flt(magnitude, limit);
    let lifted = b.fmul(magnitude, lift);
    let a = b.select(small, lifted, magnitude);

    let y = guess(b, a, f);
    let c = times_cube(b, a, y);
    let factor = polynomial(b, c, INVERSE_ROOT);
    let mut y = b.fmul(y, factor);
    if f.ty == PrimType::F64 {
        let one = b.float(f.ty, 1.0);
        let c = times_cube(b, a, y);
        let h = b.fsub(one, c);
        let series = polynomial(b, h, &[1.0 / 3.0, 2.0 / 9.0]);
        let step = b.fmul(h, series);
        y = b.fma(y, step, y);
    }

    let square = b.fmul(y, y);
    let c = b.fmul(a, square);
    let high = b.fmul(c, c);
    let minus_high = b.fneg(high);
    let low = b.fma(c, c, minus_high);
    let minus_low = b.fneg(low);
    let residual = b.fma(minus_high, c, a);
    let residual = b.fma(minus_low, c, residual);
    let third = b.float(f.ty, 1.0 / 3.0);
    let slope = b.fmul(square, third);
    let root = b.fma(residual, slope, c);

    let dropped = b.fmul(root, drop);
    let root = b.select(small, dropped, root);
    let root = copysign(b, root, x);
    let zero = b.float(f.ty, 0.0);
    let (finite, nonzero) = (is_finite(b, x), b.fne(x, zero));
    let ordinary = b.and(finite, nonzero);
    b.select(ordinary, root, x)
}

fn times_cube(b: &mut BodyBuilder, a: Reg, y: Reg) -> Reg {
    let c = b.fmul(a, y);
    let c = b.fmul(c, y);
    b.fmul(c, y)
}

/// An approximation of `a^(-1/3)` for a positive normal `a`: its bits are nearly linear in the logarithm. Those that fit a mantissa are
/// multiplied as a float.
fn guess(b: &mut BodyBuilder, a: Reg, f: Format) -> Reg {
    let int = f.ty.as_int();
    let dropped = if f.ty == PrimType::F32 { 8 } else { 12 };
    let shift = b.int(int, dropped);
    // Bits in the mantissa of 2^mantissa make that plus their number.
    let base = (1u64 << f.mantissa) as f64;
    let base_reg = b.float(f.ty, base);
    let base_bits = b.bitcast(base_reg, int);
    let bits = b.bitcast(a, int);
    let bits = b.ushr(bits, shift);
    let bits = b.or(bits, base_bits);
    let number = b.bitcast(bits, f.ty);
    let number = b.fsub(number, base_reg);
    let unit = 2f64.powi(f.mantissa as i32 - dropped as i32);
    let offset = b.float(f.ty, base + ((4.0 / 3.0 * f.bias as f64 + GUESS) * unit).round());
    let minus_third = b.float(f.ty, -1.0 / 3.0);
    let number = b.fma(number, minus_third, offset);
    let bits = b.bitcast(number, int);
    let bits = b.shl(bits, shift);
    b.bitcast(bits, f.ty)
}
