//! A jitted function without Rust types: traces each signature, and caches plans. [`run`](super::run) runs them.

use crate::api::config::{Config, Settings, with_settings};
use crate::array::node::Array;
use crate::diagnostics::debug::print::Printer;
use crate::diagnostics::explain::check;
use crate::diagnostics::misses::Misses;
use crate::jit::input::{Arg, Destination, known};
use crate::jit::lowering::lower;
use crate::jit::output::{Collected, Parts};
use crate::jit::run::{fits, run_fresh, run_into};
use crate::trace::call;
use crate::trace::expr::Expr;
use crate::trace::failure::Failure;
use crate::trace::operand::AnyOperand;
use crate::trace::print::Printing;
use crate::trace::recorder;
use crate::trace::recording::{FunctionName, Param, Recording};
use ndjit_codegen::Lowered;
use ndjit_eval::argument::{ArgumentData, ArgumentLayout, ArgumentType, CallArgument, Signature};
use ndjit_eval::counts;
use ndjit_eval::forbidden;
use ndjit_eval::plan::cache::{FoundPlan, InsertedPlan, Plans};
use ndjit_eval::plan::compiled::{Lengths, Plan};
use ndjit_inspect::clock::Clock;
use ndjit_inspect::{explain, source};
use ndjit_ir::lock::Mutex;
use ndjit_ir::support::Device;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc, ValueType};
use ndjit_runtime::{KernelCode, spans};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::time::Instant;

/// The traced function, from its parameters, in their [structure](Plan::structure), to its results.
pub(crate) type TracedClosure = Arc<dyn Fn(&Collected) -> Collected + Send + Sync>;

