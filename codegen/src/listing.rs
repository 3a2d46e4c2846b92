//! Code line by line, each line with what it was made from: what people look at, and what a page that links stages needs.
//!
//! Texts are those that loops, functions and modules print; what a line was made from is told by the names at its beginning.

use crate::clif::{ClifKernel, Located};
use crate::passes::expand::origin;
use crate::wgsl::WgslModule;
use cranelift_codegen::ir::SourceLoc;
use ndjit_ir::StatementOrigin;
use ndjit_ir::body::{Body, Reg};
use ndjit_ir::kernel::{OpBody, StmtKind};
use ndjit_ir::loops::{Access, LoopBody, LoopNest};

/// A line of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// Its text, without the line's end.
    pub text: String,
    /// The statement of the kernel that it was made from; `None` for loops and declarations.
    pub origin: Option<StatementOrigin>,
}

impl CodeLine {
    /// A line that was made from nothing in particular.
    pub fn plain(text: impl Into<String>) -> CodeLine {
        CodeLine { text: text.into(), origin: None }
    }
}

/// The lines of loops over ops.
pub fn loops(nest: &LoopNest) -> Vec<CodeLine> {
    let LoopBody::Ops(ops) = &nest.body else { return plain(&nest.to_string()) };
    lines(&nest.to_string(), |line| {
        if let Some(result) = combined(line) {
            return Some(result);
        }
        let statement = number(line, "t").or_else(|| stored(line).and_then(|n| Some(ops.outputs.get(n)?.index())))?;
        Some(origin(ops.stmts.get(statement)?, statement))
    })
}

/// The lines of loops over primitives, which were expanded from these ops.
pub fn expanded(nest: &LoopNest, ops: &OpBody) -> Vec<CodeLine> {
    let LoopBody::Prims { body, .. } = &nest.body else { return plain(&nest.to_string()) };
    let registers = Registers::new(body, ops, &nest.inputs);
    lines(&nest.to_string(), |line| registers.of_line(line))
}

/// The lines of a [located](crate::clif::ClifOptions::located) function, emitted from this nest over primitives.
pub fn clif(kernel: &ClifKernel, nest: &LoopNest, ops: &OpBody) -> Vec<CodeLine> {
    let LoopBody::Prims { body, .. } = &nest.body else { return plain(&kernel.to_string()) };
    let registers = Registers::new(body, ops, &nest.inputs);
    let location = |line: &str| {
        let digits = line.trim_start().strip_prefix('@')?.split(' ').next()?;
        u32::from_str_radix(digits, 16).ok()
    };
    // Cranelift leaves room for locations on all lines.
    let indented = |text: &str| match text.trim_start() {
        text if text.is_empty() || text.starts_with(['}', ';']) => text.to_owned(),
        text if text.starts_with("block") || text.starts_with("function ") => text.to_owned(),
        text => format!("    {text}"),
    };
    let lines = kernel.to_string();
    let lines = lines.lines().map(|line| match location(line) {
        None => CodeLine::plain(indented(line)),
        Some(bits) => {
            let text = line.trim_start().split_once(' ').map_or("", |(_, text)| text);
            CodeLine { text: indented(text), origin: registers.of(Located::of(SourceLoc::new(bits))) }
        }
    });
    lines.collect()
}

/// The lines of a module.
pub fn wgsl(module: &WgslModule) -> Vec<CodeLine> {
    let mut current = None;
    let of = |line: &str| {
        let text = line.trim_start();
        match text.strip_prefix("// ").and_then(|comment| number(comment, "t")) {
            Some(statement) => current = Some(StatementOrigin::Statement(statement as u32)),
            None if text.starts_with("fn combine(") => current = Some(StatementOrigin::Results),
            None if text.starts_with("return") || line.starts_with('}') || line.is_empty() => current = None,
            None => {}
        }
        CodeLine { text: line.to_owned(), origin: current }
    };
    module.text.lines().map(of).collect()
}

fn plain(text: &str) -> Vec<CodeLine> {
    text.lines().map(CodeLine::plain).collect()
}

/// The lines of a text, of which the first in a block also says what the block's others were made from.
fn lines(text: &str, of: impl Fn(&str) -> Option<StatementOrigin>) -> Vec<CodeLine> {
    let mut block: Option<(usize, Option<StatementOrigin>)> = None;
    let mut made = Vec::new();
    for text in text.lines() {
        let indent = text.len() - text.trim_start().len();
        let outer =
            block.filter(|(opened, _)| indent > *opened || (indent == *opened && text.trim_start().starts_with('}')));
        let origin = outer.map_or_else(|| of(text), |(_, origin)| origin);
        if outer.is_none() {
            block = (origin.is_some() && text.ends_with('{')).then_some((indent, origin));
        }
        made.push(CodeLine { text: text.to_owned(), origin });
    }
    made
}

/// The number `n` of a line that begins with `t{n}`, or another prefix.
fn number(line: &str, prefix: &str) -> Option<usize> {
    let digits = line.trim_start().strip_prefix(prefix)?;
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    digits[..end].parse().ok()
}

/// The output that a line stores.
fn stored(line: &str) -> Option<usize> {
    number(line.trim_start().strip_prefix("store ")?, "out")
}

/// The result that a line combines values into.
fn combined(line: &str) -> Option<StatementOrigin> {
    let line = line.trim_start();
    let rest = line.strip_prefix("reduce ").or_else(|| line.strip_prefix("scan "))?;
    number(rest, "out").map(|n| StatementOrigin::Result(n as u32))
}

/// What registers of a body were made from.
pub(crate) struct Registers<'a> {
    body: &'a Body,
    ops: &'a OpBody,
    /// Of the body's inputs.
    inputs: Vec<Option<StatementOrigin>>,
}

impl<'a> Registers<'a> {
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
            Located::Store(output) => self.stored(output),
            Located::Register(reg) if reg.index() < self.body.inputs => *self.inputs.get(reg.index())?,
            Located::Register(reg) => self.body.definition(reg).map(|inst| inst.origin),
        }
    }

    fn of_line(&self, line: &str) -> Option<StatementOrigin> {
        match number(line, "r") {
            Some(reg) => self.of(Located::Register(Reg::from_index(reg))),
            None => combined(line).or_else(|| self.stored(stored(line)?)),
        }
    }

    fn stored(&self, output: usize) -> Option<StatementOrigin> {
        let scalar = self.ops.outputs.get(output)?.index();
        Some(origin(self.ops.stmts.get(scalar)?, scalar))
    }
}
