//! The accumulators of a tile: one per output for each lane of each block of each result, and how they become one per result.
//!
//! In C order, so that what vectors lie along is innermost: results, blocks, lanes for rows; the outer results, blocks,
//! lanes, the inner results for columns.

use super::Accumulated;
use super::tiles::{Tile, Tiles};
use crate::block::ALIGN;
use crate::buffer::Writable;
use crate::code::Kernel;
use ndjit_codegen::passes::split::{ACCUMULATE_LOOPS, COMBINE_LOOPS, Loop, Parts};
use ndjit_ir::loops::Along;
use ndjit_ir::reduction::{BLOCK, LANES};
use ndjit_ir::{Error, ErrorCode, Result};
use smallvec::SmallVec;

/// Where accumulators lie, in elements.
#[derive(Clone, Copy, Debug)]
pub struct Cube {
    /// Rows of blocks.
    pub rows: usize,
    /// From row to row.
    pub row: usize,
    /// From block to block.
    pub block: usize,
    /// From lane to lane, which is also the number of results beside each other.
    pub lane: usize,
}

/// One output's part.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    /// The first element.
    pub pointer: *mut u8,
    /// Bytes of an element.
    pub size: usize,
}

/// The accumulators of a tile.
#[derive(Debug)]
pub struct Accumulators {
    cube: Cube,
    /// From result to result, in elements: along the last but one of the loops that are kept, and along the last.
    results: [usize; 2],
    along: Along,
    arrays: SmallVec<[Array; 1]>,
    /// Owns what `arrays` point to.
    _memory: Writable,
}

impl Accumulators {
    /// Memory for the accumulators of a tile, filled with the identity of each output where it has one.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    pub fn new(tiles: &Tiles, tile: &Tile, along: Along, outputs: &[Accumulated]) -> Result<Accumulators> {
        let (outer, inner, blocks, lanes) = (tile.outer.len, tile.inner.len, tile.blocks.len, tiles.lanes);
        let (cube, results) = match along {
            Along::Reduced => {
                let row = blocks * lanes;
                (Cube { rows: outer * inner, row, block: lanes, lane: 1 }, [inner * row, row])
            }
            Along::Kept => {
                let block = lanes * inner;
                (Cube { rows: outer, row: blocks * block, block, lane: inner }, [blocks * block, 1])
            }
        };
        let count = cube.rows * cube.row;
        let refused = || Error::new(ErrorCode::Allocation, "reduce: accumulators larger than memory can address");
        let bytes = |output: &Accumulated| {
            count.checked_mul(output.size()).and_then(|bytes| bytes.checked_next_multiple_of(ALIGN)).ok_or_else(refused)
        };
        let mut ends: SmallVec<[usize; 2]> = SmallVec::from_slice(&[0]);
        for output in outputs {
            ends.push(ends[ends.len() - 1].checked_add(bytes(output)?).ok_or_else(refused)?);
        }
        let mut memory = Writable::new(ends[outputs.len()])?;
        let mut arrays = SmallVec::new();
        for (output, &start) in outputs.iter().zip(&ends) {
            let pointer = memory.ptr().wrapping_add(start);
            // SAFETY: the memory has `count` elements for each output from its start on.
            unsafe { fill(pointer, &output.identity, count) };
            arrays.push(Array { pointer, size: output.size() });
        }
        Ok(Accumulators { cube, results, along, arrays, _memory: memory })
    }

    /// The accumulators of each output for a lane of a block, and their strides along the loops of the accumulating nests.
    pub fn at(&self, block: usize, lane: usize) -> impl Iterator<Item = (*mut u8, [isize; ACCUMULATE_LOOPS])> {
        let Cube { block: per_block, lane: per_lane, .. } = self.cube;
        let order = Parts::order(self.along);
        self.arrays.iter().map(move |array| {
            let strides = order.map(|index| {
                let elements = match index {
                    Loop::Outer => self.results[0],
                    Loop::Kept => self.results[1],
                    Loop::Block => per_block,
                    Loop::Step => 0,
                    Loop::Lane => per_lane,
                };
                (elements * array.size) as isize
            });
            (array.pointer.wrapping_add((block * per_block + lane * per_lane) * array.size), strides)
        })
    }

    /// The first accumulator of each output, with the strides in bytes from result to result.
    pub fn results(&self) -> impl Iterator<Item = (*mut u8, [isize; 2])> {
        self.arrays.iter().map(|array| (array.pointer, self.results.map(|stride| (stride * array.size) as isize)))
    }

    /// Combines the lanes of each block by halving, then the blocks, into the first of each.
    ///
    /// # Safety
    /// Each lane that has one of the tile's elements has been written, and `combine` is the combining part of the nest.
    pub unsafe fn finish(&self, combine: &Kernel, tiles: &Tiles, tile: &Tile) -> Result<()> {
        let elements = (tiles.elements - tile.blocks.start * BLOCK).min(tile.blocks.len * BLOCK);
        // A last block of fewer elements than lanes is by itself: its other lanes are left out.
        let short = if elements % BLOCK < LANES { elements % BLOCK } else { 0 };
        let whole = tile.blocks.len - usize::from(short > 0);
        for (first, blocks, lanes) in [(0, whole, LANES), (whole, tile.blocks.len - whole, short)] {
            let from = self.arrays.iter().map(|array| Array {
                pointer: array.pointer.wrapping_add(first * self.cube.block * array.size),
                ..*array
            });
            let from: SmallVec<[Array; 1]> = from.collect();
            let Cube { rows, row, block, lane } = self.cube;
            for half in [8, 4, 2, 1] {
                let pairs = lanes.min(2 * half).saturating_sub(half);
                // SAFETY: lanes `half..half + pairs` have elements; they are accumulators of these blocks.
                unsafe { meet(combine, &from, half * lane, [rows, blocks, pairs * lane], [row, block])? };
            }
        }
        // SAFETY: the first lane of each block has what the block's elements gave.
        unsafe { tree(combine, &self.arrays, self.cube, tile.blocks.len) }
    }
}

