//! Views: results whose elements are elements of their operand, by affine maps of indices.
//!
//! A [`View`] maps the result's indices to an affine sum for each axis of the operand. Permuting, slicing with steps, flipping,
//! broadcasting, diagonals, sliding windows and splitting an axis have this form, and so have their compositions ([`View::of`]).
//! Joining axes does not: it is a reshape, which keeps the row-major order.
//!
//! In memory both are arithmetic on strides ([`View::layout`], [`reshaped`]); some reshapes need a copy.

mod make;
mod region;
mod slice;
mod text;

pub use make::{
    broadcast_to, concat_shape, diagonal, expand_dims, flip, gathered, moveaxis, permute_dims, placed, reshape,
    resolve_reshape, scattered, sliding_window, squeeze, swapaxes,
};
pub use region::{AxisRange, DisjointRegions, Region, ViewStart};
pub use slice::{Slice, slice};

use crate::layout::Layout;
use crate::shape::Shape;
use smallvec::{SmallVec, smallvec};

/// One summand of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexTerm {
    /// An axis of the result.
    pub axis: u32,
    /// The factor of its index; not 0.
    pub step: isize,
}

/// The index along one axis of the operand: `start` and the sum of the terms, at most one for each axis, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct AxisIndex {
    /// The index at the result's first element.
    pub start: isize,
    /// The strides along the result's axes.
    pub terms: SmallVec<[IndexTerm; 1]>,
}

impl AxisIndex {
    /// The same index everywhere.
    pub fn fixed(start: isize) -> AxisIndex {
        AxisIndex { start, terms: SmallVec::new() }
    }

    /// `start + step * d`, `d` being the index along `axis`.
    pub fn along(axis: usize, start: isize, step: isize) -> AxisIndex {
        let mut index = AxisIndex::fixed(start);
        index.add(axis as u32, step);
        index
    }

    /// Adds `step * d`, `d` being the index along `axis`. Saturates.
    pub fn add(&mut self, axis: u32, step: isize) {
        match self.terms.binary_search_by_key(&axis, |term| term.axis) {
            Ok(at) => {
                let sum = self.terms[at].step.saturating_add(step);
                match sum {
                    0 => drop(self.terms.remove(at)),
                    sum => self.terms[at].step = sum,
                }
            }
            Err(_) if step == 0 => {}
            Err(at) => self.terms.insert(at, IndexTerm { axis, step }),
        }
    }

    /// The least and the greatest index over a non-empty result; saturates.
    fn range(&self, result: &Shape) -> (isize, isize) {
        let (mut low, mut high) = (self.start, self.start);
        for term in &self.terms {
            let last = result.extents().get(term.axis as usize).map_or(0, |&extent| extent.saturating_sub(1));
            let span = term.step.saturating_mul(isize::try_from(last).unwrap_or(isize::MAX));
            low = low.saturating_add(span.min(0));
            high = high.saturating_add(span.max(0));
        }
        (low, high)
    }
}

/// For each axis of an operand the index, from the indices of a result.
///
/// ```
/// use ndjit_ir::Shape;
/// use ndjit_ir::view::{flip, permute_dims};
///
/// let (transposed, shape) = permute_dims(&Shape::from([2, 3]), &[1, 0])?;
/// assert_eq!(transposed.to_string(), "(d0, d1) -> (d1, d0)");
/// let (flipped, shape) = flip(&shape, &[0])?;
/// assert_eq!(flipped.of(&transposed).to_string(), "(d0, d1) -> (d1, -d0 + 2)");
/// assert_eq!(shape, Shape::from([3, 2]));
/// # Ok::<(), ndjit_ir::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The number of axes of the result.
    pub rank: usize,
    /// The index along each axis of the operand.
    pub axes: SmallVec<[AxisIndex; 4]>,
}

impl View {
    /// The identity view.
    pub fn identity(rank: usize) -> View {
        View { rank, axes: (0..rank).map(|axis| AxisIndex::along(axis, 0, 1)).collect() }
    }

    /// The composition of this view and `inner`: from this result's indices to those of `inner`'s operand. Saturates.
    #[must_use]
    pub fn of(&self, inner: &View) -> View {
        let axes = inner.axes.iter().map(|index| {
            let mut sum = AxisIndex::fixed(index.start);
            for term in &index.terms {
                let Some(own) = self.axes.get(term.axis as usize) else { continue };
                sum.start = sum.start.saturating_add(own.start.saturating_mul(term.step));
                own.terms.iter().for_each(|t| sum.add(t.axis, t.step.saturating_mul(term.step)));
            }
            sum
        });
        View { rank: self.rank, axes: axes.collect() }
    }

    /// The canonical form of the view, equal for views of equal effect: zero strides along axes of one index, and zero starts for an
    /// empty result.
    #[must_use]
    pub fn canonical(self, result: &Shape) -> View {
        self.canonical_after(0, result)
    }

    /// The canonical form of a view whose first axes are those of [starts](ViewStart), which stay, and the others the result's.
    #[must_use]
    pub fn canonical_after(mut self, starts: usize, result: &Shape) -> View {
        let empty = result.extents().contains(&0);
        for index in &mut self.axes {
            index.terms.retain(|term| match (term.axis as usize).checked_sub(starts) {
                None => true,
                Some(axis) => !empty && result.extents().get(axis).is_some_and(|&extent| extent > 1),
            });
            if empty {
                index.start = 0;
            }
        }
        self
    }

