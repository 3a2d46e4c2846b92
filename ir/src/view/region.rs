//! Regions: the elements of an array that a view selects, each once: along each axis every `step`th index of a range. Partial
//! stores store a region.

use super::View;
use crate::shape::Shape;
use smallvec::SmallVec;

/// Indices along an axis: `start`, `start + step`, and so on, `extent` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AxisRange {
    /// The least index.
    pub start: usize,
    /// The distance of adjacent indices; 1 if there is one index.
    pub step: usize,
    /// The number of indices.
    pub extent: usize,
}

impl AxisRange {
    /// Returns `true` if the range has every index of an axis.
    pub fn is_whole(self, extent: usize) -> bool {
        self == AxisRange { start: 0, step: 1, extent }
    }

    /// Returns `true` if the ranges have a common index.
    pub fn meets(self, other: AxisRange) -> bool {
        let [(a, p, a_last), (b, q, b_last)] = [self, other].map(|range| {
            let (start, step) = (range.start as i128, range.step.max(1) as i128);
            (start, step, start + step * (range.extent as i128 - 1))
        });
        let (low, high) = (a.max(b), a_last.min(b_last));
        if self.extent == 0 || other.extent == 0 || low > high {
            return false;
        }
        // a + p * i = b + q * j, by the extended Euclidean algorithm: one common index, and every p * q / gcd from it.
        let (gcd, inverse) = bezout(p, q);
        if (b - a) % gcd != 0 {
            return false;
        }
        let period = p / gcd * q;
        let i = (b - a) / gcd % (q / gcd) * (inverse % (q / gcd));
        let first = a + p * i.rem_euclid(q / gcd);
        let behind = (low - first).rem_euclid(period);
        low + (period - behind) % period <= high
    }
}

/// The greatest common divisor of two positive numbers, and `x` such that `p * x` is congruent to it modulo `q`.
fn bezout(p: i128, q: i128) -> (i128, i128) {
    let (mut old, mut new) = ((p, 1), (q, 0));
    while new.0 != 0 {
        let times = old.0 / new.0;
        (old, new) = (new, (old.0 - times * new.0, old.1 - times * new.1));
    }
    old
}

/// Some elements of an array, by the indices along each of its axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Region(pub SmallVec<[AxisRange; 4]>);

impl Region {
    /// The number of elements; saturates.
    pub fn size(&self) -> usize {
        self.0.iter().fold(1, |n: usize, range| n.saturating_mul(range.extent))
    }

    /// Returns `true` if the regions have a common element.
    pub fn meets(&self, other: &Region) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own.meets(*other))
    }
}

/// Disjoint parts of an array.
#[derive(Clone, Debug)]
pub struct DisjointRegions {
    shape: Shape,
    parts: Vec<Region>,
    /// The number of elements of all parts.
    size: usize,
    /// The end of the last part along the only axis along which the parts are cut: parts that begin there are disjoint.
    end: Option<(usize, usize)>,
}

impl DisjointRegions {
    /// No parts, of an array of this shape.
    pub fn new(shape: Shape) -> DisjointRegions {
        DisjointRegions { shape, parts: Vec::new(), size: 0, end: None }
    }

    /// Adds a part.
    ///
    /// # Errors
    /// If it meets another part.
    #[allow(clippy::result_unit_err, reason = "there is one way to fail, which its caller words")]
    pub fn add(&mut self, part: Region) -> Result<(), ()> {
        let cut = |&axis: &usize| !part.0[axis].is_whole(self.shape.extents()[axis]);
        let mut along = (0..part.0.len()).filter(cut);
        let own = along.next().filter(|_| along.next().is_none()).map(|axis| (axis, part.0[axis]));
        let behind = own.zip(self.end).is_some_and(|((axis, range), end)| axis == end.0 && range.start >= end.1);
        if !behind && self.parts.iter().any(|other| other.meets(&part)) {
            return Err(());
        }
        let next = own.map(|(axis, range)| (axis, range.start + range.extent.saturating_sub(1) * range.step + 1));
        self.end = next.filter(|_| behind || self.parts.is_empty());
        self.size = self.size.saturating_add(part.size());
        self.parts.push(part);
        Ok(())
    }

    /// Returns `true` if the parts are all of the array.
    pub fn are_all(&self) -> bool {
        self.shape.size() == Ok(self.size)
    }
}

/// An index known at run time, from which the elements of a view begin: its multiples of `step` along `axis` of the operand, below
/// `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewStart {
    /// The axis of the operand.
    pub axis: usize,
    /// The distance of the elements at adjacent starts.
    pub step: usize,
    /// The number of starts for which all elements lie within the operand.
    pub count: usize,
}

