//! The memory of a program's arrays, for inspection.

pub use crate::programs::assignment::{Allocation, BufferSlice};
use crate::programs::plan::BufferPlan;
use ndjit_codegen::{Lowered, LoweredControl, LoweredStep};
use ndjit_ir::graph::{Control, ControlKind, Value};
use ndjit_ir::{DType, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// An array of a program, with its planned memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedArray {
    /// The simplified graph's value.
    pub value: Value,
    /// Its size in bytes; for a parameter, the bytes read.
    pub bytes: usize,
    /// The first step that stores it; `None` for a parameter.
    pub made: Option<usize>,
    /// The last step that reads it, or else stores it; `None` for an unread parameter.
    pub last: Option<usize>,
    /// Indices in the list of the arrays whose memory it may take: parameters if they are donated and have no other owner.
    pub takes: Vec<usize>,
    /// Its memory in a run on the processor; `None` for a parameter.
    pub slice: Option<BufferSlice>,
    /// Its index among the results.
    pub result: Option<usize>,
}

/// The memory that a run takes beside its arguments, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryFootprint {
    /// Arrays stored by kernels: results and temporaries.
    pub arrays: usize,
    /// Bytes of the results.
    pub results: u64,
    /// Bytes of all temporaries, as if each had memory of its own.
    pub temporaries: u64,
    /// Bytes of the arena, for temporaries outside the memory of results.
    pub arena: u64,
    /// Scratch bytes of kernels, at most: accumulators of reductions, tile memory, the state of loops, and the arrays of programs of
    /// control flow.
    pub scratch: u64,
    /// Bytes held at once, at most.
    pub peak: u64,
}

impl MemoryFootprint {
    /// The footprint of a plan on the processor, with the scratch memory of each launch.
    pub(crate) fn new(plan: &BufferPlan, scratch: &[usize]) -> MemoryFootprint {
        let scratched = scratch.iter().copied().max().unwrap_or(0) as u64;
        let mut memory = MemoryFootprint { scratch: scratched, peak: 0, ..MemoryFootprint::of_arrays(plan) };
        let assignment = &plan.assignment;
        memory.arena = assignment.arena as u64;
        let (mut held, mut seen) = (0u64, FxHashSet::default());
        for (number, launch) in plan.launches.iter().enumerate() {
            let made = plan.steps[launch.steps.clone()].iter().flat_map(|step| &step.outputs);
            for slice in made.filter_map(|output| assignment.slices[output.location as usize]) {
                if !matches!(slice.allocation, Allocation::Tile(_)) && seen.insert(slice.allocation) {
                    held = held.saturating_add(assignment.bytes(plan, slice.allocation) as u64);
                }
            }
            let own = scratch.get(number).map_or(0, |&bytes| bytes as u64);
            memory.peak = memory.peak.max(held.saturating_add(own));
            if assignment.arena_until == Some(number) {
                held -= memory.arena;
            }
        }
        memory
    }

    /// The footprint of a plan whose arrays live to the end, as on a GPU.
    pub(crate) fn of_arrays(plan: &BufferPlan) -> MemoryFootprint {
        let mut memory = MemoryFootprint::default();
        let mut seen = FxHashSet::default();
        for output in plan.steps.iter().flat_map(|step| &step.outputs).filter(|output| seen.insert(output.location)) {
            memory.arrays += 1;
            let kind = if output.result.is_some() { &mut memory.results } else { &mut memory.temporaries };
            *kind = kind.saturating_add(output.bytes as u64);
        }
        memory.peak = memory.results.saturating_add(memory.temporaries);
        memory
    }

    /// The footprint of a lowered program on the processor, without the scratch memory of kernels, which is known after compilation. That
    /// of control flow is included.
    ///
    /// # Errors
    /// Those of making a plan: `Verify`, `Size`.
    pub fn of(lowered: &Lowered) -> Result<MemoryFootprint> {
        MemoryFootprint::of_lowered(lowered, &mut FxHashMap::default())
    }

