//! The traces being recorded on this thread, innermost last, and their recordings.
//!
//! Invariants: a graph refers only to existing values; a failed operation leaves the graph unchanged and adds an error
//! to the trace. Captured arrays become parameters after the function's own, one per array.

use super::captures::{Captures, Seen};
use super::escape::{self, STRAY, outside};
use super::failure::{Failure, Unfinished, panicked};
use super::int_ranges::IntRanges;
use super::print::Printing;
use super::recording::{FunctionName, Param, Recording};
use super::{arrange, within, written};
use crate::api::config;
use crate::array::node::Array;
use crate::trace::expr::{Expr, ExprValue};
use crate::trace::operand::AnyOperand;
use ndjit_eval::infer::{InferredOperation, infer};
use ndjit_eval::request::OperationRequest;
use ndjit_inspect::explain::{self, Explainer, Explanation, ParamSource};
use ndjit_inspect::words::KnownOperand;
use ndjit_ir::graph::{Graph, NodeKind, Slot, SourceLocs, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::support::{CastReason, Restrictions, Support, Supports};
use ndjit_ir::watch::PanicWatch;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, SourceLoc, ValueType};
use ndjit_runtime::panics::discard;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) struct Trace {
    pub(super) id: u32,
    /// The traced function, if it can be called.
    pub(super) function: Option<FunctionName>,
    /// The parameters of this trace.
    pub(super) given: Vec<Param>,
    pub(super) graph: Graph<ValueType>,
    pub(super) places: SourceLocs,
    pub(super) supports: Supports,
    pub(super) errors: Vec<Error>,
    /// The sources of the array parameters.
    pub(super) inputs: Vec<ParamSource>,
    /// The number of nodes at the first error.
    pub(super) before_error: Option<usize>,
    /// The recorded part of the called function with the first error.
    pub(super) called: Option<Box<Unfinished>>,
    pub(super) closed_over: Vec<(Array, Value)>,
    pub(super) closed_over_at: HashMap<usize, usize>,
    pub(super) printed: Vec<(Printing, Value)>,
    /// Pending arrays by identity, kept alive so that their identities stay unique.
    pub(super) formulas: HashMap<usize, (Array, Value)>,
    /// Child graphs by address of their recordings, which are kept alive so that addresses stay unique.
    pub(super) children: HashMap<usize, (u32, Arc<Recording>)>,
    /// The captures of a graph of control flow.
    pub(super) captures: Option<Captures>,
    /// The error of a function that calls itself, found in a nested trace.
    pub(super) circle: Option<Error>,
    /// Watches that error where this trace's closure receives it: it may panic with it.
    pub(super) watch: PanicWatch,
    /// The first values, as nested traces of control flow see them.
    pub(super) seen: Arc<Vec<Seen>>,
    /// The number of repeated traces of nested bodies.
    pub(super) again: u32,
    /// The known integer ranges.
    pub(super) ranges: IntRanges,
    /// The number of restarted traces of nested loops.
    pub(super) restarts: u32,
    /// True if it contains a derivative or a `vmap`.
    pub(super) transformed: bool,
}

