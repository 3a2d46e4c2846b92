//! A lowered program with its kernels compiled, ready to run.
//!
//! Everything that can be decided before a call is decided in [`Executable::new`]; a call checks its arguments, takes memory
//! from the pool, and runs the kernels.

use crate::execution::code::{CodeOptions, Kernel, KernelCode, KernelOperands};
use crate::execution::drivers;
use crate::execution::threads::{Chunk, Split, Threads, catch};
use crate::memory::buffer::Writable;
use crate::programs::bound::{BoundKernel, Pointers};
use crate::programs::call::{Argument, Donations, Output, RunOptions, Timed};
use crate::programs::control::{Controller, ReadyLoop};
use crate::programs::indices;
use crate::programs::literals::Literals;
use crate::programs::plan::{BufferPlan, LaunchPlan};
use crate::programs::planned::{MemoryFootprint, PlannedBodies, PlannedControl, PlannedProgram, arrays, controls};
use crate::programs::prepared::{LoopProgram, StepRecording};
use crate::programs::regions;
use crate::programs::run::{StepRunner, run};
use crate::programs::scratch::{Lists, OperandRanges};
use crate::programs::step_plan::{StepPlan, wrong};
use crate::programs::storage::{MemoryUse, Storage};
use crate::programs::tiles::{LaunchTiles, PerIndex};
use ndjit_codegen::clif::Cell;
use ndjit_codegen::{Lowered, LoweredStep};
use ndjit_ir::Result;
use ndjit_ir::literal::Literal;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A lowered program with its kernels compiled. `Send + Sync`; any number of threads may run it at once.
#[derive(Debug)]
pub struct Executable {
    plan: BufferPlan,
    steps: Vec<Bound>,
    /// The tiles of each launch of the plan, if it is tiled.
    tiles: Vec<Option<LaunchTiles>>,
    threads: Threads,
    counts: RunCounters,
}

/// Counters over the runs of a program.
#[derive(Debug, Default)]
struct RunCounters {
    in_place: AtomicU64,
    given: AtomicU64,
    taken: AtomicU64,
}

impl RunCounters {
    fn add(&self, MemoryUse { in_place, given, taken }: MemoryUse) {
        for (count, more) in [(&self.in_place, in_place), (&self.given, given), (&self.taken, taken)] {
            if more > 0 {
                count.fetch_add(more, Relaxed);
            }
        }
    }
}

/// The memory of a program's control flow, whose graphs' programs at a step are `bodies`.
///
/// # Errors
/// None for the form they were compiled from.
pub(crate) fn planned_controls<'a>(
    lowered: &Lowered,
    known: &mut PlannedBodies,
    bodies: &dyn Fn(usize) -> &'a [Arc<Executable>],
) -> Result<Vec<PlannedControl>> {
    controls(lowered, known, &mut |(step, n), body, known| {
        let program = bodies(step).get(n).ok_or_else(|| wrong(step, format_args!("it was compiled otherwise")))?;
        program.planned(body, known)
    })
}

/// The programs of graphs of control flow, by address.
pub(crate) type InnerPrograms = FxHashMap<*const Lowered, Arc<Executable>>;

impl Executable {
    /// Compiles the kernels that the cache does not contain.
    ///
    /// # Errors
    /// `Backend` if code generation fails; `Literal` if a literal does not fit its dtype; `Verify` if a kernel of the program would leave
    /// its operands' memory.
    pub fn new(lowered: &Lowered, options: &RunOptions) -> Result<Executable> {
        Executable::with_threads(lowered, options, &Threads::new(options.threads), &mut InnerPrograms::default())
    }

