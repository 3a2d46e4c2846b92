//! Shrinking of failing graphs: removal, replacement and reduction of parts while the graph still fails.
//!
//! Each step tries one change: remove outputs; replace a value by another, by a parameter or by a literal, so that its
//! dependencies are dead; reduce extents; simplify dtypes. Changes that the verifier refuses are skipped. The first
//! smaller graph that still fails is taken, until there is none. Graphs of control flow are unchanged, and the integer
//! operands of a loop keep their computation or become 1: a loop that counts to three must not count to a billion.
//!
//! It is in the library, not among the tools of the tests, because `ndjit::debug::shrink` is public: users shrink programs that fail.

use ndjit_ir::dtype::DType;
use ndjit_ir::graph::{ControlKind, Graph, NodeId, NodeKind, Rewriter, Slot, Type, Value};
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::{Literal, LiteralValue};
use ndjit_ir::reduction::{Reduce, TypeRequest};
use ndjit_ir::shape::Shape;
use ndjit_ir::value_type::{ValueType, Weak};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::sync::Arc;

/// Dtypes, the simplest first; all others are equal.
const SIMPLE: [DType; 2] = [DType::F32, DType::I32];

/// The parts of a graph that must stay.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Parameters, slots and children, for the same arguments.
    Interface,
    Nothing,
}

/// A candidate change.
struct Change {
    outputs: Vec<Value>,
    instead: Instead,
    /// An extent, its replacement, and whether its multiples are scaled too, for joins and reshapes.
    extent: Option<(usize, usize, bool)>,
    /// A dtype and its replacement.
    dtype: Option<(DType, DType)>,
}

/// The replacement of a value.
#[derive(Clone, Copy)]
enum Instead {
    Nothing,
    /// By another value.
    Value(Value, Value),
    /// By a parameter.
    Param(Value),
    /// By the literal 1.
    One(Value),
}

/// Returns the smallest graph found for which `fails` still returns true; it must return true for the given graph.
/// Calls stay calls. `fails` is called a few times per node and step.
pub fn shrink(graph: &Graph<ValueType>, fails: impl FnMut(&Graph<ValueType>) -> bool) -> Graph<ValueType> {
    shrunk(graph, Keep::Nothing, fails)
}

/// Shrinks a graph like [`shrink`]. Parameters, slots and children stay, for the same arguments.
pub fn shrink_inside(graph: &Graph<ValueType>, fails: impl FnMut(&Graph<ValueType>) -> bool) -> Graph<ValueType> {
    shrunk(graph, Keep::Interface, fails)
}

fn shrunk(graph: &Graph<ValueType>, keep: Keep, mut fails: impl FnMut(&Graph<ValueType>) -> bool) -> Graph<ValueType> {
    let mut best = graph.clone();
    loop {
        let smaller = candidates(&best, keep)
            .into_iter()
            .map(|change| rebuild(&best, &change, keep))
            .find(|candidate| size(candidate) < size(&best) && candidate.verify().is_ok() && fails(candidate));
        match smaller {
            Some(graph) => best = graph,
            None => return best,
        }
    }
}

/// Returns the numbers of nodes, of outputs, of elements, and of values whose dtypes are not simple, compared in this
/// order.
fn size(graph: &Graph<ValueType>) -> (usize, usize, usize, usize) {
    let values = || (0..graph.value_count()).map(Value::from_index);
    let elements =
        values().fold(0usize, |all, value| all.saturating_add(graph.shape(value).size().unwrap_or(usize::MAX)));
    let dtypes = values().map(|value| graph.ty(value).storage_dtype());
    let rank = |dtype: DType| SIMPLE.iter().position(|&simple| simple == dtype).unwrap_or(SIMPLE.len());
    (graph.node_count(), graph.outputs().len(), elements, dtypes.map(rank).sum())
}

