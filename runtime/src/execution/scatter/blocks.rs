//! The updates of a scatter, computed block by block: a block and its indices stay in the first-level cache until they are applied.

use super::combine::{UpdateBlock, put};
use super::{Scatterer, advance};
use crate::execution::code::KernelOperands;
use crate::execution::threads::Chunk;
use crate::execution::tiling::product;
use crate::memory::block::ALIGN;
use crate::memory::buffer::Writable;
use ndjit_ir::Result;
use ndjit_ir::loops::{LoopNest, Role, Stride};
use smallvec::SmallVec;
use std::ops::Range;

/// Updates computed at once, at most: they and their indices fit the first-level cache.
const MOST: usize = 1024;
/// The same at least, since calls of kernels cost time.
const LEAST: usize = 256;
/// Bytes of inputs read for a block. Processors fetch memory ahead of a kernel only, not while its block is applied: of ten million `i64`
/// and their `i32` updates 24 KiB at a time took 11.7 ms, 12 KiB 7.1, 6 KiB 6.1, as long as in caches.
const READ: usize = 8 << 10;

/// The largest block of a nest: its number of updates.
pub fn largest_block(nest: &LoopNest) -> usize {
    let reads = nest.inputs.iter().filter(|access| access.role == Role::Memory && access.inner != Stride::Broadcast);
    (READ / reads.map(|access| access.dtype.bytes()).sum::<usize>().max(1)).clamp(LEAST, MOST)
}

/// Bytes of so many updates, and of their indices.
fn parts(elements: usize, size: usize) -> [usize; 2] {
    let aligned = |bytes: usize| bytes.checked_next_multiple_of(ALIGN).unwrap_or(usize::MAX);
    [size, size_of::<i64>()].map(|element| aligned(elements.saturating_mul(element)))
}

/// Bytes of the memory of a block.
pub fn bytes_of_block(elements: usize, size: usize) -> usize {
    let [updates, indices] = parts(elements, size);
    updates.saturating_add(indices)
}

/// Memory of a block's updates and indices.
pub struct BlockMemory {
    memory: Writable,
    /// Bytes before the indices.
    updates: usize,
}

impl BlockMemory {
    /// Memory of so many updates of `size` bytes.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    pub fn new(elements: usize, size: usize) -> Result<BlockMemory> {
        Ok(BlockMemory { memory: Writable::new(bytes_of_block(elements, size))?, updates: parts(elements, size)[0] })
    }

    fn updates(&mut self) -> *mut u8 {
        self.memory.ptr()
    }

    fn indices(&mut self) -> *mut u8 {
        self.memory.ptr().wrapping_add(self.updates)
    }
}

/// The destination of updates.
pub struct UpdatedRows {
    /// The address of the first element at index 0.
    pub target: *mut u8,
    /// The rows to update; updates of others are left out.
    pub rows: Range<usize>,
    /// Bytes from one row to the next.
    pub step: usize,
}

/// The loop to cut into blocks, and the trips of a block, which has at most `most` elements.
fn cut(extents: &[usize], most: usize) -> (usize, usize) {
    let (mut at, mut size) = (extents.len() - 1, 1);
    while at > 0 && extents[at].saturating_mul(size) < most {
        size *= extents[at];
        at -= 1;
    }
    (at, (most / size).clamp(1, extents[at].max(1)))
}

/// Elements of the largest block, at most `most`.
pub fn elements_of_block(extents: &[usize], most: usize) -> usize {
    let (at, trips) = cut(extents, most);
    trips.saturating_mul(product(&extents[at + 1..]))
}

impl Scatterer {
    /// Applies the updates of a chunk of the nest's indices.
    ///
    /// # Safety
    /// As [`Composed::run`](crate::execution::code::Composed::run), except that rows of the output are at another address, and nobody else
    /// has them. The memory has room for the largest block.
    pub(super) unsafe fn put_chunk(
        &self,
        operands: KernelOperands<'_>,
        Chunk { axis, start, len }: Chunk,
        updated: &UpdatedRows,
        memory: &mut BlockMemory,
    ) -> Result<()> {
        let mut extents: SmallVec<[usize; 4]> = SmallVec::from_slice(operands.extents);
        extents[axis] = len;
        let moved = |(operand, pointer): (usize, &*mut u8)| {
            pointer.wrapping_offset(operands.strides[operand * self.rank + axis].wrapping_mul(start as isize))
        };
        let pointers: SmallVec<[*mut u8; 16]> = operands.pointers.iter().enumerate().map(moved).collect();
        let target = moved((self.inputs, &updated.target));
        let updated = UpdatedRows { target, rows: updated.rows.clone(), step: updated.step };
        // SAFETY: the caller's promise, for some of the nest's indices.
        unsafe { self.put(KernelOperands { pointers: &pointers, extents: &extents, ..operands }, &updated, memory) }
    }

    /// Applies all updates.
    ///
    /// # Safety
    /// As [`put_chunk`](Scatterer::put_chunk).
    pub(super) unsafe fn put(
        &self,
        operands: KernelOperands<'_>,
        updated: &UpdatedRows,
        memory: &mut BlockMemory,
    ) -> Result<()> {
        let KernelOperands { pointers, extents, strides, literals } = operands;
        let (at, trips) = cut(extents, self.block);
        let size = self.dtype.bytes();
        // Updates lie in row-major order.
        let mut own: SmallVec<[isize; 32]> = SmallVec::from_slice(&strides[..self.inputs * self.rank]);
        // Code that does not read the array takes its address as a number.
        if !self.reads {
            own[self.into * self.rank..][..self.rank].fill(0);
        }
        for element in [size, size_of::<i64>()] {
            let dense =
                (0..self.rank).map(|n| if n < at { 0 } else { (product(&extents[n + 1..]) * element) as isize });
            own.extend(dense);
        }
        let to: SmallVec<[isize; 4]> = SmallVec::from_slice(&strides[self.inputs * self.rank..][..self.rank]);
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, at);
        loop {
            let mut start = 0;
            while start < extents[at] {
                let len = trips.min(extents[at] - start);
                let mut block: SmallVec<[usize; 4]> = SmallVec::from_slice(extents);
                block[..at].fill(1);
                block[at] = len;
                let moved = |operand: usize, from: *mut u8| {
                    let strides = &strides[operand * self.rank..][..self.rank];
                    let outer: isize = index.iter().zip(strides).map(|(&i, &stride)| i as isize * stride).sum();
                    from.wrapping_offset(outer + start as isize * strides[at])
                };
                let mut places: SmallVec<[*mut u8; 16]> =
                    pointers[..self.inputs].iter().enumerate().map(|(n, &pointer)| moved(n, pointer)).collect();
                places.extend([memory.updates(), memory.indices()]);
                // SAFETY: the caller's promise, for some of the nest's indices; updates have memory of their own, of the block's size.
                unsafe { self.values.call(&places, &block, &own, literals)? };
                let block = UpdateBlock {
                    updates: memory.updates(),
                    indices: memory.indices().cast(),
                    target: moved(self.inputs, updated.target),
                    extents: &block[at..],
                    strides: &to[at..],
                    step: updated.step,
                    rows: updated.rows.clone(),
                };
                // SAFETY: the block's elements have just been written. The plan has checked that every row lies in the output.
                unsafe { put(self.scatter, self.dtype, &block) };
                start += len;
            }
            if !advance(&mut index, |n| extents[n]) {
                return Ok(());
            }
        }
    }
}
