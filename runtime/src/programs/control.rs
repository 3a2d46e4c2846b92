//! Control flow on the CPU: the programs of its graphs, and their callers.
//!
//! A loop's carry has buffers of its own. Each step donates them to the body, so an update in place costs an element, not the array.

use crate::cancellation::RunScopes;
use crate::execution::code::{CodeOptions, Kernel};
use crate::execution::threads::Threads;
use crate::memory::buffer::{Buffer, Writable};
use crate::programs::call::{Argument, Output, Timed};
use crate::programs::executable::Executable;
use crate::programs::planned::{scratch, state};
use crate::programs::prepared::{LoopMemory, PreparedLoop};
use crate::programs::steps::{CompiledLoop, LoopCall};
use ndjit_codegen::{Lowered, LoweredControl};
use ndjit_ir::graph::{Control, ControlKind, Inner};
use ndjit_ir::literal::Literal;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::mem::replace;
use std::sync::Arc;

/// Control flow with the programs of its graphs.
#[derive(Debug)]
pub struct Controller {
    control: Arc<Control<DType>>,
    /// The result of each output.
    results: SmallVec<[u32; 2]>,
    /// The loop, if one kernel runs its steps: then there are no programs.
    compiled: Option<CompiledLoop>,
    /// The program of each graph, with the parameters that are the last use of their operands.
    programs: Vec<Arc<Executable>>,
    last: Vec<Vec<bool>>,
    /// The loop with prepared steps, if they repeat.
    prepared: Option<PreparedLoop>,
    /// Bytes of each operand, and of each result.
    operands: Vec<usize>,
    made: Vec<usize>,
    /// Bytes of scratch memory, at most. Cached: shared graphs would be measured again for each use.
    scratch: usize,
}

/// The buffers that a loop carries from step to step.
type Carry = SmallVec<[Option<Arc<Buffer>>; 4]>;

impl Controller {
    /// Control flow whose graphs `compile` compiles, unless it is a compiled loop.
    ///
    /// # Errors
    /// `Verify` if its graphs do not fit it; `Size` if an array cannot exist; those of `compile`.
    pub fn new(
        LoweredControl { fused, bodies, compiled }: &LoweredControl,
        (code, threads): (CodeOptions, &Threads),
        mut compile: impl FnMut(&Arc<Lowered>) -> Result<Arc<Executable>>,
    ) -> Result<Controller> {
        let wrong = || Error::new(ErrorCode::Verify, "control flow: its graphs do not fit it");
        let control = Arc::clone(&fused.control.0);
        let (operands, made) = control.sizes(fused.operands.len())?;
        let results: SmallVec<[u32; 2]> = fused.results.iter().map(|&(n, _)| n).collect();
        let graphs = control.kind.graphs().len();
        if results.iter().any(|&n| n as usize >= made.len()) || bodies.len() != graphs || control.graphs.len() != graphs
        {
            return Err(wrong());
        }
        let sizes = (&operands[..], &made[..], control.carried());
        let compiled = compiled.as_ref().map(|loops| CompiledLoop::new(loops, sizes, code, threads)).transpose()?;
        let programs = match compiled {
            Some(_) => Vec::new(),
            None => bodies.iter().map(&mut compile).collect::<Result<Vec<_>>>()?,
        };
        let own = state(&control, &made, compiled.is_some().then_some(&results[..]));
        let scratch = scratch(own, programs.iter().map(|program| program.memory().peak));
        let last = |inner: &Inner<DType>| {
            let mut later = vec![false; operands.len()];
            let mut last: Vec<bool> =
                inner.operands.iter().rev().map(|&n| !replace(&mut later[n as usize], true)).collect();
            last.reverse();
            last
        };
        let last: Vec<Vec<bool>> = control.graphs.iter().map(last).collect();
        let mut this =
            Controller { control, results, compiled, programs, last, prepared: None, operands, made, scratch };
        this.prepared = this.prepare();
        Ok(this)
    }

    /// The number of carried results.
    fn carried(&self) -> usize {
        match self.control.kind {
            ControlKind::Scan(steps) => steps.carried as usize,
            ControlKind::For(_) | ControlKind::While | ControlKind::Cond => self.made.len(),
        }
    }

    /// The programs of a loop: its body, and its condition.
    fn body(&self) -> Option<(&Executable, Option<&Executable>)> {
        match (self.control.kind, &self.programs[..]) {
            (ControlKind::While, [condition, body]) => Some((body, Some(condition))),
            (ControlKind::For(_) | ControlKind::Scan(_), [body]) => Some((body, None)),
            _ => None,
        }
    }

