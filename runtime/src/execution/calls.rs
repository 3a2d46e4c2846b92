//! What a driver does on one thread: calls of machine code, fills and copies, done at once or recorded.
//!
//! The addresses of a small reduction's calls follow from those of its operands alone. A loop records them once, and its steps repeat
//! them at the addresses of their operands: a step with a sum of up to 200 products took 152 ns with its driver, 79 without.

use crate::execution::code::{Kernel, MachineEntry};
use crate::execution::reduce::{ElementCopy, fill};
use crate::memory::buffer::Writable;
use ndjit_codegen::clif::Cell;
use ndjit_ir::{Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::ops::Range;

/// The maximum number of actions of a recording: longer ones take long beside their driver.
const MOST: usize = 32;

/// The executor of a driver's actions, in order.
pub(crate) trait CallSink {
    /// Memory that lives as long as the sink, and begins as nothing.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    fn scratch(&mut self, bytes: usize) -> Result<*mut u8>;

    /// Fills memory with an element.
    ///
    /// # Safety
    /// As [`fill`].
    unsafe fn fill(&mut self, to: *mut u8, element: &[u8], count: usize);

    /// Copies elements.
    ///
    /// # Safety
    /// As [`ElementCopy::run`].
    unsafe fn copy(&mut self, copy: ElementCopy);

    /// The next call takes the rows from the first on, so many at once.
    fn rows(&mut self, _rows: CallRows) {}

    /// Calls a kernel, with the literals of the nest if it has any.
    ///
    /// # Errors
    /// As [`Kernel::call`].
    ///
    /// # Safety
    /// As [`Kernel::call`].
    unsafe fn call(
        &mut self,
        kernel: &Kernel,
        pointers: &[*mut u8],
        extents: &[usize],
        strides: &[isize],
    ) -> Result<()>;
}

/// Does everything at once.
pub(crate) struct Immediate<'a> {
    literals: &'a [Cell],
    memory: SmallVec<[Writable; 1]>,
}

impl<'a> Immediate<'a> {
    /// With the literals of the nest.
    pub fn new(literals: &'a [Cell]) -> Immediate<'a> {
        Immediate { literals, memory: SmallVec::new() }
    }
}

impl CallSink for Immediate<'_> {
    fn scratch(&mut self, bytes: usize) -> Result<*mut u8> {
        let mut memory = Writable::new(bytes)?;
        let start = memory.ptr();
        self.memory.push(memory);
        Ok(start)
    }

    unsafe fn fill(&mut self, to: *mut u8, element: &[u8], count: usize) {
        // SAFETY: the caller's promise.
        unsafe { fill(to, element, count) };
    }

    unsafe fn copy(&mut self, copy: ElementCopy) {
        // SAFETY: the caller's promise.
        unsafe { copy.run() };
    }

    unsafe fn call(
        &mut self,
        kernel: &Kernel,
        pointers: &[*mut u8],
        extents: &[usize],
        strides: &[isize],
    ) -> Result<()> {
        let literals = if kernel.nest().literals.is_empty() { &[] } else { self.literals };
        // SAFETY: the caller's promise.
        unsafe { kernel.call(pointers, extents, strides, literals) }
    }
}

/// The memory that a recorded address is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordedMemory {
    /// That of an operand.
    Operand(usize),
    /// Scratch memory of the recording.
    Scratch,
    /// Memory that outlives the recording: a kernel's constants.
    Fixed,
}

/// Where the numbers of symbolic addresses begin: no memory of a process lies beyond, unless it asks the system for it.
const SYMBOLS: u32 = 48;
/// The number of scratch memory.
const SCRATCH: usize = 0xffff;

/// The address of an operand while a driver is recorded. It is a number: nobody reads there.
pub(crate) fn symbol(operand: usize) -> *mut u8 {
    numbered(operand + 1, 0)
}

/// Offsets of either sign leave the number.
fn numbered(number: usize, offset: usize) -> *mut u8 {
    std::ptr::without_provenance_mut((number << SYMBOLS) + (1 << (SYMBOLS - 1)) + offset)
}

/// What a symbolic address means: a memory, and an offset there or the address.
fn meaning(address: *mut u8) -> (RecordedMemory, *mut u8) {
    let number = address.addr() >> SYMBOLS;
    let offset = || std::ptr::without_provenance_mut(address.addr().wrapping_sub(numbered(number, 0).addr()));
    match number {
        0 => (RecordedMemory::Fixed, address),
        SCRATCH => (RecordedMemory::Scratch, offset()),
        number => (RecordedMemory::Operand(number - 1), offset()),
    }
}

