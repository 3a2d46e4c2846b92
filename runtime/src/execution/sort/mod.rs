//! Sorts on the CPU: the kernel of a nest's [part](ndjit_codegen::passes::split) that computes elements, and their driver.
//!
//! Rows are independent: threads share [tiles](Tile) of them. With too few rows, threads share the elements of each row. The order is
//! that of [`sorted`](ndjit_ir::reduction::sorted); it does not depend on the number of threads.

mod key;
mod radix;
mod row;
mod task;

use crate::execution::code::{CodeOptions, Composed, Kernel, KernelOperands};
use crate::execution::cost;
use crate::execution::threads::{Threads, one_by_one};
use crate::execution::tiling::{Run, Runs, Tile, before_last_two, even, last_two, product};
use crate::memory::block::ALIGN;
use ndjit_codegen::passes::split::SortParts;
use ndjit_ir::loops::{LoopNest, Stride};
use ndjit_ir::{DType, Result, Sort};
use radix::SortWorkers;
use row::{Wants, room, room_of_signs};
use smallvec::SmallVec;
use task::SortTask;

/// Elements of a tile of rows.
const MOST: usize = 64 << 10;
const LEAST: usize = 4 << 10;
/// The minimum length of a row shared by threads: shorter ones are sorted before all threads start.
const SHARED: usize = 32 << 10;
/// The minimum of rows per tile, if available and within [`BESIDE_BYTES`]: non-contiguous rows share cache lines.
const BESIDE: usize = 16;
/// The maximum number of bytes of these.
const BESIDE_BYTES: usize = 2 << 20;
/// Time of sorting one byte of an element, ns: it is moved and counted, or compared about as often as a row has doublings.
const BYTE: f64 = 2.0;

/// The driver of a nest that sorts.
#[derive(Debug)]
pub struct Sorter {
    elements: Kernel,
    outputs: SmallVec<[SortOutput; 1]>,
    rank: usize,
    inputs: usize,
    /// Whether results are contiguous along rows.
    dense: bool,
}

/// Properties of an output.
#[derive(Clone, Copy, Debug)]
struct SortOutput {
    /// The dtype of the sorted elements.
    dtype: DType,
    wants: Wants,
}

/// The rows of a sort, cut into tiles.
struct SortTiles {
    inner: Runs,
    outer: Runs,
    rest: usize,
}

impl Sorter {
    /// Compiles the part of `nest`, on the calling thread.
    ///
    /// # Errors
    /// As [`Kernel::new`].
    pub fn new(nest: &LoopNest, parts: &SortParts, options: CodeOptions) -> Result<Sorter> {
        let outputs = parts.elements.nest.outputs.iter().zip(&nest.outputs).zip(&parts.outputs);
        let outputs = outputs.map(|((element, result), sort)| SortOutput {
            dtype: element.dtype,
            wants: match sort {
                Sort::ArgSort => Wants::Indices(result.dtype),
                Sort::Sort => Wants::Values,
            },
        });
        Ok(Sorter {
            outputs: outputs.collect(),
            elements: Kernel::part(&parts.elements, options)?,
            rank: nest.rank,
            inputs: nest.inputs.len(),
            dense: nest.outputs.iter().all(|access| access.inner == Stride::Contiguous),
        })
    }

    /// The tiles of rows, and whether threads share the elements of each row instead.
    fn tiles(&self, extents: &[usize], pieces: usize, threads: &Threads) -> (SortTiles, bool) {
        let (parallel, len) = (&extents[..self.rank - 1], extents[self.rank - 1]);
        let [outer, inner] = last_two(parallel, 1);
        let rest = product(before_last_two(parallel));
        let shared = pieces > 1 && len >= SHARED && product(parallel) < 2 * threads.count();
        let target = if shared { 1 } else { (product(extents) / pieces.max(1)).clamp(LEAST, MOST) };
        let bytes: usize = self.outputs.iter().map(|output| output.dtype.bytes()).sum();
        let beside = (BESIDE_BYTES / len.saturating_mul(bytes).max(1)).min(BESIDE);
        let least = if self.dense || shared { 1 } else { beside.max(1) };
        let width = (target / len).max(least).min(inner);
        let height = if width == inner { target / width.saturating_mul(len) } else { 1 };
        (SortTiles { inner: even(inner, width), outer: even(outer, height.clamp(1, outer)), rest }, shared)
    }

