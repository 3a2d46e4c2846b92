//! Compilation step by step, and on types alone: trace, lower, compile.

use crate::array::Array;
use crate::config::{self, Settings};
use crate::explain::{self, Explanation, InsertedCast, PolicyDiff, Widening};
use crate::jit::caller::called;
use crate::jit::erased::{self, Core, TracedFunction};
use crate::jit::function::JitFn;
use crate::jit::input::{Arg, Destination, Destinations, Inputs};
use crate::jit::output::{Outputs, Parts};
use crate::jit::plan::{self, ArgumentLayout, ArgumentType, Plan};
use crate::jit::stage::{self, Stage};
use crate::trace::{Failure, Recording};
use ndjit_ir::explain::Input;
use ndjit_ir::graph::Graph;
use ndjit_ir::promotion::Policy;
use ndjit_ir::support::Inferred;
use ndjit_ir::support::walk::infer;
use ndjit_ir::{DType, DTypeSet, Error, ErrorCode, Place, Result, Shape, ValueType, Weak};
use smallvec::SmallVec;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Type and shape of an argument, without data. Row-major in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    pub(crate) ty: ValueType,
    dtype: DType,
    pub(crate) shape: Shape,
    scalar: bool,
}

/// An array argument of a type (a [`DType`](crate::DType), or weak) and a shape: `spec(DType::F32, [2, 3])`.
pub fn spec(ty: impl Into<ValueType>, shape: impl Into<Shape>) -> Spec {
    let ty = ty.into();
    Spec { ty, dtype: config::policy().commit(ty), shape: shape.into(), scalar: false }
}

impl Spec {
    /// A bare number of this kind, passed at each call.
    pub fn number(kind: Weak) -> Spec {
        Spec { scalar: true, ..spec(kind, Shape::scalar()) }
    }

    /// The spec of an array.
    pub fn of(array: &Array) -> Spec {
        Spec { dtype: array.dtype(), ..spec(array.value_type(), array.shape().clone()) }
    }

    /// The type: a dtype, or weak.
    pub fn value_type(&self) -> ValueType {
        self.ty
    }

    /// The dtype of the elements; of a weak array the default of its kind.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents of the axes, outermost first.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether it is a bare number, passed at each call.
    pub fn is_number(&self) -> bool {
        self.scalar
    }

    pub(crate) fn of_argument(argument: &ArgumentType) -> Spec {
        let ArgumentType { ty, dtype, shape, layout } = argument;
        Spec { ty: *ty, dtype: *dtype, shape: shape.clone(), scalar: *layout == ArgumentLayout::Scalar }
    }

    /// The argument that the spec stands for.
    ///
    /// # Errors
    /// `Size` if no array can have the shape.
    pub(crate) fn argument(&self) -> Result<ArgumentType> {
        self.shape.bytes(self.dtype.bytes())?;
        let layout = if self.scalar { ArgumentLayout::Scalar } else { ArgumentLayout::Contiguous };
        Ok(ArgumentType { ty: self.ty, dtype: self.dtype, shape: self.shape.clone(), layout })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.ty, self.shape)
    }
}

/// A function traced for one signature.
pub struct Traced<M, const N: usize, F: JitFn<M, N>> {
    core: Arc<Core>,
    settings: Settings,
    arguments: Vec<ArgumentType>,
    traced: TracedFunction,
    marker: PhantomData<fn() -> (M, F)>,
}

/// A function lowered to loop nests for one signature; no machine code yet.
pub struct Lowered<M, const N: usize, F: JitFn<M, N>> {
    core: Arc<Core>,
    settings: Settings,
    arguments: Vec<ArgumentType>,
    lowered: Arc<ndjit_codegen::Lowered>,
    hidden: Vec<Array>,
    lengths: Vec<usize>,
    marker: PhantomData<fn() -> (M, F)>,
}

/// A function compiled for one signature. It can be called from any thread.
pub struct Compiled<M, const N: usize, F: JitFn<M, N>> {
    plan: Arc<Plan>,
    marker: PhantomData<fn() -> (M, F)>,
}

/// The arguments that specs stand for.
fn arguments(core: &Core, specs: &[Spec], place: Place) -> Result<Vec<ArgumentType>> {
    if specs.len() != core.arity {
        return Err(Error::new(ErrorCode::Arity, "trace: not as many specs as parameters")
            .at(place)
            .fact(format_args!("parameters: {}, specs: {}", core.arity, specs.len()))
            .help("pass one for each parameter: `f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [])])`"));
    }
    specs.iter().map(|spec| spec.argument().map_err(|e| e.at(place))).collect()
}