/// Combines blocks in a balanced tree, into the first.
///
/// # Safety
/// The arrays have that many blocks as the cube says, and they have been written; `combine` is for these arrays.
pub unsafe fn tree(combine: &Kernel, arrays: &[Array], cube: Cube, blocks: usize) -> Result<()> {
    let Cube { rows, row, block, lane } = cube;
    let (mut left, mut distance) = (blocks, block);
    while left > 1 {
        // SAFETY: the caller's promise.
        unsafe { meet(combine, arrays, distance, [rows, left / 2, lane], [row, 2 * distance])? };
        (left, distance) = (left.div_ceil(2), 2 * distance);
    }
    Ok(())
}

/// `a = combine(a, b)` for the elements of each array, where `b` lies `distance` elements after `a`. Contiguous along the last
/// loop; strides of the others in elements.
///
/// # Safety
/// All `a` and `b` are elements of the arrays, written before, and no `a` is a `b`; `combine` is for these arrays.
unsafe fn meet(
    combine: &Kernel,
    arrays: &[Array],
    distance: usize,
    extents: [usize; COMBINE_LOOPS],
    strides: [usize; COMBINE_LOOPS - 1],
) -> Result<()> {
    if extents.contains(&0) {
        return Ok(());
    }
    let mut pointers: SmallVec<[*mut u8; 12]> = SmallVec::new();
    let mut steps: SmallVec<[isize; 36]> = SmallVec::new();
    for offset in [0, distance, 0] {
        for array in arrays {
            pointers.push(array.pointer.wrapping_add(offset * array.size));
            steps.extend([strides[0], strides[1], 1].map(|stride| (stride * array.size) as isize));
        }
    }
    // SAFETY: as many pointers and strides as the nest has operands and loops; the caller's promise.
    unsafe { combine.call(&pointers, &extents, &steps, &[]) }
}

/// Writes an element again and again; nothing if it has no bytes.
///
/// # Safety
/// There is memory for `count` elements.
pub unsafe fn fill(to: *mut u8, element: &[u8], count: usize) {
    if element.is_empty() {
        return;
    }
    let (mut done, end) = (element.len().min(element.len() * count), element.len() * count);
    // SAFETY: inside the memory, by the caller's promise; sources are written before, and end where targets begin.
    unsafe {
        to.copy_from_nonoverlapping(element.as_ptr(), done);
        while done < end {
            let more = done.min(end - done);
            to.wrapping_add(done).copy_from_nonoverlapping(to, more);
            done += more;
        }
    }
}
