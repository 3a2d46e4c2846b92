//! Plans: the location and lifetime of each value of a program, and the proof that every kernel stays within its operands'
//! memory.
//!
//! Everything a run relies on is checked here once, from the lowered program as data: a program built by hand may be wrong, but
//! its kernels cannot touch foreign memory.

use crate::programs::assignment::Assignment;
use crate::programs::call::Output;
use crate::programs::fits::{check_form, dense_bytes, end_of, fills_rows, reusable, with_rows};
use crate::programs::regions::{Copies, stored_region};
use crate::programs::step_plan::{
    EndPlan, IndexPlan, Location, OutputPlan, RangePlan, RestPlan, ResultPlan, RowPlan, StepPlan, wrong,
};
use crate::programs::tiles::{self, Tiling};
use ndjit_codegen::{LoopRange, Lowered, LoweredControl, LoweredStep, RangeEnd, Scheduled, TracedIndex, TracedRow};
use ndjit_ir::graph::{Graph, Value};
use ndjit_ir::loops::{IterationDomain, Layout, LoopBody, NestKind, Role};
use ndjit_ir::view::DisjointRegions;
use ndjit_ir::{DType, Error, ErrorCode, Result};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// A program's memory.
#[derive(Debug, Default)]
pub struct BufferPlan {
    /// For each parameter, the bytes its argument must have.
    pub params: Vec<usize>,
    /// The number of locations.
    pub locations: usize,
    /// Kernels in order.
    pub steps: Vec<StepPlan>,
    /// Groups of steps that run together.
    pub launches: Vec<LaunchPlan>,
    /// Results in order.
    pub results: Vec<ResultPlan>,
    /// The memory of arrays on the processor.
    pub assignment: Assignment,
}

/// Kernels that run together.
#[derive(Debug)]
pub struct LaunchPlan {
    /// The steps.
    pub steps: Range<usize>,
    /// Tiling of the steps.
    pub cut: Tiling,
}

impl BufferPlan {
    /// Plans a program.
    ///
    /// # Errors
    /// `Verify` if a kernel reads a missing value, or its domain leaves an operand's memory or does not fill an output;
    /// `Size` if an array cannot exist, or temporaries exceed the address space.
    pub fn new(lowered: &Lowered) -> Result<BufferPlan> {
        let graph = &lowered.simplified;
        let mut planner = Planner {
            graph,
            read: FxHashMap::default(),
            made: FxHashMap::default(),
            bytes: Vec::new(),
            last: Vec::new(),
            parts: FxHashMap::default(),
        };
        for &param in graph.params() {
            let location = planner.add(0);
            planner.read.insert(param, location);
        }
        let params = graph.params().len();
        let mut plan = BufferPlan::default();
        for (index, step) in lowered.steps.iter().enumerate() {
            plan.steps.push(match step {
                LoweredStep::Kernel(kernel) => planner.kernel(&kernel.scheduled, params, index)?,
                LoweredStep::Control(control) => planner.control(control, params, index)?,
            });
        }
        planner.check_parts()?;
        planner.results(&lowered.stored, &mut plan)?;
        plan.params = planner.bytes[..params].to_vec();
        plan.locations = planner.bytes.len();
        planner.deaths(&mut plan);
        let mut next = 0;
        for launch in &lowered.launches {
            let steps = launch.steps.clone();
            if steps.start != next || steps.end < next || steps.end > plan.steps.len() {
                return Err(wrong(next, format_args!("no launch runs it")));
            }
            next = steps.end;
            let cut = match launch.axes.is_empty() {
                true => Tiling::default(),
                false => {
                    let kernels = lowered.steps[steps.clone()].iter().map(LoweredStep::kernel);
                    let Some(kernels) = kernels.map(|kernel| Some(&kernel?.scheduled)).collect::<Option<Vec<_>>>()
                    else {
                        return Err(wrong(steps.start, format_args!("control flow runs in tiles")));
                    };
                    match tiles::check(&kernels, &mut plan.steps[steps.clone()], steps.start) {
                        Ok(cut) => cut,
                        Err(error) if cfg!(debug_assertions) => return Err(error),
                        // One after the other is correct too.
                        Err(_) => Tiling::default(),
                    }
                }
            };
            plan.launches.push(LaunchPlan { steps, cut });
        }
        if next != plan.steps.len() {
            return Err(wrong(next, format_args!("no launch runs it")));
        }
        plan.assign(&[])?;
        Ok(plan)
    }
}

