//! Scatters on the CPU: the rows of an array are copied, unless the result has their memory, and updated.
//!
//! A kernel computes updates and their indices block by block, and they are applied in row-major order. Long rows are distributed over
//! threads: each reads all indices and applies the updates of its rows, so the order of updates does not depend on the number of threads.

mod combine;

use crate::execution::code::{CodeOptions, Composed, Kernel, KernelOperands};
use crate::execution::cost;
use crate::execution::threads::Threads;
use crate::execution::tiling::product;
use crate::memory::buffer::Writable;
use combine::{UpdateBlock, put};
use ndjit_codegen::passes::split::NestPart;
use ndjit_ir::graph::Scatter;
use ndjit_ir::loops::{LoopNest, NestKind};
use ndjit_ir::{DType, Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::ops::Range;

/// Updates computed at once: they and their indices fit the first-level cache.
const BLOCK: usize = 2048;

/// The minimum length of rows distributed over threads: for shorter ones the test of ownership is mispredicted every other time. (Two
/// threads took 57 ms to add ten million elements, one 13.)
const SHARED: usize = 32;

/// A compiled scatter.
#[derive(Debug)]
pub struct Scatterer {
    values: Kernel,
    scatter: Scatter,
    dtype: DType,
    inputs: usize,
    /// The input with the rows.
    into: usize,
    rank: usize,
}

/// An operand's address, shared by threads.
#[derive(Clone, Copy)]
struct TargetPtr(*mut u8);

// SAFETY: an address only. Writes through it are justified where they happen.
unsafe impl Sync for TargetPtr {}

impl TargetPtr {
    fn get(self) -> *mut u8 {
        self.0
    }
}

impl Scatterer {
    /// Compiles the computation of `nest`'s updates, on the calling thread.
    ///
    /// # Errors
    /// As [`Kernel::new`].
    pub fn new(nest: &LoopNest, values: &NestPart, options: CodeOptions) -> Result<Scatterer> {
        let (NestKind::Scatter(scatter), [output]) = (&nest.kind, &nest.outputs[..]) else {
            return Err(Error::new(ErrorCode::Verify, "scatter: the nest does not scatter"));
        };
        Ok(Scatterer {
            values: Kernel::part(values, options)?,
            scatter: scatter.scatter,
            dtype: output.dtype,
            inputs: nest.inputs.len(),
            into: scatter.into as usize,
            rank: nest.rank,
        })
    }

    /// The loop to cut into blocks, and the trips of a block.
    fn blocks(&self, extents: &[usize]) -> (usize, usize) {
        let (mut at, mut size) = (self.rank - 1, 1);
        while at > 0 && extents[at].saturating_mul(size) < BLOCK {
            size *= extents[at];
            at -= 1;
        }
        (at, (BLOCK / size).clamp(1, extents[at].max(1)))
    }

    /// Copies the rows to the output.
    ///
    /// # Safety
    /// As [`Composed::run`].
    unsafe fn copy(&self, operands: KernelOperands<'_>, rows: usize) {
        let strides = |operand: usize| &operands.strides[operand * self.rank..][..self.rank];
        let (from, to) = (strides(self.into), strides(self.inputs));
        let size = self.dtype.bytes();
        let step = operands.pointers[self.into + 2].addr() as isize;
        let row = self.row(operands);
        // The output moves along the loops of a row.
        let loops: SmallVec<[usize; 4]> = (0..self.rank).filter(|&at| to[at] != 0).collect();
        let together = from == to && step == row as isize;
        let [source, target] = [operands.pointers[self.into], operands.pointers[self.inputs]];
        if together {
            // SAFETY: the plan has checked that all rows lie in both operands' memory, one after the other.
            unsafe { target.copy_from_nonoverlapping(source, rows * row) };
            return;
        }
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, loops.len());
        for n in 0..rows {
            let (source, target) = (source.wrapping_offset(step * n as isize), target.wrapping_add(row * n));
            loop {
                let at = |strides: &[isize]| -> isize {
                    index.iter().zip(&loops).map(|(&i, &at)| i as isize * strides[at]).sum()
                };
                // SAFETY: as above, of one element.
                unsafe {
                    target.wrapping_offset(at(to)).copy_from_nonoverlapping(source.wrapping_offset(at(from)), size);
                }
                if !advance(&mut index, |n| operands.extents[loops[n]]) {
                    break;
                }
            }
        }
    }

    /// Bytes of a row of the output.
    fn row(&self, operands: KernelOperands<'_>) -> usize {
        let strides = &operands.strides[self.inputs * self.rank..][..self.rank];
        let moving = operands.extents.iter().zip(strides).filter(|(_, stride)| **stride != 0);
        moving.fold(self.dtype.bytes(), |bytes, (extent, _)| bytes * extent)
    }

    /// Applies the updates of these rows.
    ///
    /// # Safety
    /// As [`Composed::run`]; nobody else has these rows of the output.
    unsafe fn put(&self, operands: KernelOperands<'_>, rows: Range<usize>) -> Result<()> {
        let KernelOperands { pointers, extents, strides, literals } = operands;
        let (at, trips) = self.blocks(extents);
        let size = self.dtype.bytes();
        let inner = product(&extents[at + 1..]);
        let mut updates = Writable::new(trips * inner * size)?;
        let mut indices = Writable::new(trips * inner * size_of::<i64>())?;
        // Updates lie in row-major order.
        let mut own: SmallVec<[isize; 32]> = SmallVec::from_slice(&strides[..self.inputs * self.rank]);
        for element in [size, size_of::<i64>()] {
            let dense =
                (0..self.rank).map(|n| if n < at { 0 } else { (product(&extents[n + 1..]) * element) as isize });
            own.extend(dense);
        }
        let to: SmallVec<[isize; 4]> = SmallVec::from_slice(&strides[self.inputs * self.rank..][..self.rank]);
        let step = self.row(operands);
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, at);
        loop {
            let mut start = 0;
            while start < extents[at] {
                let len = trips.min(extents[at] - start);
                let mut block: SmallVec<[usize; 4]> = SmallVec::from_slice(extents);
                block[..at].fill(1);
                block[at] = len;
                let moved = |operand: usize| {
                    let strides = &strides[operand * self.rank..][..self.rank];
                    let outer: isize = index.iter().zip(strides).map(|(&i, &stride)| i as isize * stride).sum();
                    pointers[operand].wrapping_offset(outer + start as isize * strides[at])
                };
                let mut places: SmallVec<[*mut u8; 16]> = (0..self.inputs).map(moved).collect();
                places.extend([updates.ptr(), indices.ptr()]);
                // SAFETY: the caller's promise, for some of the nest's indices; updates have memory of their own, of the block's size.
                unsafe { self.values.call(&places, &block, &own, literals)? };
                let block = UpdateBlock {
                    updates: updates.ptr(),
                    indices: indices.ptr().cast(),
                    target: moved(self.inputs),
                    extents: &block[at..],
                    strides: &to[at..],
                    step,
                    rows: rows.clone(),
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

/// The next index in row-major order, if there is one.
fn advance(index: &mut [usize], extent: impl Fn(usize) -> usize) -> bool {
    for n in (0..index.len()).rev() {
        index[n] += 1;
        if index[n] < extent(n) {
            return true;
        }
        index[n] = 0;
    }
    false
}

impl Composed for Scatterer {
    fn own(&self) -> SmallVec<[&Kernel; 8]> {
        [&self.values].into_iter().collect()
    }

    /// An element is read and written at an unpredictable address.
    fn cost(&self) -> f64 {
        self.values.cost() + cost::SCATTERED
    }

    fn scratch(&self, extents: &[usize], threads: &Threads) -> usize {
        if extents.contains(&0) {
            return 0;
        }
        let (at, trips) = self.blocks(extents);
        let elements = trips.saturating_mul(product(&extents[at + 1..]));
        let aligned = |bytes: usize| bytes.checked_next_multiple_of(crate::memory::block::ALIGN).unwrap_or(usize::MAX);
        let each =
            aligned(elements.saturating_mul(self.dtype.bytes())).saturating_add(aligned(elements.saturating_mul(8)));
        each.saturating_mul(threads.count())
    }

    unsafe fn run(&self, operands: KernelOperands<'_>, threads: &Threads) -> Result<()> {
        if operands.extents.contains(&0) {
            return Ok(());
        }
        let rows = (operands.pointers[self.into + 1].addr() as isize).saturating_add(1).max(0) as usize;
        let [source, target] = [operands.pointers[self.into], operands.pointers[self.inputs]].map(TargetPtr);
        if source.get() != target.get() {
            // SAFETY: the caller's promise.
            unsafe { self.copy(operands, rows) };
        }
        let (size, cost) = (product(operands.extents), self.cost());
        let long = self.row(operands) >= SHARED * self.dtype.bytes();
        let shares = if long { threads.pieces(size, cost).min(threads.count()).min(rows).max(1) } else { 1 };
        let share = |n: usize| rows * n / shares..rows * (n + 1) / shares;
        // SAFETY: the caller's promise; shares have distinct rows.
        threads.each(shares, size as f64 * cost, |n| unsafe { self.put(operands, share(n)) })
    }
}
