//! `log(e^x + e^y)` and `log2(2^x + 2^y)` on `f32` and `f64`.
//!
//! With `m` the larger operand the former is `m + log(1 + e^-|x - y|)`. The difference, the power and the logarithm are in two parts
//! each, so that only their own errors, not their roundings, count where the sum cancels. The error is one ULP of `m` there. In
//! base 2 the sum is exact for equal operands.

use crate::kit::util::{is_inf, tiny_as_is, two_sum};
use crate::real::exp::{exp_parts, exp2_parts};
use crate::real::log1p::{log1p_parts, log2_1p_parts};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::dtype::PrimType;

/// `log(e^x + e^y)`.
pub(crate) fn logaddexp(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let operands = ordered(b, x, y);
    let (power, power_low) = exp_parts(b, operands.difference, operands.lost);
    let (high, low) = log1p_parts(b, power, Some(power_low), None);
    let high = tiny_as_is(b, power, high);
    sum(b, operands.larger, (high, low))
}

/// `log2(2^x + 2^y)`.
pub(crate) fn logaddexp2(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let operands = ordered(b, x, y);
    let (power, power_low) = exp2_parts(b, operands.difference, operands.lost);
    let logarithm = log2_1p_parts(b, power, power_low);
    sum(b, operands.larger, logarithm)
}

/// Two operands: the larger, and the difference of the smaller in two parts.
struct Ordered {
    larger: Reg,
    difference: Reg,
    lost: Reg,
}

fn ordered(b: &mut BodyBuilder, x: Reg, y: Reg) -> Ordered {
    let (larger, smaller) = (b.fmax(x, y), b.fmin(x, y));
    let minus_larger = b.fneg(larger);
    let (difference, lost) = two_sum(b, smaller, minus_larger);
    // The power of a lower difference is 0 despite its rounding error, which may be large; infinite ones have none.
    let ty = b.ty(x);
    let (least, zero) = (b.float(ty, if ty == PrimType::F32 { -200.0 } else { -2000.0 }), b.float(ty, 0.0));
    let counts = b.flt(least, difference);
    Ordered { larger, difference, lost: b.select(counts, lost, zero) }
}

/// The larger operand and the logarithm in two parts.
fn sum(b: &mut BodyBuilder, larger: Reg, (high, low): (Reg, Reg)) -> Reg {
    let (sum, error) = two_sum(b, larger, high);
    let rest = b.fadd(error, low);
    let result = b.fadd(sum, rest);
    // Two equal infinities have no difference.
    let infinite = is_inf(b, larger);
    b.select(infinite, larger, result)
}
