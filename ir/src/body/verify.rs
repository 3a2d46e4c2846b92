//! Verifying bodies. A body is valid if
//!
//! - registers are numbered in order: inputs first, then each instruction's results, and every register has a type;
//! - operands come before their uses (an operand's register is below the instruction's first result);
//! - a constant has no operands, one result, and bits that fit its type;
//! - a primitive has one result of the type that [`Prim::result`] gives for its operands;
//! - a table is not empty, its entries fit its type, its index is one `I32`;
//! - a gather takes four `I64`, gives one result, and is not in an inner body;
//! - an `If` takes a `Bool`, a default of each result's type, then the inner body's inputs, and the inner outputs have the
//!   results' types;
//! - a `Repeat` has a maximum of at least one trip, at least one state register, the operands of its inner body, which gives
//!   a `Bool` and the next state;
//! - inner bodies are valid and nest at most [`MAX_DEPTH`] deep;
//! - outputs are registers of the body.
//!
//! All violations are collected.

use super::{Body, Inst, InstKind, Prim, PrimSignature, Reg};
use crate::dtype::PrimType;
use crate::error::{Error, ErrorCode, Result};

/// The maximum nesting of inner bodies.
pub const MAX_DEPTH: usize = 8;

/// The maximum number of violations in one error.
const MAX_FACTS: usize = 16;

impl Body {
    /// Checks every invariant of a body, inner bodies included.
    ///
    /// # Errors
    /// `verify`, with a fact for each violation (the first 16).
    pub fn verify(&self) -> Result<()> {
        let mut problems = Vec::new();
        check(self, 0, &mut problems);
        if problems.is_empty() {
            return Ok(());
        }
        let more = problems.len().saturating_sub(MAX_FACTS);
        let mut error = Error::new(ErrorCode::Verify, format!("body: {} invariants do not hold", problems.len()));
        for problem in problems.into_iter().take(MAX_FACTS) {
            error = error.fact(problem);
        }
        Err(if more > 0 { error.fact(format_args!("and {more} more")) } else { error })
    }
}

fn check(body: &Body, depth: usize, problems: &mut Vec<String>) {
    if depth > MAX_DEPTH {
        problems.push(format!("bodies nest deeper than {MAX_DEPTH}"));
        return;
    }
    if body.inputs > body.types.len() {
        problems.push(format!("{} inputs but {} registers", body.inputs, body.types.len()));
        return;
    }
    let mut next = body.inputs;
    for inst in &body.insts {
        if inst.first.index() != next {
            problems.push(format!("{}: the next register is r{next}", inst.first));
            return;
        }
        next = next.saturating_add(inst.results as usize);
        if next > body.types.len() {
            problems.push(format!("{}: {} results but {} registers", inst.first, inst.results, body.types.len()));
            return;
        }
        match inst.args.iter().find(|a| a.index() >= inst.first.index()) {
            Some(arg) => problems.push(format!("{}: operand {arg} does not come before", inst.first)),
            None => check_inst(body, inst, depth, problems),
        }
    }
    if next != body.types.len() {
        problems.push(format!("{} registers but types for {}", next, body.types.len()));
    }
    for output in &body.outputs {
        if output.index() >= body.types.len() {
            problems.push(format!("output {output} is no register"));
        }
    }
}

/// Checks one instruction with existing registers.
fn check_inst(body: &Body, inst: &Inst, depth: usize, problems: &mut Vec<String>) {
    let at = inst.first;
    let args: Vec<PrimType> = inst.args.iter().map(|&a| body.ty(a)).collect();
    let results: Vec<PrimType> = inst.result_regs().map(|r| body.ty(r)).collect();
    let mut expect = |holds: bool, what: String| {
        if !holds {
            problems.push(format!("{at}: {what}"));
        }
    };
    match &inst.kind {
        InstKind::Const(bits) => {
            expect(args.is_empty() && results.len() == 1, "a constant has no operands and one result".to_owned());
            if let [ty] = results[..] {
                expect(bits & !ty.mask() == 0, format!("constant {bits:#x} does not fit {ty}"));
            }
        }
        InstKind::Prim(prim) => {
            let given = if let [ty] = results[..] { prim.result(&args, wanted(*prim, ty)) } else { None };
            expect(
                given.is_some() && given == results.first().copied(),
                format!("{prim} does not take {} to {}", list(&args), list(&results)),
            );
        }
        InstKind::Table(table) => {
            expect(!table.values.is_empty(), "the table is empty".to_owned());
            expect(
                args == [PrimType::I32] && results == [table.ty],
                format!("a table of {} does not take {} to {}", table.ty, list(&args), list(&results)),
            );
            let misfit = table.values.iter().position(|v| v & !table.ty.mask() != 0);
            expect(misfit.is_none(), format!("table entry {} does not fit {}", misfit.unwrap_or(0), table.ty));
        }
        InstKind::Gather { .. } => {
            let taken = args == [PrimType::I64; 4] && results.len() == 1;
            expect(taken, format!("a gather does not take {} to {}", list(&args), list(&results)));
            expect(depth == 0, "a gather in an inner body".to_owned());
        }
        InstKind::If(inner) => {
            let mut operands = vec![PrimType::Bool];
            operands.extend(&results);
            operands.extend(&inner.types[..inner.inputs.min(inner.types.len())]);
            expect(args == operands, format!("if takes {}, not {}", list(&operands), list(&args)));
            expect(outputs(inner) == results, format!("if gives {}, not {}", list(&outputs(inner)), list(&results)));
            check(inner, depth + 1, problems);
        }
        InstKind::Repeat { max, state, body: inner } => {
            expect(*max > 0 && *state > 0, "a repeat has at least one trip and one state register".to_owned());
            let operands = inner.types[..inner.inputs.min(inner.types.len())].to_vec();
            expect(args == operands, format!("repeat takes {}, not {}", list(&operands), list(&args)));
            expect(
                results.len() == *state && args.starts_with(&results),
                format!("the results {} are not the state of {}", list(&results), list(&args)),
            );
            let mut given = vec![PrimType::Bool];
            given.extend(&results);
            expect(outputs(inner) == given, format!("repeat gives {}, not {}", list(&outputs(inner)), list(&given)));
            check(inner, depth + 1, problems);
        }
    }
}

/// The result type for [`Prim::result`]: only conversions need one.
fn wanted(prim: Prim, ty: PrimType) -> Option<PrimType> {
    (prim.signature() == PrimSignature::Convert).then_some(ty)
}

/// The types of a body's outputs, without missing registers.
fn outputs(body: &Body) -> Vec<PrimType> {
    body.outputs.iter().filter_map(|o: &Reg| body.types.get(o.index()).copied()).collect()
}

fn list(types: &[PrimType]) -> String {
    let names: Vec<&str> = types.iter().map(|t| t.name()).collect();
    format!("({})", names.join(" "))
}
