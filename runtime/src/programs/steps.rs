//! The steps of a compiled loop: one kernel runs all of them, tile by tile for an array state.
//!
//! Each tile runs all its steps before the next: elements of the state are independent, and those of a tile stay in the cache. Threads
//! share the tiles.

use crate::cancellation::{RunScopes, UNWATCHED};
use crate::execution::code::{CodeOptions, Kernel};
use crate::execution::kernels;
use crate::execution::threads::{Threads, one_by_one};
use crate::programs::literals::Literals;
use ndjit_codegen::clif::{AccumulatorLayout, Cell};
use ndjit_codegen::passes::loops::LoopKernel;
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::{IterationDomain, LoopNest, Role};
use ndjit_ir::{DType, Error, ErrorCode, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// Bytes that a tile reads and writes at each step, which fit the first-level cache. A logistic map of 1e6 `f64` over 1000 steps takes 66
/// ms on one thread, and 135 ms with 64 or 256 KiB.
const TILE_BYTES: usize = 16 << 10;
/// The minimum number of elements of a tile, and a factor of it, if there are as many.
const LEAST: usize = 256;
const GRAIN: usize = 64;

/// The estimate is that of independent elements; steps of scalars, which wait for each other, take several times as long.
const CHAIN: f64 = 5.0;

/// A loop with its kernel.
#[derive(Debug)]
pub struct CompiledLoop {
    kernel: Arc<Kernel>,
    /// Whether it ends when its condition is false.
    leaves: bool,
    extents: SmallVec<[usize; 4]>,
    steps: usize,
    /// Whether memory moves along the steps: then their number is fixed.
    slices: bool,
    /// The operand and offset of each input that is not the state; for a scalar its value.
    inputs: Vec<(Option<u32>, usize)>,
    /// The results that are accumulators.
    accumulators: Vec<u32>,
    /// The result that each other output stores, and the offset in the first step.
    stored: Vec<(Option<u32>, usize)>,
    /// Bytes of each array of the state.
    state: Vec<usize>,
    /// Strides along the loops of the nest, of inputs and then of outputs.
    strides: Vec<isize>,
    literals: Literals,
    cells: SmallVec<[Cell; 4]>,
    /// Bytes of the operands per element of a tile.
    element: usize,
    threads: Threads,
}

/// Pointers of a call.
type StepPointers = SmallVec<[*mut u8; 16]>;

/// Shared by threads, each of which offsets them for its tile.
struct SharedPointers<'a>(&'a [*mut u8]);

// SAFETY: addresses only. Writes through them are justified where the kernel is called.
unsafe impl Sync for SharedPointers<'_> {}

impl CompiledLoop {
    /// The kernel of a loop with operands and results of these sizes in bytes, of which so many are the state; compiled unless the cache
    /// contains it.
    ///
    /// # Errors
    /// `Backend` if code generation fails; `Literal` if a literal does not fit its dtype; `Verify` if it would leave the memory of its
    /// operands.
    pub fn new(
        loops: &LoopKernel,
        (operands, results, carried): (&[usize], &[usize], usize),
        code: CodeOptions,
        threads: &Threads,
    ) -> Result<CompiledLoop> {
        let LoopKernel { nest, form, accumulators, steps, inputs, stored, domain, literals } = loops;
        let leaves = matches!(form, AccumulatorLayout::While { .. });
        check(loops, operands, results, carried)?;
        let own = accumulators.len();
        let slots = literals.iter().map(|(program, slot, dtype)| (&program.simplified, *slot, *dtype));
        let literals = Literals::of(slots)?;
        let cells = literals.registers.iter().map(|&(repr, bits)| Cell::splat(repr, bits)).collect();
        let offsets = domain.inputs[own..].iter().map(|layout| layout.offset);
        let layouts = domain.inputs.iter().chain(&domain.outputs);
        let moving = nest.inputs.iter().zip(&domain.inputs).filter(|(access, layout)| {
            access.role != Role::Index && layout.strides.last().is_some_and(|&stride| stride != 0)
        });
        let memory = nest.inputs.iter().zip(&domain.inputs).chain(nest.outputs.iter().zip(&domain.outputs));
        let mut memory = memory.filter(|(access, _)| access.role != Role::Index);
        Ok(CompiledLoop {
            kernel: kernels::steps(loops, code)?,
            leaves,
            extents: domain.extents.clone(),
            steps: *steps,
            slices: memory.any(|(_, layout)| layout.strides[*steps] != 0),
            inputs: inputs.iter().copied().zip(offsets).collect(),
            accumulators: accumulators.clone(),
            stored: stored.iter().copied().zip(domain.outputs[own..].iter().map(|layout| layout.offset)).collect(),
            state: results[..carried].to_vec(),
            strides: layouts.flat_map(|layout| layout.strides.iter().copied()).collect(),
            literals,
            cells,
            element: moving.map(|(access, _)| access.dtype.bytes()).sum::<usize>().max(1),
            threads: threads.clone(),
        })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// Calls of it with these scalars.
    ///
    /// # Errors
    /// Those of passed scalars.
    pub fn call(&self, scalars: &[(usize, Literal)]) -> Result<LoopCall<'_>> {
        let mut registers = self.cells.clone();
        self.literals.passed(scalars, |at, repr, bits| registers[at] = Cell::splat(repr, bits))?;
        let count = self.accumulators.len() * 2 + self.inputs.len() + self.stored.len();
        Ok(LoopCall {
            loops: self,
            registers,
            extents: self.extents.clone(),
            pointers: StepPointers::with_capacity(count),
        })
    }

