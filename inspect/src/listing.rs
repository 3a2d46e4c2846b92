//! The lines of a program's stages, each with its source nodes in the traced graph. Texts of stages are these lines.

mod graphs;

use crate::explain::{ParamSource, typed_text};
use crate::stage::ProgramStage;
use crate::table;
use ndjit_codegen::assembly::{assembly, assembly_of};
use ndjit_codegen::clif::{self, ClifOptions};
use ndjit_codegen::listing::{self, CodeLine};
use ndjit_codegen::passes::loops::LoopKernel;
use ndjit_codegen::passes::split::{NestPart, ReduceParts, ScanParts, SortParts, TargetKernel};
use ndjit_codegen::pipeline::{lower_for, lower_steps};
use ndjit_codegen::target::Target;
use ndjit_codegen::wgsl::{self, Pieces};
use ndjit_codegen::x64;
use ndjit_codegen::{LoopRange, Lowered, LoweredControl, LoweredKernel, LoweredStep, NumberedControl, Scheduled};
use ndjit_ir::graph::{Graph, NodeId, Type, Value};
use ndjit_ir::kernel::{OpBody, StepLine};
use ndjit_ir::lines::{LineSpan, TextLine};
use ndjit_ir::loops::{IterationDomain, LoopBody, LoopNest, NestKind};
use ndjit_ir::reduction::{BLOCK, LANES};
use ndjit_ir::support::Device;
use ndjit_ir::{Result, StatementOrigin};
use ndjit_runtime::devices::{self, on_gpu::OnGpu};
use ndjit_runtime::{DeviceProgram, Fallback, RunOptions};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// The note above CLIF that this machine does not run.
const WIDER: &str = "; this machine runs wider vectors instead, see `assembly`; other machines run this";

/// A line of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageLine {
    /// Its text.
    pub text: String,
    /// Its source operations, each once: their [numbers](OperationNumbers).
    pub nodes: Vec<u32>,
    /// The operations of the enclosing control flow.
    pub within: Arc<[u32]>,
    /// Its step in the program.
    pub kernel: Option<usize>,
    /// Its [block](Graph::blocks): each has its own values.
    pub block: usize,
    /// Its values and notes.
    pub spans: Vec<LineSpan>,
}

impl StageLine {
    /// A line without a source operation.
    pub fn plain(text: impl Into<String>, kernel: Option<usize>) -> StageLine {
        StageLine { text: text.into(), nodes: Vec::new(), within: Arc::default(), kernel, block: 0, spans: Vec::new() }
    }

    /// A line from these nodes of the program's traced graph.
    fn made(text: String, nodes: Vec<NodeId>, kernel: Option<usize>) -> StageLine {
        StageLine { nodes: nodes.into_iter().map(|id| id.0).collect(), ..StageLine::plain(text, kernel) }
    }
}

/// The numbers of a program's operations and of those of its control flow: a node of the traced graph has its own number, then those of
/// each graph follow.
pub struct OperationNumbers<'a> {
    /// The program, and those of its control flow, each with the number of its first node.
    pub programs: Vec<(&'a Lowered, u32)>,
    /// The number of a traced graph's first node, by the addresses of the traced and the typed graph.
    first: FxHashMap<*const (), u32>,
    /// Their total number.
    pub count: usize,
}

impl<'a> OperationNumbers<'a> {
    /// The numbers of a program's operations.
    pub fn of(lowered: &'a Lowered) -> OperationNumbers<'a> {
        let mut numbers = OperationNumbers { programs: Vec::new(), first: FxHashMap::default(), count: 0 };
        for program in std::iter::once(lowered).chain(lowered.bodies()) {
            let next = numbers.count as u32;
            let first = *numbers.first.entry(Arc::as_ptr(&program.traced).cast()).or_insert(next);
            numbers.first.insert(Arc::as_ptr(&program.typed).cast(), first);
            if first == next {
                numbers.programs.push((program, first));
                numbers.count += program.traced.node_count();
            }
        }
        numbers
    }

    /// The number of the first node of a graph, or of its traced graph.
    fn first<T: Type>(&self, graph: &Graph<T>) -> Option<u32> {
        self.first.get(&std::ptr::from_ref(graph).cast()).copied()
    }
}

/// The programs listed so far.
struct Listed<'a> {
    numbers: OperationNumbers<'a>,
    /// The place of each program, by address.
    places: FxHashMap<*const Lowered, String>,
    /// The operations of the enclosing control flow: all lines share them.
    within: Arc<[u32]>,
}

