//! The verifiers of graphs. They check of every node:
//!
//! - operands exist and precede the node;
//! - parameters are the first nodes, in order, each listed once;
//! - ops have the number of operands of their row, casts one, parameters and literals none; all of these have one result;
//! - an op's operands broadcast, and the result has the broadcast shape; a cast keeps the shape; a literal is a scalar;
//! - no array is larger than memory can address;
//! - a reduction has the operands of its row, all but the first scalars, along axes of the first; the result has the shape
//!   without these axes, or with extent 1 there; it has elements if the reduction needs any;
//! - a scan has one operand, an axis of it, and its shape;
//! - a view stays within its operand; a reshape keeps the number of elements; operands of a join have equal extents except along its
//!   axis, and the result their sum there; each keeps its operands' type, a join the common one;
//! - a gather has two operands; the first one's first axis has elements unless the result has none; its other axes broadcast with
//!   the second one's shape to the result's; it has the first one's type, and the second is an `i64`;
//! - a scatter has three operands, with the shapes and types of a gather of the first two; it keeps shape and type of the first and
//!   supports its dtype;
//! - a literal's slot exists;
//! - control flow exists, its nesting is bounded, its graphs match its operands and results and are valid;
//! - a number passed at each call has one kind in the whole program;
//! - outputs exist.
//!
//! Also of traced graphs (`Graph<ValueType>`):
//!
//! - a literal has its slot's type; a weak parameter is stored as a dtype of its kind;
//! - the result type of an op, a reduction or a scan is the policy's for its operands' types;
//! - a cast gives a dtype;
//! - a call's child exists, matches the call's operands and results, has at least one result, and is valid.
//!
//! Also of typed graphs (`Graph<DType>`):
//!
//! - a literal has a dtype that its slot's value fits (for an argument: its kind, not its range);
//! - the operands of an op have its computing dtype, so every cast is explicit; the op supports that dtype; the result
//!   has the op's result dtype;
//! - a reduction is elementary; reductions and scans keep their operand's dtype, or give indices that fit; no dtype is requested;
//! - ops and reductions have the default policy, casts no reason, and there are no calls: passes have resolved them.
//!
//! Not checked: that equal nodes are shared, which [`Graph::add`] ensures.

use super::control::{ControlSignature, wanted};
use super::{Graph, MAX_NESTING, NodeId, NodeKind, Slot, Type, Value};
use crate::dtype::DType;
use crate::error::Result;
use crate::infer::InferenceError;
use crate::problems::Problems;
use crate::shape::Shape;
use crate::value_type::ValueType;

impl Graph<ValueType> {
    /// Checks the invariants of a traced graph, its callees and the graphs of its control flow.
    ///
    /// # Errors
    /// `Verify`, one fact per problem: the node's line and the problem.
    pub fn verify(&self) -> Result<()> {
        verify(self)
    }
}

impl Graph<DType> {
    /// Checks the invariants of a typed graph and the graphs of its control flow.
    ///
    /// # Errors
    /// `Verify`, one fact per problem: the node's line and the problem.
    pub fn verify(&self) -> Result<()> {
        verify(self)
    }
}

/// The signature of each control flow of a graph, or its problem.
type ControlChecks<T> = [Result<ControlSignature<T>, String>];

fn verify<T: Type>(graph: &Graph<T>) -> Result<()> {
    let mut problems = Problems::default();
    if graph.nesting() > MAX_NESTING {
        problems.note(format!("control flow stands more than {MAX_NESTING} deep in control flow"));
    }
    let numbers = graph.numbers();
    for graph in graph.whole() {
        check(graph, &mut problems);
        let passed = graph.slots.iter().filter_map(Slot::argument);
        for (index, ty) in passed.filter(|(index, ty)| numbers.get(index) != Some(ty)) {
            problems.note(format!("argument {index} is {ty} here and {} elsewhere", numbers[&index]));
        }
    }
    problems.verdict(T::STAGE)
}

fn check<T: Type>(graph: &Graph<T>, problems: &mut Problems) {
    let controls: Vec<_> = graph.controls().iter().map(|control| wanted(control)).collect();
    for id in graph.node_ids() {
        if problems.is_full() {
            return;
        }
        problems.check(check_node(graph, &controls, id), || graph.display_node(id).to_string());
    }
    for (what, values) in [("parameter", &graph.params), ("output", &graph.outputs)] {
        if let Some(value) = values.iter().find(|value| value.index() >= graph.value_count()) {
            problems.note(format!("{what} {value} does not exist"));
        }
    }
    if graph.node_ids().take(graph.params.len()).any(|id| !matches!(graph.node(id).kind, NodeKind::Param(..))) {
        problems
            .note(format!("{} parameters are listed, not all of the first nodes are parameters", graph.params.len()));
    }
}