    /// As [`new`](Executable::new), with existing threads.
    fn with_threads(
        lowered: &Lowered,
        options: &RunOptions,
        threads: &Threads,
        bodies: &mut InnerPrograms,
    ) -> Result<Executable> {
        let mut plan = BufferPlan::new(lowered)?;
        let code = CodeOptions { vector: options.vector, execution: options.execution };
        let mut steps = Vec::with_capacity(lowered.steps.len());
        for step in &lowered.steps {
            let scheduled = match step {
                LoweredStep::Kernel(kernel) => &kernel.scheduled,
                LoweredStep::Control(control) => {
                    let compile = |body: &_| Executable::body(body, options, threads, bodies);
                    let controller = Controller::new(control, (code, threads), compile)?;
                    steps.push(Bound::Control(Box::new(controller)));
                    continue;
                }
            };
            let kernel = drivers::get(&scheduled.nest, code)?;
            let literals = Literals::new(lowered, scheduled)?;
            let cells = literals.registers.iter().map(|&(repr, bits)| Cell::splat(repr, bits)).collect();
            let extents = scheduled.domain.extents.clone();
            let cost = BoundKernel::estimate(&kernel, &plan.steps[steps.len()]);
            let split = match kernel.composed() {
                None => Split::new(&extents, cost, threads),
                Some(_) => None,
            };
            let (tile, local) = (scheduled.tile, SmallVec::new());
            steps.push(Bound::Kernel(BoundKernel { kernel, extents, literals, cells, cost, split, tile, local }));
        }
        let mut tiles = Vec::with_capacity(plan.launches.len());
        for LaunchPlan { steps: own, cut } in &plan.launches {
            let kernels = steps[own.clone()].iter().zip(&plan.steps[own.clone()]);
            let work: SmallVec<[PerIndex; 8]> =
                kernels.filter_map(|(bound, step)| Some(bound.kernel()?.per_index(step))).collect();
            tiles.push(match options.tile {
                _ if cut.indices < 2 => None,
                Some(len) => Some(LaunchTiles::of(cut.indices, len)),
                None => LaunchTiles::new(cut.indices, &work, threads),
            });
        }
        if tiles.iter().flatten().any(|tiles| tiles.count() > 1) {
            let lengths: Vec<Option<usize>> = tiles.iter().map(|tiles| tiles.map(|tiles| tiles.get(0).1)).collect();
            plan.assign(&lengths)?;
            for (bound, step) in steps.iter_mut().zip(&plan.steps) {
                if let Bound::Kernel(kernel) = bound {
                    kernel.local = plan.assignment.local(step);
                }
            }
        }
        Ok(Executable { plan, steps, tiles, threads: threads.clone(), counts: RunCounters::default() })
    }

    /// The program of a graph of control flow.
    ///
    /// # Errors
    /// Those of [`new`](Executable::new).
    pub(crate) fn body(
        lowered: &Arc<Lowered>,
        options: &RunOptions,
        threads: &Threads,
        known: &mut InnerPrograms,
    ) -> Result<Arc<Executable>> {
        if let Some(known) = known.get(&Arc::as_ptr(lowered)) {
            return Ok(Arc::clone(known));
        }
        let program = Arc::new(Executable::with_threads(lowered, options, threads, known)?);
        known.insert(Arc::as_ptr(lowered), Arc::clone(&program));
        Ok(program)
    }

    /// Its own kernels, in execution order, without those of control flow.
    pub fn kernels(&self) -> impl Iterator<Item = &Arc<Kernel>> {
        self.steps.iter().filter_map(Bound::kernel).map(|bound| &bound.kernel)
    }

    /// Calls `of` with each launch's program and index, in the order of [`Lowered::all_launches`].
    fn each_launch<R>(&self, of: &impl Fn(&Executable, usize) -> R, all: &mut Vec<R>) {
        for (n, launch) in self.plan.launches.iter().enumerate() {
            all.push(of(self, n));
            for body in self.steps[launch.steps.clone()].iter().flat_map(Bound::bodies) {
                body.each_launch(of, all);
            }
        }
    }

    /// The number of launches, including those of control flow.
    pub(crate) fn launches(&self) -> usize {
        let bodies = self.steps.iter().flat_map(Bound::bodies);
        self.plan.launches.len() + bodies.map(|body| body.launches()).sum::<usize>()
    }

    /// The kernels of each launch, in the order of [`Lowered::all_launches`].
    pub fn launched_kernels(&self) -> Vec<Vec<Arc<dyn KernelCode>>> {
        let mut all = Vec::new();
        let kernels = |program: &Executable, launch: usize| {
            let bound = &program.steps[program.plan.launches[launch].steps.clone()];
            bound.iter().filter_map(Bound::code).map(|kernel| Arc::clone(kernel) as Arc<dyn KernelCode>).collect()
        };
        self.each_launch(&kernels, &mut all);
        all
    }