    /// Runs the steps of a tile, whose pointers it moves.
    ///
    /// # Safety
    /// As [`Kernel::call`].
    unsafe fn tile(&self, pointers: &mut [*mut u8], extents: &mut [usize], registers: &[Cell]) -> Result<()> {
        let (most, scopes) = (self.unwatched(extents), RunScopes::of_thread());
        let mut left = extents[self.steps];
        loop {
            extents[self.steps] = left.min(most);
            // SAFETY: the caller's promise.
            unsafe { self.kernel.call(pointers, extents, &self.strides, registers)? };
            left -= extents[self.steps];
            // SAFETY: the last output is the condition's byte, which the kernel has stored.
            let ended = self.leaves && pointers.last().is_some_and(|condition| unsafe { **condition } == 0);
            if left == 0 || ended {
                return Ok(());
            }
            scopes.look()?;
            self.advance(pointers, extents[self.steps]);
        }
    }

    /// The number of steps of one call, for the indices of a tile: a call of many steps is cut for looks whether the run is cancelled. The
    /// state between two calls is that in memory.
    fn unwatched(&self, extents: &[usize]) -> usize {
        let indices = extents.iter().enumerate().filter(|(n, _)| *n != self.steps);
        let size = indices.fold(1usize, |all, (_, &extent)| all.saturating_mul(extent));
        ((UNWATCHED / CHAIN / (size as f64 * self.kernel.cost())) as usize).max(1)
    }

    /// Moves pointers on by so many steps.
    fn advance(&self, pointers: &mut [*mut u8], steps: usize) {
        for (pointer, strides) in pointers.iter_mut().zip(self.strides.chunks(self.extents.len())) {
            *pointer = pointer.wrapping_offset(strides[self.steps].wrapping_mul(steps as isize));
        }
    }

    /// A loop with a condition, without machine code: one step after the other, of which the last is discarded.
    ///
    /// # Safety
    /// As [`run`](LoopCall::run), with pointers of the operands of the nest.
    unsafe fn interpreted(
        &self,
        pointers: &[*mut u8],
        extents: &[usize],
        registers: &[Cell],
        results: &[*mut u8],
        more: *const u8,
    ) -> Result<()> {
        let mut extents: SmallVec<[usize; 4]> = SmallVec::from_slice(extents);
        extents[self.steps] = 1;
        // SAFETY: the caller's promise: results of these sizes.
        let read =
            |(&result, &bytes): (&*mut u8, &usize)| unsafe { std::slice::from_raw_parts(result, bytes) }.to_vec();
        let scopes = RunScopes::of_thread();
        loop {
            scopes.look()?;
            let before: Vec<Vec<u8>> = results.iter().zip(&self.state).map(read).collect();
            // SAFETY: as in `run`, for one step.
            unsafe { self.kernel.call(pointers, &extents, &self.strides, registers)? };
            // SAFETY: the condition's byte, which lives as long as the call.
            if unsafe { *more } == 0 {
                for (&result, before) in results.iter().zip(&before) {
                    // SAFETY: the caller's promise.
                    unsafe { result.copy_from_nonoverlapping(before.as_ptr(), before.len()) };
                }
                return Ok(());
            }
        }
    }
}

