//! The WGSL expression of each primitive.
//!
//! Integers of 8 and 16 bits are in the low bits of a `u32` whose other bits are zero; each result is masked.

use super::Features;
use ndjit_ir::body::Prim;
use ndjit_ir::{Error, ErrorCode, PrimType, Result};

/// Returns the WGSL type of a register of a supported [type](Features::held).
pub fn register(ty: PrimType) -> &'static str {
    match ty {
        PrimType::Bool => "bool",
        PrimType::I8 | PrimType::I16 | PrimType::I32 => "u32",
        PrimType::I64 => "nd_u64",
        PrimType::F32 => "f32",
        PrimType::F64 => "f64",
    }
}

/// Returns a constant. Floats are written as their bits: decimal text leaves rounding, infinities and NaN to the
/// implementation. A zero is hidden from the compiler: Mesa 22 folds products with it, despite the module's NaN
/// settings.
pub fn constant(ty: PrimType, bits: u64) -> String {
    match ty {
        PrimType::Bool => format!("{}", bits & 1 == 1),
        PrimType::I8 | PrimType::I16 | PrimType::I32 => format!("{bits}u"),
        PrimType::I64 => wide(bits),
        PrimType::F32 if bits == 0 => "bitcast<f32>(params[0].x)".to_owned(),
        PrimType::F32 if bits == 1 << 31 => "bitcast<f32>(params[0].x | 0x80000000u)".to_owned(),
        PrimType::F32 => format!("bitcast<f32>({bits:#x}u)"),
        PrimType::F64 if bits << 1 == 0 => {
            format!("bitcast<f64>(nd64_make(params[0].x, params[0].x | {:#x}u))", bits >> 32)
        }
        PrimType::F64 => format!("bitcast<f64>({})", wide(bits)),
    }
}

fn wide(bits: u64) -> String {
    format!("nd64_make({:#x}u, {:#x}u)", bits as u32, bits >> 32)
}

/// Returns the expression for `prim` on `args`; `from` is the type of the last, `to` that of the result.
///
/// # Errors
/// `Backend` for a primitive that earlier passes remove.
pub fn expression(prim: Prim, from: PrimType, to: PrimType, args: &[&str], features: &Features) -> Result<String> {
    let call = |name: &str| format!("{name}({})", args.join(", "));
    Ok(match from {
        _ if prim == Prim::Select => format!("select({}, {}, {})", args[2], args[1], args[0]),
        PrimType::F32 => single(prim, to, args, features)?,
        PrimType::F64 if !features.float64 => double_bits(prim, to, args)?,
        PrimType::F64 => double(prim, to, args, features)?,
        PrimType::Bool => match prim {
            Prim::And => format!("{} & {}", args[0], args[1]),
            Prim::Or => format!("{} | {}", args[0], args[1]),
            Prim::Xor => format!("{} != {}", args[0], args[1]),
            Prim::Not => format!("!{}", args[0]),
            Prim::Mask if to == PrimType::I64 => format!("nd64_make(select(0u, 1u, {}), 0u)", args[0]),
            Prim::Mask => format!("select(0u, 1u, {})", args[0]),
            Prim::Fadd
            | Prim::Fsub
            | Prim::Fmul
            | Prim::Fdiv
            | Prim::Fsqrt
            | Prim::Fma
            | Prim::Fneg
            | Prim::Fabs
            | Prim::Fmin
            | Prim::Fmax
            | Prim::Ffloor
            | Prim::Fceil
            | Prim::Ftrunc
            | Prim::Fround
            | Prim::Feq
            | Prim::Fne
            | Prim::Flt
            | Prim::Fle
            | Prim::Iadd
            | Prim::Isub
            | Prim::Imul
            | Prim::Smulhi
            | Prim::Umulhi
            | Prim::Sdiv
            | Prim::Udiv
            | Prim::Srem
            | Prim::Urem
            | Prim::Smin
            | Prim::Smax
            | Prim::Umin
            | Prim::Umax
            | Prim::Shl
            | Prim::Ushr
            | Prim::Sshr
            | Prim::Ieq
            | Prim::Ine
            | Prim::Slt
            | Prim::Sle
            | Prim::Ult
            | Prim::Ule
            | Prim::Select
            | Prim::Bitcast
            | Prim::Sext
            | Prim::Zext
            | Prim::Itrunc
            | Prim::Fpromote
            | Prim::Fdemote
            | Prim::FromSint
            | Prim::FromUint
            | Prim::ToSint
            | Prim::ToUint => return Err(unsupported(prim, from, to)),
        },
        PrimType::I64 => match (prim, to) {
            (Prim::Bitcast, _) if !features.float64 => args[0].to_owned(),
            (Prim::Bitcast, _) => format!("bitcast<f64>({})", args[0]),
            (Prim::Itrunc, PrimType::I8) => format!("nd64_low({}) & 0xffu", args[0]),
            (Prim::Itrunc, PrimType::I16) => format!("nd64_low({}) & 0xffffu", args[0]),
            (Prim::Itrunc, _) => call("nd64_low"),
            (Prim::FromSint, PrimType::F32) => call("nd64_sint_to_f32"),
            (Prim::FromUint, PrimType::F32) => call("nd64_uint_to_f32"),
            (Prim::FromSint, _) if !features.float64 => call("nd64_sint_to_double"),
            (Prim::FromUint, _) if !features.float64 => call("nd64_uint_to_double"),
            (Prim::FromSint, _) => call("nd64_sint_to_f64"),
            (Prim::FromUint, _) => call("nd64_uint_to_f64"),
            (Prim::Smulhi | Prim::Umulhi, _) => return Err(unsupported(prim, from, to)),
            _ => format!("nd64_{prim}({})", args.join(", ")),
        },
        PrimType::I8 | PrimType::I16 | PrimType::I32 => word(prim, from, to, args, features)?,
    })
}

