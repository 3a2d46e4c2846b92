//! Reductions of few blocks in registers, which need no accumulators in memory.

use super::accumulators::{AccumulatorArray, Cube};
use super::blocks::{Blocks, KernelArguments};
use super::places::ElementCopy;
use super::reducer::{CACHED, Reducer};
use crate::execution::calls::{CallRows, CallSink};
use crate::execution::code::{Kernel, KernelOperands};
use crate::execution::tiling::{last_two, product};
use ndjit_codegen::passes::split::ACCUMULATE_LOOPS;
use ndjit_ir::Result;
use ndjit_ir::reduction::{BLOCK, LANES};
use smallvec::SmallVec;

/// The maximum size of blocks' results in scratch memory, bytes.
const SHORT: usize = 4096;

/// A reduction along at most two loops on the calling thread, of few blocks.
pub struct Small<'a> {
    reducer: &'a Reducer,
    blocks: &'a Blocks,
    /// Extents of the last two parallel loops.
    extents: [usize; 2],
    elements: usize,
}

/// Results of blocks: the address of an output's results, and their strides in bytes along the last two parallel loops and along blocks.
#[derive(Clone, Copy)]
struct BlockResults {
    pointer: *mut u8,
    strides: [isize; 3],
}

/// Blocks of equal length.
#[derive(Clone, Copy)]
struct BlockRange {
    /// The first row and the first block.
    first: [usize; 2],
    /// Their numbers.
    count: [usize; 2],
    /// The number taken at once.
    at_once: [usize; 2],
    elements: usize,
}

