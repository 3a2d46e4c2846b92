//! Primitives on one lane.
//!
//! Division traps in Cranelift, and shift counts wrap: only this file guards both.

use super::lanes::scalar_type;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use ndjit_ir::PrimType;
use ndjit_ir::body::Prim;

/// The float comparison of a primitive.
pub(super) fn float_condition(prim: Prim) -> Option<FloatCC> {
    const CONDITIONS: [(Prim, FloatCC); 4] = [
        (Prim::Feq, FloatCC::Equal),
        (Prim::Fne, FloatCC::NotEqual),
        (Prim::Flt, FloatCC::LessThan),
        (Prim::Fle, FloatCC::LessThanOrEqual),
    ];
    CONDITIONS.iter().find(|(p, _)| *p == prim).map(|(_, condition)| *condition)
}

/// The integer comparison of a primitive.
pub(super) fn int_condition(prim: Prim) -> Option<IntCC> {
    const CONDITIONS: [(Prim, IntCC); 6] = [
        (Prim::Ieq, IntCC::Equal),
        (Prim::Ine, IntCC::NotEqual),
        (Prim::Slt, IntCC::SignedLessThan),
        (Prim::Sle, IntCC::SignedLessThanOrEqual),
        (Prim::Ult, IntCC::UnsignedLessThan),
        (Prim::Ule, IntCC::UnsignedLessThanOrEqual),
    ];
    CONDITIONS.iter().find(|(p, _)| *p == prim).map(|(_, condition)| *condition)
}

/// Emits `prim` on scalars. `from` is the type of the operands (for a select: of the chosen values), `to` of the result;
/// `constant` are the bits of the last operand if known.
pub(super) fn emit(
    b: &mut FunctionBuilder<'_>,
    prim: Prim,
    from: PrimType,
    to: PrimType,
    args: &[Value],
    constant: Option<u64>,
) -> Value {
    let x = args[0];
    let y = args.get(1).copied().unwrap_or(x);
    let target = scalar_type(to);
    match prim {
        Prim::Fadd => b.ins().fadd(x, y),
        Prim::Fsub => b.ins().fsub(x, y),
        Prim::Fmul => b.ins().fmul(x, y),
        Prim::Fdiv => b.ins().fdiv(x, y),
        Prim::Fsqrt => b.ins().sqrt(x),
        Prim::Fma => b.ins().fma(x, y, args[2]),
        Prim::Fneg => b.ins().fneg(x),
        Prim::Fabs => b.ins().fabs(x),
        Prim::Fmin => b.ins().fmin(x, y),
        Prim::Fmax => b.ins().fmax(x, y),
        Prim::Ffloor => b.ins().floor(x),
        Prim::Fceil => b.ins().ceil(x),
        Prim::Ftrunc => b.ins().trunc(x),
        Prim::Fround => b.ins().nearest(x),
        Prim::Feq | Prim::Fne | Prim::Flt | Prim::Fle => {
            let condition = float_condition(prim).unwrap_or(FloatCC::Equal);
            b.ins().fcmp(condition, x, y)
        }
        Prim::Iadd => b.ins().iadd(x, y),
        Prim::Isub => b.ins().isub(x, y),
        Prim::Imul => b.ins().imul(x, y),
        Prim::Smulhi | Prim::Umulhi => high_product(b, prim, from, x, y),
        Prim::Sdiv | Prim::Udiv | Prim::Srem | Prim::Urem => divide(b, prim, x, y),
        Prim::Smin => b.ins().smin(x, y),
        Prim::Smax => b.ins().smax(x, y),
        Prim::Umin => b.ins().umin(x, y),
        Prim::Umax => b.ins().umax(x, y),
        Prim::Shl | Prim::Ushr | Prim::Sshr => shift(b, prim, from, x, y, constant),
        Prim::Ieq | Prim::Ine | Prim::Slt | Prim::Sle | Prim::Ult | Prim::Ule => {
            let condition = int_condition(prim).unwrap_or(IntCC::Equal);
            b.ins().icmp(condition, x, y)
        }
        Prim::And => b.ins().band(x, y),
        Prim::Or => b.ins().bor(x, y),
        Prim::Xor => b.ins().bxor(x, y),
        Prim::Not if from == PrimType::Bool => b.ins().bxor_imm_u(x, 1),
        Prim::Not => b.ins().bnot(x),
        Prim::Select => b.ins().select(x, y, args[2]),
        Prim::Bitcast => b.ins().bitcast(target, MemFlagsData::new(), x),
        Prim::Sext => b.ins().sextend(target, x),
        Prim::Zext => b.ins().uextend(target, x),
        Prim::Itrunc => b.ins().ireduce(target, x),
        Prim::Mask if to == PrimType::I8 => x,
        Prim::Mask => b.ins().uextend(target, x),
        Prim::Fpromote => b.ins().fpromote(target, x),
        Prim::Fdemote => b.ins().fdemote(target, x),
        Prim::FromSint => b.ins().fcvt_from_sint(target, x),
        Prim::FromUint => b.ins().fcvt_from_uint(target, x),
        Prim::ToSint => b.ins().fcvt_to_sint_sat(target, x),
        Prim::ToUint => b.ins().fcvt_to_uint_sat(target, x),
    }
}