fn unsupported(prim: Prim, from: PrimType, to: PrimType) -> Error {
    Error::new(ErrorCode::Backend, format!("wgsl: there is no {prim} from {from} to {to}"))
        .help("nests are legalized for the module's target first")
}

/// Returns the expression of a primitive on integers of a word.
fn word(prim: Prim, from: PrimType, to: PrimType, args: &[&str], features: &Features) -> Result<String> {
    let narrow = from != PrimType::I32;
    let mask = from.mask() as u32;
    let infix = |op: &str| format!("{} {op} {}", args[0], args[1]);
    let call = |name: &str, args: &[String]| format!("{name}({})", args.join(", "));
    let plain: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    // Sign-extends an operand.
    let signed = |arg: &str| if narrow { format!("nd_sext({arg}, {}u)", 32 - from.bits()) } else { arg.to_owned() };
    let both: Vec<String> = args.iter().map(|arg| signed(arg)).collect();
    let compare = |op: &str| format!("bitcast<i32>({}) {op} bitcast<i32>({})", both[0], both[1]);
    let cut = |value: String| if narrow { format!("({value}) & {mask:#x}u") } else { value };
    Ok(match prim {
        Prim::Iadd => cut(infix("+")),
        Prim::Isub => cut(infix("-")),
        Prim::Imul => cut(infix("*")),
        Prim::Sdiv => cut(call("nd_sdiv", &both)),
        Prim::Srem => cut(call("nd_srem", &both)),
        Prim::Udiv => call("nd_udiv", &plain),
        Prim::Urem => call("nd_urem", &plain),
        Prim::Smin => format!("select({1}, {0}, {2})", args[0], args[1], compare("<")),
        Prim::Smax => format!("select({1}, {0}, {2})", args[0], args[1], compare(">")),
        Prim::Umin => call("min", &plain),
        Prim::Umax => call("max", &plain),
        Prim::Shl => cut(call("nd_shl", &plain)),
        Prim::Ushr => call("nd_ushr", &plain),
        Prim::Sshr => cut(format!("nd_sshr({}, {})", both[0], args[1])),
        Prim::Ieq => infix("=="),
        Prim::Ine => infix("!="),
        Prim::Slt => compare("<"),
        Prim::Sle => compare("<="),
        Prim::Ult => infix("<"),
        Prim::Ule => infix("<="),
        Prim::And => infix("&"),
        Prim::Or => infix("|"),
        Prim::Xor => infix("^"),
        Prim::Not => cut(format!("~{}", args[0])),
        Prim::Bitcast => format!("bitcast<f32>({})", args[0]),
        Prim::Sext if to == PrimType::I64 => format!("nd64_sext({})", both[0]),
        Prim::Sext if to == PrimType::I32 => both[0].clone(),
        Prim::Sext => format!("{} & {:#x}u", both[0], to.mask()),
        Prim::Zext if to == PrimType::I64 => format!("nd64_make({}, 0u)", args[0]),
        Prim::Zext => args[0].to_owned(),
        Prim::Itrunc => format!("{} & {:#x}u", args[0], to.mask()),
        Prim::FromSint if to == PrimType::F64 && !features.float64 => {
            format!("nd64_sint_to_double(nd64_sext({}))", args[0])
        }
        Prim::FromUint if to == PrimType::F64 && !features.float64 => {
            format!("nd64_uint_to_double(nd64_make({}, 0u))", args[0])
        }
        Prim::FromSint if to == PrimType::F64 => format!("f64(bitcast<i32>({}))", args[0]),
        Prim::FromUint if to == PrimType::F64 => format!("f64({})", args[0]),
        Prim::FromSint => call("nd_sint_to_f32", &plain),
        Prim::FromUint => call("nd_uint_to_f32", &plain),
        Prim::Fadd
        | Prim::Fsub
        | Prim::Fmul
        | Prim::Fdiv
        | Prim::Fsqrt
        | Prim::Fma
        | Prim::Fneg
        | Prim::Fabs
        | Prim::Fmin
        | Prim::Fmax
        | Prim::Ffloor
        | Prim::Fceil
        | Prim::Ftrunc
        | Prim::Fround
        | Prim::Feq
        | Prim::Fne
        | Prim::Flt
        | Prim::Fle
        | Prim::Smulhi
        | Prim::Umulhi
        | Prim::Select
        | Prim::Mask
        | Prim::Fpromote
        | Prim::Fdemote
        | Prim::ToSint
        | Prim::ToUint => return Err(unsupported(prim, from, to)),
    })
}

