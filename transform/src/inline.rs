//! Inline: replaces every call by the nodes of its callee, so that fusion crosses calls, also in graphs of control
//! flow; literal operands of control flow become literals of its graphs. Rules of derivatives are removed: their
//! outputs remain.
//!
//! A call's operands have the types the child was traced for, and every node has its own policy, so inlining changes no
//! type. A literal in a loop or a branch is rounded where it meets an array, as outside: never earlier, to be passed in
//! memory.

use ndjit_ir::graph::{
    Control, Copied, Graph, Identity, MAX_NESTING, NodeId, NodeKind, Rewriter, Slot, SourceLocs, Type, Value,
};
use ndjit_ir::{Error, ErrorCode, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// For each parameter of a graph of control flow its literal, if it is one, and the first parameter that is the same.
type LiteralParams = Vec<Option<(usize, Slot)>>;
/// A graph and its places.
type SharedGraph<T> = (Arc<Graph<T>>, Arc<SourceLocs>);

/// Replaces every call in `graph`. Places of inlined nodes are those inside the child. A graph without calls and
/// control flow is unchanged.
///
/// # Errors
/// `Size` if calls [make it too large](Graph::check_expansion); `Verify` if a call and its child differ in the number
/// of operands, or control flow nests too deep.
pub fn inline<T: Type>(graph: &Graph<T>, places: &SourceLocs) -> Result<(Graph<T>, SourceLocs)> {
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

/// Returns the nodes on which the values of the outputs depend, without the operands of rules; `None` for a graph
/// without rules.
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
    places: Arc<SourceLocs>,
    next: usize,
    /// The nodes that are copied, if not all are.
    needed: Option<Vec<bool>>,
    copied: Copied,
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
        InlineFrame { needed, copied, graph, places, next: 0, call }
    }
}

struct Inliner<T: Type> {
    /// The graphs of control flow copied so far, by address and literals: all graphs live as long as this.
    bodies: FxHashMap<(*const Graph<T>, LiteralParams), SharedGraph<T>>,
}

impl<T: Type> Inliner<T> {
    /// Returns a copy of a graph without calls; the parameters with literals become literals.
    fn graph(
        &mut self,
        (graph, places): SharedGraph<T>,
        numbers: &[Option<(usize, Slot)>],
    ) -> Result<(Graph<T>, SourceLocs)> {
        let mut out = Graph::new();
        let mut out_places = SourceLocs::default();
        let mut root = InlineFrame::new((Arc::clone(&graph), Arc::clone(&places)), None);
        let mut rewriter = Rewriter::resume((&*graph, &*places), (&mut out, &mut out_places), root.copied);
        params(&mut rewriter, numbers);
        root.copied = rewriter.pause();
        let mut stack = vec![root];
        'frames: while let Some(mut frame) = stack.pop() {
            let (graph, places) = (Arc::clone(&frame.graph), Arc::clone(&frame.places));
            let mut rewriter = Rewriter::resume((&*graph, &*places), (&mut out, &mut out_places), frame.copied);
            for id in graph.node_ids().skip(frame.next) {
                if frame.needed.as_ref().is_some_and(|needed| !needed[id.index()]) {
                    continue;
                }
                let operands = rewriter.operands(id);
                match graph.node(id).kind {
                    // Bound when the frame was made.
                    NodeKind::Param(..) => {}
                    NodeKind::Identity(Identity::Ruled(_)) => rewriter.replace(id, operands[0]),
                    NodeKind::Control(n) => {
                        let piece = self.piece((&graph, &places), n, &operands, rewriter.new, rewriter.notes)?;
                        let operands: Vec<Value> =
                            piece.operands.iter().filter_map(|&at| operands.get(at).copied()).collect();
                        rewriter.add(id, NodeKind::Control(piece.number), &operands);
                    }
                    NodeKind::Call(n) => {
                        let child = Arc::clone(&graph.children()[n as usize]);
                        if child.params().len() != operands.len() {
                            return Err(arity(&child, operands.len()).at(places.first(id)));
                        }
                        let mut inner = InlineFrame::new((Arc::clone(&child), places.child(n)), Some(id));
                        for (param, operand) in child.params().iter().zip(operands) {
                            inner.copied.set(*param, operand);
                        }
                        frame.copied = rewriter.pause();
                        frame.next = id.index() + 1;
                        stack.extend([frame, inner]);
                        continue 'frames;
                    }
                    _ => {
                        rewriter.copy(id);
                    }
                }
            }
            let outputs = rewriter.outputs();
            match (frame.call, stack.last_mut()) {
                (Some(call), Some(outer)) => {
                    let results = outer.graph.node(call).results();
                    results.zip(outputs).for_each(|(result, value)| outer.copied.set(result, value));
                }
                _ => out.set_outputs(outputs),
            }
        }
        Ok((out, out_places))
    }

    /// Adds control flow of a frame to the new graph, on these operands. Literal operands become literals of its
    /// graphs.
    fn piece(
        &mut self,
        (graph, places): (&Graph<T>, &SourceLocs),
        n: u32,
        operands: &[Value],
        out: &mut Graph<T>,
        out_places: &mut SourceLocs,
    ) -> Result<InlinedControl> {
        let control = &graph.controls()[n as usize];
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
            let places = places.control(n, which);
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

    /// Returns a copy of a graph of control flow without calls; the parameters with literals become literals.
    fn body(
        &mut self,
        (graph, places): (&Arc<Graph<T>>, &Arc<SourceLocs>),
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

/// Returns the error of a call with another number of operands than its child has parameters.
fn arity<T: Type>(child: &Graph<T>, operands: usize) -> Error {
    Error::new(ErrorCode::Verify, "inline: a call's operands are not its child's parameters")
        .fact(format_args!("operands: {operands}, parameters: {}", child.params().len()))
}

/// Adds the parameters of the outermost graph: first those that stay, then the literals.
fn params<T: Type>(rewriter: &mut Rewriter<'_, T, SourceLocs>, numbers: &[Option<(usize, Slot)>]) {
    let graph = rewriter.old;
    let number = |at: usize| numbers.get(at).and_then(Option::as_ref);
    let (stay, fixed): (Vec<usize>, Vec<usize>) = (0..graph.params().len()).partition(|&at| number(at).is_none());
    for at in stay.into_iter().chain(fixed) {
        let param = graph.params()[at];
        let id = graph.producer(param);
        let value = match number(at) {
            Some(&(same, _)) if same < at => rewriter.value(graph.params()[same]),
            Some((_, slot)) => rewriter.new.literal(slot.clone(), graph.ty(param)),
            None => {
                rewriter.copy(id);
                continue;
            }
        };
        rewriter.set(id, value);
    }
}
