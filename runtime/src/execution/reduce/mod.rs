//! Reductions on the CPU: the kernels of a nest's [parts](ndjit_codegen::passes::split), and their driver.
//!
//! The parallel loops and the blocks of elements are cut into [tiles](tiles::ReduceTiles). Each [task](task::ReduceTask) reduces one tile
//! in its own accumulators; partial results of the same results are combined after. The order of operations is that of
//! [`fold`](ndjit_ir::reduction::fold), for any tiles: they contain whole blocks, and as many as a subtree of the tree of blocks has
//! leaves.

mod accumulators;
mod blocks;
mod places;
mod reducer;
mod small;
mod task;

use crate::execution::calls::{CallRecording, Immediate};
use crate::execution::code::{Composed, Kernel, KernelOperands, RecordedLoop};
use crate::execution::cost;
use crate::execution::threads::{Threads, catch, one_by_one};
use crate::execution::tiling::{ReduceTiles, product};
pub use accumulators::fill;
use accumulators::{Accumulated, AccumulatorArray, Cube, tree};
use ndjit_ir::reduction::LANES;
use ndjit_ir::{Error, ErrorCode, Result};
pub use places::ElementCopy;
use places::{OutputSlice, OutputSlices, Partial};
use reducer::CACHED;
pub use reducer::{Reducer, element};
use small::Small;
use smallvec::SmallVec;
use std::iter;
use task::ReduceTask;

/// The time of a reduction in registers relative to its nest's estimate. A sum of 100,000 squared differences of `f32`, estimated at 13 us,
/// took 7.1 on a Xeon, and 8.6 on two threads.
const BLOCKS: f64 = 0.55;

impl Composed for Reducer {
    fn own(&self) -> SmallVec<[&Kernel; 8]> {
        let more = [&self.accumulate_unrolled, &self.accumulate_jammed, &self.start].into_iter().flatten();
        let blocks = self.blocks.iter().flat_map(|blocks| blocks.kernels());
        iter::once(&self.accumulate).chain(more).chain(blocks).collect()
    }

    /// Accumulators are read and written in registers or in the cache.
    fn cost(&self) -> f64 {
        let accumulators: usize = self.outputs.iter().map(Accumulated::size).sum();
        let cost = self.accumulate.cost() - cost::of_bytes(2 * accumulators);
        if self.blocks.is_some() { cost * BLOCKS } else { cost }
    }

    fn scratch(&self, extents: &[usize], _output: usize, threads: &Threads) -> usize {
        if extents.contains(&0) {
            return 0;
        }
        if let Some(small) = self.small(extents, threads) {
            return small.scratch();
        }
        let (tiles, pieces) = self.tiles(extents, threads);
        let at_once = if pieces > 1 { tiles.count().min(threads.count()) } else { 1 };
        let rows = if tiles.rows() > 1 { tiles.rows() } else { 0 };
        let partial = product(&[tiles.results(), rows, self.outputs.iter().map(Accumulated::size).sum()]);
        let each = accumulators::bytes(&tiles, &tiles.tile(0), self.along, &self.outputs);
        each.saturating_mul(at_once).saturating_add(partial)
    }

    fn record(&self, operands: KernelOperands<'_>, threads: &Threads, sink: &mut CallRecording) -> Result<bool> {
        if operands.extents.contains(&0) {
            return Ok(false);
        }
        if let Some(small) = self.small(operands.extents, threads) {
            // SAFETY: a recording reads and writes nothing.
            unsafe { small.run(operands, sink)? };
            return Ok(true);
        }
        let (tiles, pieces) = self.tiles(operands.extents, threads);
        if pieces > 1 || tiles.count() > 1 {
            return Ok(false);
        }
        let cached = product(operands.extents).saturating_mul(self.element) <= CACHED;
        let (blocks, tile) = (self.blocks(operands.extents), tiles.tile(0));
        let task = ReduceTask { reducer: self, blocks, operands, tiles: &tiles, tile, cached };
        // SAFETY: as above.
        unsafe { self.places(operands).store(&tile, &task.run(sink)?, sink) };
        Ok(true)
    }

    fn recorded(&self, index: usize, extents: &[usize], threads: &Threads) -> Option<RecordedLoop> {
        self.small(extents, threads).filter(Small::is_one_block)?;
        Some(match self.parallel_rank.checked_sub(index + 1) {
            None => RecordedLoop::Lanes,
            // Calls have two parallel loops.
            Some(within) => RecordedLoop::Extent(1 - within),
        })
    }

