//! Tiled launches of several kernels: the proof that no tile reads another tile's writes, and the length of tiles.

use crate::execution::threads::{CHUNKS_PER_THREAD, Threads};
use crate::programs::step_plan::{Location, StepPlan, wrong};
use ndjit_codegen::{Scheduled, TileLoop};
use ndjit_ir::Result;
use ndjit_ir::loops::{Access, Layout, Role};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::num::NonZeroUsize;

/// Bytes of all operands of a tile, which fit the second-level cache.
const CACHE: usize = 256 << 10;
/// The minimum length of tiles whose elements are not contiguous: many cache lines are then read in sequence. (Column sums of 4096 by 4096
/// elements read half as fast in tiles of 32 columns as in tiles of 512.)
const STRIP: usize = 128;

/// Bytes of all operands of a tile with matrix products, and the minimum number of such tiles, to occupy all threads.
const SHARED_TILE_BYTES: usize = 1 << 20;
const MIN_SHARED_TILES: usize = 4;

/// The number of tiles at which their overhead matters: it pays if one of this many bytes is read again.
const OVERHEAD_TILES: usize = 16;
const OVERHEAD_BYTES_PER_REREAD: usize = 8;

/// The slabs of memory that tiles own: the tile index `index` has bytes `step * index..step * (index + 1)` of each period of `step * count`
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slabs {
    step: usize,
    count: usize,
}

impl Slabs {
    /// The slabs of an output with this layout along its tiled loop. `None` if it does not move forwards there.
    pub fn of(layout: &Layout, tile: TileLoop, count: usize) -> Option<Slabs> {
        let step = usize::try_from(*layout.strides.get(tile.index)?).ok()?.checked_mul(tile.step)?;
        step.checked_mul(count).filter(|&period| period > 0 && period <= isize::MAX as usize)?;
        Some(Slabs { step, count })
    }

    /// Whether an operand's elements of each tile index lie in the slab of that index.
    pub fn hold(self, layout: &Layout, extents: &[usize], tile: TileLoop, element: usize) -> bool {
        let Slabs { step, count } = self;
        let period = (step * count) as i128;
        let (mut low, mut high) = (layout.offset as i128 % period, layout.offset as i128 % period + element as i128);
        for (index, (&extent, &stride)) in extents.iter().zip(&layout.strides).enumerate() {
            let trips = if index == tile.index { tile.step } else { extent };
            let stride = stride as i128;
            if index == tile.index && stride.checked_mul(tile.step as i128) != Some(step as i128) {
                return false;
            }
            // Whole periods cancel: the rest of a step goes the shorter way.
            let left = stride.rem_euclid(period);
            let stride = if left > period / 2 { left - period } else { left };
            let Some(span) = stride.checked_mul(trips.saturating_sub(1) as i128) else { return false };
            (low, high) = (low.saturating_add(span.min(0)), high.saturating_add(span.max(0)));
        }
        low >= 0 && high <= step as i128
    }
}

/// Properties of tiled kernels.
#[derive(Debug, Default)]
pub struct Tiling {
    /// The number of indices to cut into tiles; 0 if kernels run one after the other.
    pub indices: usize,
    /// Outputs whose bytes per index are contiguous, one index after the other, with that number of bytes.
    pub rows: FxHashMap<Location, usize>,
}

/// Checks tiled kernels, the first of which has the number `first`. Outputs do not take the memory of operands that tiles of another index
/// read.
///
/// # Errors
/// `Verify` if a kernel reads or stores, at one index along the tiled axis, an element that another one stores at another index.
pub fn check(scheduled: &[&Scheduled], steps: &mut [StepPlan], first: usize) -> Result<Tiling> {
    let mut count = None;
    for (n, Scheduled { nest, domain, tile, rest, .. }) in scheduled.iter().enumerate() {
        let trips =
            tile.and_then(|tile| domain.extents.get(tile.index).copied().filter(|_| tile.index < nest.parallel_rank()));
        let own =
            tile.zip(trips).and_then(|(tile, trips)| trips.checked_div(tile.step).filter(|&c| c * tile.step == trips));
        if own.is_none() || rest.is_some() || *count.get_or_insert(own) != own {
            return Err(wrong(first + n, format_args!("it runs in tiles, and has no loop for them")));
        }
    }
    let Some(count) = count.flatten() else { return Ok(Tiling::default()) };
    let mut slabs: FxHashMap<Location, Slabs> = FxHashMap::default();
    for (n, (Scheduled { nest, domain, tile, .. }, step)) in scheduled.iter().zip(steps.iter()).enumerate() {
        let Some(tile) = *tile else { continue };
        let parallel = &domain.extents[..nest.parallel_rank()];
        let local = |slabs: Slabs, layout: &Layout, extents: &[usize], element: usize| {
            step.empty || slabs.hold(layout, extents, tile, element)
        };
        for ((location, _), (layout, access)) in step.inputs.iter().zip(domain.inputs.iter().zip(&nest.inputs)) {
            let made = location.and_then(|location| slabs.get(&location).copied());
            // Any row may be read, including those of other tiles.
            let rows = access.role == Role::Rows;
            if made.is_some_and(|slabs| rows || !local(slabs, layout, &domain.extents, access.dtype.bytes())) {
                return Err(wrong(first + n, format_args!("it reads what is stored in another tile")));
            }
        }
        for (output, (layout, access)) in step.outputs.iter().zip(domain.outputs.iter().zip(&nest.outputs)) {
            let own = Slabs::of(layout, tile, count).filter(|&own| local(own, layout, parallel, access.dtype.bytes()));
            if !own.is_some_and(|own| *slabs.entry(output.location).or_insert(own) == own) {
                return Err(wrong(first + n, format_args!("its tiles store beside each other")));
            }
        }
    }
    keep_apart(scheduled, steps, &slabs);
    let outputs = steps.iter().flat_map(|step| &step.outputs);
    let whole = outputs.filter(|output| {
        slabs.get(&output.location).is_some_and(|own| own.step.checked_mul(own.count) == Some(output.bytes))
    });
    let rows = whole.map(|output| (output.location, slabs[&output.location].step)).collect();
    Ok(Tiling { indices: count, rows })
}

