//! The text forms of loop nests and their domain. A nest prints as its loops:
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
//! A nest that reduces has its reduced loops, the function of each output, and the loop to vectorize:
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
//! A contraction has `contract` instead of `reduce`.
//! A scan has `for i0 scan i1` and `out0: f32 contiguous cumulative_sum`, and no vectors along its loop.
//! A sort has `for i0 sort i1` and a body of ops; the outputs of `argsort` are `i32` or `i64` for any dtype.
//!
//! An input `i64 index` has no memory: its elements are indices. An input `f32 rows` is gathered: the operand is the address of its
//! first row, and the next two inputs are its last row and its row stride. `r5 = gather in0, r0, r4, r1, r2 : f32` reads a word. An
//! output `f32 rows broadcast` is stored at the address that the next output, an `i64 index broadcast`, is: in a body of ops that of
//! `t3 = address in0, t2 : i64`.
//!
//! After expansion the registers of inputs and literals have lines of their own, and hoisted instructions precede the innermost
//! loop, under `preheader:`. In a nest that reduces or scans `loop:` ends them.

use super::{Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, Role, Stride};
use crate::body::{Body, Reg, write_inst};
use crate::dtype::PrimType;
use crate::error::Result;
use crate::kernel::{KernelScatter, OpBody};
use crate::lines::{LineSink, TextLine, lines};
use crate::reduction::AxisFunction;
use crate::text::Line;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

impl Stride {
    /// All strides.
    pub const ALL: [Stride; 3] = [Stride::Contiguous, Stride::Broadcast, Stride::Strided];

    /// The name in loop text.
    pub const fn name(self) -> &'static str {
        match self {
            Stride::Contiguous => "contiguous",
            Stride::Broadcast => "broadcast",
            Stride::Strided => "strided",
        }
    }
}

impl Role {
    /// All roles.
    pub const ALL: [Role; 3] = [Role::Memory, Role::Index, Role::Rows];

    /// The prefix of the stride: `index `.
    pub const fn prefix(self) -> &'static str {
        match self {
            Role::Memory => "",
            Role::Index => "index ",
            Role::Rows => "rows ",
        }
    }
}

impl Display for Stride {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.dtype, self.role.prefix(), self.inner)
    }
}

impl Display for LoopNest {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

/// The part of a nest that a line prints, except loops and declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopLine {
    /// The op of this number.
    Statement(usize),
    /// The instruction, or the word of an input or a literal, of this register.
    Register(Reg),
    /// The store or function of this output.
    Output(usize),
}

type LoopSink<'a> = dyn LineSink<LoopLine> + 'a;

impl LoopNest {
    /// The lines of the text.
    pub fn lines(&self) -> Vec<TextLine<LoopLine>> {
        lines(|f| self.write(f))
    }

