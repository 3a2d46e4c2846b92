//! Inline: replaces every call by the nodes of the function called, so that fusion sees through it.
//!
//! A call's operands have the types the child was traced for, and every node carries the policy it was traced under, so
//! inlining changes no type.

use ndjit_ir::graph::{Graph, NodeId, NodeKind, Places, SlotId, Type, Value};
use ndjit_ir::{Error, ErrorCode, Result};
use std::sync::Arc;

/// A graph being copied: how far it got and what its values became.
struct Frame<T: Type> {
    graph: Arc<Graph<T>>,
    places: Arc<Places>,
    next: u32,
    map: Vec<Value>,
    slots: Vec<Option<SlotId>>,
    /// The call in the enclosing frame that this frame stands for.
    call: Option<NodeId>,
}

impl<T: Type> Frame<T> {
    fn new(graph: Arc<Graph<T>>, places: Arc<Places>, call: Option<NodeId>) -> Frame<T> {
        let (values, slots) = (graph.value_count(), graph.slots().len());
        Frame { map: vec![Value(u32::MAX); values], slots: vec![None; slots], graph, places, next: 0, call }
    }
}

/// Replaces every call in `graph`. Places of inlined nodes are those inside the child. A graph without calls is returned
/// as it is.
///
/// # Errors
/// `Verify` if a call's operands are not as many as its child's parameters.
pub fn inline<T: Type>(graph: &Graph<T>, places: &Places) -> Result<(Graph<T>, Places)> {
    if graph.children().is_empty() {
        return Ok((graph.clone(), places.clone()));
    }
    let mut out = Graph::new();
    let mut out_places = Places::default();
    let mut stack = vec![Frame::new(Arc::new(graph.clone()), Arc::new(places.clone()), None)];
    while let Some(frame) = stack.last_mut() {
        let id = NodeId(frame.next);
        if id.index() == frame.graph.node_count() {
            let frame = stack.pop().expect("the loop's condition");
            let outputs: Vec<Value> = frame.graph.outputs().iter().map(|o| frame.map[o.index()]).collect();
            match (frame.call, stack.last_mut()) {
                (Some(call), Some(outer)) => {
                    let results = outer.graph.node(call).results();
                    results.zip(outputs).for_each(|(result, value)| outer.map[result.index()] = value);
                }
                _ => out.set_outputs(outputs),
            }
            continue;
        }
        frame.next += 1;
        let graph = Arc::clone(&frame.graph);
        let node = graph.node(id);
        let first = node.first();
        let operands: Vec<Value> = graph.operands(id).iter().map(|o| frame.map[o.index()]).collect();
        let value = match node.kind {
            NodeKind::Param(..) if frame.call.is_some() => continue, // bound when the frame was made
            NodeKind::Param(_, stored) => out.param_stored(graph.ty(first), stored, graph.shape(first)),
            NodeKind::Literal(slot) => match frame.slots[slot.index()] {
                Some(known) => out.slot_value(known, graph.ty(first)),
                None => {
                    frame.slots[slot.index()] = Some(SlotId::from_index(out.slots().len()));
                    out.literal(graph.slots()[slot.index()].clone(), graph.ty(first))
                }
            },
            NodeKind::Control(n, _) => {
                let (kind, shape) = (graph.kind_in(node.kind, &mut out), out.intern(graph.shape(first)));
                if let NodeKind::Control(number, _) = kind {
                    out_places.set_control(number, frame.places.control(n));
                }
                out.add(kind, &operands, &[(graph.ty(first), shape)])
            }
            NodeKind::Op(..)
            | NodeKind::Cast(_)
            | NodeKind::Reduce(_)
            | NodeKind::Scan(_)
            | NodeKind::Iota(_)
            | NodeKind::View(_)
            | NodeKind::Reshape
            | NodeKind::Gather
            | NodeKind::Scatter(_)
            | NodeKind::Concat(..) => {
                let (kind, shape) = (graph.kind_in(node.kind, &mut out), out.intern(graph.shape(first)));
                out.add(kind, &operands, &[(graph.ty(first), shape)])
            }
            NodeKind::Call(n) => {
                let child = Arc::clone(&graph.children()[n as usize]);
                let mut inner = Frame::new(Arc::clone(&child), frame.places.child(n), Some(id));
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
                for (param, operand) in child.params().iter().zip(operands) {
                    inner.map[param.index()] = operand;
                }
                stack.push(inner);
                continue;
            }
        };
        for place in frame.places.all(id) {
            out_places.note(out.producer(value), place);
        }
        frame.map[first.index()] = value;
    }
    Ok((out, out_places))
}
