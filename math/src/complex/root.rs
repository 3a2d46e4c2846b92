//! Modulus, sign, square root and its reciprocal of complex numbers, scaled by powers of two.

use crate::kit::double_word::{self, exact_product};
use crate::kit::util::{
    Format, Pair, at_least, at_most, copysign, copysign_of_number, if_any_pair, in_order, is_finite, is_inf, is_nan,
    power_scale, select_pair,
};
use ndjit_ir::body::{BodyBuilder, Reg};

/// `|x|`; infinite if a part is, even beside NaN.
pub(crate) fn modulus(b: &mut BodyBuilder, x: Pair) -> Reg {
    let ty = b.ty(x.0);
    let (re, im) = (b.fabs(x.0), b.fabs(x.1));
    let (small, large) = in_order(b, re, im);
    let (down, up, _) = power_scale(b, large);
    let (large, small) = (b.fmul(large, down), b.fmul(small, down));
    let root = root_of_squares(b, large, small);
    let root = corrected(b, root, large, small);
    let result = b.fmul(root, up);
    let (re, im) = (is_inf(b, x.0), is_inf(b, x.1));
    let infinite = b.or(re, im);
    let inf = b.float(ty, f64::INFINITY);
    b.select(infinite, inf, result)
}

/// A rounded root of the sum of two squares, corrected: less the excess of its square divided by twice the root (Borges 2019). The
/// error without correction is up to 1.02 ULP. 0 for zeros.
fn corrected(b: &mut BodyBuilder, root: Reg, large: Reg, small: Reg) -> Reg {
    let ty = b.ty(root);
    let (root_square, root_low) = exact_product(b, root, root);
    let (large_square, large_low) = exact_product(b, large, large);
    let minus = b.fneg(small);
    let excess = b.fsub(root_square, large_square);
    let excess = b.fma(minus, small, excess);
    let low = b.fsub(root_low, large_low);
    let excess = b.fadd(excess, low);
    let least = b.float(ty, 2f64.powi(-60));
    let divisor = at_least(b, root, least);
    let quotient = b.fdiv(excess, divisor);
    let minus_half = b.float(ty, -0.5);
    b.fma(quotient, minus_half, root)
}

/// `sqrt(large^2 + small^2)`, with the larger square exact inside the `fma`.
fn root_of_squares(b: &mut BodyBuilder, large: Reg, small: Reg) -> Reg {
    let square = b.fmul(small, small);
    let sum = b.fma(large, large, square);
    b.fsqrt(sum)
}

/// `x / |x|`; +0 at zeros; the direction of the infinite part if one is infinite, NaN if both are.
pub(crate) fn sign(b: &mut BodyBuilder, x: Pair) -> Pair {
    let ty = b.ty(x.0);
    let (zero, one, nan) = (b.float(ty, 0.0), b.float(ty, 1.0), b.float(ty, f64::NAN));
    let (re_inf, im_inf) = (is_inf(b, x.0), is_inf(b, x.1));
    let (either, both) = (b.or(re_inf, im_inf), b.and(re_inf, im_inf));
    let parts = [(x.0, re_inf), (x.1, im_inf)].map(|(part, infinite)| {
        let unit = copysign(b, one, part);
        let unit = b.select(infinite, unit, zero);
        let unit = b.select(both, nan, unit);
        b.select(either, unit, part)
    });
    let (re, im) = (b.fabs(parts[0]), b.fabs(parts[1]));
    let (small, large) = in_order(b, re, im);
    let (down, _, _) = power_scale(b, large);
    let (large_scaled, small_scaled) = (b.fmul(large, down), b.fmul(small, down));
    let norm = root_of_squares(b, large_scaled, small_scaled);
    // Not `large`, which ignores NaN.
    let both = b.fadd(re, im);
    let at_zero = b.feq(both, zero);
    let [re, im] = parts.map(|part| {
        let scaled = b.fmul(part, down);
        let quotient = b.fdiv(scaled, norm);
        b.select(at_zero, zero, quotient)
    });
    (re, im)
}

/// The root with non-negative real part; the imaginary part has the sign of `x`'s, also of zero.
pub(crate) fn sqrt(b: &mut BodyBuilder, x: Pair) -> Pair {
    let f = Format::of(b.ty(x.0));
    let (re, im) = (b.fabs(x.0), b.fabs(x.1));
    let (small, large) = in_order(b, re, im);
    let (down, half_down, half_up) = even_scale(b, large, f);
    let (large_scaled, small_scaled) = (b.fmul(large, down), b.fmul(small, down));
    let norm = root_of_squares(b, large_scaled, small_scaled);
    let re_scaled = b.fmul(re, down);
    let sum = b.fadd(re_scaled, norm);
    let half = b.float(f.ty, 0.5);
    let sum = b.fmul(sum, half);
    let t = b.fsqrt(sum);
    let near = b.fmul(t, half_up);
    // Not from the scaled part, which may be far smaller than the other and lose bits.
    let im_scaled = b.fmul(im, half_down);
    let twice = b.fadd(t, t);
    let far = b.fdiv(im_scaled, twice);
    let zero = b.float(f.ty, 0.0);
    let at_zero = b.feq(large, zero);
    let far = b.select(at_zero, zero, far);
    let left = b.flt(x.0, zero);
    let re = b.select(left, far, near);
    let im = b.select(left, near, far);
    let im = copysign(b, im, x.1);
    let (re_finite, im_finite) = (is_finite(b, x.0), is_finite(b, x.1));
    let finite = b.and(re_finite, im_finite);
    let special = b.not(finite);
    if_any_pair(b, special, (re, im), &[x.0, x.1], |b, x| sqrt_special(b, x[0], x[1]))
}

