//! One task of a scan: blocks of the rows of a tile.

use super::Scanner;
use crate::cancellation::RunScopes;
use crate::execution::calls::CallSink;
use crate::execution::code::{Kernel, KernelOperands};
use crate::execution::tiling::{Tile, last_two};
use crate::memory::block::ALIGN;
use ndjit_codegen::passes::split::{JAM, SCAN_LOOPS, ScanLoop, ScanParts};
use ndjit_ir::loops::VectorLoop;
use ndjit_ir::reduction::BLOCK;
use ndjit_ir::{Error, ErrorCode, Result};
use smallvec::SmallVec;

/// Blocks of a tile of a scan being run.
pub struct ScanTask<'a> {
    pub scanner: &'a Scanner,
    pub operands: KernelOperands<'a>,
    pub tile: Tile,
}

/// An operand of a kernel: its first element and its strides in bytes.
type ScanOperand = (*mut u8, [isize; SCAN_LOOPS]);

/// The bools of the steps, for the dtypes that need them.
static TRUTHS: [u8; 2] = [0, 1];

/// The local value of each row, and the carry of the first block, for each output.
struct LocalValues {
    places: SmallVec<[LocalPlaces; 1]>,
}

/// Those of an output.
#[derive(Clone, Copy)]
struct LocalPlaces {
    local: ScanOperand,
    carry: ScanOperand,
    /// Bytes between the local values of those side by side.
    set: usize,
}

impl LocalPlaces {
    /// The local values of one of those side by side.
    fn set(&self, number: usize) -> ScanOperand {
        let (pointer, strides) = self.local;
        (pointer.wrapping_add(self.set * number), strides)
    }
}

/// What is scanned side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JammedScan {
    Blocks,
    Rows,
}

