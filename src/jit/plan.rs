//! Plans: a program lowered and compiled for one signature.

use crate::api::config::{Config, Settings};
use crate::array::node::Array;
use crate::diagnostics::explain::check;
use crate::diagnostics::stats::counts;
use crate::jit::dump;
use crate::jit::input::{Arg, Data};
use crate::jit::output::Lengths;
use crate::jit::stage::Stage;
use crate::trace::infer;
use crate::trace::recording::Printing;
use ndjit_codegen::{Lowered, lower_observed};
use ndjit_inspect::clock::Clock;
use ndjit_inspect::explain::{self, Explainer, Explanation, Origin, ParamSource, Widening};
use ndjit_inspect::interpret;
use ndjit_inspect::listing::Inspection;
use ndjit_ir::graph::{Graph, NodeKind, Places};
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, ValueType};
use ndjit_runtime::devices::{self, result_memory};
use ndjit_runtime::{Argument, DeviceProgram, Donations, KernelCode, Memory, Output, Timed, planned};
use ndjit_transform::access::contiguous;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// What a plan is made for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Signature {
    pub settings: Settings,
    pub arguments: Vec<ArgumentType>,
}

/// What a plan assumes of one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArgumentType {
    pub ty: ValueType,
    /// The dtype of the elements.
    pub dtype: DType,
    pub shape: Shape,
    pub layout: ArgumentLayout,
}

/// Where an argument's elements are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentLayout {
    /// Nowhere: a bare number.
    Scalar,
    /// In row-major order.
    Contiguous,
    /// In memory with these strides.
    Strided(Layout),
}

impl fmt::Display for ArgumentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.layout {
            ArgumentLayout::Scalar => write!(f, "a number {}", self.ty),
            ArgumentLayout::Contiguous => write!(f, "{}{}", self.ty, self.shape),
            ArgumentLayout::Strided(layout) => {
                write!(f, "{}{} with strides {:?}", self.ty, self.shape, layout.strides)
            }
        }
    }
}

impl From<Option<Layout>> for ArgumentLayout {
    fn from(layout: Option<Layout>) -> ArgumentLayout {
        layout.map_or(ArgumentLayout::Contiguous, ArgumentLayout::Strided)
    }
}

impl ArgumentType {
    /// Where the elements are in their memory; `None` for a bare number.
    pub fn memory(&self) -> Option<Result<Layout>> {
        match &self.layout {
            ArgumentLayout::Scalar => None,
            ArgumentLayout::Contiguous => Some(contiguous(&self.shape, self.dtype)),
            ArgumentLayout::Strided(layout) => Some(Ok(layout.clone())),
        }
    }

    /// Whether an argument has this type and shape, wherever its elements are.
    pub fn is_of(&self, arg: &Arg<'_>) -> bool {
        let number = matches!(arg.data, Data::Scalar(_));
        self.ty == arg.ty
            && self.shape == arg.shape
            && (self.layout == ArgumentLayout::Scalar) == number
            && (number || self.dtype == arg.dtype)
    }

    pub fn accepts(&self, arg: &Arg<'_>) -> bool {
        self.ty == arg.ty
            && (self.dtype == arg.dtype || self.layout == ArgumentLayout::Scalar)
            && self.shape == arg.shape
            && match (&self.layout, &arg.data, &arg.layout) {
                (ArgumentLayout::Scalar, Data::Scalar(_), _) => true,
                (ArgumentLayout::Scalar, _, _) | (_, Data::Scalar(_), _) => false,
                (ArgumentLayout::Contiguous, _, None) => true,
                (ArgumentLayout::Strided(mine), _, Some(layout)) => mine == layout,
                (ArgumentLayout::Contiguous, _, Some(_)) | (ArgumentLayout::Strided(_), _, None) => false,
            }
    }
}

/// What the array parameters of a traced function are; `closed_over` of them it captured.
pub(crate) fn inputs(arguments: &[ArgumentType], closed_over: usize) -> Vec<ParamSource> {
    explain::inputs(arguments.iter().map(|argument| argument.layout != ArgumentLayout::Scalar), closed_over)
}

