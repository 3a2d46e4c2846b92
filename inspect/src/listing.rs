//! The lines of a program's stages, each with the nodes of the traced graph that it was made from. Texts of stages are these lines.

use crate::explain::{ParamSource, typed_text};
use crate::stage::ProgramStage;
use ndjit_codegen::assembly::{assembly, assembly_of};
use ndjit_codegen::clif::{self, ClifOptions};
use ndjit_codegen::listing::{self, CodeLine};
use ndjit_codegen::passes::loops::LoopKernel;
use ndjit_codegen::passes::split::{NestPart, ReduceParts, ScanParts, SortParts, TargetKernel};
use ndjit_codegen::pipeline::{lower_for, lower_steps};
use ndjit_codegen::target::Target;
use ndjit_codegen::wgsl::{self, Pieces};
use ndjit_codegen::x64;
use ndjit_codegen::{Lowered, LoweredControl, LoweredKernel, LoweredStep, Scheduled};
use ndjit_ir::graph::{Graph, GraphLine, GraphPart, GraphText, NodeId, NodeKind, Type, Value};
use ndjit_ir::kernel::{OpBody, StepLine};
use ndjit_ir::lines::TextLine;
use ndjit_ir::loops::{Geometry, LoopBody, LoopNest, NestKind};
use ndjit_ir::reduction::{BLOCK, LANES};
use ndjit_ir::support::Device;
use ndjit_ir::{DType, Result, StatementOrigin};
use ndjit_runtime::devices::{self, OnGpu};
use ndjit_runtime::{DeviceProgram, Fallback, RunOptions};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// What stands above CLIF that this machine does not run.
const WIDER: &str = "; this machine runs wider vectors instead, see `assembly`; other machines run this";

/// A line of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageLine {
    /// What it says.
    pub text: String,
    /// Nodes of the traced graph, each once.
    pub nodes: Vec<NodeId>,
    /// The step of the program it belongs to.
    pub kernel: Option<usize>,
}

/// The lines of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The lines, from the first to the last.
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

/// A program that is inspected.
pub struct Inspection<'a> {
    /// The program, with every stage up to loops.
    pub lowered: &'a Lowered,
    /// How it is compiled and run.
    pub run: RunOptions,
    /// Where it runs.
    pub device: Device,
    /// What is done about dtypes that a GPU lacks.
    pub fallback: Fallback,
    /// What was compiled of it, if it was.
    pub program: Option<&'a dyn DeviceProgram>,
    /// What the array parameters of the traced function are.
    pub inputs: Vec<ParamSource>,
}

/// A nest whose lines are wanted: of a kernel, or the steps of a compiled loop.
struct ListedNest<'a> {
    nest: &'a LoopNest,
    geometry: &'a Geometry,
    steps: Option<&'a LoopKernel>,
}

