//! One task of a reduction: the elements of a tile, accumulated and combined.

use super::accumulators::Accumulators;
use super::blocks::Blocks;
use super::reducer::Reducer;
use crate::execution::calls::CallSink;
use crate::execution::code::{Kernel, KernelOperands};
use crate::execution::tiling::{ReduceTiles, Run, Tile, last_two};
use ndjit_codegen::passes::split::{ACCUMULATE_LOOPS, Loop, ReduceParts, UNROLL};
use ndjit_ir::Result;
use ndjit_ir::reduction::{BLOCK, LANES};
use smallvec::SmallVec;

/// Inline capacity for operands: enough for jammed reductions of a few arrays.
const OPERANDS: usize = 32;

/// A tile of a reduction being run.
pub struct ReduceTask<'a> {
    pub reducer: &'a Reducer,
    /// The code for whole blocks, if the tile uses it.
    pub blocks: Option<&'a Blocks>,
    pub operands: KernelOperands<'a>,
    pub tiles: &'a ReduceTiles,
    pub tile: Tile,
    /// Whether the elements of all tiles may be in caches.
    pub cached: bool,
}

/// Adjacent elements along the innermost reduction loop: whole blocks, whole groups of lanes of a block, or some lanes of one group; for
/// some of the inner results.
#[derive(Clone, Copy, Debug)]
struct ElementRun {
    /// Number of its first element, and that element's index along the innermost reduction loop.
    first: usize,
    index: usize,
    blocks: usize,
    steps: usize,
    lanes: usize,
    results: Run,
}

/// The indices of a loop that a kernel takes at once. Along the steps they share accumulators, in order; along others each has its own.
#[derive(Clone, Copy, Debug)]
struct AtOnce {
    along: Loop,
    count: usize,
}

const ONE: AtOnce = AtOnce { along: Loop::Step, count: 1 };

