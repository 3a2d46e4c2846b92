//! Tiling of reductions into tasks. Pure arithmetic; results never depend on it.

use crate::execution::threads::CHUNKS_PER_THREAD;
use ndjit_ir::loops::VectorLoop;
use ndjit_ir::reduction::{BLOCK, LANES};
use std::num::NonZeroUsize;

/// Bytes of accumulators per task, if enough for one block of one result: they fit the first-level cache.
const ROWS: usize = 64 << 10;
/// The same for vectors along a parallel loop. Measured on sums of `f32` along columns: with all columns in one tile memory is read in order,
/// at 14 GB/s; tiles of a part of 4096 or 16384 columns, whose rows fall into the same few sets of the caches, read half as fast, and
/// accumulators outside the second-level cache cost nothing.
const COLUMNS: usize = 1 << 20;
/// The minimum of columns per tile, if available.
const STRIP: usize = 512;
/// Elements per task.
const MOST: usize = 256 << 10;
const LEAST: usize = 16 << 10;

/// A range cut into runs of equal length except the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// Length of the range.
    pub extent: usize,
    /// Length of a run.
    len: NonZeroUsize,
}

/// A run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub start: usize,
    pub len: usize,
}

impl Runs {
    /// Runs of this length, at least 1.
    pub fn new(extent: usize, len: usize) -> Runs {
        Runs { extent, len: NonZeroUsize::new(len).unwrap_or(NonZeroUsize::MIN) }
    }

    /// Length of a run, except the last.
    pub fn len(self) -> usize {
        self.len.get()
    }

    pub fn count(self) -> usize {
        self.extent.div_ceil(self.len.get())
    }

    pub fn get(self, index: usize) -> Run {
        let start = index * self.len();
        Run { start, len: self.len().min(self.extent - start) }
    }
}

/// The tiles of a reduction with elements and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReduceTiles {
    /// Elements of each result.
    pub elements: usize,
    /// Accumulators of a block: one for each lane, fewer with fewer elements, or one.
    pub lanes: usize,
    /// Blocks of elements; all runs except the last contain a power of two.
    blocks: Runs,
    /// The last parallel loop, the last but one, and the indices of the others.
    inner: Runs,
    outer: Runs,
    rest: usize,
}

/// One tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Its number among the tiles of the same results.
    pub row: usize,
    pub blocks: Run,
    pub inner: Run,
    pub outer: Run,
    /// The index of the other parallel loops, in row-major order.
    pub rest: usize,
}

impl ReduceTiles {
    /// The tiles for results over the loops `parallel` of `elements` elements, with `bytes` bytes of accumulators for each of at most `lanes`
    /// lanes; about `pieces` tiles, as far as their size allows.
    pub fn new(
        parallel: &[usize],
        elements: usize,
        along: VectorLoop,
        (bytes, lanes): (usize, usize),
        pieces: usize,
    ) -> ReduceTiles {
        let [outer, inner] = last_two(parallel, 1);
        let rest = product(before_last_two(parallel));
        let lanes = elements.min(lanes).next_power_of_two();
        let all_blocks = elements.div_ceil(BLOCK);
        let target = (product(parallel).saturating_mul(elements).div_ceil(pieces.max(1)))
            .min(MOST)
            .next_multiple_of(BLOCK)
            .max(LEAST);
        // Strips of columns, one for each thread.
        let strips = pieces.max(1).div_ceil(CHUNKS_PER_THREAD).div_ceil(product(&[all_blocks, outer, rest]).max(1));
        let (room, strip) = match along {
            VectorLoop::Reduction => (ROWS, 1),
            VectorLoop::Parallel => (COLUMNS, inner.div_ceil(strips).max(STRIP)),
        };
        // In units of the accumulators of one block of one result.
        let room = (room / (bytes * lanes)).max(1);
        let columns = strip.min(inner).min(room);
        let mut blocks = 1;
        while blocks < all_blocks && 2 * blocks * columns <= room && 2 * blocks * columns * BLOCK <= target {
            blocks *= 2;
        }
        // A tile of all blocks needs no subtree.
        if all_blocks.saturating_mul(columns) <= room && all_blocks.saturating_mul(columns * BLOCK) <= target {
            blocks = all_blocks;
        }
        let depth = elements.min(blocks * BLOCK);
        let width = (room / blocks).min(target / depth).max(columns).min(inner);
        let height = if width == inner { (room / (blocks * width)).min(target / (depth * width)) } else { 1 };
        ReduceTiles {
            elements,
            lanes,
            blocks: Runs::new(all_blocks, blocks),
            inner: even(inner, width),
            outer: even(outer, height.clamp(1, outer)),
            rest,
        }
    }

    /// The number of tiles; saturates.
    pub fn count(&self) -> usize {
        [self.rest, self.outer.count(), self.inner.count()].into_iter().fold(self.rows(), usize::saturating_mul)
    }

