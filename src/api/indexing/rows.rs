//! The common part of all gathers: a gather of rows.

use crate::trace::operand::{AnyOperand, ArrayLike};
use ndjit_eval::request::{Movement, NamedFunction};
use ndjit_ir::graph::NodeKind;
use ndjit_ir::{Error, ErrorCode, Shape, SourceLoc};

/// The operands of a function that takes elements at indices.
pub(super) const INDEXED: &[&str] = &["x", "indices"];
/// The operands of a function that puts elements at indices.
pub(crate) const INDEXED_UPDATES: &[&str] = &["x", "indices", "y"];

/// Gathers rows of `x` along its first axis, one element of each at an index.
pub(crate) fn rows<R: ArrayLike>(what: &'static str, x: AnyOperand, index: AnyOperand, place: SourceLoc) -> R {
    let function = NamedFunction::new(what, INDEXED);
    R::movement(&Movement { function, of: &|_| Ok(NodeKind::Gather.into()) }, &[x, index], place)
}

/// An empty axis has no nearest index.
pub(super) fn no_indices(shape: &Shape) -> Error {
    Error::new(ErrorCode::Shape, format!("an array of shape {shape} has no element to take"))
        .help("give the array elements along the axis, or no indices; `x.at(i).get_or(number)` takes the number")
}