/// A jitted function without Rust types.
pub struct Core {
    /// The number of leaves if all lists are empty.
    pub(crate) arity: usize,
    /// The structure of the parameters if all lists are empty.
    pub(crate) structure: Lengths,
    pub(crate) config: Config,
    pub(crate) function: TracedClosure,
    /// The type of the closure, and the place of its `jit` call.
    pub(crate) named: (&'static str, SourceLoc),
    pub(crate) plans: Plans,
    /// Held while a trace is lowered and compiled, so that each plan is made once. No closure runs under this lock.
    making: Mutex<()>,
    /// The process that created the function.
    process: u32,
    tracing: TracingThreads,
    inlined: Mutex<Vec<Inlined>>,
    pub(crate) traces: AtomicU64,
    pub(crate) misses: Misses,
    /// The kernels that this function has run, by address. A kernel in this map keeps its address unique.
    kernels: Mutex<FxHashMap<usize, Weak<dyn KernelCode>>>,
    pub(crate) compiles: AtomicU64,
}

/// The maximum number of child graphs cached for calls inside other functions. Functions that call each other with many
/// shapes request all of them repeatedly during one trace.
const INLINED: usize = 1024;

/// A child graph for calls with these parameters.
struct Inlined {
    settings: Settings,
    structure: Lengths,
    params: Vec<Param>,
    recording: Arc<Recording>,
    lengths: Lengths,
}

/// The interface of a program between the function and its caller: all data other than the graph.
pub(crate) struct CallInterface {
    /// Arrays that the function captured.
    pub closed_over: Vec<Array>,
    /// The structure of its parameters.
    pub structure: Lengths,
    /// The number of results of each growable part of the output.
    pub lengths: Lengths,
    /// Values that a call prints.
    pub printed: Vec<Printing>,
}

/// The trace of a function for one signature.
pub(crate) struct TracedFunction {
    pub recording: Recording,
    pub structure: Lengths,
    pub lengths: Lengths,
}

impl Core {
    /// Creates a function with this number of leaves and this structure.
    pub(crate) fn new(
        (arity, structure): (usize, Lengths),
        config: Config,
        named: (&'static str, SourceLoc),
        function: TracedClosure,
    ) -> Core {
        Core {
            arity,
            structure,
            config,
            function,
            named,
            plans: Plans::default(),
            making: Mutex::new(()),
            process: std::process::id(),
            tracing: TracingThreads::default(),
            inlined: Mutex::new(Vec::new()),
            traces: AtomicU64::new(0),
            misses: Misses::default(),
            kernels: Mutex::default(),
            compiles: AtomicU64::new(0),
        }
    }

    /// Returns the same function under another configuration, without plans.
    pub(crate) fn with(&self, config: Config) -> Core {
        Core::new((self.arity, self.structure.clone()), config, self.named, Arc::clone(&self.function))
    }

    /// Returns the name of the function in errors.
    fn named(&self) -> FunctionName {
        let (name, place) = self.named;
        FunctionName { id: std::ptr::from_ref(self).addr(), name, place }
    }

    /// Traces the function for parameters of these types, for a call at `place`. No lock is held, since the closure is
    /// arbitrary code.
    pub(crate) fn trace(
        &self,
        settings: Settings,
        params: &[Param],
        structure: &[usize],
        place: Option<SourceLoc>,
    ) -> std::result::Result<TracedFunction, Failure> {
        let _tracing = Tracing::begin(self)?;
        forbidden::allowed("trace")?;
        let _span = spans::trace(params.len());
        self.traces.fetch_add(1, Relaxed);
        counts::count_trace();
        let mut lengths = Lengths::new();
        let recording = with_settings(settings, || {
            recorder::record(Some(self.named()), params, place, |parameters, outputs| {
                let exprs = recorder::accept(parameters, self.config.restrictions);
                let collected = (self.function)(&Collected { exprs: exprs.to_vec(), lengths: structure.into() });
                *outputs = collected.exprs;
                lengths = collected.lengths;
            })
        })?;
        Ok(TracedFunction { recording, structure: structure.into(), lengths })
    }

    /// Calls the function at `place` on arguments in a structure. The results are new arrays.
    pub(crate) fn call(
        &self,
        args: &mut [Arg<'_>],
        structure: &[usize],
        place: Option<SourceLoc>,
    ) -> Result<Parts<Array>> {
        let plan = self.plan(args, structure, place)?;
        let arrays = run_fresh(&plan, args)?;
        Ok(Parts::new(arrays, plan.lengths.clone()))
    }

    /// Calls the function and writes its results to the given destinations.
    pub(crate) fn call_into(
        &self,
        (args, structure): (&mut [Arg<'_>], &[usize]),
        destinations: &mut [Destination<'_>],
        place: SourceLoc,
    ) -> Result<()> {
        let plan = self.plan(args, structure, Some(place))?;
        fits(&plan, destinations).map_err(|e| e.at(place))?;
        run_into(&plan, args, destinations)
    }

    /// Finds or makes the plan for these arguments, for a call at `place`.
    pub(crate) fn plan(&self, args: &[Arg<'_>], structure: &[usize], place: Option<SourceLoc>) -> Result<FoundPlan> {
        let settings = self.settings(args, place)?;
        if let Some(plan) = self.plans.find(&settings, structure, known(args)) {
            counts::PLAN_HITS.fetch_add(1, Relaxed);
            return Ok(plan);
        }
        self.make_plan(settings, args, structure, place)
    }

    /// Returns the settings for tracing a call with these arguments.
    pub(crate) fn settings(&self, args: &[Arg<'_>], place: Option<SourceLoc>) -> Result<Settings> {
        self.config.settings().on(self.device(args, place)?)
    }

    /// Returns the device of a call with these arguments.
    fn device(&self, args: &[Arg<'_>], place: Option<SourceLoc>) -> Result<Device> {
        let devices = || args.iter().enumerate().filter_map(|(n, arg)| Some((n, arg.argument.device()?)));
        let Some(own) = self.config.device else {
            let Some(first) = devices().next() else { return Ok(Device::CPU) };
            let Some(other) = devices().find(|(_, device)| *device != first.1) else { return Ok(first.1) };
            // Host arrays move to the other device.
            let (moved, stays) = if first.1 == Device::CPU { (first, other) } else { (other, first) };
            let (moved, stays) = match place.and_then(source::arguments) {
                Some(written) if written.len() == args.len() => {
                    (receiver(&args[moved.0], &written[moved.0]), receiver(&args[stays.0], &written[stays.0]))
                }
                _ => ("x".to_owned(), "y".to_owned()),
            };
            let help = format!(
                "move one of them, `{moved}.on({stays}.device())`, or say where the function runs: `f.on(device)`"
            );
            return Err(apart(args, &help));
        };
        // Host arrays move to the device of the function.
        match devices().find(|(_, device)| *device != own && *device != Device::CPU) {
            None => Ok(own),
            Some(_) => {
                Err(apart(args, &format!("the function runs on {own}: move what is elsewhere there, `x.on(device)`")))
            }
        }
    }

    #[cold]
    fn make_plan(
        &self,
        settings: Settings,
        args: &[Arg<'_>],
        structure: &[usize],
        place: Option<SourceLoc>,
    ) -> Result<FoundPlan> {
        let types: Vec<ArgumentType> = known(args).map(CallArgument::argument_type).collect();
        let signature = Signature { settings, arguments: types.clone(), structure: structure.into() };
        let miss = self.misses.begin(&self.plans, signature, place)?;
        let params: Vec<Param> = types.iter().map(param).collect();
        let begun = Instant::now();
        let traced = self.trace(settings, &params, structure, place)?;
        let clock = Clock::traced(begun.elapsed());
        let closed_over = self.captured(settings.device, traced.recording.closed_over.clone())?;
        // Drops nothing under the lock: freeing external memory may run foreign code.
        let made = {
            // A span collector runs at each span, and may itself call functions. In a forked child, the owner of the
            // lock may not exist.
            let alone = spans::are_collected() || self.process != std::process::id();
            let _making = (!alone).then(|| self.making.lock());
            match self.plans.find(&settings, structure, known(args)) {
                Some(found) => Err(found),
                None => Ok(self.compile(settings, types, &traced, &closed_over, clock).map(|plan| {
                    let plan = Arc::new(plan);
                    (self.plans.insert(&plan), plan)
                })),
            }
        };
        let (inserted, plan) = match made {
            Ok(made) => made?,
            Err(found) => return self.second(found),
        };
        match inserted {
            InsertedPlan::Known(plan) => self.second(plan.into()),
            InsertedPlan::New { .. } => {
                self.misses.end(miss, &plan);
                Ok(plan.into())
            }
        }
    }

    /// Returns the plan of the first thread to finish. The trace of this thread is dropped.
    fn second(&self, found: FoundPlan) -> Result<FoundPlan> {
        self.traces.fetch_sub(1, Relaxed);
        Ok(found)
    }

    fn compile(
        &self,
        settings: Settings,
        types: Vec<ArgumentType>,
        traced: &TracedFunction,
        closed_over: &[Array],
        mut clock: Clock,
    ) -> Result<Plan> {
        let TracedFunction { recording: Recording { graph, places, printed, .. }, structure, lengths } = traced;
        let lowered = lower((graph, places), &types, closed_over, &self.config, settings, &mut clock)?;
        let frame = CallInterface {
            closed_over: closed_over.to_vec(),
            structure: structure.clone(),
            lengths: lengths.clone(),
            printed: printed.clone(),
        };
        self.compiled(settings, types, Arc::new(lowered), frame, clock)
    }

    /// Compiles a lowered program of this function.
    pub(crate) fn compiled(
        &self,
        settings: Settings,
        types: Vec<ArgumentType>,
        lowered: Arc<Lowered>,
        frame: CallInterface,
        clock: Clock,
    ) -> Result<Plan> {
        forbidden::allowed("compile")?;
        let closed_over = self.captured(settings.device, frame.closed_over)?;
        let (closed_over, options) = (Array::refs(&closed_over), self.config.plan_options());
        let mut plan = Plan::compile(lowered, types, &closed_over, &options, settings, clock)?;
        self.count_kernels(&plan);
        plan.closed_over = closed_over;
        (plan.structure, plan.lengths) = (frame.structure, frame.lengths);
        if !frame.printed.is_empty() {
            let results = frame.printed.len();
            plan.observe(Box::new(Printer(frame.printed)), results);
        }
        Ok(plan)
    }

    /// Returns the captured arrays on the device of the function. Host arrays are copied if that is another device.
    fn captured(&self, device: Device, closed_over: Vec<Array>) -> Result<Vec<Array>> {
        let moved = |array: Array| {
            if array.device() == device {
                return Ok(array);
            }
            if array.device() != Device::CPU || self.config.device.is_none() {
                let (ty, shape, own) = (array.value_type(), array.shape(), array.device());
                return Err(Error::new(
                    ErrorCode::Device,
                    "call: the function uses an array that is on another device",
                )
                .fact(format_args!("the array: {ty}{shape} on {own}"))
                .fact(format_args!("the call runs on {device}"))
                .help("move the array, `x.on(device)`, or say where the function runs: `f.on(device)`"));
            }
            let moved = array.on(device);
            moved.error().cloned().map_or(Ok(moved), Err)
        };
        closed_over.into_iter().map(moved).collect()
    }

    /// Counts the kernels that are new to this function.
    fn count_kernels(&self, plan: &Plan) {
        let mut known = self.kernels.lock();
        known.retain(|_, kernel| kernel.strong_count() > 0);
        for kernel in plan.kernels().into_iter().flatten() {
            if known.insert(Arc::as_ptr(&kernel).addr(), Arc::downgrade(&kernel)).is_none() {
                self.compiles.fetch_add(1, Relaxed);
            }
        }
    }

    /// Inlines a call into the current trace, as one node.
    pub(crate) fn inline(
        &self,
        operands: &[AnyOperand],
        structure: &[usize],
        place: SourceLoc,
    ) -> (Vec<Expr>, Lengths) {
        let settings = self.config.settings();
        let mut lengths = Lengths::new();
        let exprs = call::call(operands, place, |params| {
            let known = |inlined: &[Inlined]| {
                let same = |i: &&Inlined| i.settings == settings && i.structure[..] == *structure && i.params == params;
                let known = inlined.iter().find(same)?;
                Some((Arc::clone(&known.recording), known.lengths.clone()))
            };
            let first = known(&self.inlined.lock());
            if let Some((recording, known)) = first {
                lengths = known;
                return Ok(recording);
            }
            let traced = self.trace(settings, params, structure, Some(place))?;
            let recording = Arc::new(traced.recording);
            let Recording { graph, places, closed_over, .. } = &*recording;
            let inputs = explain::inputs(params.iter().map(Param::is_array), closed_over.len());
            check(graph, places, &inputs, settings.policy, self.config.on_widening)?;
            lengths = traced.lengths;
            let (structure, lengths) = (structure.into(), lengths.clone());
            let own = Inlined { settings, structure, params: params.to_vec(), recording, lengths };
            let mut inlined = self.inlined.lock();
            if let Some((recording, _)) = known(&inlined) {
                // Another thread was first.
                self.traces.fetch_sub(1, Relaxed);
                return Ok(recording);
            }
            let recording = Arc::clone(&own.recording);
            let dropped = (inlined.len() >= INLINED).then(|| inlined.remove(0));
            inlined.push(own);
            drop(inlined);
            drop(dropped);
            Ok(recording)
        });
        (exprs, lengths)
    }
}

pub(crate) fn param(argument: &ArgumentType) -> Param {
    match (&argument.layout, argument.ty) {
        (ArgumentLayout::Scalar, ValueType::Weak(weak)) => Param::Scalar(weak),
        _ => Param::Array(argument.ty, argument.dtype, argument.shape.clone()),
    }
}

/// Returns an argument as the receiver of an array method.
fn receiver(arg: &Arg<'_>, written: &str) -> String {
    match arg.argument.data {
        ArgumentData::Borrowed(_) => format!("Array::from({})", written.trim_start_matches('&')),
        ArgumentData::Shared(_) | ArgumentData::Donated(_) | ArgumentData::Inline(_) | ArgumentData::Scalar(_) => {
            source::receiver_of(written)
        }
    }
}

/// Returns the error of arguments on different devices.
fn apart(args: &[Arg<'_>], help: &str) -> Error {
    let mut error = Error::new(ErrorCode::Device, "call: arguments are on different devices");
    for (n, arg) in known(args).enumerate() {
        if let Some(device) = arg.device() {
            error = error.fact(format_args!("argument {n}: {}{} on {device}", arg.ty, arg.shape));
        }
    }
    error.help(help)
}

/// The maximum number of threads that trace one function at once, or within each other. A closure that starts a thread
/// which calls its function would never end.
const TRACING: usize = 1024;

/// The functions being traced, one entry for each trace.
static TRACED: Mutex<Vec<FunctionName>> = Mutex::new(Vec::new());

/// The maximum number of other functions named in an error.
const NAMED: usize = 4;

/// The number of threads that trace a function.
#[derive(Default)]
struct TracingThreads {
    count: AtomicUsize,
    /// True after too many threads. No trace begins until the last one has ended, since each one that ends may start
    /// another.
    refused: AtomicBool,
}

/// Registers a trace of a function by this thread.
struct Tracing<'a>(&'a Core);

impl<'a> Tracing<'a> {
    fn begin(core: &'a Core) -> Result<Tracing<'a>> {
        let threads = &core.tracing;
        let before = threads.count.fetch_add(1, SeqCst);
        TRACED.lock().push(core.named());
        let tracing = Tracing(core);
        if before >= TRACING {
            threads.refused.store(true, SeqCst);
        }
        if !threads.refused.load(SeqCst) {
            return Ok(tracing);
        }
        let error = Error::new(ErrorCode::Traced, format!("call: {TRACING} threads trace one function at once"));
        let others = tracing.others().into_iter();
        let error = others
            .fold(error.fact(core.named()), |error, other| error.fact(format_args!("meanwhile {other} is traced")));
        Err(error.help("does its closure start threads that call it? Compute what they give before, and capture that"))
    }

    /// Returns the functions that other threads trace, most frequent first.
    fn others(&self) -> Vec<FunctionName> {
        let mut counts: FxHashMap<usize, (usize, FunctionName)> = FxHashMap::default();
        for named in TRACED.lock().iter().filter(|named| named.id != self.0.named().id) {
            counts.entry(named.id).or_insert((0, *named)).0 += 1;
        }
        let mut others: Vec<(usize, FunctionName)> = counts.into_values().collect();
        others.sort_by_key(|(count, named)| (Reverse(*count), named.id));
        others.into_iter().take(NAMED).map(|(_, named)| named).collect()
    }
}

impl Drop for Tracing<'_> {
    fn drop(&mut self) {
        let mut traced = TRACED.lock();
        if let Some(at) = traced.iter().rposition(|named| named.id == self.0.named().id) {
            traced.swap_remove(at);
        }
        drop(traced);
        if self.0.tracing.count.fetch_sub(1, SeqCst) == 1 {
            self.0.tracing.refused.store(false, SeqCst);
        }
    }
}
