//! `log(e^x + e^y)` on `f32` and `f64`, and what neural networks make of it.
//!
//! With `m` the larger operand it is `m + log(1 + e^-|x - y|)`; the logarithm comes in two parts, so that only its own error, not its
//! rounding, shows where the sum cancels. There (results much smaller than `m`) the error is one of the larger terms' units.

use super::exp::exp;
use super::log1p::log1p_parts;
use super::util::{is_inf, tiny_as_is, two_sum};
use crate::body::{BodyBuilder, Reg};

/// `log(e^x + e^y)`.
pub(super) fn logaddexp(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let (larger, smaller) = (b.fmax(x, y), b.fmin(x, y));
    let minus_larger = b.fneg(larger);
    let (difference, lost) = two_sum(b, smaller, minus_larger);
    let power = exp(b, difference);
    // e^(difference + lost) to first order; of infinite differences nothing is lost.
    let correction = b.fmul(power, lost);
    let zero = b.float(b.ty(power), 0.0);
    let vanishes = b.feq(power, zero);
    let correction = b.select(vanishes, zero, correction);
    let (high, low) = log1p_parts(b, power, Some(correction), None);
    let high = tiny_as_is(b, power, high);
    let (sum, error) = two_sum(b, larger, high);
    let rest = b.fadd(error, low);
    let result = b.fadd(sum, rest);
    // Two equal infinities have no difference.
    let infinite = is_inf(b, larger);
    b.select(infinite, larger, result)
}
