//! Destinations of results: the outputs, or rows of partial results, if several tiles share results.

use super::accumulators::{AccumulatorArray, Accumulators};
use crate::execution::calls::CallSink;
use crate::execution::tiling::{ReduceTiles, Tile, before_last_two, last_two, offset, product};
use crate::memory::buffer::Writable;
use ndjit_ir::{Error, ErrorCode, Result};
use smallvec::SmallVec;

/// A result for each index of the parallel loops, for each output.
#[derive(Debug)]
pub struct OutputSlices {
    /// Extents of the loops.
    pub parallel: SmallVec<[usize; 4]>,
    pub places: SmallVec<[OutputSlice; 1]>,
}

/// The results of an output.
#[derive(Debug)]
pub struct OutputSlice {
    /// The first result.
    pub array: AccumulatorArray,
    /// Stride in bytes between results of consecutive tiles of blocks.
    pub row: usize,
    /// Stride in bytes along each loop.
    pub strides: SmallVec<[isize; 4]>,
}

// SAFETY: addresses only. Writes through them are justified where they happen.
unsafe impl Sync for OutputSlices {}

/// Memory for partial results.
#[derive(Debug)]
pub struct Partial {
    pub places: OutputSlices,
    /// Owner of the memory.
    _memory: SmallVec<[Writable; 1]>,
}

impl Partial {
    /// A row of results for each tile of blocks.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    pub fn new(tiles: &ReduceTiles, parallel: &[usize], sizes: &[usize]) -> Result<Partial> {
        let mut memory = SmallVec::new();
        let mut places = SmallVec::new();
        for &size in sizes {
            let row = tiles.results().checked_mul(size);
            let bytes = row.and_then(|row| row.checked_mul(tiles.rows()));
            let (Some(row), Some(bytes)) = (row, bytes) else {
                return Err(Error::new(ErrorCode::Allocation, "reduce: more partial results than memory can address"));
            };
            let mut rows = Writable::new(bytes)?;
            let mut step = size as isize;
            let mut strides: SmallVec<[isize; 4]> = SmallVec::from_elem(0, parallel.len());
            for (stride, &extent) in strides.iter_mut().zip(parallel).rev() {
                *stride = step;
                step *= extent as isize;
            }
            places.push(OutputSlice { array: AccumulatorArray { pointer: rows.ptr(), size }, row, strides });
            memory.push(rows);
        }
        Ok(Partial { places: OutputSlices { parallel: SmallVec::from_slice(parallel), places }, _memory: memory })
    }
}

impl OutputSlices {
    /// The first result of each output.
    pub fn arrays(&self) -> impl Iterator<Item = AccumulatorArray> {
        self.places.iter().map(|place| place.array)
    }

    /// One element for each output, at every index.
    pub fn everywhere(&self, elements: &[Vec<u8>]) -> OutputSlices {
        let places = elements.iter().map(|element| OutputSlice {
            array: AccumulatorArray { pointer: element.as_ptr().cast_mut(), size: element.len() },
            row: 0,
            strides: SmallVec::from_elem(0, self.parallel.len()),
        });
        OutputSlices { parallel: self.parallel.clone(), places: places.collect() }
    }

    /// Stores the results of a tile.
    ///
    /// # Safety
    /// They are finished, and there is exclusive memory for them.
    pub unsafe fn store(&self, tile: &Tile, accumulators: &Accumulators, sink: &mut dyn CallSink) {
        for (place, (from, from_steps)) in self.places.iter().zip(accumulators.results()) {
            let offset = tile.offset(&self.parallel, &place.strides).wrapping_add((tile.row * place.row) as isize);
            let to = place.array.pointer.wrapping_offset(offset);
            let steps = [from_steps, last_two(&place.strides, 0)];
            // SAFETY: the caller's promise.
            unsafe { sink.copy(ElementCopy { from, to, steps, extents: tile.extents(), size: place.array.size }) };
        }
    }

    /// Stores the first row of results from other memory.
    ///
    /// # Safety
    /// They have been written, and there is exclusive memory for them.
    pub unsafe fn store_all(&self, from: &OutputSlices) {
        for (to, from) in self.places.iter().zip(&from.places) {
            let steps = [from, to].map(|place| last_two(&place.strides, 0));
            for rest in 0..product(before_last_two(&self.parallel)) {
                let [from, into] = [from, to]
                    .map(|place| place.array.pointer.wrapping_offset(offset(&self.parallel, &place.strides, rest)));
                let (extents, size) = (last_two(&self.parallel, 1), to.array.size);
                // SAFETY: the caller's promise.
                unsafe { ElementCopy { from, to: into, steps, extents, size }.run() };
            }
        }
    }
}

/// A copy of elements along two loops.
#[derive(Clone, Copy, Debug)]
pub struct ElementCopy {
    pub from: *mut u8,
    pub to: *mut u8,
    /// Strides in bytes of both.
    pub steps: [[isize; 2]; 2],
    pub extents: [usize; 2],
    /// Bytes of an element.
    pub size: usize,
}

impl ElementCopy {
    /// Copies them.
    ///
    /// # Safety
    /// All of `from` is readable, all of `to` writable, and they do not overlap.
    pub unsafe fn run(self) {
        let ElementCopy { from, to, steps: [steps, to_steps], extents, size } = self;
        for outer in 0..extents[0] as isize {
            let from = from.wrapping_offset(steps[0].wrapping_mul(outer));
            let to = to.wrapping_offset(to_steps[0].wrapping_mul(outer));
            // SAFETY: the caller's promise.
            unsafe {
                if steps[1] == size as isize && to_steps[1] == size as isize {
                    to.copy_from_nonoverlapping(from, size * extents[1]);
                    continue;
                }
                match size {
                    1 => copy_row::<1>(from, steps[1], to, to_steps[1], extents[1]),
                    2 => copy_row::<2>(from, steps[1], to, to_steps[1], extents[1]),
                    4 => copy_row::<4>(from, steps[1], to, to_steps[1], extents[1]),
                    8 => copy_row::<8>(from, steps[1], to, to_steps[1], extents[1]),
                    _ => copy_row::<16>(from, steps[1], to, to_steps[1], extents[1]),
                }
            }
        }
    }
}

/// # Safety
/// As [`ElementCopy::run`], for elements of `SIZE` bytes.
unsafe fn copy_row<const SIZE: usize>(from: *mut u8, step: isize, to: *mut u8, to_step: isize, count: usize) {
    for i in 0..count as isize {
        let from = from.wrapping_offset(step.wrapping_mul(i)).cast::<[u8; SIZE]>();
        let to = to.wrapping_offset(to_step.wrapping_mul(i)).cast::<[u8; SIZE]>();
        // SAFETY: the caller's promise; byte arrays have no alignment.
        unsafe { to.write(from.read()) };
    }
}
