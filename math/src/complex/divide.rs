//! Complex quotients and reciprocals, scaled by powers of two, products compensated by Kahan's method, infinities and zero
//! divisors as in C99 Annex G.

use crate::kit::util::{
    Format, Pair, copysign, copysign_of_number, if_any_pair, in_order, is_finite, is_inf, is_nan, power_of_two,
    power_scale, select_pair,
};
use ndjit_ir::body::{BodyBuilder, Reg};

/// `x / y`.
pub(crate) fn divide(b: &mut BodyBuilder, x: Pair, y: Pair) -> Pair {
    let f = Format::of(b.ty(x.0));
    let int = f.ty.as_int();
    let (down, norm, y_exponent) = scaled_divisor(b, y);
    let (x_scale, x_exponent) = dividend_scale(b, x);
    let x1 = (b.fmul(x.0, x_scale), b.fmul(x.1, x_scale));
    let y1 = (b.fmul(y.0, down), b.fmul(y.1, down));
    let re = sum_of_products(b, x1.0, y1.0, x1.1, y1.1);
    let minus = b.fneg(x1.0);
    let im = sum_of_products(b, x1.1, y1.0, minus, y1.1);
    let (re, im) = (b.fdiv(re, norm), b.fdiv(im, norm));
    // The common power of two may be outside the format, but not each half of it.
    let n = b.isub(x_exponent, y_exponent);
    let one = b.int(int, 1);
    let half = b.sshr(n, one);
    let rest = b.isub(n, half);
    let (half, rest) = (power_of_two(b, half, f), power_of_two(b, rest, f));
    let (re, im) = (b.fmul(re, half), b.fmul(im, half));
    let (re, im) = (b.fmul(re, rest), b.fmul(im, rest));
    recover(b, (re, im), x, y)
}

/// `1 / y`.
pub(crate) fn reciprocal(b: &mut BodyBuilder, y: Pair) -> Pair {
    let ty = b.ty(y.0);
    let (down, norm, _) = scaled_divisor(b, y);
    let (re, im) = (b.fmul(y.0, down), b.fmul(y.1, down));
    let im = b.fneg(im);
    let (re, im) = (b.fdiv(re, norm), b.fdiv(im, norm));
    let (re, im) = (b.fmul(re, down), b.fmul(im, down));
    // A zero gives NaN over NaN above; Annex G requires an infinite real part. An infinity gives zeros.
    let (zero, inf) = (b.float(ty, 0.0), b.float(ty, f64::INFINITY));
    let (re_zero, im_zero) = (b.feq(y.0, zero), b.feq(y.1, zero));
    let at_zero = b.and(re_zero, im_zero);
    let signed_inf = copysign(b, inf, y.0);
    let re = b.select(at_zero, signed_inf, re);
    let (re_inf, im_inf) = (is_inf(b, y.0), is_inf(b, y.1));
    let at_inf = b.or(re_inf, im_inf);
    let minus = b.fneg(y.1);
    let (re_gone, im_gone) = (copysign_of_number(b, zero, y.0), copysign_of_number(b, zero, minus));
    select_pair(b, at_inf, (re_gone, im_gone), (re, im))
}

/// `(2^-k, |y * 2^-k|^2, k)`.
fn scaled_divisor(b: &mut BodyBuilder, y: Pair) -> (Reg, Reg, Reg) {
    let (c, d) = (b.fabs(y.0), b.fabs(y.1));
    let (_, largest) = in_order(b, c, d);
    let (down, _, k) = power_scale(b, largest);
    let (c, d) = (b.fmul(y.0, down), b.fmul(y.1, down));
    let square = b.fmul(d, d);
    (down, b.fma(c, c, square), k)
}

/// A power of two `2^-k` that avoids overflow of sums of products with a scaled divisor and lost bits of tiny operands,
/// and `k`. It is 1 for most operands, so that parts of very different size survive.
fn dividend_scale(b: &mut BodyBuilder, x: Pair) -> (Reg, Reg) {
    let f = Format::of(b.ty(x.0));
    let int = f.ty.as_int();
    let (re, im) = (b.fabs(x.0), b.fabs(x.1));
    let (_, largest) = in_order(b, re, im);
    let big = b.float(f.ty, 2f64.powi(f.bias as i32 - 4));
    let big = b.fle(big, largest);
    let tiny_shift = (f.bias + 1) / 2;
    let tiny = b.float(f.ty, 2f64.powi(-tiny_shift as i32));
    let tiny = b.flt(largest, tiny);
    let (plain, down) = (b.float(f.ty, 1.0), b.float(f.ty, 1.0 / 16.0));
    let up = b.float(f.ty, 2f64.powi(tiny_shift as i32));
    let scale = b.select(tiny, up, plain);
    let scale = b.select(big, down, scale);
    let (k_plain, k_down, k_up) = (b.int(int, 0), b.int(int, 4), b.int(int, -tiny_shift));
    let k = b.select(tiny, k_up, k_plain);
    (scale, b.select(big, k_down, k))
}

