//! Rewriting of graphs: a map of values, the numbering of literal slots and control flow, the origins of nodes, and the notes beside a
//! graph.
//!
//! A [`Rewriter`] makes a graph from another of the same or of another stage. It maps values to values, or to a pass's own type: commit
//! keeps literals without dtype. [`Copied`] is the map of an interrupted rewrite, for passes that write several graphs into one.

use super::{Graph, NodeId, NodeKind, SlotId, Type, Value};
use crate::graph::SourceLocs;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::sync::Arc;

impl<T: Type> Graph<T> {
    /// The kind of a node in another graph. The kind is neither a parameter nor a literal.
    pub fn kind_in(&self, kind: NodeKind<T>, other: &mut Graph<T>) -> NodeKind<T> {
        match kind {
            NodeKind::View(id) => NodeKind::View(other.intern_view(self.view_of(id).clone())),
            NodeKind::Slice(id) => NodeKind::Slice(other.intern_view(self.view_of(id).clone())),
            NodeKind::Insert(id) => NodeKind::Insert(other.intern_view(self.view_of(id).clone())),
            NodeKind::Control(n) => match self.controls().get(n as usize) {
                Some(control) => NodeKind::Control(other.control(Arc::clone(control))),
                None => kind,
            },
            NodeKind::Call(n) => match self.children().get(n as usize) {
                Some(child) => NodeKind::Call(other.child(Arc::clone(child))),
                None => kind,
            },
            kind => kind,
        }
    }
}

/// Notes about the nodes of a graph, in a table beside it.
pub trait Notes {
    /// Copies the notes of node `from` in `other` to node `to`.
    fn follow(&mut self, other: &Self, from: NodeId, to: NodeId);
    /// Copies the notes of control flow `from` in `other` to `to`.
    fn follow_control(&mut self, other: &Self, from: u32, to: u32);
    /// Adds the notes of child `from` of `other` for the next child.
    fn follow_child(&mut self, other: &Self, from: u32);
}

/// No notes.
impl Notes for () {
    fn follow(&mut self, (): &(), _: NodeId, _: NodeId) {}
    fn follow_control(&mut self, (): &(), _: u32, _: u32) {}
    fn follow_child(&mut self, (): &(), _: u32) {}
}

impl<A: Notes, B: Notes> Notes for (A, B) {
    fn follow(&mut self, other: &Self, from: NodeId, to: NodeId) {
        self.0.follow(&other.0, from, to);
        self.1.follow(&other.1, from, to);
    }

    fn follow_control(&mut self, other: &Self, from: u32, to: u32) {
        self.0.follow_control(&other.0, from, to);
        self.1.follow_control(&other.1, from, to);
    }

    fn follow_child(&mut self, other: &Self, from: u32) {
        self.0.follow_child(&other.0, from);
        self.1.follow_child(&other.1, from);
    }
}

impl Notes for SourceLocs {
    fn follow(&mut self, other: &SourceLocs, from: NodeId, to: NodeId) {
        other.written(from).for_each(|place| self.note(to, place));
    }

    fn follow_control(&mut self, other: &SourceLocs, from: u32, to: u32) {
        self.follow_controls(other, from, to);
    }

    fn follow_child(&mut self, other: &SourceLocs, from: u32) {
        self.add_child(other.child(from));
    }
}

/// The map of a graph's values and slots to another graph's.
#[derive(Clone, Debug)]
pub struct Copied<V = Value> {
    values: Vec<V>,
    /// `None` if the new graph has the same slots.
    slots: Option<Vec<Option<SlotId>>>,
}

/// A value not made yet. The verifier refuses nodes that read it.
pub const MISSING: Value = Value(u32::MAX);

impl<V: Clone> Copied<V> {
    /// An empty map for this graph, to values of another type.
    fn none<T: Type>(old: &Graph<T>, nothing: V) -> Copied<V> {
        Copied { values: vec![nothing; old.value_count()], slots: None }
    }

    /// The new value.
    fn of(&self, old: Value) -> &V {
        &self.values[old.index()]
    }

    /// Maps a value to a new one.
    pub fn set(&mut self, old: Value, new: V) {
        self.values[old.index()] = new;
    }
}

impl Copied {
    /// An empty map for this graph, into a graph with the same slots.
    fn sharing_slots<T: Type>(old: &Graph<T>) -> Copied {
        Copied::none(old, MISSING)
    }

    /// An empty map for this graph, into a graph where its slots are new.
    pub fn with_new_slots<T: Type>(old: &Graph<T>) -> Copied {
        Copied { slots: Some(vec![None; old.slots().len()]), ..Copied::sharing_slots(old) }
    }
}

/// Makes a graph of types `U` from one of types `T`, with a `V` for each value.
pub struct Rewriter<'a, T: Type, N: Notes = (), U: Type = T, V = Value> {
    /// The old graph.
    pub old: &'a Graph<T>,
    beside: &'a N,
    /// The new graph.
    pub new: &'a mut Graph<U>,
    /// The notes of the new graph.
    pub notes: &'a mut N,
    copied: Copied<V>,
}

impl<'a, T: Type, N: Notes, U: Type, V: Clone> Rewriter<'a, T, N, U, V> {
    /// Rewrites a graph into one that begins with the same slots. Values map to `nothing` until [`put`](Rewriter::put).
    pub fn mapping(
        (old, beside): (&'a Graph<T>, &'a N),
        (new, notes): (&'a mut Graph<U>, &'a mut N),
        nothing: V,
    ) -> Self {
        Rewriter { copied: Copied::none(old, nothing), old, beside, new, notes }
    }

    /// The new value.
    pub fn of(&self, old: Value) -> &V {
        self.copied.of(old)
    }

