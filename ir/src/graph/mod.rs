//! The graph: an append-only, hash-consed arena of nodes over whole arrays.
//!
//! Tracing records a `Graph<ValueType>`; commit makes a `Graph<DType>` of it. A node has one or more results; every result is a
//! [`Value`] with a type and a shape. Operands are values with smaller ids, so graphs are acyclic and passes need no recursion.
//! [`SourceLocs`] has the source places.
//!
//! Control flow ([`Control`]) contains closed graphs: arrays from outside are operands of its nodes. A [`Rewriter`] makes a graph of
//! another, with its notes.

mod children;
mod control;
mod estimate;
mod ids;
mod kind;
mod known;
pub(crate) mod parse;
mod reads;
mod rewrite;
mod scatter;
mod slot;
mod source_locs;
mod text;
mod types;
mod verify;
mod whole;

pub use control::{Control, ControlKind, ForArity, Inner, MAX_NESTING, ScanArity};
pub use ids::{NodeId, ShapeId, SlotId, Value, ViewId};
pub use kind::{
    Dependence, DerivativeRule, Fusion, Identity, KindRow, NodeKind, RuleKind, RuleParts, TextPart, TypeOf,
};
pub use reads::reads;
pub use rewrite::{Copied, MISSING, Notes, Rewriter};
pub use scatter::Scatter;
pub use slot::Slot;
pub use source_locs::{NodeLoc, SourceLocs};
pub use text::{GraphBlock, GraphLine, GraphPart, GraphText};
pub use types::Type;
pub use whole::MAX_EXPANSION;

use crate::dtype::DType;
use crate::nested::{Nested, TreeNode};
use crate::op::Op;
use crate::promotion::Policy;
use crate::shape::Shape;
use crate::value_type::ValueType;
use crate::view::View;
use children::Children;
use control::Controls;
use known::NodeTable;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A node: its kind, its operands, its results.
#[derive(Clone, Copy, Debug)]
pub struct Node<T: Type = ValueType> {
    /// The kind.
    pub kind: NodeKind<T>,
    operands: (u32, u32),
    first: Value,
    results: u32,
}

impl<T: Type> Node<T> {
    /// The result values, consecutive.
    pub fn results(&self) -> impl Iterator<Item = Value> + use<T> {
        (self.first.0..self.first.0 + self.results).map(Value)
    }

    /// The first result.
    pub fn first(&self) -> Value {
        self.first
    }

    /// The index of one of its values among the results.
    pub fn result(&self, value: Value) -> usize {
        value.index() - self.first.index()
    }

