//! Prepared loops: the addresses of a body's operands are computed once, and each step calls the kernels there.
//!
//! The state of a loop lies in a few buffers. A body stores the next state in other buffers, or in the memory of its arguments where the
//! plan allows that; after a step or two the arrangement repeats. [`PreparedLoop`] simulates the plan from the first step until then: a
//! [`LoopFrame`] for each arrangement has the address of every operand. A step then allocates nothing, builds no lists, and makes no
//! decisions.

use crate::cancellation::RunScopes;
use crate::execution::calls::CallRecording;
use crate::execution::code::RecordedLoop;
use crate::memory::buffer::{Buffer, Writable};
use crate::programs::assignment::{Allocation, BufferSlice};
use crate::programs::call::Timed;
use crate::programs::control::ReadyLoop;
use crate::programs::plan::BufferPlan;
use crate::programs::ready::ReadyFrame;
use crate::programs::step_plan::{IndexPlan, Location, OutputPlan, ResultPlan, StepPlan};
use crate::programs::storage::MemoryUse;
use ndjit_codegen::clif::Cell;
use ndjit_ir::literal::Literal;
use ndjit_ir::{Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of arrangements: a loop with more of them is not prepared.
const MAX_FRAMES: usize = 8;

/// The memory of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopMemory {
    /// A buffer of the loop.
    Slot(usize),
    /// Temporaries of the body.
    Arena,
    /// An operand of the control flow.
    Operand(usize),
    /// A step's slice of an operand: slices lie one after the other.
    Slice(usize),
    /// A step's slice of a stacked array.
    Stacked(usize),
    /// The index of the step.
    Index,
    /// None: the offset is a scalar.
    Number,
}

/// A pointer of a kernel.
pub type LoopPointer = (LoopMemory, usize);

/// A step of a body with its pointers.
#[derive(Debug)]
pub struct PreparedStep {
    pub step: usize,
    pub pointers: Range<usize>,
    /// The array that fills the rest of the output.
    pub rest: Option<usize>,
    /// The calls of its kernel, if they are few.
    pub recording: Option<StepRecording>,
}

/// The calls of a step's kernel.
#[derive(Debug)]
pub struct StepRecording {
    pub calls: CallRecording,
    /// For each range of the step the extents that it changes.
    pub ranges: SmallVec<[RecordedLoop; 1]>,
}

/// A copy of a result to where another result lies: pointers of the frame, and the number of bytes.
#[derive(Clone, Copy, Debug)]
pub struct ResultCopy {
    pub from: usize,
    pub to: usize,
    pub bytes: usize,
}

/// The addresses of a body's operands, for one arrangement of the state.
#[derive(Debug, Default)]
pub struct LoopFrame {
    /// Launches, each with its number and its steps.
    pub launches: Vec<(usize, Vec<PreparedStep>)>,
    pub pointers: Vec<LoopPointer>,
    /// Results that are another result too, copied at the end: the pointers of both, and bytes.
    pub copies: Vec<ResultCopy>,
    /// The buffer of each array of the previous state.
    state: SmallVec<[usize; 4]>,
    /// The frame of the next step.
    next: usize,
    used: MemoryUse,
}

impl LoopFrame {
    /// Bytes of scratch memory of its calls.
    fn scratch(&self) -> usize {
        let recordings = self.launches.iter().flat_map(|(_, steps)| steps).filter_map(|step| step.recording.as_ref());
        recordings.map(|recording| recording.calls.scratch).max().unwrap_or(0)
    }
}

/// A program that a loop runs step by step, at addresses of the loop's choice.
pub trait LoopProgram {
    /// Runs a step on these pointers. `rest` is the address of the array that fills the rest of the output.
    ///
    /// # Safety
    /// The pointers are those of its operands and outputs, in order, and of its indices, each to memory of the planned size. Operands and
    /// indices are initialised, and nobody writes them meanwhile; nobody else uses the outputs. An output overlaps an operand only where
    /// the plan allows it.
    ///
    /// # Errors
    /// Those of running the step.
    unsafe fn call(
        &self,
        n: usize,
        pointers: &[*mut u8],
        rest: Option<*mut u8>,
        registers: &[Cell],
        scalars: &[(usize, Literal)],
        times: Option<&mut [Timed]>,
    ) -> Result<()>;

    /// The calls of a step's kernel, if they are few, on the calling thread.
    fn record(&self, n: usize) -> Option<StepRecording>;