impl BufferPlan {
    /// Assigns memory to each array. `tiles` are the indices per tile of each tiled launch.
    ///
    /// # Errors
    /// `Size` if temporaries exceed the address space.
    pub fn assign(&mut self, tiles: &[Option<usize>]) -> Result<()> {
        self.assignment = Assignment::new(self, tiles)?;
        // In release builds too: the absence of overlaps is a safety condition.
        self.assignment.verify(self)
    }

    /// Checks the number and sizes of arguments and outputs.
    ///
    /// # Errors
    /// `Arity` if their number differs; `Argument` if one has another size.
    pub fn check(&self, arguments: impl ExactSizeIterator<Item = usize>, outputs: &[Output<'_>]) -> Result<()> {
        let arity = |what: &str, given: usize, wanted: usize| {
            Error::new(ErrorCode::Arity, format!("run: {given} {what} given, {wanted} wanted"))
        };
        if arguments.len() != self.params.len() {
            return Err(arity("arguments", arguments.len(), self.params.len()));
        }
        if outputs.len() != self.results.len() {
            return Err(arity("outputs", outputs.len(), self.results.len()));
        }
        for (index, (given, &wanted)) in arguments.zip(&self.params).enumerate() {
            if given < wanted {
                return Err(Error::new(
                    ErrorCode::Argument,
                    format!("run: argument {index} is smaller than its layout"),
                )
                .fact(format_args!("{given} bytes given, {wanted} needed")));
            }
        }
        for (index, (output, result)) in outputs.iter().zip(&self.results).enumerate() {
            match output {
                Output::Into(bytes) if bytes.len() != result.bytes => {
                    return Err(Error::new(ErrorCode::Argument, format!("run: output {index} has the wrong size"))
                        .fact(format_args!("{} bytes given, {} needed", bytes.len(), result.bytes)));
                }
                Output::Into(_) | Output::Fresh(_) | Output::Device(_) => {}
            }
        }
        Ok(())
    }
}

struct Planner<'a> {
    graph: &'a Graph<DType>,
    /// The location of each value for reads.
    read: FxHashMap<Value, Location>,
    /// The location of each value that a kernel stores; a parameter that is a result is copied.
    made: FxHashMap<Value, Location>,
    /// Size of each location; for a parameter the size needed so far.
    bytes: Vec<usize>,
    /// The last step that reads or writes a part of each location.
    last: Vec<Option<usize>>,
    /// The parts of each value that several kernels store.
    parts: FxHashMap<Value, DisjointRegions>,
}