/// Calls of a compiled loop, one after the other: a loop within a loop is called at each of its steps.
#[derive(Debug)]
pub struct LoopCall<'a> {
    loops: &'a CompiledLoop,
    registers: SmallVec<[Cell; 4]>,
    /// Filled anew by each call.
    extents: SmallVec<[usize; 4]>,
    pointers: StepPointers,
}

impl LoopCall<'_> {
    /// Runs so many steps, or as many as its condition allows. `results` are the initial state, which becomes the final one, and stacked
    /// arrays, all of which are written.
    ///
    /// # Safety
    /// Operands and results point to as many bytes as [`new`](CompiledLoop::new) was told, those of operands and of the state initialised.
    /// Nobody else uses the results meanwhile, or writes the operands. An operand overlaps a result only if it is the initial state there.
    ///
    /// # Errors
    /// `Panic` if a worker panicked; `Cancelled`; `Verify` if slices are not as many as steps.
    pub unsafe fn run(&mut self, operands: &[*mut u8], trips: usize, results: &[*mut u8]) -> Result<()> {
        let loops = self.loops;
        if trips == 0 || loops.extents.iter().enumerate().any(|(n, &extent)| n != loops.steps && extent == 0) {
            return Ok(());
        }
        if loops.slices && trips != loops.extents[loops.steps] {
            return Err(Error::new(ErrorCode::Verify, "loop: its slices are not as many as its steps"));
        }
        let mut more = 0u8;
        self.point(operands, results, &raw mut more);
        self.extents[loops.steps] = trips;
        if loops.leaves && loops.kernel.is_interpreted() {
            // SAFETY: the caller's promise.
            return unsafe {
                loops.interpreted(&self.pointers, &self.extents, &self.registers, results, &raw const more)
            };
        }
        let tiles = StateTiles::new(loops, trips);
        if tiles.count == 1 {
            // SAFETY: as below.
            return unsafe { loops.tile(&mut self.pointers, &mut self.extents, &self.registers) };
        }
        let shared = SharedPointers(&self.pointers);
        let (extents, registers) = (&self.extents, &self.registers);
        let one = |tile: usize| {
            let shared = &shared;
            let (mut own, mut extents) = (StepPointers::from_slice(shared.0), extents.clone());
            tiles.cut(tile, &mut own, &mut extents, &loops.strides);
            // SAFETY: reads and writes lie in memory of operands, state and results: checked when the loop was built, for as many steps as
            // there are slices; if only scalars move along the steps, for any number. Buffers of state and results belong to this call. The
            // state is read and written at the same index, or by one thread, in the order of the steps; tiles have different indices.
            unsafe { loops.tile(&mut own, &mut extents, registers) }
        };
        match tiles.shared {
            false => one_by_one(tiles.count, one),
            true => loops.threads.each(tiles.count, tiles.time, one),
        }
    }

    /// Makes the list of the kernel's pointers. `more` is the condition's byte.
    fn point(&mut self, operands: &[*mut u8], results: &[*mut u8], more: *mut u8) {
        let (loops, pointers) = (self.loops, &mut self.pointers);
        let accumulators = loops.accumulators.iter().map(|&n| results[n as usize]);
        pointers.clear();
        pointers.extend(accumulators.clone());
        pointers.extend(loops.inputs.iter().map(|&(operand, offset)| match operand.map(|operand| operand as usize) {
            Some(operand) if operand < loops.state.len() => results[operand].wrapping_add(offset),
            Some(operand) => operands[operand].wrapping_add(offset),
            None => std::ptr::without_provenance_mut(offset),
        }));
        pointers.extend(accumulators);
        pointers.extend(loops.stored.iter().map(|&(result, offset)| {
            result.map_or(std::ptr::null_mut(), |result| results[result as usize].wrapping_add(offset))
        }));
        // The condition is the last output.
        if let (true, Some(last)) = (loops.leaves, pointers.last_mut()) {
            *last = more;
        }
    }
}