    /// The registers of each step's literals, including those passed at a call.
    ///
    /// # Errors
    /// Those of passed scalars.
    fn registers(&self, scalars: &[(usize, Literal)]) -> Result<Vec<SmallVec<[Cell; 4]>>>;

    /// A step that is a compiled loop, ready for calls with these scalars.
    ///
    /// # Errors
    /// Those of passed scalars; `Allocation` if memory is refused.
    fn ready(&self, n: usize, scalars: &[(usize, Literal)]) -> Result<Option<ReadyLoop<'_>>>;

    /// The memory plan.
    fn plan(&self) -> &BufferPlan;

    /// Whether a launch is tiled.
    fn runs_in_tiles(&self, launch: usize) -> bool;

    /// Adds to the counters over all runs.
    fn count(&self, used: MemoryUse);
}

/// A loop whose steps are prepared.
#[derive(Debug)]
pub struct PreparedLoop {
    frames: Vec<LoopFrame>,
    /// The condition of a `while` loop for each frame, with its result in the last slot.
    conditions: Vec<LoopFrame>,
    /// Bytes of each buffer.
    slots: Vec<usize>,
    arena: usize,
}

/// The memory of a body's operand, and whether it is donated.
pub type LoopArgument = (LoopMemory, bool);

impl PreparedLoop {
    /// A loop whose state has these sizes in bytes. `given` maps an arrangement of the state to the parameters of a body, and of the
    /// condition; `bytes` is the size of each memory. `None` if the body runs in tiles, if no arrangement repeats, or if a memory is
    /// smaller than the body's reads.
    pub fn new<P: LoopProgram>(
        (body, condition): (&P, Option<&P>),
        sizes: &[usize],
        given: impl Fn(usize, &[usize]) -> SmallVec<[LoopArgument; 8]>,
        bytes: impl Fn(LoopMemory) -> usize,
    ) -> Option<PreparedLoop> {
        let mut this = PreparedLoop { frames: Vec::new(), conditions: Vec::new(), slots: sizes.to_vec(), arena: 0 };
        this.arena =
            [Some(body), condition].into_iter().flatten().map(|program| program.plan().assignment.arena).max()?;
        let mut states: Vec<SmallVec<[usize; 4]>> = vec![(0..sizes.len()).collect()];
        while let Some(state) = states.get(this.frames.len()).cloned() {
            let last = usize::from(condition.is_some());
            let holders = vec![0; this.slots.len()];
            let given = given(last, &state);
            let (mut frame, next) = Simulation::run((body, true), &mut this.slots, holders, given, sizes, &bytes)?;
            frame.next = states.iter().position(|known| *known == next).unwrap_or(states.len());
            if frame.next == states.len() {
                states.push(next);
            }
            frame.state = state;
            this.frames.push(frame);
            if states.len() > MAX_FRAMES {
                return None;
            }
        }
        if let Some(condition) = condition {
            // Its result follows all buffers of the state, which stay unchanged.
            for state in &states {
                let (mut slots, holders) = (this.slots.clone(), vec![1; this.slots.len()]);
                let (frame, _) =
                    Simulation::run((condition, false), &mut slots, holders, given(0, state), &[1], &bytes)?;
                this.conditions.push(frame);
            }
            this.slots.push(1);
        }
        Some(this)
    }

