//! The text form of fused kernels: what is read, the statements, what is stored where.
//!
//! ```text
//! kernel [8, 3] {
//!   in0 = %0 : f32[8, 3]
//!   l0 = #0 : f32
//!   t0 = load in0 : f32
//!   t1 = literal l0 : f32
//!   t2 = multiply t0, t1 : f32
//!   out0 = t2 -> %4
//! }
//! ```
//!
//! One that gathers has three lines for that: `in0 = rows of %0 : f32[8, 3]`, then `last row of` and `row step of` the same value, both `i64`;
//! and `t1 = gather in0, t0 : f32`. One that makes a part of a value says which: `out0 = t2 -> %4 from 3 along axis 0`. One that reduces begins `kernel [8, 3] reduces axes [1] {`,
//! and says how: `out0 = sum t2 -> %4`; one that scatters `out0 = scatter add t2 at t1 into in1 -> %4`; one that contracts begins `kernel [8, 3] contracts axes [1] {`, one that scans `kernel [8, 3] scans axes [1] {`,
//! one that sorts `kernel [8, 3] sorts axes [1] {`.

use super::{FusedKernel, KernelKind, KernelScatter, OpBody, Part, Reads, StmtKind};
use crate::dtype::DType;
use std::fmt::{self, Display, Formatter};

impl Display for FusedKernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "kernel {} {{", self.loops_text())?;
        for (n, input) in self.inputs.iter().enumerate() {
            let dtype = dtype_or_unknown(&self.body.inputs, n);
            writeln!(f, "  in{n} = {}{} : {dtype}{}", input.reads.prefix(), input.value, input.shape)?;
        }
        for (n, slot) in self.literals.iter().enumerate() {
            writeln!(f, "  l{n} = {slot} : {}", dtype_or_unknown(&self.body.literals, n))?;
        }
        for index in 0..self.body.stmts.len() {
            f.write_str("  ")?;
            write_stmt(&self.body, index, f)?;
            f.write_str("\n")?;
        }
        if let (KernelKind::Scatter(KernelScatter { scatter, into }), [updates, index, ..]) =
            (&self.kind, &self.body.outputs[..])
        {
            write!(f, "  out0 = scatter {} {updates} at {index} into in{into}", scatter.name())?;
            return match self.outputs.first() {
                Some(value) => write!(f, " -> {value}\n}}"),
                None => f.write_str("\n}"),
            };
        }
        for (n, scalar) in self.body.outputs.iter().enumerate() {
            write!(f, "  out{n} = ")?;
            if let Some(function) = self.kind.function(n) {
                write!(f, "{function} ")?;
            }
            write!(f, "{scalar}")?;
            match (self.outputs.get(n), self.kind.part()) {
                (Some(value), Some(Part { axis, start })) => writeln!(f, " -> {value} from {start} along axis {axis}")?,
                (Some(value), None) => writeln!(f, " -> {value}")?,
                (None, _) => f.write_str("\n")?,
            }
        }
        f.write_str("}")
    }
}

impl FusedKernel {
    /// What it runs over: `[8, 3] reduces axes [1]`.
    pub fn loops_text(&self) -> String {
        match self.kind.verb() {
            Some(verb) => format!("{} {verb} axes {}", self.shape, self.kind.axes()),
            None => self.shape.to_string(),
        }
    }
}

impl Reads {
    /// All of them.
    pub const ALL: [Reads; 4] = [Reads::Elements, Reads::GatherSource, Reads::GatherBound, Reads::GatherStride];

    /// What stands before the value: `rows of `.
    pub(super) const fn prefix(self) -> &'static str {
        match self {
            Reads::Elements => "",
            Reads::GatherSource => "rows of ",
            Reads::GatherBound => "last row of ",
            Reads::GatherStride => "row step of ",
        }
    }
}

impl OpBody {
    /// The text of a statement: `t2 = add t0, t1 : f32`.
    ///
    /// # Panics
    /// If the body has fewer statements.
    pub fn statement(&self, index: usize) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = write_stmt(self, index, &mut text);
        text
    }
}

/// A list that is too short is the verifier's business; printing must not fail on it.
fn dtype_or_unknown(dtypes: &[DType], n: usize) -> &'static str {
    dtypes.get(n).map_or("?", |dtype| dtype.name())
}

/// One statement, without indentation: `t2 = add t0, t1 : f32`.
pub(crate) fn write_stmt(body: &OpBody, index: usize, f: &mut impl fmt::Write) -> fmt::Result {
    let stmt = &body.stmts[index];
    write!(f, "t{index} = ")?;
    match stmt.kind {
        StmtKind::Load(input) => write!(f, "load in{input}")?,
        StmtKind::Gather(input) => write!(f, "gather in{input},")?,
        StmtKind::Literal(literal) => write!(f, "literal l{literal}")?,
        StmtKind::Op(op) => write!(f, "{op}")?,
        StmtKind::Cast => f.write_str("cast")?,
    }
    for (i, arg) in stmt.args.iter().enumerate() {
        write!(f, "{} {arg}", if i > 0 { "," } else { "" })?;
    }
    write!(f, " : {}", stmt.dtype)
}