    /// Maps a value to a new one.
    pub fn put(&mut self, old: Value, new: V) {
        self.copied.set(old, new);
    }

    /// Begins a node: it becomes the origin of the next nodes if the old graph is the traced one, else its origins do.
    pub fn begin(&mut self, id: NodeId) {
        let own = [id];
        self.new.make_from(if T::TYPED { self.old.origins(id) } else { &own });
    }
}

impl<'a, T: Type, N: Notes> Rewriter<'a, T, N> {
    /// Rewrites a graph into one that begins with the same slots, from [`Graph::like`] or [`Graph::with_slots`].
    pub fn new((old, beside): (&'a Graph<T>, &'a N), (new, notes): (&'a mut Graph<T>, &'a mut N)) -> Self {
        Rewriter { copied: Copied::sharing_slots(old), old, beside, new, notes }
    }

    /// Writes a graph into one with nodes of its own.
    pub fn splice((old, beside): (&'a Graph<T>, &'a N), (new, notes): (&'a mut Graph<T>, &'a mut N)) -> Self {
        Rewriter { copied: Copied::with_new_slots(old), old, beside, new, notes }
    }

    /// Continues a rewrite that [`pause`](Rewriter::pause) interrupted, or begins one with parameters bound to values.
    pub fn resume(
        (old, beside): (&'a Graph<T>, &'a N),
        (new, notes): (&'a mut Graph<T>, &'a mut N),
        copied: Copied,
    ) -> Self {
        Rewriter { copied, old, beside, new, notes }
    }

    /// The map so far.
    pub fn pause(self) -> Copied {
        self.copied
    }

    /// Maps parameters to values of the new graph, in order.
    pub fn bind(&mut self, values: &[Value]) {
        self.old.params().iter().zip(values).for_each(|(&param, &value)| self.copied.set(param, value));
    }

    /// The new value.
    pub fn value(&self, old: Value) -> Value {
        *self.copied.of(old)
    }

    /// The new operands of a node.
    pub fn operands(&self, id: NodeId) -> SmallVec<[Value; 4]> {
        self.old.operands(id).iter().map(|&operand| self.value(operand)).collect()
    }

    /// The new outputs.
    pub fn outputs(&self) -> Vec<Value> {
        self.old.outputs().iter().map(|&output| self.value(output)).collect()
    }

    /// Maps the only result of a node to an existing value; the node's notes do not follow.
    pub fn replace(&mut self, id: NodeId, value: Value) {
        self.copied.set(self.old.node(id).first(), value);
    }

    /// Maps the only result of a node to a value made for it; the notes follow.
    pub fn set(&mut self, id: NodeId, value: Value) {
        self.replace(id, value);
        self.follow(id, value);
    }

    /// Copies the notes of node `from` to the producer of a value.
    pub fn follow(&mut self, from: NodeId, value: Value) {
        self.notes.follow(self.beside, from, self.new.producer(value));
    }

    /// Copies a node.
    pub fn copy(&mut self, id: NodeId) -> Value {
        let (first, operands) = (self.old.node(id).first(), self.operands(id));
        let ty = self.old.ty(first);
        match self.old.node(id).kind {
            NodeKind::Param(_, stored) => {
                let value = self.new.param_stored(ty, stored, self.old.shape(first));
                self.set(id, value);
                value
            }
            NodeKind::Literal(slot) => {
                let value = self.slot(slot, ty);
                self.set(id, value);
                value
            }
            kind => {
                let kind = self.kind(kind);
                self.add(id, kind, &operands)
            }
        }
    }

    /// Adds a node of this kind of the new graph, on new operands, with the old node's results.
    pub fn add(&mut self, id: NodeId, kind: NodeKind<T>, operands: &[Value]) -> Value {
        let node = self.old.node(id);
        let results: SmallVec<[_; 1]> =
            node.results().map(|value| (self.old.ty(value), self.new.intern(self.old.shape(value)))).collect();
        let first = self.new.add(kind, operands, &results);
        for (n, value) in node.results().enumerate() {
            self.copied.set(value, Value::from_index(first.index() + n));
        }
        self.follow(id, first);
        first
    }

    /// Adds a node of the same kind whose only result has another shape.
    pub fn reshaped(&mut self, id: NodeId, operands: &[Value], shape: &Shape) -> Value {
        let kind = self.kind(self.old.node(id).kind);
        let result = (self.old.ty(self.old.node(id).first()), self.new.intern(shape));
        let value = self.new.add(kind, operands, &[result]);
        self.set(id, value);
        value
    }

    /// A kind of the old graph in the new one. The notes of control flow and of calls follow.
    fn kind(&mut self, kind: NodeKind<T>) -> NodeKind<T> {
        let children = self.new.children().len();
        let new = self.old.kind_in(kind, self.new);
        match (kind, new) {
            (NodeKind::Control(from), NodeKind::Control(to)) => {
                self.notes.follow_control(self.beside, from, to);
            }
            (NodeKind::Call(from), _) if self.new.children().len() > children => {
                self.notes.follow_child(self.beside, from);
            }
            _ => {}
        }
        new
    }

    /// The value of a slot in the new graph.
    fn slot(&mut self, slot: SlotId, ty: T) -> Value {
        let slot = match &mut self.copied.slots {
            None => slot,
            Some(slots) => {
                let (old, new) = (self.old, &mut *self.new);
                *slots[slot.index()].get_or_insert_with(|| new.slot(old.slots()[slot.index()].clone()))
            }
        };
        self.new.slot_value(slot, ty)
    }

    /// Sets the outputs to their new values.
    pub fn finish(self) {
        let outputs = self.outputs();
        self.new.set_outputs(outputs);
    }
}