/// The lines of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The lines, in order.
    pub lines: Vec<StageLine>,
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().enumerate().try_for_each(|(n, line)| {
            f.write_str(if n > 0 { "\n" } else { "" })?;
            f.write_str(&line.text)
        })
    }
}

/// A program under inspection.
pub struct Inspection<'a> {
    /// The program, with every stage up to loops.
    pub lowered: &'a Lowered,
    /// The options of its compilation and execution.
    pub run: RunOptions,
    /// Its device.
    pub device: Device,
    /// The fallback for dtypes that a GPU lacks.
    pub fallback: Fallback,
    /// The compiled program, if any.
    pub program: Option<&'a dyn DeviceProgram>,
    /// The sources of the traced function's array parameters.
    pub inputs: Vec<ParamSource>,
}

/// A nest to list: of a kernel, or the steps of a compiled loop.
struct ListedNest<'a> {
    nest: &'a LoopNest,
    domain: &'a IterationDomain,
    ranges: &'a [LoopRange],
    steps: Option<&'a LoopKernel>,
}

impl Inspection<'_> {
    /// The lines of a stage. An error replaces its lines. The programs of control flow follow, each once.
    pub fn listing(&self, stage: ProgramStage) -> Listing {
        let mut listed = Listed {
            numbers: OperationNumbers::of(self.lowered),
            places: FxHashMap::default(),
            within: Arc::default(),
        };
        self.with_inner(stage, ("", 0), &mut listed)
    }

    /// The lines of a program at such a place in others, with kernels numbered from `first` on, and those of its unlisted inner programs.
    fn with_inner(&self, stage: ProgramStage, (place, first): (&str, usize), listed: &mut Listed<'_>) -> Listing {
        let mut out = self.own(stage, &listed.numbers);
        if let Some(own) = listed.numbers.first(&self.lowered.traced).filter(|own| *own > 0) {
            out.lines.iter_mut().flat_map(|line| &mut line.nodes).for_each(|node| *node += own);
        }
        if !listed.within.is_empty() {
            out.lines.iter_mut().for_each(|line| line.within = Arc::clone(&listed.within));
        }
        if let ProgramStage::Kernels
        | ProgramStage::Loops
        | ProgramStage::Expanded
        | ProgramStage::Clif
        | ProgramStage::Assembly = stage
        {
            self.number(first, &mut out);
            self.inner(stage, (place, first), listed, &mut out);
        }
        out
    }

    /// Adds the number of each kernel where there is control flow, which interrupts the count.
    fn number(&self, first: usize, out: &mut Listing) {
        if first == 0 && self.lowered.numbered_controls(first).is_empty() {
            return;
        }
        let (launches, numbers) = (&self.lowered.launches, self.lowered.launch_numbers());
        let mut last = None;
        for line in std::mem::take(&mut out.lines) {
            let launch = line.kernel.filter(|_| !line.text.is_empty());
            let launch = launch.and_then(|step| launches.iter().position(|launch| launch.steps.contains(&step)));
            if let (Some(launch), true) = (launch, launch.is_some() && launch != last) {
                out.plain(line.kernel, format!("; {}", table::kernel(first + numbers[launch])));
                last = Some(launch);
            }
            out.lines.push(line);
        }
    }

    /// The programs of control flow, except compiled loops. A title refers to the numbers of the statistics.
    fn inner(&self, stage: ProgramStage, (place, first): (&str, usize), listed: &mut Listed<'_>, out: &mut Listing) {
        let own = listed.numbers.first(&self.lowered.traced).unwrap_or(0);
        for NumberedControl { step, launch: number, control, bodies } in self.lowered.numbered_controls(first) {
            let kind = control.fused.control.0.kind;
            let nodes = self.of_values(self.lowered.steps[step].makes());
            let nodes: Vec<u32> = nodes.into_iter().map(|id| id.0 + own).collect();
            for (what, (lowered, next)) in kind.graphs().iter().zip(bodies) {
                let own = table::title(number, kind.name(), what);
                let place = if place.is_empty() { own.clone() } else { format!("{place}, {own}") };
                let mut title = format!("; {own}");
                let mut lines = Vec::new();
                if let Some(before) = listed.places.get(&Arc::as_ptr(lowered)) {
                    title += &format!(": {}", table::program_of(before));
                } else {
                    listed.places.insert(Arc::as_ptr(lowered), place.clone());
                    let (run, device, fallback) = (self.run.clone(), self.device, self.fallback);
                    let inspection = Inspection { lowered, run, device, fallback, program: None, inputs: Vec::new() };
                    let inside = nodes.iter().chain(listed.within.iter()).copied().collect();
                    let outside = std::mem::replace(&mut listed.within, inside);
                    lines = inspection.with_inner(stage, (&place, next), listed).lines;
                    listed.within = outside;
                }
                out.separate();
                let within = Arc::clone(&listed.within);
                let title = StageLine { nodes: nodes.clone(), within, ..StageLine::plain(title, Some(number)) };
                let numbered = |line: StageLine| StageLine { kernel: Some(number), ..line };
                out.lines.extend([title].into_iter().chain(lines.into_iter().map(numbered)));
            }
        }
    }

    fn own(&self, stage: ProgramStage, numbers: &OperationNumbers<'_>) -> Listing {
        let lowered = self.lowered;
        match stage {
            ProgramStage::Graph => {
                graphs::graph(&lowered.traced, &lowered.traced.display_with(&lowered.places), numbers, |_, id| vec![id])
            }
            ProgramStage::Typed => graphs::graph(&lowered.typed, &typed_text(lowered), numbers, made_from),
            ProgramStage::Simplified => {
                graphs::graph(&lowered.simplified, &lowered.simplified.text(), numbers, made_from)
            }
            ProgramStage::Kernels => self.kernels(),
            ProgramStage::Loops => self.nests(|nest| {
                let domain = nest.domain.to_string();
                let ranges = nest.ranges.iter().map(|range| CodeLine::plain(format!("; {range}")));
                Ok(listing::loops(nest.nest)
                    .into_iter()
                    .chain(domain.lines().map(CodeLine::plain))
                    .chain(ranges)
                    .collect())
            }),
            ProgramStage::Expanded => match self.on_gpu() {
                None => self.parts(|part, _, ops| match part.wide {
                    true => Ok(Vec::new()),
                    false => Ok(listing::expanded(&part.nest, ops)),
                }),
                Some(Ok(there)) => self.expanded_there(&there),
                Some(Err(error)) => failed(&error),
            },
            ProgramStage::Clif => self.on_processor(self.parts(|part, _, ops| {
                if part.wide {
                    return Ok(Vec::new());
                }
                let (isa, nest) = (clif::host_isa_for(part.form)?, &*part.nest);
                let options = ClifOptions { vector: self.run.vector.is_vector(), form: part.form, located: true };
                let kernel = clif::emit(nest, &*isa, options)?;
                let mut lines = listing::clif(&kernel, nest, ops);
                if x64::emit_here(nest, part.form, self.run.vector)?.is_some() {
                    lines.insert(0, CodeLine::plain(WIDER));
                }
                Ok(lines)
            })),
            ProgramStage::Assembly => self.on_processor(self.parts(|part, combine, ops| {
                let (nest, vector) = (&*part.nest, self.run.vector);
                let isa = clif::host_isa_for(part.form)?;
                if let (Some(combine), Some(pairs)) = (combine, part.pairs) {
                    let code = x64::emit_blocks_here(nest, combine, pairs, vector)?;
                    return Ok(code.map_or_else(Vec::new, |code| assembly_of(&code, nest, ops, &*isa)));
                }
                if part.wide && x64::emit_here(nest, part.form, vector)?.is_none() {
                    return Ok(Vec::new());
                }
                assembly(nest, ops, &*isa, part.form, vector)
            })),
            ProgramStage::Wgsl => self.modules(|_, module| Ok(listing::wgsl(module))),
            ProgramStage::Spirv => self.modules(|there, module| {
                let lines = devices::spirv(&module.text, there.device)?.into_iter();
                Ok(lines.map(|line| CodeLine { spans: line.spans, ..CodeLine::plain(line.text) }).collect())
            }),
        }
    }

    fn kernels(&self) -> Listing {
        let mut out = Listing::default();
        for launch in &self.lowered.launches {
            for (n, step) in launch.steps.clone().zip(&self.lowered.steps[launch.steps.clone()]) {
                match launch.axes.first() {
                    Some(axis) if n == launch.steps.start => {
                        out.separate();
                        out.plain(Some(n), format!("; {launch} along axis {axis}"));
                    }
                    Some(_) => {}
                    None => out.separate(),
                }
                match step {
                    LoweredStep::Control(control) => self.control(&mut out, n, control),
                    LoweredStep::Kernel(LoweredKernel { fused, .. }) => {
                        for TextLine { text, part, .. } in fused.lines() {
                            let value = part.and_then(|line| match line {
                                StepLine::Input(n) => fused.inputs.get(n).map(|input| input.value),
                                StepLine::Statement(n) => fused.statements.0.get(n).copied(),
                                StepLine::Output(n) => fused.outputs.get(n).copied(),
                            });
                            out.lines.push(StageLine::made(text, self.of_values(value), Some(n)));
                        }
                    }
                }
            }
        }
        out
    }

    /// The lines of control flow, whose programs follow, or its steps.
    fn control(&self, out: &mut Listing, n: usize, LoweredControl { fused, compiled, .. }: &LoweredControl) {
        for TextLine { text, part, .. } in fused.lines() {
            let value = part.and_then(|line| match line {
                StepLine::Input(n) => fused.operands.get(n).copied(),
                StepLine::Output(n) => fused.results.get(n).map(|&(_, value)| value),
                StepLine::Statement(_) => None,
            });
            out.lines.push(StageLine::made(text, self.of_values(value), Some(n)));
        }
        if let Some(LoopKernel { accumulators, inputs, stored, .. }) = compiled {
            out.plain(Some(n), format!("; {}", table::COMPILED_LOOP));
            let own = accumulators.len();
            let is_state = |input: &Option<u32>| input.is_some_and(|n| (n as usize) < fused.control.0.carried());
            let mut state: Vec<String> = (0..own).map(|n| format!("in{n} and out{n}")).collect();
            for (at, input) in (own..).zip(inputs) {
                let same = |(at, result): (usize, &Option<u32>)| (result == input).then(|| format!(" and out{at}"));
                let outputs: String = (own..).zip(stored).filter(|_| is_state(input)).filter_map(same).collect();
                if !outputs.is_empty() {
                    state.push(format!("in{at}{outputs}"));
                }
            }
            if !state.is_empty() {
                out.plain(Some(n), format!("; its state is read and written in one memory each: {}", state.join(", ")));
            }
        }
    }

    /// The lines of each nest, separated by empty lines.
    fn nests(&self, lines: impl Fn(ListedNest<'_>) -> Result<Vec<CodeLine>>) -> Listing {
        let mut out = Listing::default();
        for (n, step) in self.lowered.steps.iter().enumerate() {
            out.separate();
            let nest = match step {
                LoweredStep::Kernel(LoweredKernel { scheduled: Scheduled { nest, domain, ranges, .. }, .. }) => {
                    ListedNest { nest, domain, ranges, steps: None }
                }
                LoweredStep::Control(control) => {
                    self.control(&mut out, n, control);
                    let Some(steps) = &control.compiled else { continue };
                    ListedNest { nest: &steps.nest, domain: &steps.domain, ranges: &[], steps: Some(steps) }
                }
            };
            match lines(nest) {
                Ok(lines) => self.push(&mut out, n, lines),
                Err(error) => out.plain(Some(n), error),
            }
        }
        out
    }

    /// The lines of the nests to generate code for, each under its part in a nest that reduces or scans; those without lines are omitted.
    /// For a reduction `lines` also gets the combining part.
    fn parts(&self, lines: impl Fn(&NestPart, Option<&LoopNest>, &OpBody) -> Result<Vec<CodeLine>>) -> Listing {
        self.nests(|ListedNest { nest, steps, .. }| {
            let mut all: Vec<CodeLine> = about(nest).lines().map(CodeLine::plain).collect();
            let target = Target::host_clif(&*clif::host_isa()?);
            let kernel = match steps {
                Some(steps) => TargetKernel::Map(Box::new(lower_steps(steps, &target)?)),
                None => lower_for(nest, &target)?,
            };
            let combine = match &kernel {
                TargetKernel::Reduce(parts) => Some(&*parts.combine.nest),
                _ => None,
            };
            for part in kernel.parts() {
                let LoopBody::Ops(ops) = &part.ops.body else { continue };
                let lines = lines(part, combine, ops).unwrap_or_else(|error| vec![CodeLine::plain(error.to_string())]);
                if !lines.is_empty() {
                    all.extend(part.name.map(|name| CodeLine::plain(format!("; {name}"))));
                    all.extend(lines);
                }
            }
            Ok(all)
        })
    }

    /// The placement of the nests on a GPU.
    pub(crate) fn on_gpu(&self) -> Option<Result<OnGpu>> {
        self.device.gpu_number()?;
        Some(match self.program {
            Some(program) => Ok(program.on_gpu()?),
            None => match devices::open(self.device)
                .and_then(|device| device.compile(self.lowered, self.fallback, &self.run))
            {
                Ok(program) => Ok(program.on_gpu()?),
                Err(error) => Err(error),
            },
        })
    }

    /// Code of the processor, under a note if another device runs.
    fn on_processor(&self, code: Listing) -> Listing {
        if self.device.gpu_number().is_none() {
            return code;
        }
        let mut out = Listing::default();
        out.plain(None, format!("; the program runs on {}; on the processor it would be", self.device));
        out.lines.push(StageLine::plain("", None));
        out.lines.extend(code.lines);
        out
    }

    fn expanded_there(&self, there: &OnGpu) -> Listing {
        let mut out = Listing::default();
        for (n, (own, step)) in there.steps.iter().zip(&self.lowered.steps).enumerate() {
            out.separate();
            out.plain(Some(n), format!("; {}", own.placement));
            let Some(LoweredKernel { scheduled, .. }) = step.kernel() else { continue };
            let LoopBody::Ops(ops) = &scheduled.nest.body else { continue };
            match lower_for(&scheduled.nest, &there.features.target()) {
                Ok(kernel) => {
                    for part in kernel.parts() {
                        part.name.into_iter().for_each(|name| out.plain(Some(n), format!("; {name}")));
                        self.push(&mut out, n, listing::expanded(&part.nest, ops));
                    }
                }
                Err(error) => out.plain(Some(n), error),
            }
        }
        out
    }

    /// The lines of each module: those of the program's device, or of a device with all features.
    fn modules(&self, lines: impl Fn(&OnGpu, &wgsl::WgslModule) -> Result<Vec<CodeLine>>) -> Listing {
        let there = match self.on_gpu() {
            Some(Ok(there)) => there,
            Some(Err(error)) => return failed(&error),
            None => OnGpu::anywhere(self.lowered),
        };
        let mut out = Listing::default();
        out.plain(None, format!("; {}", there.name));
        for (n, (own, lowered)) in there.steps.iter().zip(&self.lowered.steps).enumerate() {
            out.lines.push(StageLine::plain("", Some(n)));
            out.plain(Some(n), format!("; {}", own.placement));
            let Some(LoweredKernel { scheduled: Scheduled { nest, .. }, .. }) = lowered.kernel() else { continue };
            let kernel = lower_for(nest, &there.features.target());
            for &step in &own.shaders {
                out.plain(Some(n), format!("; {step}"));
                let kernel = kernel.as_ref().map_err(Clone::clone);
                let module =
                    kernel.and_then(|kernel| wgsl::emit((nest, kernel), step, &there.features, &Pieces::default()));
                match module.and_then(|module| lines(&there, &module)) {
                    Ok(lines) => self.push(&mut out, n, lines),
                    Err(error) => out.plain(Some(n), error),
                }
            }
        }
        out
    }

    /// Adds lines of a kernel.
    fn push(&self, out: &mut Listing, kernel: usize, lines: Vec<CodeLine>) {
        let step = self.lowered.steps.get(kernel);
        let fused = step.and_then(LoweredStep::kernel).map(|kernel| &kernel.fused);
        let made: Vec<Value> = step.map_or_else(Vec::new, |step| step.makes().collect());
        out.lines.extend(lines.into_iter().map(|CodeLine { text, origin, spans }| {
            let values = match (origin, fused) {
                // The whole compiled loop comes from its operations.
                (Some(_), None) => made.clone(),
                (None | Some(StatementOrigin::Own), _) => Vec::new(),
                (Some(StatementOrigin::Statement(n)), Some(fused)) => {
                    fused.statements.0.get(n as usize).copied().into_iter().collect()
                }
                (Some(StatementOrigin::Result(n)), Some(fused)) => {
                    fused.outputs.get(n as usize).copied().into_iter().collect()
                }
                (Some(StatementOrigin::Results), Some(fused)) => fused.outputs.clone(),
            };
            StageLine { spans, ..StageLine::made(text, self.of_values(values), Some(kernel)) }
        }));
    }

    /// The traced nodes of simplified values.
    fn of_values(&self, values: impl IntoIterator<Item = Value>) -> Vec<NodeId> {
        let graph = &self.lowered.simplified;
        let known = values.into_iter().filter(|value| value.index() < graph.value_count());
        once(known.flat_map(|value| graph.origins(graph.producer(value)).iter().copied()).collect())
    }
}