/// Restricts outputs to the memory of operands that all kernels read in the same slabs.
fn keep_apart(scheduled: &[&Scheduled], steps: &mut [StepPlan], slabs: &FxHashMap<Location, Slabs>) {
    let mut reads: FxHashMap<Location, Vec<(usize, usize)>> = FxHashMap::default();
    for (n, step) in steps.iter().enumerate() {
        for (input, (location, _)) in step.inputs.iter().enumerate() {
            location.iter().for_each(|&location| reads.entry(location).or_default().push((n, input)));
        }
    }
    for output in steps.iter_mut().flat_map(|step| &mut step.outputs) {
        let Some(&own) = slabs.get(&output.location) else { continue };
        output.reuse.retain(|location| {
            reads.get(location).into_iter().flatten().all(|&(n, input)| {
                let Scheduled { nest, domain, tile, .. } = scheduled[n];
                let Access { dtype, role, .. } = nest.inputs[input];
                let bytes = dtype.bytes();
                role != Role::Rows
                    && tile.is_some_and(|tile| own.hold(&domain.inputs[input], &domain.extents, tile, bytes))
            })
        });
    }
}

/// Tiles of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchTiles {
    /// Indices along the tiled axis, and of a tile.
    extent: usize,
    len: NonZeroUsize,
    /// Estimated time of all tiles on one thread, ns.
    pub time: f64,
    /// Whether threads share the tiles.
    pub parallel: bool,
}

/// A kernel's accesses to an operand per index along the tiled axis.
#[derive(Clone, Copy, Debug)]
pub struct Touched {
    /// Its location, if it is in memory.
    pub location: Option<Location>,
    pub bytes: usize,
    /// Whether each index has elements of its own.
    pub own: bool,
}

/// A kernel's work per index along the tiled axis.
#[derive(Clone, Debug, Default)]
pub struct PerIndex {
    pub operands: SmallVec<[Touched; 4]>,
    /// Estimated time, ns.
    pub time: f64,
    /// Whether the accesses of one index are contiguous, apart from other indices.
    pub slabs: bool,
    /// For kernels whose rounding depends on the cut: the minimum number of indices that pays.
    pub least: Option<NonZeroUsize>,
}

impl LaunchTiles {
    /// Tiles of this length, shared by threads regardless of their time.
    pub fn of(extent: usize, len: usize) -> LaunchTiles {
        LaunchTiles { extent, len: at_least_one(len.min(extent)), time: f64::INFINITY, parallel: true }
    }

    /// The tiles of kernels with this work. `None` where running one after the other is better: the kernels exceed the cache, fit one tile, are
    /// too few to share, or read hardly anything again.
    pub fn new(extent: usize, kernels: &[PerIndex], threads: &Threads) -> Option<LaunchTiles> {
        if let Some(least) = kernels.iter().filter_map(|kernel| kernel.least).max() {
            return LaunchTiles::cut_alike(extent, kernels, least, threads);
        }
        let (bytes, again) = traffic(kernels);
        if bytes.saturating_mul(extent) > OVERHEAD_TILES * CACHE
            && again.saturating_mul(OVERHEAD_BYTES_PER_REREAD) < bytes
        {
            return None;
        }
        let time: f64 = kernels.iter().map(|kernel| kernel.time).sum();
        let least = if kernels.iter().all(|kernel| kernel.slabs) { 1 } else { STRIP.min(extent) };
        let most = CACHE / bytes;
        // A tile of the minimum length may exceed the target size and still fit a cache.
        if most < least && 4 * CACHE / bytes < least {
            return None;
        }
        let pieces = threads.pieces(extent, time);
        let threads = pieces.div_ceil(CHUNKS_PER_THREAD);
        let mut len = most.max(least).min(extent.div_ceil(pieces)).max(least);
        if least > 1 && len < extent {
            len = len.next_multiple_of(least.min(64));
        }
        let tiles = LaunchTiles { extent, len: at_least_one(len), time: extent as f64 * time, parallel: pieces > 1 };
        // One tile would be the kernels one after the other, in a loop that is not prepared.
        (tiles.count() >= threads.max(2)).then_some(tiles)
    }