/// Checks that a node has the results inferred from its operands.
fn check_node<T: Type>(graph: &Graph<T>, controls: &ControlChecks<T>, id: NodeId) -> Result<(), String> {
    let (node, operands) = (graph.node(id), graph.operands(id));
    if let Some(operand) = operands.iter().find(|operand| **operand >= node.first) {
        return Err(format!("operand {operand} does not come before the node"));
    }
    if let NodeKind::Control(n) = node.kind
        && let Some((wanted, control)) = controls.get(n as usize).zip(graph.controls().get(n as usize))
    {
        let seen = |&value: &Value| (graph.ty(value), graph.shape(value).clone());
        let operands: Vec<(T, Shape)> = operands.iter().map(seen).collect();
        super::control::check(control.kind, wanted.as_ref().map_err(String::clone)?, &operands)?;
    }
    let inferred = graph.infer(id).map_err(|mismatch| in_words(graph, id, &mismatch))?;
    match node.kind {
        NodeKind::Call(_) if node.results == 0 => return Err("a call without results".to_owned()),
        NodeKind::Control(_) if node.results == 0 => return Err("control flow without results".to_owned()),
        NodeKind::Call(_) if node.result_count() != inferred.len() => {
            return Err(format!("the child has {} results, the call {}", inferred.len(), node.results));
        }
        NodeKind::Control(_) if node.result_count() != inferred.len() => {
            return Err(format!("the last graph has {} results, the node {}", inferred.len(), node.results));
        }
        _ if node.results == 0 || node.result_count() != inferred.len() => {
            return Err(format!("has {} results instead of 1", node.results));
        }
        NodeKind::Param(n, _) if graph.params.get(n as usize) != Some(&node.first) || id.0 != n => {
            return Err(format!("parameter {n} is node {}; parameters are the first nodes, in order", id.index()));
        }
        _ => {}
    }
    for (n, (value, (ty, shape))) in node.results().zip(&inferred).enumerate() {
        let (found, of) = (graph.ty(value), graph.shape(value));
        if (found, of) != (*ty, &**shape) {
            return Err(match node.kind {
                NodeKind::Control(_) => format!("result {n} is {ty}{shape}, not {found}{of}"),
                NodeKind::Call(_) => format!("result {n} is {found}{of}, the child's {ty}{shape}"),
                _ if *of != **shape => format!("the result's shape is {shape}, not {of}"),
                NodeKind::Iota(_) if T::TYPED => in_words(graph, id, &InferenceError::Index(found.into())),
                NodeKind::Literal(_) | NodeKind::Cast(_) | NodeKind::Op(..) | NodeKind::Iota(_) => {
                    format!("the result's type is {ty}, not {found}")
                }
                _ if T::TYPED => in_words(graph, id, &InferenceError::Unlike),
                _ => format!("the result's type is {ty}, not {found}"),
            });
        }
        of.bytes(found.storage_dtype().bytes()).map_err(|error| error.headline().to_owned())?;
    }
    Ok(())
}

/// The text of a mismatch, with the names of values.
fn in_words<T: Type>(graph: &Graph<T>, id: NodeId, mismatch: &InferenceError) -> String {
    let operands = graph.operands(id);
    let ty = |n: usize| graph.ty(operands[n]);
    let result = graph.ty(graph.node(id).first);
    match (mismatch, graph.node(id).kind) {
        (&InferenceError::NotScalar(n), _) => format!("operand {} is no scalar", operands[n]),
        (&InferenceError::Operand { operand, found, op, compute }, _) => {
            let expected = op.operand_dtype(operand, compute);
            format!("operand {} is {found}, {op} in {compute} takes {expected}", operands[operand])
        }
        (InferenceError::Stored(ty, stored), _) if T::TYPED => format!("a {ty} parameter is not stored as {stored}"),
        (InferenceError::Unlike, NodeKind::Gather) => format!("the operand is {}, the result {result}", ty(0)),
        (InferenceError::Unlike, NodeKind::Scatter(_)) => {
            format!("operands are {}, {} and {}, the result {result}", ty(0), ty(1), ty(2))
        }
        (InferenceError::Unlike, _) => {
            let unlike = operands.iter().find(|&&operand| graph.ty(operand) != result).unwrap_or(&operands[0]);
            format!("operand {unlike} is {}, the result {result}", graph.ty(*unlike))
        }
        _ => mismatch.to_string(),
    }
}
