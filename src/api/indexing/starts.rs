//! Parts of an array that begin at indices known at run time, as a column of a traced index: one view for all starts.

use super::at::{At, operand_names};
use super::checked::{check, checked_indices};
use super::indices::{AxisSelection, IndexLayout};
use crate::trace::operand::{AnyOperand, ArrayLike};
use crate::trace::scalar::Scalar;
use ndjit_eval::request::{Movement, NamedFunction};
use ndjit_ir::infer::Operation;
use ndjit_ir::view::{AxisIndex, View};
use ndjit_ir::{LiteralValue, Result, Shape};
use smallvec::SmallVec;

/// A part of an array.
pub(super) struct StartedPart {
    /// The view of the part, its first axes those of the starts.
    pub view: View,
    /// The starts, `i64` scalars counted from the first index.
    pub starts: SmallVec<[AnyOperand; 2]>,
    /// The shape of the part.
    pub taken: Shape,
}

impl<R: ArrayLike> At<R> {
    /// Returns the part that scalar indices and ranges select in a traced function, if some of these begin at a run-time index and
    /// another is a range, of several elements. It `clips` the starts of ranges, which a slice does anyway. (Outside of traces each would
    /// be another program; rows are gathered, and single elements looked up, as they are.)
    pub(super) fn started(&self, what: &'static str, clips: bool) -> Result<Option<StartedPart>> {
        let (_, _, shape) = self.x.describe(what)?;
        if !matches!(self.x, AnyOperand::Expr(_)) || shape.extents().contains(&0) {
            return Ok(None);
        }
        let layout = IndexLayout::new(what, &self.indices, &shape)?;
        let ranges = |along: &AxisSelection| !matches!(along, AxisSelection::Indices(_));
        let others = &shape.extents()[layout.axes.len()..];
        let taken = Shape::from(layout.found.extents().iter().chain(others).copied().collect::<Vec<usize>>());
        if !layout.axes.iter().any(ranges) || taken.size()? <= 1 {
            return Ok(None);
        }
        let whole = |(n, &extent): (usize, &usize)| ranged(layout.found.rank() + n, extent, 0, 1);
        let behind: Vec<AxisIndex> = others.iter().enumerate().map(whole).collect();
        let (mut axes, mut along, mut starts, mut dynamic) = (SmallVec::new(), Vec::new(), SmallVec::new(), false);
        for (axis, (selection, &extent)) in layout.axes.iter().zip(shape.extents()).enumerate() {
            let counted =
                |given: &AnyOperand, checked| checked_indices::<R>(what, given, axis, extent, checked, self.place);
            axes.push(match selection {
                AxisSelection::Indices(given) => match (literal(given), given.describe(what)?) {
                    (Some(n), (_, dtype, _)) => {
                        check(given, dtype, axis, extent, self.place)?;
                        AxisIndex::fixed(from_end(n, extent))
                    }
                    (None, (_, _, own)) if own.rank() > 0 => return Ok(None),
                    (None, _) => {
                        starts.push(counted(given, true)?);
                        along.push((axis, 1));
                        AxisIndex::fixed(0)
                    }
                },
                &AxisSelection::Range { start, step, axis } => ranged(axis, taken.extents()[axis], start, step),
                AxisSelection::Dynamic { start: given, axis: own } => {
                    dynamic = true;
                    let own_extent = taken.extents()[*own];
                    let last = extent - own_extent;
                    let start = match literal(given) {
                        Some(n) => from_end(n, extent).clamp(0, last as isize),
                        None => {
                            let start = counted(given, false)?;
                            starts.push(if clips { self.clipped(&start, last) } else { start });
                            along.push((axis, 1));
                            0
                        }
                    };
                    ranged(*own, own_extent, start, 1)
                }
            });
        }
        if starts.is_empty() && !dynamic {
            return Ok(None);
        }
        axes.extend(behind);
        let view = View { rank: taken.rank(), axes }.with_starts(&along);
        Ok(Some(StartedPart { view, starts, taken }))
    }

    /// Returns the part's elements, those of the nearest start for a start out of bounds.
    pub(super) fn taken(&self, what: &'static str, part: &StartedPart) -> R {
        let of = |_: &[&Shape]| Ok(Operation::slice(part.view.clone(), part.taken.clone()));
        let operands: SmallVec<[AnyOperand; 4]> = [&self.x].into_iter().chain(&part.starts).cloned().collect();
        let names = operand_names(part.starts.len(), false);
        R::movement(&Movement { function: NamedFunction::new(what, &names), of: &of }, &operands, self.place)
    }
}

/// The index of a range along an axis of the part, which has this extent there.
fn ranged(axis: usize, extent: usize, start: isize, step: isize) -> AxisIndex {
    if extent > 1 { AxisIndex::along(axis, start, step) } else { AxisIndex::fixed(start) }
}

/// An integer known at trace time.
fn literal(index: &AnyOperand) -> Option<isize> {
    match index {
        AnyOperand::Scalar(Scalar(number, _)) => match number.value() {
            LiteralValue::Int(n) => isize::try_from(n).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// An index counted from the first one.
fn from_end(n: isize, extent: usize) -> isize {
    if n < 0 { n.saturating_add_unsigned(extent) } else { n }
}
