//! A kernel of a program with the arguments known before a call.

use crate::execution::calls::{CallRecording, CallSink, symbol};
use crate::execution::code::{Kernel, KernelOperands, RecordedLoop};
use crate::execution::cost;
use crate::execution::threads::{Chunk, Split, Threads};
use crate::programs::literals::Literals;
use crate::programs::prepared::StepRecording;
use crate::programs::scratch::OperandRanges;
use crate::programs::step_plan::{RangePlan, StepPlan};
use crate::programs::tiles::{PerIndex, Touched};
use ndjit_codegen::TileLoop;
use ndjit_codegen::clif::Cell;
use ndjit_ir::Result;
use smallvec::SmallVec;
use std::sync::Arc;

/// A kernel with the run-time arguments known before a call.
#[derive(Debug)]
pub struct BoundKernel {
    pub kernel: Arc<Kernel>,
    pub extents: SmallVec<[usize; 4]>,
    pub literals: Literals,
    /// Their registers.
    pub cells: SmallVec<[Cell; 4]>,
    /// Estimated time per index, ns.
    pub cost: f64,
    pub split: Option<Split>,
    /// The tiled loop, in a launch of several kernels.
    pub tile: Option<TileLoop>,
    /// The operands in tile memory, each with the bytes of an index.
    pub local: SmallVec<[(usize, usize); 2]>,
}

impl BoundKernel {
    /// Computes some indices of one loop, of loops of these extents, on the calling thread.
    ///
    /// # Safety
    /// As [`Kernel::call`] and [`Reducer::run`](crate::execution::reduce::Reducer::run), for these indices.
    pub unsafe fn call_chunk(
        &self,
        extents: &[usize],
        strides: &[isize],
        pointers: &[*mut u8],
        literals: &[Cell],
        chunk: Chunk,
    ) -> Result<()> {
        let rank = extents.len();
        let mut extents: SmallVec<[usize; 4]> = SmallVec::from_slice(extents);
        extents[chunk.axis] = chunk.len;
        let moved = |(n, pointer): (usize, &*mut u8)| {
            pointer.wrapping_offset(strides[n * rank + chunk.axis].wrapping_mul(chunk.start as isize))
        };
        let pointers: SmallVec<[*mut u8; 32]> = pointers.iter().enumerate().map(moved).collect();
        // SAFETY: the caller's promise.
        unsafe {
            match self.kernel.composed() {
                None => self.kernel.call(&pointers, &extents, strides, literals),
                Some(composed) => composed.run(
                    KernelOperands { pointers: &pointers, extents: &extents, strides, literals },
                    &Threads::Serial,
                ),
            }
        }
    }

    /// The calls of a step's kernel on the calling thread, if they are few.
    pub fn record(&self, step: &StepPlan, threads: &Threads) -> Option<StepRecording> {
        let BoundKernel { kernel, extents, split: None, .. } = self else { return None };
        let pointers: SmallVec<[*mut u8; 16]> = (0..step.inputs.len() + step.outputs.len()).map(symbol).collect();
        let operands = KernelOperands { pointers: &pointers, extents, strides: &step.strides, literals: &[] };
        let mut calls = CallRecording::default();
        let composed = kernel.composed();
        let changed = |range: &RangePlan| match composed {
            None => Some(RecordedLoop::Extent(range.index)),
            Some(composed) => composed.recorded(range.index, extents, threads),
        };
        let ranges = step.ranges.iter().map(changed).collect::<Option<_>>()?;
        let recorded = match composed {
            // SAFETY: a recording reads and writes nothing.
            None => unsafe { calls.call(kernel, &pointers, extents, &step.strides).is_ok() },
            Some(composed) => matches!(composed.record(operands, threads, &mut calls), Ok(true)),
        };
        (recorded && !step.empty).then_some(StepRecording { calls, ranges })
    }