    /// Returns `true` if the view's result, of this shape, is the operand itself.
    pub fn is_identity(&self, operand: &Shape, result: &Shape) -> bool {
        operand == result && *self == View::identity(self.rank).canonical(result)
    }

    /// Checks that the view maps an array of shape `operand` to one of shape `result`, within bounds.
    ///
    /// # Errors
    /// The problem.
    pub fn check(&self, operand: &Shape, result: &Shape) -> Result<(), String> {
        if self.rank != result.rank() || self.axes.len() != operand.rank() {
            return Err(format!("a view of {} axes as {} of {operand} as {result}", self.axes.len(), self.rank));
        }
        if self.clone().canonical(result) != *self {
            return Err("a view that steps along axes of one index".to_owned());
        }
        if result.extents().contains(&0) {
            return Ok(());
        }
        for (axis, (index, &extent)) in self.axes.iter().zip(operand.extents()).enumerate() {
            let (low, high) = index.range(result);
            if low < 0 || usize::try_from(high).is_ok_and(|high| high >= extent) {
                return Err(format!("indices {low} to {high} along axis {axis} of {operand}"));
            }
        }
        Ok(())
    }

    /// The layout of the result, from the operand's. Wraps only for views that do not pass [`check`](View::check).
    pub fn layout(&self, operand: &Layout) -> Layout {
        let mut layout = Layout { offset: operand.offset, strides: smallvec![0; self.rank] };
        for (index, &stride) in self.axes.iter().zip(&operand.strides) {
            layout.offset = layout.offset.wrapping_add_signed(index.start.wrapping_mul(stride));
            for term in &index.terms {
                let own = &mut layout.strides[term.axis as usize];
                *own = own.wrapping_add(term.step.wrapping_mul(stride));
            }
        }
        layout
    }

    /// The axes of the result that the operand's index along `axis` depends on.
    pub fn depends(&self, axis: usize) -> impl Iterator<Item = usize> + '_ {
        self.axes.get(axis).into_iter().flat_map(|index| &index.terms).map(|term| term.axis as usize)
    }
}

/// The layout of an array's elements, in row-major order, in another shape of as many elements; `None` if no strides express
/// it, so that they need a copy. (NumPy, `_attempt_nocopy_reshape`.)
pub fn reshaped(layout: &Layout, from: &Shape, to: &Shape) -> Option<Layout> {
    let mut strides: SmallVec<[isize; 4]> = smallvec![0; to.rank()];
    if from.extents().contains(&0) || to.extents().contains(&0) {
        return Some(Layout { offset: layout.offset, strides });
    }
    // Axes of one index do not matter.
    let mut axes = from.extents().iter().zip(&layout.strides).filter(|(extent, _)| **extent != 1).rev().peekable();
    // The number of elements of the joined axes of `from` not yet split off, and their stride.
    let (mut left, mut stride) = (1usize, 0isize);
    for (axis, &extent) in to.extents().iter().enumerate().rev().filter(|(_, extent)| **extent != 1) {
        if left == 1 {
            let (&own, &step) = axes.next()?;
            (left, stride) = (own, step);
        }
        // More elements than are left: the next axis must be contiguous with them.
        while left % extent != 0 {
            let (&own, &step) = axes.next()?;
            if stride.checked_mul(isize::try_from(left).ok()?) != Some(step) {
                return None;
            }
            left = left.checked_mul(own)?;
        }
        strides[axis] = stride;
        stride = stride.checked_mul(isize::try_from(extent).ok()?)?;
        left /= extent;
    }
    (left == 1 && axes.next().is_none()).then_some(Layout { offset: layout.offset, strides })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(layout: &Layout, shape: &Shape) -> Vec<usize> {
        let mut all = vec![layout.offset];
        for (&extent, &stride) in shape.extents().iter().zip(&layout.strides) {
            let step =
                |at: &usize| (0..extent as isize).map(|i| at.wrapping_add_signed(i * stride)).collect::<Vec<_>>();
            all = all.iter().flat_map(step).collect();
        }
        all
    }

    #[test]
    fn reshapes_keep_the_order_of_elements_or_are_none() {
        let shapes: [&[usize]; 9] =
            [&[24], &[2, 12], &[4, 6], &[2, 3, 4], &[1, 24, 1], &[3, 8], &[2, 2, 2, 3], &[6, 1, 4], &[12, 2]];
        let mut none = 0;
        for from in shapes.map(Shape::new) {
            for order in [0, 1, 2] {
                let mut layout = Layout { offset: 100, strides: from.contiguous_strides() };
                match order {
                    1 => layout.strides.iter_mut().for_each(|s| *s *= -2),
                    2 if from.rank() > 1 => layout.strides.swap(0, 1),
                    _ => {}
                }
                for to in shapes.map(Shape::new) {
                    match reshaped(&layout, &from, &to) {
                        Some(new) => assert_eq!(positions(&layout, &from), positions(&new, &to), "{from} {to}"),
                        None => none += 1,
                    }
                }
                let contiguous = Layout { offset: 0, strides: from.contiguous_strides() };
                for to in shapes.map(Shape::new) {
                    let new = reshaped(&contiguous, &from, &to).unwrap();
                    assert_eq!(positions(&new, &to), (0..24).collect::<Vec<_>>());
                }
            }
        }
        assert!(none > 20, "{none}");
    }
}