impl View {
    /// The view with [starts](ViewStart) along these axes of the operand, by these steps, as its first axes.
    #[must_use]
    pub fn with_starts(&self, starts: &[(usize, usize)]) -> View {
        let count = starts.len() as u32;
        let shifted = |index: &super::AxisIndex| {
            let mut own = super::AxisIndex::fixed(index.start);
            index.terms.iter().for_each(|term| own.add(term.axis + count, term.step));
            own
        };
        let mut view = View { rank: self.rank + starts.len(), axes: self.axes.iter().map(shifted).collect() };
        for (n, &(axis, step)) in starts.iter().enumerate() {
            view.axes[axis].add(n as u32, step as isize);
        }
        view
    }

    /// The view of the elements at index 0 along each of its first axes, `starts` of them.
    #[must_use]
    pub fn without_starts(&self, starts: usize) -> View {
        let axes = self.axes.iter().map(|index| {
            let own = index.terms.iter().filter_map(|term| Some((term.axis.checked_sub(starts as u32)?, term.step)));
            own.fold(super::AxisIndex::fixed(index.start), |mut sum, (axis, step)| {
                sum.add(axis, step);
                sum
            })
        });
        View { rank: self.rank.saturating_sub(starts), axes: axes.collect() }
    }

    /// The starts along the first axes of the view, as many; the other axes are those of a result of this shape. `None` if the view
    /// selects an element twice from some starts, if two starts move along one axis, or if the elements at index 0 are out of bounds.
    pub fn starts(&self, operand: &Shape, result: &Shape, starts: usize) -> Option<SmallVec<[ViewStart; 1]>> {
        let inner = self.without_starts(starts);
        (self.rank == result.rank() + starts).then(|| inner.region(operand, result))??;
        let mut found: SmallVec<[ViewStart; 1]> = SmallVec::new();
        for start in 0..starts as u32 {
            let steps =
                |index: &super::AxisIndex| index.terms.iter().find(|term| term.axis == start).map(|term| term.step);
            let mut along = self.axes.iter().enumerate().filter_map(|(axis, index)| Some((axis, steps(index)?)));
            let (axis, step) = along.next().filter(|_| along.next().is_none())?;
            let step = usize::try_from(step).ok()?;
            let (_, last) = inner.axes[axis].range(result);
            let room = operand.extents()[axis].checked_sub(usize::try_from(last).ok()?.checked_add(1)?);
            let count = room.map_or(0, |room| room / step + 1);
            if found.iter().any(|other: &ViewStart| other.axis == axis) {
                return None;
            }
            found.push(ViewStart { axis, step, count });
        }
        Some(found)
    }

    /// The elements that the view, with a result of this shape, selects from an operand of that shape; `None` if it selects one
    /// twice, or is out of bounds.
    pub fn region(&self, operand: &Shape, result: &Shape) -> Option<Region> {
        self.check(operand, result).ok()?;
        let mut named: SmallVec<[usize; 4]> = SmallVec::new();
        let range = |index: &super::AxisIndex| {
            let start = usize::try_from(index.start).ok()?;
            let [term] = index.terms[..] else {
                return index.terms.is_empty().then_some(AxisRange { start, step: 1, extent: 1 });
            };
            named.push(term.axis as usize);
            let (extent, step) = (result.extents()[term.axis as usize], term.step.unsigned_abs());
            let span = step.checked_mul(extent - 1)?;
            let start = if term.step < 0 { start.checked_sub(span)? } else { start };
            Some(AxisRange { start, step, extent })
        };
        if result.extents().contains(&0) {
            return Some(Region(SmallVec::from_elem(AxisRange { start: 0, step: 1, extent: 0 }, operand.rank())));
        }
        let ranges = self.axes.iter().map(range).collect::<Option<SmallVec<[AxisRange; 4]>>>()?;
        named.sort_unstable();
        let moving = (0..result.rank()).filter(|&axis| result.extents()[axis] > 1);
        named.iter().copied().eq(moving).then_some(Region(ranges))
    }