    fn write(&self, f: &mut LoopSink<'_>) -> fmt::Result {
        write!(f, "nest rank {}", self.rank)?;
        if let Some(vectors) = self.vectors() {
            write!(f, ", vectors along i{vectors}")?;
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
        let stored = |(n, access): (usize, &Access)| match self.kind.function(n) {
            None => access.to_string(),
            Some(AxisFunction::Reduction(reduction)) => format!("{} {reduction}", access.dtype),
            Some(function) => format!("{access} {function}"),
        };
        let outputs: Vec<String> = self.outputs.iter().enumerate().map(stored).collect();
        write_list(f, "  ", "out", &outputs)?;
        let meets = self.kind.loops() > 0;
        match &self.body {
            LoopBody::Ops(body) => {
                writeln!(f, "  {} {{", self.loops_text())?;
                match self.kind {
                    NestKind::Map
                    | NestKind::Reduce(_)
                    | NestKind::Contract(_)
                    | NestKind::Scan(_)
                    | NestKind::Sort(_) => write_ops(f, "    ", body, self.kind.stores())?,
                    NestKind::Scatter(KernelScatter { scatter, into }) => {
                        let [updates, index] =
                            [0, 1].map(|n| body.outputs.get(n).map_or(String::new(), |s| s.to_string()));
                        let stmts = OpBody { outputs: Vec::new(), ..(**body).clone() };
                        write_ops(f, "    ", &stmts, "")?;
                        writeln!(f, "    scatter {} {updates} at {index} into in{into}", scatter.name())?;
                    }
                }
                f.write_str("  }\n}")
            }
            LoopBody::Prims { body, hoisted: 0 } if meets => {
                writeln!(f, "  {} {{", self.loops_text())?;
                self.write_registers(f, "    ", |_| true)?;
                write_insts(f, body, 2, 0..body.insts.len())?;
                self.write_stores(f, "    ", body)?;
                f.write_str("  }\n}")
            }
            LoopBody::Prims { body, hoisted } if meets => {
                let hoisted = (*hoisted).min(body.insts.len());
                writeln!(f, "  {} {{", self.loops_text())?;
                f.write_str("    preheader:\n")?;
                self.write_registers(f, "      ", |hoisted| hoisted)?;
                write_insts(f, body, 3, 0..hoisted)?;
                f.write_str("    loop:\n")?;
                self.write_registers(f, "      ", |hoisted| !hoisted)?;
                write_insts(f, body, 3, hoisted..body.insts.len())?;
                self.write_stores(f, "      ", body)?;
                f.write_str("  }\n}")
            }
            LoopBody::Prims { body, hoisted } => {
                let outer = self.rank.saturating_sub(1);
                if outer > 0 {
                    writeln!(f, "  {} {{", axes("for", 0, outer))?;
                }
                self.write_prims(f, if outer > 0 { 2 } else { 1 }, body, (*hoisted).min(body.insts.len()))?;
                f.write_str(if outer > 0 { "  }\n}" } else { "}" })
            }
        }
    }

    /// The loops: `for i0, i1`; `for i0 reduce i1`.
    pub fn loops_text(&self) -> String {
        let parallel_rank = self.parallel_rank();
        let inner = (self.kind.loops() > 0).then(|| axes(self.kind.stores(), parallel_rank, self.rank));
        (parallel_rank > 0)
            .then(|| axes("for", 0, parallel_rank))
            .into_iter()
            .chain(inner)
            .collect::<Vec<String>>()
            .join(" ")
    }

    /// The loop to vectorize, if the text has it: if it is not the default.
    pub(super) fn vectors(&self) -> Option<usize> {
        (self.kind.reduction().is_some() || self.vector_loop() + 1 < self.rank).then(|| self.vector_loop())
    }

    fn write_prims(&self, f: &mut LoopSink<'_>, level: usize, body: &Body, hoisted: usize) -> fmt::Result {
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

    /// The registers of inputs and literals, those that change in the innermost loop or those that do not.
    fn write_registers(&self, f: &mut LoopSink<'_>, indent: &str, wanted: impl Fn(bool) -> bool) -> fmt::Result {
        for (reg, given) in self.given_registers().enumerate().filter(|(_, given)| wanted(given.hoisted)) {
            f.of(Some(LoopLine::Register(Reg::from_index(reg))));
            writeln!(f, "{indent}r{reg} = {given}")?;
        }
        f.of(None);
        Ok(())
    }

    /// The registers of inputs and literals, in order.
    pub(super) fn given_registers(&self) -> impl Iterator<Item = InputRegister> {
        let words = self
            .inputs
            .iter()
            .enumerate()
            .map(|(n, access)| (access.inner == Stride::Broadcast, RegisterSource::Load(n), access.words()));
        let literals =
            self.literals.iter().enumerate().map(|(n, dtype)| (true, RegisterSource::Literal(n), dtype.repr()));
        words.chain(literals).flat_map(|(hoisted, source, types)| {
            let given =
                move |(word, &ty)| InputRegister { hoisted, source, word: (types.len() > 1).then_some(word), ty };
            types.iter().enumerate().map(given)
        })
    }

    fn write_stores(&self, f: &mut LoopSink<'_>, indent: &str, body: &Body) -> fmt::Result {
        let mut outputs = body.outputs.iter();
        for (n, access) in self.outputs.iter().enumerate() {
            f.of(Some(LoopLine::Output(n)));
            let words = access.dtype.storage().len();
            for (word, reg) in outputs.by_ref().take(words).enumerate() {
                write!(f, "{indent}{} out{n}", self.kind.stores())?;
                if words > 1 {
                    write!(f, ".{word}")?;
                }
                writeln!(f, ", {reg}")?;
            }
        }
        f.of(None);
        Ok(())
    }
}

/// The register of a word of an input or a literal; its text is the part after `r0 = `.
pub(super) struct InputRegister {
    /// True if it precedes the innermost loop.
    pub hoisted: bool,
    source: RegisterSource,
    word: Option<usize>,
    /// Its type.
    pub ty: PrimType,
}

#[derive(Clone, Copy)]
enum RegisterSource {
    Load(usize),
    Literal(usize),
}

impl InputRegister {
    /// Parses its own text.
    pub fn read(&self, line: &mut Line<'_>) -> Result<()> {
        match self.source {
            RegisterSource::Load(n) => {
                line.expect("load")?;
                line.numbered("in", n)?;
            }
            RegisterSource::Literal(n) => {
                line.expect("literal")?;
                line.numbered("l", n)?;
            }
        }
        if let Some(word) = self.word {
            line.numbered(".", word)?;
        }
        line.expect(":")?;
        line.expect(self.ty.name())
    }
}

impl Display for InputRegister {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.source {
            RegisterSource::Load(n) => write!(f, "load in{n}")?,
            RegisterSource::Literal(n) => write!(f, "literal l{n}")?,
        }
        if let Some(word) = self.word {
            write!(f, ".{word}")?;
        }
        write!(f, " : {}", self.ty)
    }
}

/// `for i0, i1`.
fn axes(what: &str, from: usize, to: usize) -> String {
    let axes: Vec<String> = (from..to).map(|axis| format!("i{axis}")).collect();
    format!("{what} {}", axes.join(", "))
}

fn write_insts(f: &mut LoopSink<'_>, body: &Body, indent: usize, range: Range<usize>) -> fmt::Result {
    for inst in &body.insts[range] {
        f.of(Some(LoopLine::Register(inst.first)));
        write_inst(f, body, inst, indent)?;
    }
    f.of(None);
    Ok(())
}

fn write_ops(f: &mut LoopSink<'_>, indent: &str, body: &OpBody, stores: &str) -> fmt::Result {
    for index in 0..body.stmts.len() {
        f.of(Some(LoopLine::Statement(index)));
        writeln!(f, "{indent}{}", body.statement(index))?;
    }
    for (n, scalar) in body.outputs.iter().enumerate() {
        f.of(Some(LoopLine::Output(n)));
        writeln!(f, "{indent}{stores} out{n}, {scalar}")?;
    }
    f.of(None);
    Ok(())
}

fn write_list(f: &mut dyn fmt::Write, indent: &str, prefix: &str, items: &[impl Display]) -> fmt::Result {
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

impl Display for IterationDomain {
    /// Offsets and strides in bytes:
    ///
    /// ```text
    /// domain [8, 3] {
    ///   in0: offset 0, strides [12, 4]
    ///   out0: offset 0, strides [12, 4]
    /// }
    /// ```
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("domain [")?;
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