    /// The tiles of kernels whose rounding depends on the cut: their length does not depend on the number of threads.
    fn cut_alike(extent: usize, kernels: &[PerIndex], least: NonZeroUsize, threads: &Threads) -> Option<LaunchTiles> {
        let own = kernels.iter().flat_map(|kernel| &kernel.operands).filter(|operand| operand.own);
        let bytes = own.fold(1usize, |all, operand| all.saturating_add(operand.bytes));
        let len = (SHARED_TILE_BYTES / bytes).max(least.get()) / least * least.get();
        let time: f64 = kernels.iter().map(|kernel| kernel.time).sum();
        let parallel = threads.pieces(extent, time) > 1;
        let tiles = LaunchTiles { extent, len: at_least_one(len.min(extent)), time: extent as f64 * time, parallel };
        (tiles.count() >= MIN_SHARED_TILES).then_some(tiles)
    }

    /// The number of tiles.
    pub fn count(&self) -> usize {
        self.extent.div_ceil(self.len.get())
    }

    /// First index and length of a tile.
    pub fn get(&self, tile: usize) -> (usize, usize) {
        let start = tile * self.len.get();
        (start, self.len.get().min(self.extent - start))
    }
}

/// A nonzero length, also for empty extents.
fn at_least_one(len: usize) -> NonZeroUsize {
    NonZeroUsize::new(len).unwrap_or(NonZeroUsize::MIN)
}

/// Bytes of the operands of kernels, and the part that an earlier kernel has accessed; not 0.
fn traffic(kernels: &[PerIndex]) -> (usize, usize) {
    let mut known: FxHashMap<Location, usize> = FxHashMap::default();
    let (mut all, mut again) = (1usize, 0usize);
    for &Touched { location, bytes, .. } in kernels.iter().flat_map(|kernel| &kernel.operands) {
        all = all.saturating_add(bytes);
        if let Some(location) = location {
            let before = known.entry(location).or_insert(0);
            again = again.saturating_add(bytes.min(*before));
            *before = bytes.max(*before);
        }
    }
    (all, again)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of `[rows, 64]` and a matrix, and dependent kernels.
    fn layer(columns: usize) -> [PerIndex; 2] {
        let touched = |bytes, own| Touched { location: None, bytes, own };
        let row = columns.saturating_mul(4);
        let product = [touched(64 * 4, true), touched(row.saturating_mul(64), false), touched(row, true)];
        let rest = [touched(row, true), touched(row, true)];
        [
            PerIndex {
                operands: product.into_iter().collect(),
                time: columns as f64,
                slabs: true,
                least: NonZeroUsize::new(256),
            },
            PerIndex { operands: rest.into_iter().collect(), time: columns as f64 / 10.0, slabs: true, least: None },
        ]
    }

    #[test]
    fn no_extent_or_length_divides_by_zero() {
        for extent in [0, 1, 2, 1 << 40, isize::MAX as usize] {
            for len in [0, 1, 3, usize::MAX] {
                let tiles = LaunchTiles::of(extent, len);
                assert!(tiles.count() >= usize::from(extent > 0) && tiles.get(0).1 <= extent, "{extent} {len}");
            }
            for mut kernels in [layer(0), layer(usize::MAX / 8), layer(64)] {
                let tiles = LaunchTiles::new(extent, &kernels, &Threads::new(Some(2)));
                assert!(tiles.is_none_or(|tiles| tiles.count() > 0), "{extent}");
                kernels[0].least = None;
                let tiles = LaunchTiles::new(extent, &kernels, &Threads::new(Some(2)));
                assert!(tiles.is_none_or(|tiles| tiles.count() > 0 || extent == 0), "{extent}");
            }
        }
    }

    #[test]
    fn tiles_of_products_are_the_same_for_all_numbers_of_threads() {
        for (rows, columns, expected) in
            [(4096, 1024, Some(256)), (1 << 16, 64, Some(768)), (1 << 16, 1 << 20, Some(256)), (512, 512, None)]
        {
            for threads in [1, 2, 7, 64] {
                let threads = Threads::new(Some(threads));
                let tiles = LaunchTiles::new(rows, &layer(columns), &threads);
                assert_eq!(tiles.map(|tiles| tiles.get(0)), expected.map(|len| (0, len)), "{rows} x {columns}");
            }
        }
    }
}
