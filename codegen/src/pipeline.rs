//! The pipeline: the list of passes, and their driver.
//!
//! It has two halves. The portable half makes scheduled loop nests from a traced graph: passes up to *commit* run on the whole program,
//! later ones on one graph, and again on the graphs of its control flow. The target half makes primitives from a nest, for a code
//! generator. Only the driver calls passes. For each pass of both halves it tells an [observer](PassObserver) when the pass begins and what
//! it has made, checks the invariants of the stage that it makes, and names the pass in the error if they are violated.

mod portable;
mod target;

pub use portable::inlined;
pub use target::{expanded, lower_for, lower_for_observed, lower_steps, lower_steps_observed};

use crate::lower::{Lowered, Options};
use crate::target::Target;
use ndjit_ir::graph::{Control, Graph, SourceLocs, Value};
use ndjit_ir::kernel::FusedStep;
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Error, ErrorCode, Result, ValueType};
use ndjit_transform::TypedGraph;
use ndjit_transform::access::contiguous;
use portable::{GraphProgram, TracedProgram};
use rustc_hash::FxHashMap;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use target::TargetNests;

/// Runs the portable half. `layouts` gives the layout of each parameter's elements in memory.
///
/// # Errors
/// `Size` if calls make the program too large, or an array cannot exist; `Literal` if a literal does not fit its dtype; `Verify` if
/// a stage's invariants are violated.
pub fn lower(traced: &Graph<ValueType>, places: &SourceLocs, layouts: &[Layout], options: &Options) -> Result<Lowered> {
    lower_observed(traced, places, layouts, options, &mut Unobserved)
}

/// Like [`lower`], with an observer. Passes after `commit` run again for each graph of control flow.
///
/// # Errors
/// Those of [`lower`].
pub fn lower_observed(
    traced: &Graph<ValueType>,
    places: &SourceLocs,
    layouts: &[Layout],
    options: &Options,
    observer: &mut dyn PassObserver,
) -> Result<Lowered> {
    Driver { options, observer, bodies: FxHashMap::default() }.program(traced, places, layouts)
}

