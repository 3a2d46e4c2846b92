//! Lowered programs: the result of the portable half of the [pipeline](crate::pipeline), with each stage kept for inspection.

use crate::passes::loops::LoopKernel;
use crate::passes::tile::Launch;
use crate::scheduled::Scheduled;
use ndjit_ir::graph::{Graph, SourceLocs, Value};
use ndjit_ir::kernel::{FusedControl, FusedKernel};
use ndjit_ir::{DType, Policy, ValueType};
use ndjit_transform::Conversions;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The default maximum number of arrays of a kernel: 16 inputs, 8 results.
pub const MAX_ARRAYS: usize = 24;

/// Options of the pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The policy for default dtypes of weak literals that are results.
    pub policy: Policy,
    /// Fuse elementwise ops into kernels, and steps of loops into nests; without it every op is a kernel.
    pub fuse: bool,
    /// The maximum number of arrays of a kernel: inputs and results of the program.
    pub max_arrays: usize,
    /// The device's maximum number of arrays, if it has one. It also counts arrays that other kernels read, which are known only after
    /// fusion. Programs with a kernel that exceeds it are not fused.
    pub device_arrays: Option<usize>,
    /// Run the pass that contracts a product and a sum to one operation with one rounding.
    pub fp_contract: bool,
    /// Run the simplify pass.
    pub simplify: bool,
    /// Run every stage's verifier, also in release builds.
    pub verify: bool,
}

impl Options {
    /// True if the callers of kernels compute the addresses of rows at run-time indices: fused kernels on the processor.
    pub fn computes_addresses(&self) -> bool {
        self.fuse && self.device_arrays.is_none()
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            policy: Policy::default(),
            fuse: true,
            max_arrays: MAX_ARRAYS,
            device_arrays: None,
            fp_contract: false,
            simplify: true,
            verify: cfg!(debug_assertions),
        }
    }
}

/// A step of a lowered program.
#[derive(Clone, Debug)]
// Almost every step is a kernel: boxes would save nothing.
#[allow(clippy::large_enum_variant)]
pub enum LoweredStep {
    /// A kernel.
    Kernel(LoweredKernel),
    /// Control flow.
    Control(LoweredControl),
}

/// A kernel, after fusion and after scheduling.
#[derive(Clone, Debug)]
pub struct LoweredKernel {
    /// After fusion.
    pub fused: FusedKernel,
    /// After scheduling.
    pub scheduled: Scheduled,
}

/// Control flow of a lowered program.
#[derive(Clone, Debug)]
pub struct LoweredControl {
    /// The operands and results.
    pub fused: FusedControl,
    /// The programs of its graphs; shared between control flow where equal.
    pub bodies: Vec<Arc<Lowered>>,
    /// The loop as a nest, if it compiles to one: then no program of a graph runs on the processor.
    pub compiled: Option<LoopKernel>,
}

/// Control flow of a program, with its numbers among [all launches](Lowered::all_launches) of the program that runs it.
#[derive(Clone, Debug)]
pub struct NumberedControl<'a> {
    /// The step.
    pub step: usize,
    /// The number of its launch.
    pub launch: usize,
    /// The control flow.
    pub control: &'a LoweredControl,
    /// For each graph that runs, its program and the number of its first launch. A compiled loop runs none.
    pub bodies: Vec<(&'a Arc<Lowered>, usize)>,
}

impl LoweredStep {
    /// The kernel, if the step is one.
    pub fn kernel(&self) -> Option<&LoweredKernel> {
        match self {
            LoweredStep::Kernel(kernel) => Some(kernel),
            LoweredStep::Control(_) => None,
        }
    }

    /// The programs that control flow runs, unless it is a compiled loop.
    fn run_bodies(&self) -> Option<&Vec<Arc<Lowered>>> {
        self.control().filter(|control| control.compiled.is_none()).map(|control| &control.bodies)
    }

    /// The simplified graph's values that the step stores, in whole or in part.
    pub fn makes(&self) -> impl Iterator<Item = Value> {
        let (outputs, results) = match self {
            LoweredStep::Kernel(kernel) => (&kernel.scheduled.outputs[..], &[][..]),
            LoweredStep::Control(control) => (&[][..], &control.fused.results[..]),
        };
        outputs.iter().copied().chain(results.iter().map(|&(_, value)| value))
    }

    /// The control flow, if the step is one.
    pub fn control(&self) -> Option<&LoweredControl> {
        match self {
            LoweredStep::Kernel(_) => None,
            LoweredStep::Control(control) => Some(control),
        }
    }
}

/// A program after every pass that does not depend on the machine; each stage is kept for inspection.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The traced graph, with calls inlined.
    pub traced: Arc<Graph<ValueType>>,
    /// The places of the traced nodes.
    pub places: Arc<SourceLocs>,
    /// After commit: every dtype resolved, every cast explicit.
    pub typed: Arc<Graph<DType>>,
    /// The reasons of casts and weak literals of `typed`.
    pub conversions: Conversions,
    /// The policy for default dtypes of weak literals that are results.
    pub policy: Policy,
    /// After the rewrite rules. It has the parameters of `traced`; its outputs are the program's results, in order.
    pub simplified: Graph<DType>,
    /// The steps after fusion and scheduling, in an order in which they can run. Some step makes each output of `simplified`.
    pub steps: Vec<LoweredStep>,
    /// For each result the stored value: itself, or one with the same elements in the same order.
    pub stored: Vec<Value>,
    /// The launches of the steps.
    pub launches: Vec<Launch>,
}

