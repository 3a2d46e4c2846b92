//! Hoist: computes loop invariants once before the loop, and passes them as operands to the loop's graphs.
//!
//! A value of a loop's graph is invariant if it depends only on invariant operands and literals. It is hoisted if that
//! saves work in each step. Reductions, gathers and other operations that are not elementwise always are; elementwise
//! operations if their result is no larger in memory than its operands, or if they are expensive. An outer product
//! stays in the loop: a kernel computes it from two rows faster than it reads it. No bit changes: the same operations
//! run on the same values.

use ndjit_ir::graph::{Control, ControlKind, Fusion, Graph, Inner, NodeId, NodeKind, Rewriter, SourceLocs, Value};
use ndjit_ir::infer::Operation;
use ndjit_ir::{Op, Policy, ValueType};
use ndjit_math::shared_body;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The number of instructions per element above which elementwise operations are expensive: reading four bytes from
/// memory takes about as long.
const EXPENSIVE: usize = 16;

pub(crate) type TracedGraph = Graph<ValueType>;

/// Hoists the invariants of the loops of a graph without calls, and of the loops in their graphs; `None` if there are
/// none.
pub fn hoist(graph: &TracedGraph, places: &SourceLocs, policy: Policy) -> Option<(TracedGraph, SourceLocs)> {
    Hoisting { policy, known: FxHashMap::default() }.graph(graph, places)
}

struct Hoisting {
    /// The policy for default dtypes of weak values.
    policy: Policy,
    /// Graphs that control flow may share, by address.
    known: FxHashMap<*const TracedGraph, (Arc<TracedGraph>, Arc<SourceLocs>)>,
}

/// The new control flow.
struct HoistedControl {
    control: Arc<Control<ValueType>>,
    places: Vec<Arc<SourceLocs>>,
    /// The number of old operands, without unused ones at the end.
    operands: usize,
    /// The indices of the used operands, old ones and then hoisted ones.
    kept: Vec<u32>,
    /// The invariants of its graphs, if it is a loop: further operands.
    invariants: Vec<Invariants>,
}

/// The invariants of one of a loop's graphs.
struct Invariants {
    graph: Arc<TracedGraph>,
    places: Arc<SourceLocs>,
    /// For each parameter its operand.
    operands: Vec<u32>,
    /// For each node whether the graph still computes it.
    needed: Vec<bool>,
    /// Nodes to copy, operands before users.
    nodes: Vec<NodeId>,
    /// The values passed to the graph.
    taken: Vec<Value>,
}

/// The operands, of so many, that graphs of control flow take or that are among the `first`; the graphs take them by their new indices.
pub(crate) fn taken_operands<'a>(
    graphs: impl Iterator<Item = &'a mut Inner<ValueType>>,
    first: usize,
    count: usize,
) -> Vec<u32> {
    let mut graphs: SmallVec<[&mut Inner<ValueType>; 2]> = graphs.collect();
    let mut used = vec![false; count];
    used[..first].fill(true);
    graphs.iter().flat_map(|inner| &inner.operands).for_each(|&at| used[at as usize] = true);
    let kept: Vec<u32> = (0..count as u32).filter(|&at| used[at as usize]).collect();
    for at in graphs.iter_mut().flat_map(|inner| &mut inner.operands) {
        *at = kept.partition_point(|kept| *kept < *at) as u32;
    }
    kept
}

impl Hoisting {
    /// Hoists the invariants of a graph's loops. The nesting of control flow bounds the recursion.
    fn graph(&mut self, graph: &TracedGraph, places: &SourceLocs) -> Option<(TracedGraph, SourceLocs)> {
        let pieces: Vec<Option<HoistedControl>> =
            (0..graph.controls().len()).map(|n| self.piece(&graph.controls()[n], n as u32, places)).collect();
        if pieces.iter().all(Option::is_none) {
            return None;
        }
        let (mut out, mut out_places) = (Graph::with_slots(graph), SourceLocs::default());
        let mut rewriter = Rewriter::new((graph, places), (&mut out, &mut out_places));
        for id in graph.node_ids() {
            let NodeKind::Control(n) = graph.node(id).kind else {
                rewriter.copy(id);
                continue;
            };
            let Some(piece) = &pieces[n as usize] else {
                rewriter.copy(id);
                continue;
            };
            let mut operands = rewriter.operands(id).to_vec();
            operands.truncate(piece.operands);
            let own = operands.clone();
            for invariants in &piece.invariants {
                operands.extend(invariants.compute(&own, (&mut *rewriter.new, &mut *rewriter.notes)));
            }
            let operands: Vec<Value> = piece.kept.iter().map(|&at| operands[at as usize]).collect();
            let number = rewriter.new.control(Arc::clone(&piece.control));
            rewriter.notes.set_control(number, piece.places.clone());
            rewriter.add(id, NodeKind::Control(number), &operands);
        }
        rewriter.finish();
        Some((out, out_places))
    }

