//! Regions of arrays in memory: the region of a row-major array that a kernel's loops touch, and copies of the rest.

use crate::execution::threads::Threads;
use ndjit_ir::loops::Layout;
use ndjit_ir::view::{AxisRange, Region};
use ndjit_ir::{DType, Result, Shape};
use smallvec::{SmallVec, smallvec};

/// The elements of an array of this shape, in row-major order from byte 0 on, that loops of these extents store, each once. `None` if they
/// form no region, or leave the array.
pub fn stored_region(layout: &Layout, extents: &[usize], shape: &Shape, dtype: DType) -> Option<Region> {
    region(layout, extents, shape, dtype, false)
}

/// The same for reads, each element any number of times.
pub fn read_region(layout: &Layout, extents: &[usize], shape: &Shape, dtype: DType) -> Option<Region> {
    region(layout, extents, shape, dtype, true)
}

fn region(layout: &Layout, extents: &[usize], shape: &Shape, dtype: DType, again: bool) -> Option<Region> {
    let own = shape.extents();
    if extents.contains(&0) {
        return Some(Region(SmallVec::from_elem(AxisRange { start: 0, step: 1, extent: 0 }, own.len())));
    }
    if own.contains(&0) {
        return None;
    }
    let bytes = dtype.bytes();
    shape.bytes(bytes).ok()?;
    let strides: SmallVec<[usize; 4]> =
        shape.contiguous_strides().iter().map(|stride| stride.unsigned_abs() * bytes).collect();
    let mut offset = layout.offset;
    let mut loops: SmallVec<[(usize, usize); 4]> = smallvec![];
    for (&extent, &stride) in extents.iter().zip(&layout.strides).filter(|(extent, _)| **extent > 1) {
        if stride < 0 {
            offset = offset.checked_sub(stride.unsigned_abs().checked_mul(extent - 1)?)?;
        }
        match stride {
            0 if again => {}
            0 => return None,
            _ => loops.push((extent, stride.unsigned_abs())),
        }
    }
    let mut region = Region(SmallVec::new());
    for (&extent, &stride) in own.iter().zip(&strides) {
        // The stride of an axis of extent 1 is irrelevant.
        let start = if extent == 1 { 0 } else { offset / stride };
        offset -= start * stride;
        if start >= extent {
            return None;
        }
        region.0.push(AxisRange { start, step: 1, extent: 1 });
    }
    if offset != 0 {
        return None;
    }
    for (mut extent, stride) in loops {
        // Along the outermost axis with a whole number of steps.
        let mut axes = (0..own.len()).filter(|&axis| own[axis] > 1);
        let axis = axes.find(|&axis| stride >= strides[axis] && stride % strides[axis] == 0)?;
        let (mut axis, mut step) = (axis, stride / strides[axis]);
        loop {
            let range = &mut region.0[axis];
            if range.extent != 1 {
                return None;
            }
            let last = step.checked_mul(extent - 1)?.checked_add(range.start)?;
            if last < own[axis] {
                *range = AxisRange { start: range.start, step, extent };
                break;
            }
            // Adjacent axes in one loop: a step of the outer one is a whole number of inner steps.
            let taken = own[axis] / step;
            if !own[axis].is_multiple_of(step) || range.start >= step || !extent.is_multiple_of(taken) {
                return None;
            }
            *range = AxisRange { start: range.start, step: if taken > 1 { step } else { 1 }, extent: taken };
            (extent, step) = (extent / taken, 1);
            axis = (0..axis).rev().find(|&axis| own[axis] > 1)?;
        }
    }
    Some(region)
}

/// Runs of bytes at equal distances, copied to the same offsets of another array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copies {
    /// The first byte of the first run.
    pub offset: usize,
    /// Bytes of a run.
    pub run: usize,
    /// The number of runs along some axes, and their strides in bytes.
    pub loops: SmallVec<[(usize, usize); 4]>,
}

/// Overhead of a run, as bytes.
const RUN: usize = 64;
/// Estimated time of a byte, ns.
const BYTE: f64 = 0.1;
/// Bytes of one copy.
const PIECE: usize = 256 << 10;

/// Addresses shared by threads.
#[derive(Clone, Copy)]
struct Between {
    from: *const u8,
    to: *mut u8,
}

// SAFETY: addresses only. Reads and writes through them are justified where they happen.
unsafe impl Sync for Between {}

