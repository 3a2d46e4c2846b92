//! Bodies of ops on integers. Everything wraps; nothing traps.

use super::super::Op;
use super::{bit_count, int_power, outside};
use crate::body::{BodyBuilder, Reg};
use crate::dtype::DType;

/// Emits `op` on integer registers of `dtype`.
pub(super) fn op(b: &mut BodyBuilder, op: Op, dtype: DType, args: &[Reg]) -> Reg {
    let signed = dtype.is_signed();
    let x = args[0];
    let y = args.get(1).copied().unwrap_or(x);
    match op {
        Op::Add => b.iadd(x, y),
        Op::Subtract => b.isub(x, y),
        Op::Multiply | Op::Square => b.imul(x, y),
        Op::MulAdd => {
            let product = b.imul(x, y);
            b.iadd(product, args[2])
        }
        Op::FloorDivide if signed => floor_divide(b, x, y),
        Op::FloorDivide => b.udiv(x, y),
        Op::Remainder if signed => remainder(b, x, y),
        Op::Remainder => b.urem(x, y),
        Op::Fmod if signed => b.srem(x, y),
        Op::Fmod => b.urem(x, y),
        Op::Negative => negative(b, x),
        Op::Abs if signed => {
            let negated = negative(b, x);
            b.smax(x, negated)
        }
        Op::Sign => sign(b, x, signed),
        Op::Abs | Op::Floor | Op::Ceil | Op::Trunc | Op::Round | Op::Conj | Op::Real | Op::Positive => x,
        Op::Imag => b.int(b.ty(x), 0),
        Op::Minimum | Op::Fmin => minimum(b, x, y, signed),
        Op::Maximum | Op::Fmax => maximum(b, x, y, signed),
        Op::Clip => {
            let raised = maximum(b, x, y, signed);
            minimum(b, raised, args[2], signed)
        }
        Op::Equal => b.ieq(x, y),
        Op::NotEqual => b.ine(x, y),
        Op::Less => less(b, x, y, signed),
        Op::Greater => less(b, y, x, signed),
        Op::LessEqual => less_equal(b, x, y, signed),
        Op::GreaterEqual => less_equal(b, y, x, signed),
        Op::BitwiseAnd => b.and(x, y),
        Op::BitwiseOr => b.or(x, y),
        Op::BitwiseXor => b.xor(x, y),
        Op::BitwiseInvert => b.not(x),
        // A negative count is a huge unsigned one, which the primitives give the wanted meaning.
        Op::BitwiseLeftShift => b.shl(x, y),
        Op::BitwiseRightShift if signed => b.sshr(x, y),
        Op::BitwiseRightShift => b.ushr(x, y),
        Op::IsNan | Op::IsInf => b.bool(false),
        Op::IsFinite => b.bool(true),
        Op::Signbit if signed => {
            let zero = b.int(b.ty(x), 0);
            b.slt(x, zero)
        }
        Op::Signbit => b.bool(false),
        Op::Pow => int_power::pow(b, x, y, signed),
        Op::Gcd => int_power::gcd(b, x, y, signed),
        Op::Lcm => int_power::lcm(b, x, y, signed),
        Op::Popcount => bit_count::ones(b, x),
        Op::Clz => bit_count::leading_zeros(b, x),
        Op::Ctz => bit_count::trailing_zeros(b, x),
        Op::Divide
        | Op::Sqrt
        | Op::Reciprocal
        | Op::LogicalAnd
        | Op::LogicalOr
        | Op::LogicalXor
        | Op::LogicalNot
        | Op::Where
        | Op::Copysign
        | Op::Nextafter
        | Op::Rsqrt
        | Op::Cbrt
        | Op::Hypot
        | Op::Exp
        | Op::Log
        | Op::Sin
        | Op::Cos
        | Op::Tan
        | Op::Asin
        | Op::Acos
        | Op::Atan
        | Op::Atan2
        | Op::Degrees
        | Op::Radians
        | Op::Tanh
        | Op::Log1p
        | Op::Expm1
        | Op::Log2
        | Op::Log10
        | Op::Exp2
        | Op::Cosh
        | Op::Sinh
        | Op::Asinh
        | Op::Acosh
        | Op::Atanh
        | Op::Logaddexp => outside(op, "integer"),
    }
}

fn negative(b: &mut BodyBuilder, x: Reg) -> Reg {
    let zero = b.int(b.ty(x), 0);
    b.isub(zero, x)
}

fn sign(b: &mut BodyBuilder, x: Reg, signed: bool) -> Reg {
    let ty = b.ty(x);
    let one = b.int(ty, 1);
    if !signed {
        return b.umin(x, one);
    }
    let minus_one = b.int(ty, -1);
    let low = b.smax(x, minus_one);
    b.smin(low, one)
}

/// Whether the truncated quotient is one too large: the remainder `r` is not 0 and has not the sign of `y`.
fn must_floor(b: &mut BodyBuilder, r: Reg, y: Reg) -> Reg {
    let zero = b.int(b.ty(r), 0);
    let differ = b.xor(r, y);
    let differ = b.slt(differ, zero);
    let inexact = b.ine(r, zero);
    b.and(inexact, differ)
}

fn floor_divide(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let ty = b.ty(x);
    let quotient = b.sdiv(x, y);
    let product = b.imul(quotient, y);
    let r = b.isub(x, product);
    let down = must_floor(b, r, y);
    let zero = b.int(ty, 0);
    let divides = b.ine(y, zero);
    let down = b.and(down, divides);
    let one = b.int(ty, 1);
    let lower = b.isub(quotient, one);
    b.select(down, lower, quotient)
}

fn remainder(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let r = b.srem(x, y);
    let down = must_floor(b, r, y);
    let raised = b.iadd(r, y);
    b.select(down, raised, r)
}

fn minimum(b: &mut BodyBuilder, x: Reg, y: Reg, signed: bool) -> Reg {
    if signed { b.smin(x, y) } else { b.umin(x, y) }
}

fn maximum(b: &mut BodyBuilder, x: Reg, y: Reg, signed: bool) -> Reg {
    if signed { b.smax(x, y) } else { b.umax(x, y) }
}

fn less(b: &mut BodyBuilder, x: Reg, y: Reg, signed: bool) -> Reg {
    if signed { b.slt(x, y) } else { b.ult(x, y) }
}

fn less_equal(b: &mut BodyBuilder, x: Reg, y: Reg, signed: bool) -> Reg {
    if signed { b.sle(x, y) } else { b.ule(x, y) }
}