/// `1 / sqrt(z)`, of the root that [`sqrt`] gives: with `n = |z|` and `t = sqrt((|x| + n) / 2)` its parts are `t / n` and `-y / (2 t n)`,
/// exchanged on the left. `n` and `t` are double-word numbers, so each part is rounded nearly once.
pub(crate) fn rsqrt(b: &mut BodyBuilder, z: Pair) -> Pair {
    let f = Format::of(b.ty(z.0));
    let (zero, half) = (b.float(f.ty, 0.0), b.float(f.ty, 0.5));
    let (re_size, im_size) = (b.fabs(z.0), b.fabs(z.1));
    let (small, large) = in_order(b, re_size, im_size);
    let (down, half_down, _) = even_scale(b, large, f);
    let (large_scaled, small_scaled) = (b.fmul(large, down), b.fmul(small, down));
    let (x, y) = (exact_product(b, large_scaled, large_scaled), exact_product(b, small_scaled, small_scaled));
    let squares = double_word::sum(b, x, y);
    let n = double_word::sqrt(b, squares);
    let re_scaled = b.fmul(re_size, down);
    let sum = double_word::sum(b, n, (re_scaled, zero));
    let sum = (b.fmul(sum.0, half), b.fmul(sum.1, half));
    let t = double_word::sqrt(b, sum);
    let near = double_word::quotient(b, t, n);
    let near = b.fmul(near, half_down);
    let tn = double_word::product(b, t, n);
    let twice = (b.fadd(tn.0, tn.0), b.fadd(tn.1, tn.1));
    // Not from the scaled part, as in `sqrt`. Scaling up comes before the division, scaling down after it.
    let one = b.float(f.ty, 1.0);
    let (up, low_down) = (at_least(b, half_down, one), at_most(b, half_down, one));
    let lifted = (0..3).fold(im_size, |im, _| b.fmul(im, up));
    let far = double_word::quotient(b, (lifted, zero), twice);
    let far = (0..3).fold(far, |far, _| b.fmul(far, low_down));
    let left = b.flt(z.0, zero);
    let (re, im) = select_pair(b, left, (far, near), (near, far));

    let (inf, nan) = (b.float(f.ty, f64::INFINITY), b.float(f.ty, f64::NAN));
    let both = b.fadd(re_size, im_size);
    let at_zero = b.feq(both, zero);
    let (re, im) = select_pair(b, at_zero, (inf, nan), (re, im));
    let (re_inf, im_inf) = (is_inf(b, z.0), is_inf(b, z.1));
    let infinite = b.or(re_inf, im_inf);
    let (re, im) = select_pair(b, infinite, (zero, zero), (re, im));
    let minus = b.fneg(z.1);
    (re, copysign_of_number(b, im, minus))
}

/// `(2^-2k, 2^-k, 2^k)` with `2k` about the exponent of `m`.
fn even_scale(b: &mut BodyBuilder, m: Reg, f: Format) -> (Reg, Reg, Reg) {
    let int = f.ty.as_int();
    let (_, _, exponent) = power_scale(b, m);
    let one = b.int(int, 1);
    let k = b.sshr(exponent, one);
    let twice = b.iadd(k, k);
    let bias = b.int(int, f.bias);
    let shift = b.int(int, i64::from(f.mantissa));
    let (down, half_down, half_up) = (b.isub(bias, twice), b.isub(bias, k), b.iadd(bias, k));
    let power = |b: &mut BodyBuilder, field: Reg| {
        let bits = b.shl(field, shift);
        b.bitcast(bits, f.ty)
    };
    (power(b, down), power(b, half_down), power(b, half_up))
}

/// C99 Annex G for a part that is infinite or NaN.
fn sqrt_special(b: &mut BodyBuilder, re: Reg, im: Reg) -> Pair {
    let ty = b.ty(re);
    let (nan, inf, zero) = (b.float(ty, f64::NAN), b.float(ty, f64::INFINITY), b.float(ty, 0.0));
    let im_nan = is_nan(b, im);
    let signed_zero = copysign(b, zero, im);
    let signed_inf = copysign_of_number(b, inf, im);
    let right = (inf, b.select(im_nan, nan, signed_zero));
    let left = (b.select(im_nan, nan, zero), signed_inf);
    let re_inf = is_inf(b, re);
    let negative = b.flt(re, zero);
    let im_inf = is_inf(b, im);
    let value = select_pair(b, negative, left, right);
    let value = select_pair(b, re_inf, value, (nan, nan));
    select_pair(b, im_inf, (inf, im), value)
}
