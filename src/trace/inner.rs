//! Graphs of control flow: recorded as functions are, but what they use of the traces around them becomes a parameter, and they become part of
//! a node.

use super::{Param, Recording, STRAY, TRACES, Trace, in_trace, in_trace_many, number, record_in, written};
use crate::array::Array;
use crate::config;
use crate::expr::{Expr, Node};
use crate::operand::AnyOperand;
use ndjit_ir::graph::{Control, ControlKind, Graph, Inner, MAX_NESTING, NodeKind, Places, Slot, Value};
use ndjit_ir::support::Supports;
use ndjit_ir::{DType, Error, ErrorCode, Place, Result, Shape, ValueType};
use std::collections::HashMap;
use std::sync::Arc;

/// What is known of a value of a trace around: if it is a number, what fills its slot.
type Seen = (ValueType, DType, Shape, Option<Slot>);

/// What a graph of control flow uses of what is around it.
#[derive(Default)]
pub(super) struct Captures {
    /// The values of the traces around, by trace.
    around: HashMap<u32, Arc<Vec<Seen>>>,
    /// What is used, in the order of the parameters that stand for it, which come after its own.
    used: Vec<(AnyOperand, Value)>,
    /// Numbers of the traces around that are used: they stay numbers.
    numbers: HashMap<(u32, Value), Value>,
}

impl Captures {
    /// Those of a trace in `outer`.
    fn of(outer: &Trace) -> Captures {
        let policy = config::policy();
        let seen = |value: Value| -> Seen {
            let graph = &outer.graph;
            (graph.ty(value), graph.stored(value, policy), graph.shape(value).clone(), number(graph, value).cloned())
        };
        let values = (0..outer.graph.value_count()).map(Value::from_index).map(seen).collect();
        let mut around = outer.captures.as_ref().map(|captures| captures.around.clone()).unwrap_or_default();
        around.insert(outer.id, Arc::new(values));
        Captures { around, ..Captures::default() }
    }
}

impl Trace {
    /// The value of this trace that stands for one of a trace around; `None` if there is no such.
    pub(super) fn captured(&mut self, x: Expr) -> Option<Value> {
        let Node::Value(value) = x.node else { return None };
        let captures = self.captures.as_mut()?;
        let (ty, stored, shape, number) = captures.around.get(&x.trace)?.get(value.index())?.clone();
        if let Some(&known) = captures.numbers.get(&(x.trace, value)) {
            return Some(known);
        }
        let same = |used: &&(AnyOperand, Value)| matches!(&used.0, AnyOperand::Expr(known) if (known.trace, known.node) == (x.trace, x.node));
        if let Some((_, known)) = captures.used.iter().find(same) {
            return Some(*known);
        }
        if let Some(number) = number {
            let own = self.graph.literal(number, ty);
            captures.numbers.insert((x.trace, value), own);
            return Some(own);
        }
        let own = self.graph.param_stored(ty, stored, &shape);
        captures.used.push((AnyOperand::Expr(x), own));
        self.inputs.push(ndjit_ir::explain::Input::Captured);
        Some(own)
    }

    /// The parameter that stands for an array, in a graph of control flow.
    pub(super) fn captured_array(&mut self, array: &Array) -> Option<Value> {
        let captures = self.captures.as_mut()?;
        let same = |used: &&(AnyOperand, Value)| matches!(&used.0, AnyOperand::Array(known) if known.identity() == array.identity());
        if let Some((_, known)) = captures.used.iter().find(same) {
            return Some(*known);
        }
        let own = self.graph.param_stored(array.value_type(), array.dtype(), array.shape());
        captures.used.push((AnyOperand::Array(array.clone()), own));
        self.inputs.push(ndjit_ir::explain::Input::Captured);
        Some(own)
    }
}

/// A recorded graph of control flow.
pub(crate) struct Recorded {
    graph: Graph<ValueType>,
    places: Places,
    supports: Supports,
    /// What its last parameters stand for.
    captured: Vec<AnyOperand>,
    /// Type, dtype and shape of each output.
    pub outputs: Vec<(ValueType, DType, Shape)>,
}

/// Types of values of this thread's trace, as parameters.
///
/// # Errors
/// As [`describe`](super::describe).
pub(crate) fn params(values: &[Expr], what: &str) -> Result<Vec<Param>> {
    let param = |&x: &Expr| super::describe(x, what).map(|(ty, stored, shape)| Param::Array(ty, stored, shape));
    values.iter().map(param).collect()
}