    unsafe fn run(&self, operands: KernelOperands<'_>, threads: &Threads) -> Result<()> {
        let (parallel, reduced) = operands.extents.split_at(self.parallel_rank);
        if parallel.contains(&0) {
            return Ok(());
        }
        if let Some(small) = self.small(operands.extents, threads) {
            // SAFETY: the caller's promise.
            return unsafe { small.run(operands, &mut Immediate::new(operands.literals)) };
        }
        let outputs = self.places(operands);
        if reduced.contains(&0) {
            // SAFETY: the caller's promise.
            return unsafe { self.empty_result(&outputs) };
        }
        let (tiles, pieces) = self.tiles(operands.extents, threads);
        let cached = product(operands.extents).saturating_mul(self.element) <= CACHED;
        let partial = if tiles.rows() > 1 { Some(Partial::new(&tiles, parallel, &self.sizes())?) } else { None };
        let into = partial.as_ref().map_or(&outputs, |partial| &partial.places);
        let work = |index: usize| {
            let blocks = self.blocks(operands.extents);
            let task = ReduceTask { reducer: self, blocks, operands, tiles: &tiles, tile: tiles.tile(index), cached };
            let sink = &mut Immediate::new(operands.literals);
            // SAFETY: the caller's promise. Tasks write distinct results, or distinct rows of partial results.
            unsafe { into.store(&task.tile, &task.run(sink)?, sink) };
            Ok(())
        };
        if pieces > 1 {
            let time = product(operands.extents) as f64 * self.cost();
            threads.each(tiles.count(), time, work)?;
        } else {
            one_by_one(tiles.count(), work)?;
        }
        let Some(partial) = partial else { return Ok(()) };
        let arrays: SmallVec<[AccumulatorArray; 1]> = partial.places.arrays().collect();
        let cube = Cube { rows: 1, row: 0, block: tiles.results(), lane: tiles.results() };
        // SAFETY: the tasks have written all rows; the caller's promise holds for the outputs.
        catch(|| unsafe {
            tree(&self.combine, &arrays, cube, tiles.rows(), &mut Immediate::new(&[]))?;
            outputs.store_all(&partial.places);
            Ok(())
        })
    }
}

impl Reducer {
    /// The tiles of a nest with these nonzero extents, and the number of pieces that pays.
    fn tiles(&self, extents: &[usize], threads: &Threads) -> (ReduceTiles, usize) {
        let (parallel, reduced) = extents.split_at(self.parallel_rank);
        let pieces = threads.pieces(product(extents), self.cost());
        let bytes = self.outputs.iter().map(Accumulated::size).sum();
        let lanes = if self.blocks(extents).is_some() { 1 } else { LANES };
        (ReduceTiles::new(parallel, product(reduced), self.along, (bytes, lanes), pieces), pieces)
    }

    /// The reduction as a small one, for the calling thread.
    fn small(&self, extents: &[usize], threads: &Threads) -> Option<Small<'_>> {
        let alone = threads.pieces(product(extents), self.cost()) <= 1;
        Small::new(self, extents).filter(|_| alone)
    }

    /// # Safety
    /// As [`Composed::run`].
    unsafe fn empty_result(&self, outputs: &OutputSlices) -> Result<()> {
        let mut elements = Vec::with_capacity(self.outputs.len());
        for Accumulated { dtype, reduction, .. } in &self.outputs {
            let Some(literal) = reduction.empty_result() else {
                return Err(Error::new(ErrorCode::Verify, format!("run: {reduction} of no elements")));
            };
            elements.push(element(*dtype, &literal.to_repr(*dtype)?)?);
        }
        // SAFETY: the elements are readable; the caller's promise holds for the outputs.
        unsafe { outputs.store_all(&outputs.everywhere(&elements)) };
        Ok(())
    }

    /// The destination of the results.
    fn places(&self, operands: KernelOperands<'_>) -> OutputSlices {
        let outputs = operands.pointers.iter().zip(operands.strides.chunks(self.rank)).skip(self.inputs);
        let places = outputs.zip(self.sizes()).map(|((&pointer, strides), size)| OutputSlice {
            array: AccumulatorArray { pointer, size },
            row: 0,
            strides: SmallVec::from_slice(&strides[..self.parallel_rank]),
        });
        OutputSlices {
            parallel: SmallVec::from_slice(&operands.extents[..self.parallel_rank]),
            places: places.collect(),
        }
    }

    fn sizes(&self) -> SmallVec<[usize; 1]> {
        self.outputs.iter().map(Accumulated::size).collect()
    }
}