impl ReduceTask<'_> {
    /// Accumulates the tile's elements.
    ///
    /// # Safety
    /// As [`Composed::run`](crate::execution::code::Composed::run).
    pub unsafe fn run(&self, sink: &mut dyn CallSink) -> Result<Accumulators> {
        let ReduceTask { reducer, tiles, tile, .. } = *self;
        let accumulators = Accumulators::new(tiles, &tile, reducer.along, &reducer.outputs, sink)?;
        let (from, end) = (tile.blocks.start * BLOCK, (tile.blocks.start + tile.blocks.len) * BLOCK);
        let end = end.min(tiles.elements);
        if let Some(blocks) = self.blocks {
            // SAFETY: the caller's promise; afterwards the accumulators contain all blocks' results, finished.
            unsafe {
                self.blocks(blocks, &accumulators, (from, end), sink)?;
                let Accumulators { arrays, cube, .. } = &accumulators;
                blocks.combine(&reducer.outputs, arrays, *cube, tile.blocks.len, sink)?;
            }
            return Ok(accumulators);
        }
        let extent = self.operands.extents[reducer.rank - 1];
        let mut first = from;
        while first < end {
            let run = first / extent;
            let starts = self.starts(run);
            let stop = end.min((run + 1).saturating_mul(extent));
            while first < stop {
                let piece = piece(first, stop - first, run * extent, tile.inner.len);
                // SAFETY: the caller's promise; the piece is of the tile's elements.
                unsafe { self.accumulate(&accumulators, piece, &starts, sink)? };
                first += piece.blocks * piece.steps * piece.lanes;
            }
        }
        // SAFETY: all elements of the tile have been accumulated, into accumulators that held the identity or were started.
        unsafe { accumulators.finish(&reducer.combine, tiles, &tile, sink)? };
        Ok(accumulators)
    }

    /// Reduces the tile's blocks, within this range, to one accumulator each.
    ///
    /// # Safety
    /// As [`Composed::run`](crate::execution::code::Composed::run).
    unsafe fn blocks(
        &self,
        blocks: &Blocks,
        accumulators: &Accumulators,
        (from, end): (usize, usize),
        sink: &mut dyn CallSink,
    ) -> Result<()> {
        let starts = self.starts(0);
        let results = Run { start: 0, len: self.tile.inner.len };
        let (whole, left) = ((end - from) / BLOCK, (end - from) % BLOCK);
        let all = ElementRun { first: from, index: from, blocks: whole, steps: BLOCK / LANES, lanes: 0, results };
        let at = end - left;
        let last = ElementRun { first: at, index: at, blocks: 1, steps: left / LANES, lanes: left % LANES, results };
        let last = Some(last).filter(|_| left > 0);
        for mut rest in [all].into_iter().chain(last) {
            if let Some(jammed) = blocks.jammed.as_ref().filter(|_| self.cached) {
                let count = self.reducer.jam;
                for along in [Loop::Block, Loop::Parallel] {
                    let many = rest.take(along, rest.extent(along) / count * count.get());
                    let at_once = AtOnce { along, count: count.get() };
                    // SAFETY: the caller's promise; the piece is of the tile's elements.
                    unsafe { self.call(jammed, accumulators, many, at_once, &starts, sink)? };
                }
            }
            // SAFETY: as above.
            unsafe { self.call(&blocks.one, accumulators, rest, ONE, &starts, sink)? };
        }
        Ok(())
    }

    /// The inputs' elements at the tile's first result and the `run`th index of the outer reduction loops.
    fn starts(&self, run: usize) -> SmallVec<[*mut u8; 4]> {
        let Reducer { rank, parallel_rank, inputs, .. } = *self.reducer;
        let KernelOperands { pointers, extents, strides, .. } = self.operands;
        let starts = pointers.iter().zip(strides.chunks(rank)).take(inputs).map(|(&pointer, strides)| {
            let start = self.tile.offset(&extents[..parallel_rank], &strides[..parallel_rank]);
            let mut pointer = pointer.wrapping_offset(start);
            let mut index = run;
            for axis in (parallel_rank..rank - 1).rev() {
                let step = strides[axis].wrapping_mul((index % extents[axis]) as isize);
                (pointer, index) = (pointer.wrapping_offset(step), index / extents[axis]);
            }
            pointer
        });
        starts.collect()
    }

    /// # Safety
    /// As [`Composed::run`](crate::execution::code::Composed::run); the piece is of the tile's elements.
    unsafe fn accumulate(
        &self,
        accumulators: &Accumulators,
        piece: ElementRun,
        starts: &[*mut u8],
        sink: &mut dyn CallSink,
    ) -> Result<()> {
        let Reducer { accumulate, accumulate_unrolled, accumulate_jammed, jam: count, start, .. } = self.reducer;
        let mut rest = piece;
        if let Some(start) = start.as_ref().filter(|_| piece.first % BLOCK < LANES) {
            // SAFETY: the caller's promise; these steps are some of the piece.
            unsafe { self.call(start, accumulators, rest.take(Loop::Step, 1), ONE, starts, sink)? };
        }
        if let Some(few) = accumulate_unrolled {
            let steps = rest.take(Loop::Step, rest.steps / UNROLL * UNROLL);
            let at_once = AtOnce { along: Loop::Step, count: UNROLL };
            // SAFETY: as above; accumulators that have no identity have been started.
            unsafe { self.call(few, accumulators, steps, at_once, starts, sink)? };
        }
        if let Some(jammed) = accumulate_jammed.as_ref().filter(|_| self.cached) {
            for along in [Loop::Block, Loop::Parallel] {
                let many = rest.take(along, rest.extent(along) / *count * count.get());
                // SAFETY: as above.
                unsafe { self.call(jammed, accumulators, many, AtOnce { along, count: count.get() }, starts, sink)? };
            }
        }
        // SAFETY: as above.
        unsafe { self.call(accumulate, accumulators, rest, ONE, starts, sink) }
    }

    /// Calls an accumulating or the starting kernel, or one for whole blocks.
    ///
    /// # Safety
    /// As `accumulate`; accumulators are initialised where they are read, and the piece's extent is a multiple of the kernel's number at
    /// once.
    unsafe fn call(
        &self,
        kernel: &Kernel,
        accumulators: &Accumulators,
        piece: ElementRun,
        at_once: AtOnce,
        starts: &[*mut u8],
        sink: &mut dyn CallSink,
    ) -> Result<()> {
        let ReduceTask { reducer, operands, tile, .. } = self;
        let Reducer { rank, parallel_rank, along, inputs, .. } = **reducer;
        let order = ReduceParts::order(along);
        let extents = order.map(|index| match index {
            Loop::Outer => tile.outer.len,
            _ => piece.extent(index) / at_once.of(index),
        });
        // There may be no whole step, or nothing else.
        let trips = if self.blocks.is_some() { extents.len() - 2 } else { extents.len() };
        if extents[..trips].contains(&0) {
            return Ok(());
        }
        let (block, lane) = (piece.first / BLOCK - tile.blocks.start, piece.first % LANES);
        let beside = if at_once.along == Loop::Step { 1 } else { at_once.count };
        let mut addresses = Addresses { order, at_once, pointers: SmallVec::new(), strides: SmallVec::new() };
        let own = |addresses: &mut Addresses| {
            for number in 0..beside {
                for (start, strides) in accumulators.at(piece.results.start, block, lane) {
                    addresses.push(start, strides, number);
                }
            }
        };
        if self.blocks.is_some() {
            for number in 0..beside {
                for output in &reducer.outputs {
                    addresses.push(output.identity.as_ptr().cast_mut(), [0; ACCUMULATE_LOOPS], number);
                }
            }
        } else if kernel.nest().inputs.len() > inputs * at_once.count {
            own(&mut addresses);
        }
        for number in 0..at_once.count {
            for (&start, own) in starts.iter().zip(operands.strides.chunks(rank)) {
                let step = own[rank - 1];
                let [outer, inner] = last_two(&own[..parallel_rank], 0);
                let strides = order.map(|index| match index {
                    Loop::Outer => outer,
                    Loop::Parallel => inner,
                    Loop::Block => step.wrapping_mul(BLOCK as isize),
                    Loop::Step => step.wrapping_mul(LANES as isize),
                    Loop::Lane => step,
                });
                let first = step.wrapping_mul(piece.index as isize);
                let first = first.wrapping_add(inner.wrapping_mul(piece.results.start as isize));
                addresses.push(start.wrapping_offset(first), strides, number);
            }
        }
        own(&mut addresses);
        // SAFETY: numbers of operands, loops and literals are the nest's. Every index is an element of the tile, valid by the caller's
        // promise, and its accumulator, owned by this task. Each accumulator is read and written at the same index, and along the steps in
        // order, because kernels do not reorder loops. Along the vector loop, accumulators are contiguous, and inputs move as in the nest.
        unsafe { sink.call(kernel, &addresses.pointers, &extents, addresses.strides.as_flattened()) }
    }
}

