//! Scans on the CPU: the kernels of a nest's [parts](ndjit_codegen::passes::split), and their driver.
//!
//! Rows are independent: [tiles](Tile) of them are scanned block by block, each block with the last results of the previous one
//! as carry. With fewer tiles than threads, the blocks are scanned without carries in parallel; then the carries are computed
//! from the last results of the blocks, in sequence; then they are combined with the other results in parallel. Both ways have
//! the order of operations of [`scan`](ndjit_ir::reduction::scan).

mod task;

use crate::execution::calls::{CallRecording, Immediate};
use crate::execution::code::{CodeOptions, Composed, Kernel, KernelOperands};
use crate::execution::cost;
use crate::execution::kernels;
use crate::execution::reduce::element;
use crate::execution::threads::{CHUNKS_PER_THREAD, Threads, one_by_one};
use crate::execution::tiling::{Run, Runs, Tile, before_last_two, even, last_two, product};
use crate::memory::block::ALIGN;
use ndjit_codegen::passes::split::{JAM, NestPart, ScanParts};
use ndjit_ir::Result;
use ndjit_ir::loops::{LoopNest, VectorLoop};
use ndjit_ir::reduction::BLOCK;
use smallvec::SmallVec;
use std::iter;
use std::sync::Arc;
use task::ScanTask;

/// Elements of a tile of rows.
const MOST: usize = 256 << 10;
const LEAST: usize = 16 << 10;
/// Bytes of local values of a tile, which fit the second-level cache.
const LOCAL: usize = 256 << 10;
/// Bytes of results beyond which each pass reads them from memory.
const CACHED: usize = 4 << 20;
/// The number of threads that make up for a second pass over memory.
const FEW: usize = 4;
/// The minimum of columns per tile, if available.
const STRIP: usize = 256;

/// The compiled parts of a nest that scans.
#[derive(Debug)]
pub struct Scanner {
    step: Kernel,
    carry: Arc<Kernel>,
    /// Several blocks or rows side by side.
    jammed: Option<Kernel>,
    /// Whole blocks in registers.
    rows: Option<Kernel>,
    outputs: SmallVec<[Scanned; 1]>,
    rank: usize,
    along: VectorLoop,
    inputs: usize,
    flags: bool,
}

/// Properties of an output.
#[derive(Debug)]
struct Scanned {
    size: usize,
    /// The initial element of local values and of the first carry; unused zeros if bools mark the starts of blocks.
    identity: Vec<u8>,
}

/// The rows and blocks of a scan, cut into tiles.
struct ScanTiles {
    inner: Runs,
    outer: Runs,
    rest: usize,
    blocks: Runs,
}

impl Scanner {
    /// Compiles the parts of `nest`, on the calling thread.
    ///
    /// # Errors
    /// As [`Kernel::new`].
    pub fn new(nest: &LoopNest, parts: &ScanParts, options: CodeOptions) -> Result<Scanner> {
        let mut outputs = SmallVec::new();
        for (access, scan) in nest.outputs.iter().zip(&parts.outputs) {
            let size = access.dtype.bytes();
            let identity = match scan.identity(access.dtype) {
                Some(registers) => element(access.dtype, &registers)?,
                None => vec![0; size],
            };
            outputs.push(Scanned { size, identity });
        }
        let rows = match &parts.rows {
            Some(NestPart { nest, pairs: Some(pairs), .. }) => {
                Kernel::blocks(nest, (&parts.carry.nest, *pairs), options)?
            }
            _ => None,
        };
        let jammed = parts.step_jammed.as_ref().map(|part| Kernel::part(part, options)).transpose()?;
        Ok(Scanner {
            // The interpreter has nothing to do meanwhile.
            jammed: jammed.filter(|kernel| !kernel.is_interpreted()),
            rows,
            step: Kernel::part(&parts.step, options)?,
            carry: kernels::part(&parts.carry, options)?,
            outputs,
            rank: nest.rank,
            along: nest.kind.along(),
            inputs: nest.inputs.len(),
            flags: parts.flags,
        })
    }

    /// Bytes of a result of each output.
    fn size(&self) -> usize {
        self.outputs.iter().map(|output| output.size).sum()
    }

    /// The number of local values for each row.
    fn beside(&self) -> usize {
        if self.jammed.is_some() { JAM } else { 1 }
    }

    fn tiles(&self, extents: &[usize], pieces: usize) -> ScanTiles {
        let (parallel, len) = (&extents[..self.rank - 1], extents[self.rank - 1]);
        let [outer, inner] = last_two(parallel, 1);
        let rest = product(before_last_two(parallel));
        let target = (product(extents) / pieces.max(1)).clamp(LEAST, MOST);
        let room = (LOCAL / self.outputs.iter().map(|output| output.size).max().unwrap_or(1)).max(1);
        let width = match self.along {
            VectorLoop::Reduction => (target / len).clamp(1, inner),
            VectorLoop::Parallel => {
                // Strips of columns, one for each thread.
                let strips = pieces.div_ceil(CHUNKS_PER_THREAD).div_ceil(outer.saturating_mul(rest));
                inner.div_ceil(strips).max(STRIP).min(room).min(inner)
            }
        };
        let height = if width == inner { (target / width.saturating_mul(len)).min(room / width) } else { 1 };
        let blocks = Runs::new(len.div_ceil(BLOCK), len.div_ceil(BLOCK));
        ScanTiles { inner: even(inner, width), outer: even(outer, height.clamp(1, outer)), rest, blocks }
    }
}