/// Returns the expression of a primitive on `f32`.
fn single(prim: Prim, to: PrimType, args: &[&str], features: &Features) -> Result<String> {
    let call = |name: &str| format!("{name}({})", args.join(", "));
    let hide = |value: String| if features.as_written { value } else { format!("nd_hide({value})") };
    let infix = |op: &str| hide(format!("{} {op} {}", args[0], args[1]));
    // With `f64`, subnormal numbers take a shorter way.
    let guarded = |name: &str| call(&format!("{name}{}", if features.float64 { "_by_f64" } else { "" }));
    // Comparisons handle NaN and subnormal numbers.
    let compares = features.as_written && features.subnormals;
    let compared = |op: &str, name: &str| {
        if compares { format!("{} {op} {}", args[0], args[1]) } else { call(name) }
    };
    Ok(match prim {
        Prim::Fadd if !features.subnormals => guarded("nd_fadd"),
        Prim::Fsub if !features.subnormals => guarded("nd_fsub"),
        Prim::Fmul if !features.subnormals => guarded("nd_fmul"),
        Prim::Fadd => infix("+"),
        Prim::Fsub => infix("-"),
        Prim::Fmul => infix("*"),
        Prim::Fdiv if features.division && features.subnormals => infix("/"),
        Prim::Fdiv => call("nd_fdiv"),
        Prim::Fsqrt if features.sqrt && features.subnormals => hide(call("sqrt")),
        Prim::Fsqrt => call("nd_fsqrt"),
        Prim::Fma if features.fma && features.subnormals => hide(call("fma")),
        Prim::Fma if features.fma => guarded("nd_fused"),
        Prim::Fma => guarded("nd_fma"),
        Prim::Fneg if !features.subnormals => call("nd_fneg"),
        Prim::Fneg => format!("bitcast<f32>(bitcast<u32>({}) ^ 0x80000000u)", args[0]),
        Prim::Fabs => format!("bitcast<f32>(bitcast<u32>({}) & 0x7fffffffu)", args[0]),
        Prim::Fmin => call("nd_fmin"),
        Prim::Fmax => call("nd_fmax"),
        Prim::Ffloor if !features.subnormals => call("nd_ffloor"),
        Prim::Fceil if !features.subnormals => call("nd_fceil"),
        Prim::Ffloor => hide(call("floor")),
        Prim::Fceil => hide(call("ceil")),
        Prim::Ftrunc => hide(call("trunc")),
        Prim::Fround => hide(call("round")),
        Prim::Feq => compared("==", "nd_feq"),
        // naga writes `!=` as the comparison that is false for NaN.
        Prim::Fne if compares => format!("!({} == {})", args[0], args[1]),
        Prim::Fne => format!("!nd_feq({})", args.join(", ")),
        Prim::Flt => compared("<", "nd_flt"),
        Prim::Fle => compared("<=", "nd_fle"),
        Prim::Bitcast => format!("bitcast<u32>({})", args[0]),
        Prim::Fpromote if !features.float64 => call("nd64_fpromote"),
        Prim::Fpromote if !features.subnormals => call("nd_promote"),
        Prim::Fpromote => format!("f64({})", args[0]),
        Prim::ToSint if to == PrimType::I64 => call("nd64_f32_to_sint"),
        Prim::ToUint if to == PrimType::I64 => call("nd64_f32_to_uint"),
        Prim::ToSint => call("nd_f32_to_sint"),
        Prim::ToUint => call("nd_f32_to_uint"),
        Prim::Iadd
        | Prim::Isub
        | Prim::Imul
        | Prim::Smulhi
        | Prim::Umulhi
        | Prim::Sdiv
        | Prim::Udiv
        | Prim::Srem
        | Prim::Urem
        | Prim::Smin
        | Prim::Smax
        | Prim::Umin
        | Prim::Umax
        | Prim::Shl
        | Prim::Ushr
        | Prim::Sshr
        | Prim::Ieq
        | Prim::Ine
        | Prim::Slt
        | Prim::Sle
        | Prim::Ult
        | Prim::Ule
        | Prim::And
        | Prim::Or
        | Prim::Xor
        | Prim::Not
        | Prim::Select
        | Prim::Sext
        | Prim::Zext
        | Prim::Itrunc
        | Prim::Mask
        | Prim::Fdemote
        | Prim::FromSint
        | Prim::FromUint => return Err(unsupported(prim, PrimType::F32, to)),
    })
}

