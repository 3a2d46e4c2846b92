//! Scatters on the CPU: the rows of an array are copied, unless the result has their memory, and updated.
//!
//! A kernel computes updates and their indices [block by block](blocks), and they are applied in row-major order. Three ways for several
//! threads, whose results do not depend on their number:
//! - Where any order gives the same bits, as sums of integers do, each thread takes some of the updates; all but one have
//!   [copies](private) of the array, if these are small beside the updates.
//! - Otherwise long rows are distributed over threads: each reads all indices and applies the updates of its rows.
//! - Otherwise there is one thread.

mod blocks;
mod combine;
mod copy;
mod functions;
mod private;

use crate::execution::code::{CodeOptions, Composed, Kernel, KernelOperands};
use crate::execution::cost;
use crate::execution::threads::{Split, Threads};
use crate::execution::tiling::product;
use blocks::{BlockMemory, UpdatedRows, bytes_of_block, elements_of_block, largest_block};
use ndjit_codegen::passes::split::NestPart;
use ndjit_ir::graph::Scatter;
use ndjit_ir::loops::{LoopNest, NestKind};
use ndjit_ir::{DType, Error, ErrorCode, Result};
use private::{PrivateCopies, bytes_of_copies};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The minimum length of rows distributed over threads: for shorter ones the test of ownership is mispredicted every other time. (Two
/// threads took 57 ms to add ten million elements, one 13.)
const SHARED: usize = 32;

/// All copies of the array have at most this part of the elements of the updates: filling and merging them costs less than that of updates.
const COPIED: usize = 4;

/// A compiled scatter.
#[derive(Debug)]
pub struct Scatterer {
    values: Kernel,
    scatter: Scatter,
    dtype: DType,
    inputs: usize,
    /// The input with the rows.
    into: usize,
    /// Whether updates or indices are computed from it.
    reads: bool,
    rank: usize,
    /// Updates computed at once, at most.
    block: usize,
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
            reads: !values.nest.inputs.get(scatter.into as usize).is_some_and(|access| access.is_index()),
            rank: nest.rank,
            block: largest_block(nest),
        })
    }

    /// Bytes of a row of the output.
    fn row(&self, operands: KernelOperands<'_>) -> usize {
        let strides = &operands.strides[self.inputs * self.rank..][..self.rank];
        let moving = operands.extents.iter().zip(strides).filter(|(_, stride)| **stride != 0);
        moving.fold(self.dtype.bytes(), |bytes, (extent, _)| bytes * extent)
    }

    /// The cut of updates among threads with copies of the array, of `bytes` bytes, and the number of threads; `None` if that does not pay.
    fn with_copies(&self, extents: &[usize], bytes: usize, threads: &Threads) -> Option<(Split, usize)> {
        if bytes == 0 || matches!(threads, Threads::Serial) || !functions::reorders(self.scatter, self.dtype) {
            return None;
        }
        let copies = product(extents) / COPIED / (bytes / self.dtype.bytes()).max(1);
        let split = Split::new(extents, self.cost(), threads).filter(|_| copies > 0)?;
        let shares = threads.count().min(split.count()).min(copies.saturating_add(1));
        Some((split, shares))
    }

    /// Applies all updates: some to the array, and others to copies, which are then merged into it.
    ///
    /// # Safety
    /// As [`Composed::run`].
    unsafe fn put_in_copies(
        &self,
        operands: KernelOperands<'_>,
        (split, shares): (Split, usize),
        (rows, threads): (usize, &Threads),
    ) -> Result<()> {
        let step = self.row(operands);
        let target = TargetPtr(operands.pointers[self.inputs]);
        let copies = PrivateCopies::new(self.scatter, self.dtype, rows * step, shares - 1)?;
        let elements = product(operands.extents);
        let next = AtomicUsize::new(0);
        threads.each(shares, elements as f64 * self.cost(), |share| {
            // A thread that begins late may find all chunks taken.
            let mut number = next.fetch_add(1, Relaxed);
            if number >= split.count() {
                return Ok(());
            }
            let mut memory = BlockMemory::new(elements.min(self.block), self.dtype.bytes())?;
            let target = match share.checked_sub(1) {
                None => target.get(),
                // SAFETY: each share has a copy of its own.
                Some(copy) => unsafe { copies.fill(copy) },
            };
            let updated = UpdatedRows { target, rows: 0..rows, step };
            while number < split.count() {
                // SAFETY: the caller's promise. The array, or a copy with its layout, is this share's.
                unsafe { self.put_chunk(operands, split.chunk(number), &updated, &mut memory)? };
                number = next.fetch_add(1, Relaxed);
            }
            Ok(())
        })?;
        // SAFETY: the caller's promise; all shares are done.
        unsafe { copies.merge(target, threads) }
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

    fn scratch(&self, extents: &[usize], output: usize, threads: &Threads) -> usize {
        if extents.contains(&0) {
            return 0;
        }
        let size = self.dtype.bytes();
        match self.with_copies(extents, output, threads) {
            Some((_, shares)) => {
                let blocks = bytes_of_block(product(extents).min(self.block), size).saturating_mul(shares);
                blocks.saturating_add(bytes_of_copies(output, shares - 1))
            }
            None => bytes_of_block(elements_of_block(extents, self.block), size).saturating_mul(threads.count()),
        }
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
        let step = self.row(operands);
        if let Some(shares) = self.with_copies(operands.extents, rows * step, threads) {
            // SAFETY: the caller's promise.
            return unsafe { self.put_in_copies(operands, shares, (rows, threads)) };
        }
        let (size, cost) = (product(operands.extents), self.cost());
        let long = step >= SHARED * self.dtype.bytes();
        let shares = if long { threads.pieces(size, cost).min(threads.count()).min(rows).max(1) } else { 1 };
        let share = |n: usize| rows * n / shares..rows * (n + 1) / shares;
        threads.each(shares, size as f64 * cost, |n| {
            let mut memory = BlockMemory::new(elements_of_block(operands.extents, self.block), self.dtype.bytes())?;
            let updated = UpdatedRows { target: target.get(), rows: share(n), step };
            // SAFETY: the caller's promise; shares have distinct rows.
            unsafe { self.put(operands, &updated, &mut memory) }
        })
    }
}
