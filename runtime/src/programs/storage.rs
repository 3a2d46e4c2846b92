//! The memory of a run: the contents of each location, and the buffers of kernels' outputs.

use crate::memory::buffer::{Buffer, Writable};
use crate::programs::assignment::{Allocation, BufferSlice};
use crate::programs::call::{Argument, Output};
use crate::programs::plan::BufferPlan;
use crate::programs::scratch::Scratch;
use crate::programs::step_plan::{Location, OutputPlan, ResultPlan, StepPlan};
use ndjit_ir::{Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::ops::{AddAssign, Range};
use std::sync::Arc;

/// The content of a location during a run.
#[derive(Debug)]
pub enum BufferRef<'a> {
    /// Not stored yet, or released.
    Empty,
    /// Readable memory.
    Readable(&'a [u8]),
    /// A donated buffer, or an array that took its memory.
    Donated(Arc<Buffer>),
    /// A buffer from control flow.
    Made(Arc<Buffer>),
    /// A kernel's output, at its assigned address.
    Assigned(*mut u8),
}

impl<'a> BufferRef<'a> {
    /// The memory of an argument.
    ///
    /// # Errors
    /// `Device` if it is not in host memory.
    fn of(argument: Argument<'a>) -> Result<BufferRef<'a>> {
        match argument {
            Argument::Borrowed(bytes) => Ok(BufferRef::Readable(bytes)),
            Argument::Shared(buffer) => Ok(BufferRef::Readable(buffer.as_bytes())),
            Argument::Donated(buffer) => Ok(BufferRef::Donated(buffer)),
            Argument::Device(_) => Err(on_device()),
        }
    }

    /// The bytes of an argument.
    fn len(&self) -> usize {
        match self {
            BufferRef::Readable(bytes) => bytes.len(),
            BufferRef::Donated(buffer) | BufferRef::Made(buffer) => buffer.len(),
            BufferRef::Empty | BufferRef::Assigned(_) => 0,
        }
    }

    /// The first byte.
    fn ptr(&self) -> *mut u8 {
        match self {
            // Never read: a kernel runs after its inputs are stored.
            BufferRef::Empty => std::ptr::null_mut(),
            BufferRef::Readable(bytes) => bytes.as_ptr().cast_mut(),
            BufferRef::Donated(buffer) | BufferRef::Made(buffer) => buffer.ptr(),
            BufferRef::Assigned(pointer) => *pointer,
        }
    }
}

/// The error for device memory given to a program on the processor.
fn on_device() -> Error {
    Error::new(ErrorCode::Device, "run: arrays of a program on the processor are in the host's memory")
}

/// A buffer that arrays are assigned to.
#[derive(Debug)]
pub enum Assigned {
    /// Not needed yet.
    Nothing,
    /// From the pool.
    Pool(Writable),
    /// The caller's.
    Caller(*mut u8),
}

impl Assigned {
    /// The first byte.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    fn ptr(&mut self, bytes: usize) -> Result<*mut u8> {
        if let Assigned::Nothing = self {
            *self = Assigned::Pool(Writable::new(bytes)?);
        }
        Ok(match self {
            Assigned::Pool(memory) => memory.ptr(),
            Assigned::Caller(pointer) => *pointer,
            Assigned::Nothing => std::ptr::null_mut(),
        })
    }
}

/// Counters of memory reuse in a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoryUse {
    /// Outputs that took the memory of an operand.
    pub in_place: u64,
    /// Donated arguments.
    pub given: u64,
    /// Donated arguments whose memory a result took.
    pub taken: u64,
}

impl AddAssign for MemoryUse {
    fn add_assign(&mut self, other: MemoryUse) {
        self.in_place += other.in_place;
        self.given += other.given;
        self.taken += other.taken;
    }
}

/// The memory of a run.
pub struct Storage<'p, 'a> {
    plan: &'p BufferPlan,
    /// The lists of the run: this type uses places and buffers, the kernels' caller the others.
    pub scratch: Scratch<'a>,
    arena: Assigned,
    used: MemoryUse,
}

