//! The text forms of loop nests and their geometry. A nest reads as the loops it is:
//!
//! ```text
//! nest rank 2 {
//!   in0: f32 contiguous, in1: i8 broadcast
//!   literals: l0 f32
//!   out0: f32 contiguous
//!   for i0, i1 {
//!     t0 = load in0 : f32
//!     t1 = literal l0 : f32
//!     t2 = multiply t0, t1 : f32
//!     store out0, t2
//!   }
//! }
//! ```
//!
//! After expansion the registers that inputs and literals come in have lines of their own, and what is hoisted out of the
//! innermost loop stands before it under `preheader:`.

use super::{Access, Geometry, Layout, LoopBody, LoopNest, Stride};
use crate::body::{Body, write_insts};
use crate::dtype::PrimType;
use crate::kernel::{OpBody, write_stmt};
use std::fmt::{self, Display, Formatter};

impl Display for Stride {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stride::Contiguous => "contiguous",
            Stride::Broadcast => "broadcast",
            Stride::Strided => "strided",
        })
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.dtype, self.inner)
    }
}

impl Display for LoopNest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "nest rank {} {{", self.rank)?;
        write_list(f, "  ", "in", &self.inputs)?;
        if !self.literals.is_empty() {
            f.write_str("  literals:")?;
            for (n, dtype) in self.literals.iter().enumerate() {
                write!(f, "{} l{n} {dtype}", if n > 0 { "," } else { "" })?;
            }
            f.write_str("\n")?;
        }
        write_list(f, "  ", "out", &self.outputs)?;
        match &self.body {
            LoopBody::Ops(body) => {
                write_for(f, "  ", 0, self.rank)?;
                write_ops(f, "    ", body)?;
                f.write_str("  }\n}")
            }
            LoopBody::Prims { body, hoisted } => {
                let outer = self.rank.saturating_sub(1);
                if outer > 0 {
                    write_for(f, "  ", 0, outer)?;
                }
                self.write_prims(f, if outer > 0 { 2 } else { 1 }, body, (*hoisted).min(body.insts.len()))?;
                f.write_str(if outer > 0 { "  }\n}" } else { "}" })
            }
        }
    }
}

impl LoopNest {
    fn write_prims(&self, f: &mut Formatter<'_>, level: usize, body: &Body, hoisted: usize) -> fmt::Result {
        let (indent, inner) = ("  ".repeat(level), "  ".repeat(level + 1));
        let words = self
            .inputs
            .iter()
            .enumerate()
            .map(|(n, access)| (access.inner == Stride::Broadcast, "load in", n, access.dtype.storage()));
        let literals = self.literals.iter().enumerate().map(|(n, dtype)| (true, "literal l", n, dtype.repr()));
        let registers: Vec<(bool, &str, usize, &[PrimType])> = words.chain(literals).collect();
        let write_registers = |f: &mut Formatter<'_>, wanted: bool| {
            let mut reg = 0;
            for &(hoisted, what, n, types) in &registers {
                for (word, ty) in types.iter().enumerate() {
                    if hoisted == wanted {
                        write!(f, "{inner}r{reg} = {what}{n}")?;
                        if types.len() > 1 {
                            write!(f, ".{word}")?;
                        }
                        writeln!(f, " : {ty}")?;
                    }
                    reg += 1;
                }
            }
            Ok(())
        };
        writeln!(f, "{indent}preheader:")?;
        write_registers(f, true)?;
        write_insts(f, body, level + 1, 0..hoisted)?;
        writeln!(f, "{indent}loop: for i{} {{", self.rank.saturating_sub(1))?;
        write_registers(f, false)?;
        write_insts(f, body, level + 1, hoisted..body.insts.len())?;
        let mut outputs = body.outputs.iter();
        for (n, access) in self.outputs.iter().enumerate() {
            let words = access.dtype.storage().len();
            for (word, reg) in outputs.by_ref().take(words).enumerate() {
                write!(f, "{inner}store out{n}")?;
                if words > 1 {
                    write!(f, ".{word}")?;
                }
                writeln!(f, ", {reg}")?;
            }
        }
        writeln!(f, "{indent}}}")
    }
}

fn write_for(f: &mut Formatter<'_>, indent: &str, from: usize, to: usize) -> fmt::Result {
    write!(f, "{indent}for")?;
    for axis in from..to {
        write!(f, "{} i{axis}", if axis > from { "," } else { "" })?;
    }
    f.write_str(" {\n")
}

fn write_ops(f: &mut Formatter<'_>, indent: &str, body: &OpBody) -> fmt::Result {
    for index in 0..body.stmts.len() {
        f.write_str(indent)?;
        write_stmt(body, index, f)?;
        f.write_str("\n")?;
    }
    for (n, scalar) in body.outputs.iter().enumerate() {
        writeln!(f, "{indent}store out{n}, {scalar}")?;
    }
    Ok(())
}

fn write_list(f: &mut Formatter<'_>, indent: &str, prefix: &str, items: &[impl Display]) -> fmt::Result {
    for (n, item) in items.iter().enumerate() {
        write!(f, "{}{prefix}{n}: {item}", if n > 0 { ", " } else { indent })?;
    }
    if items.is_empty() { Ok(()) } else { f.write_str("\n") }
}

impl Display for Layout {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "offset {}, strides [", self.offset)?;
        for (axis, stride) in self.strides.iter().enumerate() {
            write!(f, "{}{stride}", if axis > 0 { ", " } else { "" })?;
        }
        f.write_str("]")
    }
}

impl Display for Geometry {
    /// Offsets and strides in bytes:
    ///
    /// ```text
    /// geometry [8, 3] {
    ///   in0: offset 0, strides [12, 4]
    ///   out0: offset 0, strides [12, 4]
    /// }
    /// ```
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("geometry [")?;
        for (axis, extent) in self.extents.iter().enumerate() {
            write!(f, "{}{extent}", if axis > 0 { ", " } else { "" })?;
        }
        f.write_str("] {\n")?;
        for (prefix, layouts) in [("in", &self.inputs), ("out", &self.outputs)] {
            for (n, layout) in layouts.iter().enumerate() {
                writeln!(f, "  {prefix}{n}: {layout}")?;
            }
        }
        f.write_str("}")
    }
}
