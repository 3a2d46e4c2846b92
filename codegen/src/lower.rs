//! Lowered programs: what the portable half of the [pipeline](crate::pipeline) makes of a traced graph, each stage kept for inspection.

use crate::passes::loops::LoopKernel;
use crate::passes::tile::Launch;
use crate::pipeline::Driver;
use ndjit_ir::graph::{Graph, Places, SlotId, Value};
use ndjit_ir::kernel::{FusedControl, FusedKernel};
use ndjit_ir::loops::{Geometry, Layout, LoopNest};
use ndjit_ir::{DType, Policy, Result, ValueType};
use ndjit_transform::Conversions;
use ndjit_transform::access::{TracedIndex, TracedRow};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Arrays a kernel may use, where the device has no limit: 16 that it reads, 8 results.
pub const MAX_ARRAYS: usize = 24;

/// What the pipeline may do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The policy whose default dtypes weak literals have that are results.
    pub policy: Policy,
    /// Put elementwise ops into common kernels, and steps of loops into nests; without it every op is a kernel of its own.
    pub fuse: bool,
    /// How many arrays a kernel may use, of what it reads and of the program's results.
    pub max_arrays: usize,
    /// How many the device takes, where it has a limit: what other kernels read of one counts as its arrays, too, and is known only once all are fused. Programs
    /// with a kernel that uses more are not fused.
    pub device_arrays: Option<usize>,
    /// Run the pass that makes one operation of a product and a sum, which rounds once.
    pub fp_contract: bool,
    /// Run the simplify pass.
    pub simplify: bool,
    /// Run every stage's verifier, also in release builds.
    pub verify: bool,
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

/// One kernel after the schedule pass.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// The loops: the key of the kernel cache.
    pub nest: LoopNest,
    /// Their run-time arguments.
    pub geometry: Geometry,
    /// The simplified graph's value each input reads.
    pub inputs: Vec<Value>,
    /// The simplified graph's value each output stores, or of which it stores a part: a C-contiguous array of that value's
    /// shape and dtype.
    pub outputs: Vec<Value>,
    /// The value that the only output is where no index is stored, of its shape and dtype.
    pub rest: Option<Value>,
    /// Operands, inputs before outputs, that begin at a row whose index is known when the program runs. One beyond the rows is the nearest for an input; for an
    /// output nothing is stored.
    pub rows: Vec<(usize, TracedRow)>,
    /// How many trips of a loop there is something to do in.
    pub trips: Option<TracedTrips>,
    /// Slot and dtype of each literal.
    pub literals: Vec<(SlotId, DType)>,
    /// The loop that tiles are cut along, in a launch of several kernels.
    pub tile: Option<TileLoop>,
}

/// How many trips a loop that is reduced takes: known when the program runs. What it would reduce after them changes no bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedTrips {
    /// The loop.
    pub index: usize,
    /// An integer: as many, but no less than none and no more than the loop has.
    pub count: TracedIndex,
    /// How many more.
    pub more: isize,
}

/// A step of a lowered program.
#[derive(Clone, Debug)]
// Almost every step is a kernel: a box for each would save nothing.
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
    /// What it takes and gives.
    pub fused: FusedControl,
    /// The programs of its graphs; the same where pieces of control flow share one.
    pub bodies: Vec<Arc<Lowered>>,
    /// The loop as a nest, if its steps are one: then no program of a graph runs on the processor.
    pub compiled: Option<LoopKernel>,
}

impl LoweredStep {
    /// The kernel, if it is one.
    pub fn kernel(&self) -> Option<&LoweredKernel> {
        match self {
            LoweredStep::Kernel(kernel) => Some(kernel),
            LoweredStep::Control(_) => None,
        }
    }

    /// The programs that it runs, if it is control flow that no kernel takes the steps of.
    fn run_bodies(&self) -> Option<&Vec<Arc<Lowered>>> {
        self.control().filter(|control| control.compiled.is_none()).map(|control| &control.bodies)
    }

    /// The simplified graph's values that it makes, or parts of them.
    pub fn makes(&self) -> impl Iterator<Item = Value> {
        let (outputs, results) = match self {
            LoweredStep::Kernel(kernel) => (&kernel.scheduled.outputs[..], &[][..]),
            LoweredStep::Control(control) => (&[][..], &control.fused.results[..]),
        };
        outputs.iter().copied().chain(results.iter().map(|&(_, value)| value))
    }

