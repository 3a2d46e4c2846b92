//! Reductions on the CPU: the kernels of a nest's [parts](ndjit_codegen::passes::split), and their driver.
//!
//! The parallel loops and the blocks of elements are cut into [tiles](tiles::ReduceTiles). Each [task](task::ReduceTask) reduces one tile
//! in its own accumulators; partial results of the same results are combined after. The order of operations is that of
//! [`fold`](ndjit_ir::reduction::fold), for any tiles: they contain whole blocks, and as many as a subtree of the tree of blocks has
//! leaves.

mod accumulators;
mod blocks;
mod places;
mod task;

use crate::execution::code::{CodeOptions, Composed, Kernel, KernelOperands};
use crate::execution::cost;
use crate::execution::kernels;
use crate::execution::threads::{Threads, catch};
use crate::execution::tiling::{ReduceTiles, product};
pub use accumulators::fill;
use accumulators::{AccumulatorArray, Cube, tree};
use blocks::{Blocks, Small};
use ndjit_codegen::passes::split::{NestPart, ReduceParts};
use ndjit_ir::loops::{LoopNest, VectorLoop};
use ndjit_ir::reduction::{LANES, Reduction};
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape};
use ndjit_math::interp::Tensor;
use places::{OutputSlice, OutputSlices, Partial};
use smallvec::SmallVec;
use std::iter;
use std::num::NonZeroUsize;
use std::sync::Arc;
use task::ReduceTask;

/// The maximum size of elements for jammed blocks ([`ReduceParts::jam`]): larger arrays come from memory, which is fastest in order. Sums
/// of squares of 10,000,000 `f32` took 4.7 ms with jammed blocks and 3.1 without.
const CACHED: usize = 4 << 20;
/// The time of a reduction in registers relative to its nest's estimate. A sum of 100,000 squared differences of `f32`, estimated at 13 us,
/// took 7.1 on a Xeon, and 8.6 on two threads.
const BLOCKS: f64 = 0.55;

/// The compiled parts of a nest that reduces.
#[derive(Debug)]
pub struct Reducer {
    accumulate: Kernel,
    accumulate_unrolled: Option<Kernel>,
    accumulate_jammed: Option<Kernel>,
    jam: NonZeroUsize,
    blocks: Option<Blocks>,
    /// Bytes of all inputs' elements per index.
    element: usize,
    start: Option<Kernel>,
    combine: Arc<Kernel>,
    outputs: SmallVec<[Accumulated; 1]>,
    rank: usize,
    kept: usize,
    along: VectorLoop,
    inputs: usize,
}

/// Properties of an output.
#[derive(Debug)]
struct Accumulated {
    dtype: DType,
    reduction: Reduction,
    /// The initial element of accumulators; empty if `start` computes them.
    identity: Vec<u8>,
}

impl Accumulated {
    fn size(&self) -> usize {
        self.dtype.bytes()
    }
}

