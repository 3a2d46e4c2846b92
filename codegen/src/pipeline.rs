//! The pipeline: the list of passes, and their driver.
//!
//! It has two halves. The portable half makes scheduled loop nests from a traced graph: passes up to *commit* run on the whole program,
//! later ones on one graph, and again on the graphs of its control flow. The target half makes primitives from a nest, for a code
//! generator. Only the driver calls passes: it reports the start of each, checks the invariants of the stage that it makes, and names
//! the pass in the error if they are violated.

use crate::lower::{Lowered, LoweredControl, LoweredKernel, LoweredStep, Options};
use crate::passes::expand::expand;
use crate::passes::fuse::{arrays, fuse};
use crate::passes::legalize::legalize;
use crate::passes::loops::{LoopKernel, compiled};
use crate::passes::schedule::schedule;
use crate::passes::split::{NestPart, TargetKernel, split};
use crate::passes::tile::{Launch, one_by_one, tile};
use crate::scheduled::Scheduled;
use crate::target::Target;
use ndjit_ir::graph::{Control, Graph, SourceLocs, Value};
use ndjit_ir::kernel::{FusedStep, verify_steps};
use ndjit_ir::loops::{Layout, LoopNest};
use ndjit_ir::{DType, Error, ErrorCode, Result, ValueType};
use ndjit_transform::access::{Accesses, contiguous};
use ndjit_transform::{
    TypedGraph, commit, fp_contract, gathers, hoist, inline, joins, networks, simplify, views, windows,
};
use rustc_hash::FxHashMap;
use std::fmt::Display;
use std::sync::Arc;

/// Runs the pipeline. `layouts` gives the layout of each parameter's elements in memory.
///
/// # Errors
/// `Size` if calls make the program too large, or an array cannot exist; `Literal` if a literal does not fit its dtype; `Verify` if
/// a stage's invariants are violated.
pub fn lower(traced: &Graph<ValueType>, places: &SourceLocs, layouts: &[Layout], options: &Options) -> Result<Lowered> {
    lower_observed(traced, places, layouts, options, &mut |_| {})
}

/// Like [`lower`]; calls `begins` at the start of each pass with its name among the [`passes`], for timing.
/// Passes after `commit` run again for each graph of control flow.
///
/// # Errors
/// Those of [`lower`].
pub fn lower_observed(
    traced: &Graph<ValueType>,
    places: &SourceLocs,
    layouts: &[Layout],
    options: &Options,
    begins: &mut dyn FnMut(&'static str),
) -> Result<Lowered> {
    Driver::new(options, begins).program(traced, places, layouts)
}

/// A pass.
pub struct Pass<P> {
    /// The name.
    pub name: &'static str,
    /// The stage that it makes, by its name in `explain`.
    pub stage: &'static str,
    run: P,
}

/// On a traced program.
type OfTraced = fn(&mut TracedProgram, &Options) -> Result<()>;
/// On one graph after commit.
type OfGraph = fn(&mut Typing<'_>, &mut Driver<'_>) -> Result<()>;
/// On one nest that neither reduces nor scans nor sorts, for a target.
type OfNest = fn(LoopNest, &Target) -> Result<LoopNest>;

const TRACED: &[Pass<OfTraced>] = &[
    Pass { name: "inline", stage: "graph", run: TracedProgram::inline },
    Pass { name: "fp_contract", stage: "graph", run: TracedProgram::fp_contract },
    Pass { name: "hoist", stage: "graph", run: TracedProgram::hoist },
    Pass { name: "commit", stage: "typed", run: TracedProgram::commit },
];

const GRAPH: &[Pass<OfGraph>] = &[
    Pass { name: "simplify", stage: "simplified", run: |graph, driver| graph.simplify(driver) },
    Pass { name: "networks", stage: "simplified", run: |graph, driver| graph.networks(driver) },
    Pass { name: "gathers", stage: "simplified", run: |graph, driver| graph.gathers(driver) },
    Pass { name: "windows", stage: "simplified", run: |graph, driver| graph.windows(driver) },
    Pass { name: "views", stage: "simplified", run: |graph, driver| graph.views(driver) },
    Pass { name: "joins", stage: "simplified", run: |graph, driver| graph.joins(driver) },
    Pass { name: "fuse", stage: "kernels", run: |graph, driver| graph.fuse(driver) },
    Pass { name: "tile", stage: "kernels", run: |graph, driver| graph.tile(driver) },
    Pass { name: "schedule", stage: "loops", run: |graph, driver| graph.schedule(driver) },
];

/// [Split](crate::passes::split) comes first and makes the nests for code generation.
const NEST: &[Pass<OfNest>] = &[
    Pass { name: "expand", stage: "expanded", run: |nest, _| expand(&nest) },
    Pass { name: "legalize", stage: "expanded", run: legalize },
];

/// Name and stage of each pass, in the order in which they run.
pub fn passes() -> impl Iterator<Item = (&'static str, &'static str)> {
    fn named<P>(passes: &'static [Pass<P>]) -> impl Iterator<Item = (&'static str, &'static str)> {
        passes.iter().map(|pass| (pass.name, pass.stage))
    }
    named(TRACED).chain(named(GRAPH)).chain([("split", "expanded")]).chain(named(NEST))
}

/// The driver of a program's passes.
pub(crate) struct Driver<'a> {
    options: &'a Options,
    /// Called at the start of each pass.
    begins: &'a mut dyn FnMut(&'static str),
    /// The lowered graphs of control flow, by address.
    bodies: FxHashMap<*const TypedGraph, Arc<Lowered>>,
}