/// Type and shape of each result of a graph traced under `policy`.
pub(crate) fn results(graph: &Graph<ValueType>, policy: Policy) -> Vec<Spec> {
    let result = |&o| {
        let dtype = graph.stored(o, policy);
        Spec { dtype, ..spec(graph.ty(o), graph.shape(o).clone()) }
    };
    graph.outputs().iter().map(result).collect()
}

pub(crate) fn trace<M, const N: usize, F: JitFn<M, N>>(
    core: &Arc<Core>,
    specs: &[Spec],
    place: Place,
) -> Result<Traced<M, N, F>> {
    let arguments = arguments(core, specs, place)?;
    let settings = core.config.settings().on(core.config.device.unwrap_or_default())?;
    let params: Vec<_> = arguments.iter().map(erased::param).collect();
    let traced = core.trace(settings, &params).map_err(|failure| failure.error.at(place))?;
    Ok(Traced { core: Arc::clone(core), settings, arguments, traced, marker: PhantomData })
}

pub(crate) fn policy_diff(core: &Core, specs: &[Spec], policies: &[Policy], place: Place) -> Result<PolicyDiff> {
    let params: Vec<_> = arguments(core, specs, place)?.iter().map(erased::param).collect();
    let settings = core.config.settings();
    let mut traced = Vec::new();
    for &policy in policies {
        match core.trace(Settings { policy, ..settings }, &params) {
            Err(Failure { error, before: None }) => return Err(error.at(place)),
            made => traced.push((policy, made.map(|made| made.recording))),
        }
    }
    Ok(PolicyDiff::new(traced))
}

impl<M, const N: usize, F: JitFn<M, N>> Traced<M, N, F> {
    /// Type and shape of each result.
    pub fn results(&self) -> Vec<Spec> {
        results(&self.traced.recording.graph, self.settings.policy)
    }

    /// Why a result has its dtype; `None` if there are fewer results.
    pub fn explain_dtype(&self, result: usize) -> Option<Explanation> {
        let Recording { graph, places, .. } = &self.traced.recording;
        let value = *graph.outputs().get(result)?;
        explain::value(graph, places, &self.inputs(), self.settings.policy, value).ok()
    }

    /// The first operation that [widened](Widening) a dtype.
    pub fn first_widening(&self) -> Option<Widening> {
        let Recording { graph, places, .. } = &self.traced.recording;
        explain::first_widening(graph, places, &self.inputs(), self.settings.policy)
    }

    fn inputs(&self) -> Vec<Input> {
        plan::inputs(&self.arguments, self.traced.recording.hidden.len())
    }

