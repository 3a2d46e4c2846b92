//! What all functions that take elements are made of: a gather of rows.

use crate::trace::operand::{AnyOperand, Computed};
use ndjit_eval::request::Movement;
use ndjit_ir::infer::Operation;
use ndjit_ir::{Error, ErrorCode, Place, Shape};

/// Of each row of `x` the element at an index: rows lie along its first axis.
pub(crate) fn rows<R: Computed>(what: &'static str, x: AnyOperand, index: AnyOperand, place: Place) -> R {
    R::movement(&Movement { what, of: &|_| Ok(Operation::Gather) }, &[x, index], place)
}

/// Of an array without indices none can be taken, also where the nearest would be.
pub(super) fn no_indices(shape: &Shape) -> Error {
    Error::new(ErrorCode::Shape, format!("an array of shape {shape} has no element to take"))
        .help("give the array elements along the axis, or no indices; `x.at(i).get_or(number)` takes the number")
}