impl AtOnce {
    fn of(self, index: Loop) -> usize {
        if index == self.along { self.count } else { 1 }
    }
}

/// The operands of an accumulating kernel.
struct Addresses {
    order: [Loop; ACCUMULATE_LOOPS],
    at_once: AtOnce,
    pointers: SmallVec<[*mut u8; OPERANDS]>,
    strides: SmallVec<[[isize; ACCUMULATE_LOOPS]; OPERANDS]>,
}

impl Addresses {
    /// An operand of the index `number` among those at once, with its strides.
    fn push(&mut self, mut start: *mut u8, strides: [isize; ACCUMULATE_LOOPS], number: usize) {
        let mut all = strides;
        for (index, stride) in self.order.into_iter().zip(&mut all) {
            let taken = self.at_once.of(index);
            if taken > 1 {
                start = start.wrapping_offset(stride.wrapping_mul(number as isize));
            }
            *stride = stride.wrapping_mul(taken as isize);
        }
        self.strides.push(all);
        self.pointers.push(start);
    }
}

impl ElementRun {
    fn extent(&self, index: Loop) -> usize {
        match index {
            Loop::Outer => 1,
            Loop::Parallel => self.results.len,
            Loop::Block => self.blocks,
            Loop::Step => self.steps,
            Loop::Lane => self.lanes,
        }
    }

    /// Splits off the first `count` indices of the piece along a loop; the rest remains.
    fn take(&mut self, along: Loop, count: usize) -> ElementRun {
        let mut taken = *self;
        let elements = match along {
            Loop::Parallel => {
                (taken.results.len, self.results.len) = (count, self.results.len - count);
                self.results.start += count;
                0
            }
            Loop::Block => {
                (taken.blocks, self.blocks) = (count, self.blocks - count);
                count * BLOCK
            }
            Loop::Step => {
                (taken.steps, self.steps) = (count, self.steps - count);
                count * LANES
            }
            Loop::Outer | Loop::Lane => 0,
        };
        self.first += elements;
        self.index += elements;
        taken
    }
}

/// The largest piece from element number `first` of the `left` elements in its run, whose first has number `run`; for so many inner
/// results.
fn piece(first: usize, left: usize, run: usize, results: usize) -> ElementRun {
    let (blocks, steps, lanes) = if !first.is_multiple_of(LANES) || left < LANES {
        (1, 1, left.min(LANES - first % LANES))
    } else if !first.is_multiple_of(BLOCK) || left < BLOCK {
        (1, left.min(BLOCK - first % BLOCK) / LANES, LANES)
    } else {
        (left / BLOCK, BLOCK / LANES, LANES)
    };
    ElementRun { first, index: first - run, blocks, steps, lanes, results: Run { start: 0, len: results } }
}