fn candidates(graph: &Graph<ValueType>, keep: Keep) -> Vec<Change> {
    let outputs = graph.outputs();
    let plain = |outputs: Vec<Value>| Change { outputs, instead: Instead::Nothing, extent: None, dtype: None };
    let replaced = |instead: Instead| Change { instead, ..plain(outputs.to_vec()) };
    // Dead nodes first; then a single output; an output's operand in its place; a value replaced by an operand of its
    // type.
    let mut all = vec![plain(outputs.to_vec())];
    if outputs.len() > 1 {
        all.extend(outputs.iter().map(|&output| plain(vec![output])));
    }
    for &output in outputs {
        all.extend(graph.operands(graph.producer(output)).iter().map(|&operand| plain(vec![operand])));
    }
    let counts = counts(graph);
    let results = graph.node_ids().flat_map(|id| graph.node(id).results().map(move |value| (id, value)));
    for (id, value) in results.filter(|(_, value)| !counts.contains(value)) {
        let like = |&&operand: &&Value| {
            graph.ty(operand) == graph.ty(value) && graph.shape_id(operand) == graph.shape_id(value)
        };
        let same = graph.operands(id).iter().filter(like);
        all.extend(same.map(|&operand| replaced(Instead::Value(value, operand))));
    }
    if keep == Keep::Interface {
        return all;
    }
    // From the last: replacing it removes most.
    for id in graph.node_ids().rev() {
        let node = graph.node(id);
        match node.kind {
            NodeKind::Param(..) => all.push(replaced(Instead::One(node.first()))),
            NodeKind::Literal(_) => {}
            _ => {
                let cut = node.results().flat_map(|value| [Instead::One(value), Instead::Param(value)]);
                let ends = |cut: &Instead| !matches!(cut, Instead::Param(value) if counts.contains(value));
                all.extend(cut.filter(ends).map(replaced));
            }
        }
    }
    let values = (0..graph.value_count()).map(Value::from_index);
    let extents: FxHashSet<usize> = values.flat_map(|value| graph.shape(value).extents().iter().copied()).collect();
    let mut extents: Vec<usize> = extents.into_iter().filter(|&extent| extent > 1).collect();
    extents.sort_unstable();
    for extent in extents.into_iter().rev() {
        let smaller = [1, 2, 3, extent / 2, extent - 1].into_iter().filter(|&to| to < extent && to > 0);
        let both = smaller.flat_map(|to| [(extent, to, true), (extent, to, false)]);
        all.extend(both.map(|extent| Change { extent: Some(extent), ..plain(outputs.to_vec()) }));
    }
    for from in DType::ALL {
        let rank = SIMPLE.iter().position(|&simple| simple == from).unwrap_or(SIMPLE.len());
        let simpler = SIMPLE.iter().take(rank);
        all.extend(simpler.map(|&to| Change { dtype: Some((from, to)), ..plain(outputs.to_vec()) }));
    }
    all
}

/// Returns the integers that determine the steps of loops, and their dependencies.
fn counts(graph: &Graph<ValueType>) -> FxHashSet<Value> {
    let is_count = |&&value: &&Value| graph.shape(value).rank() == 0 && graph.ty(value).storage_dtype().is_int();
    let mut counts = FxHashSet::default();
    for id in graph.node_ids().rev() {
        let loops = match graph.node(id).kind {
            NodeKind::Control(n) => {
                matches!(graph.controls()[n as usize].kind, ControlKind::While | ControlKind::For(_))
            }
            _ => graph.node(id).results().any(|value| counts.contains(&value)),
        };
        if loops {
            counts.extend(graph.operands(id).iter().filter(is_count));
        }
    }
    counts
}

