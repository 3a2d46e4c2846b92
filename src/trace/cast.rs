//! Casts in the current trace: explicit ones, and those of a weak value to the dtype of a loop's state.

use super::recorder::{in_trace, literal, read};
use super::written;
use crate::api::config;
use crate::trace::expr::Expr;
use crate::trace::operand::AnyOperand;
use ndjit_eval::settings::check_value;
use ndjit_ir::support::CastReason;
use ndjit_ir::{DType, LiteralValue, Result, SourceLoc};

/// Casts a value in the current trace.
pub(crate) fn cast(x: Expr, dtype: DType, place: SourceLoc) -> Expr {
    convert(&AnyOperand::Expr(x), config::settings().policy.width(dtype), place)
}

/// Casts an operand of any type in the current trace, to this dtype under every policy.
pub(crate) fn convert(x: &AnyOperand, dtype: DType, place: SourceLoc) -> Expr {
    cast_as(x, dtype, CastReason::Explicit, "cast", place)
}

/// Casts a weak value of the current trace to this dtype, as promotion with an array of it would. A number must
/// [fit](check_number).
pub(crate) fn promote(x: Expr, dtype: DType, what: &str, place: SourceLoc) -> Expr {
    cast_as(&AnyOperand::Expr(x), dtype, CastReason::Promotion, what, place)
}

fn cast_as(x: &AnyOperand, dtype: DType, reason: CastReason, what: &str, place: SourceLoc) -> Expr {
    let place = written::place(place);
    in_trace(|trace| {
        let value = trace.value(x, what, place)?;
        check_value(config::settings(), what, dtype).map_err(|e| trace.fail(e.at(place)))?;
        trace.graph.shape(value).bytes(dtype.bytes()).map_err(|e| trace.fail(e.at(place)))?;
        Ok(trace.cast(value, dtype, reason, place))
    })
}

/// Checks that a known number of the current trace fits a dtype. Other values pass.
///
/// # Errors
/// `Literal` if it does not fit; those of [`describe`](super::describe).
pub(crate) fn check_number(x: Expr, dtype: DType) -> Result<()> {
    match read(x, "number", |trace, value| literal(&trace.graph, value))? {
        Some(literal) => literal.to_repr(dtype).map(drop),
        None => Ok(()),
    }
}

/// Returns the known number of a value of the current trace.
pub(crate) fn number(x: Expr) -> Option<LiteralValue> {
    read(x, "number", |trace, value| literal(&trace.graph, value)).ok().flatten().map(|literal| literal.value())
}