impl Planner<'_> {
    fn add(&mut self, bytes: usize) -> Location {
        let location = self.bytes.len() as Location;
        self.bytes.push(bytes);
        self.last.push(None);
        location
    }

    fn kernel(&mut self, scheduled: &Scheduled, params: usize, index: usize) -> Result<StepPlan> {
        let Scheduled { nest, domain, .. } = scheduled;
        check_form(scheduled, index)?;
        let nothing = domain.extents.contains(&0);
        let meets = nest.kind.loops() > 0;
        if meets && domain.size() > isize::MAX as usize {
            return Err(Error::new(
                ErrorCode::Size,
                "plan: a reduction or a scan of more elements than memory can address",
            )
            .fact(format_args!("loops of {:?}", domain.extents)));
        }
        let stored = &domain.extents[..nest.output_rank()];
        let mut inputs = SmallVec::new();
        for ((&value, layout), access) in scheduled.inputs.iter().zip(&domain.inputs).zip(&nest.inputs) {
            if access.is_index() {
                inputs.push((None, layout.offset));
                continue;
            }
            let Some(&location) = self.read.get(&value) else {
                return Err(wrong(index, format_args!("it reads {value}, which no kernel before it makes")));
            };
            let reached = match access.role {
                Role::Rows => domain.with_rows(inputs.len()).map_err(|what| wrong(index, format_args!("{what}")))?,
                Role::Memory | Role::Index => (IterationDomain::default(), Layout::default()),
            };
            let (extents, all) = match access.role {
                Role::Rows => (&reached.0.extents, &reached.1),
                Role::Memory | Role::Index => (&domain.extents, layout),
            };
            let end = match nothing || extents.contains(&0) {
                true => 0,
                false => {
                    let (all, extents) = with_rows(scheduled, inputs.len(), all, extents);
                    end_of(&all, &extents, access.dtype.bytes(), index)?
                }
            };
            let bytes = &mut self.bytes[location as usize];
            if (location as usize) < params {
                *bytes = end.max(*bytes);
            } else if end > *bytes {
                return Err(wrong(index, format_args!("it reads {value} up to byte {end} of {bytes}")));
            }
            self.check_made(value, index)?;
            self.last[location as usize] = Some(index);
            inputs.push((Some(location), if nothing { 0 } else { layout.offset }));
        }
        let mut outputs = SmallVec::new();
        for ((&value, layout), access) in scheduled.outputs.iter().zip(&domain.outputs).zip(&nest.outputs) {
            let bytes = self.graph.shape(value).bytes(access.dtype.bytes())?;
            let dense = match &nest.kind {
                NestKind::Scatter(scatter) => fills_rows(nest, domain, scatter.into, bytes),
                NestKind::Map | NestKind::Reduce(_) | NestKind::Contract(_) | NestKind::Scan(_) | NestKind::Sort(_) => {
                    dense_bytes(nest, layout, stored, access.dtype) == Some(bytes)
                }
            };
            let shape = self.graph.shape(value);
            let part = stored_region(layout, stored, shape, access.dtype).filter(|_| !meets);
            if scheduled.rows.iter().any(|(operand, _)| *operand >= nest.inputs.len()) {
                let (all, extents) = with_rows(scheduled, nest.inputs.len() + outputs.len(), layout, stored);
                let fits = nothing || end_of(&all, &extents, access.dtype.bytes(), index)? <= bytes;
                if !fits || scheduled.rest.is_none() {
                    return Err(wrong(index, format_args!("it stores rows that {value} does not have")));
                }
            }
            if self.graph.ty(value) != access.dtype || !dense && part.is_none() {
                return Err(wrong(index, format_args!("it does not fill {value} densely, nor a part of it")));
            }
            let part = part.filter(|_| !dense && scheduled.rest.is_none());
            let location = match (self.made.get(&value), &part) {
                (None, _) => self.add(bytes),
                (Some(&location), Some(_)) if self.parts.contains_key(&value) => location,
                (Some(_), _) => return Err(wrong(index, format_args!("it makes {value} again"))),
            };
            self.made.insert(value, location);
            let offset = if dense { 0 } else { layout.offset };
            if let Some(part) = part {
                let parts = self.parts.entry(value).or_insert_with(|| DisjointRegions::new(shape.clone()));
                parts.add(part).map_err(|()| wrong(index, format_args!("it makes a part of {value} again")))?;
                self.last[location as usize] = Some(index);
            }
            self.read.entry(value).or_insert(location);
            outputs.push(OutputPlan { location, bytes, offset, reuse: SmallVec::new(), result: None });
        }
        let strides = domain.inputs.iter().chain(&domain.outputs).flat_map(|l| l.strides.iter().copied()).collect();
        let empty = stored.contains(&0);
        let rest = match scheduled.rest {
            Some(value) => Some(self.rest(value, scheduled, params, index)?),
            None => None,
        };
        let copy = match (&nest.body, &domain.inputs[..], &domain.outputs[..]) {
            (LoopBody::Ops(body), [from], [to]) => {
                body.is_load() && from == to && nest.kind == NestKind::Map && rest.is_none() && !meets
            }
            _ => false,
        };
        let mut rows = SmallVec::new();
        for &(operand, TracedRow { index: traced, last, stride }) in &scheduled.rows {
            rows.push(RowPlan { operand, index: self.index(traced, params, index)?, last, stride });
        }
        let mut ranges = SmallVec::new();
        for &LoopRange { index: at, step, from, to } in &scheduled.ranges {
            let mut ends = [None; 2];
            for (end, planned) in [from, to].into_iter().zip(&mut ends) {
                let Some(RangeEnd { count, more }) = end else { continue };
                *planned = Some(EndPlan { count: self.index(count, params, index)?, more });
            }
            ranges.push(RangePlan { index: at, extent: domain.extents[at], step, ends });
        }
        let (copy, last_used) = (copy && rows.is_empty(), SmallVec::new());
        let mut step = StepPlan { inputs, outputs, rest, rows, ranges, strides, last_used, empty, copy };
        reusable(&mut step, scheduled, self.graph);
        Ok(step)
    }

    /// An integer known when the step runs.
    fn index(&mut self, traced: TracedIndex, params: usize, index: usize) -> Result<IndexPlan> {
        let TracedIndex { value, dtype, offset } = traced;
        let Some(&location) = self.read.get(&value).filter(|_| dtype.is_int()) else {
            return Err(wrong(index, format_args!("it reads the index {value}, which no kernel before it makes")));
        };
        let bytes = &mut self.bytes[location as usize];
        let end = offset.saturating_add(dtype.bytes());
        if (location as usize) < params {
            *bytes = end.max(*bytes);
        } else if end > *bytes {
            return Err(wrong(index, format_args!("it reads {value} up to byte {end} of {bytes}")));
        }
        self.check_made(value, index)?;
        self.last[location as usize] = Some(index);
        Ok(IndexPlan { location, offset, dtype })
    }

    /// The array that fills the rest of the only output.
    fn rest(&mut self, value: Value, scheduled: &Scheduled, params: usize, index: usize) -> Result<RestPlan> {
        let Scheduled { nest, domain, outputs, .. } = scheduled;
        let ([output], [layout], [access]) = (&outputs[..], &domain.outputs[..], &nest.outputs[..]) else {
            return Err(wrong(index, format_args!("several outputs take the rest of {value}")));
        };
        let (shape, dtype) = (self.graph.shape(*output), access.dtype);
        let part = stored_region(layout, &domain.extents[..nest.output_rank()], shape, dtype);
        let like = self.graph.ty(value) == dtype && self.graph.shape(value).size() == shape.size();
        let Some(part) = part.filter(|_| like && nest.kind == NestKind::Map) else {
            return Err(wrong(index, format_args!("{output} does not take the rest of {value}")));
        };
        let location = self.whole(value, shape.bytes(dtype.bytes())?, params, index)?;
        // With rows, any row may be the stored one, or none.
        let copies = match scheduled.rows.iter().any(|(operand, _)| *operand >= nest.inputs.len()) {
            true => smallvec![Copies::whole(shape, dtype)],
            false => Copies::beside(&part, shape, dtype),
        };
        Ok(RestPlan { location, copies })
    }

    /// The location of a value read whole, in row-major order, of so many bytes.
    fn whole(&mut self, value: Value, wanted: usize, params: usize, index: usize) -> Result<Location> {
        // A parameter in another order is copied first.
        let Some(&location) = self.made.get(&value).or(self.read.get(&value)) else {
            return Err(wrong(index, format_args!("it reads {value}, which no kernel before it makes")));
        };
        let bytes = &mut self.bytes[location as usize];
        if (location as usize) < params {
            *bytes = wanted.max(*bytes);
        } else if wanted > *bytes {
            return Err(wrong(index, format_args!("it reads {wanted} bytes of {value}, which has {bytes}")));
        }
        self.check_made(value, index)?;
        self.last[location as usize] = Some(index);
        Ok(location)
    }

    /// Checks that a value read has been stored.
    fn check_made(&self, value: Value, index: usize) -> Result<()> {
        match self.parts.get(&value) {
            Some(parts) if !parts.are_all() => {
                Err(wrong(index, format_args!("it reads {value} before all of it is made")))
            }
            _ => Ok(()),
        }
    }

    /// Control flow reads and writes whole arrays. A compiled loop changes its state in the memory of the results, which may be that of the
    /// initial state.
    fn control(&mut self, control: &LoweredControl, params: usize, index: usize) -> Result<StepPlan> {
        let LoweredControl { fused, compiled, .. } = control;
        let (taken, made) = fused.control.0.sizes(fused.operands.len())?;
        let mut inputs: SmallVec<[(Option<Location>, usize); 4]> = SmallVec::new();
        for (&value, &wanted) in fused.operands.iter().zip(&taken) {
            inputs.push((Some(self.whole(value, wanted, params, index)?), 0));
        }
        let mut outputs = SmallVec::new();
        for &(result, value) in &fused.results {
            let dtype = self.graph.ty(value);
            let bytes = self.graph.shape(value).bytes(dtype.bytes())?;
            let own = fused.control.0.result(result as usize).map(|(own, _)| own);
            if made.get(result as usize) != Some(&bytes) || own != Some(dtype) {
                return Err(wrong(index, format_args!("it does not give {value}")));
            }
            if self.made.contains_key(&value) {
                return Err(wrong(index, format_args!("it makes {value} again")));
            }
            let location = self.add(bytes);
            self.made.insert(value, location);
            self.read.entry(value).or_insert(location);
            let state = compiled.is_some() && (result as usize) < fused.control.0.carried();
            let initial = inputs.get(result as usize).copied().filter(|_| state);
            let alone = initial.filter(|initial| inputs.iter().filter(|input| *input == initial).count() == 1);
            let reuse = alone.and_then(|(location, _)| location).into_iter().collect();
            outputs.push(OutputPlan { location, bytes, offset: 0, reuse, result: None });
        }
        let (strides, last_used) = (Vec::new(), SmallVec::new());
        Ok(StepPlan {
            inputs,
            outputs,
            rest: None,
            rows: SmallVec::new(),
            ranges: SmallVec::new(),
            strides,
            last_used,
            empty: false,
            copy: false,
        })
    }

    /// Checks that values stored by several kernels are complete.
    fn check_parts(&self) -> Result<()> {
        for (value, parts) in &self.parts {
            if !parts.are_all() {
                return Err(Error::new(
                    ErrorCode::Verify,
                    format!("plan: kernels make parts of {value}, not all of it"),
                ));
            }
        }
        Ok(())
    }

    fn results(&mut self, stored: &[Value], plan: &mut BufferPlan) -> Result<()> {
        let mut first: FxHashMap<Location, usize> = FxHashMap::default();
        for (index, &value) in stored.iter().enumerate() {
            let Some(&location) = self.made.get(&value) else {
                return Err(Error::new(ErrorCode::Verify, format!("plan: no kernel makes the result {value}")));
            };
            let same_as = first.get(&location).copied();
            first.entry(location).or_insert(index);
            plan.results.push(ResultPlan { location, bytes: self.bytes[location as usize], same_as });
        }
        for output in plan.steps.iter_mut().flat_map(|step| &mut step.outputs) {
            output.result = first.get(&output.location).copied();
        }
        Ok(())
    }

    /// Results live to the end; everything else dies at its last use, or where it is stored if nothing reads it.
    fn deaths(&self, plan: &mut BufferPlan) {
        let mut keep = vec![false; plan.locations];
        for result in &plan.results {
            keep[result.location as usize] = true;
        }
        for (index, step) in plan.steps.iter_mut().enumerate() {
            let operands = step.reads().chain(step.outputs.iter().map(|o| o.location));
            let mut last_used: SmallVec<[Location; 4]> = operands
                .filter(|&l| !keep[l as usize] && self.last[l as usize].is_none_or(|last| last == index))
                .collect();
            last_used.sort_unstable();
            last_used.dedup();
            for output in &mut step.outputs {
                output.reuse.retain(|location| last_used.contains(location));
            }
            step.last_used = last_used;
        }
    }
}