impl<'a> Driver<'a> {
    pub fn new(options: &'a Options, begins: &'a mut dyn FnMut(&'static str)) -> Driver<'a> {
        Driver { options, begins, bodies: FxHashMap::default() }
    }

    /// Runs the portable half.
    pub fn program(&mut self, graph: &Graph<ValueType>, places: &SourceLocs, layouts: &[Layout]) -> Result<Lowered> {
        if self.options.verify {
            graph.verify()?;
        }
        let mut program = TracedProgram { graph: graph.clone(), places: places.clone(), typed: None };
        for pass in TRACED {
            (self.begins)(pass.name);
            (pass.run)(&mut program, self.options)?;
            self.check(pass.name, || program.verify(), || program.text())?;
        }
        match program.typed {
            Some(typed) => self.graph(&typed, layouts),
            None => Err(Error::new(ErrorCode::Verify, "pipeline: no pass commits types")),
        }
    }

    /// Runs the passes after commit on a graph, and on those of its control flow. Recursion is bounded by the nesting, which `inline` limits.
    fn graph(&mut self, typed: &TypedGraph, layouts: &[Layout]) -> Result<Lowered> {
        let mut program = Typing {
            typed,
            layouts,
            simplified: Graph::clone(&typed.graph),
            accesses: Accesses::default(),
            fused: Vec::new(),
            together: false,
            launches: Vec::new(),
            steps: Vec::new(),
        };
        for pass in GRAPH {
            (self.begins)(pass.name);
            (pass.run)(&mut program, self)?;
            self.check(pass.name, || program.verify(pass.stage), || program.simplified.to_string())?;
        }
        let Typing { simplified, accesses, launches, steps, .. } = program;
        let stored = simplified.outputs().iter().map(|&output| accesses.result(&simplified, output)).collect();
        let TypedGraph { traced, places, graph, conversions, .. } = typed;
        let (traced, places, typed) = (Arc::clone(traced), Arc::clone(places), Arc::clone(graph));
        let (conversions, policy) = (conversions.clone(), self.options.policy);
        Ok(Lowered { traced, places, typed, conversions, policy, simplified, steps, stored, launches })
    }

    /// A graph of control flow, whose parameters are C-contiguous.
    fn body(&mut self, typed: &Arc<TypedGraph>) -> Result<Arc<Lowered>> {
        if let Some(known) = self.bodies.get(&Arc::as_ptr(typed)) {
            return Ok(Arc::clone(known));
        }
        let graph = &typed.graph;
        let own = |&param: &Value| contiguous(graph.shape(param), graph.ty(param));
        let layouts: Vec<Layout> = graph.params().iter().map(own).collect::<Result<_>>()?;
        let lowered = Arc::new(self.graph(typed, &layouts)?);
        self.bodies.insert(Arc::as_ptr(typed), Arc::clone(&lowered));
        Ok(lowered)
    }

    /// Checks the invariants of a stage; an error names the pass, and shows the program.
    fn check<T: Display>(
        &self,
        pass: &str,
        verify: impl FnOnce() -> Result<()>,
        program: impl FnOnce() -> T,
    ) -> Result<()> {
        if !self.options.verify {
            return Ok(());
        }
        verify().map_err(|error| {
            let text = program().to_string();
            // Enough to find it in a dump.
            let lines = text.lines().take(PROGRAM_LINES).collect::<Vec<&str>>().join("\n");
            error.fact(format_args!("after the pass `{pass}`, of\n{lines}"))
        })
    }
}

/// The maximum number of lines of a program in a pass's error.
const PROGRAM_LINES: usize = 40;

/// Runs the target half on a nest of ops. It runs once per kernel, not per program: kernels are cached by their nests.
///
/// # Errors
/// `Verify` if the invariants of the nest or of a pass's result are violated; `Backend` if the target does not support the nest.
pub fn lower_for(nest: &LoopNest, target: &Target) -> Result<TargetKernel> {
    nest.verify()?;
    let mut kernel = split(nest, target.combining)?;
    // Parts may be the same nest in other forms of code.
    let mut made: Vec<(Arc<LoopNest>, Arc<LoopNest>)> = Vec::new();
    for part in kernel.parts_mut() {
        part.nest = match made.iter().find(|(ops, _)| *ops == part.ops) {
            Some((_, nest)) => Arc::clone(nest),
            None => {
                let nest = Arc::new(expanded(&part.ops, target)?);
                made.push((Arc::clone(&part.ops), Arc::clone(&nest)));
                nest
            }
        };
    }
    Ok(kernel)
}

/// The nest of a loop's steps, for a target.
///
/// # Errors
/// Those of [`lower_for`].
pub fn lower_steps(kernel: &LoopKernel, target: &Target) -> Result<NestPart> {
    let nest = Arc::new(expanded(&kernel.nest, target)?);
    Ok(NestPart {
        name: Some("steps"),
        ops: Arc::clone(&kernel.nest),
        nest,
        form: kernel.form,
        wide: false,
        pairs: None,
    })
}

/// A nest of ops as primitives of a target, with its reduction, scan, sort or scatter. [`lower_for`] makes the nests for code generation.
///
/// # Errors
/// Those of [`lower_for`].
pub fn expanded(nest: &LoopNest, target: &Target) -> Result<LoopNest> {
    let mut nest = nest.clone();
    for (n, pass) in NEST.iter().enumerate() {
        nest = (pass.run)(nest, target)?;
        // Machine code is generated only from verified nests; between passes verification takes a tenth of the time to compile a long body.
        if cfg!(debug_assertions) || n + 1 == NEST.len() {
            let after = |error: Error| error.fact(format_args!("after the pass `{}`, for {}", pass.name, target.name));
            nest.verify().map_err(after)?;
        }
    }
    Ok(nest)
}

/// A program up to commit.
struct TracedProgram {
    graph: Graph<ValueType>,
    places: SourceLocs,
    typed: Option<TypedGraph>,
}

impl TracedProgram {
    fn inline(&mut self, _: &Options) -> Result<()> {
        (self.graph, self.places) = inline(&self.graph, &self.places)?;
        self.graph.seal();
        Ok(())
    }

    fn fp_contract(&mut self, options: &Options) -> Result<()> {
        if options.fp_contract {
            (self.graph, self.places) = fp_contract(&self.graph, &self.places);
            self.graph.seal();
        }
        Ok(())
    }

    fn hoist(&mut self, options: &Options) -> Result<()> {
        if options.simplify
            && let Some((graph, places)) = hoist(&self.graph, &self.places, options.policy)
        {
            (self.graph, self.places) = (graph, places);
            self.graph.seal();
        }
        Ok(())
    }

    fn commit(&mut self, options: &Options) -> Result<()> {
        let (graph, places) = (std::mem::take(&mut self.graph), std::mem::take(&mut self.places));
        self.typed = Some(commit(Arc::new(graph), Arc::new(places), options.policy)?);
        Ok(())
    }

    fn text(&self) -> String {
        self.typed.as_ref().map_or_else(|| self.graph.to_string(), |typed| typed.graph.to_string())
    }

    fn verify(&self) -> Result<()> {
        match &self.typed {
            None => self.graph.verify(),
            Some(typed) => typed.graph.verify(),
        }
    }
}

/// A graph from commit to its loops.
struct Typing<'a> {
    typed: &'a TypedGraph,
    layouts: &'a [Layout],
    simplified: Graph<DType>,
    accesses: Accesses,
    fused: Vec<FusedStep>,
    /// True if ops are fused.
    together: bool,
    launches: Vec<Launch>,
    steps: Vec<LoweredStep>,
}

impl Typing<'_> {
    fn simplify(&mut self, driver: &mut Driver<'_>) -> Result<()> {
        if driver.options.simplify {
            self.simplified = simplify(&self.typed.graph)?;
        }
        self.simplified.seal();
        Ok(())
    }