impl Composed for Scanner {
    fn own(&self) -> SmallVec<[&Kernel; 8]> {
        iter::once(&self.step).chain(&self.jammed).chain(&self.rows).collect()
    }

    /// Local values and carries are read and written in the cache.
    fn cost(&self) -> f64 {
        match &self.rows {
            Some(rows) => rows.cost(),
            None => self.step.cost() - cost::of_bytes(3 * self.size()),
        }
    }

    fn scratch(&self, extents: &[usize], _output: usize, threads: &Threads) -> usize {
        if extents.contains(&0) {
            return 0;
        }
        let pieces = threads.pieces(product(extents), self.cost());
        let tiles = self.tiles(extents, pieces);
        // Blocks shared by threads have fewer tiles of whole rows.
        let at_once = if pieces > 1 { threads.count() } else { 1 };
        let tile = tiles.tile(0);
        let each = self.outputs.iter().map(|output| {
            let bytes = |count: usize| count.saturating_mul(output.size).checked_next_multiple_of(ALIGN);
            let local = bytes(product(&[tile.outer.len, tile.inner.len, self.beside()])).unwrap_or(usize::MAX);
            local.saturating_add(bytes(tile.inner.len).unwrap_or(usize::MAX))
        });
        each.fold(0, usize::saturating_add).saturating_mul(at_once)
    }

    fn record(&self, operands: KernelOperands<'_>, threads: &Threads, sink: &mut CallRecording) -> Result<bool> {
        if operands.extents.contains(&0) {
            return Ok(false);
        }
        let pieces = threads.pieces(product(operands.extents), self.cost());
        let tiles = self.tiles(operands.extents, pieces);
        if pieces > 1 || tiles.count() > 1 {
            return Ok(false);
        }
        // SAFETY: a recording reads and writes nothing.
        unsafe { ScanTask { scanner: self, operands, tile: tiles.tile(0) }.scan(true, sink)? };
        Ok(true)
    }

    unsafe fn run(&self, operands: KernelOperands<'_>, threads: &Threads) -> Result<()> {
        if operands.extents.contains(&0) {
            return Ok(());
        }
        let (size, cost) = (product(operands.extents), self.cost());
        let pieces = threads.pieces(size, cost);
        let mut tiles = self.tiles(operands.extents, pieces);
        let each = |tiles: &ScanTiles, work: &(dyn Fn(ScanTask<'_>) -> Result<()> + Sync)| {
            let work = |index: usize| work(ScanTask { scanner: self, operands, tile: tiles.tile(index) });
            match pieces > 1 {
                true => threads.each(tiles.count(), size as f64 * cost, work),
                false => one_by_one(tiles.count(), work),
            }
        };
        let (count, blocks) = (tiles.count(), tiles.blocks.extent);
        // A second pass over memory takes what a second thread saves: a sum of 10,000,000 `i32` took 2.1 ms in one pass, 3.0 in two on two threads.
        let passes_cost = self.rows.is_some() && threads.count() < FEW && size.saturating_mul(self.size()) > CACHED;
        if count >= pieces.div_ceil(CHUNKS_PER_THREAD) || blocks == 1 || passes_cost {
            // SAFETY: the caller's promise. Tasks write distinct results.
            return each(&tiles, &|task| unsafe { task.scan(true, &mut Immediate::new(operands.literals)) });
        }
        let whole = ScanTiles { ..tiles };
        tiles.blocks = Runs::new(blocks, blocks.saturating_mul(count).div_ceil(pieces).min(blocks));
        // SAFETY: the caller's promise. Tasks write distinct results. Carries are computed from written results, and combined
        // with other results than they are read from.
        each(&tiles, &|task| unsafe { task.scan(false, &mut Immediate::new(operands.literals)) })?;
        // SAFETY: as before.
        each(&whole, &|task| unsafe { task.carries(&mut Immediate::new(operands.literals)) })?;
        // SAFETY: as before.
        each(&tiles, &|task| unsafe { task.carry(&mut Immediate::new(operands.literals)) })
    }
}

impl ScanTiles {
    /// The number of tiles; saturates.
    fn count(&self) -> usize {
        product(&[self.rest, self.outer.count(), self.inner.count(), self.blocks.count()])
    }

    /// A tile by its number.
    fn tile(&self, index: usize) -> Tile {
        let (index, row) = (index / self.blocks.count(), index % self.blocks.count());
        let (index, inner) = (index / self.inner.count(), index % self.inner.count());
        let (rest, outer) = (index / self.outer.count(), index % self.outer.count());
        let [inner, outer, blocks]: [Run; 3] = [self.inner.get(inner), self.outer.get(outer), self.blocks.get(row)];
        Tile { row, blocks, inner, outer, rest }
    }
}