    /// The control flow, if it is that.
    pub fn control(&self) -> Option<&LoweredControl> {
        match self {
            LoweredStep::Kernel(_) => None,
            LoweredStep::Control(control) => Some(control),
        }
    }
}

/// Where tiles of a kernel are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileLoop {
    /// The loop.
    pub index: usize,
    /// How many of its trips one index along the tiles' axis takes.
    pub step: usize,
}

/// A program after every pass that does not depend on the machine; each stage is kept for inspection.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// As traced, calls inlined.
    pub traced: Arc<Graph<ValueType>>,
    /// Where the traced nodes were written.
    pub places: Arc<Places>,
    /// After commit: every dtype resolved, every cast explicit.
    pub typed: Arc<Graph<DType>>,
    /// What asked for each cast and weak number of `typed`.
    pub conversions: Conversions,
    /// The policy whose default dtypes weak literals have that are results.
    pub policy: Policy,
    /// After the rewrite rules. Same parameters as `traced`; its outputs are the program's results, in order.
    pub simplified: Graph<DType>,
    /// Its steps after fusion and scheduling, in an order in which they can run. Every output of `simplified` is made by some step.
    pub steps: Vec<LoweredStep>,
    /// For each result the value that is stored for it: itself, or one with the same elements in the same order.
    pub stored: Vec<Value>,
    /// Which steps run together.
    pub launches: Vec<Launch>,
}

impl Lowered {
    /// Its kernels, without those of control flow.
    pub fn kernels(&self) -> impl DoubleEndedIterator<Item = &LoweredKernel> {
        self.steps.iter().filter_map(LoweredStep::kernel)
    }

    /// The programs of its control flow, and of that in them, each once, in the order in which they stand.
    pub fn bodies(&self) -> Vec<&Lowered> {
        let mut seen: FxHashSet<*const Lowered> = FxHashSet::default();
        let (mut all, mut stack) = (Vec::new(), vec![self]);
        while let Some(lowered) = stack.pop() {
            all.push(lowered);
            let inner = lowered
                .steps
                .iter()
                .rev()
                .filter_map(LoweredStep::control)
                .flat_map(|control| control.bodies.iter().rev());
            stack.extend(inner.filter(|body| seen.insert(Arc::as_ptr(body))).map(|body| &**body));
        }
        all.split_off(1)
    }

    /// Its launches in the order they run, after one that is control flow those of its graphs, unless it is a compiled loop; each with the program that it is of, and how deep in
    /// control flow that stands.
    pub fn all_launches(&self) -> Vec<(&Lowered, &Launch, usize)> {
        let mut all = Vec::new();
        self.add_launches(0, &mut all);
        all
    }

    /// The number of [launches](Lowered::all_launches).
    pub fn kernel_count(&self) -> usize {
        self.counted(&mut FxHashMap::default())
    }

    /// The same, of graphs that pieces of control flow share once: by address.
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

    /// For each of its own launches its number among [all](Lowered::all_launches).
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

    /// As deep as control flow nests.
    fn add_launches<'a>(&'a self, depth: usize, all: &mut Vec<(&'a Lowered, &'a Launch, usize)>) {
        for launch in &self.launches {
            all.push((self, launch, depth));
            let run = self.steps[launch.steps.clone()].iter().filter_map(LoweredStep::run_bodies).flatten();
            run.for_each(|body| body.add_launches(depth + 1, all));
        }
    }
}

/// Runs the pipeline. `layouts` gives the layout of each parameter's elements in memory.
///
/// # Errors
/// `Size` where calls make the program too large, or an array cannot exist; `Literal` where a literal does not fit its dtype; `Verify` where a
/// stage's invariants do not hold.
pub fn lower(traced: &Graph<ValueType>, places: &Places, layouts: &[Layout], options: &Options) -> Result<Lowered> {
    lower_observed(traced, places, layouts, options, &mut |_| {})
}

/// As [`lower`]; `begins` hears of each pass as it begins, by its name among the [passes](crate::pipeline::passes), so that who has a clock can take its time. Passes after
/// `commit` begin again for each graph of control flow.
///
/// # Errors
/// Those of [`lower`].
pub fn lower_observed(
    traced: &Graph<ValueType>,
    places: &Places,
    layouts: &[Layout],
    options: &Options,
    begins: &mut dyn FnMut(&'static str),
) -> Result<Lowered> {
    Driver::new(options, begins).program(traced, places, layouts)
}
