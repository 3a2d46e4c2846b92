//! One task of a sort: the rows of a tile.

use super::radix::{SharedPtr, SortWorkers};
use super::row::{self, SortRow, room};
use super::{SortOutput, Sorter};
use crate::execution::code::KernelOperands;
use crate::execution::tiling::{Run, Tile, last_two};
use crate::memory::block::ALIGN;
use crate::memory::buffer::Writable;
use ndjit_codegen::passes::split::{SORT_LOOPS, SortLoop, SortParts};
use ndjit_ir::{Error, ErrorCode, Result};
use smallvec::SmallVec;

/// Rows of a sort being run.
pub struct SortTask<'a> {
    pub sorter: &'a Sorter,
    pub operands: KernelOperands<'a>,
    pub tile: Tile,
}

/// An operand of the kernel: its first element, and its strides in bytes along the outer, the last parallel and the innermost loop.
type SortOperand = (*mut u8, [isize; SORT_LOOPS]);

impl SortTask<'_> {
    /// Sorts the rows; several parts share the elements of each.
    ///
    /// # Errors
    /// `Allocation` if memory is refused; `Panic` if a worker panicked.
    ///
    /// # Safety
    /// As [`Composed::run`](crate::execution::code::Composed::run); nobody else writes these rows.
    pub unsafe fn run(&self, parts: SortWorkers<'_>) -> Result<()> {
        let SortTask { sorter, tile, operands } = self;
        let (rows, len) = (tile.outer.len * tile.inner.len, operands.extents[sorter.rank - 1]);
        let too_large = || Error::new(ErrorCode::Allocation, "sort: more elements than memory can address");
        let mut end = 0usize;
        let mut starts: SmallVec<[usize; 1]> = SmallVec::new();
        for output in &sorter.outputs {
            starts.push(end);
            let bytes = rows.checked_mul(len).and_then(|count| count.checked_mul(output.dtype.bytes()));
            let aligned = bytes.and_then(|bytes| bytes.checked_next_multiple_of(ALIGN));
            end = aligned.and_then(|bytes| end.checked_add(bytes)).ok_or_else(too_large)?;
        }
        let most = sorter.outputs.iter().map(|output| room(output.dtype, output.wants, len)).max().unwrap_or(0);
        let mut memory = Writable::new(end.checked_add(most).ok_or_else(too_large)?)?;
        let (elements, room) = (SharedPtr(memory.ptr()), memory.ptr().wrapping_add(end));
        let made = || {
            sorter.outputs.iter().zip(&starts).map(|(output, &start)| {
                let size = output.dtype.bytes() as isize;
                let row = size.wrapping_mul(len as isize);
                (elements.at(start), [row.wrapping_mul(tile.inner.len as isize), row, size])
            })
        };
        // SAFETY: the caller's promise for the inputs; there is memory for every element, and parts write distinct ones.
        parts.each(len, |_, run| unsafe { self.elements(self.places(0).take(sorter.inputs).chain(made()), run) })?;
        for ((output, (elements, _)), (results, strides)) in
            sorter.outputs.iter().zip(made()).zip(self.places(sorter.inputs))
        {
            let &SortOutput { dtype, wants } = output;
            for index in 0..rows {
                let (outer, inner) = (index / tile.inner.len, index % tile.inner.len);
                let start =
                    strides[0].wrapping_mul(outer as isize).wrapping_add(strides[1].wrapping_mul(inner as isize));
                let row = SortRow {
                    dtype,
                    wants,
                    elements: elements.wrapping_add(index * len * dtype.bytes()),
                    len,
                    results: results.wrapping_offset(start),
                    stride: strides[2],
                };
                // SAFETY: the kernel has written the elements, which belong to this task; the caller's promise for the results;
                // there is room for any output's row.
                unsafe { row::run(row, room, parts)? };
            }
        }
        Ok(())
    }

    /// Operands from number `from` on, at the tile's first row.
    fn places(&self, from: usize) -> impl Iterator<Item = SortOperand> + '_ {
        let SortTask { sorter, operands, tile } = self;
        let parallel_rank = sorter.rank - 1;
        let all = operands.pointers.iter().zip(operands.strides.chunks(sorter.rank)).skip(from);
        all.map(move |(&pointer, strides)| {
            let (parallel_strides, step) = (&strides[..parallel_rank], strides[parallel_rank]);
            let start = tile.offset(&operands.extents[..parallel_rank], parallel_strides);
            let [outer, inner] = last_two(parallel_strides, 0);
            (pointer.wrapping_offset(start), [outer, inner, step])
        })
    }

    /// Computes elements of all rows.
    ///
    /// # Safety
    /// As [`Kernel::call`](crate::execution::code::Kernel::call), for the operands from the run's first element on.
    unsafe fn elements(&self, places: impl Iterator<Item = SortOperand>, run: Run) -> Result<()> {
        let SortTask { sorter, tile, operands } = self;
        let at = |(pointer, strides): SortOperand| {
            let loops = SortParts::LOOPS.map(|index| match index {
                SortLoop::Outer => strides[0],
                SortLoop::Parallel => strides[1],
                SortLoop::Element => strides[2],
            });
            (pointer.wrapping_offset(strides[2].wrapping_mul(run.start as isize)), loops)
        };
        let (pointers, strides): (SmallVec<[*mut u8; 8]>, SmallVec<[[isize; SORT_LOOPS]; 8]>) = places.map(at).unzip();
        let extents = SortParts::LOOPS.map(|index| match index {
            SortLoop::Outer => tile.outer.len,
            SortLoop::Parallel => tile.inner.len,
            SortLoop::Element => run.len,
        });
        let literals = if sorter.elements.nest().literals.is_empty() { &[] } else { operands.literals };
        // SAFETY: numbers of operands, loops and literals are the nest's; the caller's promise.
        unsafe { sorter.elements.call(&pointers, &extents, strides.as_flattened(), literals) }
    }
}
