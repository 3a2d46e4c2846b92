//! The accumulators of a tile, one per output for each lane of each block of each result, and their combination.
//!
//! In C order, with the vector loop innermost: results, blocks, lanes for rows; the outer results, blocks, lanes, the inner results for
//! columns.

use crate::execution::calls::CallSink;
use crate::execution::code::Kernel;
use crate::execution::tiling::{ReduceTiles, Tile, product};
use crate::memory::block::ALIGN;
use ndjit_codegen::passes::split::{ACCUMULATE_LOOPS, COMBINE_LOOPS, Loop, ReduceParts};
use ndjit_ir::loops::VectorLoop;
use ndjit_ir::reduction::{BLOCK, LANES, Reduction};
use ndjit_ir::{DType, Error, ErrorCode, Result};
use smallvec::SmallVec;

/// The distances of lanes combined at each halving.
const HALVES: [usize; 4] = [8, 4, 2, 1];

/// Properties of an output.
#[derive(Debug)]
pub struct Accumulated {
    pub dtype: DType,
    pub reduction: Reduction,
    /// The initial element of accumulators; empty if `start` computes them.
    pub identity: Vec<u8>,
}

impl Accumulated {
    /// Bytes of an accumulator.
    pub fn size(&self) -> usize {
        self.dtype.bytes()
    }
}

/// The layout of accumulators, in elements.
#[derive(Clone, Copy, Debug)]
pub struct Cube {
    /// Rows of blocks.
    pub rows: usize,
    /// Stride of rows.
    pub row: usize,
    /// Stride of blocks.
    pub block: usize,
    /// Stride of lanes, which is also the number of adjacent results.
    pub lane: usize,
}

/// The accumulators of an output.
#[derive(Clone, Copy, Debug)]
pub struct AccumulatorArray {
    /// The first element.
    pub pointer: *mut u8,
    /// Bytes of an element.
    pub size: usize,
}

/// The accumulators of a tile, in memory of a sink.
#[derive(Debug)]
pub struct Accumulators {
    pub cube: Cube,
    /// Strides of results, in elements: along the last but one of the parallel loops, and along the last.
    results: [usize; 2],
    along: VectorLoop,
    pub arrays: SmallVec<[AccumulatorArray; 1]>,
    /// Distance in bytes from each array to a spare copy, for adjacent lanes.
    spare: usize,
}