    /// Estimated time of each launch, ns, in the order of [`Lowered::all_launches`]: it decides whether threads share the launch.
    pub fn estimates(&self) -> Vec<f64> {
        let mut all = Vec::new();
        self.each_launch(&|program: &Executable, launch| program.estimate(launch), &mut all);
        all
    }

    fn estimate(&self, launch: usize) -> f64 {
        let count = self.threads.count();
        let (launch, tiles) = (&self.plan.launches[launch], &self.tiles[launch]);
        let steps = &self.steps[launch.steps.clone()];
        let alone: f64 = steps.iter().map(Bound::estimate).sum();
        let pieces = match (tiles, steps) {
            (Some(tiles), _) if tiles.parallel => tiles.count(),
            (None, [Bound::Kernel(kernel)]) => self.threads.pieces(kernel.elements() as usize, kernel.cost),
            _ => 1,
        };
        alone / pieces.clamp(1, count) as f64
    }

    /// The number of kernel results that took the memory of an operand, over all runs.
    pub fn in_place(&self) -> u64 {
        self.counts.in_place.load(Relaxed)
    }

    /// Counters of donated arguments, over all runs.
    pub fn donations(&self) -> Donations {
        Donations { given: self.counts.given.load(Relaxed), taken: self.counts.taken.load(Relaxed) }
    }

    /// The memory of the program, with that of its control flow; `lowered` is its lowered form. Recursion is bounded by the nesting of
    /// control flow.
    ///
    /// # Errors
    /// None for the form it was compiled from.
    pub fn planned(&self, lowered: &Lowered, known: &mut PlannedBodies) -> Result<PlannedProgram> {
        let controls = planned_controls(lowered, known, &|step| self.steps.get(step).map_or(&[], Bound::bodies))?;
        Ok(PlannedProgram { arrays: arrays(&self.plan, lowered), memory: self.memory(), controls })
    }

    /// The memory that a run takes beside its arguments, without donation.
    pub fn memory(&self) -> MemoryFootprint {
        let scratch: Vec<usize> = (0..self.plan.launches.len()).map(|launch| self.scratch(launch)).collect();
        MemoryFootprint::new(&self.plan, &scratch)
    }

    /// Scratch bytes of a launch's kernels, at most.
    fn scratch(&self, launch: usize) -> usize {
        let steps = self.plan.launches[launch].steps.clone();
        let of = |chunk: Option<usize>, threads: &Threads| {
            let steps = self.steps[steps.clone()].iter().zip(&self.plan.steps[steps.clone()]);
            let each = steps.map(|(bound, step)| bound.scratch(step, chunk, threads));
            each.max().unwrap_or(0)
        };
        match &self.tiles[launch] {
            None => of(None, &self.threads),
            // The last tile may be shorter.
            Some(tiles) => {
                let each = [0, tiles.count() - 1].map(|tile| of(Some(tiles.get(tile).1), &Threads::Serial));
                let at_once = if tiles.parallel { self.threads.count().min(tiles.count()) } else { 1 };
                let tile = self.plan.assignment.tiles.get(launch).map_or(0, |tile| tile.bytes);
                each[0].max(each[1]).saturating_add(tile).saturating_mul(at_once)
            }
        }
    }

