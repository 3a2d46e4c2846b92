//! Plans: a program lowered and compiled for one signature.

use crate::argument::{ArgumentType, CallArgument, Signature, inputs};
use crate::array::ArrayRef;
use crate::counts;
use crate::infer;
use crate::nonfinite::NanCheck;
use crate::observer::{CallObserver, PlanObservers};
use crate::options::PlanOptions;
use crate::plan::dump::{self, PassReport};
use crate::settings::Settings;
use ndjit_codegen::pipeline::target_passes;
use ndjit_codegen::{Lowered, lower_observed};
use ndjit_inspect::clock::Clock;
use ndjit_inspect::explain::{self, Explainer, Explanation, Origin, Widening};
use ndjit_inspect::interpret;
use ndjit_inspect::listing::Inspection;
use ndjit_inspect::stage::ProgramStage;
use ndjit_ir::graph::{Graph, NodeKind, SourceLocs};
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, ValueType};
use ndjit_runtime::devices::{self, memory::result_memory};
use ndjit_runtime::{Argument, DeviceProgram, Donations, KernelCode, Memory, Output, Timed, lowering, planned};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// The number of results of the largest tuple; such lists are inline.
pub const RESULTS: usize = 8;
/// The memory of results; that of a few is inline.
pub type Memories = SmallVec<[Memory; 2]>;
/// The number of results of each growable part of a function's output, in order.
pub type Lengths = SmallVec<[usize; RESULTS]>;

/// The layouts of the arrays of traced parameters; `closed_over` are the captured ones.
fn layouts(arguments: &[ArgumentType], closed_over: &[ArrayRef]) -> Result<Vec<Layout>> {
    let arguments = arguments.iter().filter_map(ArgumentType::memory);
    arguments.chain(closed_over.iter().map(ArrayRef::memory_layout)).collect()
}

/// A result of a plan.
#[derive(Clone, Debug)]
pub struct ResultType {
    /// The type: a dtype, or weak.
    pub ty: ValueType,
    /// The dtype of the elements.
    pub dtype: DType,
    /// The extents of the axes.
    pub shape: Shape,
}

/// The executor of a plan.
enum Engine {
    Compiled(Box<dyn DeviceProgram>),
    /// The reference interpreter, on parameters with these layouts.
    Interpreted(Vec<Layout>),
}

impl Engine {
    fn program(&self) -> Option<&dyn DeviceProgram> {
        match self {
            Engine::Compiled(program) => Some(&**program),
            Engine::Interpreted(_) => None,
        }
    }
}

/// A program lowered and compiled for one signature.
pub struct Plan {
    /// The settings of its trace and compilation.
    pub settings: Settings,
    /// Its assumptions about its arguments.
    pub arguments: Vec<ArgumentType>,
    /// The structure of its arguments: for each parameter its number of leaves, that of its lists, and their lengths. Empty if each
    /// parameter is one leaf.
    pub structure: Lengths,
    /// Arrays the function captured: arguments after the caller's.
    pub closed_over: Vec<ArrayRef>,
    /// The number of results of each growable part of the function's output.
    pub lengths: Lengths,
    /// Its results.
    pub results: Vec<ResultType>,
    /// Results of the program for [observers](Plan::observe) only; they follow those of the function.
    pub hidden: Vec<ResultType>,
    /// The program, with every stage up to loops.
    pub lowered: Arc<Lowered>,
    /// How it was compiled.
    pub options: PlanOptions,
    /// The time each stage took.
    pub times: Vec<(&'static str, Duration)>,
    engine: Engine,
    pub(crate) observers: PlanObservers,
    /// The time of its last use, among the plans of its function.
    pub last_use: AtomicU64,
}

impl Plan {
    /// Lowers and compiles a traced program.
    ///
    /// # Errors
    /// Those of lowering and compiling it.
    pub fn new(
        graph: &Graph<ValueType>,
        places: &SourceLocs,
        arguments: &[ArgumentType],
        options: &PlanOptions,
        settings: Settings,
    ) -> Result<Plan> {
        let mut clock = Clock::default();
        let lowered = Plan::lower(graph, places, arguments, &[], options, settings, &mut clock)?;
        Plan::compile(Arc::new(lowered), arguments.to_vec(), &[], options, settings, clock)
    }

    /// Lowers a traced program; `closed_over` are the captured arrays.
    ///
    /// # Errors
    /// Those of the program: `Size` for arrays that cannot exist, `Literal` for scalars that do not fit, `Device` for a missing one.
    pub fn lower(
        graph: &Graph<ValueType>,
        places: &SourceLocs,
        arguments: &[ArgumentType],
        closed_over: &[ArrayRef],
        options: &PlanOptions,
        settings: Settings,
        clock: &mut Clock,
    ) -> Result<Lowered> {
        let layouts = layouts(arguments, closed_over)?;
        lower_observed(
            graph,
            places,
            &layouts,
            &options.lowering(settings)?,
            &mut PassReport { clock, within: Vec::new() },
        )
    }