/// Tiling of the state along one loop.
struct StateTiles {
    axis: usize,
    extent: usize,
    len: usize,
    count: usize,
    /// Whether threads share them.
    shared: bool,
    /// Estimated time of all tiles on one thread, ns.
    time: f64,
}

impl StateTiles {
    fn new(loops: &CompiledLoop, trips: usize) -> StateTiles {
        let last = loops.extents.len() - 1;
        let elements = loops.extents.iter().enumerate().filter(|(n, _)| *n != loops.steps);
        let elements = elements.fold(1usize, |all, (_, &extent)| all.saturating_mul(extent));
        let size = elements.saturating_mul(if loops.leaves { 1 } else { trips });
        let pieces = loops.threads.pieces(size, loops.kernel.cost());
        let most = (TILE_BYTES / loops.element).max(LEAST);
        // Along the innermost loop, unless its elements fit one tile and there are other loops.
        let (axis, grain, most) = match loops.steps {
            0 => (last, GRAIN, most),
            _ if loops.steps < last && loops.extents[last] > most => (last, GRAIN, most),
            _ => (0, 1, usize::MAX),
        };
        let extent = if axis == loops.steps { 1 } else { loops.extents[axis] };
        let len = extent.div_ceil(pieces).next_multiple_of(grain).min(most).min(extent).max(1);
        let (count, time) = (extent.div_ceil(len), size as f64 * loops.kernel.cost());
        StateTiles { axis, extent, len, count, shared: pieces > 1 && count > 1, time }
    }

    /// Moves pointers to a tile, and returns its number of indices.
    fn cut(&self, tile: usize, pointers: &mut [*mut u8], extents: &mut [usize], strides: &[isize]) {
        if self.count == 1 {
            return;
        }
        let start = tile * self.len;
        for (pointer, strides) in pointers.iter_mut().zip(strides.chunks(extents.len())) {
            *pointer = pointer.wrapping_offset(strides[self.axis].wrapping_mul(start as isize));
        }
        extents[self.axis] = self.len.min(self.extent - start);
    }
}

/// Checks that all operands lie within these sizes. The state, updated in place at each step, counts as an input.
fn check(loops: &LoopKernel, operands: &[usize], results: &[usize], carried: usize) -> Result<()> {
    let LoopKernel { nest, form, accumulators, inputs, stored, domain, .. } = loops;
    let leaves = matches!(form, AccumulatorLayout::While { .. });
    let wrong = || Error::new(ErrorCode::Verify, "loop: its operands are not those of its graphs");
    let own = accumulators.len();
    let counted = nest.inputs.len() == own + inputs.len() && nest.outputs.len() == own + stored.len();
    if !counted || results.len() < carried || accumulators.iter().any(|&n| n as usize >= carried) {
        return Err(wrong());
    }
    let mut bytes: Vec<usize> = accumulators.iter().map(|&n| results[n as usize]).collect();
    for input in inputs {
        bytes.push(match input.map(|operand| operand as usize) {
            Some(operand) if operand < carried => results[operand],
            Some(operand) => *operands.get(operand).ok_or_else(wrong)?,
            None => 0,
        });
    }
    let (mut accesses, mut layouts, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for (n, &result) in (own..).zip(stored) {
        let access = nest.outputs[n];
        match (access.role, result) {
            (Role::Memory, Some(result)) => {
                accesses.push(access);
                layouts.push(domain.outputs[n].clone());
                sizes.push(*results.get(result as usize).ok_or_else(wrong)?);
            }
            // Stored where the rows of the same array lie.
            (Role::Rows, Some(result)) => {
                let rows = nest.address_of(n).and_then(|input| (input as usize).checked_sub(own));
                if rows.and_then(|input| *inputs.get(input)?) != Some(result) || result as usize >= carried {
                    return Err(wrong());
                }
            }
            // The condition.
            (Role::Memory, None) if leaves && n + 1 == nest.outputs.len() && access.dtype == DType::Bool => {}
            (Role::Index, None) => {}
            _ => return Err(wrong()),
        }
    }
    let read = LoopNest { outputs: accesses, ..LoopNest::clone(nest) };
    let domain = IterationDomain { outputs: layouts, ..domain.clone() };
    domain.verify(&read, &bytes, &sizes)
}