    /// The number of tiles of the same results.
    pub fn rows(&self) -> usize {
        self.blocks.count()
    }

    /// The number of results.
    pub fn results(&self) -> usize {
        product(&[self.rest, self.outer.extent, self.inner.extent])
    }

    /// A tile by its number.
    pub fn tile(&self, index: usize) -> Tile {
        let (index, row) = (index / self.rows(), index % self.rows());
        let (index, inner) = (index / self.inner.count(), index % self.inner.count());
        let (rest, outer) = (index / self.outer.count(), index % self.outer.count());
        Tile { row, blocks: self.blocks.get(row), inner: self.inner.get(inner), outer: self.outer.get(outer), rest }
    }
}

impl Tile {
    /// The offset of the tile's first result in an array with these strides along the parallel loops.
    pub fn offset(&self, parallel: &[usize], strides: &[isize]) -> isize {
        let last = last_two(strides, 0);
        offset(parallel, strides, self.rest)
            .wrapping_add(last[0].wrapping_mul(self.outer.start as isize))
            .wrapping_add(last[1].wrapping_mul(self.inner.start as isize))
    }

    /// The number of results along the last two of the parallel loops.
    pub fn extents(&self) -> [usize; 2] {
        [self.outer.len, self.inner.len]
    }
}

/// The last two of some values per parallel loop; `missing` if there are fewer.
pub fn last_two<T: Copy>(all: &[T], missing: T) -> [T; 2] {
    [2, 1].map(|back| all.len().checked_sub(back).map_or(missing, |at| all[at]))
}

/// The loops except the last two.
pub fn before_last_two<T>(all: &[T]) -> &[T] {
    &all[..all.len().saturating_sub(2)]
}

/// The offset of the `index`th element of the loops except the last two, in row-major order.
pub fn offset(parallel: &[usize], strides: &[isize], mut index: usize) -> isize {
    let mut offset = 0isize;
    for (&extent, stride) in before_last_two(parallel).iter().zip(before_last_two(strides)).rev() {
        offset = offset.wrapping_add(stride.wrapping_mul((index % extent) as isize));
        index /= extent;
    }
    offset
}

/// The number of indices; saturates.
pub fn product(extents: &[usize]) -> usize {
    extents.iter().fold(1, |n: usize, &extent| n.saturating_mul(extent))
}

/// Runs of at most about `len`, as many as needed, of nearly equal length and whole vectors.
pub fn even(extent: usize, len: usize) -> Runs {
    let Some(count) = NonZeroUsize::new(Runs::new(extent, len).count()) else { return Runs::new(extent, len) };
    let len = extent.div_ceil(count.get());
    Runs::new(extent, if len < extent && len > LANES { len.next_multiple_of(LANES) } else { len })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_extents_divide_by_zero_or_overflow() {
        let extents = [1, 2, 1000, 1 << 40, isize::MAX as usize];
        let shapes = extents.iter().flat_map(|&rest| extents.map(|outer| [rest, outer]));
        for parallel in shapes.flat_map(|[rest, outer]| extents.map(|inner| [rest, outer, inner])) {
            for (elements, along) in
                extents.iter().flat_map(|&n| [(n, VectorLoop::Reduction), (n, VectorLoop::Parallel)])
            {
                for (bytes, pieces) in [(1, 0), (1 << 20, 1), (4, 9), (usize::MAX / LANES, usize::MAX)] {
                    let tiles = ReduceTiles::new(&parallel, elements, along, (bytes, LANES), pieces);
                    for tile in [0, tiles.count() - 1].map(|index| tiles.tile(index)) {
                        assert!(
                            tile.blocks.len > 0 && tile.inner.len > 0 && tile.outer.len > 0,
                            "{parallel:?} {tiles:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn tiles_cover_results_and_blocks_once() {
        for (parallel, elements) in
            [(&[][..], 1), (&[3][..], 70_000), (&[5000], 3), (&[600], 5000), (&[2, 3, 4], 17), (&[7, 9, 300], 2000)]
        {
            for (along, bytes, pieces) in
                [(VectorLoop::Reduction, 4, 1), (VectorLoop::Parallel, 8, 9), (VectorLoop::Parallel, 1 << 20, 1000)]
            {
                let tiles = ReduceTiles::new(parallel, elements, along, (bytes, LANES), pieces);
                let mut covered = 0;
                for index in 0..tiles.count() {
                    let tile = tiles.tile(index);
                    assert!(tile.row == 0 || tiles.tile(index - 1).blocks.len.is_power_of_two());
                    assert!(tile.blocks.start + tile.blocks.len <= elements.div_ceil(BLOCK));
                    covered += tile.blocks.len * tile.inner.len * tile.outer.len;
                }
                assert_eq!(covered, tiles.results() * elements.div_ceil(BLOCK), "{tiles:?}");
                assert_eq!(tiles.results(), parallel.iter().product());
            }
        }
    }
}
