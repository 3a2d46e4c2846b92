//! Listings of code, each line with its origin, for explanations and pages that link stages.
//!
//! The texts are the printed loops, functions and modules; the printers give the origin of each line.

use crate::clif::{ClifKernel, Located};
use crate::passes::expand::origin;
use crate::wgsl::WgslModule;
use ndjit_ir::StatementOrigin;
use ndjit_ir::body::Body;
use ndjit_ir::kernel::{OpBody, StmtKind};
use ndjit_ir::lines::{LineSpan, TextLine};
use ndjit_ir::loops::{Access, LoopBody, LoopLine, LoopNest, NestKind};

/// A line of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// The text, without line end.
    pub text: String,
    /// The statement of the kernel from which it comes; `None` for loops and declarations.
    pub origin: Option<StatementOrigin>,
    /// Its values and notes.
    pub spans: Vec<LineSpan>,
}

impl CodeLine {
    /// A line with an origin.
    pub fn made(text: String, origin: Option<StatementOrigin>) -> CodeLine {
        CodeLine { text, origin, spans: Vec::new() }
    }

    /// A line without an origin.
    pub fn plain(text: impl Into<String>) -> CodeLine {
        CodeLine::made(text.into(), None)
    }
}

/// The lines of loops over ops.
pub fn loops(nest: &LoopNest) -> Vec<CodeLine> {
    code_lines(nest.lines(), |line| match (&nest.body, line) {
        (LoopBody::Ops(ops), LoopLine::Statement(n)) => Some(origin(ops.stmts.get(n)?, n)),
        (LoopBody::Ops(ops), LoopLine::Output(n)) => of_output(nest, ops, n),
        _ => None,
    })
}

/// The lines of loops over primitives, expanded from these ops.
pub fn expanded(nest: &LoopNest, ops: &OpBody) -> Vec<CodeLine> {
    let registers = Registers::of_nest(nest, ops);
    code_lines(nest.lines(), |line| match line {
        LoopLine::Register(reg) => registers.as_ref()?.of(Located::Register(reg)),
        LoopLine::Output(n) => registers.as_ref().and_then(|_| of_output(nest, ops, n)),
        LoopLine::Statement(_) => None,
    })
}

/// The lines of a [located](crate::clif::ClifOptions::located) function, emitted from this nest over primitives.
pub fn clif(kernel: &ClifKernel, nest: &LoopNest, ops: &OpBody) -> Vec<CodeLine> {
    let registers = Registers::of_nest(nest, ops);
    code_lines(kernel.lines(), |located| registers.as_ref()?.of(located))
}

/// The lines of a module.
pub fn wgsl(module: &WgslModule) -> Vec<CodeLine> {
    let origins = module.origins.iter().copied().chain(std::iter::repeat(None));
    module.text.lines().zip(origins).map(|(text, origin)| CodeLine::made(text.to_owned(), origin)).collect()
}

fn code_lines<P>(lines: Vec<TextLine<P>>, of: impl Fn(P) -> Option<StatementOrigin>) -> Vec<CodeLine> {
    lines
        .into_iter()
        .map(|line| CodeLine { text: line.text, origin: line.part.and_then(&of), spans: line.spans })
        .collect()
}

/// The origin of a line for an output's reduction or scan.
fn of_output(nest: &LoopNest, ops: &OpBody, output: usize) -> Option<StatementOrigin> {
    match nest.kind {
        NestKind::Map | NestKind::Scatter(_) => stored(ops, output),
        NestKind::Reduce(_) | NestKind::Scan(_) => Some(StatementOrigin::Result(output as u32)),
        NestKind::Contract(_) | NestKind::Sort(_) => None,
    }
}

/// The origin of an output that is stored unchanged.
fn stored(ops: &OpBody, output: usize) -> Option<StatementOrigin> {
    let scalar = ops.outputs.get(output)?.index();
    Some(origin(ops.stmts.get(scalar)?, scalar))
}

/// The origins of a body's registers.
pub(crate) struct Registers<'a> {
    body: &'a Body,
    ops: &'a OpBody,
    /// The inputs' origins.
    inputs: Vec<Option<StatementOrigin>>,
}

impl<'a> Registers<'a> {
    /// The origins of a nest over primitives.
    fn of_nest(nest: &'a LoopNest, ops: &'a OpBody) -> Option<Registers<'a>> {
        let LoopBody::Prims { body, .. } = &nest.body else { return None };
        Some(Registers::new(body, ops, &nest.inputs))
    }

    pub(crate) fn new(body: &'a Body, ops: &'a OpBody, inputs: &[Access]) -> Registers<'a> {
        let of = |kind: StmtKind| ops.stmts.iter().position(|s| s.kind == kind).map(|n| origin(&ops.stmts[n], n));
        let loads = inputs.iter().enumerate().map(|(n, access)| (access.words().len(), StmtKind::Load(n as u32)));
        let literals =
            ops.literals.iter().enumerate().map(|(n, dtype)| (dtype.repr().len(), StmtKind::Literal(n as u32)));
        let inputs = loads.chain(literals).flat_map(|(words, kind)| std::iter::repeat_n(of(kind), words)).collect();
        Registers { body, ops, inputs }
    }

    pub(crate) fn of(&self, located: Located) -> Option<StatementOrigin> {
        match located {
            Located::Nowhere => None,
            Located::Store(output) => stored(self.ops, output),
            Located::Register(reg) if reg.index() < self.body.inputs => *self.inputs.get(reg.index())?,
            Located::Register(reg) => self.body.definition(reg).map(|inst| inst.origin),
        }
    }
}
