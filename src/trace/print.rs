//! Debug output of traced functions: extra results of the program.

use super::recorder::in_trace;
use crate::trace::expr::Expr;
use crate::trace::operand::AnyOperand;
use ndjit_ir::SourceLoc;
use std::sync::Arc;

/// A printed value's label and place.
#[derive(Clone, Debug)]
pub(crate) struct Printing {
    pub label: Arc<str>,
    /// The place of the print.
    pub place: SourceLoc,
}

/// Prints a value of the current trace at each run of the function. Returns the value.
pub(crate) fn print(label: &str, x: &AnyOperand, place: SourceLoc) -> Expr {
    in_trace(|trace| {
        let value = trace.value(x, "debug_print", place)?;
        trace.printed.push((Printing { label: label.into(), place }, value));
        Ok(value)
    })
}
