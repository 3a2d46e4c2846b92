//! Powers of complex numbers: `z^w = e^(w log z)`.
//!
//! The logarithm and its product with `w` are double-word numbers, so that the error grows only for products in the thousands. Powers
//! to small integers are products, also in double-word numbers: those of whole numbers are exact, and parts that are 0 stay 0.
//!
//! `z^0` is 1 for every `z`, also NaN, and `z^1` is `z`; `0^w` is 0 if the real part of `w` is positive, else NaN (NumPy's rules,
//! and JAX's for real `w`). The other special values are those of `e^(w log z)` in the Array API, where the product of a zero and an
//! infinity counts as 0: an imaginary part of 0 makes no NaN.

use crate::complex::exp::exp_of_sums;
use crate::complex::log::log_parts;
use crate::kit::double_word::{DoubleWord, difference, negative, product, quotient, rounded, sum, times};
use crate::kit::util::{Pair, if_any_pair, is_finite, is_nan, select_pair};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// A complex number whose parts are double-word numbers.
type ComplexDoubleWord = (DoubleWord, DoubleWord);

/// `z` to the power `w`.
pub(crate) fn pow(b: &mut BodyBuilder, z: Pair, w: Pair) -> Pair {
    let ty = b.ty(z.0);
    let logarithm = log_parts(b, z);
    let (re, im) = exponent(b, logarithm, w);
    let power = exp_of_sums(b, re, im);
    let power = whole_power(b, power, z, w, re.0);

    let (zero, one, nan) = (b.float(ty, 0.0), b.float(ty, 1.0), b.float(ty, f64::NAN));
    let w_real = b.feq(w.1, zero);
    let (w_zero, w_one) = (b.feq(w.0, zero), b.feq(w.0, one));
    let (w_zero, w_one) = (b.and(w_real, w_zero), b.and(w_real, w_one));
    let (re_zero, im_zero) = (b.feq(z.0, zero), b.feq(z.1, zero));
    let at_zero = b.and(re_zero, im_zero);
    let positive = b.flt(zero, w.0);
    let re = b.select(positive, zero, nan);
    let power = select_pair(b, w_one, z, power);
    let power = select_pair(b, at_zero, (re, re), power);
    select_pair(b, w_zero, (one, zero), power)
}

/// If `w` is an integer of magnitude at most 64 and the power far from the ends of the format's range, the power by products;
/// else `power`. `logarithm` is that of the power's modulus.
fn whole_power(b: &mut BodyBuilder, power: Pair, z: Pair, w: Pair, logarithm: Reg) -> Pair {
    let ty = b.ty(z.0);
    let (zero, most) = (b.float(ty, 0.0), b.float(ty, 64.0));
    // The square of the power, which its reciprocal uses, is within the range.
    let bound = b.float(ty, if ty == PrimType::F32 { 35.0 } else { 340.0 });
    let (size, count, truncated) = (b.fabs(logarithm), b.fabs(w.0), b.ftrunc(w.0));
    let (real, whole) = (b.feq(w.1, zero), b.feq(truncated, w.0));
    let (small, inside) = (b.fle(count, most), b.flt(size, bound));
    let whole = b.and(real, whole);
    let small = b.and(small, inside);
    let mask = b.and(whole, small);
    if_any_pair(b, mask, power, &[z.0, z.1, w.0], |b, args| {
        let (z, w) = ((args[0], args[1]), args[2]);
        let zero = b.float(ty, 0.0);
        let (re, im) = repeated_product(b, z, w);
        let inverted = b.flt(w, zero);
        let inverse = reciprocal(b, (re, im));
        let (re, im) = (rounded(b, re), rounded(b, im));
        let im = zero_imaginary_part(b, z, w, im);
        select_pair(b, inverted, inverse, (re, im))
    })
}

