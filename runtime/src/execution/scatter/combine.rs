//! Scatters of a block of updates into rows, element by element.

use super::functions::{FunctionVisitor, Reordered, with_function};
use ndjit_ir::DType;
use ndjit_ir::graph::Scatter;
use std::ops::Range;

/// Updates, in row-major order of the block's extents; at least one.
pub struct UpdateBlock<'a> {
    /// Aligned for elements.
    pub updates: *const u8,
    pub indices: *const i64,
    /// The address of the first element at index 0.
    pub target: *mut u8,
    pub extents: &'a [usize],
    /// Strides of the target in bytes, for each extent.
    pub strides: &'a [isize],
    /// Stride of rows in bytes.
    pub step: usize,
    /// The range of rows to update.
    pub rows: Range<usize>,
}

/// Scatters a block. Unsupported dtypes are never used: the array stays unchanged.
///
/// # Safety
/// There are as many updates of this dtype and indices as the block has elements, and both are aligned. For each index of the block its
/// element in each row is readable, writable and exclusive.
pub unsafe fn put(scatter: Scatter, dtype: DType, block: &UpdateBlock<'_>) {
    with_function(scatter, dtype, ScatteredBlock(block)).unwrap_or(());
}

/// A block whose caller has made the promise of [`put`].
struct ScatteredBlock<'a>(&'a UpdateBlock<'a>);

impl FunctionVisitor for ScatteredBlock<'_> {
    type Out = ();

    fn visit<T: Copy>(self, combine: impl Fn(T, T) -> T, _: Option<Reordered<T>>) {
        let block = self.0;
        // SAFETY: the promise of `put`, whose dtype has elements of this type.
        unsafe {
            if block.step == size_of::<T>() && block.strides.iter().all(|&stride| stride == 0) {
                elements(block, combine);
            } else {
                lines(block, combine);
            }
        }
    }
}

/// Scatters into rows of one element: without a product per element, twice as fast as [`lines`].
///
/// # Safety
/// As [`put`], for elements of type `T`, with that step and without strides.
unsafe fn elements<T: Copy>(block: &UpdateBlock<'_>, combine: impl Fn(T, T) -> T) {
    let len: usize = block.extents.iter().product();
    let (first, count) = (block.rows.start as u64, block.rows.len() as u64);
    let target = block.target.cast::<T>();
    // SAFETY: the caller's promise: there are as many, aligned, which nobody writes meanwhile.
    let (indices, updates) = unsafe {
        (std::slice::from_raw_parts(block.indices, len), std::slice::from_raw_parts(block.updates.cast::<T>(), len))
    };
    for (&position, &update) in indices.iter().zip(updates) {
        let position = position as u64;
        if position.wrapping_sub(first) < count {
            // SAFETY: the caller's promise: an index of one of the rows has an element.
            unsafe {
                let place = target.wrapping_add(position as usize);
                place.write_unaligned(combine(place.read_unaligned(), update));
            }
        }
    }
}

/// Scatters into rows of any layout.
///
/// # Safety
/// As [`put`], for elements of type `T`.
unsafe fn lines<T: Copy>(block: &UpdateBlock<'_>, combine: impl Fn(T, T) -> T) {
    let Some((&len, outer)) = block.extents.split_last() else { return };
    let Some((&stride, strides)) = block.strides.split_last() else { return };
    let (first, count) = (block.rows.start as u64, block.rows.len() as u64);
    let lines: usize = outer.iter().product();
    for line in 0..lines {
        let (mut rest, mut target) = (line, block.target);
        for (&extent, &stride) in outer.iter().zip(strides).rev() {
            target = target.wrapping_offset((rest % extent) as isize * stride);
            rest /= extent;
        }
        for i in 0..len {
            let n = line * len + i;
            // SAFETY: the caller's promise: there are as many indices and updates. An index of one of the rows has an element.
            unsafe {
                let position = block.indices.add(n).read() as u64;
                if position.wrapping_sub(first) < count {
                    let place =
                        target.wrapping_offset(i as isize * stride).wrapping_add(position as usize * block.step);
                    let place = place.cast::<T>();
                    let update = block.updates.cast::<T>().add(n).read_unaligned();
                    place.write_unaligned(combine(place.read_unaligned(), update));
                }
            }
        }
    }
}