    /// Bytes of scratch memory, at most: for all its indices, or for so many along the tiled axis.
    pub fn scratch(&self, step: &StepPlan, tile: Option<usize>, threads: &Threads) -> usize {
        let Some(composed) = self.kernel.composed() else { return 0 };
        let mut extents: SmallVec<[usize; 4]> = self.extents.clone();
        if let (Some(axis), Some(len)) = (self.tile, tile) {
            extents[axis.index] = len * axis.step;
        }
        composed.scratch(&extents, step.outputs.first().map_or(0, |output| output.bytes), threads)
    }

    /// Number of indices of its loops.
    pub fn elements(&self) -> f64 {
        self.extents.iter().fold(1.0, |n, &extent| n * extent as f64)
    }

    /// Estimated time per index of a step's kernel, ns. A map overlaps memory and work, and finds what neighbouring indices read too in the
    /// first cache: of a stencil of 126 x 126 `f64` on two arrays the sum of all times was 14 us, and it took 3.2; two threads took 4.5.
    pub fn estimate(kernel: &Kernel, step: &StepPlan) -> f64 {
        if let Some(composed) = kernel.composed() {
            return composed.cost();
        }
        let nest = kernel.nest();
        let sizes = nest.inputs.iter().chain(&nest.outputs).map(|access| access.dtype.bytes());
        let all = cost::of_bytes(sizes.sum());
        let again =
            |n: usize| step.inputs[n].0.is_some() && step.inputs[..n].iter().any(|own| own.0 == step.inputs[n].0);
        let inputs = nest.inputs.iter().take(step.inputs.len()).enumerate();
        let read_again: usize = inputs.filter(|&(n, _)| again(n)).map(|(_, access)| access.dtype.bytes()).sum();
        let (memory, work) = (all - 0.75 * cost::of_bytes(read_again), kernel.cost() - all);
        memory.max(work) + 0.25 * memory.min(work)
    }

    /// The work per index along the tiled axis.
    pub fn per_index(&self, step: &StepPlan) -> PerIndex {
        let Some(tile) = self.tile else { return PerIndex::default() };
        let nest = self.kernel.nest();
        let rank = self.extents.len();
        let trips = |index: usize| if index == tile.index { tile.step } else { self.extents[index] };
        let inputs = step.inputs.iter().map(|(location, _)| *location);
        let locations = inputs.chain(step.outputs.iter().map(|output| Some(output.location)));
        let accesses = nest.inputs.iter().chain(&nest.outputs).zip(step.strides.chunks(rank));
        let operands = locations.zip(accesses).map(|(location, (access, strides))| {
            let moving = (0..rank).filter(|&index| strides[index] != 0 && !access.is_index());
            let bytes = moving.fold(access.dtype.bytes(), |bytes, index| bytes.saturating_mul(trips(index)));
            Touched { location, bytes, own: strides[tile.index] != 0 }
        });
        let elements = (0..rank).fold(1.0, |n, index| n * trips(index) as f64);
        let slabs = |strides: &[isize]| {
            let own = strides[tile.index].unsigned_abs();
            own == 0 || strides.iter().all(|stride| stride.unsigned_abs() <= own)
        };
        PerIndex {
            operands: operands.collect(),
            time: elements * self.cost,
            slabs: step.strides.chunks(rank).all(slabs),
            least: self.kernel.composed().and_then(|composed| composed.least(&step.strides, tile.index)),
        }
    }

    /// The registers of the literals: those known before calls, or those of this call.
    pub fn registers<'a>(&'a self, ready: &OperandRanges, passed: &'a [Cell]) -> &'a [Cell] {
        ready.registers.clone().map_or(&self.cells, |range| &passed[range])
    }
}

/// Pointers shared with chunks on other threads.
pub struct Pointers<'a>(pub &'a [*mut u8]);

impl Pointers<'_> {
    /// All of them.
    pub fn get(&self) -> &[*mut u8] {
        self.0
    }
}

// SAFETY: addresses only. Writes through them are justified where the kernel is called.
unsafe impl Sync for Pointers<'_> {}
