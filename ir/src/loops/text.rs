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
//! A nest that reduces says which loops, what becomes of each output, and along which loop its vectors lie:
//!
//! ```text
//! nest rank 2, vectors along i1 {
//!   in0: f32 contiguous
//!   out0: f32 sum
//!   for i0 reduce i1 {
//!     t0 = load in0 : f32
//!     reduce out0, t0
//!   }
//! }
//! ```
//!
//! One that scans has no vectors along the loop that it scans. It says `for i0 scan i1` and `out0: f32 contiguous cumulative_sum`.
//!
//! An input `i64 index` has no memory: its elements are positions.
//!
//! After expansion the registers that inputs and literals come in have lines of their own, and what is hoisted out of the
//! innermost loop stands before it under `preheader:`.

use super::{Access, Geometry, Layout, LoopBody, LoopNest, Stride};
use crate::body::{Body, write_insts};
use crate::kernel::{OpBody, write_stmt};
use crate::reduction::Reduction;
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
        write!(f, "{} {}{}", self.dtype, if self.index { "index " } else { "" }, self.inner)
    }
}

impl Display for LoopNest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "nest rank {}", self.rank)?;
        if self.reduces() || self.vector_loop() + 1 < self.rank {
            write!(f, ", vectors along i{}", self.vector_loop())?;
        }
        f.write_str(" {\n")?;
        write_list(f, "  ", "in", &self.inputs)?;
        if !self.literals.is_empty() {
            f.write_str("  literals:")?;
            for (n, dtype) in self.literals.iter().enumerate() {
                write!(f, "{} l{n} {dtype}", if n > 0 { "," } else { "" })?;
            }
            f.write_str("\n")?;
        }
        match &self.reduce {
            None => write_list(f, "  ", "out", &self.outputs)?,
            Some(reduce) => {
                let outputs = reduce.outputs.iter().zip(&self.outputs);
                let text = |(reduction, access): (&Reduction, &Access)| match reduction.scans() {
                    true => format!("{access} {reduction}"),
                    false => format!("{} {reduction}", access.dtype),
                };
                let outputs: Vec<String> = outputs.map(text).collect();
                write_list(f, "  ", "out", &outputs)?;
            }
        }
        match &self.body {
            LoopBody::Ops(body) => {
                self.write_loops(f)?;
                write_ops(f, "    ", body, self.stores())?;
                f.write_str("  }\n}")
            }
            LoopBody::Prims { body, .. } if self.reduce.is_some() => {
                self.write_loops(f)?;
                self.write_registers(f, "    ", |_| true)?;
                write_insts(f, body, 2, 0..body.insts.len())?;
                self.write_stores(f, "    ", body)?;
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
    /// `for i0, i1 {`; `for i0 reduce i1 {`.
    fn write_loops(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kept = self.kept();
        f.write_str(" ")?;
        if kept > 0 {
            write_axes(f, "for", 0, kept)?;
        }
        if self.reduce.is_some() {
            write_axes(f, self.stores(), kept, self.rank)?;
        }
        f.write_str(" {\n")
    }

    fn stores(&self) -> &'static str {
        match &self.reduce {
            None => "store",
            Some(reduce) if reduce.scans() => "scan",
            Some(_) => "reduce",
        }
    }

    fn write_prims(&self, f: &mut Formatter<'_>, level: usize, body: &Body, hoisted: usize) -> fmt::Result {
        let (indent, inner) = ("  ".repeat(level), "  ".repeat(level + 1));
        writeln!(f, "{indent}preheader:")?;
        self.write_registers(f, &inner, |hoisted| hoisted)?;
        write_insts(f, body, level + 1, 0..hoisted)?;
        writeln!(f, "{indent}loop: for i{} {{", self.rank.saturating_sub(1))?;
        self.write_registers(f, &inner, |hoisted| !hoisted)?;
        write_insts(f, body, level + 1, hoisted..body.insts.len())?;
        self.write_stores(f, &inner, body)?;
        writeln!(f, "{indent}}}")
    }

    /// The registers that inputs and literals come in, of those that do not change in the innermost loop or do, as wanted.
    fn write_registers(&self, f: &mut Formatter<'_>, indent: &str, wanted: impl Fn(bool) -> bool) -> fmt::Result {
        let words = self
            .inputs
            .iter()
            .enumerate()
            .map(|(n, access)| (access.inner == Stride::Broadcast, "load in", n, access.dtype.storage()));
        let literals = self.literals.iter().enumerate().map(|(n, dtype)| (true, "literal l", n, dtype.repr()));
        let mut reg = 0;
        for (hoisted, what, n, types) in words.chain(literals) {
            for (word, ty) in types.iter().enumerate() {
                if wanted(hoisted) {
                    write!(f, "{indent}r{reg} = {what}{n}")?;
                    if types.len() > 1 {
                        write!(f, ".{word}")?;
                    }
                    writeln!(f, " : {ty}")?;
                }
                reg += 1;
            }
        }
        Ok(())
    }

    fn write_stores(&self, f: &mut Formatter<'_>, indent: &str, body: &Body) -> fmt::Result {
        let mut outputs = body.outputs.iter();
        for (n, access) in self.outputs.iter().enumerate() {
            let words = access.dtype.storage().len();
            for (word, reg) in outputs.by_ref().take(words).enumerate() {
                write!(f, "{indent}{} out{n}", self.stores())?;
                if words > 1 {
                    write!(f, ".{word}")?;
                }
                writeln!(f, ", {reg}")?;
            }
        }
        Ok(())
    }
}

fn write_for(f: &mut Formatter<'_>, indent: &str, from: usize, to: usize) -> fmt::Result {
    f.write_str(indent.strip_suffix(' ').unwrap_or(indent))?;
    write_axes(f, "for", from, to)?;
    f.write_str(" {\n")
}

fn write_axes(f: &mut Formatter<'_>, what: &str, from: usize, to: usize) -> fmt::Result {
    write!(f, " {what}")?;
    for axis in from..to {
        write!(f, "{} i{axis}", if axis > from { "," } else { "" })?;
    }
    Ok(())
}

fn write_ops(f: &mut Formatter<'_>, indent: &str, body: &OpBody, stores: &str) -> fmt::Result {
    for index in 0..body.stmts.len() {
        f.write_str(indent)?;
        write_stmt(body, index, f)?;
        f.write_str("\n")?;
    }
    for (n, scalar) in body.outputs.iter().enumerate() {
        writeln!(f, "{indent}{stores} out{n}, {scalar}")?;
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
