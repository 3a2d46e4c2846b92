//! Sink: passes no positions to control flow that only compares them: its graphs compute them, from an iota.
//!
//! `arange(n)` outside of a loop is an operand of the loop's body, which would read it from memory in every step. Computed
//! in the body it is no array, and later passes see positions: a mask `arange(n) >= k` bounds the work of a step. No bit
//! changes: the same operations run on the same values. Arithmetic reads them from memory: alignments of 500 letters
//! by rows took twice the time with positions computed in each step, as 64-bit integers.

use crate::hoist::{TracedGraph, taken_operands};
use ndjit_ir::graph::{Control, Graph, Inner, NodeId, NodeKind, Rewriter, Slot, SourceLocs, Value};
use ndjit_ir::{Op, ValueType};
use smallvec::SmallVec;
use std::sync::Arc;

/// The maximum number of nodes of an operand's computation.
const MOST: usize = 8;

/// Computes positions in the graphs of control flow, of a graph without calls; `None` if none are passed.
pub fn sink(graph: &TracedGraph, places: &SourceLocs) -> Option<(TracedGraph, SourceLocs)> {
    let pieces: Vec<Option<SunkControl>> = graph.node_ids().map(|id| SunkControl::new(graph, id, places)).collect();
    if pieces.iter().all(Option::is_none) {
        return None;
    }
    let (mut out, mut out_places) = (Graph::with_slots(graph), SourceLocs::default());
    let mut rewriter = Rewriter::new((graph, places), (&mut out, &mut out_places));
    for (id, piece) in graph.node_ids().zip(pieces) {
        let Some(SunkControl { control, places, kept }) = piece else {
            rewriter.copy(id);
            continue;
        };
        let operands = rewriter.operands(id);
        let operands: Vec<Value> = kept.iter().map(|&at| operands[at as usize]).collect();
        let number = rewriter.new.control(control);
        rewriter.notes.set_control(number, places);
        rewriter.add(id, NodeKind::Control(number), &operands);
    }
    rewriter.finish();
    Some((out, out_places))
}

/// New control flow.
struct SunkControl {
    control: Arc<Control<ValueType>>,
    places: Vec<Arc<SourceLocs>>,
    /// The indices of the operands that it still takes.
    kept: Vec<u32>,
}

impl SunkControl {
    /// The new control flow of a node, if it changes. The nesting of control flow bounds the recursion.
    fn new(graph: &TracedGraph, id: NodeId, places: &SourceLocs) -> Option<SunkControl> {
        let NodeKind::Control(n) = graph.node(id).kind else { return None };
        let control = &graph.controls()[n as usize];
        let (operands, first) = (graph.operands(id), control.kind.arrays(control.results()));
        // Those before the first change from step to step.
        let positions: Vec<Option<Vec<NodeId>>> = operands
            .iter()
            .enumerate()
            .map(|(at, &value)| (at >= first).then(|| positions(graph, value)).flatten())
            .collect();
        let (mut graphs, mut all, mut changed) = (Vec::new(), Vec::new(), false);
        for (which, inner) in control.graphs.iter().enumerate() {
            let mut own = Inner { graph: Arc::clone(&inner.graph), operands: inner.operands.clone() };
            let mut own_places = places.control(n, which);
            let sunk = |at: usize| {
                let operand = inner.operands[at] as usize;
                positions[operand].as_ref().filter(|_| only_compares(&inner.graph, inner.graph.params()[at]))
            };
            let sunk: Vec<Option<(Value, &[NodeId])>> = (0..inner.operands.len())
                .map(|at| sunk(at).map(|nodes| (operands[inner.operands[at] as usize], &nodes[..])))
                .collect();
            if sunk.iter().any(Option::is_some) {
                (own, own_places) = with((graph, places), (inner, &own_places), &sunk);
                changed = true;
            }
            if let Some((graph, places)) = sink(&own.graph, &own_places) {
                (own.graph, own_places) = (Arc::new(graph), Arc::new(places));
                changed = true;
            }
            graphs.push(own);
            all.push(own_places);
        }
        if !changed {
            return None;
        }
        let kept = taken_operands(graphs.iter_mut(), first, operands.len());
        Some(SunkControl { control: Arc::new(Control { kind: control.kind, graphs }), places: all, kept })
    }
}