/// Returns the expression of a primitive on `f64`, on devices with conforming `f64`.
fn double(prim: Prim, to: PrimType, args: &[&str], features: &Features) -> Result<String> {
    let call = |name: &str| format!("{name}({})", args.join(", "));
    let hide = |value: String| if features.as_written { value } else { format!("nd_hide64({value})") };
    let infix = |op: &str| hide(format!("{} {op} {}", args[0], args[1]));
    let compared = |op: &str, name: &str| {
        if features.as_written { format!("{} {op} {}", args[0], args[1]) } else { call(name) }
    };
    Ok(match prim {
        Prim::Fadd => infix("+"),
        Prim::Fsub => infix("-"),
        Prim::Fmul => infix("*"),
        Prim::Fdiv => infix("/"),
        Prim::Fsqrt => hide(call("sqrt")),
        Prim::Fma if features.fma => hide(call("fma")),
        Prim::Fma => call("nd_fma64"),
        Prim::Fneg => format!("bitcast<f64>(bitcast<u64>({}) ^ 0x8000000000000000lu)", args[0]),
        Prim::Fabs => format!("bitcast<f64>(bitcast<u64>({}) & 0x7ffffffffffffffflu)", args[0]),
        Prim::Fmin => call("nd_fmin64"),
        Prim::Fmax => call("nd_fmax64"),
        Prim::Ffloor => call("nd_ffloor64"),
        Prim::Fceil => call("nd_fceil64"),
        Prim::Ftrunc => call("nd_ftrunc64"),
        Prim::Fround => call("nd_fround64"),
        Prim::Feq => compared("==", "nd_feq64"),
        Prim::Fne if features.as_written => format!("!({} == {})", args[0], args[1]),
        Prim::Fne => format!("!nd_feq64({})", args.join(", ")),
        Prim::Flt => compared("<", "nd_flt64"),
        Prim::Fle => compared("<=", "nd_fle64"),
        Prim::Bitcast => format!("bitcast<u64>({})", args[0]),
        // The cast is hidden: Mesa 25 deletes a pair of casts.
        Prim::Fdemote => format!("nd_hide(f32({}))", args[0]),
        Prim::ToSint if to == PrimType::I64 => call("nd64_f64_to_sint"),
        Prim::ToUint if to == PrimType::I64 => call("nd64_f64_to_uint"),
        Prim::ToSint => call("nd_f64_to_sint"),
        Prim::ToUint => call("nd_f64_to_uint"),
        Prim::Iadd
        | Prim::Isub
        | Prim::Imul
        | Prim::Smulhi
        | Prim::Umulhi
        | Prim::Sdiv
        | Prim::Udiv
        | Prim::Srem
        | Prim::Urem
        | Prim::Smin
        | Prim::Smax
        | Prim::Umin
        | Prim::Umax
        | Prim::Shl
        | Prim::Ushr
        | Prim::Sshr
        | Prim::Ieq
        | Prim::Ine
        | Prim::Slt
        | Prim::Sle
        | Prim::Ult
        | Prim::Ule
        | Prim::And
        | Prim::Or
        | Prim::Xor
        | Prim::Not
        | Prim::Select
        | Prim::Sext
        | Prim::Zext
        | Prim::Itrunc
        | Prim::Mask
        | Prim::Fpromote
        | Prim::FromSint
        | Prim::FromUint => return Err(unsupported(prim, PrimType::F64, to)),
    })
}