    /// Computes the new control flow, if it changes.
    fn piece(&mut self, control: &Control<ValueType>, n: u32, places: &SourceLocs) -> Option<HoistedControl> {
        let first = control.kind.arrays(control.results());
        let loops = match control.kind {
            ControlKind::While | ControlKind::Scan(_) | ControlKind::For(_) => true,
            ControlKind::Cond => false,
        };
        let mut own: Vec<(Inner<ValueType>, Arc<SourceLocs>)> = Vec::with_capacity(control.graphs.len());
        let mut changed = false;
        for (which, inner) in control.graphs.iter().enumerate() {
            let before = (Arc::clone(&inner.graph), places.control(n, which));
            let (graph, places) = self.inner(before);
            changed |= !Arc::ptr_eq(&graph, &inner.graph);
            own.push((Inner { graph, operands: inner.operands.clone() }, places));
        }
        let mut invariants = Vec::new();
        let taken = own.iter().flat_map(|(inner, _)| &inner.operands).map(|&operand| operand + 1).max();
        let operands = taken.unwrap_or(0).max(first as u32);
        let mut next = operands;
        for (inner, places) in own.iter_mut().filter(|_| loops) {
            let Some(found) = self.invariants(inner, places, first) else { continue };
            let (graph, own_places, params) = found.without(control.carried(), self.policy);
            inner.graph = Arc::new(graph);
            inner.operands = params.into_iter().map(|at| inner.operands[at]).collect();
            inner.operands.extend(found.taken.iter().enumerate().map(|(at, _)| next + at as u32));
            next += found.taken.len() as u32;
            *places = Arc::new(own_places);
            invariants.push(found);
        }
        let kept = taken_operands(own.iter_mut().map(|(inner, _)| inner), first, next as usize);
        let (graphs, places) = own.into_iter().unzip();
        let control = Arc::new(Control { kind: control.kind, graphs });
        (changed || !invariants.is_empty()).then_some(HoistedControl {
            control,
            places,
            operands: operands as usize,
            kept,
            invariants,
        })
    }

    /// Hoists the invariants of the loops in a graph of control flow.
    fn inner(&mut self, (graph, places): (Arc<TracedGraph>, Arc<SourceLocs>)) -> (Arc<TracedGraph>, Arc<SourceLocs>) {
        if graph.controls().is_empty() {
            return (graph, places);
        }
        if let Some(known) = self.known.get(&Arc::as_ptr(&graph)) {
            return known.clone();
        }
        let made = self.graph(&graph, &places);
        let made =
            made.map_or_else(|| (Arc::clone(&graph), places), |(graph, places)| (Arc::new(graph), Arc::new(places)));
        self.known.insert(Arc::as_ptr(&graph), made.clone());
        made
    }

    /// Finds the invariants of a loop's graph whose operands from `first` on are invariant, if hoisting pays off.
    fn invariants(&self, inner: &Inner<ValueType>, places: &Arc<SourceLocs>, first: usize) -> Option<Invariants> {
        let graph = &*inner.graph;
        let worth = self.worth(inner, first);
        let (mut needed, mut seen) = (vec![false; graph.node_count()], vec![false; graph.value_count()]);
        let (mut taken, mut stack) = (Vec::new(), graph.outputs().to_vec());
        while let Some(value) = stack.pop() {
            let id = graph.producer(value);
            if std::mem::replace(&mut seen[value.index()], true) {
                continue;
            }
            // Passed values are not computed.
            if worth[id.index()] {
                taken.push(value);
            } else if !std::mem::replace(&mut needed[id.index()], true) {
                stack.extend(graph.operands(id));
            }
        }
        if taken.is_empty() {
            return None;
        }
        taken.sort_unstable();
        let mut copied = vec![false; graph.node_count()];
        let mut stack = taken.clone();
        while let Some(value) = stack.pop() {
            let id = graph.producer(value);
            if !std::mem::replace(&mut copied[id.index()], true) {
                stack.extend(graph.operands(id));
            }
        }
        let nodes = graph.node_ids().filter(|id| copied[id.index()]).collect();
        let (graph, operands) = (Arc::clone(&inner.graph), inner.operands.clone());
        Some(Invariants { graph, places: Arc::clone(places), operands, needed, nodes, taken })
    }

