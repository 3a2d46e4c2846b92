//! Sink: passes no positions to control flow that only compares them: its graphs compute them, from an iota.
//!
//! `arange(n)` outside of a loop is an operand of the loop's body, which would read it from memory in every step. Computed
//! in the body it is no array, and later passes see positions: a mask `arange(n) >= k` bounds the work of a step. No bit
//! changes: the same operations run on the same values. Arithmetic reads them from memory: alignments of 500 letters
//! by rows took twice the time with positions computed in each step, as 64-bit integers.

use crate::hoist::{TracedGraph, taken_operands};
use ndjit_ir::graph::{Control, Graph, Inner, NodeId, NodeKind, Rewriter, Slot, SourceLocs, Value};
use ndjit_ir::{Op, ValueType};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The maximum number of nodes of an operand's computation.
const MOST: usize = 8;

/// The maximum number of nodes of graphs that differ from shared ones: a position may be passed to each graph of deep control flow.
const COPIED: usize = 1 << 16;

/// Computes positions in the graphs of control flow, of a graph without calls; `None` if none are passed.
pub fn sink(graph: &TracedGraph, places: &SourceLocs) -> Option<(TracedGraph, SourceLocs)> {
    Sinking { known: FxHashMap::default(), compared: FxHashMap::default(), left: COPIED }.graph(graph, places)
}

struct Sinking {
    /// Graphs that control flow may share, by address.
    known: FxHashMap<*const TracedGraph, (Arc<TracedGraph>, Arc<SourceLocs>)>,
    /// Whether comparisons alone read a value of a graph.
    compared: FxHashMap<(*const TracedGraph, Value), bool>,
    /// The number of nodes that may still be copied.
    left: usize,
}

/// New control flow.
struct SunkControl {
    control: Arc<Control<ValueType>>,
    places: Vec<Arc<SourceLocs>>,
    /// The indices of the operands that it still takes.
    kept: Vec<u32>,
}

impl Sinking {
    /// Computes positions in the graphs of a graph's control flow. The nesting of control flow bounds the recursion.
    fn graph(&mut self, graph: &TracedGraph, places: &SourceLocs) -> Option<(TracedGraph, SourceLocs)> {
        if graph.controls().is_empty() {
            return None;
        }
        let pieces: Vec<Option<SunkControl>> = graph.node_ids().map(|id| self.control(graph, id, places)).collect();
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

    /// The same of a graph that control flow may share.
    fn inner(&mut self, graph: &Arc<TracedGraph>, places: &Arc<SourceLocs>) -> (Arc<TracedGraph>, Arc<SourceLocs>) {
        if let Some(known) = self.known.get(&Arc::as_ptr(graph)) {
            return known.clone();
        }
        let made = self.graph(graph, places).map(|(graph, places)| (Arc::new(graph), Arc::new(places)));
        let made = made.unwrap_or_else(|| (Arc::clone(graph), Arc::clone(places)));
        self.known.insert(Arc::as_ptr(graph), made.clone());
        made
    }

    /// The new control flow of a node, if it changes.
    fn control(&mut self, graph: &TracedGraph, id: NodeId, places: &SourceLocs) -> Option<SunkControl> {
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
            let own_places = places.control(n, which);
            let mut sunk: Vec<Option<(Value, &[NodeId])>> = Vec::with_capacity(inner.operands.len());
            for (&operand, &param) in inner.operands.iter().zip(inner.graph.params()) {
                let nodes = positions[operand as usize].as_ref().filter(|_| self.only_compares(&inner.graph, param));
                sunk.push(nodes.map(|nodes| (operands[operand as usize], &nodes[..])));
            }
            let size = inner.graph.node_count();
            let (own, own_places) = match sunk.iter().any(Option::is_some) && size <= self.left {
                true => {
                    self.left -= size;
                    let (own, places) = with((graph, places), (inner, &own_places), &sunk);
                    match self.graph(&own.graph, &places) {
                        Some((graph, places)) => (Inner { graph: Arc::new(graph), ..own }, Arc::new(places)),
                        None => (own, places),
                    }
                }
                false => {
                    let (graph, places) = self.inner(&inner.graph, &own_places);
                    (Inner { graph, operands: inner.operands.clone() }, places)
                }
            };
            changed |= !Arc::ptr_eq(&own.graph, &inner.graph);
            graphs.push(own);
            all.push(own_places);
        }
        if !changed {
            return None;
        }
        let kept = taken_operands(graphs.iter_mut(), first, operands.len());
        Some(SunkControl { control: Arc::new(Control { kind: control.kind, graphs }), places: all, kept })
    }

    /// True if comparisons alone read a value, also within control flow.
    fn only_compares(&mut self, graph: &Arc<TracedGraph>, value: Value) -> bool {
        let key = (Arc::as_ptr(graph), value);
        if let Some(&known) = self.compared.get(&key) {
            return known;
        }
        let found = self.compares(graph, value);
        self.compared.insert(key, found);
        found
    }

    fn compares(&mut self, graph: &TracedGraph, value: Value) -> bool {
        let mut seen = vec![false; graph.value_count()];
        seen[value.index()] = true;
        for id in graph.node_ids() {
            let node = graph.node(id);
            let operands = graph.operands(id);
            for at in (0..operands.len()).filter(|&at| seen[operands[at].index()]).collect::<SmallVec<[usize; 2]>>() {
                match node.kind {
                    NodeKind::Op(
                        Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual | Op::Equal | Op::NotEqual,
                        _,
                    ) => {}
                    NodeKind::Cast(_) | NodeKind::View(_) | NodeKind::Reshape => seen[node.first().index()] = true,
                    NodeKind::Control(n) => {
                        let control = &graph.controls()[n as usize];
                        let mut inside = |inner: &Inner<ValueType>| {
                            let mut params = inner.operands.iter().zip(inner.graph.params());
                            params.all(|(&own, &param)| own as usize != at || self.only_compares(&inner.graph, param))
                        };
                        if at < control.kind.arrays(control.results()) || !control.graphs.iter().all(&mut inside) {
                            return false;
                        }
                    }
                    _ => return false,
                }
            }
        }
        !graph.outputs().iter().any(|output| seen[output.index()])
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
