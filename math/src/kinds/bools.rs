//! Bodies of ops on bool, with `false < true`, sum as or, product as and.

use crate::emitter::ScalarEmitter::{self, Binary, Ternary, Unary};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::op::Op;

/// The body of `op` on `Bool` registers.
pub(crate) const fn op(op: Op) -> Option<ScalarEmitter> {
    Some(match op {
        Op::Add | Op::Maximum | Op::Fmax | Op::LogicalOr | Op::BitwiseOr => Binary(BodyBuilder::or),
        Op::Multiply | Op::Minimum | Op::Fmin | Op::LogicalAnd | Op::BitwiseAnd => Binary(BodyBuilder::and),
        Op::NotEqual | Op::LogicalXor | Op::BitwiseXor => Binary(BodyBuilder::xor),
        Op::LogicalNot | Op::BitwiseInvert => Unary(BodyBuilder::not),
        Op::Abs | Op::Floor | Op::Ceil | Op::Trunc | Op::Conj | Op::Real | Op::Positive | Op::NanToNum => {
            Unary(|_, x| x)
        }
        Op::Clip => Ternary(|b, x, low, high| {
            let raised = b.or(x, low);
            b.and(raised, high)
        }),
        Op::Equal => Binary(|b, x, y| {
            let differ = b.xor(x, y);
            b.not(differ)
        }),
        Op::Less => Binary(less),
        Op::Greater => Binary(|b, x, y| less(b, y, x)),
        Op::LessEqual => Binary(|b, x, y| {
            let greater = less(b, y, x);
            b.not(greater)
        }),
        Op::GreaterEqual => Binary(|b, x, y| {
            let less = less(b, x, y);
            b.not(less)
        }),
        Op::IsNan | Op::IsInf | Op::Imag | Op::Signbit => Unary(|b, _| b.bool(false)),
        Op::IsFinite => Unary(|b, _| b.bool(true)),
        _ => return None,
    })
}

fn less(b: &mut BodyBuilder, x: Reg, y: Reg) -> Reg {
    let not_x = b.not(x);
    b.and(not_x, y)
}
