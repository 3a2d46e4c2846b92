//! The WGSL expression of each primitive.

use super::gap;
use ndjit_ir::body::Prim;
use ndjit_ir::{PrimType, Result};

/// The expression for `prim` on `args`, whose first has type `ty`; the result has type `to`.
pub fn expression(prim: Prim, ty: PrimType, to: PrimType, args: &[&str]) -> Result<String> {
    let supported = |t: PrimType| matches!(t, PrimType::Bool | PrimType::I32 | PrimType::F32);
    if !supported(ty) || !supported(to) {
        return Err(gap(&format!("{prim} on {ty} to {to}")));
    }
    let infix = |op: &str| format!("{} {op} {}", args[0], args[1]);
    let call = |name: &str| format!("{name}({})", args.join(", "));
    let signed = |op: &str| format!("bitcast<i32>({}) {op} bitcast<i32>({})", args[0], args[1]);
    Ok(match prim {
        Prim::Fadd | Prim::Iadd => infix("+"),
        Prim::Fsub | Prim::Isub => infix("-"),
        Prim::Fmul | Prim::Imul => infix("*"),
        Prim::Fdiv => infix("/"),
        Prim::Fneg => format!("bitcast<f32>(bitcast<u32>({}) ^ 0x80000000u)", args[0]),
        Prim::Fabs => format!("bitcast<f32>(bitcast<u32>({}) & 0x7fffffffu)", args[0]),
        Prim::Fmin => call("nd_fmin"),
        Prim::Fmax => call("nd_fmax"),
        Prim::Ffloor => call("floor"),
        Prim::Fceil => call("ceil"),
        Prim::Ftrunc => call("trunc"),
        Prim::Fround => call("round"),
        Prim::Feq => format!("!nd_isnan({0}) && !nd_isnan({1}) && {0} == {1}", args[0], args[1]),
        Prim::Fne => format!("nd_isnan({0}) || nd_isnan({1}) || {0} != {1}", args[0], args[1]),
        Prim::Flt => format!("!nd_isnan({0}) && !nd_isnan({1}) && {0} < {1}", args[0], args[1]),
        Prim::Fle => format!("!nd_isnan({0}) && !nd_isnan({1}) && {0} <= {1}", args[0], args[1]),
        Prim::Sdiv => call("nd_sdiv"),
        Prim::Udiv => call("nd_udiv"),
        Prim::Srem => call("nd_srem"),
        Prim::Urem => call("nd_urem"),
        Prim::Smin => format!("select({1}, {0}, {2})", args[0], args[1], signed("<")),
        Prim::Smax => format!("select({1}, {0}, {2})", args[0], args[1], signed(">")),
        Prim::Umin => call("min"),
        Prim::Umax => call("max"),
        Prim::Shl => call("nd_shl"),
        Prim::Ushr => call("nd_ushr"),
        Prim::Sshr => call("nd_sshr"),
        Prim::Ieq => infix("=="),
        Prim::Ine => infix("!="),
        Prim::Slt => signed("<"),
        Prim::Sle => signed("<="),
        Prim::Ult => infix("<"),
        Prim::Ule => infix("<="),
        Prim::And => infix("&"),
        Prim::Or => infix("|"),
        Prim::Xor if ty == PrimType::Bool => infix("!="),
        Prim::Xor => infix("^"),
        Prim::Not if ty == PrimType::Bool => format!("!{}", args[0]),
        Prim::Not => format!("~{}", args[0]),
        Prim::Select => format!("select({}, {}, {})", args[2], args[1], args[0]),
        Prim::Bitcast if to == PrimType::F32 => format!("bitcast<f32>({})", args[0]),
        Prim::Bitcast => format!("bitcast<u32>({})", args[0]),
        Prim::Mask => format!("select(0u, 1u, {})", args[0]),
        Prim::FromSint => format!("f32(bitcast<i32>({}))", args[0]),
        Prim::FromUint => format!("f32({})", args[0]),
        // Not IEEE on every adapter, or out of 32 bits: they come with the GPU itself.
        Prim::Fsqrt
        | Prim::Fma
        | Prim::Smulhi
        | Prim::Umulhi
        | Prim::Sext
        | Prim::Zext
        | Prim::Itrunc
        | Prim::Fpromote
        | Prim::Fdemote
        | Prim::ToSint
        | Prim::ToUint => return Err(gap(&format!("{prim}"))),
    })
}
