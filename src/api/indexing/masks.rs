//! Boolean masks as indices.

use super::take::taken;
use crate::api::manipulation::reshaped;
use crate::api::parts::signed;
use crate::api::selection::found;
use crate::array::node::Array;
use crate::trace::operand::{ArrayLike, Operand};
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, SourceLoc};

/// Checks that a mask of this shape can index an array of that shape.
pub(super) fn check_mask(shape: &Shape, of: &Shape) -> Result<()> {
    if shape.extents().starts_with(of.extents()) {
        return Ok(());
    }
    let headline = format!("a mask of shape {of} for an array of shape {shape}");
    let help = "a mask has the array's first axes, with their extents, and does not broadcast by itself";
    Err(Error::new(ErrorCode::Shape, headline).help(match of.broadcast(shape).as_ref() == Some(shape) {
        true => format!("{help}: write `broadcast_to(mask, {shape})` where it should"),
        false => help.to_owned(),
    }))
}

/// Returns the elements of an array where a mask of its first axes is true.
pub(super) fn elements<R: ArrayLike>(what: &'static str, x: &Array, mask: &Array, place: SourceLoc) -> Result<R> {
    if let Some(error) = x.error() {
        return Err(error.clone());
    }
    check_mask(x.shape(), mask.shape())?;
    let flat: Array = reshaped(what, mask.operand(), &[-1], place);
    let others = &x.shape().extents()[mask.shape().rank()..];
    let rows: Vec<isize> = [flat.len()].iter().chain(others).map(|&extent| signed(extent)).collect();
    let rows: R = reshaped(what, x.operand(), &rows, place);
    let indices = found(&flat, DType::I64, place)?.pop();
    let lost = || Error::new(ErrorCode::Verify, "a result is missing").of(what).at(place);
    Ok(taken(what, rows.operand(), indices.ok_or_else(lost)?.operand(), 0, false, place))
}