    fn networks(&mut self, driver: &mut Driver<'_>) -> Result<()> {
        let new = if driver.options.simplify { networks(&self.simplified)? } else { None };
        self.replace(new);
        Ok(())
    }

    fn gathers(&mut self, driver: &mut Driver<'_>) -> Result<()> {
        let new = if driver.options.simplify { gathers(&self.simplified)? } else { None };
        self.replace(new);
        Ok(())
    }

    fn windows(&mut self, driver: &mut Driver<'_>) -> Result<()> {
        let new = if driver.options.simplify { windows(&self.simplified)? } else { None };
        self.replace(new);
        Ok(())
    }

    fn views(&mut self, driver: &mut Driver<'_>) -> Result<()> {
        let new = if driver.options.simplify { views(&self.simplified, self.layouts)? } else { None };
        self.replace(new);
        Ok(())
    }

    fn joins(&mut self, driver: &mut Driver<'_>) -> Result<()> {
        let new = if driver.options.simplify && driver.options.fuse { joins(&self.simplified)? } else { None };
        self.replace(new);
        // On the processor the callers of kernels compute addresses.
        let rows = driver.options.fuse && driver.options.device_arrays.is_none();
        self.accesses = Accesses::new(&self.simplified, self.layouts, rows)?;
        Ok(())
    }

