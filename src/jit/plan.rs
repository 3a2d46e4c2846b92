//! Plans: a program lowered and compiled for one signature, and the bounded set of plans of one function.

use crate::array::Array;
use crate::config::{Config, Settings};
use crate::explain;
use crate::jit::input::{Arg, Data};
use crate::stats;
use ndjit_codegen::passes::access::contiguous;
use ndjit_codegen::{Lowered, Options, lower};
use ndjit_ir::explain::{Explanation, Input, Widening};
use ndjit_ir::graph::{Graph, Places};
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Result, Shape, ValueType};
use ndjit_runtime::devices::{self, result_memory};
use ndjit_runtime::{Argument, KernelCode, Memory, Output, Program};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

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

impl From<Option<Layout>> for ArgumentLayout {
    fn from(layout: Option<Layout>) -> ArgumentLayout {
        layout.map_or(ArgumentLayout::Contiguous, ArgumentLayout::Strided)
    }
}

impl ArgumentType {
    fn memory(&self) -> Option<Result<Layout>> {
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

/// What the array parameters of a traced function are; `hidden` of them it captured.
pub(crate) fn inputs(arguments: &[ArgumentType], hidden: usize) -> Vec<Input> {
    explain::inputs(arguments.iter().map(|argument| argument.layout != ArgumentLayout::Scalar), hidden)
}

/// A result of a plan.
#[derive(Clone, Debug)]
pub(crate) struct ResultType {
    pub ty: ValueType,
    pub dtype: DType,
    pub shape: Shape,
}

/// A program lowered and compiled for one signature.
pub(crate) struct Plan {
    pub settings: Settings,
    pub arguments: Vec<ArgumentType>,
    /// Arrays the function captured: arguments after the caller's.
    pub hidden: Vec<Array>,
    /// How many results each growable part of the function's output has.
    pub lengths: Vec<usize>,
    pub results: Vec<ResultType>,
    pub lowered: Arc<Lowered>,
    /// How it was compiled.
    pub config: Config,
    program: Program,
    last_use: AtomicU64,
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
        let lowered = Plan::lower(graph, places, arguments, &[], config, settings)?;
        Plan::compile(Arc::new(lowered), arguments.to_vec(), config, settings)
    }

    /// Lowers a traced program; `hidden` are the captured arrays.
    pub fn lower(
        graph: &Graph<ValueType>,
        places: &Places,
        arguments: &[ArgumentType],
        hidden: &[Array],
        config: &Config,
        settings: Settings,
    ) -> Result<Lowered> {
        let mut layouts: Vec<Layout> =
            arguments.iter().filter_map(ArgumentType::memory).collect::<Result<Vec<Layout>>>()?;
        for array in hidden {
            layouts.push(match array.layout() {
                Some(layout) => layout.clone(),
                None => contiguous(array.shape(), array.dtype())?,
            });
        }
        let options = config.options(settings)?;
        let mut lowered = lower(graph, places, &layouts, &options)?;
        if !devices::fits(settings.device, &lowered)? {
            // What other kernels read of one counts as its arrays, too, and is known only now.
            lowered = lower(graph, places, &layouts, &Options { fuse: false, ..options })?;
        }
        let inputs = inputs(arguments, hidden.len());
        explain::check(&lowered.traced, &lowered.places, &inputs, lowered.policy, config.on_widening)?;
        Ok(lowered)
    }

    /// Compiles a lowered program.
    pub fn compile(
        lowered: Arc<Lowered>,
        arguments: Vec<ArgumentType>,
        config: &Config,
        settings: Settings,
    ) -> Result<Plan> {
        let program = Program::new(&lowered, settings.device, settings.fallback, &config.run_options())?;
        let mut results = Vec::new();
        for (&traced, &value) in lowered.traced.outputs().iter().zip(lowered.simplified.outputs()) {
            let (ty, dtype) = (lowered.traced.ty(traced), lowered.simplified.ty(value));
            let shape = lowered.simplified.shape(value).clone();
            results.push(ResultType { ty, dtype, shape });
        }
        stats::count_plan();
        crate::jit::stage::dump(&lowered, config, settings);
        Ok(Plan {
            settings,
            arguments,
            hidden: Vec::new(),
            lengths: Vec::new(),
            results,
            lowered,
            config: *config,
            program,
            last_use: AtomicU64::new(0),
        })
    }

    /// Runs the program on the arrays of the traced parameters.
    pub fn run<'a>(
        &self,
        arguments: impl IntoIterator<Item = Argument<'a>>,
        scalars: &[(usize, Literal)],
        outputs: &mut [Output<'_>],
    ) -> Result<()> {
        self.program.run(arguments, scalars, outputs)
    }

    /// A result that stays where the program runs, before the call.
    pub fn fresh<'a>(&self) -> Output<'a> {
        self.program.result()
    }

    /// The memory of the one result of a program.
    pub fn result_of(&self, arguments: Vec<Argument<'_>>, scalars: &[(usize, Literal)]) -> Result<Memory> {
        let mut outputs = [self.fresh()];
        self.run(arguments, scalars, &mut outputs)?;
        let [output] = outputs;
        result_memory(output)
    }

    /// The array of a result after the call.
    pub fn array(&self, result: usize, output: Output<'_>) -> Result<Array> {
        let ResultType { ty, dtype, shape } = self.results[result].clone();
        Ok(Array::in_memory(ty, dtype, shape, result_memory(output)?))
    }

    /// Whether the device that it was compiled for is not lost.
    pub fn is_alive(&self) -> bool {
        self.program.is_alive()
    }

    /// Why a result has its dtype.
    pub fn explain_dtype(&self, result: usize) -> Option<Explanation> {
        let value = *self.lowered.traced.outputs().get(result)?;
        let inputs = inputs(&self.arguments, self.hidden.len());
        explain::value(&self.lowered.traced, &self.lowered.places, &inputs, self.settings.policy, value).ok()
    }

    /// The first operation that widened a dtype.
    pub fn first_widening(&self) -> Option<Widening> {
        let inputs = inputs(&self.arguments, self.hidden.len());
        explain::first_widening(&self.lowered.traced, &self.lowered.places, &inputs, self.settings.policy)
    }

    /// The kernels of each loop nest that a call runs.
    pub fn kernels(&self) -> Vec<Vec<Arc<dyn KernelCode>>> {
        self.program.kernels()
    }

    /// Whether these arguments are what the plan was made for.
    pub fn accepts(&self, settings: Settings, args: &[Arg<'_>]) -> bool {
        self.settings == settings
            && self.is_alive()
            && self.arguments.len() == args.len()
            && self.arguments.iter().zip(args).all(|(mine, arg)| mine.accepts(arg))
    }
}

/// The plans of one function. Finding one takes a shared lock for as long as comparing signatures takes; the plan found last
/// is compared first. When full, the plan not used for the longest time goes.
pub(crate) struct Plans {
    plans: RwLock<Vec<Arc<Plan>>>,
    latest: AtomicUsize,
    clock: AtomicU64,
}

impl Plans {
    /// The number of plans kept per function.
    pub const LIMIT: usize = 64;

    pub fn new() -> Plans {
        Plans { plans: RwLock::new(Vec::new()), latest: AtomicUsize::new(0), clock: AtomicU64::new(0) }
    }

    pub fn find(&self, settings: Settings, args: &[Arg<'_>]) -> Option<Arc<Plan>> {
        let plans = self.plans.read().unwrap_or_else(PoisonError::into_inner);
        let latest = self.latest.load(Relaxed);
        if let Some(plan) = plans.get(latest)
            && plan.accepts(settings, args)
        {
            return Some(Arc::clone(plan));
        }
        let at = plans.iter().position(|plan| plan.accepts(settings, args))?;
        plans[at].last_use.store(self.clock.fetch_add(1, Relaxed), Relaxed);
        self.latest.store(at, Relaxed);
        Some(Arc::clone(&plans[at]))
    }

    pub fn insert(&self, plan: Arc<Plan>) {
        let mut plans = self.plans.write().unwrap_or_else(PoisonError::into_inner);
        if plans.len() >= Plans::LIMIT
            && let Some(at) = (0..plans.len()).min_by_key(|&i| plans[i].last_use.load(Relaxed))
        {
            plans.swap_remove(at);
        }
        plan.last_use.store(self.clock.fetch_add(1, Relaxed), Relaxed);
        self.latest.store(plans.len(), Relaxed);
        plans.push(plan);
    }

    /// The plan used or made last.
    pub fn last(&self) -> Option<Arc<Plan>> {
        let plans = self.plans.read().unwrap_or_else(PoisonError::into_inner);
        plans.get(self.latest.load(Relaxed)).or(plans.last()).cloned()
    }
}