/// What the driver tells of the passes that it runs, for timing and for dumps.
pub trait PassObserver {
    /// A pass begins; its name is one of the [`passes`].
    fn begins(&mut self, pass: &'static str);

    /// The next passes are of a graph of control flow, as the `body` of a `for`, until [`leaves`](PassObserver::leaves).
    fn enters(&mut self, _control: &'static str, _graph: &'static str) {}

    /// The next passes are of the enclosing graph.
    fn leaves(&mut self) {}

    /// The pass has ended, and its result is not yet checked. `made` is the text of the result; it takes time only if it is written.
    fn ends(&mut self, pass: &'static str, made: &dyn Display);
}

/// The observer that ignores everything.
pub struct Unobserved;

impl PassObserver for Unobserved {
    fn begins(&mut self, _: &'static str) {}

    fn ends(&mut self, _: &'static str, _: &dyn Display) {}
}

/// A pass on programs of one form, with its settings.
struct Pass<P, S> {
    name: &'static str,
    /// The stage that it makes, by its name in `explain`.
    stage: &'static str,
    run: fn(&mut P, &S) -> Result<()>,
}

/// What passes change.
trait PassProgram {
    /// Checks the invariants of the stage.
    fn verify(&self, stage: &str) -> Result<()>;

    /// Writes the program in that stage.
    fn write(&self, stage: &str, f: &mut Formatter<'_>) -> fmt::Result;
}

/// Passes on a traced program.
const TRACED: &[Pass<TracedProgram, Options>] = &[
    Pass { name: "inline", stage: "graph", run: TracedProgram::inline },
    Pass { name: "fp_contract", stage: "graph", run: TracedProgram::fp_contract },
    Pass { name: "sink", stage: "graph", run: TracedProgram::sink },
    Pass { name: "hoist", stage: "graph", run: TracedProgram::hoist },
    Pass { name: "commit", stage: "typed", run: TracedProgram::commit },
];

/// Passes on one graph after commit.
const GRAPH: &[Pass<GraphProgram, Options>] = &[
    Pass { name: "simplify", stage: "simplified", run: GraphProgram::simplify },
    Pass { name: "starts", stage: "simplified", run: GraphProgram::starts },
    Pass { name: "networks", stage: "simplified", run: GraphProgram::networks },
    Pass { name: "gathers", stage: "simplified", run: GraphProgram::gathers },
    Pass { name: "windows", stage: "simplified", run: GraphProgram::windows },
    Pass { name: "views", stage: "simplified", run: GraphProgram::views },
    Pass { name: "joins", stage: "simplified", run: GraphProgram::joins },
    // An analysis: it changes nothing, and the passes below read it.
    Pass { name: "accesses", stage: "simplified", run: GraphProgram::accesses },
    Pass { name: "fuse", stage: "kernels", run: GraphProgram::fuse },
    Pass { name: "tile", stage: "kernels", run: GraphProgram::tile },
];

/// Passes on its steps, once the graphs of its control flow are lowered.
const STEPS: &[Pass<GraphProgram, Options>] = &[
    Pass { name: "schedule", stage: "loops", run: GraphProgram::schedule },
    Pass { name: "ranges", stage: "loops", run: GraphProgram::ranges },
    Pass { name: "loop_kernels", stage: "loops", run: GraphProgram::loop_kernels },
];

/// The pass that makes the nests of which code is generated.
const SPLIT: &[Pass<TargetNests, Target>] = &[Pass { name: "split", stage: "expanded", run: TargetNests::split }];

/// Passes on nests that neither reduce nor scan nor sort.
const NESTS: &[Pass<TargetNests, Target>] = &[
    Pass { name: "expand", stage: "expanded", run: TargetNests::expand },
    Pass { name: "legalize", stage: "expanded", run: TargetNests::legalize },
];

/// The names of passes, each with its stage.
fn names<P, S>(passes: &'static [Pass<P, S>]) -> impl Iterator<Item = (&'static str, &'static str)> {
    passes.iter().map(|pass| (pass.name, pass.stage))
}

/// Name and stage of each pass, in the order in which they run.
pub fn passes() -> impl Iterator<Item = (&'static str, &'static str)> {
    names(TRACED).chain(names(GRAPH)).chain(names(STEPS)).chain(target_passes())
}

/// Those of the target half. It runs once per kernel, not per program: kernels are cached by their nests.
pub fn target_passes() -> impl Iterator<Item = (&'static str, &'static str)> {
    names(SPLIT).chain(names(NESTS))
}

/// The number of [those](target_passes).
pub const TARGET_PASSES: usize = SPLIT.len() + NESTS.len();

/// The passes after which the driver checks a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Checked {
    None,
    Last,
    All,
}

/// Runs passes one after the other. Nothing else calls the passes of the lists.
fn run<P: PassProgram, S>(
    passes: &[Pass<P, S>],
    program: &mut P,
    settings: &S,
    checked: Checked,
    observer: &mut dyn PassObserver,
) -> Result<()> {
    for (n, &Pass { name, stage, run }) in passes.iter().enumerate() {
        observer.begins(name);
        run(program, settings)?;
        let text = fmt::from_fn(|f| program.write(stage, f));
        observer.ends(name, &text);
        if checked == Checked::All || checked == Checked::Last && n + 1 == passes.len() {
            program.verify(stage).map_err(|error| after(name, &text, error))?;
        }
    }
    Ok(())
}

/// The maximum number of lines of a program in a pass's error.
const PROGRAM_LINES: usize = 40;

/// The error of a stage's verifier, with the pass that made the program and the program's first lines.
fn after(pass: &str, program: &dyn Display, error: Error) -> Error {
    let text = program.to_string();
    // Enough to find it in a dump.
    let lines = text.lines().take(PROGRAM_LINES).collect::<Vec<&str>>().join("\n");
    error.fact(format_args!("after the pass `{pass}`, of\n{lines}"))
}

/// The driver of a program's passes.
struct Driver<'a> {
    options: &'a Options,
    observer: &'a mut dyn PassObserver,
    /// The lowered graphs of control flow, by address.
    bodies: FxHashMap<*const TypedGraph, Arc<Lowered>>,
}

impl Driver<'_> {
    /// Runs the portable half.
    fn program(&mut self, graph: &Graph<ValueType>, places: &SourceLocs, layouts: &[Layout]) -> Result<Lowered> {
        if self.options.verify {
            graph.verify()?;
        }
        let mut program = TracedProgram { graph: graph.clone(), places: places.clone(), typed: None };
        self.run(TRACED, &mut program)?;
        match program.typed {
            Some(typed) => self.graph(&typed, layouts),
            None => Err(Error::new(ErrorCode::Verify, "pipeline: no pass commits types")),
        }
    }

    fn run<P: PassProgram>(&mut self, passes: &[Pass<P, Options>], program: &mut P) -> Result<()> {
        let checked = if self.options.verify { Checked::All } else { Checked::None };
        run(passes, program, self.options, checked, self.observer)
    }

    /// Runs the passes after commit on a graph, and on those of its control flow. Recursion is bounded by the nesting, which `inline` limits.
    fn graph(&mut self, typed: &TypedGraph, layouts: &[Layout]) -> Result<Lowered> {
        let mut program = GraphProgram::new(typed, layouts);
        self.run(GRAPH, &mut program)?;
        program.bodies = self.control(typed, &program.fused)?;
        self.run(STEPS, &mut program)?;
        Ok(program.finish(typed, self.options))
    }

    /// The lowered graphs of each step that is control flow, in order.
    fn control(&mut self, typed: &TypedGraph, steps: &[FusedStep]) -> Result<Vec<Vec<Arc<Lowered>>>> {
        let known = typed.graph.controls().iter().map(Arc::as_ptr).zip(&typed.bodies);
        let known: FxHashMap<*const Control<DType>, &Vec<Arc<TypedGraph>>> = known.collect();
        let mut all = Vec::new();
        for step in steps {
            let FusedStep::Control(fused) = step else { continue };
            let Some(bodies) = known.get(&Arc::as_ptr(&fused.control.0)) else {
                return Err(Error::new(ErrorCode::Verify, "pipeline: control flow whose graphs have no types"));
            };
            let kind = fused.control.0.kind;
            let mut lowered = Vec::with_capacity(bodies.len());
            for (body, name) in bodies.iter().zip(kind.graphs()) {
                self.observer.enters(kind.name(), name);
                lowered.push(self.body(body)?);
                self.observer.leaves();
            }
            all.push(lowered);
        }
        Ok(all)
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that its passes change, and that must stay below 10.
    struct Number(u32);

    impl PassProgram for Number {
        fn verify(&self, stage: &str) -> Result<()> {
            match self.0 {
                0..10 => Ok(()),
                _ => Err(Error::new(ErrorCode::Verify, format!("{stage}: it is too large"))),
            }
        }

        fn write(&self, _: &str, f: &mut Formatter<'_>) -> fmt::Result {
            (0..50).try_for_each(|_| writeln!(f, "line {}", self.0))
        }
    }

    fn pass(name: &'static str, stage: &'static str, run: fn(&mut Number, &u32) -> Result<()>) -> Pass<Number, u32> {
        Pass { name, stage, run }
    }

    fn numbers() -> [Pass<Number, u32>; 3] {
        let add = pass("add", "sum", |number, by| {
            number.0 += by;
            Ok(())
        });
        let scale = pass("scale", "product", |number, by| {
            number.0 *= by;
            Ok(())
        });
        let clear = pass("clear", "product", |number, _| {
            number.0 = 0;
            Ok(())
        });
        [add, scale, clear]
    }

    /// The passes that begin, and the first line of what they make.
    #[derive(Default)]
    struct Told(Vec<String>);

    impl PassObserver for Told {
        fn begins(&mut self, pass: &'static str) {
            self.0.push(format!("{pass} begins"));
        }

        fn ends(&mut self, pass: &'static str, made: &dyn Display) {
            let made = made.to_string();
            self.0.push(format!("{pass} made {}", made.lines().next().unwrap_or_default()));
        }
    }

    #[test]
    fn errors_say_after_which_pass_a_program_is_not_well_formed() {
        let (passes, mut told) = (numbers(), Told::default());
        let error = run(&passes, &mut Number(3), &4, Checked::All, &mut told).unwrap_err();
        let facts = error.facts().join("");
        assert_eq!(error.headline(), "product: it is too large");
        assert!(facts.starts_with("after the pass `scale`, of\nline 28\n"), "{facts}");
        assert_eq!(facts.matches("line").count(), PROGRAM_LINES);
        // The result is told before it is checked, for dumps.
        assert_eq!(told.0, ["add begins", "add made line 7", "scale begins", "scale made line 28"]);
        assert!(run(&passes, &mut Number(3), &4, Checked::Last, &mut Unobserved).is_ok());
        let last = run(&passes[..2], &mut Number(3), &4, Checked::Last, &mut Unobserved).unwrap_err();
        assert_eq!(last, error);
        assert!(run(&passes[..2], &mut Number(3), &4, Checked::None, &mut Unobserved).is_ok());
    }
}