    /// Runs the program. `scalars` are the values of the [`Slot::Argument`](ndjit_ir::graph::Slot::Argument) slots, by argument index.
    ///
    /// # Errors
    /// `Arity` if the number of arguments, scalars or outputs differs from the program's; `Argument` if an argument is smaller than its
    /// layout, an output has the wrong size, or a scalar is of another kind; `Literal` if a scalar does not fit its dtype; `Allocation` if
    /// memory is refused; `Panic` if a worker panicked.
    pub fn run<'a>(
        &self,
        arguments: impl IntoIterator<Item = Argument<'a>>,
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
    ) -> Result<()> {
        self.run_into(arguments, scalars, outputs, None)
    }

    /// Runs the program; adds to the times of launches, if given.
    pub(crate) fn run_into<'a>(
        &self,
        arguments: impl IntoIterator<Item = Argument<'a>>,
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
        times: Option<&mut [Timed]>,
    ) -> Result<()> {
        let storage = Storage::new(&self.plan, arguments, outputs)?;
        let mut here = HostRun { program: self, scalars, storage };
        run(&self.plan, &mut here, times)?;
        // SAFETY: all kernels have run.
        let used = unsafe { here.storage.publish(outputs)? };
        self.counts.add(used);
        Ok(())
    }

    /// Finds a step's pointers and literals, and memory for its outputs.
    fn ready(&self, n: usize, scalars: &[(usize, Literal)], storage: &mut Storage<'_, '_>) -> Result<OperandRanges> {
        let pointers = storage.pointers(&self.plan.steps[n])?;
        let Bound::Kernel(BoundKernel { literals, cells, .. }) = &self.steps[n] else {
            return Ok(OperandRanges { pointers, registers: None });
        };
        let registers = &mut storage.scratch.lists.registers;
        let passed = registers.len();
        if !literals.known() {
            registers.extend_from_slice(cells);
            let own = &mut registers[passed..];
            literals.passed(scalars, |at, repr, bits| own[at] = Cell::splat(repr, bits))?;
        }
        let registers = (!literals.known()).then_some(passed..registers.len());
        Ok(OperandRanges { pointers, registers })
    }

    /// Runs one step.
    fn run_step(
        &self,
        n: usize,
        scalars: &[(usize, Literal)],
        storage: &mut Storage<'_, '_>,
        times: Option<&mut [Timed]>,
    ) -> Result<()> {
        let (step, bound) = (&self.plan.steps[n], &self.steps[n]);
        storage.scratch.lists.clear_launch();
        if let Bound::Control(control) = bound
            && !control.is_compiled()
        {
            let inputs = storage.inputs(step);
            let inputs = &storage.scratch.lists.pointers[inputs];
            // SAFETY: as below, for operands; the plan has checked that they have the bytes of its graphs' parameters.
            let made = catch(|| unsafe { control.made_of(inputs, scalars, times) })?;
            for (output, made) in step.outputs.iter().zip(made) {
                storage.put(output, made)?;
            }
            storage.release_last_used(step);
            return Ok(());
        }
        let rest = step.rest.as_ref().map(|rest| storage.pointer(rest.location));
        let ready = self.ready(n, scalars, storage)?;
        let Lists { pointers, registers, .. } = &*storage.scratch.lists;
        let registers = bound.kernel().map_or(&[][..], |kernel| kernel.registers(&ready, registers));
        // SAFETY: the storage has memory for each operand, as planned: an earlier step or the caller filled the inputs; the outputs belong
        // to this run.
        unsafe { self.call(n, &pointers[ready.pointers], rest, registers, scalars, times)? };
        storage.release_last_used(step);
        Ok(())
    }

    /// Runs kernels tile by tile. All memory is allocated before the first tile, and freed after the last.
    fn run_tiles(
        &self,
        launch: usize,
        tiles: &LaunchTiles,
        scalars: &[(usize, Literal)],
        storage: &mut Storage<'_, '_>,
    ) -> Result<()> {
        let steps = self.plan.launches[launch].steps.clone();
        let memory = self.plan.assignment.tiles.get(launch).map_or(0, |tile| tile.bytes);
        storage.scratch.lists.clear_launch();
        for n in steps.clone() {
            let ready = self.ready(n, scalars, storage)?;
            storage.scratch.lists.ready.push(ready);
        }
        let Lists { ready: all, pointers, registers, .. } = &*storage.scratch.lists;
        let shared = Pointers(pointers);
        let one = |tile: usize| {
            let (start, len) = tiles.get(tile);
            let mut own = if memory > 0 { Some(Writable::new(memory)?) } else { None };
            for (n, ready) in steps.clone().zip(all) {
                let step = &self.plan.steps[n];
                // Control flow has launches of its own.
                let Some(bound) = self.steps[n].kernel() else { continue };
                let (Some(tile), false) = (bound.tile, step.empty) else { continue };
                let chunk = Chunk { axis: tile.index, start: start * tile.step, len: len * tile.step };
                let mut pointers: SmallVec<[*mut u8; 32]> = SmallVec::from_slice(&shared.get()[ready.pointers.clone()]);
                pointers.truncate(step.inputs.len() + step.outputs.len());
                for &(operand, row) in &bound.local {
                    let base = own.as_mut().map_or(std::ptr::null_mut(), Writable::ptr);
                    pointers[operand] = base.wrapping_add(pointers[operand].addr()).wrapping_sub(start * row);
                }
                // SAFETY: as in `launch`, for some of the kernel's indices. Tiles of one index are computed one kernel after the other, and
                // the plan has checked that no kernel accesses, in the memory of another tile, bytes that a kernel of this launch writes.
                // Tile memory has a row for each index: the pointers are those of the array if it had all rows.
                unsafe {
                    bound.call_chunk(
                        &bound.extents,
                        &step.strides,
                        &pointers,
                        bound.registers(ready, registers),
                        chunk,
                    )?
                };
            }
            Ok(())
        };
        let threads = if tiles.parallel { &self.threads } else { &Threads::Serial };
        threads.each(tiles.count(), tiles.time, one)?;
        steps.for_each(|n| storage.release_last_used(&self.plan.steps[n]));
        Ok(())
    }

    /// Runs a kernel whose loops have these extents: all indices, or a range.
    fn launch(
        &self,
        bound: &BoundKernel,
        extents: &[usize],
        strides: &[isize],
        pointers: &[*mut u8],
        literals: &[Cell],
    ) -> Result<()> {
        let BoundKernel { kernel, split, .. } = bound;
        let own = (split.is_some() && extents != &bound.extents[..])
            .then(|| Split::new(extents, bound.cost, &self.threads))
            .flatten();
        let Some(split) = own.as_ref().or(split.as_ref().filter(|_| extents == &bound.extents[..])) else {
            let call = || {
                // SAFETY: the plan has checked that every index of the extents stays within each operand's memory: for arguments the
                // storage has that size, for outputs the assignment. Inputs are initialised: they are buffers, slices, or outputs that an
                // earlier kernel filled densely. Outputs belong to this run only (fresh memory, exclusive slices, buffers without another
                // owner) and overlap no live array. They overlap an input only in the same layout, and never if the kernel reduces or
                // scans.
                unsafe {
                    match kernel.composed() {
                        None => kernel.call(pointers, extents, strides, literals),
                        Some(composed) => {
                            composed.run(KernelOperands { pointers, extents, strides, literals }, &self.threads)
                        }
                    }
                }
            };
            return if kernel.is_compiled() { call() } else { catch(call) };
        };
        let pointers = Pointers(pointers);
        self.threads.run(split, |chunk| {
            // SAFETY: as above; the chunk's indices are some of the kernel's, and chunks write disjoint memory: outputs are dense, and an
            // input in an output's memory has its layout.
            unsafe { bound.call_chunk(extents, strides, pointers.get(), literals, chunk) }
        })
    }
}