    /// The loop with prepared steps, if it supports that.
    fn prepare(&self) -> Option<PreparedLoop> {
        let carried = self.carried();
        let given = |n: usize, state: &[usize]| {
            let gives = n + 1 == self.programs.len();
            let inner = &self.control.graphs[n].operands;
            let of = |&operand: &u32| match (state.get(operand as usize), self.control.kind) {
                (Some(&slot), _) => (LoopMemory::Slot(slot), gives),
                (None, ControlKind::For(counts)) if counts.is_index(operand as usize) => (LoopMemory::Index, false),
                (None, ControlKind::Scan(steps)) if steps.slices(operand as usize) => {
                    (LoopMemory::Slice(operand as usize), false)
                }
                (None, _) => (LoopMemory::Operand(operand as usize), false),
            };
            inner.iter().map(of).collect()
        };
        let slices = |bytes: usize| match self.control.kind {
            ControlKind::Scan(steps) => bytes / steps.length.max(1),
            ControlKind::For(_) | ControlKind::While | ControlKind::Cond => bytes,
        };
        let bytes = |memory: LoopMemory| match memory {
            LoopMemory::Operand(n) => self.operands[n],
            LoopMemory::Slice(n) => slices(self.operands[n]),
            LoopMemory::Stacked(n) => self.made.get(carried + n).map_or(0, |&bytes| slices(bytes)),
            LoopMemory::Index => size_of::<u64>(),
            LoopMemory::Slot(_) | LoopMemory::Arena | LoopMemory::Number => 0,
        };
        PreparedLoop::new(self.body()?, &self.made[..carried], given, bytes)
    }

    /// The kernel of a compiled loop.
    pub fn kernel(&self) -> Option<&Arc<Kernel>> {
        self.compiled.as_ref().map(CompiledLoop::kernel)
    }

    /// The programs of its graphs; none for a compiled loop.
    pub fn programs(&self) -> &[Arc<Executable>] {
        &self.programs
    }

    /// Bytes of scratch memory beside its results, at most.
    pub fn scratch(&self) -> usize {
        self.scratch
    }