    /// The dtypes that the function's array arguments may have, all at once: those that every op in it takes, on the
    /// [device](crate::with_device) and under the declarations it was made with, in functions inlined here too. The policies are those of the trace; casting
    /// modes are not counted, nor is the range of literals. Types after an explicit cast do not depend on the arguments.
    ///
    /// ```
    /// use ndjit::{DType, DTypeSet, cbrt, floor, jit, spec};
    ///
    /// let f = jit(|x| floor(cbrt(x)));
    /// let inferred = f.trace(&[spec(DType::F32, [3])])?.inferred_dtypes()?;
    /// assert_eq!(inferred.supported, DTypeSet::BOOL | DTypeSet::REAL);
    /// assert!(inferred.unsupported[0].to_string().starts_with("c64: cbrt: c64 is not supported, at "));
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Verify` if the trace is not well-formed: a bug in ndjit.
    pub fn inferred_dtypes(&self) -> Result<Inferred> {
        let recording = &self.traced.recording;
        let arrays = self.arguments.iter().filter(|a| a.layout != ArgumentLayout::Scalar).count();
        infer(&recording.graph, &recording.places, &recording.supports, arrays, self.settings.support)
    }

    /// The dtypes that the function's array arguments may have: [`inferred_dtypes`](Traced::inferred_dtypes) without reasons.
    ///
    /// # Errors
    /// `Verify` if the trace is not well-formed: a bug in ndjit.
    pub fn supported_dtypes(&self) -> Result<DTypeSet> {
        Ok(self.inferred_dtypes()?.supported)
    }

    /// Runs the passes that do not depend on the machine.
    ///
    /// # Errors
    /// `Literal` if a number does not fit the dtype it is used in; `Size` if an array cannot exist.
    pub fn lower(self) -> Result<Lowered<M, N, F>> {
        let recording = self.traced.recording;
        let lowered = Plan::lower(
            &recording.graph,
            &recording.places,
            &self.arguments,
            &recording.hidden,
            &self.core.config,
            self.settings,
        )?;
        Ok(Lowered {
            core: self.core,
            settings: self.settings,
            arguments: self.arguments,
            lowered: Arc::new(lowered),
            hidden: recording.hidden,
            lengths: self.traced.lengths,
            marker: PhantomData,
        })
    }
}

impl<M, const N: usize, F: JitFn<M, N>> Lowered<M, N, F> {
    /// The text of a stage.
    pub fn explain(&self, stage: Stage) -> String {
        stage::text(&self.lowered, stage, &self.core.config, self.settings)
    }

    /// The casts of the typed program, each with what asked for it.
    pub fn casts(&self) -> Vec<InsertedCast> {
        explain::casts(&self.lowered)
    }

    /// The number of kernels: of loop nests, those counted once that run together tile by tile.
    pub fn kernel_count(&self) -> usize {
        self.lowered.launches.len()
    }

    /// Generates machine code.
    ///
    /// # Errors
    /// `Backend` if code generation fails.
    pub fn compile(self) -> Result<Compiled<M, N, F>> {
        let plan = self.core.compiled(self.settings, self.arguments, self.lowered, self.hidden, self.lengths)?;
        Ok(Compiled { plan: Arc::new(plan), marker: PhantomData })
    }
}

impl<M, const N: usize, F: JitFn<M, N>> Compiled<M, N, F> {
    /// The text of a stage.
    pub fn explain(&self, stage: Stage) -> String {
        stage::text(&self.plan.lowered, stage, &self.plan.config, self.plan.settings)
    }

    /// The number of kernels a call runs: of loop nests, those counted once that run together tile by tile.
    pub fn kernel_count(&self) -> usize {
        self.plan.lowered.launches.len()
    }

    /// Calls the function. Nothing is compiled: arguments are of the signature the function was compiled for, or the call is
    /// an error.
    ///
    /// # Errors
    /// `Argument` for an argument of another type, shape or layout; `Allocation` if memory is refused.
    #[track_caller]
    pub fn call<'a>(&self, inputs: impl Inputs<'a, N>) -> Result<<F::Outputs as Outputs>::Arrays> {
        let place = Place::caller();
        let mut args = inputs.args().map_err(|e| called(e, Some(place)))?;
        self.check(&args, place)?;
        let arrays = erased::run_fresh(&self.plan, &mut args).map_err(|e| called(e, Some(place)))?;
        Ok(F::Outputs::arrays(&mut Parts::new(arrays, self.plan.lengths.clone())))
    }

    /// As [`call`](Compiled::call), with results written into memory of the caller.
    ///
    /// # Errors
    /// Those of [`call`](Compiled::call); `Arity` and `Argument` for destinations that are not as the results.
    #[track_caller]
    pub fn call_into<'a, 'b>(&self, inputs: impl Inputs<'a, N>, into: impl Destinations<'b>) -> Result<()> {
        let place = Place::caller();
        let mut args = inputs.args().map_err(|e| called(e, Some(place)))?;
        self.check(&args, place)?;
        let mut destinations: SmallVec<[Destination<'b>; 4]> = SmallVec::new();
        into.destinations(&mut destinations);
        erased::fits(&self.plan, &destinations).map_err(|e| e.at(place))?;
        erased::run_into(&self.plan, &mut args, &mut destinations).map_err(|e| called(e, Some(place)))
    }

    fn check(&self, args: &[Arg<'_>], place: Place) -> Result<()> {
        if self.plan.accepts(self.plan.settings, args) {
            return Ok(());
        }
        let error = unexpected("compiled", &self.plan.arguments, args, ArgumentType::accepts);
        Err(error.at(place).help("call the jitted function itself to compile for other arguments, or convert them"))
    }
}

/// The error of arguments that are not those a program was `made` for: which, and what they are.
pub(crate) fn unexpected(
    made: &str,
    expected: &[ArgumentType],
    args: &[Arg<'_>],
    accepts: impl Fn(&ArgumentType, &Arg<'_>) -> bool,
) -> Error {
    let mut error = Error::new(ErrorCode::Argument, format!("call: the arguments are not what was {made} for"));
    for (i, (expected, arg)) in expected.iter().zip(args).enumerate() {
        let given = erased::argument_type(arg);
        if !accepts(expected, arg) {
            error = error
                .fact(format_args!("argument {i}: {made} for {}", describe(expected)))
                .fact(format_args!("            given {}", describe(&given)));
        }
    }
    error
}

fn describe(argument: &ArgumentType) -> String {
    match &argument.layout {
        ArgumentLayout::Scalar => format!("a number {}", argument.ty),
        ArgumentLayout::Contiguous => format!("{}{}", argument.ty, argument.shape),
        ArgumentLayout::Strided(layout) => {
            format!("{}{} with strides {:?}", argument.ty, argument.shape, layout.strides)
        }
    }
}
