//! Rewriting: how the nodes of a graph become nodes of another. This owns what each value became, how literal slots and control flow are numbered
//! there, what nodes are made from, and that what is noted beside a graph follows its nodes.
//!
//! A [`Rewriter`] makes a graph of one graph, of the same types or of those of another stage; what a value becomes is a value, unless a pass keeps
//! more of it, as commit does of numbers that have no dtype yet. [`Copied`] is its half that knows the old graph alone, for those who write several
//! graphs into one.

use super::{Graph, NodeId, NodeKind, SlotId, Type, Value};
use crate::graph::Places;
use crate::shape::Shape;
use smallvec::SmallVec;
use std::sync::Arc;

impl<T: Type> Graph<T> {
    /// The kind, in another graph, that a node of this one has whose kind names no parameter and no slot of its graph.
    pub fn kind_in(&self, kind: NodeKind<T>, other: &mut Graph<T>) -> NodeKind<T> {
        match kind {
            NodeKind::View(id) => NodeKind::View(other.intern_view(self.view_of(id).clone())),
            NodeKind::Insert(id) => NodeKind::Insert(other.intern_view(self.view_of(id).clone())),
            NodeKind::Control(n, result) => match self.controls().get(n as usize) {
                Some(control) => NodeKind::Control(other.control(Arc::clone(control)), result),
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

/// What is noted of the nodes of a graph, in a table beside it.
pub trait Notes {
    /// Notes of node `to` what `other` notes of node `from`.
    fn follow(&mut self, other: &Self, from: NodeId, to: NodeId);
    /// Notes of the graphs of control flow `to` what `other` notes of those of `from`.
    fn follow_control(&mut self, other: &Self, from: u32, to: u32);
    /// Notes of the next child graph what `other` notes of child `from`.
    fn follow_child(&mut self, other: &Self, from: u32);
}

/// Nothing is noted.
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

impl Notes for Places {
    fn follow(&mut self, other: &Places, from: NodeId, to: NodeId) {
        other.written(from).for_each(|place| self.note(to, place));
    }

    fn follow_control(&mut self, other: &Places, from: u32, to: u32) {
        self.follow_controls(other, from, to);
    }

    fn follow_child(&mut self, other: &Places, from: u32) {
        self.add_child(other.child(from));
    }
}

/// What the values and the slots of a graph became.
#[derive(Clone, Debug)]
pub struct Copied<V = Value> {
    values: Vec<V>,
    /// `None` if the new graph has the same slots.
    slots: Option<Vec<Option<SlotId>>>,
}

/// Of a value that was not made yet. A node that reads it is refused by the verifier.
pub const MISSING: Value = Value(u32::MAX);

impl<V: Clone> Copied<V> {
    /// Nothing yet of this graph, whose values become something else than values.
    fn none<T: Type>(old: &Graph<T>, nothing: V) -> Copied<V> {
        Copied { values: vec![nothing; old.value_count()], slots: None }
    }

    /// What a value became.
    fn of(&self, old: Value) -> &V {
        &self.values[old.index()]
    }

    /// Says what a value became.
    pub fn set(&mut self, old: Value, new: V) {
        self.values[old.index()] = new;
    }
}

impl Copied {
    /// Nothing yet of this graph, which goes into one that has the same slots.
    pub fn sharing_slots<T: Type>(old: &Graph<T>) -> Copied {
        Copied::none(old, MISSING)
    }

    /// Nothing yet of this graph, whose slots are new ones in the graph that it goes into.
    pub fn with_new_slots<T: Type>(old: &Graph<T>) -> Copied {
        Copied { slots: Some(vec![None; old.slots().len()]), ..Copied::sharing_slots(old) }
    }

    /// What a value became.
    pub fn value(&self, old: Value) -> Value {
        *self.of(old)
    }

    /// What the operands of a node became.
    pub fn operands<T: Type>(&self, old: &Graph<T>, id: NodeId) -> SmallVec<[Value; 4]> {
        old.operands(id).iter().map(|&operand| self.value(operand)).collect()
    }

    /// What the outputs became.
    pub fn outputs<T: Type>(&self, old: &Graph<T>) -> Vec<Value> {
        old.outputs().iter().map(|&output| self.value(output)).collect()
    }

    /// The value of a slot in the new graph.
    pub fn slot<T: Type>(&mut self, old: &Graph<T>, slot: SlotId, ty: T, new: &mut Graph<T>) -> Value {
        let Some(slots) = &mut self.slots else { return new.slot_value(slot, ty) };
        let known = &mut slots[slot.index()];
        let slot = *known.get_or_insert_with(|| new.slot(old.slots()[slot.index()].clone()));
        new.slot_value(slot, ty)
    }

    /// Adds a node of this kind, and of the types and shapes that a node has, on new operands; says that its results became those.
    pub fn add<T: Type>(
        &mut self,
        old: &Graph<T>,
        id: NodeId,
        (kind, operands): (NodeKind<T>, &[Value]),
        new: &mut Graph<T>,
    ) -> Value {
        let node = old.node(id);
        let results: SmallVec<[_; 1]> =
            node.results().map(|value| (old.ty(value), new.intern(old.shape(value)))).collect();
        let first = new.add(kind, operands, &results);
        self.set_all(old, id, first);
        first
    }

    fn set_all<T: Type>(&mut self, old: &Graph<T>, id: NodeId, first: Value) {
        for (n, value) in old.node(id).results().enumerate() {
            self.set(value, Value::from_index(first.index() + n));
        }
    }
}

/// A graph of types `T` that becomes one of types `U`, each of its values a `V`.
pub struct Rewriter<'a, T: Type, N: Notes = (), U: Type = T, V = Value> {
    /// The graph as it is.
    pub old: &'a Graph<T>,
    beside: &'a N,
    /// The graph as it becomes.
    pub new: &'a mut Graph<U>,
    /// What is noted beside it.
    pub notes: &'a mut N,
    copied: Copied<V>,
}

impl<'a, T: Type, N: Notes, U: Type, V: Clone> Rewriter<'a, T, N, U, V> {
    /// Rewrites a graph into one that begins with the same slots; each of its values is `nothing` until it is said what it becomes.
    pub fn mapping(
        (old, beside): (&'a Graph<T>, &'a N),
        (new, notes): (&'a mut Graph<U>, &'a mut N),
        nothing: V,
    ) -> Self {
        Rewriter { copied: Copied::none(old, nothing), old, beside, new, notes }
    }

    /// What a value became.
    pub fn of(&self, old: Value) -> &V {
        self.copied.of(old)
    }

    /// Says what a value became.
    pub fn put(&mut self, old: Value, new: V) {
        self.copied.set(old, new);
    }

    /// Begins with a node: nodes to come are made from it, where the old graph is the traced one, else from what it was made from.
    pub fn begin(&mut self, id: NodeId) {
        let own = [id];
        self.new.make_from(if T::TYPED { self.old.origins(id) } else { &own });
    }
}

impl<'a, T: Type, N: Notes> Rewriter<'a, T, N> {
    /// Rewrites a graph into one that begins with the same slots, as [`Graph::like`] and [`Graph::with_slots`] make it.
    pub fn new((old, beside): (&'a Graph<T>, &'a N), (new, notes): (&'a mut Graph<T>, &'a mut N)) -> Self {
        Rewriter { copied: Copied::sharing_slots(old), old, beside, new, notes }
    }

    /// Writes a graph into one that has nodes of its own.
    pub fn splice((old, beside): (&'a Graph<T>, &'a N), (new, notes): (&'a mut Graph<T>, &'a mut N)) -> Self {
        Rewriter { copied: Copied::with_new_slots(old), old, beside, new, notes }
    }

    /// What a value became.
    pub fn value(&self, old: Value) -> Value {
        self.copied.value(old)
    }

    /// What the operands of a node became.
    pub fn operands(&self, id: NodeId) -> SmallVec<[Value; 4]> {
        self.copied.operands(self.old, id)
    }

    /// Says that the only result of a node is this value, which was there before: nothing that was noted of the node follows.
    pub fn replace(&mut self, id: NodeId, value: Value) {
        self.copied.set(self.old.node(id).first(), value);
    }

    /// Says that the only result of a node is this value, which was made for it.
    pub fn set(&mut self, id: NodeId, value: Value) {
        self.replace(id, value);
        self.follow(id, value);
    }

    /// Notes of the node that a value is of what was noted of node `from`.
    pub fn follow(&mut self, from: NodeId, value: Value) {
        self.notes.follow(self.beside, from, self.new.producer(value));
    }

    /// Makes the same node.
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
                let value = self.copied.slot(self.old, slot, ty, self.new);
                self.set(id, value);
                value
            }
            kind => {
                let kind = self.kind(kind);
                self.add(id, kind, &operands)
            }
        }
    }

    /// Makes a node of this kind of the new graph, on new operands, with the same results.
    pub fn add(&mut self, id: NodeId, kind: NodeKind<T>, operands: &[Value]) -> Value {
        let first = self.copied.add(self.old, id, (kind, operands), self.new);
        self.follow(id, first);
        first
    }

    /// Makes a node of the same kind whose only result has another shape.
    pub fn reshaped(&mut self, id: NodeId, operands: &[Value], shape: &Shape) -> Value {
        let kind = self.kind(self.old.node(id).kind);
        let result = (self.old.ty(self.old.node(id).first()), self.new.intern(shape));
        let value = self.new.add(kind, operands, &[result]);
        self.set(id, value);
        value
    }

    /// A kind of the old graph in the new one. What is noted of control flow follows.
    fn kind(&mut self, kind: NodeKind<T>) -> NodeKind<T> {
        let new = self.old.kind_in(kind, self.new);
        if let (NodeKind::Control(from, _), NodeKind::Control(to, _)) = (kind, new) {
            self.notes.follow_control(self.beside, from, to);
        }
        new
    }

    /// Sets the outputs to what they became.
    pub fn finish(self) {
        self.new.set_outputs(self.copied.outputs(self.old));
    }
}