/// Returns the expression of a primitive on the bits of an `f64`, on devices without it. There is no
/// [arithmetic](crate::target::Target::wgsl).
fn double_bits(prim: Prim, to: PrimType, args: &[&str]) -> Result<String> {
    let call = |name: &str| format!("{name}({})", args.join(", "));
    Ok(match prim {
        Prim::Fneg | Prim::Fabs | Prim::Fmin | Prim::Fmax | Prim::Feq | Prim::Fne | Prim::Flt | Prim::Fle => {
            call(&format!("nd64_{prim}"))
        }
        Prim::Bitcast => args[0].to_owned(),
        Prim::Fdemote => call("nd64_fdemote"),
        Prim::ToSint if to == PrimType::I64 => call("nd64_double_to_sint"),
        Prim::ToUint if to == PrimType::I64 => call("nd64_double_to_uint"),
        Prim::ToSint => call("nd_double_to_sint"),
        Prim::ToUint => call("nd_double_to_uint"),
        Prim::Fadd
        | Prim::Fsub
        | Prim::Fmul
        | Prim::Fdiv
        | Prim::Fsqrt
        | Prim::Fma
        | Prim::Ffloor
        | Prim::Fceil
        | Prim::Ftrunc
        | Prim::Fround
        | Prim::Iadd
        | Prim::Isub
        | Prim::Imul
        | Prim::Smulhi
        | Prim::Umulhi
        | Prim::Sdiv
        | Prim::Udiv
        | Prim::Srem
        | Prim::Urem
        | Prim::Smin
        | Prim::Smax
        | Prim::Umin
        | Prim::Umax
        | Prim::Shl
        | Prim::Ushr
        | Prim::Sshr
        | Prim::Ieq
        | Prim::Ine
        | Prim::Slt
        | Prim::Sle
        | Prim::Ult
        | Prim::Ule
        | Prim::And
        | Prim::Or
        | Prim::Xor
        | Prim::Not
        | Prim::Select
        | Prim::Sext
        | Prim::Zext
        | Prim::Itrunc
        | Prim::Mask
        | Prim::Fpromote
        | Prim::FromSint
        | Prim::FromUint => return Err(unsupported(prim, PrimType::F64, to)),
    })
}