    /// Bytes of the elements of so many rows, and of the scratch memory of sorting one.
    fn bytes(&self, rows: usize, len: usize) -> usize {
        let aligned = |bytes: usize| bytes.checked_next_multiple_of(ALIGN).unwrap_or(usize::MAX);
        let elements = |output: &SortOutput| aligned(product(&[rows, len, output.dtype.bytes()]));
        let sorting = |&SortOutput { dtype, wants }: &SortOutput| {
            aligned(room(dtype, wants, len)).saturating_add(aligned(room_of_signs(dtype, wants, len)))
        };
        let most = self.outputs.iter().map(sorting).max().unwrap_or(0);
        self.outputs.iter().map(elements).fold(most, usize::saturating_add)
    }
}

impl Composed for Sorter {
    fn own(&self) -> SmallVec<[&Kernel; 8]> {
        [&self.elements].into_iter().collect()
    }

    fn cost(&self) -> f64 {
        let sorted = |output: &SortOutput| match output.wants {
            Wants::Values => output.dtype.bytes() as f64 * BYTE,
            Wants::Indices(_) => output.dtype.bytes() as f64 * BYTE * 2.0,
        };
        self.elements.cost() + cost::of_bytes(4) + self.outputs.iter().map(sorted).sum::<f64>()
    }

    fn scratch(&self, extents: &[usize], _output: usize, threads: &Threads) -> usize {
        if extents.contains(&0) {
            return 0;
        }
        let pieces = threads.pieces(product(extents), self.cost());
        let (tiles, shared) = self.tiles(extents, pieces, threads);
        let at_once = if pieces > 1 && !shared { threads.count().min(tiles.count()) } else { 1 };
        let Tile { inner, outer, .. } = tiles.tile(0);
        self.bytes(product(&[inner.len, outer.len]), extents[self.rank - 1]).saturating_mul(at_once)
    }

    unsafe fn run(&self, operands: KernelOperands<'_>, threads: &Threads) -> Result<()> {
        if operands.extents.contains(&0) {
            return Ok(());
        }
        let (size, cost) = (product(operands.extents), self.cost());
        let pieces = threads.pieces(size, cost);
        let (tiles, shared) = self.tiles(operands.extents, pieces, threads);
        let time = size as f64 * cost;
        let work = |index: usize, parts: SortWorkers<'_>| {
            // SAFETY: the caller's promise. Tasks write distinct results.
            unsafe { SortTask { sorter: self, operands, tile: tiles.tile(index) }.run(parts) }
        };
        if shared {
            let parts = SortWorkers { threads: Some((threads, time)), count: threads.count() };
            return one_by_one(tiles.count(), |index| work(index, parts));
        }
        match pieces > 1 {
            true => threads.each(tiles.count(), time, |index| work(index, SortWorkers::ONE)),
            false => one_by_one(tiles.count(), |index| work(index, SortWorkers::ONE)),
        }
    }
}

impl SortTiles {
    /// The number of tiles; saturates.
    fn count(&self) -> usize {
        product(&[self.rest, self.outer.count(), self.inner.count()])
    }

    /// A tile by its number.
    fn tile(&self, index: usize) -> Tile {
        let (index, inner) = (index / self.inner.count(), index % self.inner.count());
        let (rest, outer) = (index / self.outer.count(), index % self.outer.count());
        let [inner, outer]: [Run; 2] = [self.inner.get(inner), self.outer.get(outer)];
        Tile { row: 0, blocks: Run { start: 0, len: 1 }, inner, outer, rest }
    }
}