impl Accumulators {
    /// Memory for the accumulators of a tile, filled with the identity of each output, if it has one.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    pub fn new(
        tiles: &ReduceTiles,
        tile: &Tile,
        along: VectorLoop,
        outputs: &[Accumulated],
        sink: &mut dyn CallSink,
    ) -> Result<Accumulators> {
        let (outer, inner, blocks, lanes) = (tile.outer.len, tile.inner.len, tile.blocks.len, tiles.lanes);
        let (cube, results) = match along {
            VectorLoop::Reduction => {
                let row = blocks * lanes;
                (Cube { rows: outer * inner, row, block: lanes, lane: 1 }, [inner * row, row])
            }
            VectorLoop::Parallel => {
                let block = lanes * inner;
                (Cube { rows: outer, row: blocks * block, block, lane: inner }, [blocks * block, 1])
            }
        };
        let Extent { count, ends, spare, bytes } = Extent::of(tiles, tile, along, outputs)
            .ok_or_else(|| Error::new(ErrorCode::Allocation, "reduce: accumulators larger than memory can address"))?;
        let memory = sink.scratch(bytes)?;
        let mut arrays = SmallVec::new();
        for (output, &start) in outputs.iter().zip(&ends) {
            let pointer = memory.wrapping_add(start);
            // SAFETY: the memory has `count` elements for each output from its start on.
            unsafe { sink.fill(pointer, &output.identity, count) };
            arrays.push(AccumulatorArray { pointer, size: output.size() });
        }
        Ok(Accumulators { cube, results, along, arrays, spare })
    }

    /// The accumulators of each output for a lane of a block of the `result`th of the inner results, and their strides along the loops of the
    /// accumulating nests.
    pub fn at(
        &self,
        result: usize,
        block: usize,
        lane: usize,
    ) -> impl Iterator<Item = (*mut u8, [isize; ACCUMULATE_LOOPS])> {
        let Cube { block: per_block, lane: per_lane, .. } = self.cube;
        let order = ReduceParts::order(self.along);
        let first = result * self.results[1] + block * per_block + lane * per_lane;
        self.arrays.iter().map(move |array| {
            let strides = order.map(|index| {
                let elements = match index {
                    Loop::Outer => self.results[0],
                    Loop::Parallel => self.results[1],
                    Loop::Block => per_block,
                    Loop::Step => 0,
                    Loop::Lane => per_lane,
                };
                (elements * array.size) as isize
            });
            (array.pointer.wrapping_add(first * array.size), strides)
        })
    }

    /// The first accumulator of each output, with the strides of results in bytes.
    pub fn results(&self) -> impl Iterator<Item = (*mut u8, [isize; 2])> {
        self.arrays.iter().map(|array| (array.pointer, self.results.map(|stride| (stride * array.size) as isize)))
    }

    /// Combines the lanes of each block by halving, then the blocks, into the first of each.
    ///
    /// # Safety
    /// Each lane with an element of the tile has been written, and `combine` is the combining part of the nest.
    pub unsafe fn finish(
        &self,
        combine: &Kernel,
        tiles: &ReduceTiles,
        tile: &Tile,
        sink: &mut dyn CallSink,
    ) -> Result<()> {
        let elements = (tiles.elements - tile.blocks.start * BLOCK).min(tile.blocks.len * BLOCK);
        // A last block with fewer elements than lanes is combined separately, without its other lanes.
        let short = if elements % BLOCK < LANES { elements % BLOCK } else { 0 };
        let whole = tile.blocks.len - usize::from(short > 0);
        if whole > 0 {
            // SAFETY: the caller's promise; all lanes of these blocks have elements.
            unsafe { self.halve(combine, whole, sink)? };
        }
        if short > 0 {
            let Cube { rows, row, block, lane } = self.cube;
            for half in HALVES {
                let pairs = short.min(2 * half).saturating_sub(half);
                let at = |size: usize| [whole * block, whole * block + half * lane, whole * block].map(|at| at * size);
                // SAFETY: lanes `half..half + pairs` have elements; they are accumulators of the last block.
                unsafe { meet(combine, &self.arrays, at, [rows, 1, pairs * lane], [row, block], sink)? };
            }
        }
        // SAFETY: the first lane of each block contains the block's result.
        unsafe { tree(combine, &self.arrays, self.cube, tile.blocks.len, sink) }
    }

    /// Combines all lanes of the first `blocks` blocks by halving.
    ///
    /// # Safety
    /// As `finish`, and all these lanes have been written.
    unsafe fn halve(&self, combine: &Kernel, blocks: usize, sink: &mut dyn CallSink) -> Result<()> {
        let Cube { rows, row, block, lane } = self.cube;
        if self.along == VectorLoop::Parallel {
            for half in HALVES {
                let at = |size: usize| [0, half * lane * size, 0];
                // SAFETY: the caller's promise.
                unsafe { meet(combine, &self.arrays, at, [rows, blocks, half * lane], [row, block], sink)? };
            }
            return Ok(());
        }
        // Adjacent lanes are few: all lanes between the first block's and the last's are combined, including some unneeded ones. Inputs may
        // still be needed, so results go to spare memory; after four halvings they are back in the accumulators. Block by block took four
        // times as long.
        let (rows, all) = if blocks * block == row { (1, rows * blocks) } else { (rows, blocks) };
        let mut from = 0;
        for half in HALVES {
            let to = self.spare - from;
            let extents = [rows, 1, (all - 1) * block + half];
            // SAFETY: the caller's promise; the inputs were written by the previous halving, and results are apart from them.
            unsafe {
                meet(combine, &self.arrays, |size| [from, from + half * size, to], extents, [row, block], sink)?;
            };
            from = to;
        }
        Ok(())
    }
}

