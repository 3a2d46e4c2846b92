//! Casts in the trace of this thread: written ones, and those by which a weak value takes the dtype of a loop's state.

use super::recorder::{in_trace, literal, read};
use super::written;
use crate::api::config;
use crate::trace::expr::Expr;
use crate::trace::operand::AnyOperand;
use ndjit_eval::settings::check_value;
use ndjit_ir::support::CastReason;
use ndjit_ir::{DType, LiteralValue, Place, Result};

/// Casts in the trace of this thread.
pub(crate) fn cast(x: Expr, dtype: DType, place: Place) -> Expr {
    convert(&AnyOperand::Expr(x), config::settings().policy.width(dtype), place)
}

/// Casts an operand of any sort in the trace of this thread, to this dtype under every policy.
pub(crate) fn convert(x: &AnyOperand, dtype: DType, place: Place) -> Expr {
    cast_as(x, dtype, CastReason::Explicit, "cast", place)
}

/// A weak value of this thread's trace as this dtype, which it takes as if it met an array of it. A number must [fit](check_number).
pub(crate) fn promote(x: Expr, dtype: DType, what: &str, place: Place) -> Expr {
    cast_as(&AnyOperand::Expr(x), dtype, CastReason::Promotion, what, place)
}

fn cast_as(x: &AnyOperand, dtype: DType, reason: CastReason, what: &str, place: Place) -> Expr {
    let place = written::place(place);
    in_trace(|trace| {
        let value = trace.value(x, what, place)?;
        check_value(config::settings(), what, dtype).map_err(|e| trace.fail(e.at(place)))?;
        trace.graph.shape(value).bytes(dtype.bytes()).map_err(|e| trace.fail(e.at(place)))?;
        Ok(trace.cast(value, dtype, reason, place))
    })
}

/// Whether a value of this thread's trace, if it is a number that is known, fits a dtype.
///
/// # Errors
/// `Literal` if it does not; else as [`describe`](super::describe).
pub(crate) fn check_number(x: Expr, dtype: DType) -> Result<()> {
    match read(x, "number", |trace, value| literal(&trace.graph, value))? {
        Some(literal) => literal.to_repr(dtype).map(drop),
        None => Ok(()),
    }
}

/// The number that a value of this thread's trace is, if it is one that is known.
pub(crate) fn number(x: Expr) -> Option<LiteralValue> {
    read(x, "number", |trace, value| literal(&trace.graph, value)).ok().flatten().map(|literal| literal.value())
}
