//! The text form of fused kernels: inputs, statements, outputs.
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
//! A gather has three input lines: `in0 = rows of %0 : f32[8, 3]`, then `last row of` and `row step of` the same value, both `i64`. Its
//! statement is `t1 = gather in0, t0 : f32`. A partial output has its map, and the value of the rest:
//! `out0 = t2 -> %4 at (d0) -> (d0 + 3) rest %1`, or `at (d0, d1) -> (d0, d1) start %2 rest %1` where `%2` is the row, `d0`.
//! Reductions, contractions, scans and sorts have headers `kernel [8, 3] reduces axes [1] {`, with `contracts`, `scans` or `sorts`, and
//! a function per output: `out0 = sum t2 -> %4`. A scatter has `out0 = scatter add t2 at t1 into in1 -> %4`.

use super::{FusedKernel, KernelKind, KernelScatter, OpBody, Part, Reads, StmtKind};
use crate::dtype::DType;
use crate::lines::{LineSink, TextLine, lines};
use std::fmt::{self, Display, Formatter};

impl Display for FusedKernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

/// The part of a step that a line prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepLine {
    /// The input of this number.
    Input(usize),
    /// The statement of this number.
    Statement(usize),
    /// The output of this number.
    Output(usize),
}

impl FusedKernel {
    /// The lines of the text.
    pub fn lines(&self) -> Vec<TextLine<StepLine>> {
        lines(|f| self.write(f))
    }

    fn write(&self, f: &mut dyn LineSink<StepLine>) -> fmt::Result {
        writeln!(f, "kernel {} {{", self.loops_text())?;
        for (n, input) in self.inputs.iter().enumerate() {
            let dtype = dtype_or_unknown(&self.body.inputs, n);
            f.of(Some(StepLine::Input(n)));
            writeln!(f, "  in{n} = {}{} : {dtype}{}", input.reads.prefix(), input.value, input.shape)?;
        }
        f.of(None);
        for (n, slot) in self.literals.iter().enumerate() {
            writeln!(f, "  l{n} = {slot} : {}", dtype_or_unknown(&self.body.literals, n))?;
        }
        for index in 0..self.body.stmts.len() {
            f.of(Some(StepLine::Statement(index)));
            writeln!(f, "  {}", self.body.statement(index))?;
        }
        if let (KernelKind::Scatter(KernelScatter { scatter, into }), [updates, index, ..]) =
            (&self.kind, &self.body.outputs[..])
        {
            f.of(Some(StepLine::Output(0)));
            write!(f, "  out0 = scatter {} {updates} at {index} into in{into}", scatter.name())?;
            match self.outputs.first() {
                Some(value) => writeln!(f, " -> {value}")?,
                None => f.write_str("\n")?,
            }
            f.of(None);
            return f.write_str("}");
        }
        for (n, scalar) in self.body.outputs.iter().enumerate() {
            f.of(Some(StepLine::Output(n)));
            write!(f, "  out{n} = ")?;
            if let Some(function) = self.kind.function(n) {
                write!(f, "{function} ")?;
            }
            write!(f, "{scalar}")?;
            match (self.outputs.get(n), self.kind.part()) {
                (Some(value), Some(Part { view, into, starts })) => {
                    write!(f, " -> {value} at {view}")?;
                    starts.iter().try_for_each(|start| write!(f, " start {start}"))?;
                    into.map_or(Ok(()), |into| write!(f, " rest {into}"))?;
                    f.write_str("\n")?;
                }
                (Some(value), None) => writeln!(f, " -> {value}")?,
                (None, _) => f.write_str("\n")?,
            }
        }
        f.of(None);
        f.write_str("}")
    }

    /// The iteration space: `[8, 3] reduces axes [1]`.
    pub fn loops_text(&self) -> String {
        match self.kind.verb() {
            Some(verb) => format!("{} {verb} axes {}", self.shape, self.kind.axes()),
            None => self.shape.to_string(),
        }
    }
}

impl Reads {
    /// All variants.
    pub const ALL: [Reads; 4] = [Reads::Elements, Reads::GatherSource, Reads::GatherBound, Reads::GatherStride];

    /// The prefix of the value: `rows of `.
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
        let stmt = &self.stmts[index];
        let what = match stmt.kind {
            StmtKind::Load(input) => format!("load in{input}"),
            StmtKind::Gather(input) => format!("gather in{input},"),
            StmtKind::Address(input) => format!("address in{input},"),
            StmtKind::Literal(literal) => format!("literal l{literal}"),
            StmtKind::Op(op) => op.to_string(),
            StmtKind::Cast => "cast".to_owned(),
        };
        let args: Vec<String> = stmt.args.iter().map(|arg| format!(" {arg}")).collect();
        format!("t{index} = {what}{} : {}", args.join(","), stmt.dtype)
    }
}

/// Printing does not fail on a list that is too short: the verifier reports it.
fn dtype_or_unknown(dtypes: &[DType], n: usize) -> &'static str {
    dtypes.get(n).map_or("?", |dtype| dtype.name())
}