/// The memory size of a tile's accumulators.
struct Extent {
    /// Accumulators of each output.
    count: usize,
    /// The byte offset of each output's accumulators, and the end of all.
    ends: SmallVec<[usize; 2]>,
    /// As [`Accumulators::spare`].
    spare: usize,
    /// Total, with spare memory.
    bytes: usize,
}

impl Extent {
    /// `None` if the size exceeds the address space.
    fn of(tiles: &ReduceTiles, tile: &Tile, along: VectorLoop, outputs: &[Accumulated]) -> Option<Extent> {
        let count = product(&[tile.outer.len, tile.inner.len, tile.blocks.len, tiles.lanes]);
        let mut ends: SmallVec<[usize; 2]> = SmallVec::from_slice(&[0]);
        for output in outputs {
            let bytes = count.checked_mul(output.size())?.checked_next_multiple_of(ALIGN)?;
            ends.push(ends[ends.len() - 1].checked_add(bytes)?);
        }
        let spare = if along == VectorLoop::Reduction && tiles.lanes > 1 { ends[outputs.len()] } else { 0 };
        let bytes = ends[outputs.len()].checked_add(spare)?;
        Some(Extent { count, ends, spare, bytes })
    }
}

/// Bytes of the accumulators of a tile; saturates.
pub fn bytes(tiles: &ReduceTiles, tile: &Tile, along: VectorLoop, outputs: &[Accumulated]) -> usize {
    Extent::of(tiles, tile, along, outputs).map_or(usize::MAX, |extent| extent.bytes)
}

/// Combines blocks in a balanced tree, into the first.
///
/// # Safety
/// The arrays have as many blocks as the cube says, all written; `combine` is for these arrays.
pub unsafe fn tree(
    combine: &Kernel,
    arrays: &[AccumulatorArray],
    cube: Cube,
    blocks: usize,
    sink: &mut dyn CallSink,
) -> Result<()> {
    let Cube { rows, row, block, lane } = cube;
    let (mut left, mut distance) = (blocks, block);
    while left > 1 {
        // SAFETY: the caller's promise.
        unsafe {
            meet(combine, arrays, |size| [0, distance * size, 0], [rows, left / 2, lane], [row, 2 * distance], sink)?;
        };
        (left, distance) = (left.div_ceil(2), 2 * distance);
    }
    Ok(())
}

/// Combines elements of each array: `at` returns, for an element size, the byte offsets of both operands and of the results from its
/// pointer. Contiguous along the last loop; strides of the others in elements.
///
/// # Safety
/// Operands have been written, and nobody else uses results; a result is at its first operand, or overlaps no operand. `combine` is for
/// these arrays.
unsafe fn meet(
    combine: &Kernel,
    arrays: &[AccumulatorArray],
    at: impl Fn(usize) -> [usize; 3],
    extents: [usize; COMBINE_LOOPS],
    strides: [usize; COMBINE_LOOPS - 1],
    sink: &mut dyn CallSink,
) -> Result<()> {
    if extents.contains(&0) {
        return Ok(());
    }
    let mut pointers: SmallVec<[*mut u8; 12]> = SmallVec::new();
    let mut steps: SmallVec<[isize; 36]> = SmallVec::new();
    for operand in 0..3 {
        for array in arrays {
            pointers.push(array.pointer.wrapping_add(at(array.size)[operand]));
            for stride in [strides[0], strides[1], 1] {
                steps.push((stride * array.size) as isize);
            }
        }
    }
    // SAFETY: as many pointers and strides as the nest has operands and loops; the caller's promise.
    unsafe { sink.call(combine, &pointers, &extents, &steps) }
}

/// Fills memory with an element; nothing if it has no bytes.
///
/// # Safety
/// There is memory for `count` elements.
pub unsafe fn fill(to: *mut u8, element: &[u8], count: usize) {
    if element.is_empty() {
        return;
    }
    let (mut done, end) = (element.len().min(element.len() * count), element.len() * count);
    // SAFETY: within the memory, by the caller's promise; sources are written before, and end where targets begin.
    unsafe {
        to.copy_from_nonoverlapping(element.as_ptr(), done);
        while done < end {
            let more = done.min(end - done);
            to.wrapping_add(done).copy_from_nonoverlapping(to, more);
            done += more;
        }
    }
}