    /// The bytes of an operand in a step.
    fn borrowed<'a>(&self, operands: &[&'a [u8]], operand: u32, (step, index): (usize, &'a [u8])) -> &'a [u8] {
        let bytes = operands[operand as usize];
        match self.control.kind {
            ControlKind::For(counts) if counts.is_index(operand as usize) => index,
            ControlKind::Scan(steps) if steps.slices(operand as usize) => {
                let (slice, at) = (bytes.len() / steps.length.max(1), steps.slice(step));
                &bytes[at * slice..(at + 1) * slice]
            }
            ControlKind::Scan(_) | ControlKind::For(_) | ControlKind::While | ControlKind::Cond => bytes,
        }
    }

    /// Runs graph `n` in a step, whose index a loop stores in the counter. Some operands are the carry, donated where `gives` says so.
    fn run_inner(
        &self,
        (n, step): (usize, (usize, &[u8])),
        operands: &[&[u8]],
        (carry, gives): (&mut Carry, bool),
        outputs: &mut [Output<'_>],
        call: &mut Call<'_>,
    ) -> Result<()> {
        let (program, inner) = (&self.programs[n], &self.control.graphs[n].operands);
        // An operand read twice is donated at its last use, when it has no other owner.
        let given = inner.iter().zip(&self.last[n]).map(|(&operand, &last)| {
            let place = carry.get_mut(operand as usize)?;
            if gives && last { place.take() } else { place.clone() }
        });
        let given: Carry = given.collect();
        let borrowed = |operand: u32| Argument::Borrowed(self.borrowed(operands, operand, step));
        if gives {
            carry.fill(None);
            let arguments = given.into_iter().zip(inner);
            let arguments = arguments.map(|(buffer, &n)| buffer.map_or_else(|| borrowed(n), Argument::Donated));
            program.run_into(arguments.collect::<SmallVec<[Argument<'_>; 8]>>(), call.scalars, outputs, call.times(n))
        } else {
            let arguments = given.iter().zip(inner);
            let arguments = arguments.map(|(buffer, &n)| buffer.as_ref().map_or_else(|| borrowed(n), Argument::Shared));
            program.run_into(arguments.collect::<SmallVec<[Argument<'_>; 8]>>(), call.scalars, outputs, call.times(n))
        }
    }

    /// Runs a loop: the carry after the last step, and the stacked results.
    fn looped(&self, operands: &[&[u8]], call: &mut Call<'_>) -> Result<Vec<Arc<Buffer>>> {
        let carried = self.carried();
        let length = match self.control.kind {
            ControlKind::Scan(steps) => Some(steps.length),
            ControlKind::For(counts) => {
                let trips = counts.trips(operands[carried], operands[carried + 1]);
                Some(usize::try_from(trips).unwrap_or(usize::MAX))
            }
            ControlKind::While | ControlKind::Cond => None,
        };
        let index = |step: usize| match self.control.kind {
            ControlKind::For(counts) => counts.at(operands[carried], step as u64),
            ControlKind::Scan(_) | ControlKind::While | ControlKind::Cond => [0; 16],
        };
        let bytes = match self.control.kind {
            ControlKind::For(counts) => counts.index.bytes(),
            ControlKind::Scan(_) | ControlKind::While | ControlKind::Cond => 0,
        };
        // Zeros first would be another pass over memory: 1.5 of the 5.1 ms of two scans of 200 x 10,000 `f64`.
        let fresh_stacked =
            || self.made[carried..].iter().map(|&bytes| Writable::new(bytes)).collect::<Result<Vec<_>>>();
        if let Some(compiled) = &self.compiled {
            let mut made = self.made.iter().map(|&bytes| Writable::new(bytes)).collect::<Result<Vec<_>>>()?;
            let results: SmallVec<[*mut u8; 8]> = made.iter_mut().map(Writable::ptr).collect();
            let inputs: SmallVec<[*mut u8; 8]> = operands.iter().map(|bytes| bytes.as_ptr().cast_mut()).collect();
            // SAFETY: operands are slices of the sizes of `made_of`; the results are of this call.
            unsafe { self.run_compiled(&mut compiled.call(call.scalars)?, &inputs, &results)? };
            // SAFETY: the state has been copied, and each step has stored its slice of each stacked array.
            return Ok(made.into_iter().map(|memory| Arc::new(unsafe { memory.assume_written() })).collect());
        }
        if let (Some(prepared), Some(programs), None) = (&self.prepared, self.body(), &call.times) {
            let state =
                operands[..carried].iter().map(|bytes| Buffer::from_bytes(bytes)).collect::<Result<Vec<_>>>()?;
            // The address of the first step's slice, and its stride.
            let first = |start: *mut u8, bytes: usize| {
                let slice = bytes / length.unwrap_or(1).max(1);
                match self.control.kind {
                    ControlKind::Scan(steps) if steps.reverse => {
                        (start.wrapping_add(bytes - slice.min(bytes)), -(slice as isize))
                    }
                    _ => (start, slice as isize),
                }
            };
            let mut stacked = fresh_stacked()?;
            let slices: Vec<(*mut u8, isize)> =
                stacked.iter_mut().zip(&self.made[carried..]).map(|(all, &bytes)| first(all.ptr(), bytes)).collect();
            let base = |memory: LoopMemory| match memory {
                LoopMemory::Operand(n) => (operands[n].as_ptr().cast_mut(), 0),
                LoopMemory::Slice(n) => first(operands[n].as_ptr().cast_mut(), operands[n].len()),
                LoopMemory::Stacked(n) => slices[n],
                LoopMemory::Slot(_) | LoopMemory::Arena | LoopMemory::Index | LoopMemory::Number => {
                    (std::ptr::null_mut(), 0)
                }
            };
            // SAFETY: operands are slices; scanned and stacked arrays have one slice per step. Stacked arrays and the state belong to this
            // call.
            let first = match self.control.kind {
                ControlKind::For(counts) => counts.first(operands[carried]),
                ControlKind::Scan(_) | ControlKind::While | ControlKind::Cond => 0,
            };
            // SAFETY: as above.
            let state = unsafe { prepared.run(programs, state, length, base, first, call.scalars)? };
            // SAFETY: each step has stored its slice of each.
            let stacked = stacked.into_iter().map(|memory| Arc::new(unsafe { memory.assume_written() }));
            return Ok(state.into_iter().chain(stacked).collect());
        }
        let mut stacked =
            self.made[carried..].iter().map(|&bytes| Buffer::zeroed(bytes)).collect::<Result<Vec<_>>>()?;
        let begin = |bytes: &&[u8]| Ok(Some(Arc::new(Buffer::from_bytes(bytes)?)));
        let mut carry = operands[..carried].iter().map(begin).collect::<Result<Carry>>()?;
        let (body, scopes) = (self.programs.len() - 1, RunScopes::of_thread());
        for step in 0.. {
            scopes.look()?;
            let more = match length {
                Some(length) => step < length,
                None => {
                    let mut condition = [Output::Fresh(None)];
                    self.run_inner((0, (step, &[])), operands, (&mut carry, false), &mut condition, call)?;
                    let [condition] = condition;
                    fresh(condition)?.as_bytes().first() == Some(&1)
                }
            };
            if !more {
                break;
            }
            let mut outputs: SmallVec<[Output<'_>; 8]> = (0..carried).map(|_| Output::Fresh(None)).collect();
            for all in &mut stacked {
                let bytes = all.as_bytes_mut()?;
                let slice = bytes.len() / length.unwrap_or(1);
                let at = if let ControlKind::Scan(steps) = self.control.kind { steps.slice(step) } else { step };
                outputs.push(Output::Into(&mut bytes[at * slice..(at + 1) * slice]));
            }
            let index = index(step);
            self.run_inner((body, (step, &index[..bytes])), operands, (&mut carry, true), &mut outputs, call)?;
            for (place, output) in carry.iter_mut().zip(outputs) {
                *place = Some(fresh(output)?);
            }
        }
        Ok(carry.into_iter().flatten().chain(stacked.into_iter().map(Arc::new)).collect())
    }

    /// Whether one kernel runs all steps, on the memory of the results.
    pub fn is_compiled(&self) -> bool {
        self.compiled.is_some()
    }

    /// A compiled loop, ready for calls with these scalars.
    ///
    /// # Errors
    /// Those of passed scalars; `Allocation` if memory for results that nobody uses is refused.
    pub fn ready(&self, scalars: &[(usize, Literal)]) -> Result<Option<ReadyLoop<'_>>> {
        let Some(compiled) = &self.compiled else { return Ok(None) };
        let unused = (0..self.made.len()).filter(|&n| !self.results.contains(&(n as u32)));
        let unused = unused.map(|n| Ok((n, Writable::new(self.made[n])?))).collect::<Result<_>>()?;
        let results = SmallVec::from_elem(std::ptr::null_mut(), self.made.len());
        Ok(Some(ReadyLoop { control: self, call: compiled.call(scalars)?, results, unused }))
    }

    /// Runs a compiled loop on the memory of all its results.
    ///
    /// # Safety
    /// As [`run`](Controller::run); an operand of the state may be the memory of its result.
    unsafe fn run_compiled(&self, call: &mut LoopCall<'_>, operands: &[*mut u8], results: &[*mut u8]) -> Result<()> {
        let carried = self.carried();
        let trips = match self.control.kind {
            ControlKind::Scan(steps) => steps.length,
            ControlKind::For(counts) => {
                // SAFETY: the caller's promise: operands have the sizes of `made_of`.
                let [first, end] = [carried, carried + 1]
                    .map(|n| unsafe { std::slice::from_raw_parts(operands[n].cast_const(), self.operands[n]) });
                usize::try_from(counts.trips(first, end)).unwrap_or(usize::MAX)
            }
            ControlKind::While | ControlKind::Cond => usize::MAX >> 1,
        };
        for ((&from, &to), &bytes) in operands.iter().zip(results).zip(&self.made[..carried]) {
            if from != to {
                // SAFETY: the caller's promise; memory of different arrays does not overlap.
                unsafe { to.copy_from_nonoverlapping(from, bytes) };
            }
        }
        // SAFETY: the caller's promise.
        unsafe { call.run(operands, trips, results) }
    }

    /// Its results, for operands in order.
    ///
    /// # Errors
    /// `Argument` if an operand is too small; those of [`Executable::run`].
    pub fn results(
        &self,
        operands: &[&[u8]],
        scalars: &[(usize, Literal)],
        times: Option<&mut [Timed]>,
    ) -> Result<Vec<Arc<Buffer>>> {
        let given = operands.iter().map(|bytes| bytes.len()).chain(std::iter::repeat(0));
        if let Some(n) = self.operands.iter().zip(given).position(|(&wanted, given)| given < wanted) {
            return Err(Error::new(ErrorCode::Argument, format!("control flow: operand {n} is too small")));
        }
        // A view that begins where its memory does may be longer.
        let operands: SmallVec<[&[u8]; 4]> =
            operands.iter().zip(&self.operands).map(|(bytes, &wanted)| &bytes[..wanted]).collect();
        let operands = &operands[..];
        let between = times.as_ref().and_then(|_| self.programs.first()).map_or(0, |program| program.launches());
        let call = &mut Call { scalars, times, between };
        let all = match self.control.kind {
            ControlKind::Cond => {
                let otherwise = operands.first().and_then(|condition| condition.first()) != Some(&1);
                let mut outputs: Vec<Output<'_>> = self.made.iter().map(|_| Output::Fresh(None)).collect();
                let nothing = (&mut Carry::new(), false);
                self.run_inner((usize::from(otherwise), (0, &[])), operands, nothing, &mut outputs, call)?;
                outputs.into_iter().map(fresh).collect::<Result<_>>()?
            }
            ControlKind::While | ControlKind::Scan(_) | ControlKind::For(_) => self.looped(operands, call)?,
        };
        self.results.iter().map(|&n| all.get(n as usize).cloned().ok_or_else(missing)).collect()
    }

    /// Its results, for operands in memory.
    ///
    /// # Safety
    /// The pointers are those of its operands: each points to as many initialised bytes as [`Control::sizes`] says, which nobody writes
    /// meanwhile.
    ///
    /// # Errors
    /// Those of [`results`](Controller::results).
    pub unsafe fn made_of(
        &self,
        inputs: &[*mut u8],
        scalars: &[(usize, Literal)],
        times: Option<&mut [Timed]>,
    ) -> Result<Vec<Arc<Buffer>>> {
        // SAFETY: the caller's promise.
        let read =
            |(&pointer, &bytes): (&*mut u8, &usize)| unsafe { std::slice::from_raw_parts(pointer.cast_const(), bytes) };
        let given: SmallVec<[&[u8]; 4]> = inputs.iter().zip(&self.operands).map(read).collect();
        self.results(&given, scalars, times)
    }

    /// As [`results`](Controller::results), on memory.
    ///
    /// # Safety
    /// The pointers are those of its operands, then of its outputs, each to as many bytes as [`Control::sizes`] says. Operands are
    /// initialised, and nobody writes them meanwhile; nobody else uses the outputs. An operand of the state of a compiled loop may be its
    /// result's memory.
    ///
    /// # Errors
    /// Those of [`results`](Controller::results).
    pub unsafe fn run(
        &self,
        pointers: &[*mut u8],
        scalars: &[(usize, Literal)],
        times: Option<&mut [Timed]>,
    ) -> Result<()> {
        let (inputs, outputs) = pointers.split_at(self.operands.len());
        if let Some(mut ready) = self.ready(scalars)? {
            // SAFETY: the caller's promise.
            return unsafe { ready.run(pointers) };
        }
        // SAFETY: the caller's promise.
        let results = unsafe { self.made_of(inputs, scalars, times)? };
        for (&output, result) in outputs.iter().zip(&results) {
            let result = result.as_bytes();
            // SAFETY: the caller's promise.
            unsafe { output.copy_from_nonoverlapping(result.as_ptr(), result.len()) };
        }
        Ok(())
    }
}

/// A compiled loop with what its calls have in common.
pub struct ReadyLoop<'a> {
    control: &'a Controller,
    call: LoopCall<'a>,
    /// The address of each result, filled anew by each call.
    results: SmallVec<[*mut u8; 8]>,
    /// Memory of the results that nobody uses.
    unused: SmallVec<[(usize, Writable); 2]>,
}

impl ReadyLoop<'_> {
    /// Calls it.
    ///
    /// # Safety
    /// As [`Controller::run`].
    ///
    /// # Errors
    /// `Panic` if a worker panicked; `Cancelled`.
    pub unsafe fn run(&mut self, pointers: &[*mut u8]) -> Result<()> {
        let (inputs, outputs) = pointers.split_at(self.control.operands.len());
        self.control.results.iter().zip(outputs).for_each(|(&n, &output)| self.results[n as usize] = output);
        self.unused.iter_mut().for_each(|(n, memory)| self.results[*n] = memory.ptr());
        // SAFETY: the caller's promise; unused results are of this call.
        unsafe { self.control.run_compiled(&mut self.call, inputs, &self.results) }
    }
}

/// Arguments of a control-flow call beside its arrays.
struct Call<'a> {
    scalars: &'a [(usize, Literal)],
    /// The times of both graphs' launches.
    times: Option<&'a mut [Timed]>,
    /// How many of these are the first graph's.
    between: usize,
}

impl Call<'_> {
    /// The times of a graph.
    fn times(&mut self, n: usize) -> Option<&mut [Timed]> {
        let (first, second) = self.times.as_deref_mut()?.split_at_mut_checked(self.between)?;
        Some(if n == 0 { first } else { second })
    }
}

fn missing() -> Error {
    Error::new(ErrorCode::Verify, "control flow: a graph gave no result")
}

/// The buffer of a program's result.
fn fresh(output: Output<'_>) -> Result<Arc<Buffer>> {
    match output {
        Output::Fresh(Some(buffer)) => Ok(buffer),
        Output::Fresh(None) | Output::Into(_) | Output::Device(_) => Err(missing()),
    }
}
