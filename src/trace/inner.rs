//! Graphs of control flow: recorded as functions are, and stored in a node. Captures from enclosing traces become
//! parameters.

use super::captures::Known;
use super::captures::{Captures, Seen};
use super::escape::STRAY;
use super::recorder::{TRACES, Trace, describe, in_trace, in_trace_many, inner_of, number, record_in};
use super::recording::{Param, Recording};
use super::written;
use crate::api::config;
use crate::array::node::Array;
use crate::trace::expr::{Expr, ExprValue};
use crate::trace::operand::AnyOperand;
use ndjit_ir::graph::{Control, ControlKind, Graph, Inner, MAX_NESTING, NodeKind, SourceLocs, Value};
use ndjit_ir::support::Supports;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, SourceLoc, ValueType};
use std::collections::HashMap;
use std::sync::Arc;

impl Captures {
    /// Creates the captures for a trace in `outer`, with facts on nested control flow.
    fn of(outer: &mut Trace, inner: Vec<Known>) -> Captures {
        outer.find_ranges();
        let (policy, graph, ranges) = (config::policy(), &outer.graph, outer.ranges.known());
        let seen = |value: Value| -> Seen {
            (
                graph.ty(value),
                graph.storage_dtype(value, policy),
                graph.shape(value).clone(),
                number(graph, value).cloned(),
                ranges[value.index()],
            )
        };
        // The list is shared only while a nested trace is recorded, so it grows in place.
        let known = Arc::make_mut(&mut outer.seen);
        known.extend((known.len()..graph.value_count()).map(Value::from_index).map(seen));
        let mut around = outer.captures.as_ref().map(|captures| captures.around.clone()).unwrap_or_default();
        around.insert(outer.id, Arc::clone(&outer.seen));
        Captures { around, known: inner, ..Captures::default() }
    }
}

impl Trace {
    /// Returns the local value for a value of an enclosing trace; `None` if there is none.
    pub(super) fn captured(&mut self, x: Expr) -> Option<Value> {
        let ExprValue::Value(value) = x.node else { return None };
        let captures = self.captures.as_mut()?;
        if let Some(&known) = captures.values.get(&(x.trace, value)) {
            return Some(known);
        }
        let own = match captures.around.get(&x.trace)?.get(value.index())? {
            (ty, _, _, Some(number), _) => self.graph.literal(number.clone(), *ty),
            (ty, stored, shape, None, range) => {
                captures.used.push(AnyOperand::Expr(x));
                self.inputs.push(ndjit_inspect::explain::ParamSource::Around);
                let own = self.graph.param_stored(*ty, *stored, shape);
                if let Some(range) = *range {
                    self.ranges.give(own, range);
                }
                own
            }
        };
        captures.values.insert((x.trace, value), own);
        Some(own)
    }

    /// Returns the parameter for an array in a graph of control flow.
    pub(super) fn captured_array(&mut self, array: &Array) -> Option<Value> {
        let captures = self.captures.as_mut()?;
        if let Some(&known) = captures.arrays.get(&array.identity()) {
            return Some(known);
        }
        let own = self.graph.param_stored(array.value_type(), array.dtype(), array.shape());
        // The array is kept alive, so that its identity stays unique.
        captures.used.push(AnyOperand::Array(array.clone()));
        captures.arrays.insert(array.identity(), own);
        self.inputs.push(ndjit_inspect::explain::ParamSource::Captured);
        Some(own)
    }
}

/// A recorded graph of control flow.
pub(crate) struct RecordedGraph {
    graph: Graph<ValueType>,
    places: SourceLocs,
    supports: Supports,
    /// The operands of the last parameters.
    captured: Vec<AnyOperand>,
    /// Type, dtype and shape of each output.
    pub outputs: Vec<(ValueType, DType, Shape)>,
    /// The facts on nested control flow.
    learned: Vec<Known>,
}

impl RecordedGraph {
    /// Takes the facts on nested control flow.
    pub(crate) fn learned(&mut self) -> Vec<Known> {
        std::mem::take(&mut self.learned)
    }
}

/// Returns the types of values of the current trace, as parameters.
///
/// # Errors
/// Those of [`describe`](super::describe).
pub(crate) fn params(values: &[Expr], what: &str) -> Result<Vec<Param>> {
    let param = |&x: &Expr| describe(x, what).map(|(ty, stored, shape)| Param::Array(ty, stored, shape));
    values.iter().map(param).collect()
}

/// Records a graph of control flow in the current trace. Facts on nested control flow come from the previous recording.
///
/// # Errors
/// The first error of an operation in it; `Traced` outside of traces, and for debug output in it.
pub(crate) fn record_inner(
    params: &[Param],
    place: SourceLoc,
    known: Vec<Known>,
    function: impl FnOnce(&[Expr]) -> Vec<Expr>,
) -> Result<RecordedGraph> {
    let place = written::place(place);
    let captures = TRACES.with_borrow_mut(|traces| {
        let nesting = inner_of(traces);
        traces.last_mut().map(|outer| match nesting < MAX_NESTING {
            true => Ok(Captures::of(outer, known)),
            false => Err(too_deep()),
        })
    });
    let outside = || Error::new(ErrorCode::Traced, "control flow outside of a traced function");
    let captures = captures.ok_or_else(outside).flatten().map_err(|error| error.at(place))?;
    let recorded = record_in(None, params, Some(place), Some(captures), |params, outputs| *outputs = function(params));
    let (Recording { graph, places, supports, printed, .. }, Captures { used, learned, .. }) = recorded?;
    if !printed.is_empty() {
        return Err(Error::new(ErrorCode::Traced, "debug_print: control flow prints nothing").at(place).help(
            "return the value from the loop or the branch, and print it there; `scan` returns those of all steps",
        ));
    }
    let policy = config::policy();
    let seen = |&value: &Value| (graph.ty(value), graph.storage_dtype(value, policy), graph.shape(value).clone());
    let outputs = graph.outputs().iter().map(seen).collect();
    Ok(RecordedGraph { graph, places, supports, captured: used, outputs, learned })
}

