//! Putting nodes of graphs in other places: parameters first, formulas into the trace that uses them.

use super::Recording;
use ndjit_ir::graph::{Graph, NodeId, NodeKind, Places, Slot, Value};
use ndjit_ir::support::Supports;
use ndjit_ir::{Place, ValueType};
use smallvec::SmallVec;
use std::sync::Arc;

/// What a program is computed on.
#[derive(Clone, Copy, Default)]
pub(super) struct Arguments<'a> {
    /// The arrays of its parameters.
    pub arrays: &'a [Value],
    /// The values of numbers that are passed at each call, by their position among all arguments; others stay slots.
    pub numbers: &'a [Value],
}

/// The results of a program with these arguments, as operations of another graph, written where `own` says, or at `place`.
pub(super) fn computed(
    graph: &mut Graph<ValueType>,
    places: &mut Places,
    (formula, own): (&Graph<ValueType>, &Places),
    arguments: Arguments<'_>,
    place: Option<Place>,
) -> Vec<Value> {
    let mut map = vec![Value(u32::MAX); formula.value_count()];
    for id in formula.node_ids() {
        let node = formula.node(id);
        let operands: SmallVec<[Value; 3]> = formula.operands(id).iter().map(|o| map[o.index()]).collect();
        let (ty, shape) = (formula.ty(node.first()), graph.intern(formula.shape(node.first())));
        map[node.first().index()] = match node.kind {
            NodeKind::Param(n, _) => {
                map[node.first().index()] = arguments.arrays[n as usize];
                continue;
            }
            NodeKind::Literal(slot) => {
                let slot = &formula.slots()[slot.index()];
                if let Slot::Argument { index, .. } = slot
                    && let Some(&number) = arguments.numbers.get(*index)
                    && graph.ty(number) == ty
                {
                    map[node.first().index()] = number;
                    continue;
                }
                graph.literal(slot.clone(), ty)
            }
            kind => {
                let inner = match kind {
                    NodeKind::Control(n, _) => Some(own.control(n)),
                    _ => None,
                };
                let kind = formula.kind_in(kind, graph);
                if let (NodeKind::Control(n, _), Some(inner)) = (kind, inner) {
                    places.set_control(n, inner);
                }
                graph.add(kind, &operands, &[(ty, shape)])
            }
        };
        let made = graph.producer(map[node.first().index()]);
        let mut own = own.all(id).peekable();
        match own.peek() {
            Some(_) => own.for_each(|place| places.note(made, place)),
            None => place.into_iter().for_each(|place| places.note(made, place)),
        }
    }
    formula.outputs().iter().map(|output| map[output.index()]).collect()
}

/// The same recording with all parameters before all other nodes, each sort in its order.
pub(super) fn params_first(recording: Recording) -> Recording {
    let Recording { graph, places, supports, hidden, printed } = recording;
    let mut out = Graph::like(&graph);
    let (mut out_places, mut out_supports) = (Places::default(), Supports::default());
    let mut note = |from: NodeId, to: NodeId| {
        places.all(from).for_each(|place| out_places.note(to, place));
        supports.of(from).iter().for_each(|&support| out_supports.note(to, support));
    };
    let mut map = vec![Value(u32::MAX); graph.value_count()];
    for &param in graph.params() {
        let NodeKind::Param(_, stored) = graph.node(graph.producer(param)).kind else { continue };
        let value = out.param_stored(graph.ty(param), stored, graph.shape(param));
        note(graph.producer(param), out.producer(value));
        map[param.index()] = value;
    }
    for child in graph.children() {
        out.child(Arc::clone(child));
    }
    for id in graph.node_ids() {
        let node = graph.node(id);
        if matches!(node.kind, NodeKind::Param(..)) {
            continue;
        }
        let operands: SmallVec<[Value; 4]> = graph.operands(id).iter().map(|o| map[o.index()]).collect();
        let mut results: SmallVec<[_; 1]> = SmallVec::new();
        for value in node.results() {
            let shape = out.intern(graph.shape(value));
            results.push((graph.ty(value), shape));
        }
        let kind = graph.kind_in(node.kind, &mut out);
        let first = out.add(kind, &operands, &results);
        for (i, value) in node.results().enumerate() {
            map[value.index()] = Value(first.0 + i as u32);
        }
        note(id, out.producer(first));
    }
    for n in 0..graph.children().len() as u32 {
        out_places.add_child(places.child(n));
        supports.child(n).into_iter().for_each(|child| out_supports.add_child(Arc::clone(child)));
    }
    for n in 0..graph.controls().len() as u32 {
        out_places.set_control(n, places.control(n));
        supports.control(n).into_iter().for_each(|inner| out_supports.set_control(n, inner.clone()));
    }
    out.set_outputs(graph.outputs().iter().map(|o| map[o.index()]).collect());
    Recording { graph: out, places: out_places, supports: out_supports, hidden, printed }
}
