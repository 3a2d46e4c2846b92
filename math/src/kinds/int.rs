//! Bodies of ops on integers. Everything wraps; nothing traps.

use crate::emitter::ScalarEmitter::{self, Binary, Ternary, Unary};
use crate::integer::{bit_count, int_power, saturating};
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::op::Op;

/// The body of `op` on signed or unsigned integers, for ops whose primitives differ.
pub(crate) const fn op(op: Op, signed: bool) -> Option<ScalarEmitter> {
    Some(match op {
        Op::FloorDivide if signed => Binary(floor_divide),
        Op::Remainder if signed => Binary(remainder),
        Op::Fmod if signed => Binary(BodyBuilder::srem),
        Op::FloorDivide => Binary(BodyBuilder::udiv),
        Op::Remainder | Op::Fmod => Binary(BodyBuilder::urem),
        Op::Abs if signed => Unary(|b, x| {
            let negated = negative(b, x);
            b.smax(x, negated)
        }),
        Op::Sign if signed => Unary(sign),
        Op::Sign => Unary(|b, x| {
            let one = b.int(b.ty(x), 1);
            b.umin(x, one)
        }),
        Op::Minimum | Op::Fmin if signed => Binary(BodyBuilder::smin),
        Op::Maximum | Op::Fmax if signed => Binary(BodyBuilder::smax),
        Op::Minimum | Op::Fmin => Binary(BodyBuilder::umin),
        Op::Maximum | Op::Fmax => Binary(BodyBuilder::umax),
        Op::Clip if signed => Ternary(|b, x, low, high| {
            let raised = b.smax(x, low);
            b.smin(raised, high)
        }),
        Op::Clip => Ternary(|b, x, low, high| {
            let raised = b.umax(x, low);
            b.umin(raised, high)
        }),
        Op::Relu if signed => Unary(|b, x| {
            let zero = b.int(b.ty(x), 0);
            b.smax(x, zero)
        }),
        Op::Relu => Unary(|_, x| x),
        Op::Less if signed => Binary(BodyBuilder::slt),
        Op::LessEqual if signed => Binary(BodyBuilder::sle),
        Op::Greater if signed => Binary(|b, x, y| b.slt(y, x)),
        Op::GreaterEqual if signed => Binary(|b, x, y| b.sle(y, x)),
        Op::Less => Binary(BodyBuilder::ult),
        Op::LessEqual => Binary(BodyBuilder::ule),
        Op::Greater => Binary(|b, x, y| b.ult(y, x)),
        Op::GreaterEqual => Binary(|b, x, y| b.ule(y, x)),
        Op::BitwiseRightShift if signed => Binary(BodyBuilder::sshr),
        Op::BitwiseRightShift => Binary(BodyBuilder::ushr),
        Op::SaturatingAdd if signed => Binary(saturating::add_signed),
        Op::SaturatingSubtract if signed => Binary(saturating::subtract_signed),
        Op::SaturatingAdd => Binary(saturating::add_unsigned),
        Op::SaturatingSubtract => Binary(|b, x, y| {
            let subtracted = b.umin(x, y);
            b.isub(x, subtracted)
        }),
        Op::Signbit if signed => Unary(|b, x| {
            let zero = b.int(b.ty(x), 0);
            b.slt(x, zero)
        }),
        Op::Pow if signed => Binary(|b, x, y| int_power::pow(b, x, y, true)),
        Op::Gcd if signed => Binary(|b, x, y| int_power::gcd(b, x, y, true)),
        Op::Lcm if signed => Binary(|b, x, y| int_power::lcm(b, x, y, true)),
        Op::Pow => Binary(|b, x, y| int_power::pow(b, x, y, false)),
        Op::Gcd => Binary(|b, x, y| int_power::gcd(b, x, y, false)),
        Op::Lcm => Binary(|b, x, y| int_power::lcm(b, x, y, false)),
        _ => return either(op),
    })
}

/// The body of an `op` with the same bits for signed and unsigned integers.
const fn either(op: Op) -> Option<ScalarEmitter> {
    Some(match op {
        Op::Add => Binary(BodyBuilder::iadd),
        Op::Subtract => Binary(BodyBuilder::isub),
        Op::Multiply => Binary(BodyBuilder::imul),
        Op::Square => Unary(|b, x| b.imul(x, x)),
        Op::MulAdd => Ternary(|b, x, y, z| {
            let product = b.imul(x, y);
            b.iadd(product, z)
        }),
        Op::Negative => Unary(negative),
        Op::Abs | Op::Floor | Op::Ceil | Op::Trunc | Op::Round | Op::Conj | Op::Real | Op::Positive | Op::NanToNum => {
            Unary(|_, x| x)
        }
        Op::Imag => Unary(|b, x| b.int(b.ty(x), 0)),
        Op::Equal => Binary(BodyBuilder::ieq),
        Op::NotEqual => Binary(BodyBuilder::ine),
        Op::BitwiseAnd => Binary(BodyBuilder::and),
        Op::BitwiseOr => Binary(BodyBuilder::or),
        Op::BitwiseXor => Binary(BodyBuilder::xor),
        Op::BitwiseInvert => Unary(BodyBuilder::not),
        // A negative count is a huge unsigned one, which the primitives define as intended.
        Op::BitwiseLeftShift => Binary(BodyBuilder::shl),
        Op::IsNan | Op::IsInf | Op::Signbit => Unary(|b, _| b.bool(false)),
        Op::IsFinite => Unary(|b, _| b.bool(true)),
        Op::RotateLeft => Binary(|b, x, n| bit_count::rotate(b, x, n, true)),
        Op::RotateRight => Binary(|b, x, n| bit_count::rotate(b, x, n, false)),
        Op::Popcount => Unary(bit_count::ones),
        Op::Clz => Unary(bit_count::leading_zeros),
        Op::Ctz => Unary(bit_count::trailing_zeros),
        _ => return None,
    })
}

fn negative(b: &mut BodyBuilder, x: Reg) -> Reg {
    let zero = b.int(b.ty(x), 0);
    b.isub(zero, x)
}

fn sign(b: &mut BodyBuilder, x: Reg) -> Reg {
    let ty = b.ty(x);
    let (one, minus_one) = (b.int(ty, 1), b.int(ty, -1));
    let low = b.smax(x, minus_one);
    b.smin(low, one)
}

/// A mask that the truncated quotient is one too large: the remainder `r` is not 0 and its sign differs from that of `y`.
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
