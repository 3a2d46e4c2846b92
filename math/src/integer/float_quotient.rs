//! Division of integers of at most 32 bits by division of floats, which vectors have.
//!
//! The quotient of two integers of `n` bits is an integer, or differs from each by more than `2^-n` of it: rounded to more than `2n` bits
//! of `f64`, or 24 of `f32` for 16 bits, it has the same floor. All numbers below are exact.

use ndjit_ir::PrimType;
use ndjit_ir::body::{BodyBuilder, Reg};
use ndjit_ir::op::Op;

/// The result of `op`, a division; `None` for operands of 64 bits.
pub(crate) fn by_floats(b: &mut BodyBuilder, op: Op, signed: bool, (x, y): (Reg, Reg)) -> Option<Reg> {
    let ty = b.ty(x);
    // A number of the low bits of this one is its sum's low bits: a cast would have to saturate.
    let (float, base) = match ty {
        PrimType::I8 | PrimType::I16 => (PrimType::F32, 1.5 * 2f64.powi(23)),
        PrimType::I32 => (PrimType::F64, 1.5 * 2f64.powi(52)),
        PrimType::Bool | PrimType::I64 | PrimType::F32 | PrimType::F64 => return None,
    };
    let number = |b: &mut BodyBuilder, x: Reg| {
        let wide = if signed { b.sext(x, PrimType::I32) } else { b.zext(x, PrimType::I32) };
        // Extended ones are not negative.
        if signed || ty != PrimType::I32 { b.fromsint(wide, float) } else { b.fromuint(wide, float) }
    };
    let (dividend, divisor) = (number(b, x), number(b, y));
    let quotient = b.fdiv(dividend, divisor);
    let quotient = if op == Op::Fmod { b.ftrunc(quotient) } else { b.ffloor(quotient) };
    let result = match op {
        Op::FloorDivide => quotient,
        Op::Remainder | Op::Fmod => {
            let product = b.fmul(quotient, divisor);
            b.fsub(dividend, product)
        }
        _ => return None,
    };
    let zero = b.float(float, 0.0);
    let by_zero = b.feq(divisor, zero);
    let result = b.select(by_zero, zero, result);
    let base = b.float(float, base);
    let sum = b.fadd(result, base);
    let low = b.bitcast(sum, float.as_int());
    Some(b.itrunc(low, ty))
}
