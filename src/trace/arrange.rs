//! Reordering of graph nodes: parameters first, and pending arrays copied into the trace that uses them.

use super::recording::Recording;
use ndjit_ir::graph::{Graph, NodeId, NodeKind, Notes, Rewriter, Slot, SourceLocs, Value};
use ndjit_ir::support::Supports;
use ndjit_ir::{SourceLoc, ValueType};
use std::sync::Arc;

/// The inputs of a program.
#[derive(Clone, Copy, Default)]
pub(super) struct Arguments<'a> {
    /// The arrays of its parameters.
    pub arrays: &'a [Value],
    /// The values of numbers passed at each call, by index among all arguments. Other numbers remain slots.
    pub numbers: &'a [Value],
}

/// Appends a program applied to these arguments to another graph. Places come from `own`, or else are `place`.
pub(super) fn computed(
    graph: &mut Graph<ValueType>,
    places: &mut SourceLocs,
    (symbolic, own): (&Graph<ValueType>, &SourceLocs),
    arguments: Arguments<'_>,
    place: Option<SourceLoc>,
) -> Vec<Value> {
    let mut rewriter = Rewriter::splice((symbolic, own), (graph, places));
    for id in symbolic.node_ids() {
        let given = match symbolic.node(id).kind {
            NodeKind::Param(n, _) => Some(arguments.arrays[n as usize]),
            NodeKind::Literal(slot) => match symbolic.slots()[slot.index()] {
                Slot::Argument { index, .. } => arguments.numbers.get(index).copied(),
                Slot::Value(_) => None,
            }
            .filter(|&number| rewriter.new.ty(number) == symbolic.ty(symbolic.node(id).first())),
            _ => None,
        };
        if let Some(given) = given {
            rewriter.replace(id, given);
            continue;
        }
        let value = rewriter.copy(id);
        if let (None, Some(place)) = (own.first(id), place) {
            rewriter.notes.note(rewriter.new.producer(value), place);
        }
    }
    symbolic.outputs().iter().map(|&output| rewriter.value(output)).collect()
}

/// Moves all parameters before all other nodes and keeps the order within both groups.
pub(super) fn params_first(recording: Recording) -> Recording {
    let Recording { graph, places, supports, closed_over, printed } = recording;
    let beside = (places, supports);
    let (mut out, mut notes) = (Graph::like(&graph), <(SourceLocs, Supports)>::default());
    for (n, child) in (0..).zip(graph.children()) {
        out.child(Arc::clone(child));
        notes.follow_child(&beside, n);
    }
    let mut rewriter = Rewriter::new((&graph, &beside), (&mut out, &mut notes));
    let is_param = |id: &NodeId| matches!(graph.node(*id).kind, NodeKind::Param(..));
    let (params, others): (Vec<NodeId>, Vec<NodeId>) = graph.node_ids().partition(is_param);
    for id in params.into_iter().chain(others) {
        rewriter.copy(id);
    }
    rewriter.finish();
    let (places, supports) = notes;
    Recording { graph: out, places, supports, closed_over, printed }
}
