//! Bodies of ops on `f32` and `f64` registers. Halves use those whose result needs no rounding as they are.

use super::super::Op;
use super::util::{copysign_of_number, is_finite, is_inf, is_nan};
use super::{
    asin, atan, complex_root, degrees, exp, expm1, float_parts, hyperbolic, inverse_hyperbolic, log, log_sum, log1p,
    outside, pow, remainder, root, trig,
};
use crate::body::{BodyBuilder, Reg};

/// Emits `op` on float registers of one type.
pub(super) fn op(b: &mut BodyBuilder, op: Op, args: &[Reg]) -> Reg {
    let x = args[0];
    let ty = b.ty(x);
    let y = args.get(1).copied().unwrap_or(x);
    match op {
        Op::Add => b.fadd(x, y),
        Op::Subtract => b.fsub(x, y),
        Op::Multiply | Op::Square => b.fmul(x, y),
        Op::Divide => b.fdiv(x, y),
        Op::FloorDivide => remainder::floor_divide(b, x, y),
        Op::Fmod => remainder::fmod(b, x, y),
        Op::Remainder => remainder::remainder(b, x, y),
        Op::Negative => b.fneg(x),
        Op::Abs => b.fabs(x),
        Op::Sign => sign(b, x),
        Op::Sqrt => b.fsqrt(x),
        Op::Reciprocal => {
            let one = b.float(ty, 1.0);
            b.fdiv(one, x)
        }
        Op::MulAdd => b.fma(x, y, args[2]),
        Op::Minimum => b.fmin(x, y),
        Op::Maximum => b.fmax(x, y),
        Op::Fmin => {
            let smaller = b.fmin(x, y);
            number_of(b, x, y, smaller)
        }
        Op::Fmax => {
            let larger = b.fmax(x, y);
            number_of(b, x, y, larger)
        }
        Op::Clip => {
            let raised = b.fmax(x, y);
            b.fmin(raised, args[2])
        }
        Op::Floor => b.ffloor(x),
        Op::Ceil => b.fceil(x),
        Op::Conj | Op::Real | Op::Positive => x,
        Op::Imag => b.float(ty, 0.0),
        Op::Trunc => b.ftrunc(x),
        Op::Round => b.fround(x),
        Op::Equal => b.feq(x, y),
        Op::NotEqual => b.fne(x, y),
        Op::Less => b.flt(x, y),
        Op::LessEqual => b.fle(x, y),
        Op::Greater => b.flt(y, x),
        Op::GreaterEqual => b.fle(y, x),
        Op::IsNan => is_nan(b, x),
        Op::IsInf => is_inf(b, x),
        Op::IsFinite => is_finite(b, x),
        Op::Signbit => float_parts::signbit(b, x),
        Op::Copysign => {
            let magnitude = b.fabs(x);
            copysign_of_number(b, magnitude, y)
        }
        Op::Nextafter => float_parts::nextafter(b, x, y),
        Op::Rsqrt => root::rsqrt(b, x),
        Op::Cbrt => root::cbrt(b, x),
        Op::Hypot => complex_root::modulus(b, (x, y)),
        Op::Pow => pow::pow(b, x, y),
        Op::Exp => exp::exp(b, x),
        Op::Log => log::log(b, x),
        Op::Sin => trig::sin(b, x),
        Op::Cos => trig::cos(b, x),
        Op::Tan => trig::tan(b, x),
        Op::Asin => asin::asin(b, x),
        Op::Acos => asin::acos(b, x),
        Op::Atan => atan::atan(b, x),
        Op::Atan2 => atan::atan2(b, x, y),
        Op::Degrees => degrees::degrees(b, x),
        Op::Radians => degrees::radians(b, x),
        Op::Tanh => hyperbolic::tanh(b, x),
        Op::Log1p => log1p::log1p(b, x),
        Op::Expm1 => expm1::expm1(b, x),
        Op::Log2 => log::log2(b, x),
        Op::Log10 => log::log10(b, x),
        Op::Exp2 => exp::exp2(b, x),
        Op::Cosh => hyperbolic::cosh(b, x),
        Op::Sinh => hyperbolic::sinh(b, x),
        Op::Asinh => inverse_hyperbolic::asinh(b, x),
        Op::Acosh => inverse_hyperbolic::acosh(b, x),
        Op::Atanh => inverse_hyperbolic::atanh(b, x),
        Op::Logaddexp => log_sum::logaddexp(b, x, y),
        Op::LogicalAnd
        | Op::LogicalOr
        | Op::LogicalXor
        | Op::LogicalNot
        | Op::BitwiseAnd
        | Op::BitwiseOr
        | Op::BitwiseXor
        | Op::BitwiseInvert
        | Op::BitwiseLeftShift
        | Op::BitwiseRightShift
        | Op::Gcd
        | Op::Lcm
        | Op::Popcount
        | Op::Clz
        | Op::Ctz
        | Op::Where => outside(op, "float"),
    }
}

fn sign(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (zero, one, minus_one) = (b.float(ty, 0.0), b.float(ty, 1.0), b.float(ty, -1.0));
    let negative = b.flt(x, zero);
    let signed = b.select(negative, minus_one, one);
    let is_zero = b.feq(x, zero);
    let signed = b.select(is_zero, zero, signed);
    let nan = is_nan(b, x);
    b.select(nan, x, signed)
}

/// The one of two that is a number, `both` if both are.
fn number_of(b: &mut BodyBuilder, x: Reg, y: Reg, both: Reg) -> Reg {
    let (x_nan, y_nan) = (is_nan(b, x), is_nan(b, y));
    let value = b.select(y_nan, x, both);
    b.select(x_nan, y, value)
}
