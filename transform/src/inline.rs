//! Inline: replaces every call by the nodes of its callee, so that fusion crosses calls, also in graphs of control flow; literal operands
//! of control flow become literals of its graphs. Rules of derivatives are removed: their outputs remain.
//!
//! A call's operands have the types the child was traced for, and every node has its own policy, so inlining changes no type. A
//! literal in a loop or a branch is rounded where it meets an array, as outside: never earlier, to be passed in memory.

use ndjit_ir::graph::{
    Control, Copied, Graph, Identity, MAX_NESTING, NodeId, NodeKind, Notes, Places, Slot, Type, Value,
};
use ndjit_ir::{Error, ErrorCode, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// For each parameter of a graph of control flow its literal, if it is one, and the first parameter that is the same.
type LiteralParams = Vec<Option<(usize, Slot)>>;
/// A graph and its places.
type SharedGraph<T> = (Arc<Graph<T>>, Arc<Places>);

/// Replaces every call in `graph`. Places of inlined nodes are those inside the child. A graph without calls and control flow is
/// unchanged.
///
/// # Errors
/// `Size` if calls [make it too large](Graph::check_expansion); `Verify` if a call and its child differ in the number of operands, or
/// control flow nests too deep.
pub fn inline<T: Type>(graph: &Graph<T>, places: &Places) -> Result<(Graph<T>, Places)> {
    graph.check_expansion()?;
    if graph.nesting() > MAX_NESTING {
        return Err(Error::new(ErrorCode::Verify, format!("inline: control flow nests more than {MAX_NESTING} deep")));
    }
    if is_plain(graph) {
        return Ok((graph.clone(), places.clone()));
    }
    let whole = (Arc::new(graph.clone()), Arc::new(places.clone()));
    Inliner { bodies: FxHashMap::default() }.graph(whole, &[])
}

/// Returns `true` if a graph has neither calls nor control flow nor rules of derivatives.
fn is_plain<T: Type>(graph: &Graph<T>) -> bool {
    graph.children().is_empty() && graph.controls().is_empty() && !has_rules(graph)
}

fn has_rules<T: Type>(graph: &Graph<T>) -> bool {
    graph.node_ids().any(|id| matches!(graph.node(id).kind, NodeKind::Identity(Identity::Ruled(_))))
}

/// The nodes that the outputs need without rules, for a graph with rules of derivatives.
fn valued<T: Type>(graph: &Graph<T>) -> Option<Vec<bool>> {
    if !has_rules(graph) {
        return None;
    }
    let mut needed = vec![false; graph.node_count()];
    graph.outputs().iter().for_each(|&output| needed[graph.producer(output).index()] = true);
    for id in graph.node_ids().rev().collect::<Vec<NodeId>>() {
        if needed[id.index()] {
            let taken = match graph.node(id).kind {
                NodeKind::Identity(Identity::Ruled(_)) => &graph.operands(id)[..1],
                _ => graph.operands(id),
            };
            taken.iter().for_each(|&operand| needed[graph.producer(operand).index()] = true);
        }
    }
    Some(needed)
}

/// The state of a graph's copy: the next node, and the new values.
struct InlineFrame<T: Type> {
    graph: Arc<Graph<T>>,
    places: Arc<Places>,
    next: u32,
    /// The nodes to copy, if not all.
    needed: Option<Vec<bool>>,
    copied: Copied,
    /// The new control flow, by its number and new operands.
    controls: FxHashMap<(u32, Vec<Value>), InlinedControl>,
    /// The call in the enclosing frame.
    call: Option<NodeId>,
}

/// Control flow in the new graph.
struct InlinedControl {
    number: u32,
    /// The indices of its operands among the old ones.
    operands: Vec<usize>,
}

impl<T: Type> InlineFrame<T> {
    fn new((graph, places): SharedGraph<T>, call: Option<NodeId>) -> InlineFrame<T> {
        let copied = Copied::with_new_slots(&graph);
        let needed = valued(&graph);
        InlineFrame { needed, copied, controls: FxHashMap::default(), graph, places, next: 0, call }
    }
}

struct Inliner<T: Type> {
    /// The graphs of control flow copied so far, by address and literals: all graphs live as long as this.
    bodies: FxHashMap<(*const Graph<T>, LiteralParams), SharedGraph<T>>,
}

impl<T: Type> Inliner<T> {
    /// A graph without calls, some of whose parameters are literals.
    fn graph(
        &mut self,
        (graph, places): SharedGraph<T>,
        numbers: &[Option<(usize, Slot)>],
    ) -> Result<(Graph<T>, Places)> {
        let mut out = Graph::new();
        let mut out_places = Places::default();
        let mut root = InlineFrame::new((graph, places), None);
        params(&mut root, numbers, &mut out, &mut out_places);
        let mut stack = vec![root];
        while let Some(frame) = stack.last_mut() {
            let id = NodeId(frame.next);
            if id.index() == frame.graph.node_count() {
                let frame = stack.pop().expect("the loop's condition");
                let outputs = frame.copied.outputs(&frame.graph);
                match (frame.call, stack.last_mut()) {
                    (Some(call), Some(outer)) => {
                        let results = outer.graph.node(call).results();
                        results.zip(outputs).for_each(|(result, value)| outer.copied.set(result, value));
                    }
                    _ => out.set_outputs(outputs),
                }
                continue;
            }
            frame.next += 1;
            let graph = Arc::clone(&frame.graph);
            let node = graph.node(id);
            let first = node.first();
            if frame.needed.as_ref().is_some_and(|needed| !needed[id.index()]) {
                continue;
            }
            if let NodeKind::Identity(Identity::Ruled(_)) = node.kind {
                let value = frame.copied.value(graph.operands(id)[0]);
                frame.copied.set(first, value);
                continue;
            }
            let mut operands = frame.copied.operands(&graph, id).to_vec();
            let value = match node.kind {
                NodeKind::Param(..) => continue, // bound when the frame was made
                NodeKind::Literal(slot) => {
                    let value = frame.copied.slot(&graph, slot, graph.ty(first), &mut out);
                    frame.copied.set(first, value);
                    value
                }
                NodeKind::Control(n, result) => {
                    let key = (n, operands);
                    if !frame.controls.contains_key(&key) {
                        let piece = self.piece(frame, n, &key.1, &mut out, &mut out_places)?;
                        frame.controls.insert(key.clone(), piece);
                    }
                    let Some(piece) = frame.controls.get(&key) else { continue };
                    operands = piece.operands.iter().filter_map(|&at| key.1.get(at).copied()).collect();
                    frame.copied.add(&graph, id, (NodeKind::Control(piece.number, result), &operands), &mut out)
                }
                NodeKind::Call(n) => {
                    let child = Arc::clone(&graph.children()[n as usize]);
                    if child.params().len() != operands.len() {
                        return Err(Error::new(
                            ErrorCode::Verify,
                            "inline: a call's operands are not its child's parameters",
                        )
                        .at(frame.places.first(id))
                        .fact(format_args!(
                            "operands: {}, parameters: {}",
                            operands.len(),
                            child.params().len()
                        )));
                    }
                    let mut inner = InlineFrame::new((Arc::clone(&child), frame.places.child(n)), Some(id));
                    for (param, operand) in child.params().iter().zip(operands) {
                        inner.copied.set(*param, operand);
                    }
                    stack.push(inner);
                    continue;
                }
                kind => {
                    let kind = graph.kind_in(kind, &mut out);
                    frame.copied.add(&graph, id, (kind, &operands), &mut out)
                }
            };
            out_places.follow(&frame.places, id, out.producer(value));
        }
        Ok((out, out_places))
    }

    /// Control flow of a frame in the new graph, on these operands: literal ones become literals of its graphs.
    fn piece(
        &mut self,
        frame: &InlineFrame<T>,
        n: u32,
        operands: &[Value],
        out: &mut Graph<T>,
        out_places: &mut Places,
    ) -> Result<InlinedControl> {
        let control = &frame.graph.controls()[n as usize];
        let first = control.kind.arrays(control.results());
        let number = |at: usize| {
            let value = *operands.get(at).filter(|_| at >= first)?;
            match out.node(out.producer(value)).kind {
                NodeKind::Literal(slot) => Some(out.slots()[slot.index()].clone()),
                _ => None,
            }
        };
        let kept: Vec<usize> = (0..operands.len()).filter(|&at| number(at).is_none()).collect();
        let mut graphs = control.graphs.clone();
        let mut all_places = Vec::with_capacity(graphs.len());
        for (which, inner) in graphs.iter_mut().enumerate() {
            let places = frame.places.control(n, which);
            let taken = |at: u32| operands.get(at as usize);
            // Parts of the state may begin as the same literal.
            let same = |at: u32| {
                let is_same = |&other: &u32| other as usize >= first && taken(other) == taken(at);
                inner.operands.iter().position(is_same)
            };
            let numbers: LiteralParams = inner.operands.iter().map(|&at| same(at).zip(number(at as usize))).collect();
            let (graph, places) = self.body((&inner.graph, &places), &numbers)?;
            inner.graph = graph;
            all_places.push(places);
            let at = |&at: &u32| kept.binary_search(&(at as usize)).map(|at| at as u32);
            inner.operands = inner.operands.iter().filter_map(|operand| at(operand).ok()).collect();
        }
        let number = out.control(Arc::new(Control { kind: control.kind, graphs }));
        out_places.set_control(number, all_places);
        Ok(InlinedControl { number, operands: kept })
    }

    /// A graph of control flow without calls, some of whose parameters are literals.
    fn body(
        &mut self,
        (graph, places): (&Arc<Graph<T>>, &Arc<Places>),
        numbers: &LiteralParams,
    ) -> Result<SharedGraph<T>> {
        let takes_none = numbers.iter().all(Option::is_none);
        if takes_none && is_plain(graph) {
            return Ok((Arc::clone(graph), Arc::clone(places)));
        }
        let key = (Arc::as_ptr(graph), numbers.clone());
        if let Some((graph, places)) = self.bodies.get(&key) {
            return Ok((Arc::clone(graph), Arc::clone(places)));
        }
        let (graph, places) = self.graph((Arc::clone(graph), Arc::clone(places)), numbers)?;
        let made = (Arc::new(graph), Arc::new(places));
        self.bodies.insert(key, (Arc::clone(&made.0), Arc::clone(&made.1)));
        Ok(made)
    }
}

/// The parameters of the outermost graph: first those that remain, then literals.
fn params<T: Type>(
    frame: &mut InlineFrame<T>,
    numbers: &[Option<(usize, Slot)>],
    out: &mut Graph<T>,
    out_places: &mut Places,
) {
    let graph = Arc::clone(&frame.graph);
    let number = |at: usize| numbers.get(at).and_then(Option::as_ref);
    let (stay, fixed): (Vec<usize>, Vec<usize>) = (0..graph.params().len()).partition(|&at| number(at).is_none());
    for at in stay.into_iter().chain(fixed) {
        let param = graph.params()[at];
        let (id, ty) = (graph.producer(param), graph.ty(param));
        let value = match (number(at), graph.node(id).kind) {
            (Some(&(same, _)), _) if same < at => frame.copied.value(graph.params()[same]),
            (Some((_, slot)), _) => out.literal(slot.clone(), ty),
            (None, NodeKind::Param(_, stored)) => out.param_stored(ty, stored, graph.shape(param)),
            (None, _) => continue,
        };
        out_places.follow(&frame.places, id, out.producer(value));
        frame.copied.set(param, value);
    }
}