/// `z^|w|` by squaring, for an integral `w` of magnitude at most 64.
fn repeated_product(b: &mut BodyBuilder, z: Pair, w: Reg) -> ComplexDoubleWord {
    let ty = b.ty(w);
    let (zero, one) = (b.float(ty, 0.0), b.float(ty, 1.0));
    let count = b.fabs(w);
    let count = b.tosint(count, PrimType::I32);
    let state = [one, zero, zero, zero, z.0, zero, z.1, zero, count];
    let last = b.repeat(7, &state, &[], |b, s, _| {
        let (one, zero) = (b.int(PrimType::I32, 1), b.int(PrimType::I32, 0));
        let (result, base) = (((s[0], s[1]), (s[2], s[3])), ((s[4], s[5]), (s[6], s[7])));
        let product = complex_product(b, result, base);
        let square = complex_product(b, base, base);
        let odd = b.and(s[8], one);
        let odd = b.ine(odd, zero);
        let re = select_pair(b, odd, product.0, result.0);
        let im = select_pair(b, odd, product.1, result.1);
        let (more, left) = (b.ine(s[8], zero), b.ushr(s[8], one));
        (more, vec![re.0, re.1, im.0, im.1, square.0.0, square.0.1, square.1.0, square.1.1, left])
    });
    ((last[0], last[1]), (last[2], last[3]))
}

fn complex_product(b: &mut BodyBuilder, x: ComplexDoubleWord, y: ComplexDoubleWord) -> ComplexDoubleWord {
    let (ac, bd) = (product(b, x.0, y.0), product(b, x.1, y.1));
    let (ad, bc) = (product(b, x.0, y.1), product(b, x.1, y.0));
    (difference(b, ac, bd), sum(b, ad, bc))
}

fn reciprocal(b: &mut BodyBuilder, (re, im): ComplexDoubleWord) -> Pair {
    let (re_square, im_square) = (product(b, re, re), product(b, im, im));
    let norm = sum(b, re_square, im_square);
    let minus = negative(b, im);
    let (re, im) = (quotient(b, re, norm), quotient(b, minus, norm));
    // 0 - 0, like NumPy's division.
    let zero = b.float(b.ty(re), 0.0);
    (re, b.fadd(im, zero))
}

/// `im`, or for a real `z` the zero that a product of floats gives: of the sign of `z`'s, or the other in an even power of a
/// negative number.
fn zero_imaginary_part(b: &mut BodyBuilder, z: Pair, w: Reg, im: Reg) -> Reg {
    let ty = b.ty(w);
    let (zero, half) = (b.float(ty, 0.0), b.float(ty, 0.5));
    let half_w = b.fmul(w, half);
    let whole = b.ftrunc(half_w);
    let (even, negative, real) = (b.feq(whole, half_w), b.flt(z.0, zero), b.feq(z.1, zero));
    let flipped = b.and(even, negative);
    let minus = b.fneg(z.1);
    let signed = b.select(flipped, minus, z.1);
    b.select(real, signed, im)
}

/// The parts of `w log z`.
fn exponent(b: &mut BodyBuilder, (l, t): ComplexDoubleWord, (u, v): Pair) -> ComplexDoubleWord {
    let (ul, vt) = (times(b, l, u), times(b, t, v));
    let (ut, vl) = (times(b, t, u), times(b, l, v));
    let (re, im) = (difference(b, ul, vt), sum(b, ut, vl));
    // The sign of a zero angle is that of the plain sum.
    let zero = b.float(b.ty(u), 0.0);
    let (plain, at_zero) = (b.fadd(ut.0, vl.0), b.feq(im.0, zero));
    let im = (b.select(at_zero, plain, im.0), im.1);
    let all = b.bool(true);
    let finite = [l.0, u, v, re.0, im.0].into_iter().fold(all, |all, x| {
        let finite = is_finite(b, x);
        b.and(all, finite)
    });
    let special = b.not(finite);
    let (re_low, im_low) = (b.select(special, zero, re.1), b.select(special, zero, im.1));
    let parts = b.if_any(special, &[re.0, im.0], &[l.0, t.0, u, v], |b, args| {
        let (l, t, u, v) = (args[0], args[1], args[2], args[3]);
        let (ul, vt) = (product_of_ends(b, u, l), product_of_ends(b, v, t));
        let (ut, vl) = (product_of_ends(b, u, t), product_of_ends(b, v, l));
        vec![b.fsub(ul, vt), b.fadd(ut, vl)]
    });
    ((parts[0], re_low), (parts[1], im_low))
}

/// `x y`; 0 for a zero and an infinity.
fn product_of_ends(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let ty = b.ty(x);
    let zero = b.float(ty, 0.0);
    let product = b.fmul(x, y);
    let (nan, x_number, y_number) = (is_nan(b, product), b.feq(x, x), b.feq(y, y));
    let numbers = b.and(x_number, y_number);
    let vanishes = b.and(nan, numbers);
    b.select(vanishes, zero, product)
}