    /// Compiles a lowered program; `closed_over` are the captured arrays.
    ///
    /// # Errors
    /// `Compile` if a code generator rejects it; `Allocation` if memory is refused; `Device` if it is missing.
    pub fn compile(
        lowered: Arc<Lowered>,
        arguments: Vec<ArgumentType>,
        closed_over: &[ArrayRef],
        options: &PlanOptions,
        settings: Settings,
        mut clock: Clock,
    ) -> Result<Plan> {
        lowering::take_times();
        clock.compile(lowered.steps.len());
        let engine = match settings.interpreted {
            true => Engine::Interpreted(layouts(&arguments, closed_over)?),
            false => {
                let run = options.running();
                Engine::Compiled(devices::open(settings.device)?.compile(&lowered, settings.fallback, &run)?)
            }
        };
        clock.compiled(target_passes().map(|(pass, _)| pass).zip(lowering::take_times()));
        let mut results = Vec::new();
        for (&traced, &value) in lowered.traced.outputs().iter().zip(lowered.simplified.outputs()) {
            let (ty, dtype) = (lowered.traced.ty(traced), lowered.simplified.ty(value));
            let shape = lowered.simplified.shape(value).clone();
            results.push(ResultType { ty, dtype, shape });
        }
        counts::count_plan();
        dump::dump(|| Inspection { program: engine.program(), ..options.inspection(&lowered, settings, Vec::new()) });
        let mut observers = PlanObservers::default();
        if options.check_nans {
            observers.add(Box::new(NanCheck));
        }
        Ok(Plan {
            settings,
            arguments,
            structure: Lengths::new(),
            closed_over: Vec::new(),
            lengths: Lengths::new(),
            results,
            hidden: Vec::new(),
            lowered,
            options: *options,
            times: clock.times(),
            engine,
            observers,
            last_use: AtomicU64::new(0),
        })
    }

    /// Adds an observer of its calls, before the others: it sees calls that they refuse. The last `results` of the program are for
    /// it, not for the caller; at most one observer has some.
    pub fn observe(&mut self, observer: Box<dyn CallObserver>, results: usize) {
        if results > 0 {
            self.hidden = self.results.split_off(self.results.len().saturating_sub(results));
        }
        self.observers.add(observer);
    }

    /// Runs the program on the arrays of the traced parameters.
    ///
    /// # Errors
    /// `Allocation` if memory is refused; `Literal` if a scalar does not fit; `Device` if the device is lost.
    pub fn run<'a>(
        &self,
        arguments: impl IntoIterator<Item = Argument<'a>>,
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
    ) -> Result<()> {
        match &self.engine {
            Engine::Compiled(program) => program.run(&mut arguments.into_iter(), scalars, outputs, None),
            Engine::Interpreted(layouts) => interpret::run(&self.lowered.typed, layouts, arguments, scalars, outputs),
        }
        .map_err(|error| self.named(error, scalars))
    }

    /// The error of a run: for a scalar that does not fit, with the user's operation.
    fn named(&self, error: Error, scalars: &[(usize, Literal)]) -> Error {
        if error.code() != ErrorCode::Literal {
            return error;
        }
        let inputs = inputs(&self.arguments, self.closed_over.len());
        let whole = std::iter::once((&*self.lowered, true));
        let found =
            whole.chain(self.lowered.bodies().into_iter().map(|body| (body, false))).find_map(|(lowered, outer)| {
                let Lowered { traced, places, .. } = lowered;
                let explainer = Explainer::new(traced, places).inputs(&inputs);
                let origin = |value| match traced.node(traced.producer(value)).kind {
                    // A state, or a value around the loop.
                    NodeKind::Param(..) if !outer => Origin::Body,
                    _ => explainer.origin(value),
                };
                infer::misfit((traced, places), self.settings, scalars, &origin)
            });
        found.unwrap_or_else(|| {
            let number =
                |error: Error, (i, literal): &(usize, Literal)| error.fact(format_args!("argument {i}: {literal}"));
            scalars.iter().fold(error.of("call"), number)
        })
    }