/// Copies runs to the same offsets of another array, on several threads where that is faster.
///
/// # Errors
/// `Panic` if a worker panicked.
///
/// # Safety
/// All runs lie in both arrays; those of the first are initialised, nobody else uses those of the second, and the arrays are distinct.
pub unsafe fn copy(all: &[Copies], from: *const u8, to: *mut u8, threads: &Threads) -> Result<()> {
    let between = &Between { from, to };
    for copies in all {
        let (runs, cut) = (copies.count(), copies.run.div_ceil(PIECE).max(1));
        let units = runs.saturating_mul(cut);
        let time = runs as f64 * (copies.run + RUN) as f64 * BYTE;
        let each = units.div_ceil(threads.pieces(units, time / units.max(1) as f64)).max(1);
        threads.each(units.div_ceil(each), time, |piece| {
            for unit in piece * each..((piece + 1) * each).min(units) {
                let start = unit % cut * PIECE;
                let at = copies.at(unit / cut) + start;
                // SAFETY: the caller's promise; units are disjoint.
                unsafe {
                    let target = between.to.wrapping_add(at);
                    target.copy_from_nonoverlapping(between.from.wrapping_add(at), PIECE.min(copies.run - start));
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

impl Copies {
    /// A copy of a whole array.
    pub fn whole(shape: &Shape, dtype: DType) -> Copies {
        let run = shape.extents().iter().fold(dtype.bytes(), |n, &extent| n.saturating_mul(extent));
        Copies { offset: 0, run, loops: SmallVec::new() }
    }

    /// Copies that cover at least an array without a region.
    pub fn beside(region: &Region, shape: &Shape, dtype: DType) -> SmallVec<[Copies; 4]> {
        let strides = shape.contiguous_strides();
        let stride = |axis: usize| strides[axis].unsigned_abs() * dtype.bytes();
        let whole = Copies::whole(shape, dtype);
        let size = whole.run;
        let mut copies: SmallVec<[Copies; 4]> = SmallVec::new();
        let (mut offset, mut loops): (usize, SmallVec<[(usize, usize); 4]>) = (0, SmallVec::new());
        for (axis, (range, &extent)) in region.0.iter().zip(shape.extents()).enumerate() {
            if range.step != 1 {
                return smallvec![whole];
            }
            let behind = range.start + range.extent;
            for (start, end) in [(0, range.start), (behind, extent)] {
                let run = end.saturating_sub(start) * stride(axis);
                if run > 0 {
                    copies.push(Copies { offset: offset + start * stride(axis), run, loops: loops.clone() });
                }
            }
            offset += range.start * stride(axis);
            if range.extent > 1 {
                loops.push((range.extent, stride(axis)));
            }
        }
        let cost = |copies: &Copies| copies.count().saturating_mul(copies.run + RUN);
        if copies.iter().map(cost).fold(0, usize::saturating_add) > size.saturating_add(RUN) {
            return smallvec![whole];
        }
        copies
    }

    /// The number of runs; saturates.
    pub fn count(&self) -> usize {
        self.loops.iter().fold(1, |n: usize, (count, _)| n.saturating_mul(*count))
    }

    /// The offset of the `n`th run.
    pub fn at(&self, mut n: usize) -> usize {
        self.loops.iter().rev().fold(self.offset, |at, &(count, stride)| {
            let own = n % count;
            n /= count;
            at + own * stride
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndjit_ir::view::{Slice, View, permute_dims, slice};

    fn layout(view: &View, shape: &Shape, dtype: DType) -> Layout {
        let strides = shape.contiguous_strides().iter().map(|s| s * dtype.bytes() as isize).collect();
        view.layout(&Layout { offset: 0, strides })
    }

    fn part(start: isize, end: isize, step: isize) -> Slice {
        Slice::Range { start: Some(start), end: Some(end), step }
    }

    fn views(shape: &Shape) -> Vec<(View, Shape)> {
        let parts = [part(0, 5, 1), part(1, 5, 1), part(0, 4, 2), part(3, 1, -1), Slice::Index(1), part(0, 1, 1)];
        let mut all: Vec<(View, Shape)> = Vec::new();
        for &rows in &parts {
            for &columns in &parts {
                let found = slice(shape, &[rows, columns]).unwrap();
                let turned = permute_dims(&found.1, &(0..found.1.rank() as isize).rev().collect::<Vec<_>>()).unwrap();
                all.push((turned.0.of(&found.0).canonical(&turned.1), turned.1));
                all.push(found);
            }
        }
        all
    }

    #[test]
    fn loops_touch_the_region_of_their_view() {
        for shape in [[5, 6, 2], [6, 5, 1], [5, 5, 3]].map(Shape::from) {
            for (view, result) in views(&shape) {
                let own = layout(&view, &shape, DType::F32);
                let found = stored_region(&own, result.extents(), &shape, DType::F32);
                assert_eq!(found, view.region(&shape, &result), "{view} : {result} of {shape}");
            }
        }
        let shape = Shape::from([4, 3]);
        let rows = |offset, extent| {
            let own = Layout { offset, strides: smallvec![4] };
            stored_region(&own, &[extent], &shape, DType::F32).map(|region| region.0.to_vec())
        };
        let range = |start, extent| AxisRange { start, step: 1, extent };
        assert_eq!(rows(12, 6), Some(vec![range(1, 2), range(0, 3)]));
        assert_eq!(rows(12, 2), Some(vec![range(1, 1), range(0, 2)]));
        assert_eq!(rows(16, 6), None);
        assert_eq!(rows(12, 12), None);
        assert_eq!(rows(2, 1), None);
        let again = Layout { offset: 0, strides: smallvec![0, 4] };
        assert_eq!(stored_region(&again, &[4, 3], &shape, DType::F32), None);
        assert_eq!(read_region(&again, &[4, 3], &shape, DType::F32), Some(Region(smallvec![range(0, 1), range(0, 3)])));
    }

    #[test]
    fn what_lies_beside_a_region_is_copied() {
        for shape in [[5, 6, 2], [6, 5, 1], [5, 50, 30]].map(Shape::from) {
            for (view, result) in views(&shape) {
                let region = view.region(&shape, &result).unwrap();
                let size = shape.bytes(1).unwrap();
                let mut copied = vec![0u8; size];
                for copies in Copies::beside(&region, &shape, DType::U8) {
                    for n in 0..copies.count() {
                        copied[copies.at(n)..][..copies.run].iter_mut().for_each(|byte| *byte += 1);
                    }
                }
                let own = layout(&view, &shape, DType::U8);
                let mut stored = vec![own.offset as isize];
                for (&extent, &stride) in result.extents().iter().zip(&own.strides) {
                    stored = stored.iter().flat_map(|at| (0..extent as isize).map(move |n| at + n * stride)).collect();
                }
                for (n, &times) in copied.iter().enumerate() {
                    let own = stored.contains(&(n as isize));
                    assert!(times == 1 || own && times == 0, "byte {n} of {shape} is copied {times} times: {view}");
                }
            }
        }
    }
}