/// Applies a change, and removes dead nodes.
fn rebuild(graph: &Graph<ValueType>, change: &Change, keep: Keep) -> Graph<ValueType> {
    let mut out = Graph::new();
    if keep == Keep::Interface {
        out = Graph::with_slots(graph);
        for child in graph.children() {
            out.child(Arc::clone(child));
        }
    }
    let mut notes = ();
    let mut copy = Copy { rewriter: Rewriter::mapping((graph, &()), (&mut out, &mut notes), None), change, keep };
    let needed = copy.needed();
    // Parameters are the first nodes.
    for &param in graph.params() {
        if keep == Keep::Interface || needed.contains(&graph.producer(param)) {
            copy.param(param);
        }
    }
    if let Instead::Param(value) = change.instead
        && needed.contains(&graph.producer(value))
    {
        let (ty, shape) = (copy.ty(graph.ty(value)), copy.shape(graph.shape(value)));
        let param = copy.rewriter.new.param(ty, &shape);
        copy.rewriter.put(value, Some(param));
    }
    for id in graph.node_ids().filter(|id| needed.contains(id)) {
        copy.node(id);
    }
    let outputs = change.outputs.iter().filter_map(|&output| *copy.rewriter.of(copy.read(output))).collect();
    out.set_outputs(outputs);
    out
}

struct Copy<'a> {
    rewriter: Rewriter<'a, ValueType, (), ValueType, Option<Value>>,
    change: &'a Change,
    keep: Keep,
}

