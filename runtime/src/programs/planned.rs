//! The memory of a program's arrays, for inspection.

pub use crate::programs::assignment::{Allocation, BufferSlice};
use crate::programs::plan::BufferPlan;
use ndjit_codegen::passes::tile::Launch;
use ndjit_codegen::{Lowered, LoweredControl};
use ndjit_ir::graph::{Control, ControlKind, Value};
use ndjit_ir::{DType, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
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
    /// Indices in the list of the arrays whose memory it may take: parameters if they are donated and have no other owner. A graph of
    /// control flow has such parameters where a loop donates its state.
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
}

/// The memory of a program, with that of its control flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedProgram {
    /// Its parameters, then the outputs of kernels.
    pub arrays: Vec<PlannedArray>,
    /// What a run takes beside its arguments.
    pub memory: MemoryFootprint,
    /// Its control flow, in order.
    pub controls: Vec<PlannedControl>,
}

/// The memory of control flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedControl {
    /// Its step.
    pub step: usize,
    /// Bytes of the state of a loop, with the arrays that a scan stacks.
    pub state: u64,
    /// Bytes of the state beside the memory of the results.
    own: u64,
    /// The programs of its graphs. A compiled loop has none: it stores only the state, in the memory of its results. A program that several
    /// graphs share is one allocation.
    pub bodies: Vec<Arc<PlannedProgram>>,
}

/// The programs of graphs planned so far, by address and by the parameters that are donated.
#[derive(Debug, Default)]
pub struct PlannedBodies(FxHashMap<(*const Lowered, Vec<bool>), Arc<PlannedProgram>>);

impl PlannedProgram {
    /// The memory of a lowered program on the processor, without the scratch memory of kernels, which is known after compilation. That of
    /// control flow is included.
    ///
    /// # Errors
    /// Those of making a plan: `Verify`, `Size`.
    pub fn of(lowered: &Lowered) -> Result<PlannedProgram> {
        PlannedProgram::of_lowered(lowered, &mut PlannedBodies::default())
    }

    /// Recursion is bounded by the nesting of control flow.
    fn of_lowered(lowered: &Lowered, known: &mut PlannedBodies) -> Result<PlannedProgram> {
        let plan = BufferPlan::new(lowered)?;
        let controls = controls(lowered, known, &mut |_, body, known| PlannedProgram::of_lowered(body, known))?;
        let of_launch = |launch: &Launch| {
            let own = controls.iter().filter(|control| launch.steps.contains(&control.step));
            own.map(PlannedControl::scratch).max().unwrap_or(0)
        };
        let scratch: Vec<usize> = lowered.launches.iter().map(of_launch).collect();
        Ok(PlannedProgram { arrays: arrays(&plan, lowered), memory: MemoryFootprint::new(&plan, &scratch), controls })
    }
}

impl PlannedControl {
    fn scratch(&self) -> usize {
        scratch(self.own, self.bodies.iter().map(|body| body.memory.peak))
    }
}

/// Plans the program of a graph, at a step with the number of the graph.
type PlanGraph<'a> = dyn FnMut((usize, usize), &Lowered, &mut PlannedBodies) -> Result<PlannedProgram> + 'a;

/// The control flow of a program; `of` plans a graph's program.
///
/// # Errors
/// Those of `of`; `Verify` if graphs do not fit; `Size` if an array cannot exist.
pub(crate) fn controls(
    lowered: &Lowered,
    known: &mut PlannedBodies,
    of: &mut PlanGraph<'_>,
) -> Result<Vec<PlannedControl>> {
    let mut all = Vec::new();
    for (step, LoweredControl { fused, bodies, compiled }) in
        lowered.steps.iter().enumerate().filter_map(|(step, lowered)| Some((step, lowered.control()?)))
    {
        let control = &fused.control.0;
        let (_, made) = control.sizes(fused.operands.len())?;
        let mut planned = Vec::new();
        for (n, body) in bodies.iter().enumerate().filter(|_| compiled.is_none()) {
            let donated = donated(control, n);
            let key = (Arc::as_ptr(body), donated);
            if let Some(program) = known.0.get(&key) {
                planned.push(Arc::clone(program));
                continue;
            }
            let mut program = of((step, n), body, known)?;
            let kept = |taken: &usize| key.1.get(*taken).is_none_or(|&donated| donated);
            program.arrays.iter_mut().for_each(|array| array.takes.retain(|taken| kept(taken)));
            let program = Arc::new(program);
            known.0.insert(key, Arc::clone(&program));
            planned.push(program);
        }
        let used: SmallVec<[u32; 2]> = fused.results.iter().map(|&(n, _)| n).collect();
        let own = state(control, &made, compiled.is_some().then_some(&used));
        all.push(PlannedControl { step, state: state(control, &made, None), own, bodies: planned });
    }
    Ok(all)
}

/// For each parameter of graph `n`, whether it is donated: the state of a loop, to the body.
fn donated(control: &Control<DType>, n: usize) -> Vec<bool> {
    let gives = n + 1 == control.graphs.len();
    let of = |&operand: &u32| gives && (operand as usize) < control.carried();
    control.graphs.get(n).map_or_else(Vec::new, |inner| inner.operands.iter().map(of).collect())
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

/// Bytes of the state of a loop, with the arrays that a scan stacks, without those in the memory of these results. `made` are the bytes of
/// each result.
pub(crate) fn state(control: &Control<DType>, made: &[usize], stored: Option<&[u32]>) -> u64 {
    let apart = |n: usize| stored.is_none_or(|stored| !stored.contains(&(n as u32)));
    match control.kind {
        ControlKind::While | ControlKind::Scan(_) | ControlKind::For(_) => {
            let own = made.iter().enumerate().filter(|(n, _)| apart(*n));
            own.fold(0u64, |all, (_, &bytes)| all.saturating_add(bytes as u64))
        }
        ControlKind::Cond => 0,
    }
}

/// Peak bytes of control flow: for a loop its state, and the next state or the condition; for branches those of one branch. `peaks` are
/// those of the graphs' programs.
pub(crate) fn scratch(state: u64, peaks: impl Iterator<Item = u64>) -> usize {
    usize::try_from(state.saturating_add(peaks.max().unwrap_or(0))).unwrap_or(usize::MAX)
}