impl Listing {
    fn plain(&mut self, kernel: Option<usize>, text: impl fmt::Display) {
        for text in text.to_string().lines() {
            self.lines.push(StageLine::plain(text, kernel));
        }
    }

    /// An empty line, except at the start.
    fn separate(&mut self) {
        if !self.lines.is_empty() {
            self.lines.push(StageLine::plain("", None));
        }
    }
}

fn failed(error: &ndjit_ir::Error) -> Listing {
    let mut out = Listing::default();
    out.plain(None, error);
    out
}

fn made_from<T: Type>(graph: &Graph<T>, id: NodeId) -> Vec<NodeId> {
    once(graph.origins(id).to_vec())
}

fn once(mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// An introduction to the parts of a reduction, a scan or a sort.
fn about(nest: &LoopNest) -> String {
    let reduce = match &nest.kind {
        NestKind::Map | NestKind::Scatter(_) => return String::new(),
        NestKind::Reduce(reduce) | NestKind::Contract(reduce) => reduce,
        NestKind::Sort(_) => {
            let loops: Vec<String> =
                SortParts::LOOPS.iter().enumerate().map(|(i, what)| format!("i{i} {what}")).collect();
            return format!("; elements are computed, and sorted after\n; loops of elements: {}\n", loops.join(", "));
        }
        NestKind::Scan(scan) => {
            let loops: Vec<String> =
                ScanParts::order(scan.along).iter().enumerate().map(|(i, what)| format!("i{i} {what}")).collect();
            return format!(
                "; blocks of {BLOCK} elements; local values in the first {} inputs and outputs, after them carries and results\n\
                 ; loops of step: {}\n",
                scan.outputs.len(),
                loops.join(", ")
            );
        }
    };
    let loops: Vec<String> =
        ReduceParts::order(reduce.along).iter().enumerate().map(|(i, what)| format!("i{i} {what}")).collect();
    let (loops, count) = (loops.join(", "), reduce.outputs.len());
    format!(
        "; accumulators: {LANES} lanes for each block of {BLOCK} elements; in the first {count} inputs, which are the outputs' memory\n\
         ; loops of accumulate: {loops}\n"
    )
}