    /// Returns the number of instructions of an op per element.
    fn instructions(&self, graph: &TracedGraph, id: NodeId, op: Op, policy: Policy) -> usize {
        let types: Vec<ValueType> = graph.operands(id).iter().map(|&operand| graph.ty(operand)).collect();
        let compute = Operation::op(op, policy).types(&types).ok().map(|types| policy.commit(types.compute));
        let compute = compute.filter(|&dtype| op.row().domain.contains(dtype));
        compute.map_or(1, |dtype| shared_body(op, dtype).insts.len())
    }

    /// Returns for each node whether it is an invariant worth hoisting.
    fn worth(&self, Inner { graph, operands }: &Inner<ValueType>, first: usize) -> Vec<bool> {
        let graph = &**graph;
        let bytes = |value: Value| {
            let each = graph.storage_dtype(value, self.policy).bytes();
            graph.shape(value).size().ok().and_then(|size| size.checked_mul(each)).unwrap_or(usize::MAX)
        };
        // For invariants: the bytes of the largest operand, and the cost.
        let mut known: Vec<Option<(usize, usize)>> = vec![None; graph.node_count()];
        let mut worth = vec![false; graph.node_count()];
        for id in graph.node_ids() {
            let (kind, value) = (graph.node(id).kind, graph.node(id).first());
            let own = match kind {
                NodeKind::Param(n, _) => {
                    let same = operands.get(n as usize).is_some_and(|&operand| operand as usize >= first);
                    known[id.index()] = same.then(|| (bytes(value), 0));
                    continue;
                }
                NodeKind::Op(op, policy) => self.instructions(graph, id, op, policy),
                _ => 1,
            };
            let of = |operand: &Value| known[graph.producer(*operand).index()];
            let Some(all) = graph.operands(id).iter().map(of).collect::<Option<Vec<(usize, usize)>>>() else {
                continue;
            };
            let largest = all.iter().map(|of| of.0).max().unwrap_or(0);
            let cost = all.iter().fold(own, |sum, of| sum.saturating_add(of.1));
            known[id.index()] = Some((largest, cost));
            worth[id.index()] = match kind {
                NodeKind::Op(..) | NodeKind::Cast(_) => bytes(value) <= largest || cost > EXPENSIVE,
                // Leaves and views are read, and computed in their uses.
                _ => kind.row().fusion != Fusion::Leaf && !kind.row().is_view,
            };
        }
        worth
    }
}

impl Invariants {
    /// Computes the invariants from the loop's operands.
    fn compute(&self, operands: &[Value], (out, out_places): (&mut TracedGraph, &mut SourceLocs)) -> Vec<Value> {
        let graph = &*self.graph;
        let mut rewriter = Rewriter::splice((graph, &*self.places), (out, out_places));
        for &id in &self.nodes {
            match graph.node(id).kind {
                NodeKind::Param(n, _) => {
                    let operand = self.operands.get(n as usize).and_then(|&operand| operands.get(operand as usize));
                    operand.into_iter().for_each(|&operand| rewriter.replace(id, operand));
                }
                _ => {
                    rewriter.copy(id);
                }
            }
        }
        self.taken.iter().map(|&value| rewriter.value(value)).collect()
    }

    /// Returns the graph with the invariants as its last parameters, and the parameters that it still needs. The
    /// parameter of a weak state stays, since it determines the state's storage dtype.
    fn without(&self, carried: usize, policy: Policy) -> (TracedGraph, SourceLocs, Vec<usize>) {
        let graph = &*self.graph;
        let (mut out, mut out_places) = (Graph::like(graph), SourceLocs::default());
        let mut rewriter = Rewriter::new((graph, &*self.places), (&mut out, &mut out_places));
        let is_needed = |&at: &usize| {
            let param = graph.params()[at];
            let state = (self.operands[at] as usize) < carried;
            self.needed[graph.producer(param).index()] || state && graph.ty(param).is_weak()
        };
        let params: Vec<usize> = (0..graph.params().len()).filter(is_needed).collect();
        for &at in &params {
            rewriter.copy(graph.producer(graph.params()[at]));
        }
        for &value in &self.taken {
            let (ty, stored) = (graph.ty(value), graph.storage_dtype(value, policy));
            let param = rewriter.new.param_stored(ty, stored, graph.shape(value));
            rewriter.put(value, param);
        }
        for id in graph.node_ids().skip(graph.params().len()).filter(|id| self.needed[id.index()]) {
            rewriter.copy(id);
        }
        rewriter.finish();
        (out, out_places, params)
    }
}