thread_local! {
    /// Without a destructor, since destructors of other thread-locals may call functions. The last trace frees the
    /// memory.
    pub(super) static TRACES: RefCell<ManuallyDrop<Vec<Trace>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// Traces `function` with parameters of the given types, for a call at `place`. A function that can be called has a
/// name. The closure receives its parameters and pushes its results.
///
/// # Errors
/// The first error of an operation; `Traced` if a result is not of this trace, or the function calls itself; `Panic` if
/// it panicked; `Size` if traces are nested too deep.
pub(crate) fn record(
    named: Option<FunctionName>,
    params: &[Param],
    place: Option<SourceLoc>,
    function: impl FnOnce(&[Expr], &mut Vec<Expr>),
) -> std::result::Result<Recording, Failure> {
    record_in(named, params, place, None, function).map(|(recording, _)| recording)
}

/// Records a function like [`record`], or a graph of control flow. Returns its captures, which are the last parameters,
/// and facts on its control flow.
pub(super) fn record_in(
    named: Option<FunctionName>,
    params: &[Param],
    place: Option<SourceLoc>,
    captures: Option<Captures>,
    function: impl FnOnce(&[Expr], &mut Vec<Expr>),
) -> std::result::Result<(Recording, Captures), Failure> {
    TRACES.with_borrow_mut(|traces| {
        within::may_begin(&open(traces), named, params).map_err(|error| {
            let error = error.at(place);
            traces.iter_mut().for_each(|trace| trace.circle = Some(error.clone()));
            handed(error, traces)
        })
    })?;
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    escape::begin(id, place);
    let mut trace = Trace {
        id,
        function: named,
        given: params.to_vec(),
        graph: Graph::new(),
        places: SourceLocs::default(),
        supports: Supports::default(),
        errors: Vec::new(),
        inputs: match captures {
            Some(_) => vec![ParamSource::Body; params.len()],
            None => explain::inputs(params.iter().map(Param::is_array), 0),
        },
        before_error: None,
        called: None,
        closed_over: Vec::new(),
        closed_over_at: HashMap::new(),
        printed: Vec::new(),
        formulas: HashMap::new(),
        children: HashMap::new(),
        captures,
        circle: None,
        watch: PanicWatch::default(),
        seen: Arc::default(),
        again: 0,
        ranges: IntRanges::default(),
        restarts: 0,
        transformed: false,
    };
    let inputs = trace.params(params);
    TRACES.with_borrow_mut(|traces| traces.push(trace));
    let mut outputs = Vec::new();
    let outcome = catch_unwind(AssertUnwindSafe(|| function(&inputs, &mut outputs)));
    escape::end(id);
    let trace = TRACES.with_borrow_mut(|traces| {
        let trace = traces.pop();
        if traces.is_empty() {
            **traces = Vec::new();
        }
        trace
    });
    let Some(mut trace) = trace else {
        return Err(Error::new(ErrorCode::Traced, "the trace was lost").of("trace").into());
    };
    if let Err(payload) = outcome {
        let after = trace.graph.node_ids().rev().find_map(|id| trace.places.first(id));
        let panicked = panicked(payload.as_ref(), after);
        // A function may panic with the error that it received; that error has more detail.
        let circle = trace.circle.take().filter(|_| trace.watch.has_seen_panic());
        let error = circle.map_or(panicked, |circle| circle.watched(&trace.watch));
        trace.fail(error);
        discard(payload);
    }
    trace.finish(&outputs).map_err(|failure| {
        // The closure around this one receives the error next.
        let hand = |error: Error| TRACES.with_borrow(|traces| handed(error, traces));
        Failure { error: if failure.error.is_watched() { hand(failure.error) } else { failure.error }, ..failure }
    })
}

/// Returns the error of a function that calls itself, watched by the innermost trace, whose closure receives it.
fn handed(error: Error, traces: &[Trace]) -> Error {
    match traces.last() {
        Some(trace) => error.watched(&trace.watch),
        None => error,
    }
}

/// Records an operation in the current trace.
pub(crate) fn apply(asked: OperationRequest<'_>, operands: &[AnyOperand], place: SourceLoc) -> Expr {
    let place = written::place(place);
    in_trace(|trace| {
        let mut values: SmallVec<[Value; 3]> = SmallVec::new();
        for operand in operands {
            values.push(trace.value(operand, asked.what(), place)?);
        }
        trace.apply(asked, values, place)
    })
}

/// Returns the poisoned result of an invalid operation.
pub(crate) fn failed(error: Error) -> Expr {
    in_trace(|trace| Err(trace.fail(written::error(error))))
}

/// Checks the function's parameters under its restrictions: unchanged, cast by a casting mode, or an error.
pub(crate) fn accept(parameters: &[Expr], declared: Restrictions) -> SmallVec<[Expr; 8]> {
    if declared == Restrictions::NONE {
        return parameters.into();
    }
    let settings = config::settings();
    let accept = |(index, x): (usize, &Expr)| {
        in_trace(|trace| {
            let value = match x.node {
                ExprValue::Value(value) => value,
                ExprValue::Poisoned(error) => return Err(error),
            };
            let support = Support { restrictions: declared, ..Support::default() };
            trace.supports.note(trace.graph.producer(value), support);
            let ValueType::Strong(dtype) = trace.graph.ty(value) else { return Ok(value) };
            let Some(restriction) = declared.excluding(dtype) else { return Ok(value) };
            let cast = settings.support.argument(settings.policy, declared, index, dtype);
            let Some((dtype, mode)) = cast.map_err(|e| trace.fail(e))? else { return Ok(value) };
            trace.graph.shape(value).bytes(dtype.bytes()).map_err(|e| trace.fail(e))?;
            Ok(trace.cast(value, dtype, CastReason::Mode(mode), restriction.place()))
        })
    };
    parameters.iter().enumerate().map(accept).collect()
}

/// Returns type, stored dtype and shape of a value of the current trace. `what` is the requesting operation.
///
/// # Errors
/// The error of a poisoned value; `Traced` for a value of another trace.
pub(crate) fn describe(x: Expr, what: &str) -> Result<(ValueType, DType, Shape)> {
    read(x, what, |Trace { graph, .. }, value| {
        (graph.ty(value), graph.storage_dtype(value, config::policy()), graph.shape(value).clone())
    })
}

/// Explains the dtype of a value of the current trace.
///
/// # Errors
/// Those of [`describe`].
pub(crate) fn explain(x: Expr, place: SourceLoc) -> Result<Explanation> {
    let explain =
        |trace: &Trace, value| explain::value(&trace.graph, &trace.places, &trace.inputs, config::policy(), value);
    read(x, "explain_dtype", explain).map_err(|e| e.at(place))?
}

/// Runs `ask` on the trace of a value.
///
/// # Errors
/// Those of [`describe`].
pub(crate) fn read<R>(x: Expr, what: &str, ask: impl FnOnce(&Trace, Value) -> R) -> Result<R> {
    TRACES.with_borrow(|traces| {
        // A graph of control flow may refer to enclosing traces.
        let around = traces.iter().rev().take_while(|trace| trace.captures.is_some()).count() + 1;
        let mut open = traces.iter().rev().take(around);
        let trace = open.find(|trace| trace.id == x.trace).ok_or_else(|| outside(what, x))?;
        match x.node {
            ExprValue::Value(value) => Ok(ask(trace, value)),
            ExprValue::Poisoned(error) => {
                Err(trace.errors.get(error as usize).cloned().unwrap_or_else(|| outside(what, x)))
            }
        }
    })
}

/// Checks a value of the current trace. The error of a poisoned one is taken out of the trace, which does not fail with it.
///
/// # Errors
/// Those of [`describe`].
pub(crate) fn taken(x: Expr) -> Result<()> {
    let checked = read(x, "use", |_, _| ());
    if let ExprValue::Poisoned(number) = x.node {
        TRACES.with_borrow_mut(|traces| {
            if let Some(trace) = traces.last_mut().filter(|trace| trace.id == x.trace) {
                // Later errors are of operations on this value.
                trace.errors.truncate(number as usize);
                if trace.errors.is_empty() {
                    (trace.before_error, trace.called) = (None, None);
                }
            }
        });
    }
    checked
}

/// Returns an array or a number as a value of the current trace.
pub(crate) fn constant(operand: &AnyOperand, place: SourceLoc) -> Expr {
    let place = written::place(place);
    in_trace(|trace| trace.value(operand, "constant", place))
}

/// Adds `error` to the current trace, which then fails.
pub(crate) fn note_error(error: &Error) {
    let _ = in_trace(|trace| Err(trace.fail(error.clone())));
}

pub(super) fn in_trace(make: impl FnOnce(&mut Trace) -> std::result::Result<Value, u32>) -> Expr {
    TRACES.with_borrow_mut(|traces| match traces.last_mut() {
        Some(trace) => {
            let made = make(trace);
            trace.expr_of(made)
        }
        None => STRAY,
    })
}

/// Runs `make` on the current trace, like [`in_trace`], for several results.
pub(super) fn in_trace_many(make: impl FnOnce(&mut Trace) -> std::result::Result<Vec<Value>, u32>) -> Vec<Expr> {
    let made = TRACES.with_borrow_mut(|traces| {
        let trace = traces.last_mut()?;
        Some(match make(trace) {
            Ok(values) => values.into_iter().map(|value| trace.expr_of(Ok(value))).collect(),
            Err(error) => vec![trace.expr_of(Err(error))],
        })
    });
    made.unwrap_or_else(|| vec![STRAY])
}

impl Trace {
    pub(super) fn expr_of(&self, made: std::result::Result<Value, u32>) -> Expr {
        let (node, made) = match made {
            Ok(value) => (ExprValue::Value(value), self.places.first(self.graph.producer(value))),
            Err(error) => (ExprValue::Poisoned(error), self.errors.get(error as usize).and_then(Error::place)),
        };
        Expr { trace: self.id, node, made, _thread: PhantomData }
    }

    pub(super) fn fail(&mut self, error: Error) -> u32 {
        self.before_error.get_or_insert(self.graph.node_count());
        self.errors.push(error);
        self.errors.len() as u32 - 1
    }

    fn params(&mut self, params: &[Param]) -> Vec<Expr> {
        let mut values = vec![Value(0); params.len()];
        // Array parameters are the first nodes.
        for (value, param) in values.iter_mut().zip(params) {
            if let Param::Array(ty, stored, shape) = param {
                *value = self.graph.param_stored(*ty, *stored, shape);
            }
        }
        for (index, param) in params.iter().enumerate() {
            if let Param::Scalar(ty) = *param {
                values[index] = self.graph.literal(Slot::Argument { index, ty }, ValueType::Weak(ty));
            }
        }
        values.into_iter().map(|value| self.expr_of(Ok(value))).collect()
    }

    pub(super) fn add(
        &mut self,
        kind: NodeKind,
        operands: &[Value],
        results: &[(ValueType, ndjit_ir::graph::ShapeId)],
        place: SourceLoc,
    ) -> Value {
        let value = self.graph.add(kind, operands, results);
        self.places.note(self.graph.producer(value), place);
        value
    }

    pub(super) fn cast(&mut self, value: Value, dtype: DType, reason: CastReason, place: SourceLoc) -> Value {
        let shape = self.graph.shape_id(value);
        self.add(NodeKind::Cast(reason), &[value], &[(ValueType::Strong(dtype), shape)], place)
    }

    pub(super) fn value(
        &mut self,
        operand: &AnyOperand,
        what: &str,
        place: SourceLoc,
    ) -> std::result::Result<Value, u32> {
        match operand {
            AnyOperand::Expr(x) => self.expr(*x, what, place),
            AnyOperand::Array(array) => self.capture(array, place),
            AnyOperand::Scalar(scalar) => {
                let literal = scalar.0;
                let value = self.graph.literal(Slot::Value(literal), literal.ty());
                self.places.note(self.graph.producer(value), written::of_number(scalar.1, place));
                Ok(value)
            }
        }
    }

    pub(super) fn expr(&mut self, x: Expr, what: &str, place: SourceLoc) -> std::result::Result<Value, u32> {
        match x.node {
            ExprValue::Value(value) if x.trace == self.id => Ok(value),
            ExprValue::Poisoned(error) if x.trace == self.id => Err(error),
            ExprValue::Value(_) | ExprValue::Poisoned(_) => match self.captured(x) {
                Some(value) => Ok(value),
                None => Err(self.fail(outside(what, x).at(place))),
            },
        }
    }

    fn apply(
        &mut self,
        asked: OperationRequest<'_>,
        mut values: SmallVec<[Value; 3]>,
        place: SourceLoc,
    ) -> std::result::Result<Value, u32> {
        let (settings, graph) = (config::settings(), &self.graph);
        let known = |&v: &Value| KnownOperand { ty: graph.ty(v), shape: graph.shape(v), literal: literal(graph, v) };
        let known: SmallVec<[KnownOperand<'_>; 3]> = values.iter().map(known).collect();
        let explainer = Explainer::new(graph, &self.places).inputs(&self.inputs);
        let inferred = infer(asked, settings, &known, place, &|i| explainer.origin(values[i]));
        drop(known);
        let InferredOperation { operation, ty, shape, casts } = match inferred {
            Ok(inferred) => inferred,
            Err(error) => return Err(self.fail(error)),
        };
        for (value, cast) in values.iter_mut().zip(casts) {
            if let Some((dtype, mode)) = cast {
                *value = self.cast(*value, dtype, CastReason::Mode(mode), place);
            }
        }
        let value = match &operation.kind {
            NodeKind::View(view) => self.graph.view(values[0], Arc::clone(view), &shape),
            NodeKind::Reshape => self.graph.reshape(values[0], &shape),
            _ => {
                let own = if let NodeKind::Iota(..) = operation.kind { &[] } else { &values[..] };
                let (kind, shape) = (operation.kind_in(&mut self.graph), self.graph.intern(&shape));
                self.graph.add(kind, own, &[(ty, shape)])
            }
        };
        // A view without effect is its operand, which has another place.
        if !values.contains(&value) {
            self.places.note(self.graph.producer(value), place);
        }
        if !matches!(asked, OperationRequest::Movement(_)) {
            self.supports.note(self.graph.producer(value), settings.support);
        }
        Ok(value)
    }

    fn finish(mut self, outputs: &[Expr]) -> std::result::Result<(Recording, Captures), Failure> {
        let mut values = Vec::with_capacity(outputs.len());
        for &output in outputs {
            match output.node {
                ExprValue::Value(value) if output.trace == self.id => values.push(value),
                ExprValue::Poisoned(_) if output.trace == self.id => {}
                ExprValue::Value(_) | ExprValue::Poisoned(_) => match self.captured(output) {
                    Some(value) => values.push(value),
                    None => drop(self.fail(outside("return", output))),
                },
            }
        }
        if let Some(error) = self.errors.into_iter().next() {
            let Trace { graph, places, called, .. } = self;
            let nodes = self.before_error.unwrap_or(graph.node_count());
            return Err(Failure { error, before: Some(Box::new(Unfinished { graph, places, nodes, called })) });
        }
        let (printed, hidden_results): (Vec<Printing>, Vec<Value>) = self.printed.into_iter().unzip();
        values.extend(hidden_results);
        self.graph.set_outputs(values);
        let closed_over: Vec<Array> = self.closed_over.into_iter().map(|(array, _)| array).collect();
        let Trace { mut graph, mut places, mut supports, captures, transformed, .. } = self;
        // This removes values of one lane, and unused tangents.
        let beside = (places, supports);
        let left = transformed.then(|| ndjit_transform::live(&graph, &beside)).flatten();
        (graph, (places, supports)) = left.unwrap_or((graph, beside));
        let captures = captures.unwrap_or_default();
        let recording = Recording { graph, places, supports, closed_over, printed };
        let in_order = recording.closed_over.is_empty() && captures.used.is_empty();
        let recording = if in_order { recording } else { arrange::params_first(recording) };
        Ok((recording, captures))
    }
}

/// Returns the known number of a value; `None` for other values.
pub(super) fn literal(graph: &Graph<ValueType>, value: Value) -> Option<Literal> {
    match number(graph, value)? {
        Slot::Value(literal) => Some(*literal),
        Slot::Argument { .. } => None,
    }
}

/// Returns the slot of a number.
pub(super) fn number(graph: &Graph<ValueType>, value: Value) -> Option<&Slot> {
    match graph.node(graph.producer(value)).kind {
        NodeKind::Literal(slot) => graph.slots().get(slot.index()),
        _ => None,
    }
}

/// Returns the number of innermost traces of control flow.
pub(super) fn inner_of(traces: &[Trace]) -> usize {
    traces.iter().rev().take_while(|trace| trace.captures.is_some()).count()
}

/// Returns the traces in the form that [`within`] needs.
fn open(traces: &[Trace]) -> Vec<within::OpenTrace<'_>> {
    fn open(trace: &Trace) -> within::OpenTrace<'_> {
        let Trace { function, given, errors, circle, captures, .. } = trace;
        within::OpenTrace {
            function: *function,
            given,
            error: errors.first(),
            circle: circle.as_ref(),
            inner: captures.is_some(),
        }
    }
    traces.iter().map(open).collect()
}