    /// Runs so many steps, or as many as the condition allows; returns the state after the last. `base` is the address of an operand of the
    /// control flow, or of a stacked array, in the first step, and its stride in bytes; `index` the index of the first step.
    ///
    /// # Safety
    /// The pointers meet the conditions of [`Controller::run`](crate::programs::control::Controller::run); stacked arrays have as many
    /// slices as there are steps; `state` are buffers of the sizes of the state.
    ///
    /// # Errors
    /// Those of the kernels, and of passed scalars; `Allocation` if memory is refused.
    pub unsafe fn run<P: LoopProgram>(
        &self,
        (body, condition): (&P, Option<&P>),
        state: Vec<Buffer>,
        trips: Option<usize>,
        base: impl Fn(LoopMemory) -> (*mut u8, isize),
        index: u64,
        scalars: &[(usize, Literal)],
    ) -> Result<Vec<Arc<Buffer>>> {
        let carried = state.len();
        let mut slots: Vec<LoopBuffer> = state.into_iter().map(LoopBuffer::Buffer).collect();
        for &bytes in &self.slots[carried..] {
            slots.push(LoopBuffer::Writable(Writable::new(bytes)?));
        }
        let mut arena = Writable::new(self.arena)?;
        let mut own_index = index;
        let index_bytes = (&raw mut own_index).cast::<u8>();
        let mut find = |memory: LoopMemory| match memory {
            LoopMemory::Slot(slot) => (slots[slot].ptr(), 0),
            LoopMemory::Arena => (arena.ptr(), 0),
            LoopMemory::Index => (index_bytes, 0),
            LoopMemory::Number => (std::ptr::null_mut(), 0),
            LoopMemory::Operand(_) | LoopMemory::Slice(_) | LoopMemory::Stacked(_) => base(memory),
        };
        let registers = body.registers(scalars)?;
        let of_condition = condition.map_or(Ok(Vec::new()), |condition| condition.registers(scalars))?;
        let frames = || self.frames.iter().chain(&self.conditions);
        // One after the other: each call writes what it reads there.
        let mut scratch = Writable::new(frames().map(LoopFrame::scratch).max().unwrap_or(0))?;
        let scratch = scratch.ptr();
        let ready = |frame| ReadyFrame::new(frame, body, &registers, scalars, scratch, &mut find);
        let mut frames = self.frames.iter().map(ready).collect::<Result<Vec<_>>>()?;
        let mut conditions = Vec::with_capacity(self.conditions.len());
        if let Some(condition) = condition {
            for frame in &self.conditions {
                conditions.push(ReadyFrame::new(frame, condition, &of_condition, scalars, scratch, &mut find)?);
            }
        }
        let truth = condition.map(|_| find(LoopMemory::Slot(self.slots.len() - 1)).0);
        let (mut frame, mut used) = (0, MemoryUse::default());
        let scopes = RunScopes::of_thread();
        for step in 0.. {
            scopes.look()?;
            match (trips, condition, truth) {
                (Some(trips), ..) if step >= trips => break,
                (None, Some(condition), Some(truth)) => {
                    // SAFETY: the caller's promise; the condition reads the addresses of its frame, and its result is a byte of its own.
                    let more = unsafe {
                        conditions[frame].run(condition, step, &of_condition, scalars)?;
                        *truth
                    };
                    if more != 1 {
                        break;
                    }
                }
                _ => {}
            }
            // SAFETY: an array of this call, read only by the kernels.
            unsafe { index_bytes.cast::<u64>().write(index.wrapping_add(step as u64).to_le()) };
            // SAFETY: the caller's promise. The frame has the planned addresses of the state after the previous steps: buffers of its
            // sizes, which contain nothing else that is live.
            unsafe { frames[frame].run(body, step, &registers, scalars)? };
            used += self.frames[frame].used;
            frame = self.frames[frame].next;
        }
        body.count(used);
        let mut made: Vec<Option<Arc<Buffer>>> = vec![None; slots.len()];
        let mut slots: Vec<Option<LoopBuffer>> = slots.into_iter().map(Some).collect();
        let result = |&slot: &usize| {
            if let Some(own) = slots[slot].take() {
                // SAFETY: the previous step has written it, or the initial state lies there.
                made[slot] = Some(Arc::new(unsafe { own.written() }));
            }
            made[slot].clone().ok_or_else(|| Error::new(ErrorCode::Verify, "loop: its state lies nowhere"))
        };
        self.frames[frame].state.iter().map(result).collect()
    }
}

/// A buffer of a loop.
enum LoopBuffer {
    Buffer(Buffer),
    Writable(Writable),
}

impl LoopBuffer {
    fn ptr(&mut self) -> *mut u8 {
        match self {
            LoopBuffer::Buffer(buffer) => buffer.ptr(),
            LoopBuffer::Writable(memory) => memory.ptr(),
        }
    }

    /// The buffer.
    ///
    /// # Safety
    /// Every byte has been written.
    unsafe fn written(self) -> Buffer {
        match self {
            LoopBuffer::Buffer(buffer) => buffer,
            // SAFETY: the caller's promise.
            LoopBuffer::Writable(memory) => unsafe { memory.assume_written() },
        }
    }
}

/// The content of a location during a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum BodyPlace {
    Empty,
    At(LoopPointer),
    /// A donated buffer of the state, or an array that took its memory.
    Donated(usize),
}

/// A simulated run of a body, with the decisions of [`Storage`](crate::programs::storage::Storage).
struct Simulation<'a, P> {
    program: &'a P,
    slots: &'a mut Vec<usize>,
    /// The number of locations or results in each slot.
    holders: Vec<u32>,
    places: Vec<BodyPlace>,
    /// The slots of results.
    results: Vec<Option<usize>>,
    /// Results before this index are the state, others are stacked.
    carried: usize,
    /// Whether a result may be one of the arguments: for a body, but not for a condition, whose result has its own memory.
    passes: bool,
    frame: LoopFrame,
}