fn too_deep() -> Error {
    Error::new(ErrorCode::Size, format!("control flow in control flow more than {MAX_NESTING} deep"))
        .help("loop over one index instead")
}

/// The maximum number of repeated traces of nested bodies in one function, as the states of nested loops settle on
/// types.
const MAX_RETRACES: u32 = 1 << 16;

/// The maximum number of traces that a function restarts after a body failed with the types of the previous recording.
const MAX_RESTARTS: u32 = 64;

/// Runs `ask` on the trace of the function, if this is a trace of nested control flow; `None` in others.
fn of_function<R>(ask: impl FnOnce(&mut Trace) -> R) -> Option<R> {
    TRACES.with_borrow_mut(|traces| {
        let function =
            traces.len().checked_sub(inner_of(traces) + 1).filter(|&function| function + 1 < traces.len())?;
        traces.get_mut(function).map(ask)
    })
}

/// Checks whether a loop may be traced from the beginning, after its body failed with the types of the previous
/// recording. Nested loops repeat this, so the number is limited.
pub(crate) fn may_restart() -> bool {
    let restarts = of_function(|trace| {
        trace.restarts += 1;
        trace.restarts <= MAX_RESTARTS
    });
    restarts.unwrap_or(true)
}

/// Counts a repeated trace of a body.
///
/// # Errors
/// `Size` beyond the limit for nested bodies.
pub(crate) fn again(what: &str, place: SourceLoc) -> Result<()> {
    let counted = of_function(|trace| {
        trace.again += 1;
        if trace.again <= MAX_RETRACES {
            return Ok(());
        }
        let headline = format!("{what}: bodies within bodies were traced again {MAX_RETRACES} times");
        Err(Error::new(ErrorCode::Size, headline).at(place).help(
            "begin the states of loops within loops with values of the dtypes that they keep, as `zeros_like(x)`, in place of numbers",
        ))
    });
    counted.unwrap_or(Ok(()))
}

/// Adds control flow to the current trace. `own` are the operands of the first parameters of all graphs. The graphs of
/// a branch have no such parameters.
pub(crate) fn control(kind: ControlKind, own: &[Expr], graphs: Vec<RecordedGraph>, place: SourceLoc) -> Vec<Expr> {
    let place = written::place(place);
    if graphs.last().is_none_or(|graph| graph.outputs.is_empty()) {
        return Vec::new();
    }
    in_trace_many(move |trace| {
        let mut operands: Vec<Value> = Vec::new();
        for &x in own {
            operands.push(trace.expr(x, kind.name(), place)?);
        }
        let first = match kind {
            ControlKind::While | ControlKind::Scan(_) | ControlKind::For(_) => 0,
            ControlKind::Cond => 1,
        };
        // The bound of a `for` loop is not a parameter of its body.
        let params = operands.len() - usize::from(matches!(kind, ControlKind::For(_)));
        let (mut places, mut supports): (Vec<Arc<SourceLocs>>, Vec<Arc<Supports>>) = Default::default();
        let mut inner = Vec::with_capacity(graphs.len());
        // Only captured operands are shared; a loop changes its own.
        let mut at_operand: HashMap<Value, usize> = HashMap::new();
        for RecordedGraph { graph, captured, places: own, supports: under, .. } in graphs {
            places.push(Arc::new(own));
            supports.push(Arc::new(under));
            let mut of: Vec<u32> = (first as u32..params as u32).collect();
            for operand in &captured {
                let value = trace.value(operand, kind.name(), place)?;
                let at = *at_operand.entry(value).or_insert(operands.len());
                of.push(at as u32);
                if at == operands.len() {
                    operands.push(value);
                }
            }
            inner.push(Inner { graph: Arc::new(graph), operands: of });
        }
        let control = Control { kind, graphs: inner };
        if control.nesting() > MAX_NESTING {
            return Err(trace.fail(too_deep().of(kind.name()).at(place)));
        }
        let results: Vec<(ValueType, Shape)> = (0..control.results()).filter_map(|n| control.result(n)).collect();
        let number = trace.graph.control(Arc::new(control));
        trace.places.set_control(number, places);
        trace.supports.set_control(number, supports);
        let mut values = Vec::new();
        if !results.is_empty() {
            let types: Vec<_> = results.into_iter().map(|(ty, shape)| (ty, trace.graph.intern(&shape))).collect();
            let first = trace.add(NodeKind::Control(number), &operands, &types, place);
            values.extend(trace.graph.node(trace.graph.producer(first)).results());
        }
        trace.graph.check_expansion().map_err(|error| trace.fail(error.at(place)))?;
        Ok(values)
    })
}

/// Returns a number or an array as a value of the current trace, or the value itself.
pub(crate) fn value(operand: &AnyOperand, what: &'static str, place: SourceLoc) -> Expr {
    let place = written::place(place);
    match operand {
        AnyOperand::Expr(x) if x.trace == STRAY.trace => *x,
        _ => in_trace(|trace| trace.value(operand, what, place)),
    }
}
