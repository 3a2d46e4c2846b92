//! `log(e^x + e^y)` on `f32` and `f64`.
//!
//! With `m` the larger operand it is `m + log(1 + e^-|x - y|)`. The difference, the power and the logarithm come in two parts each,
//! so that only their own errors, not their roundings, show where the sum cancels. The error is one of `m`'s units there.

use super::exp::exp_parts;
use super::log1p::log1p_parts;
use super::util::{is_finite, is_inf, tiny_as_is, two_sum};
use crate::body::{BodyBuilder, Reg};

/// `log(e^x + e^y)`.
pub(super) fn logaddexp(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let (larger, smaller) = (b.fmax(x, y), b.fmin(x, y));
    let minus_larger = b.fneg(larger);
    let (difference, lost) = two_sum(b, smaller, minus_larger);
    // Of infinite differences nothing is lost.
    let (finite, zero) = (is_finite(b, difference), b.float(b.ty(x), 0.0));
    let lost = b.select(finite, lost, zero);
    let (power, power_low) = exp_parts(b, difference, lost);
    let (high, low) = log1p_parts(b, power, Some(power_low), None);
    let high = tiny_as_is(b, power, high);
    let (sum, error) = two_sum(b, larger, high);
    let rest = b.fadd(error, low);
    let result = b.fadd(sum, rest);
    // Two equal infinities have no difference.
    let infinite = is_inf(b, larger);
    b.select(infinite, larger, result)
}