impl<'p, 'a> Storage<'p, 'a> {
    /// The memory of a run with these arguments. Results go to the memory of `outputs`, which nothing else may use during this lifetime.
    ///
    /// # Errors
    /// Those of [`BufferPlan::check`]; `Device` if an argument or a result is in device memory.
    pub fn new(
        plan: &'p BufferPlan,
        arguments: impl IntoIterator<Item = Argument<'a>>,
        outputs: &mut [Output<'_>],
    ) -> Result<Storage<'p, 'a>> {
        let mut storage =
            Storage { plan, scratch: Scratch::take(), arena: Assigned::Nothing, used: MemoryUse::default() };
        let Scratch { places, lists } = &mut storage.scratch;
        for argument in arguments {
            places.push(BufferRef::of(argument)?);
        }
        plan.check(places.iter().map(BufferRef::len), outputs)?;
        storage.used.given = places.iter().filter(|place| matches!(place, BufferRef::Donated(_))).count() as u64;
        places.resize_with(plan.locations, || BufferRef::Empty);
        for output in outputs {
            lists.results.push(match output {
                Output::Into(bytes) => Assigned::Caller(bytes.as_mut_ptr()),
                Output::Fresh(_) => Assigned::Nothing,
                Output::Device(_) => return Err(on_device()),
            });
        }
        Ok(storage)
    }

    /// The pointers of a step's operands and indices, as a range of the list of pointers, with memory for its outputs.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    pub fn pointers(&mut self, step: &StepPlan) -> Result<Range<usize>> {
        let first = self.inputs(step).start;
        // Before outputs: one may take the memory of an array that contains an index.
        let indices: SmallVec<[*mut u8; 2]> =
            step.indices().map(|index| self.pointer(index.location).wrapping_add(index.offset)).collect();
        for output in &step.outputs {
            let pointer = self.output(output)?.wrapping_add(output.offset);
            self.scratch.lists.pointers.push(pointer);
        }
        self.scratch.lists.pointers.extend(indices);
        Ok(first..self.scratch.lists.pointers.len())
    }

    /// The pointers of a step's inputs, as a range of the list of pointers.
    pub fn inputs(&mut self, step: &StepPlan) -> Range<usize> {
        let first = self.scratch.lists.pointers.len();
        for &(location, offset) in &step.inputs {
            let pointer = match location {
                Some(location) => self.scratch.places[location as usize].ptr().wrapping_add(offset),
                None => std::ptr::without_provenance_mut(offset),
            };
            self.scratch.lists.pointers.push(pointer);
        }
        first..self.scratch.lists.pointers.len()
    }

    /// Stores a buffer from control flow as an output; copies it if the caller gave memory.
    ///
    /// # Errors
    /// `Verify` if its size differs from the output's.
    pub fn put(&mut self, output: &OutputPlan, made: Arc<Buffer>) -> Result<()> {
        if made.len() != output.bytes {
            return Err(Error::new(ErrorCode::Verify, "run: control flow made an array of another size"));
        }
        let result = output.result.and_then(|result| self.scratch.lists.results.get(result));
        let place = match result {
            Some(&Assigned::Caller(pointer)) => {
                // SAFETY: memory for a result, which has as many bytes and which nothing else uses, by the promise of
                // [`new`](Storage::new).
                unsafe { pointer.copy_from_nonoverlapping(made.ptr(), output.bytes) };
                BufferRef::Assigned(pointer)
            }
            _ => BufferRef::Made(made),
        };
        self.scratch.places[output.location as usize] = place;
        Ok(())
    }

    /// The first byte at a location.
    pub fn pointer(&self, location: Location) -> *mut u8 {
        self.scratch.places[location as usize].ptr()
    }

    /// The first byte of an array that a kernel stores, whole or in part.
    ///
    /// # Errors
    /// `Allocation` if memory is refused.
    fn output(&mut self, output: &OutputPlan) -> Result<*mut u8> {
        let location = output.location as usize;
        // Another kernel may have stored a part of it before.
        if let BufferRef::Empty = self.scratch.places[location] {
            self.scratch.places[location] = self.place(output)?;
        }
        Ok(self.scratch.places[location].ptr())
    }