/// Where the elements of the arrays of traced parameters are in their memory; `closed_over` are the captured ones.
fn layouts(arguments: &[ArgumentType], closed_over: &[Array]) -> Result<Vec<Layout>> {
    let arguments = arguments.iter().filter_map(ArgumentType::memory);
    arguments.chain(closed_over.iter().map(Array::memory_layout)).collect()
}

/// A result of a plan.
#[derive(Clone, Debug)]
pub(crate) struct ResultType {
    pub ty: ValueType,
    pub dtype: DType,
    pub shape: Shape,
}

/// What runs a plan.
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
pub(crate) struct Plan {
    pub settings: Settings,
    pub arguments: Vec<ArgumentType>,
    /// Arrays the function captured: arguments after the caller's.
    pub closed_over: Vec<Array>,
    /// How many results each growable part of the function's output has.
    pub lengths: Lengths,
    pub results: Vec<ResultType>,
    /// Results of the program that are printed after a call, after those of the function.
    pub printed: Vec<(Printing, ResultType)>,
    pub lowered: Arc<Lowered>,
    /// How it was compiled.
    pub config: Config,
    /// The time each stage took.
    pub times: Vec<(&'static str, Duration)>,
    engine: Engine,
    /// When it was used last, of the plans of its function.
    pub last_use: AtomicU64,
}

impl Plan {
    /// Lowers and compiles a traced program.
    pub fn new(
        graph: &Graph<ValueType>,
        places: &Places,
        arguments: &[ArgumentType],
        config: &Config,
        settings: Settings,
    ) -> Result<Plan> {
        let mut clock = Clock::default();
        let lowered = Plan::lower(graph, places, arguments, &[], config, settings, &mut clock)?;
        Plan::compile(Arc::new(lowered), arguments.to_vec(), &[], config, settings, clock)
    }

    /// Lowers a traced program; `closed_over` are the captured arrays.
    pub fn lower(
        graph: &Graph<ValueType>,
        places: &Places,
        arguments: &[ArgumentType],
        closed_over: &[Array],
        config: &Config,
        settings: Settings,
        clock: &mut Clock,
    ) -> Result<Lowered> {
        let layouts = layouts(arguments, closed_over)?;
        let options = config.options(settings)?;
        let mut begins = |pass| clock.pass(pass);
        let lowered = lower_observed(graph, places, &layouts, &options, &mut begins)?;
        clock.stop();
        let inputs = inputs(arguments, closed_over.len());
        check(&lowered.traced, &lowered.places, &inputs, lowered.policy, config.on_widening)?;
        Ok(lowered)
    }

    /// Compiles a lowered program; `closed_over` are the captured arrays.
    pub fn compile(
        lowered: Arc<Lowered>,
        arguments: Vec<ArgumentType>,
        closed_over: &[Array],
        config: &Config,
        settings: Settings,
        mut clock: Clock,
    ) -> Result<Plan> {
        clock.compile(lowered.steps.len());
        let engine = match settings.interpreted {
            true => Engine::Interpreted(layouts(&arguments, closed_over)?),
            false => {
                let options = config.run_options();
                Engine::Compiled(devices::open(settings.device)?.compile(&lowered, settings.fallback, &options)?)
            }
        };
        clock.stop();
        let mut results = Vec::new();
        for (&traced, &value) in lowered.traced.outputs().iter().zip(lowered.simplified.outputs()) {
            let (ty, dtype) = (lowered.traced.ty(traced), lowered.simplified.ty(value));
            let shape = lowered.simplified.shape(value).clone();
            results.push(ResultType { ty, dtype, shape });
        }
        counts::count_plan();
        dump::dump(|| Inspection { program: engine.program(), ..config.inspection(&lowered, settings, Vec::new()) });
        Ok(Plan {
            settings,
            arguments,
            closed_over: Vec::new(),
            lengths: Lengths::new(),
            results,
            printed: Vec::new(),
            lowered,
            config: *config,
            times: clock.times(),
            engine,
            last_use: AtomicU64::new(0),
        })
    }