    /// Runs the program as [`run`](Plan::run); returns the time of each launch, if available.
    ///
    /// # Errors
    /// Those of [`run`](Plan::run).
    pub fn run_timed<'a>(
        &self,
        arguments: impl IntoIterator<Item = Argument<'a>>,
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
    ) -> Result<Option<Vec<Timed>>> {
        match &self.engine {
            Engine::Compiled(program) => {
                let mut times = Vec::new();
                let ran = program.run(&mut arguments.into_iter(), scalars, outputs, Some(&mut times));
                ran.map_err(|error| self.named(error, scalars))?;
                Ok(Some(times).filter(|times| !times.is_empty()))
            }
            Engine::Interpreted(_) => self.run(arguments, scalars, outputs).map(|()| None),
        }
    }

    /// The memory that a call takes beside its arguments.
    ///
    /// # Errors
    /// `Size` if they cannot be counted.
    pub fn planned_memory(&self) -> Result<planned::MemoryFootprint> {
        match &self.engine {
            Engine::Compiled(program) => Ok(program.memory()),
            Engine::Interpreted(_) => Ok(planned::PlannedProgram::of(&self.lowered)?.memory),
        }
    }

    /// The memory of the program, with that of its control flow.
    ///
    /// # Errors
    /// `Size` if the arrays cannot be counted.
    pub fn planned(&self) -> Result<planned::PlannedProgram> {
        match &self.engine {
            Engine::Compiled(program) => program.planned(&self.lowered),
            Engine::Interpreted(_) => planned::PlannedProgram::of(&self.lowered),
        }
    }

    /// Counters of donated arguments.
    pub fn donations(&self) -> Donations {
        self.engine.program().map_or_else(Donations::default, |program| program.donations())
    }

    /// Estimated time of each launch, if available.
    pub fn estimates(&self) -> Option<Vec<Duration>> {
        match &self.engine {
            Engine::Compiled(program) => program.estimates(),
            Engine::Interpreted(_) => None,
        }
    }

    /// An empty result on the program's device, for a call.
    #[inline]
    pub fn fresh<'a>(&self) -> Output<'a> {
        match &self.engine {
            Engine::Compiled(program) => program.result(),
            Engine::Interpreted(_) => Output::Fresh(None),
        }
    }

    /// The missing dtypes that move kernels of a GPU's program to the processor, one per kernel.
    pub fn on_processor(&self) -> Vec<DType> {
        self.engine.program().map_or_else(Vec::new, |program| program.on_processor())
    }

    /// The memory of each result of a program.
    ///
    /// # Errors
    /// Those of [`run`](Plan::run).
    pub fn results_of<'a>(
        &self,
        arguments: impl IntoIterator<Item = Argument<'a>>,
        scalars: &[(usize, Literal)],
    ) -> Result<Memories> {
        let mut outputs: SmallVec<[Output<'_>; 2]> = self.results.iter().map(|_| self.fresh()).collect();
        self.run(arguments, scalars, &mut outputs)?;
        outputs.into_iter().map(|output| self.memory(output)).collect()
    }

    /// The memory of a result after the call, on the program's device.
    #[inline]
    fn memory(&self, output: Output<'_>) -> Result<Memory> {
        let memory = result_memory(output)?;
        match self.engine {
            Engine::Compiled(_) => Ok(memory),
            Engine::Interpreted(_) => memory.on(self.settings.device),
        }
    }

    /// The array of a result after the call.
    ///
    /// # Errors
    /// `Device` if its memory cannot be moved to the program's device.
    #[inline]
    pub fn array(&self, result: &ResultType, output: Output<'_>) -> Result<ArrayRef> {
        let ResultType { ty, dtype, shape } = result.clone();
        Ok(ArrayRef::in_memory(ty, dtype, shape, self.memory(output)?))
    }

    /// The plan, for inspection.
    pub fn inspection(&self) -> Inspection<'_> {
        let Plan { lowered, options, settings, engine, arguments, closed_over, .. } = self;
        let inputs = inputs(arguments, closed_over.len());
        Inspection { program: engine.program(), ..options.inspection(lowered, *settings, inputs) }
    }

    /// The text of a stage.
    pub fn explain(&self, stage: ProgramStage) -> String {
        self.inspection().listing(stage).to_string()
    }

    /// Whether its device is not lost.
    #[inline]
    pub fn is_alive(&self) -> bool {
        match &self.engine {
            Engine::Compiled(program) => program.is_alive(),
            Engine::Interpreted(_) => true,
        }
    }

    /// Explains the dtype of a result.
    pub fn explain_dtype(&self, result: usize) -> Option<Explanation> {
        let value = *self.lowered.traced.outputs().get(result)?;
        let inputs = inputs(&self.arguments, self.closed_over.len());
        explain::value(&self.lowered.traced, &self.lowered.places, &inputs, self.settings.policy, value).ok()
    }

    /// The first operation that widened a dtype.
    pub fn first_widening(&self) -> Option<Widening> {
        let inputs = inputs(&self.arguments, self.closed_over.len());
        explain::first_widening(&self.lowered.traced, &self.lowered.places, &inputs, self.settings.policy)
    }

    /// The kernels of each launch, in the order of [`Lowered::all_launches`].
    pub fn kernels(&self) -> Vec<Vec<Arc<dyn KernelCode>>> {
        match &self.engine {
            Engine::Compiled(program) => program.kernels(),
            Engine::Interpreted(_) => vec![Vec::new(); self.lowered.kernel_count()],
        }
    }

    /// Its signature.
    pub fn signature(&self) -> Signature {
        Signature { settings: self.settings, arguments: self.arguments.clone(), structure: self.structure.clone() }
    }

    /// Whether these arguments match the plan's signature.
    #[inline]
    pub fn accepts<'a, 'b: 'a>(
        &self,
        settings: &Settings,
        structure: &[usize],
        args: impl ExactSizeIterator<Item = &'a CallArgument<'b>>,
    ) -> bool {
        self.settings == *settings
            && self.structure[..] == *structure
            && self.is_alive()
            && self.arguments.len() == args.len()
            && self.arguments.iter().zip(args).all(|(mine, arg)| mine.accepts(arg))
    }
}
