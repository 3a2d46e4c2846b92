//! The pipeline: one visible list of named passes from traced graph to loop nests, with a verifier after each.

use crate::passes::access::{Accesses, contiguous};
use crate::passes::{
    commit::commit,
    fp_contract::fp_contract,
    fuse::fuse,
    inline::inline,
    schedule::schedule,
    simplify::simplify,
    tile::{Launch, one_by_one, tile},
    views::views,
    windows::windows,
};
use ndjit_ir::explain::{Conversions, Explainer};
use ndjit_ir::graph::{Graph, NodeId, Places, SlotId, Value};
use ndjit_ir::kernel::{FusedKernel, verify_kernels};
use ndjit_ir::loops::{Geometry, Layout, LoopNest};
use ndjit_ir::{DType, Policy, Result, ValueType};

/// The passes, in the order they run: name, and the stage each makes.
pub const PASSES: &[(&str, &str)] = &[
    ("inline", "graph"),
    ("fp_contract", "graph"),
    ("commit", "typed"),
    ("simplify", "simplified"),
    ("windows", "simplified"),
    ("views", "simplified"),
    ("fuse", "kernels"),
    ("tile", "kernels"),
    ("schedule", "loops"),
    ("split", "expanded"),
    ("expand", "expanded"),
    ("legalize", "expanded"),
];

/// Arrays a kernel may use, where the device has no limit: 16 that it reads, 8 results.
pub const MAX_ARRAYS: usize = 24;

/// What the pipeline may do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The policy whose default dtypes weak literals have that are results.
    pub policy: Policy,
    /// Put elementwise ops into common kernels; without it every op is a kernel of its own.
    pub fuse: bool,
    /// How many arrays a kernel may use, of what it reads and of the program's results.
    pub max_arrays: usize,
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
    /// Slot and dtype of each literal.
    pub literals: Vec<(SlotId, DType)>,
    /// The loop that tiles are cut along, in a launch of several kernels.
    pub tile: Option<TileLoop>,
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
    pub traced: Graph<ValueType>,
    /// Where the traced nodes were written.
    pub places: Places,
    /// After commit: every dtype resolved, every cast explicit.
    pub typed: Graph<DType>,
    /// What asked for each cast and weak number of `typed`.
    pub conversions: Conversions,
    /// The policy whose default dtypes weak literals have that are results.
    pub policy: Policy,
    /// After the rewrite rules. Same parameters as `traced`; its outputs are the program's results, in order.
    pub simplified: Graph<DType>,
    /// After fusion, in an order in which they can run. Every output of `simplified` is an output of some kernel.
    pub kernels: Vec<FusedKernel>,
    /// After scheduling, parallel to `kernels`.
    pub scheduled: Vec<Scheduled>,
    /// For each result the value that is stored for it: itself, or one with the same elements in the same order.
    pub stored: Vec<Value>,
    /// Which kernels run together.
    pub launches: Vec<Launch>,
}

impl Lowered {
    /// What asked for a node of the typed graph, in words; nothing for operations of the traced graph that are one operation there.
    pub fn reasons(&self, typed: NodeId) -> impl Iterator<Item = String> {
        let explainer = Explainer::new(&self.traced, &self.places).policy(self.policy);
        self.conversions.of(typed).map(move |reason| explainer.reason(reason).to_string())
    }

    /// The text of the typed graph, each cast, each weak number and each part of a reduction with what asked for it.
    pub fn typed_text(&self) -> String {
        self.typed
            .display_noted(|id| {
                self.reasons(id).filter(|reason| !reason.is_empty()).collect::<Vec<String>>().join(" | ")
            })
            .to_string()
    }
}

/// Runs the pipeline. `layouts` gives the layout of each parameter's elements in memory.
///
/// # Errors
/// `Literal` where a literal does not fit its dtype; `Size` where an array cannot exist; `Verify` where a stage's invariants do
/// not hold.
pub fn lower(traced: &Graph<ValueType>, places: &Places, layouts: &[Layout], options: &Options) -> Result<Lowered> {
    lower_observed(traced, places, layouts, options, &mut |_| {})
}