/// Records a graph of control flow in the trace of this thread.
///
/// # Errors
/// The first error of an operation in it; `Traced` outside of traces; what is printed in it is `Traced` too.
pub(crate) fn record_inner(
    params: &[Param],
    place: Place,
    function: impl FnOnce(&[Expr]) -> Vec<Expr>,
) -> Result<Recorded> {
    let place = written::place(place);
    let captures = TRACES.with_borrow(|traces| traces.last().map(Captures::of));
    let outside = || Error::new(ErrorCode::Traced, "control flow outside of a traced function").at(place);
    let captures = captures.ok_or_else(outside)?;
    let recorded = record_in(None, params, Some(place), Some(captures), |params, outputs| *outputs = function(params));
    let (Recording { graph, places, supports, printed, .. }, captured) = recorded?;
    if !printed.is_empty() {
        return Err(Error::new(ErrorCode::Traced, "debug_print: control flow prints nothing").at(place).help(
            "return the value from the loop or the branch, and print it there; `scan` returns those of all steps",
        ));
    }
    let policy = config::policy();
    let seen = |&value: &Value| (graph.ty(value), graph.stored(value, policy), graph.shape(value).clone());
    let outputs = graph.outputs().iter().map(seen).collect();
    Ok(Recorded { graph, places, supports, captured, outputs })
}

/// The used values of a finished trace, for its recording.
pub(super) fn used(captures: Option<Captures>) -> Vec<AnyOperand> {
    captures.map(|captures| captures.used.into_iter().map(|(operand, _)| operand).collect()).unwrap_or_default()
}

/// Adds control flow to the trace of this thread. `own` are the operands of which all graphs, or of a condition none, have the first parameters.
pub(crate) fn control(kind: ControlKind, own: &[Expr], graphs: [Recorded; 2], place: Place) -> Vec<Expr> {
    let place = written::place(place);
    let results: Vec<(ValueType, Shape)> = match kind {
        ControlKind::While => &graphs[1].outputs,
        ControlKind::Cond => &graphs[0].outputs,
    }
    .iter()
    .map(|(ty, _, shape)| (*ty, shape.clone()))
    .collect();
    if results.is_empty() {
        return Vec::new();
    }
    in_trace_many(move |trace| {
        let mut operands: Vec<Value> = Vec::new();
        for &x in own {
            operands.push(trace.expr(x, kind.name(), place)?);
        }
        let first = match kind {
            ControlKind::While => 0,
            ControlKind::Cond => 1,
        };
        let params = operands.len();
        let (mut places, mut supports): ([Arc<Places>; 2], [Arc<Supports>; 2]) = Default::default();
        let mut inner = Vec::with_capacity(2);
        for (n, Recorded { graph, captured, places: own, supports: under, .. }) in graphs.into_iter().enumerate() {
            (places[n], supports[n]) = (Arc::new(own), Arc::new(under));
            let mut of: Vec<u32> = (first as u32..params as u32).collect();
            for operand in &captured {
                let value = trace.value(operand, kind.name(), place)?;
                let known = operands[params..].iter().position(|&known| known == value).map(|at| at + params);
                of.push(known.unwrap_or(operands.len()) as u32);
                if known.is_none() {
                    operands.push(value);
                }
            }
            inner.push(Inner { graph: Arc::new(graph), operands: of });
        }
        let Ok(graphs) = <[Inner<ValueType>; 2]>::try_from(inner) else { return Ok(Vec::new()) };
        let control = Control { kind, graphs };
        if control.nesting() > MAX_NESTING {
            let headline = format!("{}: control flow in control flow more than {MAX_NESTING} deep", kind.name());
            return Err(trace.fail(Error::new(ErrorCode::Size, headline).at(place).help("loop over one index instead")));
        }
        let number = trace.graph.control(Arc::new(control));
        trace.places.set_control(number, places);
        trace.supports.set_control(number, supports);
        let mut values = Vec::with_capacity(results.len());
        for (n, (ty, shape)) in results.into_iter().enumerate() {
            let shape = trace.graph.intern(&shape);
            values.push(trace.add(NodeKind::Control(number, n as u32), &operands, &[(ty, shape)], place));
        }
        Ok(values)
    })
}

/// A number or an array as a value of this thread's trace, or the value itself.
pub(crate) fn value(operand: &AnyOperand, what: &'static str, place: Place) -> Expr {
    let place = written::place(place);
    match operand {
        AnyOperand::Expr(x) if x.trace == STRAY.trace => *x,
        _ => in_trace(|trace| trace.value(operand, what, place)),
    }
}
