//! Boolean masks as indices.

use super::take::taken;
use crate::api::manipulation::{Slice, reshaped, seen};
use crate::api::parts::signed;
use crate::api::selection::found;
use crate::array::node::Array;
use crate::trace::operand::{ArrayLike, Operand};
use ndjit_ir::view::slice;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, SourceLoc};

/// Checks that a mask of this shape can index an array of that shape.
pub(super) fn check_mask(shape: &Shape, of: &Shape) -> Result<()> {
    let mut axes = shape.extents().iter().zip(of.extents());
    if of.rank() <= shape.rank() && axes.all(|(extent, own)| own == extent || *own == 0) {
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
    let others = &x.shape().extents()[mask.shape().rank()..];
    if mask.is_empty() {
        let none: R = seen(what, x.operand(), place, |shape| {
            slice(shape, &[Slice::Range { start: None, end: Some(0), step: 1 }])
        });
        let extents: Vec<isize> = [0].iter().chain(others).map(|&extent| signed(extent)).collect();
        return Ok(reshaped(what, none.operand(), &extents, place));
    }
    let flat: Array = reshaped(what, mask.operand(), &[-1], place);
    let rows: Vec<isize> = [flat.len()].iter().chain(others).map(|&extent| signed(extent)).collect();
    let rows: R = reshaped(what, x.operand(), &rows, place);
    let indices = found(&flat, DType::I64, place)?.pop();
    let lost = || Error::new(ErrorCode::Verify, "a result is missing").of(what).at(place);
    Ok(taken(what, rows.operand(), indices.ok_or_else(lost)?.operand(), 0, false, place))
}