impl Copy<'_> {
    /// Returns the value to read in place of another.
    fn read(&self, value: Value) -> Value {
        match self.change.instead {
            Instead::Value(from, to) if from == value => to,
            _ => value,
        }
    }

    /// Returns `true` if a value is no longer computed.
    fn is_cut(&self, value: Value) -> bool {
        matches!(self.change.instead, Instead::Param(cut) | Instead::One(cut) if cut == value)
    }

    fn needed(&self) -> FxHashSet<NodeId> {
        let mut needed = FxHashSet::default();
        let mut stack: Vec<Value> = self.change.outputs.iter().map(|&output| self.read(output)).collect();
        while let Some(value) = stack.pop() {
            let id = self.rewriter.old.producer(value);
            if needed.insert(id) && !self.is_cut(value) {
                stack.extend(self.rewriter.old.operands(id).iter().map(|&operand| self.read(operand)));
            }
        }
        needed
    }

    fn dtype(&self, dtype: DType) -> DType {
        match self.change.dtype {
            Some((from, to)) if from == dtype => to,
            _ => dtype,
        }
    }

    fn ty(&self, ty: ValueType) -> ValueType {
        match ty {
            ValueType::Strong(dtype) => ValueType::Strong(self.dtype(dtype)),
            ValueType::Weak(_) => ty,
        }
    }

    fn shape(&self, shape: &Shape) -> Shape {
        let Some((from, to, multiples)) = self.change.extent else { return shape.clone() };
        let smaller = |&extent: &usize| match extent {
            _ if extent == from => to,
            _ if multiples && extent % from == 0 => extent / from * to,
            _ => extent,
        };
        let extents: Vec<usize> = shape.extents().iter().map(smaller).collect();
        Shape::new(&extents)
    }

    fn param(&mut self, param: Value) {
        if self.is_cut(param) {
            return;
        }
        let NodeKind::Param(_, stored) = self.rewriter.old.node(self.rewriter.old.producer(param)).kind else { return };
        let (ty, shape) = (self.ty(self.rewriter.old.ty(param)), self.shape(self.rewriter.old.shape(param)));
        let stored = if ty.is_weak() { stored } else { self.dtype(stored) };
        let value = self.rewriter.new.param_stored(ty, stored, &shape);
        self.rewriter.put(param, Some(value));
    }

    fn node(&mut self, id: NodeId) {
        let (graph, node) = (self.rewriter.old, self.rewriter.old.node(id));
        let cut = node.results().find(|&value| self.is_cut(value));
        if let Some(value) = cut {
            if let Instead::One(_) = self.change.instead
                && let Some(one) = one(self.ty(graph.ty(value)))
            {
                let number = self.rewriter.new.literal(Slot::Value(one), one.ty());
                self.rewriter.put(value, Some(number));
            }
            // Other results of a node stay.
            if node.result_count() == 1 {
                return;
            }
        }
        let operands: Vec<Value> = graph.operands(id).iter().map(|&operand| self.read(operand)).collect();
        // An operand that failed removes its users; the verifier checks the rest.
        let known: Option<Vec<Value>> = operands.iter().map(|&operand| *self.rewriter.of(operand)).collect();
        let Some(operands) = known else { return };
        let kind = match node.kind {
            NodeKind::Param(..) => return,
            NodeKind::Literal(slot) if self.keep == Keep::Nothing => {
                let Some(slot) = graph.slots().get(slot.index()) else { return };
                let slot = match slot {
                    Slot::Value(literal) => {
                        let converted = match self.ty(literal.ty()) {
                            ValueType::Strong(dtype) => Literal::strong(literal.value(), dtype).ok(),
                            ValueType::Weak(_) => None,
                        };
                        Slot::Value(converted.unwrap_or(*literal))
                    }
                    Slot::Argument { .. } => slot.clone(),
                };
                let value = self.rewriter.new.literal(slot, self.ty(graph.ty(node.first())));
                self.rewriter.put(node.first(), Some(value));
                return;
            }
            kind => match graph.operation(id) {
                Ok(Some(operation)) => return self.operation(node.first(), self.changed(operation), &operands),
                _ => graph.kind_in(kind, self.rewriter.new),
            },
        };
        let mut results = Vec::new();
        for value in node.results() {
            let shape = self.shape(graph.shape(value));
            results.push((self.ty(graph.ty(value)), self.rewriter.new.intern(&shape)));
        }
        let first = self.rewriter.new.add(kind, &operands, &results);
        for (n, value) in node.results().enumerate().filter(|(_, value)| Some(*value) != cut) {
            self.rewriter.put(value, Some(Value::from_index(first.index() + n)));
        }
    }

    /// Applies the change to an operation. Its result is inferred from its operands, except for attributes.
    fn changed<'g>(&self, operation: Operation<'g>) -> Operation<'g> {
        let request = |asked: TypeRequest| TypeRequest { dtype: asked.dtype.map(|dtype| self.dtype(dtype)), ..asked };
        let kind = match operation.kind {
            NodeKind::Reduce(reduce) => NodeKind::Reduce(Reduce { request: request(reduce.request), ..reduce }),
            NodeKind::Scan(scan, axis, asked) => NodeKind::Scan(scan, axis, request(asked)),
            NodeKind::Sort(sort, axis, asked) => NodeKind::Sort(sort, axis, request(asked)),
            other => other,
        };
        let shape = operation.shape.map(|shape| Cow::Owned(self.shape(&shape)));
        Operation { kind, ty: operation.ty.map(|ty| self.ty(ty)), shape }
    }

    /// Adds an operation on new operands, if it is supported.
    fn operation(&mut self, old: Value, operation: Operation<'_>, operands: &[Value]) {
        let known: Vec<(ValueType, &Shape)> =
            operands.iter().map(|&value| (self.rewriter.new.ty(value), self.rewriter.new.shape(value))).collect();
        let Ok((ty, shape)) = operation.infer(&known) else { return };
        let shape = shape.into_owned();
        let (kind, shape) = (operation.kind_in(self.rewriter.new), self.rewriter.new.intern(&shape));
        let new = self.rewriter.new.add(kind, operands, &[(ty, shape)]);
        self.rewriter.put(old, Some(new));
    }
}

/// Returns the literal 1 of a type.
fn one(ty: ValueType) -> Option<Literal> {
    match ty {
        ValueType::Weak(Weak::Int) => Some(Literal::weak(LiteralValue::Int(1))),
        ValueType::Weak(Weak::Float) => Some(Literal::weak(LiteralValue::Float(1.0))),
        ValueType::Weak(Weak::Complex) => Some(Literal::weak(LiteralValue::Complex(1.0, 0.0))),
        ValueType::Strong(dtype) => Literal::strong(1, dtype).ok(),
    }
}