    /// The number of results.
    pub fn result_count(&self) -> usize {
        self.results as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct ValueData<T> {
    ty: T,
    shape: ShapeId,
    node: NodeId,
}

/// An append-only arena of hash-consed nodes.
#[derive(Clone, Debug)]
pub struct Graph<T: Type> {
    nodes: Vec<Node<T>>,
    operands: Vec<Value>,
    values: Vec<ValueData<T>>,
    shapes: Vec<Shape>,
    shape_ids: FxHashMap<Shape, ShapeId>,
    views: Vec<Arc<View>>,
    view_ids: FxHashMap<Arc<View>, ViewId>,
    known: NodeTable,
    params: Vec<Value>,
    slots: Arc<Vec<Slot>>,
    controls: Arc<Controls<T>>,
    children: Children<Graph<T>>,
    /// The nesting depth of control flow, callees included.
    nesting: usize,
    /// The number of nodes that calls and control flow add when expanded.
    beyond: usize,
    outputs: Vec<Value>,
    /// The first origin of each node, as far as known: may be shorter than `nodes`.
    origins: Vec<NodeId>,
    /// All origins of nodes with several.
    more_origins: FxHashMap<NodeId, Vec<NodeId>>,
    /// The origins of the next nodes.
    making: NodeOrigins,
}

/// Marks nodes without exactly one origin.
const SEVERAL: NodeId = NodeId(u32::MAX);
/// Nodes of the traced graph, possibly repeated.
type NodeOrigins = SmallVec<[NodeId; 2]>;

impl<T: Type> TreeNode for Graph<T> {
    fn children(&mut self) -> &mut Nested<Graph<T>> {
        &mut self.children.all
    }
}

impl<T: Type> Default for Graph<T> {
    fn default() -> Graph<T> {
        Graph {
            nodes: Vec::new(),
            operands: Vec::new(),
            values: Vec::new(),
            shapes: Vec::new(),
            shape_ids: FxHashMap::default(),
            views: Vec::new(),
            view_ids: FxHashMap::default(),
            known: NodeTable::default(),
            params: Vec::new(),
            slots: Arc::default(),
            controls: Arc::default(),
            children: Children::default(),
            nesting: 0,
            beyond: 0,
            outputs: Vec::new(),
            origins: Vec::new(),
            more_origins: FxHashMap::default(),
            making: NodeOrigins::new(),
        }
    }
}

impl<T: Type> Graph<T> {
    /// An empty graph.
    pub fn new() -> Graph<T> {
        Graph::default()
    }

    /// An empty graph that shares another's literal slots and control flow, with capacity for as many nodes.
    pub fn like(other: &Graph<T>) -> Graph<T> {
        let (controls, all) = (Arc::clone(&other.controls), other.controls());
        let nesting = all.iter().map(|control| control.nesting()).max().unwrap_or(0);
        Graph { controls, nesting, ..Graph::with_slots(other) }
    }

    /// An empty graph that shares another's literal slots, with capacity for as many nodes.
    pub fn with_slots<U: Type>(other: &Graph<U>) -> Graph<T> {
        let mut graph = Graph { slots: Arc::clone(&other.slots), ..Graph::default() };
        graph.nodes.reserve(other.nodes.len());
        graph.operands.reserve(other.operands.len());
        graph.values.reserve(other.values.len());
        graph.known = NodeTable::with_room(other.nodes.len(), other.values.len());
        graph
    }

    /// All node ids, operands before users.
    pub fn node_ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<T> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &Node<T> {
        reads::count();
        &self.nodes[id.index()]
    }

    /// The operands of a node.
    pub fn operands(&self, id: NodeId) -> &[Value] {
        reads::count();
        let (start, len) = self.nodes[id.index()].operands;
        &self.operands[start as usize..(start + len) as usize]
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The number of values: results of all nodes.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// The node a value is a result of.
    pub fn producer(&self, value: Value) -> NodeId {
        reads::count();
        self.values[value.index()].node
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> T {
        self.values[value.index()].ty
    }

    /// The shape of a value.
    pub fn shape(&self, value: Value) -> &Shape {
        &self.shapes[self.values[value.index()].shape.index()]
    }

    /// The interned shape of a value.
    pub fn shape_id(&self, value: Value) -> ShapeId {
        self.values[value.index()].shape
    }

    /// An interned shape.
    pub fn shape_of(&self, id: ShapeId) -> &Shape {
        &self.shapes[id.index()]
    }

    /// The parameters' values, in order.
    pub fn params(&self) -> &[Value] {
        &self.params
    }

    /// The literal slots.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The child graphs of calls.
    pub fn children(&self) -> &[Arc<Graph<T>>] {
        self.children.all.all()
    }

    /// The output values, in order; a value may appear several times.
    pub fn outputs(&self) -> &[Value] {
        &self.outputs
    }

    /// Sets the output values.
    pub fn set_outputs(&mut self, outputs: Vec<Value>) {
        self.outputs = outputs;
    }

    /// Frees spare capacity and the table of equal nodes. Nodes added later are valid, but not shared with earlier ones.
    pub fn seal(&mut self) {
        self.nodes.shrink_to_fit();
        self.operands.shrink_to_fit();
        self.values.shrink_to_fit();
        self.origins.shrink_to_fit();
        self.known = NodeTable::default();
    }

    /// Sets the origins of the next nodes, in the traced graph.
    pub fn make_from(&mut self, nodes: &[NodeId]) {
        self.making = NodeOrigins::from_slice(nodes);
    }

    /// The origins of the next nodes, in the traced graph.
    pub fn making(&self) -> SmallVec<[NodeId; 2]> {
        self.making.clone()
    }

    /// The origins of a node in the traced graph, possibly repeated; empty if unknown.
    pub fn origins(&self, id: NodeId) -> &[NodeId] {
        match self.origins.get(id.index()) {
            None => &[],
            Some(&SEVERAL) => self.more_origins.get(&id).map_or(&[], |nodes| nodes),
            Some(one) => std::slice::from_ref(one),
        }
    }

    fn note_origins(&mut self, id: NodeId) {
        let new = &self.making[..];
        if new.is_empty() || self.origins(id).ends_with(new) {
            return;
        }
        if self.origins.len() <= id.index() {
            // The nodes between have no origins.
            self.origins.resize(id.index() + 1, SEVERAL);
            if let [one] = new {
                self.origins[id.index()] = *one;
                return;
            }
        }
        let first = std::mem::replace(&mut self.origins[id.index()], SEVERAL);
        let all = self.more_origins.entry(id).or_default();
        all.extend((first != SEVERAL).then_some(first));
        all.extend_from_slice(new);
    }

    /// Interns a shape.
    pub fn intern(&mut self, shape: &Shape) -> ShapeId {
        if let Some(&id) = self.shape_ids.get(shape) {
            return id;
        }
        let id = ShapeId::from_index(self.shapes.len());
        self.shapes.push(shape.clone());
        self.shape_ids.insert(shape.clone(), id);
        id
    }

    /// Interns a view.
    pub fn intern_view(&mut self, view: impl Into<Arc<View>>) -> ViewId {
        let view = view.into();
        if let Some(&id) = self.view_ids.get(&view) {
            return id;
        }
        let id = ViewId::from_index(self.views.len());
        self.views.push(Arc::clone(&view));
        self.view_ids.insert(view, id);
        id
    }

    /// The interned views.
    pub fn views(&self) -> &[Arc<View>] {
        &self.views
    }

    /// An interned view.
    pub fn view_of(&self, id: ViewId) -> &View {
        &self.views[id.index()]
    }

    /// The control flow of nodes.
    pub fn controls(&self) -> &[Arc<Control<T>>] {
        self.controls.all()
    }

    /// Adds control flow for nodes, or finds an identical one.
    pub fn control(&mut self, control: Arc<Control<T>>) -> u32 {
        self.nesting = self.nesting.max(control.nesting());
        Arc::make_mut(&mut self.controls).number(control)
    }

    /// The nesting depth of control flow in the graph and its callees.
    pub fn nesting(&self) -> usize {
        self.nesting
    }

    /// Adds a view of a value, or returns the value itself for an identity view.
    pub fn view(&mut self, operand: Value, view: impl Into<Arc<View>>, shape: &Shape) -> Value {
        let view = view.into();
        if view.is_identity(self.shape(operand), shape) {
            return operand;
        }
        let (ty, kind, shape) = (self.ty(operand), NodeKind::View(self.intern_view(view)), self.intern(shape));
        self.add(kind, &[operand], &[(ty, shape)])
    }

    /// Adds a reshape of a value, or a view where the reshape is one.
    pub fn reshape(&mut self, operand: Value, shape: &Shape) -> Value {
        if self.shape(operand) == shape {
            return operand;
        }
        if let Some(view) = crate::view::reshape(self.shape(operand), shape) {
            return self.view(operand, view, shape);
        }
        let (ty, shape) = (self.ty(operand), self.intern(shape));
        self.add(NodeKind::Reshape, &[operand], &[(ty, shape)])
    }

    /// Adds the next parameter, stored as [usual](Type::storage_dtype) for its type.
    pub fn param(&mut self, ty: T, shape: &Shape) -> Value {
        self.param_stored(ty, ty.storage_dtype(), shape)
    }

    /// Adds the next parameter, stored as `stored`.
    pub fn param_stored(&mut self, ty: T, stored: DType, shape: &Shape) -> Value {
        let shape = self.intern(shape);
        let value = self.add(NodeKind::Param(self.params.len() as u32, stored), &[], &[(ty, shape)]);
        self.params.push(value);
        value
    }

    /// Adds a literal slot and its node of type `ty`.
    pub fn literal(&mut self, slot: Slot, ty: T) -> Value {
        let id = self.slot(slot);
        self.slot_value(id, ty)
    }

    /// Adds a slot without a node.
    pub fn slot(&mut self, slot: Slot) -> SlotId {
        let id = SlotId::from_index(self.slots.len());
        Arc::make_mut(&mut self.slots).push(slot);
        id
    }

    /// The value of an existing literal slot as type `ty`.
    pub fn slot_value(&mut self, slot: SlotId, ty: T) -> Value {
        let shape = self.intern(&Shape::scalar());
        self.add(NodeKind::Literal(slot), &[], &[(ty, shape)])
    }

    /// Adds a child graph for calls, or finds an identical one.
    pub fn child(&mut self, child: Arc<Graph<T>>) -> u32 {
        self.nesting = self.nesting.max(child.nesting);
        self.children.number(child)
    }

    /// Adds a value as a new [variable](Identity::Variable).
    pub fn variable(&mut self, value: Value) -> Value {
        let (result, mut number) = ((self.ty(value), self.shape_id(value)), self.node_count() as u32);
        loop {
            let before = self.node_count();
            let variable = self.add(NodeKind::Identity(Identity::Variable(number)), &[value], &[result]);
            // A graph spliced into this one may have a variable of the same number.
            if self.node_count() > before {
                return variable;
            }
            number = number.wrapping_add(1);
        }
    }

    /// Adds a node, or finds an equal one; returns its first result.
    pub fn add(&mut self, kind: NodeKind<T>, operands: &[Value], results: &[(T, ShapeId)]) -> Value {
        let hash = || {
            let mut hasher = FxHasher::default();
            (kind, operands, results).hash(&mut hasher);
            hasher.finish() as u32
        };
        let same = |id: NodeId| {
            self.node(id).kind == kind
                && self.operands(id) == operands
                && self.node(id).results().map(|v| (self.ty(v), self.shape_id(v))).eq(results.iter().copied())
        };
        // Operands are verified later: a missing one has no users either.
        let latest = operands.iter().max().copied().filter(|latest| latest.index() < self.values.len());
        let place = match self.known.find(latest, same, hash) {
            Ok(id) => {
                self.note_origins(id);
                return self.node(id).first;
            }
            Err(place) => place,
        };
        self.count(kind);
        let id = NodeId::from_index(self.nodes.len());
        let first = Value::from_index(self.values.len());
        let start = self.operands.len() as u32;
        self.operands.extend_from_slice(operands);
        self.values.extend(results.iter().map(|&(ty, shape)| ValueData { ty, shape, node: id }));
        self.nodes.push(Node { kind, operands: (start, operands.len() as u32), first, results: results.len() as u32 });
        self.known.insert(id, place);
        self.note_origins(id);
        first
    }
}

impl Graph<ValueType> {
    /// The storage dtype of a parameter.
    pub fn param_dtype(&self, param: usize) -> Option<DType> {
        match self.node(self.producer(*self.params.get(param)?)).kind {
            NodeKind::Param(_, stored) => Some(stored),
            _ => None,
        }
    }

    /// The dtype in which a value is computed and stored: a strong type's own; for weak types the op's computing dtype, the parameter's
    /// storage dtype, or for a literal the default of `policy`.
    pub fn storage_dtype(&self, value: Value, policy: Policy) -> DType {
        let (mut graph, mut value) = (self, value);
        loop {
            let ty = graph.ty(value);
            let node = graph.node(graph.producer(value));
            return match (ty, node.kind) {
                (ValueType::Strong(dtype), _) => dtype,
                (_, NodeKind::Param(_, stored)) => stored,
                (_, NodeKind::Control(n)) => graph.controls()[n as usize].storage_dtype(node.result(value), policy),
                (_, NodeKind::Call(child)) => {
                    // Parameters of children have the storage dtypes of their operands.
                    let result = node.result(value);
                    graph = &graph.children()[child as usize];
                    value = graph.outputs[result];
                    continue;
                }
                (_, kind) if kind.row().ty == TypeOf::Operand => {
                    value = graph.operands(graph.producer(value))[0];
                    continue;
                }
                (_, kind) => kind.policy().unwrap_or(policy).commit(ty),
            };
        }
    }
}

impl Graph<DType> {
    /// The computing dtype of an op node: the promoted operands', in a graph with explicit casts.
    pub fn compute_dtype(&self, id: NodeId, op: Op) -> DType {
        self.ty(self.operands(id)[op.joined().start])
    }
}