    /// The view that places an array of the operand's rank in another one, from these indices on.
    pub fn placing(starts: &[usize], operand: &Shape) -> View {
        let axes = starts.iter().enumerate().map(|(axis, &start)| super::AxisIndex::along(axis, start as isize, 1));
        View { rank: starts.len(), axes: axes.collect() }.canonical(operand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Slice, flip, permute_dims, slice, sliding_window};

    #[test]
    fn ranges_meet_where_an_index_is_in_both() {
        let ranges: Vec<AxisRange> = (0..5)
            .flat_map(|start| {
                (1..6).flat_map(move |step| (0..5).map(move |extent| AxisRange { start: 3 * start, step, extent }))
            })
            .collect();
        let all = |range: AxisRange| (0..range.extent).map(move |n| range.start + range.step * n);
        for &a in &ranges {
            for &b in &ranges {
                let both = all(a).any(|n| all(b).any(|m| n == m));
                assert_eq!(a.meets(b), both, "{a:?} {b:?}");
            }
        }
        let most = AxisRange { start: 0, step: isize::MAX as usize - 1, extent: isize::MAX as usize };
        assert!(most.meets(AxisRange { start: 0, step: isize::MAX as usize, extent: isize::MAX as usize }));
    }

    #[test]
    fn views_that_name_elements_once_are_regions() {
        let shape = Shape::from([6, 5]);
        let region = |(view, result): (View, Shape)| view.region(&shape, &result);
        let part = |start, end, step| Slice::Range { start: Some(start), end: Some(end), step };
        let whole = AxisRange { start: 0, step: 1, extent: 5 };
        let of = |ranges: [AxisRange; 2]| Some(Region(SmallVec::from_slice(&ranges)));
        let rows = |start, step, extent| AxisRange { start, step, extent };
        assert_eq!(region(slice(&shape, &[part(1, 6, 2)]).unwrap()), of([rows(1, 2, 3), whole]));
        assert_eq!(region(slice(&shape, &[part(0, 6, -2)]).unwrap()), of([rows(1, 2, 3), whole]));
        assert_eq!(region(slice(&shape, &[Slice::Index(2)]).unwrap()), of([rows(2, 1, 1), whole]));
        assert_eq!(region(permute_dims(&shape, &[1, 0]).unwrap()), of([rows(0, 1, 6), whole]));
        assert_eq!(region(flip(&shape, &[0]).unwrap()), of([rows(0, 1, 6), whole]));
        assert_eq!(region(sliding_window(&shape, &[2], &[0]).unwrap()), None);
        assert_eq!(region((View { rank: 3, axes: View::identity(2).axes }, Shape::from([6, 5, 2]))), None);
    }

    /// All elements from each start, and none from the next.
    #[test]
    fn starts_are_as_many_as_have_room() {
        let shape = Shape::from([6, 5]);
        let part = |start, end, step| Slice::Range { start: Some(start), end: Some(end), step };
        for (parts, along) in [
            ([Slice::ALL, Slice::Index(0)], vec![(1, 1)]),
            ([part(0, 4, 3), part(1, 3, 1)], vec![(0, 1), (1, 2)]),
            ([part(1, 6, -2), Slice::Index(2)], vec![(1, 1), (0, 1)]),
            ([Slice::ALL, Slice::ALL], vec![(0, 3)]),
        ] {
            let (inner, result) = slice(&shape, &parts).unwrap();
            let view = inner.with_starts(&along);
            assert_eq!(view.without_starts(along.len()), inner);
            let starts = view.starts(&shape, &result, along.len()).unwrap();
            for (n, (start, &(axis, step))) in starts.iter().zip(&along).enumerate() {
                assert_eq!((start.axis, start.step), (axis, step));
                for (count, fits) in [(start.count, true), (start.count + 1, false)] {
                    let mut extents: Vec<usize> = starts.iter().map(|_| 1).collect();
                    extents[n] = count;
                    extents.extend(result.extents());
                    let all = Shape::from(extents);
                    assert_eq!(view.clone().canonical(&all).check(&shape, &all).is_ok(), fits, "{view} {n} {count}");
                }
            }
        }
        let starts = |along: &[(usize, usize)]| {
            let (inner, result) = slice(&shape, &[part(0, 2, 1), Slice::ALL]).unwrap();
            inner.with_starts(along).starts(&shape, &result, along.len())
        };
        assert!(starts(&[(0, 1)]).is_some() && starts(&[(0, 1), (0, 1)]).is_none());
    }

    #[test]
    fn parts_cover_an_array_once() {
        let cover = |regions: &[Region], shape: &Shape| {
            let mut parts = DisjointRegions::new(shape.clone());
            regions.iter().all(|region| parts.add(region.clone()).is_ok()) && parts.are_all()
        };
        let shape = Shape::from([4, 6]);
        let region = |rows: [usize; 3], columns: [usize; 3]| {
            Region(SmallVec::from_vec(
                [rows, columns].map(|[start, step, extent]| AxisRange { start, step, extent }).to_vec(),
            ))
        };
        let border = [region([0, 1, 1], [0, 1, 6]), region([3, 1, 1], [0, 1, 6]), region([1, 1, 2], [0, 1, 1])];
        let right = region([1, 1, 2], [5, 1, 1]);
        let inside = region([1, 1, 2], [1, 1, 4]);
        let all: Vec<Region> = border.iter().chain([&right, &inside]).cloned().collect();
        assert!(cover(&all, &shape));
        assert!(!cover(&all[1..], &shape));
        assert!(!cover(&[&all[1..], &all[1..2]].concat(), &shape));
        assert!(cover(&[region([0, 2, 2], [0, 1, 6]), region([1, 2, 2], [0, 1, 6])], &shape));
        assert!(!cover(&[region([0, 2, 2], [0, 1, 6]), region([0, 2, 2], [0, 1, 6])], &shape));
        assert!(cover(&[region([1, 1, 3], [0, 1, 6]), region([0, 1, 1], [0, 1, 6])], &shape));
        assert!(!cover(&[region([1, 1, 2], [0, 1, 6]), region([0, 1, 2], [0, 1, 6])], &shape));
    }
}