impl LoopProgram for Executable {
    unsafe fn call(
        &self,
        n: usize,
        pointers: &[*mut u8],
        rest: Option<*mut u8>,
        registers: &[Cell],
        scalars: &[(usize, Literal)],
        times: Option<&mut [Timed]>,
    ) -> Result<()> {
        let (step, bound) = (&self.plan.steps[n], &self.steps[n]);
        let (pointers, indices) = pointers.split_at(step.inputs.len() + step.outputs.len());
        if let (Some(rest), Some(from), [output], Some(last)) = (&step.rest, rest, &step.outputs[..], pointers.last()) {
            let to = last.wrapping_sub(output.offset);
            if from != to {
                // SAFETY: the plan has checked that both arrays contain the copied bytes; the caller's promise. They are the same memory or
                // disjoint.
                unsafe { regions::copy(&rest.copies, from, to, &self.threads)? };
            }
        }
        if step.empty {
            return Ok(());
        }
        let mut moved: SmallVec<[*mut u8; 16]> = SmallVec::new();
        let (rows, ends) = indices.split_at(step.rows.len());
        let pointers = match rows {
            [] if ends.is_empty() => pointers,
            rows => {
                moved.extend_from_slice(pointers);
                // SAFETY: the caller's promise.
                if !unsafe { indices::begin(&step.rows, rows, &mut moved, step.inputs.len()) } {
                    return Ok(());
                }
                &moved
            }
        };
        match bound {
            Bound::Kernel(kernel) if ends.is_empty() => {
                self.launch(kernel, &kernel.extents, &step.strides, pointers, registers)
            }
            Bound::Kernel(kernel) => {
                let mut extents = kernel.extents.clone();
                // SAFETY: the caller's promise.
                unsafe { indices::restrict(&step.ranges, ends, &mut extents, &step.strides, &mut moved) };
                self.launch(kernel, &extents, &step.strides, &moved, registers)
            }
            // SAFETY: the plan has checked that operands and outputs have the bytes of its graphs; the rest as in `launch`. Its programs
            // answer for themselves.
            Bound::Control(control) => catch(|| unsafe { control.run(pointers, scalars, times) }),
        }
    }