/// The rows of a call: the first, and the number at each of its indices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallRows {
    pub first: usize,
    pub at_once: usize,
}

impl Default for CallRows {
    fn default() -> CallRows {
        CallRows { first: 0, at_once: 1 }
    }
}

/// One action. Addresses are numbers of [`CallRecording::addresses`].
#[derive(Clone, Debug)]
pub(crate) enum RecordedAction {
    /// A call of machine code, with ranges of addresses, extents and strides.
    Call { entry: MachineEntry, addresses: Range<usize>, extents: Range<usize>, strides: Range<usize>, rows: CallRows },
    /// A fill.
    Fill { to: usize, element: SmallVec<[u8; 16]>, count: usize },
    /// A copy.
    Copy { from: usize, to: usize, copy: ElementCopy },
}

/// The actions of a driver, at [symbolic addresses](symbol).
#[derive(Clone, Debug, Default)]
pub(crate) struct CallRecording {
    pub actions: Vec<RecordedAction>,
    addresses: Vec<*mut u8>,
    pub extents: Vec<usize>,
    pub strides: Vec<isize>,
    /// Bytes of scratch memory.
    pub scratch: usize,
    /// The rows of the next call.
    rows: CallRows,
}

// SAFETY: addresses are numbers, or those of constants that never change.
unsafe impl Send for CallRecording {}
// SAFETY: as above.
unsafe impl Sync for CallRecording {}

impl CallRecording {
    /// Each address: a memory, and an offset there or the address.
    pub fn addresses(&self) -> impl Iterator<Item = (RecordedMemory, *mut u8)> {
        self.addresses.iter().map(|&address| meaning(address))
    }

    fn address(&mut self, address: *mut u8) -> usize {
        self.addresses.push(address);
        self.addresses.len() - 1
    }
}

impl CallSink for CallRecording {
    fn scratch(&mut self, bytes: usize) -> Result<*mut u8> {
        let start = self.scratch.next_multiple_of(crate::memory::block::ALIGN);
        // Enough for everything small.
        self.scratch = start.saturating_add(bytes).min(1 << (SYMBOLS - 2));
        Ok(numbered(SCRATCH, start))
    }

    unsafe fn fill(&mut self, to: *mut u8, element: &[u8], count: usize) {
        let to = self.address(to);
        self.actions.push(RecordedAction::Fill { to, element: SmallVec::from_slice(element), count });
    }

    fn rows(&mut self, rows: CallRows) {
        self.rows = rows;
    }

    unsafe fn copy(&mut self, copy: ElementCopy) {
        let [from, to] = [copy.from, copy.to].map(|address| self.address(address));
        self.actions.push(RecordedAction::Copy { from, to, copy });
    }

    unsafe fn call(
        &mut self,
        kernel: &Kernel,
        pointers: &[*mut u8],
        extents: &[usize],
        strides: &[isize],
    ) -> Result<()> {
        let Some(entry) = kernel.machine(strides).filter(|_| self.actions.len() < MOST) else {
            return Err(Error::new(ErrorCode::Verify, "record: a driver of few calls of machine code"));
        };
        let first = [self.addresses.len(), self.extents.len(), self.strides.len()];
        self.addresses.extend_from_slice(pointers);
        self.extents.extend_from_slice(extents);
        self.strides.extend_from_slice(strides);
        self.actions.push(RecordedAction::Call {
            entry,
            addresses: first[0]..self.addresses.len(),
            extents: first[1]..self.extents.len(),
            strides: first[2]..self.strides.len(),
            rows: std::mem::take(&mut self.rows),
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbolic_addresses_keep_their_memory_and_any_offset() {
        let mut recording = CallRecording::default();
        let scratch = recording.scratch(100).unwrap().wrapping_add(7);
        let constant = 7u8;
        let fixed = (&raw const constant).cast_mut();
        for (address, memory, offset) in [
            (symbol(0), RecordedMemory::Operand(0), 0),
            (symbol(3).wrapping_offset(-(1 << 40)), RecordedMemory::Operand(3), -(1 << 40)),
            (symbol(60_000).wrapping_offset(1 << 46), RecordedMemory::Operand(60_000), 1 << 46),
            (scratch, RecordedMemory::Scratch, 7),
            (fixed, RecordedMemory::Fixed, fixed.addr() as isize),
        ] {
            let (found, at) = meaning(address);
            assert_eq!((found, at.addr() as isize), (memory, offset));
        }
        assert_eq!(recording.scratch(1).map(|start| meaning(start).1.addr() % 64), Ok(0));
    }
}