impl ScanTask<'_> {
    /// Scans the blocks, each with the carry of the previous one, or all without.
    ///
    /// # Safety
    /// As [`Composed::run`](crate::execution::code::Composed::run); carries have been written.
    pub unsafe fn scan(&self, carried: bool, sink: &mut dyn CallSink) -> Result<()> {
        let local = self.local(sink)?;
        let ScanTask { scanner, tile, .. } = self;
        let end = tile.blocks.start + tile.blocks.len;
        let (mut block, scopes) = (tile.blocks.start, RunScopes::of_thread());
        while block < end {
            scopes.look()?;
            let carry = (carried && block > 0).then(|| block * BLOCK - 1);
            let (from, len) = self.elements(block);
            // SAFETY: the caller's promise. The steps of a block are taken in order, and blocks one after the other, or without carries, which
            // are combined after.
            unsafe {
                self.begin(&local, sink);
                if let Some(jammed) =
                    scanner.jammed.as_ref().filter(|_| end - block >= JAM && self.is_whole(block + JAM - 1))
                {
                    self.jammed(jammed, &local, JammedScan::Blocks, (from, len), sink)?;
                    let after = (block..block + JAM).filter(|&block| carried && block > 0);
                    after.map(|block| self.elements(block)).try_for_each(|elements| self.carry_into(elements, sink))?;
                    block += JAM;
                    continue;
                }
                let mut rest = ScanTask { ..*self };
                if let Some(jammed) = scanner.jammed.as_ref().filter(|_| tile.inner.len >= JAM) {
                    let mut some = ScanTask { ..*self };
                    some.tile.inner.len -= tile.inner.len % JAM;
                    some.jammed(jammed, &local, JammedScan::Rows, (from, len), sink)?;
                    if carry.is_some() {
                        some.carry_into((from, len), sink)?;
                    }
                    rest.tile.inner.start += some.tile.inner.len;
                    rest.tile.inner.len -= some.tile.inner.len;
                    self.begin(&local, sink);
                }
                if scanner.flags {
                    rest.step(&local, carry, true, (from, 1), sink)?;
                    rest.step(&local, carry, false, (from + 1, len - 1), sink)?;
                } else {
                    rest.step(&local, carry, false, (from, len), sink)?;
                }
            }
            block += 1;
        }
        Ok(())
    }

    /// Whether a block has all its elements.
    fn is_whole(&self, block: usize) -> bool {
        self.elements(block).1 == BLOCK
    }

    /// Scans several blocks from one on, or all rows of the tile in a block, side by side and without carries.
    ///
    /// # Safety
    /// As [`Composed::run`](crate::execution::code::Composed::run); all these elements are the tile's, rows are as many as a multiple of
    /// [`JAM`].
    unsafe fn jammed(
        &self,
        kernel: &Kernel,
        local: &LocalValues,
        scan: JammedScan,
        (from, len): (usize, usize),
        sink: &mut dyn CallSink,
    ) -> Result<()> {
        let ScanTask { scanner, tile, .. } = self;
        let locals = || (0..JAM).flat_map(|number| local.places.iter().map(move |place| place.set(number)));
        let beside = |number: usize, (pointer, [outer, inner, step]): ScanOperand| match scan {
            JammedScan::Blocks => {
                let start = step.wrapping_mul((number * BLOCK) as isize);
                (pointer.wrapping_offset(start), [outer, inner, step])
            }
            JammedScan::Rows => {
                let start = inner.wrapping_mul(number as isize);
                (pointer.wrapping_offset(start), [outer, inner.wrapping_mul(JAM as isize), step])
            }
        };
        let own = |first: usize, count: usize| {
            (0..JAM).flat_map(move |number| {
                self.places(first, from).take(count).map(move |place| self.in_order(beside(number, place)))
            })
        };
        let places = locals().chain(own(0, scanner.inputs)).chain(locals()).chain(own(scanner.inputs, usize::MAX));
        let rows = if scan == JammedScan::Rows { tile.inner.len / JAM } else { tile.inner.len };
        // SAFETY: the caller's promise, as in `step`; each of the blocks or rows has its own local values.
        unsafe { self.call(kernel, [tile.outer.len, rows, len], places, sink) }
    }

    /// Combines results with the last ones before them.
    ///
    /// # Safety
    /// As [`Composed::run`](crate::execution::code::Composed::run); the results have been written, and nobody else writes carries.
    unsafe fn carry_into(&self, (from, len): (usize, usize), sink: &mut dyn CallSink) -> Result<()> {
        let own = || self.results(from).map(|place| self.in_order(place));
        let places = self.carried(from - 1).chain(own()).chain(own());
        // SAFETY: the caller's promise.
        unsafe { self.call(&self.scanner.carry, self.extents(len), places, sink) }
    }

    /// Combines the last result of each block, except the first and the last, with that of the previous block.
    ///
    /// # Safety
    /// As [`Composed::run`](crate::execution::code::Composed::run); the results have been written.
    pub unsafe fn carries(&self, sink: &mut dyn CallSink) -> Result<()> {
        let ScanTask { scanner, tile, .. } = self;
        let count = self.tile.blocks.len.saturating_sub(2);
        let by_block = |(pointer, [outer, inner, step]): ScanOperand, innermost: bool| match innermost {
            true => (pointer, [step.wrapping_mul(BLOCK as isize), outer, inner]),
            // One trip: any strides do, and these have the classes of the innermost loop.
            false => (pointer, [step.wrapping_mul(BLOCK as isize), inner, step]),
        };
        let rows = match scanner.along {
            VectorLoop::Parallel => 1,
            VectorLoop::Reduction => tile.outer.len,
        };
        for row in 0..rows {
            let parallel = scanner.along == VectorLoop::Parallel;
            let at = |index: usize| {
                self.results(index).map(move |(pointer, strides)| {
                    by_block((pointer.wrapping_offset(strides[0].wrapping_mul(row as isize)), strides), parallel)
                })
            };
            let [before, own] = [BLOCK - 1, 2 * BLOCK - 1];
            let carries = at(before).map(|(pointer, strides)| match parallel {
                true => (pointer, strides),
                false => (pointer, [strides[0], strides[1], 0]),
            });
            let extents = match parallel {
                true => [count, tile.outer.len, tile.inner.len],
                false => [count, tile.inner.len, 1],
            };
            // SAFETY: the caller's promise; blocks are the outermost loop, so each reads the carry of the previous one.
            unsafe { self.call(&scanner.carry, extents, carries.chain(at(own)).chain(at(own)), sink)? };
        }
        Ok(())
    }

    /// Combines the results of each block, except the first, with the last of the previous block. The last results, which
    /// [`carries`](ScanTask::carries) has combined, are excluded.
    ///
    /// # Safety
    /// As [`Composed::run`](crate::execution::code::Composed::run); the results have been written, and nobody else writes carries.
    pub unsafe fn carry(&self, sink: &mut dyn CallSink) -> Result<()> {
        let ScanTask { tile, operands, scanner } = self;
        let elements = operands.extents[scanner.rank - 1];
        for block in (tile.blocks.start..tile.blocks.start + tile.blocks.len).filter(|&block| block > 0) {
            let (from, len) = self.elements(block);
            let done = usize::from(from + len < elements);
            // SAFETY: the caller's promise.
            unsafe { self.carry_into((from, len - done), sink)? };
        }
        Ok(())
    }

    /// The first element of a block, and its number of elements.
    fn elements(&self, block: usize) -> (usize, usize) {
        let from = block * BLOCK;
        (from, BLOCK.min(self.operands.extents[self.scanner.rank - 1] - from))
    }

    /// The extents of the kernels' loops.
    fn extents(&self, steps: usize) -> [usize; SCAN_LOOPS] {
        ScanParts::order(self.scanner.along).map(|index| match index {
            ScanLoop::Outer => self.tile.outer.len,
            ScanLoop::Parallel => self.tile.inner.len,
            ScanLoop::Step => steps,
        })
    }

    /// An address with strides of outer, last parallel and step loop, in the order of the kernels' loops.
    fn in_order(&self, (pointer, [outer, inner, step]): ScanOperand) -> ScanOperand {
        let strides = ScanParts::order(self.scanner.along).map(|index| match index {
            ScanLoop::Outer => outer,
            ScanLoop::Parallel => inner,
            ScanLoop::Step => step,
        });
        (pointer, strides)
    }

    /// Operands from number `from` on, at the tile's first row and an element of it; strides of outer, last parallel and step loop.
    fn places(&self, from: usize, element: usize) -> impl Iterator<Item = ScanOperand> + '_ {
        let ScanTask { scanner, operands, tile } = self;
        let parallel_rank = scanner.rank - 1;
        let all = operands.pointers.iter().zip(operands.strides.chunks(scanner.rank)).skip(from);
        all.map(move |(&pointer, strides)| {
            let (parallel_strides, step) = (&strides[..parallel_rank], strides[parallel_rank]);
            let start = tile.offset(&operands.extents[..parallel_rank], parallel_strides);
            let [outer, inner] = last_two(parallel_strides, 0);
            (pointer.wrapping_offset(start.wrapping_add(step.wrapping_mul(element as isize))), [outer, inner, step])
        })
    }

    fn results(&self, element: usize) -> impl Iterator<Item = ScanOperand> + '_ {
        self.places(self.scanner.inputs, element)
    }

    /// Results as the carry of the next elements.
    fn carried(&self, element: usize) -> impl Iterator<Item = ScanOperand> + '_ {
        self.results(element).map(|(pointer, [outer, inner, _])| self.in_order((pointer, [outer, inner, 0])))
    }

    /// Memory for local values, with the first carry written.
    fn local(&self, sink: &mut dyn CallSink) -> Result<LocalValues> {
        let ScanTask { scanner, tile, .. } = self;
        let (rows, width) = (tile.outer.len * tile.inner.len, tile.inner.len);
        let refused = || Error::new(ErrorCode::Allocation, "scan: local values larger than memory can address");
        let bytes = |count: usize, size: usize| {
            count.checked_mul(size).and_then(|bytes| bytes.checked_next_multiple_of(ALIGN)).ok_or_else(refused)
        };
        let mut starts: SmallVec<[(usize, usize); 1]> = SmallVec::new();
        let mut end = 0usize;
        for output in &scanner.outputs {
            let sets = rows.checked_mul(scanner.beside()).ok_or_else(refused)?;
            let carry = end.checked_add(bytes(sets, output.size)?).ok_or_else(refused)?;
            starts.push((end, carry));
            end = carry.checked_add(bytes(width, output.size)?).ok_or_else(refused)?;
        }
        let memory = sink.scratch(end)?;
        let places = starts.into_iter().zip(&scanner.outputs).map(|((local, carry), output)| {
            let size = output.size as isize;
            let [local, carry] = [local, carry].map(|start| memory.wrapping_add(start));
            // SAFETY: the memory has `width` elements from there on.
            unsafe { sink.fill(carry, &output.identity, width) };
            let places = [(local, [size.wrapping_mul(width as isize), size, 0]), (carry, [0, size, 0])];
            let [local, carry] = places.map(|place| self.in_order(place));
            LocalPlaces { local, carry, set: rows * output.size }
        });
        Ok(LocalValues { places: places.collect() })
    }

    /// Initializes local values for a block.
    ///
    /// # Safety
    /// They belong to this task.
    unsafe fn begin(&self, local: &LocalValues, sink: &mut dyn CallSink) {
        let values = self.tile.outer.len * self.tile.inner.len * self.scanner.beside();
        for (place, output) in local.places.iter().zip(&self.scanner.outputs) {
            // SAFETY: there is memory for one element for each row of the tile, and for each of those side by side.
            unsafe { sink.fill(place.local.0, &output.identity, values) };
        }
    }

    /// Runs steps from an element on; the carry is that of the first block, or the results at an element.
    ///
    /// # Safety
    /// As [`Composed::run`](crate::execution::code::Composed::run); the elements are the tile's, and the carry has been written.
    unsafe fn step(
        &self,
        local: &LocalValues,
        carry: Option<usize>,
        begins: bool,
        (from, len): (usize, usize),
        sink: &mut dyn CallSink,
    ) -> Result<()> {
        let ScanTask { scanner, .. } = self;
        let locals = || local.places.iter().map(|place| place.local);
        let none: SmallVec<[ScanOperand; 1]> = match carry {
            None => local.places.iter().map(|place| place.carry).collect(),
            Some(element) => self.carried(element).collect(),
        };
        let elements = self.places(0, from).take(scanner.inputs).map(|place| self.in_order(place));
        let results = self.results(from).map(|place| self.in_order(place));
        if let Some(rows) = &scanner.rows {
            let places = locals().chain(none).chain(elements).chain(results);
            // SAFETY: the caller's promise. Local values are identities, which no row changes.
            return unsafe { self.call(rows, self.extents(len), places, sink) };
        }
        let truth = |truth: bool| ((&raw const TRUTHS[usize::from(truth)]).cast_mut(), [0; SCAN_LOOPS]);
        let truths = [truth(begins), truth(carry.is_none())].into_iter().take(if scanner.flags { 2 } else { 0 });
        let places = locals().chain(none).chain(truths).chain(elements).chain(locals()).chain(results);
        // SAFETY: the caller's promise. Local values belong to this task, are initialised, and are read and written at the same
        // index; along the steps in order, because kernels do not reorder loops. Bools are only read.
        unsafe { self.call(&scanner.step, self.extents(len), places, sink) }
    }

    /// Calls a kernel, unless it has no indices.
    ///
    /// # Safety
    /// As [`Kernel::call`].
    unsafe fn call(
        &self,
        kernel: &Kernel,
        extents: [usize; SCAN_LOOPS],
        places: impl Iterator<Item = ScanOperand>,
        sink: &mut dyn CallSink,
    ) -> Result<()> {
        if extents.contains(&0) {
            return Ok(());
        }
        let (pointers, strides): (SmallVec<[*mut u8; 16]>, SmallVec<[[isize; SCAN_LOOPS]; 16]>) = places.unzip();
        // SAFETY: numbers of operands, loops and literals are the nest's; the caller's promise.
        unsafe { sink.call(kernel, &pointers, &extents, strides.as_flattened()) }
    }
}
