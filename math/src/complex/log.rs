//! Logarithms of complex numbers: bases e, 2 and 10, and `log(1 + z)`.
//!
//! The real part is half the logarithm of `|z|^2`, a sum of squares in several floats, which is relatively accurate also if `|z|` is
//! near 1; `z` is scaled by a power of two first, so that no square overflows, or underflows while it counts. The imaginary part is
//! the angle. Both are double-word numbers and rounded nearly once.
//!
//! The branch cut is the negative real axis, up to -1 for `log(1 + z)`. The sign of the imaginary zero selects the side (C99
//! Annex G).

use crate::complex::arg::arg;
use crate::kit::double_word::{DoubleWord, constant, exact_product, product, rounded};
use crate::kit::log2_parts::log2_of_sum;
use crate::kit::util::{Format, Pair, copysign, in_order, is_finite, is_inf, power_scale, two_sum};
use ndjit_ir::body::{BodyBuilder, Reg};

/// `ln 2 / 2` and `log10 2 / 2`, with their rounding errors.
const HALF_LN2: (f64, f64) = (std::f64::consts::LN_2 / 2.0, 1.1595234069231498e-17);
const HALF_LOG10_2: (f64, f64) = (std::f64::consts::LOG10_2 / 2.0, -1.4018640638925852e-18);
/// `1 / ln 2` and `1 / ln 10`, with their rounding errors.
const LOG2_E: (f64, f64) = (std::f64::consts::LOG2_E, 2.0355273740931033e-17);
const LOG10_E: (f64, f64) = (std::f64::consts::LOG10_E, 1.098319650216765e-17);

/// Natural logarithm.
pub(crate) fn log(b: &mut BodyBuilder, z: Pair) -> Pair {
    let (re, im) = log_parts(b, z);
    (rounded(b, re), angle(b, im, z.1))
}

/// Natural logarithm, its parts as double-word numbers; `log 0` has the real part `-inf`.
pub(crate) fn log_parts(b: &mut BodyBuilder, z: Pair) -> (DoubleWord, DoubleWord) {
    let logarithm = log2_of_square(b, z, None);
    let half_ln2 = constant(b, b.ty(z.0), HALF_LN2);
    let re = product(b, logarithm, half_ln2);
    (special_values(b, z, re), arg(b, z, None))
}

/// Logarithm to base 2.
pub(crate) fn log2(b: &mut BodyBuilder, z: Pair) -> Pair {
    to_base(b, z, (0.5, 0.0), LOG2_E)
}

/// Logarithm to base 10.
pub(crate) fn log10(b: &mut BodyBuilder, z: Pair) -> Pair {
    to_base(b, z, HALF_LOG10_2, LOG10_E)
}

fn to_base(b: &mut BodyBuilder, z: Pair, half: (f64, f64), per_radian: (f64, f64)) -> Pair {
    let ty = b.ty(z.0);
    let (half, per_radian) = (constant(b, ty, half), constant(b, ty, per_radian));
    let re = log2_of_square(b, z, None);
    let re = product(b, re, half);
    let re = special_values(b, z, re);
    let im = arg(b, z, None);
    let im = product(b, im, per_radian);
    (rounded(b, re), angle(b, im, z.1))
}

/// The nearest float, with the sign of the imaginary part `y`: sums may lose that of zero.
fn angle(b: &mut BodyBuilder, im: DoubleWord, y: Reg) -> Reg {
    let im = rounded(b, im);
    copysign(b, im, y)
}

/// `log(1 + z)`, accurate in both parts also near 0.
pub(crate) fn log1p(b: &mut BodyBuilder, z: Pair) -> Pair {
    let f = Format::of(b.ty(z.0));
    let (zero, one) = (b.float(f.ty, 0.0), b.float(f.ty, 1.0));
    let (x, low) = two_sum(b, one, z.0);
    let finite = is_finite(b, z.0);
    let low = b.select(finite, low, zero);
    let logarithm = log2_of_square(b, (x, z.1), Some(low));
    let half_ln2 = constant(b, f.ty, HALF_LN2);
    let re = product(b, logarithm, half_ln2);
    let re = special_values(b, (x, z.1), re);
    let re = rounded(b, re);
    // `x - x^2/2 + y^2/2` if only x counts, which keeps subnormals; -0 gives +0, as in `log 1`.
    let tiny = 2f64.powi(-2 - f.mantissa as i32);
    let bound = b.float(f.ty, tiny);
    let magnitude = b.fabs(z.0);
    let square = b.fmul(z.1, z.1);
    let share = b.fmul(magnitude, bound);
    let (x_tiny, y_tiny) = (b.flt(magnitude, bound), b.fle(square, share));
    let as_is = b.and(x_tiny, y_tiny);
    let itself = b.fadd(z.0, zero);
    let re = b.select(as_is, itself, re);
    let im = arg(b, (x, z.1), Some(low));
    (re, angle(b, im, z.1))
}

/// `log2((x + low)^2 + y^2)` for finite numbers, where `low` is a rounding error of `x`.
fn log2_of_square(b: &mut BodyBuilder, (x, y): Pair, low: Option<Reg>) -> DoubleWord {
    let (ax, ay) = (b.fabs(x), b.fabs(y));
    let (_, large) = in_order(b, ax, ay);
    let (down, _, k) = power_scale(b, large);
    let (x, y) = (b.fmul(x, down), b.fmul(y, down));
    let (xx, yy) = (exact_product(b, x, x), exact_product(b, y, y));
    let (sum, error) = two_sum(b, xx.0, yy.0);
    let (rest, rest_low) = two_sum(b, error, xx.1);
    let (rest, rest_low) = match low {
        Some(low) => {
            let low = b.fmul(low, down);
            let twice = b.fadd(low, low);
            let cross = exact_product(b, x, twice);
            let (rest, lost) = two_sum(b, rest, cross.0);
            let rest_low = b.fadd(rest_low, lost);
            let square_low = b.fma(low, low, cross.1);
            (rest, b.fadd(rest_low, square_low))
        }
        None => (rest, rest_low),
    };
    let (rest, lost) = two_sum(b, rest, yy.1);
    let rest_low = b.fadd(rest_low, lost);
    log2_of_sum(b, sum, (rest, rest_low), k)
}

/// The real part `re`; `-inf` at 0 and `inf` if a part is infinite.
fn special_values(b: &mut BodyBuilder, z: Pair, re: DoubleWord) -> DoubleWord {
    let ty = b.ty(z.0);
    let (zero, inf, minus_inf) = (b.float(ty, 0.0), b.float(ty, f64::INFINITY), b.float(ty, f64::NEG_INFINITY));
    let (re_inf, im_inf) = (is_inf(b, z.0), is_inf(b, z.1));
    let infinite = b.or(re_inf, im_inf);
    let (re_zero, im_zero) = (b.feq(z.0, zero), b.feq(z.1, zero));
    let at_zero = b.and(re_zero, im_zero);
    let end = b.select(at_zero, minus_inf, inf);
    let special = b.or(infinite, at_zero);
    (b.select(special, end, re.0), b.select(special, zero, re.1))
}
