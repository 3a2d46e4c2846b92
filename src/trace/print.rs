//! What a traced function prints when it runs: results of the program beside those of the function.

use super::recorder::in_trace;
use crate::trace::expr::Expr;
use crate::trace::operand::AnyOperand;
use ndjit_eval::plan::compiled::Printing;
use ndjit_ir::Place;

/// Has a value of this thread's trace printed when the function runs; gives the value.
pub(crate) fn print(label: &str, x: &AnyOperand, place: Place) -> Expr {
    in_trace(|trace| {
        let value = trace.value(x, "debug_print", place)?;
        trace.printed.push((Printing { label: label.into(), place }, value));
        Ok(value)
    })
}