    /// Recurses into control flow. `known` are the peaks of its graphs, by address.
    fn of_lowered(lowered: &Lowered, known: &mut FxHashMap<*const Lowered, u64>) -> Result<MemoryFootprint> {
        let mut scratch = Vec::with_capacity(lowered.launches.len());
        for launch in &lowered.launches {
            let mut most = 0;
            let controls = lowered.steps[launch.steps.clone()].iter().filter_map(LoweredStep::control);
            for LoweredControl { fused, bodies, compiled } in controls {
                let mut peak = 0;
                // A compiled loop stores only the state and stacked arrays.
                for body in bodies.iter().filter(|_| compiled.is_none()) {
                    let own = match known.get(&Arc::as_ptr(body)) {
                        Some(&known) => known,
                        None => MemoryFootprint::of_lowered(body, known)?.peak,
                    };
                    known.insert(Arc::as_ptr(body), own);
                    peak = own.max(peak);
                }
                most = planned_control(&fused.control.0, fused.operands.len(), peak)?.max(most);
            }
            scratch.push(most);
        }
        Ok(MemoryFootprint::new(&BufferPlan::new(lowered)?, &scratch))
    }
}

/// The arrays of a program: its parameters, then the outputs of kernels.
///
/// # Errors
/// Those of making a plan: `Verify`, `Size`.
pub fn planned(lowered: &Lowered) -> Result<Vec<PlannedArray>> {
    Ok(arrays(&BufferPlan::new(lowered)?, lowered))
}

/// The arrays of a program with this plan.
pub(crate) fn arrays(plan: &BufferPlan, lowered: &Lowered) -> Vec<PlannedArray> {
    let params = lowered.simplified.params().iter().zip(&plan.params);
    let param = |(&value, &bytes)| PlannedArray {
        value,
        bytes,
        made: None,
        last: None,
        takes: Vec::new(),
        slice: None,
        result: None,
    };
    let mut arrays: Vec<PlannedArray> = params.map(param).collect();
    for (kernel, (step, made)) in plan.steps.iter().zip(&lowered.steps).enumerate() {
        for (output, value) in step.outputs.iter().zip(made.makes()) {
            // Several kernels may store parts of one array.
            if output.location as usize == arrays.len() {
                let takes = output.reuse.iter().map(|&location| location as usize).collect();
                let (made, last, result) = (Some(kernel), Some(kernel), output.result);
                let slice = plan.assignment.slices[output.location as usize];
                arrays.push(PlannedArray { value, bytes: output.bytes, made, last, takes, slice, result });
            }
        }
        let read = step.reads();
        for location in read.chain(step.outputs.iter().map(|output| output.location)) {
            if let Some(array) = arrays.get_mut(location as usize) {
                array.last = Some(kernel);
            }
        }
    }
    arrays
}

/// Peak bytes of control flow: for a loop its state, and the next state or the condition; for branches those of one branch. `made` are the
/// bytes of each result, `peak` the peak of the graphs' programs.
pub(crate) fn taken(control: &Control<DType>, made: &[usize], peak: u64) -> usize {
    let state = match control.kind {
        ControlKind::While | ControlKind::Scan(_) | ControlKind::For(_) => {
            made.iter().fold(0usize, |all, &bytes| all.saturating_add(bytes))
        }
        ControlKind::Cond => 0,
    };
    state.saturating_add(usize::try_from(peak).unwrap_or(usize::MAX))
}

/// The same before its graphs are compiled, without the kernels' scratch memory; `peak` is the peak of a program of its graphs.
///
/// # Errors
/// Those of planning them: `Verify`, `Size`.
fn planned_control(control: &Control<DType>, operands: usize, peak: u64) -> Result<usize> {
    let (_, made) = control.sizes(operands)?;
    Ok(taken(control, &made, peak))
}
