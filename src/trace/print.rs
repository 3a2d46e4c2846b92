//! What a traced function prints when it runs: results of the program beside those of the function.

use super::in_trace;
use crate::trace::expr::Expr;
use crate::trace::operand::AnyOperand;
use ndjit_ir::Place;
use std::sync::Arc;

/// A value that is printed: what is written before it.
#[derive(Clone, Debug)]
pub(crate) struct Printing {
    pub label: Arc<str>,
    pub place: Place,
}

/// Has a value of this thread's trace printed when the function runs; gives the value.
pub(crate) fn print(label: &str, x: &AnyOperand, place: Place) -> Expr {
    in_trace(|trace| {
        let value = trace.value(x, "debug_print", place)?;
        trace.printed.push((Printing { label: label.into(), place }, value));
        Ok(value)
    })
}
