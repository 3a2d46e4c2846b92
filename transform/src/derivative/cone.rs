//! The nodes between variables and outputs.

use super::saved::{ControlGroup, SavedLoop};
use crate::append::linear;
use ndjit_ir::graph::{Graph, Identity, NodeId, NodeKind, Value};
use ndjit_ir::{Policy, ValueType};
use rustc_hash::FxHashMap;

/// The direction of a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DerivativeMode {
    /// From variables to outputs.
    Forward,
    /// From outputs to variables.
    Reverse,
}

/// The nodes between variables and outputs of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Cone {
    pub variables: Vec<Value>,
    /// The outputs, with calls inlined and with loops that save states for reverse mode.
    pub outputs: Vec<Value>,
    /// The nodes that depend on variables, in order.
    pub(super) nodes: Vec<NodeId>,
    /// The saved states of loops.
    pub saved: FxHashMap<ControlGroup, SavedLoop>,
}

/// Returns the nodes of a graph that depend on variables and on which outputs depend, in order.
pub(super) fn dependent(
    graph: &Graph<ValueType>,
    variables: &[Value],
    outputs: &[Value],
    policy: Policy,
) -> Vec<NodeId> {
    let Some(first) = variables.iter().map(|&value| graph.producer(value)).min() else { return Vec::new() };
    let Some(last) = outputs.iter().map(|&value| graph.producer(value)).max() else { return Vec::new() };
    if last < first {
        return Vec::new();
    }
    let reached = reached(graph, variables, (first, last), policy);
    // Backwards from the outputs.
    let base = first.index();
    let mut needed = vec![false; last.index() + 1 - base];
    outputs.iter().for_each(|&output| {
        if let Some(at) = graph.producer(output).index().checked_sub(base) {
            needed[at] = true;
        }
    });
    for at in (0..needed.len()).rev().filter(|&at| reached[at]).collect::<Vec<_>>() {
        if needed[at] {
            for &operand in graph.operands(NodeId((at + base) as u32)) {
                if let Some(at) = graph.producer(operand).index().checked_sub(base) {
                    needed[at] = true;
                }
            }
        }
    }
    (0..needed.len()).filter(|&at| reached[at] && needed[at]).map(|at| NodeId((at + base) as u32)).collect()
}

/// Returns the operands of a node with respect to which its result is continuous.
fn continuous(graph: &Graph<ValueType>, id: NodeId) -> &[Value] {
    let operands = graph.operands(id);
    match graph.node(id).kind {
        NodeKind::Identity(Identity::StopGradient) => &[],
        NodeKind::Identity(Identity::Ruled(rule)) => rule.parts(operands).map_or(&[], |parts| parts.inputs),
        _ => operands,
    }
}

/// Returns the nodes of a range that depend on variables continuously, including the nodes of the variables.
pub(super) fn reached(
    graph: &Graph<ValueType>,
    variables: &[Value],
    (first, last): (NodeId, NodeId),
    policy: Policy,
) -> Vec<bool> {
    let base = first.index();
    let mut reached = vec![false; (last.index() + 1).saturating_sub(base)];
    for &variable in variables {
        if let Some(own) = graph.producer(variable).index().checked_sub(base).and_then(|at| reached.get_mut(at)) {
            *own = true;
        }
    }
    for at in 0..reached.len() {
        let id = NodeId((at + base) as u32);
        if reached[at] {
            continue;
        }
        let has_tangents = |value: Value| linear(graph.storage_dtype(value, policy)).is_some();
        let by = |&operand: &Value| {
            let from = graph.producer(operand);
            let is_reached = from.index().checked_sub(base).is_some_and(|at| reached.get(at) == Some(&true));
            // Control flow has results with tangents and without.
            is_reached && (graph.node(from).result_count() == 1 || has_tangents(operand))
        };
        reached[at] = continuous(graph, id).iter().any(by) && graph.node(id).results().any(has_tangents);
    }
    reached
}