impl Lowered {
    /// The kernels, without those of control flow.
    pub fn kernels(&self) -> impl DoubleEndedIterator<Item = &LoweredKernel> {
        self.steps.iter().filter_map(LoweredStep::kernel)
    }

    /// The programs of its control flow, nested ones included, each once, in order.
    pub fn bodies(&self) -> Vec<&Lowered> {
        self.with_inner(|step| step.control().map(|control| &control.bodies)).split_off(1)
    }

    /// The program and those of its control flow, each once, in order, without those that a [loop kernel](LoopKernel) replaces.
    pub fn executed(&self) -> Vec<&Lowered> {
        self.with_inner(LoweredStep::run_bodies)
    }

    fn with_inner(&self, bodies: impl Fn(&LoweredStep) -> Option<&Vec<Arc<Lowered>>>) -> Vec<&Lowered> {
        let mut seen: FxHashSet<*const Lowered> = FxHashSet::default();
        let (mut all, mut stack) = (Vec::new(), vec![self]);
        while let Some(lowered) = stack.pop() {
            all.push(lowered);
            let inner = lowered.steps.iter().rev().filter_map(&bodies).flat_map(|bodies| bodies.iter().rev());
            stack.extend(inner.filter(|body| seen.insert(Arc::as_ptr(body))).map(|body| &**body));
        }
        all
    }

    /// The launches in execution order. Launches of control flow are followed by those of its graphs, unless it is a compiled loop. Each
    /// has its program and the nesting depth.
    pub fn all_launches(&self) -> Vec<(&Lowered, &Launch, usize)> {
        let mut all = Vec::new();
        self.add_launches(0, &mut all);
        all
    }

    /// The number of [launches](Lowered::all_launches).
    pub fn kernel_count(&self) -> usize {
        self.counted(&mut FxHashMap::default())
    }

    /// The same, with shared graphs of control flow counted once: by address.
    fn counted(&self, known: &mut FxHashMap<*const Lowered, usize>) -> usize {
        let mut count = self.launches.len();
        for body in self.steps.iter().filter_map(LoweredStep::run_bodies).flatten() {
            let own = match known.get(&Arc::as_ptr(body)) {
                Some(&own) => own,
                None => {
                    let own = body.counted(known);
                    known.insert(Arc::as_ptr(body), own);
                    own
                }
            };
            count = count.saturating_add(own);
        }
        count
    }

    /// The number of loop nests of a launch; a compiled loop is one.
    pub fn nests(&self, launch: &Launch) -> usize {
        let is_nest = |step: &&LoweredStep| match step {
            LoweredStep::Kernel(_) => true,
            LoweredStep::Control(control) => control.compiled.is_some(),
        };
        self.steps[launch.steps.clone()].iter().filter(is_nest).count()
    }

    /// For each own launch its number among [all](Lowered::all_launches).
    pub fn launch_numbers(&self) -> Vec<usize> {
        let (mut next, mut known) = (0usize, FxHashMap::default());
        let mut number = |launch: &Launch| {
            let run = self.steps[launch.steps.clone()].iter().filter_map(LoweredStep::run_bodies).flatten();
            let own = next;
            let inner = run.map(|body| body.counted(&mut known));
            next = inner.fold(next.saturating_add(1), usize::saturating_add);
            own
        };
        self.launches.iter().map(&mut number).collect()
    }

    /// Its control flow, in order, without that of the graphs. The program's own first launch is number `first`.
    pub fn numbered_controls(&self, first: usize) -> Vec<NumberedControl<'_>> {
        let (mut all, mut known) = (Vec::new(), FxHashMap::default());
        for (launch, number) in self.launches.iter().zip(self.launch_numbers()) {
            let launch_number = first.saturating_add(number);
            let mut next = launch_number.saturating_add(1);
            for step in launch.steps.clone() {
                let Some(control) = self.steps.get(step).and_then(LoweredStep::control) else { continue };
                let mut bodies = Vec::new();
                for body in self.steps[step].run_bodies().into_iter().flatten() {
                    bodies.push((body, next));
                    next = next.saturating_add(body.counted(&mut known));
                }
                all.push(NumberedControl { step, launch: launch_number, control, bodies });
            }
        }
        all
    }

    /// Recursion is bounded by the nesting of control flow.
    fn add_launches<'a>(&'a self, depth: usize, all: &mut Vec<(&'a Lowered, &'a Launch, usize)>) {
        for launch in &self.launches {
            all.push((self, launch, depth));
            let run = self.steps[launch.steps.clone()].iter().filter_map(LoweredStep::run_bodies).flatten();
            run.for_each(|body| body.add_launches(depth + 1, all));
        }
    }
}