    fn record(&self, n: usize) -> Option<StepRecording> {
        self.steps[n].kernel()?.record(&self.plan.steps[n], &self.threads)
    }

    fn registers(&self, scalars: &[(usize, Literal)]) -> Result<Vec<SmallVec<[Cell; 4]>>> {
        let of = |bound: &Bound| {
            let Some(kernel) = bound.kernel() else { return Ok(SmallVec::new()) };
            let mut own = kernel.cells.clone();
            kernel.literals.passed(scalars, |at, repr, bits| own[at] = Cell::splat(repr, bits))?;
            Ok(own)
        };
        self.steps.iter().map(of).collect()
    }

    fn ready(&self, n: usize, scalars: &[(usize, Literal)]) -> Result<Option<ReadyLoop<'_>>> {
        match &self.steps[n] {
            Bound::Control(control) => control.ready(scalars),
            Bound::Kernel(_) => Ok(None),
        }
    }

    fn plan(&self) -> &BufferPlan {
        &self.plan
    }

    fn runs_in_tiles(&self, launch: usize) -> bool {
        self.tiles[launch].is_some()
    }

    fn count(&self, used: MemoryUse) {
        self.counts.add(used);
    }
}

/// A step of a program.
#[derive(Debug)]
// Almost every step is a kernel: a box for each would save nothing.
#[allow(clippy::large_enum_variant)]
enum Bound {
    Kernel(BoundKernel),
    Control(Box<Controller>),
}

impl Bound {
    /// The kernel, if it is one.
    fn kernel(&self) -> Option<&BoundKernel> {
        match self {
            Bound::Kernel(kernel) => Some(kernel),
            Bound::Control(_) => None,
        }
    }

    /// The kernel, or the kernel of a compiled loop's steps.
    fn code(&self) -> Option<&Arc<Kernel>> {
        match self {
            Bound::Kernel(kernel) => Some(&kernel.kernel),
            Bound::Control(control) => control.kernel(),
        }
    }

    /// The programs of control flow's graphs.
    fn bodies(&self) -> &[Arc<Executable>] {
        match self {
            Bound::Kernel(_) => &[],
            Bound::Control(control) => control.programs(),
        }
    }

    /// Bytes of scratch memory, at most: for all its indices, or for so many along the tiled axis.
    fn scratch(&self, step: &StepPlan, tile: Option<usize>, threads: &Threads) -> usize {
        match self {
            Bound::Kernel(kernel) => kernel.scratch(step, tile, threads),
            Bound::Control(control) => control.scratch(),
        }
    }

    /// Estimated time on one thread, ns. The trip count of control flow is unknown: it counts as one call.
    fn estimate(&self) -> f64 {
        self.kernel().map_or(1000.0, |kernel| kernel.elements() * kernel.cost)
    }
}

/// A run on the processor.
struct HostRun<'r, 'p, 'a> {
    program: &'p Executable,
    scalars: &'r [(usize, Literal)],
    storage: Storage<'p, 'a>,
}

impl StepRunner for HostRun<'_, '_, '_> {
    fn step(&mut self, n: usize, times: Option<&mut [Timed]>) -> Result<()> {
        self.program.run_step(n, self.scalars, &mut self.storage, times)
    }

    fn inner(&self, n: usize) -> usize {
        self.program.steps[n].bodies().iter().map(|body| body.launches()).sum()
    }

    fn tiles(&mut self, launch: usize) -> Result<bool> {
        let Some(tiles) = &self.program.tiles[launch] else { return Ok(false) };
        self.program.run_tiles(launch, tiles, self.scalars, &mut self.storage)?;
        Ok(true)
    }

    fn launched(&mut self, launch: usize) {
        self.storage.launched(launch);
    }
}
