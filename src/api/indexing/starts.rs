//! Parts of an array that begin at indices known at run time, as a column of a traced index: one view for all starts.

use super::at::At;
use super::checked::{check, checked_indices};
use super::indices::{AxisSelection, IndexLayout};
use super::rows::rows;
use crate::api::manipulation::seen;
use crate::trace::operand::{AnyOperand, ArrayLike};
use crate::trace::scalar::Scalar;
use ndjit_ir::view::{AxisIndex, View};
use ndjit_ir::{LiteralValue, Result, Shape};
use smallvec::SmallVec;

/// A part of an array.
pub(super) struct StartedPart {
    /// The view of the part, its first axes those of the starts.
    pub view: View,
    /// The number of starts along each of these.
    counts: SmallVec<[usize; 2]>,
    /// The starts, `i64` scalars counted from the first index.
    pub starts: SmallVec<[AnyOperand; 2]>,
    /// The shape of the part.
    pub taken: Shape,
    /// True if parts at different starts have common elements.
    overlaps: bool,
}

impl<R: ArrayLike> At<R> {
    /// Returns the part that scalar indices and ranges select in a traced function, if some of these begin at a run-time index and
    /// another is a range. (Outside of traces each would be another program; rows are gathered as they are.)
    pub(super) fn started(&self, what: &'static str) -> Result<Option<StartedPart>> {
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
        let (mut axes, mut along, mut overlaps) = (SmallVec::new(), Vec::new(), false);
        let (mut starts, mut counts) = (SmallVec::new(), SmallVec::new());
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
                        counts.push(extent);
                        along.push((axis, 1));
                        AxisIndex::fixed(0)
                    }
                },
                &AxisSelection::Range { start, step, axis } => ranged(axis, taken.extents()[axis], start, step),
                AxisSelection::Dynamic { start: given, axis: own } => {
                    let own_extent = taken.extents()[*own];
                    starts.push(self.clipped(&counted(given)?, extent - own_extent));
                    counts.push(extent - own_extent + 1);
                    along.push((axis, 1));
                    overlaps |= own_extent > 1;
                    ranged(*own, own_extent, 0, 1)
                }
            });
        }
        if starts.is_empty() {
            return Ok(None);
        }
        axes.extend(behind);
        let view = View { rank: taken.rank(), axes }.with_starts(&along);
        Ok(Some(StartedPart { view, counts, starts, taken, overlaps }))
    }

    /// Returns the part's elements, those of the nearest start for a start out of bounds. `None` for parts that overlap: the derivative
    /// of their view has an element for each of all parts.
    pub(super) fn taken(&self, what: &'static str, part: &StartedPart) -> Option<R> {
        if part.overlaps {
            return None;
        }
        let all: Vec<usize> = part.counts.iter().chain(part.taken.extents()).copied().collect();
        let all = Shape::from(all);
        let seen: R = seen(what, self.x.clone(), self.place, |_| Ok((part.view.clone().canonical(&all), all.clone())));
        let take = |x: R, start: &AnyOperand| rows(what, x.operand(), start.clone(), self.place);
        Some(part.starts.iter().fold(seen, take))
    }
}

/// The index of a range along an axis of the part, which has this extent there.
fn ranged(axis: usize, extent: usize, start: isize, step: isize) -> AxisIndex {
    if extent > 1 { AxisIndex::along(axis, start, step) } else { AxisIndex::fixed(start) }
}