    /// Memory for an output: that of a donated operand which dies here, if it becomes a result's, or the assigned address.
    fn place(&mut self, output: &OutputPlan) -> Result<BufferRef<'a>> {
        let Some(BufferSlice { allocation, offset, takes, .. }) = self.plan.assignment.slices[output.location as usize]
        else {
            return Err(Error::new(ErrorCode::Verify, "run: an output has no place"));
        };
        let own = match allocation {
            Allocation::Arena => &mut self.arena,
            Allocation::Result(result) => &mut self.scratch.lists.results[result],
            // Each tile adds the address of its memory.
            Allocation::Tile(_) => {
                self.used.in_place += u64::from(takes.is_some());
                return Ok(BufferRef::Assigned(std::ptr::without_provenance_mut(offset)));
            }
        };
        let lasts = matches!(allocation, Allocation::Result(_)) && !matches!(own, Assigned::Caller(_));
        for &operand in output.reuse.iter().filter(|_| lasts) {
            let place = &mut self.scratch.places[operand as usize];
            if let BufferRef::Donated(buffer) | BufferRef::Made(buffer) = place
                && buffer.len() == output.bytes
                && Buffer::is_writable(buffer)
            {
                self.used.in_place += 1;
                return Ok(std::mem::replace(place, BufferRef::Empty));
            }
        }
        self.used.in_place += u64::from(takes.is_some());
        let bytes = self.plan.assignment.bytes(self.plan, allocation);
        Ok(BufferRef::Assigned(own.ptr(bytes)?.wrapping_add(offset)))
    }

    /// Releases memory whose last read is this step. Assigned addresses need no release.
    pub fn release_last_used(&mut self, step: &StepPlan) {
        for &location in &step.last_used {
            self.scratch.places[location as usize] = BufferRef::Empty;
        }
    }

    /// Releases temporaries after the last launch that uses them.
    pub fn launched(&mut self, launch: usize) {
        if self.plan.assignment.arena_until == Some(launch) {
            self.arena = Assigned::Nothing;
        }
    }

    /// Returns the results, and keeps the lists for the thread's next run.
    ///
    /// # Errors
    /// `Allocation` if memory for a copy is refused.
    ///
    /// # Safety
    /// All kernels have run.
    pub unsafe fn publish(mut self, outputs: &mut [Output<'_>]) -> Result<MemoryUse> {
        for (index, result) in self.plan.results.iter().enumerate() {
            let ResultPlan { location, same_as, .. } = *result;
            if let Some(first) = same_as {
                copy_result(first, index, outputs)?;
                continue;
            }
            let Output::Fresh(into) = &mut outputs[index] else { continue };
            let place = std::mem::replace(&mut self.scratch.places[location as usize], BufferRef::Empty);
            let own = std::mem::replace(&mut self.scratch.lists.results[index], Assigned::Nothing);
            *into = match (place, own) {
                (BufferRef::Donated(buffer), _) => {
                    self.used.taken += 1;
                    Some(buffer)
                }
                (BufferRef::Made(buffer), _) => Some(buffer),
                // SAFETY: its kernel has run, by the caller's promise. The plan checked that it writes every byte of a result, that this
                // buffer has the result's size, and that the result begins where the buffer does.
                (BufferRef::Assigned(_), Assigned::Pool(memory)) => Some(Arc::new(unsafe { memory.assume_written() })),
                _ => None,
            };
        }
        self.scratch.keep();
        Ok(self.used)
    }
}

/// One value as two results: the buffer is shared, or copied into the caller's memory.
fn copy_result(from: usize, to: usize, outputs: &mut [Output<'_>]) -> Result<()> {
    let (head, tail) = outputs.split_at_mut(to);
    match (&head[from], &mut tail[0]) {
        (Output::Fresh(buffer), Output::Fresh(copy)) => *copy = buffer.clone(),
        (Output::Fresh(buffer), Output::Into(copy)) => {
            if let Some(buffer) = buffer {
                copy.copy_from_slice(buffer.as_bytes());
            }
        }
        (Output::Into(bytes), Output::Fresh(copy)) => *copy = Some(Arc::new(Buffer::from_bytes(bytes)?)),
        (Output::Into(bytes), Output::Into(copy)) => copy.copy_from_slice(bytes),
        (Output::Device(_), _) | (_, Output::Device(_)) => {}
    }
    Ok(())
}
