//! Printing bodies, one instruction per line:
//!
//! ```text
//! body(r0: f32, r1: f32) {
//!   r2 = const.f32 1.5
//!   r3 = fmul.f32 r0, r2
//!   r4 = flt.f32 r3, r1
//!   r5 = select.f32 r4, r0, r1
//!   return r5
//! }
//! ```
//!
//! A primitive's suffix is its operands' type (for a select the selected type), for a conversion `from.to`. Floats parse to the
//! same bits: the shortest decimal, `inf`, or `nan:` and the bits in hexadecimal.

use super::{Body, Inst, InstKind, LookupTable, Prim, PrimSignature};
use crate::dtype::PrimType;
use std::fmt;

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("body")?;
        write_block(f, self, 0)
    }
}

/// Parameters, instructions, `return` and the closing brace, without a line end.
fn write_block(f: &mut dyn fmt::Write, body: &Body, indent: usize) -> fmt::Result {
    f.write_char('(')?;
    for (i, ty) in body.input_types().iter().enumerate() {
        write!(f, "{}r{i}: {ty}", if i > 0 { ", " } else { "" })?;
    }
    f.write_str(") {\n")?;
    body.insts.iter().try_for_each(|inst| write_inst(f, body, inst, indent + 1))?;
    pad(f, indent + 1)?;
    f.write_str("return")?;
    write_list(f, &body.outputs)?;
    f.write_char('\n')?;
    pad(f, indent)?;
    f.write_char('}')
}

/// An instruction: a line, or several with an inner body, each indented by `indent` steps of two spaces.
pub(crate) fn write_inst(f: &mut dyn fmt::Write, body: &Body, inst: &Inst, indent: usize) -> fmt::Result {
    pad(f, indent)?;
    for (i, reg) in inst.result_regs().enumerate() {
        write!(f, "{}{reg}", if i > 0 { ", " } else { "" })?;
    }
    f.write_str(" = ")?;
    write_operation(f, body, inst, indent)?;
    f.write_char('\n')
}

fn write_operation(f: &mut dyn fmt::Write, body: &Body, inst: &Inst, indent: usize) -> fmt::Result {
    let ty = body.ty(inst.first);
    match &inst.kind {
        InstKind::Const(bits) => {
            write!(f, "const.{ty} ")?;
            write_bits(f, ty, *bits)
        }
        InstKind::Prim(prim) => {
            f.write_str(prim.name())?;
            write_suffix(f, *prim, body, inst)?;
            write_list(f, &inst.args)
        }
        InstKind::Table(table) => {
            f.write_str("table")?;
            write_list(f, &inst.args)?;
            write_table(f, table)
        }
        InstKind::Gather { input, word } => {
            write!(f, "gather in{input}.{word}")?;
            inst.args.iter().try_for_each(|arg| write!(f, ", {arg}"))?;
            write!(f, " : {ty}")
        }
        InstKind::If(inner) => {
            f.write_str("if")?;
            write_list(f, &inst.args)?;
            f.write_str(" then")?;
            write_block(f, inner, indent)
        }
        InstKind::Repeat { max, state, body: inner } => {
            write!(f, "repeat {max} state {state}")?;
            write_list(f, &inst.args)?;
            f.write_str(" step")?;
            write_block(f, inner, indent)
        }
    }
}

fn write_suffix(f: &mut dyn fmt::Write, prim: Prim, body: &Body, inst: &Inst) -> fmt::Result {
    let result = body.ty(inst.first);
    match prim.signature() {
        PrimSignature::Same(_) | PrimSignature::Select => write!(f, ".{result}"),
        PrimSignature::Compare => write!(f, ".{}", body.ty(inst.args[0])),
        PrimSignature::Convert => write!(f, ".{}.{result}", body.ty(inst.args[0])),
    }
}

fn write_list<T: fmt::Display>(f: &mut dyn fmt::Write, items: &[T]) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if i > 0 { ", " } else { " " })?;
    }
    Ok(())
}

fn write_table(f: &mut dyn fmt::Write, table: &LookupTable) -> fmt::Result {
    write!(f, " of {} [", table.ty)?;
    for (i, &bits) in table.values.iter().enumerate() {
        f.write_str(if i > 0 { ", " } else { "" })?;
        write_bits(f, table.ty, bits)?;
    }
    f.write_char(']')
}

/// A constant: decimal and signed for integers, hexadecimal from 2^16 up, `true` and `false`, floats as above.
fn write_bits(f: &mut dyn fmt::Write, ty: PrimType, bits: u64) -> fmt::Result {
    match ty {
        PrimType::Bool => write!(f, "{}", bits & 1 == 1),
        PrimType::I8 | PrimType::I16 | PrimType::I32 | PrimType::I64 => {
            let unused = 64 - ty.bits();
            let value = (bits << unused) as i64 >> unused;
            if value.unsigned_abs() < 1 << 16 { write!(f, "{value}") } else { write!(f, "{bits:#x}") }
        }
        PrimType::F32 => {
            let value = f32::from_bits(bits as u32);
            if value.is_nan() { write!(f, "nan:{bits:#x}") } else { write!(f, "{value:?}") }
        }
        PrimType::F64 => {
            let value = f64::from_bits(bits);
            if value.is_nan() { write!(f, "nan:{bits:#x}") } else { write!(f, "{value:?}") }
        }
    }
}

fn pad(f: &mut dyn fmt::Write, indent: usize) -> fmt::Result {
    (0..indent).try_for_each(|_| f.write_str("  "))
}
