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
    let difference = b.fsub(smaller, larger);
    let power = exp(b, difference);
    let (high, low) = log1p_parts(b, power, None, None);
    let high = tiny_as_is(b, power, high);
    let (sum, error) = two_sum(b, larger, high);
    let rest = b.fadd(error, low);
    let result = b.fadd(sum, rest);
    // Two equal infinities have no difference.
    let infinite = is_inf(b, larger);
    b.select(infinite, larger, result)
}