impl Inspection<'_> {
    /// The lines of a stage. What fails is said in the place of the lines. Of control flow the programs of its graphs follow, each once.
    pub fn listing(&self, stage: ProgramStage) -> Listing {
        self.with_inner(stage, "", &mut FxHashMap::default())
    }

    /// The lines of a program that stands at such a place in others, and of those in it that are not listed yet: at which place programs are, by address.
    fn with_inner(&self, stage: ProgramStage, place: &str, listed: &mut FxHashMap<*const Lowered, String>) -> Listing {
        let mut out = self.own(stage);
        if let ProgramStage::Kernels
        | ProgramStage::Loops
        | ProgramStage::Expanded
        | ProgramStage::Clif
        | ProgramStage::Assembly = stage
        {
            self.inner(stage, place, listed, &mut out);
        }
        out
    }

    /// The programs of control flow that is no compiled loop. What they are made from is the node that they stand in.
    fn inner(
        &self,
        stage: ProgramStage,
        place: &str,
        listed: &mut FxHashMap<*const Lowered, String>,
        out: &mut Listing,
    ) {
        for (number, step) in self.lowered.steps.iter().enumerate() {
            let LoweredStep::Control(LoweredControl { fused, bodies, compiled: None }) = step else { continue };
            let (nodes, kind) = (self.of_values(step.makes()), fused.control.0.kind);
            for (what, lowered) in kind.graphs().iter().zip(bodies) {
                let own = format!("step {number}, {} {what}", kind.name());
                let place = if place.is_empty() { own.clone() } else { format!("{place}, {own}") };
                let mut title = format!("; {own}");
                let mut lines = Vec::new();
                if let Some(before) = listed.get(&Arc::as_ptr(lowered)) {
                    title += &format!(": the program of {before}");
                } else {
                    listed.insert(Arc::as_ptr(lowered), place.clone());
                    let (run, device, fallback) = (self.run.clone(), self.device, self.fallback);
                    let inspection = Inspection { lowered, run, device, fallback, program: None, inputs: Vec::new() };
                    lines = inspection.with_inner(stage, &place, listed).lines;
                }
                out.separate();
                let title = StageLine { text: title, nodes: nodes.clone(), kernel: Some(number) };
                let made_from = |line| StageLine { nodes: nodes.clone(), kernel: Some(number), ..line };
                out.lines.extend([title].into_iter().chain(lines.into_iter().map(made_from)));
            }
        }
    }

    fn own(&self, stage: ProgramStage) -> Listing {
        let lowered = self.lowered;
        match stage {
            ProgramStage::Graph => graph(&lowered.traced, &lowered.traced.display_with(&lowered.places), |id| vec![id]),
            ProgramStage::Typed => graph(&lowered.typed, &typed_text(lowered), |id| made_from(&lowered.typed, id)),
            ProgramStage::Simplified => {
                graph(&lowered.simplified, &lowered.simplified.text(), |id| made_from(&lowered.simplified, id))
            }
            ProgramStage::Kernels => self.kernels(),
            ProgramStage::Loops => self.nests(|nest| {
                let geometry = nest.geometry.to_string();
                Ok([listing::loops(nest.nest), geometry.lines().map(CodeLine::plain).collect()].concat())
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
                let (isa, nest) = (clif::host_isa()?, &*part.nest);
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
                let isa = clif::host_isa()?;
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
                let text = devices::spirv(&module.text, there.device)?;
                Ok(text.lines().map(CodeLine::plain).collect())
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
                        for TextLine { text, part } in fused.lines() {
                            let value = part.and_then(|line| match line {
                                StepLine::Input(n) => fused.inputs.get(n).map(|input| input.value),
                                StepLine::Statement(n) => fused.statements.0.get(n).copied(),
                                StepLine::Output(n) => fused.outputs.get(n).copied(),
                            });
                            out.lines.push(StageLine { text, nodes: self.of_values(value), kernel: Some(n) });
                        }
                    }
                }
            }
        }
        out
    }

    /// The lines of control flow, whose programs follow, or its steps.
    fn control(&self, out: &mut Listing, n: usize, LoweredControl { fused, compiled, .. }: &LoweredControl) {
        for TextLine { text, part } in fused.lines() {
            let value = part.and_then(|line| match line {
                StepLine::Input(n) => fused.operands.get(n).copied(),
                StepLine::Output(n) => fused.results.get(n).map(|&(_, value)| value),
                StepLine::Statement(_) => None,
            });
            out.lines.push(StageLine { text, nodes: self.of_values(value), kernel: Some(n) });
        }
        if compiled.is_some() {
            out.plain(Some(n), "; its steps are one loop of a nest");
        }
    }

    /// The lines of each nest, with an empty line between.
    fn nests(&self, lines: impl Fn(ListedNest<'_>) -> Result<Vec<CodeLine>>) -> Listing {
        let mut out = Listing::default();
        for (n, step) in self.lowered.steps.iter().enumerate() {
            out.separate();
            let nest = match step {
                LoweredStep::Kernel(LoweredKernel { scheduled: Scheduled { nest, geometry, .. }, .. }) => {
                    ListedNest { nest, geometry, steps: None }
                }
                LoweredStep::Control(control) => {
                    self.control(&mut out, n, control);
                    let Some(steps) = &control.compiled else { continue };
                    ListedNest { nest: &steps.nest, geometry: &steps.geometry, steps: Some(steps) }
                }
            };
            match lines(nest) {
                Ok(lines) => self.push(&mut out, n, lines),
                Err(error) => out.plain(Some(n), error),
            }
        }
        out
    }

    /// The lines of the nests that code is generated for, each under what it does in a nest that reduces or scans; those without lines are
    /// left out.
    /// `lines` is given what combines accumulators, too, where the nest reduces.
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

    /// Where the nests run, if that is on a GPU.
    fn on_gpu(&self) -> Option<Result<OnGpu>> {
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

    /// Code of the processor, under a note where another runs.
    fn on_processor(&self, code: Listing) -> Listing {
        if self.device.gpu_number().is_none() {
            return code;
        }
        let mut out = Listing::default();
        out.plain(None, format!("; the program runs on {}; on the processor it would be", self.device));
        out.lines.push(StageLine { text: String::new(), nodes: Vec::new(), kernel: None });
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

    /// The lines of each module: those the program's device runs, or those of one that has everything.
    fn modules(&self, lines: impl Fn(&OnGpu, &wgsl::WgslModule) -> Result<Vec<CodeLine>>) -> Listing {
        let there = match self.on_gpu() {
            Some(Ok(there)) => there,
            Some(Err(error)) => return failed(&error),
            None => OnGpu::anywhere(self.lowered),
        };
        let mut out = Listing::default();
        out.plain(None, format!("; {}", there.name));
        for (n, (own, lowered)) in there.steps.iter().zip(&self.lowered.steps).enumerate() {
            out.lines.push(StageLine { text: String::new(), nodes: Vec::new(), kernel: Some(n) });
            out.plain(Some(n), format!("; {}", own.placement));
            let Some(LoweredKernel { scheduled, .. }) = lowered.kernel() else { continue };
            for &step in &own.shaders {
                out.plain(Some(n), format!("; {step}"));
                let module = wgsl::emit(&scheduled.nest, step, &there.features, &Pieces::default());
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
        out.lines.extend(lines.into_iter().map(|CodeLine { text, origin }| {
            let values = match (origin, fused) {
                // All of a compiled loop is what it makes.
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
            StageLine { text, nodes: self.of_values(values), kernel: Some(kernel) }
        }));
    }

    /// What values of the simplified graph were made from.
    fn of_values(&self, values: impl IntoIterator<Item = Value>) -> Vec<NodeId> {
        let graph = &self.lowered.simplified;
        let known = values.into_iter().filter(|value| value.index() < graph.value_count());
        once(known.flat_map(|value| graph.origins(graph.producer(value)).iter().copied()).collect())
    }
}

impl Listing {
    fn plain(&mut self, kernel: Option<usize>, text: impl fmt::Display) {
        for text in text.to_string().lines() {
            self.lines.push(StageLine { text: text.to_owned(), nodes: Vec::new(), kernel });
        }
    }

    /// An empty line, if something is before it.
    fn separate(&mut self) {
        if !self.lines.is_empty() {
            self.lines.push(StageLine { text: String::new(), nodes: Vec::new(), kernel: None });
        }
    }
}

fn failed(error: &ndjit_ir::Error) -> Listing {
    let mut out = Listing::default();
    out.plain(None, error);
    out
}

fn made_from(graph: &Graph<DType>, id: NodeId) -> Vec<NodeId> {
    once(graph.origins(id).to_vec())
}

fn once(mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The lines of a graph: one a node, between that of the parameters and that of the results. Before them those of the graphs of its
/// control flow, which are made from the nodes that they stand in.
fn graph<T: Type>(graph: &Graph<T>, text: &GraphText<'_, T>, nodes: impl Fn(NodeId) -> Vec<NodeId>) -> Listing {
    let of = |values: &[Value]| once(values.iter().flat_map(|&value| nodes(graph.producer(value))).collect());
    let controls = controls(graph, &nodes);
    let made_from = |GraphLine { block, part }| match (controls.blocks.get(block), part) {
        (Some(inner), _) => inner.clone(),
        (None, GraphPart::Control(n)) => controls.pieces[n].clone(),
        (None, GraphPart::Node(id)) => nodes(id),
        (None, GraphPart::Params) => of(graph.params()),
        (None, GraphPart::Outputs) => of(graph.outputs()),
        (None, GraphPart::Other) => Vec::new(),
    };
    let line = |line: TextLine<GraphLine>| StageLine {
        text: line.text,
        nodes: line.part.map_or_else(Vec::new, made_from),
        kernel: None,
    };
    Listing { lines: text.lines().into_iter().map(line).collect() }
}

/// What control flow of a graph is made from.
struct ControlOrigins {
    /// Of each piece.
    pieces: Vec<Vec<NodeId>>,
    /// Of each block of the text but the last.
    blocks: Vec<Vec<NodeId>>,
}

fn controls<T: Type>(graph: &Graph<T>, nodes: impl Fn(NodeId) -> Vec<NodeId>) -> ControlOrigins {
    let mut pieces = vec![Vec::new(); graph.controls().len()];
    for id in graph.node_ids() {
        if let NodeKind::Control(n, _) = graph.node(id).kind {
            pieces[n as usize].extend(nodes(id));
        }
    }
    let all = graph.blocks();
    let mut blocks = vec![Vec::new(); all.len()];
    if let Some(root) = all.last() {
        for (own, nodes) in root.controls.iter().zip(&pieces) {
            own.iter().for_each(|&block| blocks[block].extend(nodes));
        }
    }
    // Blocks come before those that use them.
    for n in (0..all.len().saturating_sub(1)).rev() {
        let nodes = std::mem::take(&mut blocks[n]);
        for &used in all[n].callees.iter().chain(all[n].controls.iter().flatten()) {
            blocks[used].extend(&nodes);
        }
        blocks[n] = once(nodes);
    }
    blocks.pop();
    ControlOrigins { pieces: pieces.into_iter().map(once).collect(), blocks }
}

/// What a reader of the parts of a reduction, a scan or a sort needs to know.
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