impl Reducer {
    /// Compiles the parts of `nest`, on the calling thread.
    ///
    /// # Errors
    /// As [`Kernel::new`].
    pub fn new(nest: &LoopNest, parts: &ReduceParts, options: CodeOptions) -> Result<Reducer> {
        let mut outputs = SmallVec::new();
        for (access, &reduction) in nest.outputs.iter().zip(&parts.outputs) {
            let dtype = access.dtype;
            let registers = reduction.identity(dtype);
            let identity = registers.map(|registers| element(dtype, &registers)).transpose()?.unwrap_or_default();
            outputs.push(Accumulated { dtype, reduction, identity });
        }
        let compile = |part: &NestPart| Kernel::part(part, options);
        let accumulate = compile(&parts.accumulate)?;
        let jammed = parts.accumulate_jammed.as_ref().filter(|_| accumulate.is_wide()).map(compile).transpose()?;
        let combine = kernels::part(&parts.combine, options)?;
        let blocks = Blocks::new(parts, options)?;
        Ok(Reducer {
            accumulate,
            accumulate_jammed: jammed.filter(Kernel::is_wide),
            jam: parts.jam,
            element: nest.inputs.iter().map(|access| access.dtype.bytes()).sum(),
            accumulate_unrolled: parts.accumulate_unrolled.as_ref().map(compile).transpose()?,
            start: parts.start.as_ref().map(compile).transpose()?,
            blocks,
            combine,
            outputs,
            rank: nest.rank,
            kept: nest.kept(),
            along: nest.kind.along(),
            inputs: nest.inputs.len(),
        })
    }
}

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

    fn scratch(&self, extents: &[usize], threads: &Threads) -> usize {
        if extents.contains(&0) || self.small(extents, threads).is_some() {
            return 0;
        }
        let (tiles, pieces) = self.tiles(extents, threads);
        let at_once = if pieces > 1 { tiles.count().min(threads.count()) } else { 1 };
        let rows = if tiles.rows() > 1 { tiles.rows() } else { 0 };
        let partial = product(&[tiles.results(), rows, self.outputs.iter().map(Accumulated::size).sum()]);
        let each = accumulators::bytes(&tiles, &tiles.tile(0), self.along, &self.outputs);
        each.saturating_mul(at_once).saturating_add(partial)
    }

    unsafe fn run(&self, operands: KernelOperands<'_>, threads: &Threads) -> Result<()> {
        let (kept, reduced) = operands.extents.split_at(self.kept);
        if kept.contains(&0) {
            return Ok(());
        }
        if let Some(small) = self.small(operands.extents, threads) {
            // SAFETY: the caller's promise.
            return unsafe { small.run(operands) };
        }
        let outputs = self.places(operands);
        if reduced.contains(&0) {
            // SAFETY: the caller's promise.
            return unsafe { self.empty_result(&outputs) };
        }
        let (tiles, pieces) = self.tiles(operands.extents, threads);
        let cached = product(operands.extents).saturating_mul(self.element) <= CACHED;
        let partial = if tiles.rows() > 1 { Some(Partial::new(&tiles, kept, &self.sizes())?) } else { None };
        let into = partial.as_ref().map_or(&outputs, |partial| &partial.places);
        let work = |index: usize| {
            let blocks = self.blocks(operands.extents);
            let task = ReduceTask { reducer: self, blocks, operands, tiles: &tiles, tile: tiles.tile(index), cached };
            // SAFETY: the caller's promise. Tasks write distinct results, or distinct rows of partial results.
            unsafe { into.store(&task.tile, &task.run()?) };
            Ok(())
        };
        if pieces > 1 {
            let time = product(operands.extents) as f64 * self.cost();
            threads.each(tiles.count(), time, work)?;
        } else {
            catch(|| (0..tiles.count()).try_for_each(work))?;
        }
        let Some(partial) = partial else { return Ok(()) };
        let arrays: SmallVec<[AccumulatorArray; 1]> = partial.places.arrays().collect();
        let cube = Cube { rows: 1, row: 0, block: tiles.results(), lane: tiles.results() };
        // SAFETY: the tasks have written all rows; the caller's promise holds for the outputs.
        catch(|| unsafe {
            tree(&self.combine, &arrays, cube, tiles.rows())?;
            outputs.store_all(&partial.places);
            Ok(())
        })
    }
}

impl Reducer {
    /// The tiles of a nest with these nonzero extents, and the number of pieces that pays.
    fn tiles(&self, extents: &[usize], threads: &Threads) -> (ReduceTiles, usize) {
        let (kept, reduced) = extents.split_at(self.kept);
        let pieces = threads.pieces(product(extents), self.cost());
        let bytes = self.outputs.iter().map(Accumulated::size).sum();
        let lanes = if self.blocks(extents).is_some() { 1 } else { LANES };
        (ReduceTiles::new(kept, product(reduced), self.along, (bytes, lanes), pieces), pieces)
    }

    /// The reduction as a small one, for the calling thread.
    fn small(&self, extents: &[usize], threads: &Threads) -> Option<Small<'_>> {
        let alone = threads.pieces(product(extents), self.cost()) <= 1;
        Small::new(self, extents).filter(|_| alone)
    }

    /// The code for whole blocks, for contiguous blocks.
    fn blocks(&self, extents: &[usize]) -> Option<&Blocks> {
        self.blocks.as_ref().filter(|_| extents[self.kept..self.rank - 1].iter().all(|&extent| extent == 1))
    }

    /// # Safety
    /// As [`Composed::run`].
    unsafe fn empty_result(&self, outputs: &OutputSlices) -> Result<()> {
        let mut elements = Vec::with_capacity(self.outputs.len());
        for Accumulated { dtype, reduction, .. } in &self.outputs {
            let Some(literal) = reduction.of_nothing() else {
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
            strides: SmallVec::from_slice(&strides[..self.kept]),
        });
        OutputSlices { kept: SmallVec::from_slice(&operands.extents[..self.kept]), places: places.collect() }
    }

    fn sizes(&self) -> SmallVec<[usize; 1]> {
        self.outputs.iter().map(Accumulated::size).collect()
    }
}

/// The bytes of an element.
pub fn element(dtype: DType, registers: &[u64]) -> Result<Vec<u8>> {
    Ok(Tensor::from_repr(dtype, Shape::scalar(), |_| registers)?.bytes)
}