impl<P: LoopProgram> Simulation<'_, P> {
    /// The addresses of each step's operands, and the next state.
    fn run(
        (program, passes): (&P, bool),
        slots: &mut Vec<usize>,
        holders: Vec<u32>,
        given: SmallVec<[LoopArgument; 8]>,
        sizes: &[usize],
        bytes: &impl Fn(LoopMemory) -> usize,
    ) -> Option<(LoopFrame, SmallVec<[usize; 4]>)> {
        let (plan, carried) = (program.plan(), sizes.len());
        let there = |memory: LoopMemory| match memory {
            LoopMemory::Slot(slot) => slots[slot],
            memory => bytes(memory),
        };
        let made = |(n, result): (usize, &ResultPlan)| match sizes.get(n) {
            Some(&bytes) => result.bytes == bytes,
            None => result.bytes == bytes(LoopMemory::Stacked(n - carried)),
        };
        let fits = plan.params.len() == given.len()
            && plan.params.iter().zip(&given).all(|(&read, &(memory, _))| read <= there(memory))
            && plan.results.iter().enumerate().all(made);
        if !fits {
            return None;
        }
        let mut this = Simulation {
            holders,
            places: vec![BodyPlace::Empty; plan.locations],
            results: vec![None; plan.results.len()],
            program,
            slots,
            carried,
            passes,
            frame: LoopFrame::default(),
        };
        for (place, (memory, gives)) in this.places.iter_mut().zip(given) {
            *place = match (memory, gives) {
                (LoopMemory::Slot(slot), true) => {
                    this.holders[slot] += 1;
                    this.frame.used.given += 1;
                    BodyPlace::Donated(slot)
                }
                // It is read while its buffer still belongs to the state.
                (LoopMemory::Slot(slot), false) => {
                    this.holders[slot] += 1;
                    BodyPlace::At((memory, 0))
                }
                _ => BodyPlace::At((memory, 0)),
            };
        }
        for (launch, cut) in plan.launches.iter().enumerate() {
            if program.runs_in_tiles(launch) {
                return None;
            }
            let steps = cut.steps.clone().map(|n| this.step(n)).collect::<Option<Vec<_>>>()?;
            this.frame.launches.push((launch, steps.into_iter().flatten().collect()));
        }
        let mut state: SmallVec<[usize; 4]> = SmallVec::new();
        for (index, &ResultPlan { location, same_as, bytes }) in plan.results.iter().enumerate() {
            let slot = match (same_as, index < carried) {
                (Some(first), true) if first < carried => state[first],
                // A scan often stacks its state.
                (Some(first), false) => {
                    let from = match first.checked_sub(carried) {
                        None => LoopMemory::Slot(state[first]),
                        Some(first) => LoopMemory::Stacked(first),
                    };
                    let at = this.frame.pointers.len();
                    this.frame.pointers.extend([(from, 0), (LoopMemory::Stacked(index - carried), 0)]);
                    this.frame.copies.push(ResultCopy { from: at, to: at + 1, bytes });
                    continue;
                }
                (Some(_), true) => return None,
                (None, false) => continue,
                (None, true) => match this.places[location as usize] {
                    BodyPlace::Donated(slot) => {
                        this.frame.used.taken += 1;
                        slot
                    }
                    BodyPlace::At((LoopMemory::Slot(slot), 0)) if this.results[index] == Some(slot) => slot,
                    BodyPlace::At(_) | BodyPlace::Empty => return None,
                },
            };
            state.push(slot);
        }
        (state.len() == carried).then_some((this.frame, state))
    }

    /// The pointers of a step; `None` inside for a step without work.
    fn step(&mut self, n: usize) -> Option<Option<PreparedStep>> {
        let step: &StepPlan = &self.program.plan().steps[n];
        if self.renames(step) {
            self.release(step);
            return Some(None);
        }
        let rest = match &step.rest {
            Some(rest) => {
                let pointer = self.pointer(rest.location)?;
                self.frame.pointers.push(pointer);
                Some(self.frame.pointers.len() - 1)
            }
            None => None,
        };
        let first = self.frame.pointers.len();
        for &(location, offset) in &step.inputs {
            let pointer = match location {
                Some(location) => {
                    let (memory, start) = self.pointer(location)?;
                    (memory, start + offset)
                }
                None => (LoopMemory::Number, offset),
            };
            self.frame.pointers.push(pointer);
        }
        // Before outputs, as one of those may take the memory of an array that an index lies in.
        let index =
            |index: IndexPlan| self.pointer(index.location).map(|(memory, start)| (memory, start + index.offset));
        let indices = step.indices().map(index).collect::<Option<SmallVec<[LoopPointer; 2]>>>()?;
        for output in &step.outputs {
            if self.places[output.location as usize] == BodyPlace::Empty {
                self.places[output.location as usize] = self.place(output)?;
            }
            let (memory, start) = self.pointer(output.location)?;
            self.frame.pointers.push((memory, start + output.offset));
        }
        self.frame.pointers.extend(indices);
        let pointers = first..self.frame.pointers.len();
        self.release(step);
        let recording = self.program.record(n);
        Some((!step.empty || rest.is_some()).then_some(PreparedStep { step: n, pointers, rest, recording }))
    }

    /// Releases the locations whose last read is this step.
    fn release(&mut self, step: &StepPlan) {
        for &location in &step.last_used {
            if let BodyPlace::Donated(slot) = std::mem::replace(&mut self.places[location as usize], BodyPlace::Empty) {
                self.holders[slot] -= 1;
            }
        }
    }

    /// Whether a step only copies an array of the state to the next state: that array keeps its memory, without a copy.
    fn renames(&mut self, step: &StepPlan) -> bool {
        let (true, [(Some(from), 0)], [output]) = (step.copy, &step.inputs[..], &step.outputs[..]) else {
            return false;
        };
        let slice = self.program.plan().assignment.slices[output.location as usize];
        let Some(BufferSlice { allocation: Allocation::Result(result), offset: 0, .. }) = slice else { return false };
        // An array that is not a result may lie in the memory of a later one.
        if output.result != Some(result) {
            return false;
        }
        let slot = match self.places[*from as usize] {
            BodyPlace::Donated(slot) | BodyPlace::At((LoopMemory::Slot(slot), 0)) => slot,
            BodyPlace::At(_) | BodyPlace::Empty => return false,
        };
        // A kernel's earlier use of the result's memory moves elsewhere then.
        if !self.passes || result >= self.carried || self.slots[slot] != output.bytes || self.results[result].is_some()
        {
            return false;
        }
        self.holders[slot] += 1;
        self.results[result] = Some(slot);
        self.places[output.location as usize] = BodyPlace::At((LoopMemory::Slot(slot), 0));
        true
    }

    fn pointer(&self, location: Location) -> Option<LoopPointer> {
        match self.places[location as usize] {
            BodyPlace::Empty => None,
            BodyPlace::At(pointer) => Some(pointer),
            BodyPlace::Donated(slot) => Some((LoopMemory::Slot(slot), 0)),
        }
    }

    /// The location of an output.
    fn place(&mut self, output: &OutputPlan) -> Option<BodyPlace> {
        let plan = self.program.plan();
        let BufferSlice { allocation, offset, takes, .. } = plan.assignment.slices[output.location as usize]?;
        let memory = match allocation {
            Allocation::Tile(_) => return None,
            Allocation::Arena => LoopMemory::Arena,
            Allocation::Result(result) if result >= self.carried => LoopMemory::Stacked(result - self.carried),
            Allocation::Result(result) => {
                let whole = |slot: usize| self.slots[slot] == output.bytes && self.holders[slot] == 1;
                let taken = output.reuse.iter().find_map(|&operand| match self.places[operand as usize] {
                    BodyPlace::Donated(slot) if whole(slot) => Some((operand, slot)),
                    _ => None,
                });
                if let Some((operand, slot)) = taken {
                    self.places[operand as usize] = BodyPlace::Empty;
                    self.frame.used.in_place += 1;
                    return Some(BodyPlace::Donated(slot));
                }
                let bytes = plan.assignment.bytes(plan, allocation);
                LoopMemory::Slot(match self.results[result] {
                    Some(slot) => slot,
                    None => {
                        let slot = self.free(bytes);
                        self.results[result] = Some(slot);
                        slot
                    }
                })
            }
        };
        self.frame.used.in_place += u64::from(takes.is_some());
        Some(BodyPlace::At((memory, offset)))
    }

    /// A free buffer, now in use.
    fn free(&mut self, bytes: usize) -> usize {
        let free = (0..self.slots.len()).find(|&slot| self.slots[slot] == bytes && self.holders.get(slot) == Some(&0));
        let slot = free.unwrap_or_else(|| {
            self.slots.push(bytes);
            self.holders.push(0);
            self.slots.len() - 1
        });
        self.holders[slot] += 1;
        slot
    }
}