/// `a * c + b * d`, corrected by the error of one product (Kahan), so that cancellation costs no accuracy.
fn sum_of_products(b: &mut BodyBuilder, a: Reg, c: Reg, a2: Reg, c2: Reg) -> Reg {
    let product = b.fmul(a2, c2);
    let minus = b.fneg(product);
    let error = b.fma(a2, c2, minus);
    let sum = b.fma(a, c, product);
    b.fadd(sum, error)
}

/// Replaces NaN parts by the infinity or zero of C99 Annex G, if there is one. For an infinite dividend only one part may be NaN,
/// like the error of an infinite product.
fn recover(b: &mut BodyBuilder, result: Pair, x: Pair, y: Pair) -> Pair {
    let (re, im) = (is_nan(b, result.0), is_nan(b, result.1));
    let lost = b.or(re, im);
    if_any_pair(b, lost, result, &[x.0, x.1, y.0, y.1], |b, args| annex_g(b, (args[0], args[1]), (args[2], args[3])))
}

fn annex_g(b: &mut BodyBuilder, x: Pair, y: Pair) -> Pair {
    let ty = b.ty(x.0);
    let (nan, inf, zero) = (b.float(ty, f64::NAN), b.float(ty, f64::INFINITY), b.float(ty, 0.0));
    let (c_zero, d_zero) = (b.feq(y.0, zero), b.feq(y.1, zero));
    let by_zero = b.and(c_zero, d_zero);
    let signed_inf = copysign(b, inf, y.0);
    let over_zero = (b.fmul(signed_inf, x.0), b.fmul(signed_inf, x.1));

    let (x_inf, x_finite, x_box) = boxed(b, x);
    let (y_inf, y_finite, y_box) = boxed(b, y);
    let infinite = b.and(x_inf, y_finite);
    let vanishing = b.and(x_finite, y_inf);
    let from_infinity = infinity_over_finite(b, x, x_box, y);
    let to_zero = finite_over_infinity(b, x, y_box);
    let value = select_pair(b, vanishing, to_zero, (nan, nan));
    let value = select_pair(b, infinite, from_infinity, value);
    select_pair(b, by_zero, over_zero, value)
}

/// Zeros, whose signs do not depend on whether a sum overflows.
fn finite_over_infinity(b: &mut BodyBuilder, x: Pair, y_box: Pair) -> Pair {
    let ty = b.ty(x.0);
    let (one, zero) = (b.float(ty, 1.0), b.float(ty, 0.0));
    let (re, im) = conjugate_product(b, x, y_box, one);
    (copysign_of_number(b, zero, re), copysign_of_number(b, zero, im))
}

/// The plain quotient, with finite parts of an infinite dividend as zeros; if both its parts are NaN, an infinity in the direction of
/// the boxed dividend.
fn infinity_over_finite(b: &mut BodyBuilder, x: Pair, x_box: Pair, y: Pair) -> Pair {
    let ty = b.ty(x.0);
    let (one, inf, zero) = (b.float(ty, 1.0), b.float(ty, f64::INFINITY), b.float(ty, 0.0));
    let (re_finite, im_finite) = (is_finite(b, x.0), is_finite(b, x.1));
    let rest = (b.select(re_finite, zero, x.0), b.select(im_finite, zero, x.1));
    let plain = conjugate_product(b, rest, y, one);
    let (re, im) = (is_nan(b, plain.0), is_nan(b, plain.1));
    let lost = b.and(re, im);
    let direction = conjugate_product(b, x_box, y, inf);
    select_pair(b, lost, direction, plain)
}

/// Masks of an infinite part and of two finite parts, and the number with infinite parts as ±1, others as ±0.
fn boxed(b: &mut BodyBuilder, z: Pair) -> (Reg, Reg, Pair) {
    let ty = b.ty(z.0);
    let (one, zero) = (b.float(ty, 1.0), b.float(ty, 0.0));
    let (re_inf, im_inf) = (is_inf(b, z.0), is_inf(b, z.1));
    let (re_finite, im_finite) = (is_finite(b, z.0), is_finite(b, z.1));
    let (re, im) = (b.select(re_inf, one, zero), b.select(im_inf, one, zero));
    let unit = (copysign_of_number(b, re, z.0), copysign_of_number(b, im, z.1));
    (b.or(re_inf, im_inf), b.and(re_finite, im_finite), unit)
}

/// `factor * (x * conj(y))`.
fn conjugate_product(b: &mut BodyBuilder, x: Pair, y: Pair, factor: Reg) -> Pair {
    let (ac, bd) = (b.fmul(x.0, y.0), b.fmul(x.1, y.1));
    let (bc, ad) = (b.fmul(x.1, y.0), b.fmul(x.0, y.1));
    let (re, im) = (b.fadd(ac, bd), b.fsub(bc, ad));
    (b.fmul(factor, re), b.fmul(factor, im))
}