    /// Makes the last results those that are printed.
    pub fn print(&mut self, printed: Vec<Printing>) {
        let types = self.results.split_off(self.results.len().saturating_sub(printed.len()));
        self.printed = printed.into_iter().zip(types).collect();
    }

    /// Runs the program on the arrays of the traced parameters.
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

    /// The error of a run: of a number that does not fit with the operation that it meets, where the user wrote that.
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
                    // A state, or what stands around it.
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

    /// Runs the program as [`run`](Plan::run); the time of each launch, where that can be told.
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
    pub fn planned_memory(&self) -> Result<planned::MemoryFootprint> {
        match &self.engine {
            Engine::Compiled(program) => Ok(program.memory()),
            Engine::Interpreted(_) => planned::MemoryFootprint::of(&self.lowered),
        }
    }

    /// The arrays of the program.
    pub fn arrays(&self) -> Result<Vec<planned::PlannedArray>> {
        match &self.engine {
            Engine::Compiled(program) => program.planned(&self.lowered),
            Engine::Interpreted(_) => planned::planned(&self.lowered),
        }
    }

    /// What became of arguments that were given away.
    pub fn donations(&self) -> Donations {
        self.engine.program().map_or_else(Donations::default, |program| program.donations())
    }

    /// Estimated time of each launch, where there is an estimate.
    pub fn estimates(&self) -> Option<Vec<Duration>> {
        match &self.engine {
            Engine::Compiled(program) => program.estimates(),
            Engine::Interpreted(_) => None,
        }
    }

    /// A result that stays where the program runs, before the call.
    pub fn fresh<'a>(&self) -> Output<'a> {
        match &self.engine {
            Engine::Compiled(program) => program.result(),
            Engine::Interpreted(_) => Output::Fresh(None),
        }
    }

    /// The dtypes for want of which kernels of a GPU's program run on the processor, one for each that does.
    pub fn on_processor(&self) -> Vec<DType> {
        self.engine.program().map_or_else(Vec::new, |program| program.on_processor())
    }

    /// The memory of each result of a program.
    pub fn results_of(&self, arguments: Vec<Argument<'_>>, scalars: &[(usize, Literal)]) -> Result<Vec<Memory>> {
        let mut outputs: Vec<Output<'_>> = self.results.iter().map(|_| self.fresh()).collect();
        self.run(arguments, scalars, &mut outputs)?;
        outputs.into_iter().map(|output| self.memory(output)).collect()
    }

    /// The memory of a result after the call, where the program runs.
    fn memory(&self, output: Output<'_>) -> Result<Memory> {
        let memory = result_memory(output)?;
        match self.engine {
            Engine::Compiled(_) => Ok(memory),
            Engine::Interpreted(_) => memory.on(self.settings.device),
        }
    }

    /// The array of a result after the call.
    pub fn array(&self, result: &ResultType, output: Output<'_>) -> Result<Array> {
        let ResultType { ty, dtype, shape } = result.clone();
        Ok(Array::in_memory(ty, dtype, shape, self.memory(output)?))
    }

    /// The plan, for inspection.
    pub fn inspection(&self) -> Inspection<'_> {
        let Plan { lowered, config, settings, engine, arguments, closed_over, .. } = self;
        let inputs = inputs(arguments, closed_over.len());
        Inspection { program: engine.program(), ..config.inspection(lowered, *settings, inputs) }
    }

    /// The text of a stage.
    pub fn explain(&self, stage: Stage) -> String {
        self.inspection().listing(stage.of_program()).to_string()
    }

    /// Whether the device that it was compiled for is not lost.
    pub fn is_alive(&self) -> bool {
        match &self.engine {
            Engine::Compiled(program) => program.is_alive(),
            Engine::Interpreted(_) => true,
        }
    }

    /// Why a result has its dtype.
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

    /// Whether these arguments are what the plan was made for.
    pub fn accepts(&self, settings: &Settings, args: &[Arg<'_>]) -> bool {
        self.settings == *settings
            && self.is_alive()
            && self.arguments.len() == args.len()
            && self.arguments.iter().zip(args).all(|(mine, arg)| mine.accepts(arg))
    }
}