impl<'a> Small<'a> {
    /// `None` if it is not such a reduction.
    pub fn new(reducer: &'a Reducer, extents: &[usize]) -> Option<Small<'a>> {
        let (parallel, elements) = (&extents[..reducer.parallel_rank], extents[reducer.rank - 1]);
        let blocks = reducer.blocks(extents).filter(|_| elements > 0 && parallel.len() <= 2)?;
        let small = Small { reducer, blocks, extents: last_two(parallel, 1), elements };
        let few = small.count() == 1 || small.bytes() <= SHORT;
        few.then_some(small)
    }

    /// Whether each result is one block.
    pub fn is_one_block(&self) -> bool {
        self.count() == 1
    }

    /// Bytes of scratch memory.
    pub fn scratch(&self) -> usize {
        if self.is_one_block() { 0 } else { self.bytes() }
    }

    /// Blocks of a result.
    fn count(&self) -> usize {
        self.elements.div_ceil(BLOCK)
    }

    /// Bytes of the results of all blocks.
    fn bytes(&self) -> usize {
        let sizes = self.reducer.outputs.iter().map(|output| output.size()).sum();
        product(&[self.extents[0], self.extents[1], self.count(), sizes])
    }

    /// Reduces all blocks. `operands` have the extents of `new`.
    ///
    /// # Safety
    /// As [`Composed::run`](crate::execution::code::Composed::run).
    pub unsafe fn run(&self, operands: KernelOperands<'_>, sink: &mut dyn CallSink) -> Result<()> {
        let Reducer { rank, parallel_rank, inputs, .. } = *self.reducer;
        let outputs = operands.pointers.iter().zip(operands.strides.chunks(rank)).skip(inputs);
        let places = outputs.map(|(&pointer, strides)| {
            let [outer, row] = last_two(&strides[..parallel_rank], 0);
            BlockResults { pointer, strides: [outer, row, 0] }
        });
        let places: SmallVec<[BlockResults; 2]> = places.collect();
        if self.count() == 1 {
            // SAFETY: the caller's promise.
            return unsafe { self.reduce(operands, &places, sink) };
        }
        let mut next = sink.scratch(self.bytes())?;
        let [outer, rows] = self.extents;
        let arrays = self.reducer.outputs.iter().map(|output| {
            let array = AccumulatorArray { pointer: next, size: output.size() };
            next = next.wrapping_add(array.size * outer * rows * self.count());
            array
        });
        let arrays: SmallVec<[AccumulatorArray; 2]> = arrays.collect();
        let of_blocks = arrays.iter().map(|&AccumulatorArray { pointer, size }| {
            let row = self.count() * size;
            BlockResults { pointer, strides: [row * rows, row, size].map(|bytes| bytes as isize) }
        });
        let of_blocks: SmallVec<[BlockResults; 2]> = of_blocks.collect();
        let cube = Cube { rows: outer * rows, row: self.count(), block: 1, lane: 1 };
        // SAFETY: the caller's promise. There is memory for all blocks' results, which are written before they are read.
        unsafe {
            self.reduce(operands, &of_blocks, sink)?;
            self.blocks.combine(&self.reducer.outputs, &arrays, cube, self.count(), sink)?;
            for ((from, to), array) in of_blocks.iter().zip(&places).zip(&arrays) {
                let steps = [from, to].map(|of| [of.strides[0], of.strides[1]]);
                let (from, to, extents) = (from.pointer, to.pointer, self.extents);
                sink.copy(ElementCopy { from, to, steps, extents, size: array.size });
            }
        }
        Ok(())
    }

    /// Reduces each block to one element.
    ///
    /// # Safety
    /// As `run`; there is exclusive memory for the results.
    unsafe fn reduce(
        &self,
        operands: KernelOperands<'_>,
        results: &[BlockResults],
        sink: &mut dyn CallSink,
    ) -> Result<()> {
        let rows = self.extents[1];
        let (whole, left) = (self.elements / BLOCK, self.elements % BLOCK);
        let mut pieces: SmallVec<[BlockRange; 2]> = SmallVec::new();
        if whole > 0 {
            pieces.push(BlockRange { first: [0, 0], count: [rows, whole], at_once: [1, 1], elements: BLOCK });
        }
        if left > 0 {
            pieces.push(BlockRange { first: [0, whole], count: [rows, 1], at_once: [1, 1], elements: left });
        }
        let cached = product(operands.extents).saturating_mul(self.reducer.element) <= CACHED;
        let jam = self.reducer.jam;
        for mut piece in pieces {
            for along in [1, 0] {
                let many = piece.count[along] / jam * jam.get();
                let (Some(jammed), 1..) = (self.blocks.jammed.as_ref().filter(|_| cached), many) else { continue };
                let mut taken = piece;
                (taken.count[along], taken.at_once[along]) = (many, jam.get());
                piece.first[along] += many;
                piece.count[along] -= many;
                // SAFETY: the caller's promise; these blocks are some of all.
                unsafe { self.call(jammed, taken, operands, results, sink)? };
            }
            if !piece.count.contains(&0) {
                // SAFETY: as above.
                unsafe { self.call(&self.blocks.one, piece, operands, results, sink)? };
            }
        }
        Ok(())
    }

    /// # Safety
    /// As `reduce`; the piece has some of the blocks, and of one length.
    unsafe fn call(
        &self,
        kernel: &Kernel,
        piece: BlockRange,
        operands: KernelOperands<'_>,
        results: &[BlockResults],
        sink: &mut dyn CallSink,
    ) -> Result<()> {
        let Reducer { rank, parallel_rank, inputs, .. } = *self.reducer;
        let BlockRange { first, count, at_once, elements } = piece;
        let [rows, blocks] = [0, 1].map(|along| count[along] / at_once[along]);
        let mut call = KernelArguments::new([self.extents[0], rows, blocks, elements / LANES, elements % LANES]);
        let many = at_once[0] * at_once[1];
        for _ in 0..many {
            for output in &self.reducer.outputs {
                call.push(output.identity.as_ptr().cast_mut(), [0; ACCUMULATE_LOOPS]);
            }
        }
        let mut push = |pointer: *mut u8, [outer, row, block]: [isize; 3], step: isize, number: usize| {
            // One of the two is taken several at once.
            let at = |along: usize| (first[along] + if at_once[along] > 1 { number } else { 0 }) as isize;
            let start = pointer.wrapping_offset(row.wrapping_mul(at(0))).wrapping_offset(block.wrapping_mul(at(1)));
            let [row, block] = [(row, 0), (block, 1)].map(|(bytes, along)| bytes.wrapping_mul(at_once[along] as isize));
            call.push(start, [outer, row, block, step.wrapping_mul(LANES as isize), step]);
        };
        for number in 0..many {
            for (&pointer, strides) in operands.pointers.iter().zip(operands.strides.chunks(rank)).take(inputs) {
                let ([outer, row], step) = (last_two(&strides[..parallel_rank], 0), strides[rank - 1]);
                push(pointer, [outer, row, step.wrapping_mul(BLOCK as isize)], step, number);
            }
        }
        for number in 0..many {
            for results in results {
                push(results.pointer, results.strides, 0, number);
            }
        }
        sink.rows(CallRows { first: first[0], at_once: at_once[0] });
        // SAFETY: the caller's promise: indices are those of the nest, with one result along the steps and lanes.
        unsafe { call.run(kernel, sink) }
    }
}