fn high_product(b: &mut FunctionBuilder<'_>, prim: Prim, ty: PrimType, x: Value, y: Value) -> Value {
    let signed = prim == Prim::Smulhi;
    if ty == PrimType::I64 {
        return if signed { b.ins().smulhi(x, y) } else { b.ins().umulhi(x, y) };
    }
    let extend = |b: &mut FunctionBuilder<'_>, v| {
        if signed { b.ins().sextend(types::I64, v) } else { b.ins().uextend(types::I64, v) }
    };
    let (x, y) = (extend(b, x), extend(b, y));
    let product = b.ins().imul(x, y);
    let high = b.ins().ushr_imm_u(product, i64::from(ty.bits()));
    b.ins().ireduce(scalar_type(ty), high)
}

/// Division with a divisor of 1 where it would trap.
fn divide(b: &mut FunctionBuilder<'_>, prim: Prim, x: Value, y: Value) -> Value {
    let ty = b.func.dfg.value_type(x);
    let one = b.ins().iconst(ty, 1);
    let zero = b.ins().iconst(ty, 0);
    let by_zero = b.ins().icmp_imm_s(IntCC::Equal, y, 0);
    if matches!(prim, Prim::Udiv | Prim::Urem) {
        let divisor = b.ins().select(by_zero, one, y);
        if prim == Prim::Urem {
            // x rem 1 = 0 is the defined result of x rem 0.
            return b.ins().urem(x, divisor);
        }
        let quotient = b.ins().udiv(x, divisor);
        return b.ins().select(by_zero, zero, quotient);
    }
    let minus_one = b.ins().icmp_imm_s(IntCC::Equal, y, -1);
    let traps = b.ins().bor(by_zero, minus_one);
    let divisor = b.ins().select(traps, one, y);
    if prim == Prim::Srem {
        return b.ins().srem(x, divisor);
    }
    let quotient = b.ins().sdiv(x, divisor);
    let negated = b.ins().ineg(x);
    let quotient = b.ins().select(minus_one, negated, quotient);
    b.ins().select(by_zero, zero, quotient)
}

fn shift(b: &mut FunctionBuilder<'_>, prim: Prim, ty: PrimType, x: Value, y: Value, constant: Option<u64>) -> Value {
    let width = i64::from(ty.bits());
    let scalar = scalar_type(ty);
    if prim == Prim::Sshr {
        let last = b.ins().iconst(scalar, width - 1);
        let count = if constant.is_some_and(|c| c < width as u64) { y } else { b.ins().umin(y, last) };
        return b.ins().sshr(x, count);
    }
    let shifted = if prim == Prim::Shl { b.ins().ishl(x, y) } else { b.ins().ushr(x, y) };
    if constant.is_some_and(|c| c < width as u64) {
        return shifted;
    }
    let inside = b.ins().icmp_imm_u(IntCC::UnsignedLessThan, y, width);
    let zero = b.ins().iconst(scalar, 0);
    b.ins().select(inside, shifted, zero)
}
