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
    /// another is a range. It `clips` the starts of ranges, which a slice does anyway. (Outside of traces each would be another program; rows are gathered as they are.)
    pub(super) fn started(&self, what: &'static str, clips: bool) -> Result<Option<StartedPart>> {
        let (_, _, shape) = self.x.describe(what)?;
        if !matches!(self.x, AnyOperand::Expr(_)) || shape.extents().contains(&0) {
            return Ok(None);
        }
        let layout = IndexLayout::new(what, &self.indices, &shape)?;
        let ranges = |along: &AxisSelection| !matches!(along, AxisSelection::Indices(_));
        let others = &shape.extents()[layout.axes.len()..];
        let taken = Shape::from(layout.found.extents().iter().chain(others).copied().collect::<Vec<usize>>());
        if !layout.axes.iter().any(ranges) || taken.extents().contains(&0) {
            return Ok(None);
        }
        let whole = |(n, &extent): (usize, &usize)| ranged(layout.found.rank() + n, extent, 0, 1);
        let behind: Vec<AxisIndex> = others.iter().enumerate().map(whole).collect();
        let (mut axes, mut along, mut starts) = (SmallVec::new(), Vec::new(), SmallVec::new());
        for (axis, (selection, &extent)) in layout.axes.iter().zip(shape.extents()).enumerate() {
            let counted = |given: &AnyOperand| checked_indices::<R>(what, given, axis, extent, false, self.place);
            axes.push(match selection {
                AxisSelection::Indices(given) => match given {
                    AnyOperand::Scalar(Scalar(number, _)) => {
                        let LiteralValue::Int(n) = number.value() else { return Ok(None) };
                        check(given, given.describe(what)?.1, axis, extent, self.place)?;
                        let n = n as isize;
                        AxisIndex::fixed(if n < 0 { n.saturating_add_unsigned(extent) } else { n })
                    }
                    _ if given.describe(what)?.2.rank() > 0 => return Ok(None),
                    _ => {
                        starts.push(counted(given)?);
                        along.push((axis, 1));
                        AxisIndex::fixed(0)
                    }
                },
                &AxisSelection::Range { start, step, axis } => ranged(axis, taken.extents()[axis], start, step),
                AxisSelection::Dynamic { start: given, axis: own } => {
                    let own_extent = taken.extents()[*own];
                    let start = counted(given)?;
                    starts.push(if clips { self.clipped(&start, extent - own_extent) } else { start });
                    along.push((axis, 1));
                    ranged(*own, own_extent, 0, 1)
                }
            });
        }
        if starts.is_empty() {
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
