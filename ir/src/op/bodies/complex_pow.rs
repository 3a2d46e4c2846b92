//! Powers of complex numbers: `z^w = e^(w log z)`.
//!
//! The logarithm and its product with `w` are double-word numbers, so that the error does not grow with the product until it
//! is in the thousands. `z^0` is 1 for every `z`, NaN too, and `z^1` is `z`; `0^w` is 0 where the real part of `w` is positive, else
//! NaN (NumPy's rules, which JAX follows where `w` is real). The other special values are those of `e^(w log z)` as the Array API
//! says, where the product of a zero and an infinity counts as 0: an imaginary part of 0 makes no NaN.

use super::complex_exp::exp_of_sums;
use super::complex_log::log_parts;
use super::double_word::{DoubleWord, negative, sum, times};
use super::util::{Pair, is_finite, is_nan, select_pair};
use crate::body::{BodyBuilder, Reg};

/// `z` to the power `w`.
pub(super) fn pow(b: &mut BodyBuilder, z: Pair, w: Pair) -> Pair {
    let ty = b.ty(z.0);
    let logarithm = log_parts(b, z);
    let (re, im) = exponent(b, logarithm, w);
    let power = exp_of_sums(b, re, im);

    let (zero, one, nan) = (b.float(ty, 0.0), b.float(ty, 1.0), b.float(ty, f64::NAN));
    let w_real = b.feq(w.1, zero);
    let (w_zero, w_one) = (b.feq(w.0, zero), b.feq(w.0, one));
    let (w_zero, w_one) = (b.and(w_real, w_zero), b.and(w_real, w_one));
    let (re_zero, im_zero) = (b.feq(z.0, zero), b.feq(z.1, zero));
    let at_zero = b.and(re_zero, im_zero);
    let positive = b.flt(zero, w.0);
    let re = b.select(positive, zero, nan);
    let power = select_pair(b, at_zero, (re, re), power);
    let power = select_pair(b, w_one, z, power);
    select_pair(b, w_zero, (one, zero), power)
}

/// The parts of `w log z`.
fn exponent(b: &mut BodyBuilder, (l, t): (DoubleWord, DoubleWord), (u, v): Pair) -> (DoubleWord, DoubleWord) {
    let difference = |b: &mut BodyBuilder, x: DoubleWord, y: DoubleWord| {
        let minus = negative(b, y);
        sum(b, x, minus)
    };
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

/// `x y`, but 0 for a zero and an infinity.
fn product_of_ends(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let ty = b.ty(x);
    let zero = b.float(ty, 0.0);
    let product = b.fmul(x, y);
    let (nan, x_number, y_number) = (is_nan(b, product), b.feq(x, x), b.feq(y, y));
    let numbers = b.and(x_number, y_number);
    let vanishes = b.and(nan, numbers);
    b.select(vanishes, zero, product)
}