/// As [`lower`]; `begins` hears of each pass as it begins, by its name in [`PASSES`], so that who has a clock can take its time.
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
    begins("inline");
    let check = |stage: &dyn Fn() -> Result<()>| if options.verify { stage() } else { Ok(()) };
    check(&|| traced.verify())?;
    let (mut traced, mut places) = inline(traced, places)?;
    traced.seal();
    check(&|| traced.verify())?;
    begins("fp_contract");
    if options.fp_contract {
        (traced, places) = fp_contract(&traced, &places);
        traced.seal();
        check(&|| traced.verify())?;
    }
    begins("commit");
    let (mut typed, conversions) = commit(&traced, &places, options.policy)?;
    typed.seal();
    check(&|| typed.verify())?;
    let stages = Traced { traced, places, typed, conversions };
    lower_typed(stages, layouts, options, begins)
}

/// What the first passes made.
struct Traced {
    traced: Graph<ValueType>,
    places: Places,
    typed: Graph<DType>,
    conversions: Conversions,
}

/// Runs the passes after commit on the graph of control flow, whose parameters are C-contiguous.
///
/// # Errors
/// Those of [`lower`].
pub fn lower_inner(typed: &Graph<DType>, options: &Options) -> Result<Lowered> {
    let own = |&param: &Value| contiguous(typed.shape(param), typed.ty(param));
    let layouts: Vec<Layout> = typed.params().iter().map(own).collect::<Result<_>>()?;
    let stages = Traced {
        traced: Graph::new(),
        places: Places::default(),
        typed: typed.clone(),
        conversions: Conversions::default(),
    };
    lower_typed(stages, &layouts, options, &mut |_| {})
}

fn lower_typed(
    stages: Traced,
    layouts: &[Layout],
    options: &Options,
    begins: &mut dyn FnMut(&'static str),
) -> Result<Lowered> {
    let Traced { traced, places, typed, conversions } = stages;
    let check = |stage: &dyn Fn() -> Result<()>| if options.verify { stage() } else { Ok(()) };
    begins("simplify");
    let mut simplified = if options.simplify { simplify(&typed)? } else { typed.clone() };
    simplified.seal();
    check(&|| simplified.verify())?;
    if options.simplify {
        let replaced = |old: Graph<DType>, new: Option<Graph<DType>>| {
            let Some(mut new) = new else { return Ok(old) };
            new.seal();
            check(&|| new.verify())?;
            Ok(new)
        };
        begins("windows");
        let new = windows(&simplified)?;
        simplified = replaced(simplified, new)?;
        begins("views");
        let new = views(&simplified, layouts)?;
        simplified = replaced(simplified, new)?;
    }
    begins("fuse");
    let accesses = Accesses::new(&simplified, layouts)?;
    let kernels = fuse(&simplified, &accesses, layouts, options.fuse, options.max_arrays)?;
    check(&|| verify_kernels(&kernels, &simplified))?;
    begins("tile");
    let launches = if options.fuse { tile(&kernels, &simplified, &accesses) } else { one_by_one(kernels.len()) };
    begins("schedule");
    let mut scheduled: Vec<Scheduled> = Vec::with_capacity(kernels.len());
    for launch in &launches {
        for n in launch.kernels.clone() {
            scheduled.push(schedule(&kernels[n], &simplified, layouts, &accesses, launch.axis(n))?);
        }
    }
    scheduled.iter().try_for_each(|s| check(&|| s.nest.verify()))?;
    let policy = options.policy;
    let stored = simplified.outputs().iter().map(|&output| accesses.result(&simplified, output)).collect();
    Ok(Lowered { traced, places, typed, conversions, policy, simplified, kernels, scheduled, stored, launches })
}
