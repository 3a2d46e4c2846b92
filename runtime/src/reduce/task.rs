//! One task of a reduction: the elements of a tile, accumulated and combined.

use super::Reducer;
use super::accumulators::Accumulators;
use super::tiles::{Tile, Tiles, last_two};
use crate::code::{Kernel, Operands};
use ndjit_codegen::passes::split::{ACCUMULATE_LOOPS, FEW, Loop, Parts};
use ndjit_ir::Result;
use ndjit_ir::reduction::{BLOCK, LANES};
use smallvec::SmallVec;

/// Operands of a kernel that need no allocation: as many as reductions of a few arrays have that take several steps at once.
const OPERANDS: usize = 32;

/// A tile of a reduction being run.
pub struct Task<'a> {
    pub reducer: &'a Reducer,
    pub operands: Operands<'a>,
    pub tiles: &'a Tiles,
    pub tile: Tile,
}

/// Elements beside each other along the innermost of the reduced loops: whole blocks, whole groups of lanes of a block, or some
/// lanes of one group.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Number of its first element, and the element's index along the innermost reduced loop.
    first: usize,
    index: usize,
    blocks: usize,
    steps: usize,
    lanes: usize,
}

impl Task<'_> {
    /// Accumulates the tile's elements.
    ///
    /// # Safety
    /// As [`Composed::run`](crate::code::Composed::run).
    pub unsafe fn run(&self) -> Result<Accumulators> {
        let Task { reducer, tiles, tile, .. } = *self;
        let accumulators = Accumulators::new(tiles, &tile, reducer.along, &reducer.outputs)?;
        let (from, end) = (tile.blocks.start * BLOCK, (tile.blocks.start + tile.blocks.len) * BLOCK);
        let end = end.min(tiles.elements);
        let extent = self.operands.extents[reducer.rank - 1];
        let mut first = from;
        while first < end {
            let run = first / extent;
            let starts = self.starts(run);
            let stop = end.min((run + 1).saturating_mul(extent));
            while first < stop {
                let piece = piece(first, stop - first, run * extent);
                // SAFETY: the caller's promise; the piece is of the tile's elements.
                unsafe { self.accumulate(&accumulators, piece, &starts)? };
                first += piece.blocks * piece.steps * piece.lanes;
            }
        }
        // SAFETY: all elements of the tile have been accumulated, into accumulators that held the identity or were started.
        unsafe { accumulators.finish(&reducer.combine, tiles, &tile)? };
        Ok(accumulators)
    }

    /// The inputs' elements at the tile's first result and the `run`th index of the reduced loops but the innermost.
    fn starts(&self, run: usize) -> SmallVec<[*mut u8; 4]> {
        let Reducer { rank, kept, inputs, .. } = *self.reducer;
        let Operands { pointers, extents, strides, .. } = self.operands;
        let starts = pointers.iter().zip(strides.chunks(rank)).take(inputs).map(|(&pointer, strides)| {
            let start = self.tile.offset(&extents[..kept], &strides[..kept]);
            let mut pointer = pointer.wrapping_offset(start);
            let mut index = run;
            for axis in (kept..rank - 1).rev() {
                let step = strides[axis].wrapping_mul((index % extents[axis]) as isize);
                (pointer, index) = (pointer.wrapping_offset(step), index / extents[axis]);
            }
            pointer
        });
        starts.collect()
    }

    /// # Safety
    /// As [`Composed::run`](crate::code::Composed::run); the piece is of the tile's elements.
    unsafe fn accumulate(&self, accumulators: &Accumulators, piece: Piece, starts: &[*mut u8]) -> Result<()> {
        let Reducer { accumulate, accumulate_few, start, .. } = self.reducer;
        let mut rest = piece;
        if let Some(start) = start.as_ref().filter(|_| piece.first % BLOCK < LANES) {
            // SAFETY: the caller's promise; these steps are some of the piece.
            unsafe { self.call(start, accumulators, rest.take(1), 1, starts)? };
        }
        if let Some(few) = accumulate_few {
            let steps = rest.steps / FEW * FEW;
            // SAFETY: as above; accumulators that have no identity have been started.
            unsafe { self.call(few, accumulators, rest.take(steps), FEW, starts)? };
        }
        // SAFETY: as above.
        unsafe { self.call(accumulate, accumulators, rest, 1, starts) }
    }

    /// Calls an accumulating or the starting kernel, which takes `at_once` steps at once.
    ///
    /// # Safety
    /// As `accumulate`; accumulators are initialised where they are read.
    unsafe fn call(
        &self,
        kernel: &Kernel,
        accumulators: &Accumulators,
        piece: Piece,
        at_once: usize,
        starts: &[*mut u8],
    ) -> Result<()> {
        if piece.steps == 0 {
            return Ok(());
        }
        let Task { reducer, operands, tile, .. } = self;
        let Reducer { rank, kept, along, .. } = **reducer;
        let reads = kernel.nest().inputs.len() > reducer.inputs * at_once;
        let order = Parts::order(along);
        let extents = order.map(|index| match index {
            Loop::Outer => tile.outer.len,
            Loop::Kept => tile.inner.len,
            Loop::Block => piece.blocks,
            Loop::Step => piece.steps / at_once,
            Loop::Lane => piece.lanes,
        });
        let mut pointers: SmallVec<[*mut u8; OPERANDS]> = SmallVec::new();
        let mut strides: SmallVec<[[isize; ACCUMULATE_LOOPS]; OPERANDS]> = SmallVec::new();
        let block = piece.first / BLOCK - tile.blocks.start;
        let lane = piece.first % LANES;
        let inputs =
            (0..at_once).flat_map(|step| starts.iter().zip(operands.strides.chunks(rank)).map(move |own| (step, own)));
        let inputs = inputs.map(|(number, (&start, own))| {
            let step = own[rank - 1];
            let [outer, inner] = last_two(&own[..kept], 0);
            let strides = order.map(|index| match index {
                Loop::Outer => outer,
                Loop::Kept => inner,
                Loop::Block => step.wrapping_mul(BLOCK as isize),
                Loop::Step => step.wrapping_mul((LANES * at_once) as isize),
                Loop::Lane => step,
            });
            (start.wrapping_offset(step.wrapping_mul((piece.index + number * LANES) as isize)), strides)
        });
        let read = accumulators.at(block, lane).filter(|_| reads);
        for (pointer, steps) in read.chain(inputs).chain(accumulators.at(block, lane)) {
            pointers.push(pointer);
            strides.push(steps);
        }
        // SAFETY: numbers of operands, loops and literals are the nest's. Every index is an element of the tile, which the
        // caller vouches for, and its accumulator, which this task owns; each is read and written at the same index, and
        // along the steps in order, because no loop of a kernel is reordered. Along the loop that vectors lie along,
        // accumulators are contiguous, and inputs move as in the nest.
        unsafe { kernel.call(&pointers, &extents, strides.as_flattened(), operands.literals) }
    }
}

impl Piece {
    /// The first steps of the piece, which is left with the others.
    fn take(&mut self, steps: usize) -> Piece {
        let taken = Piece { steps, ..*self };
        *self = Piece {
            first: self.first + steps * LANES,
            index: self.index + steps * LANES,
            steps: self.steps - steps,
            ..*self
        };
        taken
    }
}

/// The largest piece that begins with element number `first` of the `left` in its run, whose first has number `run`.
fn piece(first: usize, left: usize, run: usize) -> Piece {
    let (blocks, steps, lanes) = if !first.is_multiple_of(LANES) || left < LANES {
        (1, 1, left.min(LANES - first % LANES))
    } else if !first.is_multiple_of(BLOCK) || left < BLOCK {
        (1, left.min(BLOCK - first % BLOCK) / LANES, LANES)
    } else {
        (left / BLOCK, BLOCK / LANES, LANES)
    };
    Piece { first, index: first - run, blocks, steps, lanes }
}
