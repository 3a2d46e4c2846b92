//! Bodies of ops on bool: truth values with `false < true`, sum as or, product as and.

use super::super::Op;
use super::outside;
use crate::body::{BodyBuilder, Reg};

/// Emits `op` on `Bool` registers.
pub(super) fn op(b: &mut BodyBuilder, op: Op, args: &[Reg]) -> Reg {
    let x = args[0];
    let y = args.get(1).copied().unwrap_or(x);
    match op {
        Op::Add | Op::Maximum | Op::Fmax | Op::LogicalOr | Op::BitwiseOr => b.or(x, y),
        Op::Multiply | Op::Minimum | Op::Fmin | Op::LogicalAnd | Op::BitwiseAnd => b.and(x, y),
        Op::NotEqual | Op::LogicalXor | Op::BitwiseXor => b.xor(x, y),
        Op::LogicalNot | Op::BitwiseInvert => b.not(x),
        Op::Abs | Op::Floor | Op::Ceil | Op::Trunc | Op::Conj | Op::Real | Op::Positive => x,
        Op::Clip => {
            let raised = b.or(x, y);
            b.and(raised, args[2])
        }
        Op::Equal => {
            let differ = b.xor(x, y);
            b.not(differ)
        }
        Op::Less => less(b, x, y),
        Op::Greater => less(b, y, x),
        Op::LessEqual => {
            let greater = less(b, y, x);
            b.not(greater)
        }
        Op::GreaterEqual => {
            let less = less(b, x, y);
            b.not(less)
        }
        Op::IsNan | Op::IsInf | Op::Imag | Op::Signbit => b.bool(false),
        Op::IsFinite => b.bool(true),
        Op::Subtract
        | Op::Divide
        | Op::FloorDivide
        | Op::Remainder
        | Op::Fmod
        | Op::Negative
        | Op::Sign
        | Op::Square
        | Op::Sqrt
        | Op::Reciprocal
        | Op::MulAdd
        | Op::Round
        | Op::BitwiseLeftShift
        | Op::BitwiseRightShift
        | Op::Where
        | Op::Copysign
        | Op::Nextafter
        | Op::Rsqrt
        | Op::Cbrt
        | Op::Hypot
        | Op::Pow
        | Op::Gcd
        | Op::Lcm
        | Op::Popcount
        | Op::Clz
        | Op::Ctz
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
        | Op::Logaddexp => outside(op, "bool"),
    }
}

fn less(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let not_x = b.not(x);
    b.and(not_x, y)
}