/// A graph of control flow that computes some of its parameters: for each of these the operand and its nodes outside.
fn with(
    (graph, places): (&TracedGraph, &SourceLocs),
    (inner, own): (&Inner<ValueType>, &Arc<SourceLocs>),
    sunk: &[Option<(Value, &[NodeId])>],
) -> (Inner<ValueType>, Arc<SourceLocs>) {
    let old = &*inner.graph;
    let (mut out, mut notes) = (Graph::like(old), SourceLocs::default());
    let mut rewriter = Rewriter::new((old, &**own), (&mut out, &mut notes));
    for (&param, _) in old.params().iter().zip(sunk).filter(|(_, sunk)| sunk.is_none()) {
        rewriter.copy(old.producer(param));
    }
    let mut copied = rewriter.pause();
    for (&param, sunk) in old.params().iter().zip(sunk) {
        let &Some((value, nodes)) = sunk else { continue };
        let mut outer = Rewriter::splice((graph, places), (&mut out, &mut notes));
        nodes.iter().for_each(|&node| {
            outer.copy(node);
        });
        copied.set(param, outer.value(value));
    }
    let mut rewriter = Rewriter::resume((old, &**own), (&mut out, &mut notes), copied);
    for id in old.node_ids().skip(old.params().len()) {
        rewriter.copy(id);
    }
    rewriter.finish();
    let operands = inner.operands.iter().zip(sunk).filter(|(_, sunk)| sunk.is_none()).map(|(&at, _)| at).collect();
    (Inner { graph: Arc::new(out), operands }, Arc::new(notes))
}

/// The nodes that compute a value from an iota and numbers written in the program, if they are few; operands first.
fn positions(graph: &TracedGraph, value: Value) -> Option<Vec<NodeId>> {
    let (mut nodes, mut stack, mut counts) = (Vec::new(), vec![graph.producer(value)], false);
    while let Some(id) = stack.pop() {
        if nodes.contains(&id) {
            continue;
        }
        match graph.node(id).kind {
            NodeKind::Iota(_) => counts = true,
            NodeKind::Literal(slot) if matches!(graph.slots()[slot.index()], Slot::Value(_)) => {}
            NodeKind::Op(Op::Add | Op::Subtract | Op::Multiply, _)
            | NodeKind::Cast(_)
            | NodeKind::View(_)
            | NodeKind::Reshape => stack.extend(graph.operands(id).iter().map(|&operand| graph.producer(operand))),
            _ => return None,
        }
        nodes.push(id);
        if nodes.len() > MOST {
            return None;
        }
    }
    nodes.sort_unstable();
    counts.then_some(nodes)
}

/// True if comparisons alone read a value, also within control flow.
fn only_compares(graph: &TracedGraph, value: Value) -> bool {
    let mut seen = vec![false; graph.value_count()];
    seen[value.index()] = true;
    for id in graph.node_ids() {
        let node = graph.node(id);
        for at in (0..graph.operands(id).len())
            .filter(|&at| seen[graph.operands(id)[at].index()])
            .collect::<SmallVec<[usize; 2]>>()
        {
            match node.kind {
                NodeKind::Op(
                    Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual | Op::Equal | Op::NotEqual,
                    _,
                ) => {}
                NodeKind::Cast(_) | NodeKind::View(_) | NodeKind::Reshape => seen[node.first().index()] = true,
                NodeKind::Control(n) => {
                    let control = &graph.controls()[n as usize];
                    let inside = |inner: &Inner<ValueType>| {
                        let mut params = inner.operands.iter().zip(inner.graph.params());
                        params.all(|(&own, &param)| own as usize != at || only_compares(&inner.graph, param))
                    };
                    if at < control.kind.arrays(control.results()) || !control.graphs.iter().all(inside) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }
    !graph.outputs().iter().any(|output| seen[output.index()])
}