    fn replace(&mut self, new: Option<Graph<DType>>) {
        if let Some(new) = new {
            self.simplified = new;
            self.simplified.seal();
        }
    }

    fn fuse(&mut self, driver: &mut Driver<'_>) -> Result<()> {
        let Options { fuse: together, max_arrays, device_arrays, .. } = *driver.options;
        let most = device_arrays.map_or(max_arrays, |most| most.min(max_arrays));
        let fused = |together| fuse(&self.simplified, &self.accesses, self.layouts, together, most);
        self.fused = fused(together)?;
        self.together = together;
        if device_arrays
            .is_some_and(|most| self.fused.iter().any(|step| arrays(step, &self.simplified, &self.accesses) > most))
        {
            self.together = false;
            self.fused = fused(false)?;
        }
        Ok(())
    }

    fn tile(&mut self, _: &mut Driver<'_>) -> Result<()> {
        self.launches = match self.together {
            true => tile(&self.fused, &self.simplified, &self.accesses),
            false => one_by_one(self.fused.len()),
        };
        Ok(())
    }

    fn schedule(&mut self, driver: &mut Driver<'_>) -> Result<()> {
        let controls = self.typed.graph.controls().iter().map(Arc::as_ptr).zip(&self.typed.bodies);
        let controls: FxHashMap<*const Control<DType>, &Vec<Arc<TypedGraph>>> = controls.collect();
        let axes = self.launches.iter().flat_map(|launch| launch.steps.clone().map(|n| launch.axis(n)));
        for (step, axis) in std::mem::take(&mut self.fused).into_iter().zip(axes) {
            self.steps.push(match step {
                FusedStep::Kernel(fused) => {
                    let scheduled = schedule(&fused, &self.simplified, self.layouts, &self.accesses, axis)?;
                    LoweredStep::Kernel(LoweredKernel { fused, scheduled })
                }
                FusedStep::Control(fused) => {
                    let Some(bodies) = controls.get(&Arc::as_ptr(&fused.control.0)) else {
                        return Err(Error::new(ErrorCode::Verify, "schedule: control flow whose graphs have no types"));
                    };
                    let bodies = bodies.iter().map(|body| driver.body(body)).collect::<Result<Vec<_>>>()?;
                    let compiled = match driver.options.fuse {
                        true => compiled(&fused.control.0, &bodies)?,
                        false => None,
                    };
                    LoweredStep::Control(LoweredControl { fused, bodies, compiled })
                }
            });
        }
        Ok(())
    }

    fn verify(&self, stage: &str) -> Result<()> {
        match stage {
            "simplified" => self.simplified.verify(),
            "kernels" => verify_steps(&self.fused, &self.simplified),
            _ => {
                let mut nests = self.steps.iter().filter_map(LoweredStep::kernel);
                nests.try_for_each(|LoweredKernel { scheduled: Scheduled { nest, .. }, .. }| nest.verify())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_after_which_pass_a_program_is_not_well_formed() {
        let (options, begins) = (Options { verify: true, ..Options::default() }, &mut |_| {});
        let driver = Driver::new(&options, begins);
        let wrong = || Err(Error::new(ErrorCode::Verify, "graph"));
        let error = driver.check("views", wrong, || "line\n".repeat(50)).unwrap_err();
        let facts = error.facts().join("");
        assert!(facts.starts_with("after the pass `views`, of\nline\n"), "{facts}");
        assert_eq!(facts.matches("line").count(), PROGRAM_LINES);
        let unchecked = Options { verify: false, ..Options::default() };
        assert!(Driver::new(&unchecked, &mut |_| {}).check("views", wrong, String::new).is_ok());
    }
}
