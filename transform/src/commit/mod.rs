//! Commit: resolves every dtype and makes every cast explicit.
//!
//! A weak literal takes the dtype of each use, rounded once from its exact value. Any other weak value computes in the
//! default dtype of its kind and is cast at each use. Reductions become elementary ones (`reduction`), and graphs of
//! control flow are committed too. No decision depends on a value; an integer literal that does not fit is an error.

mod reduction;

use crate::conversions::{Conversions, Reason};
use ndjit_ir::graph::{
    Control, ControlKind, Graph, Inner, MISSING, NodeId, NodeKind, Rewriter, Slot, SlotId, SourceLocs, Type, Value,
};
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::promotion::{FloorDivision, Policy, Types};
use ndjit_ir::support::CastReason;
use ndjit_ir::view::scattered;
use ndjit_ir::view::{AxisIndex, View};
use ndjit_ir::{DType, Error, ErrorCode, Kind, Op, Result, Shape, ValueType};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The committed form of a traced value.
#[derive(Clone, Copy)]
enum Committed {
    /// A value of the typed graph.
    Value(Value),
    /// A weak literal, without a dtype yet.
    Literal(SlotId),
}

/// A graph after commit.
#[derive(Clone, Debug)]
pub struct TypedGraph {
    /// The traced graph.
    pub traced: Arc<Graph<ValueType>>,
    /// The places of its nodes.
    pub places: Arc<SourceLocs>,
    /// The typed graph.
    pub graph: Arc<Graph<DType>>,
    /// The reasons of its casts and weak literals.
    pub conversions: Conversions,
    /// The graphs of each control flow; shared graphs stay shared.
    pub bodies: Vec<Vec<Arc<TypedGraph>>>,
}

/// Committed graphs of control flow, by address and the dtypes of their results.
type ResolvedGraphs = FxHashMap<(*const Graph<ValueType>, Vec<DType>), Arc<TypedGraph>>;

/// Resolves the dtypes of a graph without calls. `policy` determines the dtype of a weak literal that is a result.
///
/// # Errors
/// `Literal` if an integer literal does not fit the dtype of a use, with the place of the use; `Verify` if the graph
/// has calls.
pub fn commit(graph: Arc<Graph<ValueType>>, places: Arc<SourceLocs>, policy: Policy) -> Result<TypedGraph> {
    commit_as((graph, places), policy, None, &mut ResolvedGraphs::default())
}

/// Commits a graph like [`commit`], with results of these dtypes.
fn commit_as(
    (graph, places): (Arc<Graph<ValueType>>, Arc<SourceLocs>),
    policy: Policy,
    stored: Option<&[DType]>,
    bodies: &mut ResolvedGraphs,
) -> Result<TypedGraph> {
    let own = || graph.outputs().iter().map(|&output| graph.storage_dtype(output, policy)).collect();
    let stored: Vec<DType> = stored.map_or_else(own, <[DType]>::to_vec);
    let (mut out, mut notes) = (Graph::with_slots(&graph), ());
    let mut commit = Commit {
        graph: &graph,
        places: &places,
        policy,
        rewriter: Rewriter::mapping((&graph, &()), (&mut out, &mut notes), Committed::Value(MISSING)),
        reasons: Vec::new(),
        numbers: FxHashMap::default(),
    };
    let mut inner = Vec::with_capacity(graph.controls().len());
    for n in 0..graph.controls().len() as u32 {
        inner.push(commit.control(n, bodies)?);
    }
    for id in graph.node_ids() {
        commit.rewriter.begin(id);
        commit.node(id).map_err(|e| e.at(places.first(id)))?;
    }
    let mut outputs = Vec::with_capacity(graph.outputs().len());
    for (i, (&output, &dtype)) in graph.outputs().iter().zip(&stored).enumerate() {
        commit.rewriter.begin(graph.producer(output));
        outputs.push(commit.coerce(output, dtype, Reason::Result(i as u32))?);
    }
    let reasons = commit.reasons;
    out.set_outputs(outputs);
    out.seal();
    Ok(TypedGraph {
        graph: Arc::new(out),
        conversions: Conversions::new(reasons),
        bodies: inner,
        traced: graph,
        places,
    })
}

struct Commit<'a> {
    graph: &'a Graph<ValueType>,
    places: &'a SourceLocs,
    /// The policy for default dtypes of unresolved weak literals.
    policy: Policy,
    rewriter: Rewriter<'a, ValueType, (), DType, Committed>,
    reasons: Vec<(NodeId, Reason)>,
    /// The literals for numbers of elements, which reductions use.
    numbers: FxHashMap<(usize, DType), SlotId>,
}

impl Commit<'_> {
    /// Commits a node.
    fn node(&mut self, id: NodeId) -> Result<()> {
        if let NodeKind::Control(n) = self.graph.node(id).kind {
            return self.controlled(id, n);
        }
        let value = self.value(id)?;
        self.rewriter.put(self.graph.node(id).first(), value);
        Ok(())
    }

    /// The value of a node of one result.
    fn value(&mut self, id: NodeId) -> Result<Committed> {
        let graph = self.graph;
        let node = graph.node(id);
        let (ty, shape) = (graph.ty(node.first()), graph.shape(node.first()));
        let value = match node.kind {
            NodeKind::Param(_, stored) => self.rewriter.new.param(stored, shape),
            NodeKind::Literal(slot) => match ty {
                ValueType::Weak(_) => return Ok(Committed::Literal(slot)),
                ValueType::Strong(dtype) => self.literal(slot, dtype)?,
            },
            NodeKind::Op(op, policy) => {
                let compute = policy.commit(self.types(id, &Operation::op(op, policy))?.compute);
                match (op, policy.rules().floor) {
                    (Op::FloorDivide, FloorDivision::Quotient) if compute.is_float() => {
                        self.floor_quotient(id, compute, shape)?
                    }
                    _ => self.op(id, op, compute, shape)?,
                }
            }
            NodeKind::Cast(reason) => {
                let (operand, dtype) = (graph.operands(id)[0], ty.storage_dtype());
                match reason {
                    // A casting mode inserted this cast for the op: an integer literal must fit its dtype, as without
                    // the mode.
                    CastReason::Mode(_) if dtype.is_int() && self.is_integer_literal(operand) => {
                        self.coerce(operand, dtype, Reason::Cast(id))?
                    }
                    CastReason::Promotion => self.coerce(operand, dtype, Reason::Cast(id))?,
                    CastReason::Explicit | CastReason::Mode(_) => self.cast(operand, dtype, Reason::Cast(id))?,
                }
            }
            NodeKind::Identity(_) => return Ok(*self.rewriter.of(graph.operands(id)[0])),
            NodeKind::Reduce(reduce) => self.reduce(id, reduce)?,
            NodeKind::Scan(scan, axis, request) => self.scan(id, scan, axis, request)?,
            NodeKind::Sort(sort, axis, request) => self.sort(id, sort, axis, request)?,
            NodeKind::Iota(axes) => {
                let shape = self.rewriter.new.intern(shape);
                self.rewriter.new.add(NodeKind::Iota(axes), &[], &[(DType::I64, shape)])
            }
            NodeKind::View(view) => {
                let operand = self.stored(graph.operands(id)[0], id)?;
                self.rewriter.new.view(operand, graph.view_of(view).clone(), shape)
            }
            NodeKind::Slice(view) => {
                let operand = self.stored(graph.operands(id)[0], id)?;
                let mut operands: SmallVec<[Value; 3]> = smallvec![operand];
                for (n, &start) in graph.operands(id)[1..].iter().enumerate() {
                    operands.push(self.coerce(start, DType::I64, Reason::Operand(id, 1 + n as u32))?);
                }
                let new = &mut *self.rewriter.new;
                let (view, result) =
                    (new.intern_view(graph.view_of(view).clone()), (new.ty(operand), new.intern(shape)));
                new.add(NodeKind::Slice(view), &operands, &[result])
            }
            NodeKind::Reshape => {
                let operand = self.stored(graph.operands(id)[0], id)?;
                self.rewriter.new.reshape(operand, shape)
            }
            NodeKind::Gather => {
                let [operand, index] = [0, 1].map(|n| graph.operands(id)[n]);
                let operand = self.stored(operand, id)?;
                let index = self.coerce(index, DType::I64, Reason::Operand(id, 1))?;
                let result = (self.rewriter.new.ty(operand), self.rewriter.new.intern(shape));
                self.rewriter.new.add(NodeKind::Gather, &[operand, index], &[result])
            }
            NodeKind::Scatter(scatter) => {
                let [operand, index, updates] = [0, 1, 2].map(|n| graph.operands(id)[n]);
                let operand = self.stored(operand, id)?;
                let space = scattered(graph.shape(graph.operands(id)[0]), graph.shape(index)).unwrap_or_default();
                // There are no elements to insert, or no place for them.
                if space.extents().contains(&0) || shape.extents().contains(&0) {
                    return Ok(Committed::Value(operand));
                }
                let dtype = self.rewriter.new.ty(operand);
                let index = self.coerce(index, DType::I64, Reason::Operand(id, 1))?;
                let updates = self.coerce(updates, dtype, Reason::Operand(id, 2))?;
                let result = (dtype, self.rewriter.new.intern(shape));
                self.rewriter.new.add(NodeKind::Scatter(scatter), &[operand, index, updates], &[result])
            }
            NodeKind::Insert(view) => {
                let &[x, updates, ref starts @ ..] = graph.operands(id) else {
                    return Err(Error::new(ErrorCode::Verify, "commit: an insertion without operands"));
                };
                let operand = self.stored(x, id)?;
                let put = graph.shape(updates);
                if put.extents().contains(&0) {
                    return Ok(Committed::Value(operand));
                }
                let dtype = self.rewriter.new.ty(operand);
                let updates = self.coerce(updates, dtype, Reason::Operand(id, 1))?;
                let view = graph.view_of(view);
                // Each element is inserted once: if all elements are, they are the result in another order.
                if starts.is_empty() && put == shape && *view == View::identity(view.rank).canonical(shape) {
                    return Ok(Committed::Value(updates));
                }
                let (view, shape) = (self.rewriter.new.intern_view(view.clone()), self.rewriter.new.intern(shape));
                let mut operands: SmallVec<[Value; 4]> = smallvec![operand, updates];
                for (n, &start) in starts.iter().enumerate() {
                    operands.push(self.coerce(start, DType::I64, Reason::Operand(id, 2 + n as u32))?);
                }
                self.rewriter.new.add(NodeKind::Insert(view), &operands, &[(dtype, shape)])
            }
            NodeKind::Concat(axis, policy) => {
                let dtype = policy.commit(self.types(id, &Operation::concat(axis, policy))?.compute);
                let operands = graph.operands(id).iter().enumerate();
                let operands: Vec<Value> = operands
                    .map(|(i, &operand)| self.coerce(operand, dtype, Reason::Operand(id, i as u32)))
                    .collect::<Result<_>>()?;
                self.concat(axis, operands, shape)
            }
            NodeKind::Call(_) | NodeKind::Control(_) => {
                return Err(Error::new(ErrorCode::Verify, "commit: the graph has calls; inline runs before"));
            }
        };
        Ok(Committed::Value(value))
    }

    /// Commits the graphs of control flow, which has the same number in the typed graph. Its depth is bounded by the
    /// verifier.
    fn control(&mut self, n: u32, bodies: &mut ResolvedGraphs) -> Result<Vec<Arc<TypedGraph>>> {
        let control = &self.graph.controls()[n as usize];
        let Control { kind, graphs } = &**control;
        let mut inner = |which: usize, stored: Option<&[DType]>| {
            let graph = &graphs[which].graph;
            let key = (Arc::as_ptr(graph), stored.map_or_else(Vec::new, <[DType]>::to_vec));
            if let Some(known) = bodies.get(&key) {
                return Ok(Arc::clone(known));
            }
            let shared = (Arc::clone(graph), self.places.control(n, which));
            let typed = Arc::new(commit_as(shared, self.policy, stored, bodies)?);
            bodies.insert(key, Arc::clone(&typed));
            Ok::<_, Error>(typed)
        };
        // Weak values may have other storage in a graph: the state has the loop's, results the first branch's.
        let results: Vec<DType> =
            (0..control.results()).map(|result| control.storage_dtype(result, self.policy)).collect();
        let typed = (0..graphs.len()).map(|which| {
            let condition = *kind == ControlKind::While && which == 0;
            inner(which, (!condition).then_some(&results[..]))
        });
        let typed = typed.collect::<Result<Vec<_>>>()?;
        let graph = |(typed, Inner { operands, .. }): (&Arc<TypedGraph>, &Inner<ValueType>)| Inner {
            graph: Arc::clone(&typed.graph),
            operands: operands.clone(),
        };
        let graphs = typed.iter().zip(graphs).map(graph).collect();
        self.rewriter.new.control(Arc::new(Control { kind: *kind, graphs }));
        Ok(typed)
    }

    /// Adds control flow, with operands in its graphs' dtypes.
    fn controlled(&mut self, id: NodeId, n: u32) -> Result<()> {
        let graph = self.graph;
        let given = graph.operands(id);
        let taken = graph.controls()[n as usize].operand_dtypes(given.len(), self.policy);
        let mut operands = Vec::with_capacity(given.len());
        for (i, (&operand, taken)) in given.iter().zip(taken).enumerate() {
            let dtype = taken.unwrap_or_else(|| graph.storage_dtype(operand, self.policy));
            operands.push(self.coerce(operand, dtype, Reason::Operand(id, i as u32))?);
        }
        let new = &mut *self.rewriter.new;
        let results = graph.node(id).results();
        let results: SmallVec<[_; 1]> =
            results.map(|value| (graph.storage_dtype(value, self.policy), new.intern(graph.shape(value)))).collect();
        let first = new.add(NodeKind::Control(n), &operands, &results);
        let made = new.node(new.producer(first)).results();
        for (result, value) in graph.node(id).results().zip(made) {
            self.rewriter.put(result, Committed::Value(value));
        }
        Ok(())
    }

    /// Joins values of one dtype, without empty ones.
    fn concat(&mut self, axis: u32, mut operands: Vec<Value>, shape: &Shape) -> Value {
        if shape.extents().contains(&0) {
            let axes = (0..shape.rank()).map(|_| AxisIndex::default()).collect();
            return self.rewriter.new.view(operands[0], View { rank: shape.rank(), axes }, shape);
        }
        operands.retain(|&operand| self.rewriter.new.shape(operand).extents()[axis as usize] > 0);
        if let [operand] = operands[..] {
            return operand;
        }
        let (dtype, shape) = (self.rewriter.new.ty(operands[0]), self.rewriter.new.intern(shape));
        self.rewriter.new.add(NodeKind::Concat(axis, ()), &operands, &[(dtype, shape)])
    }

    /// Infers the types of a node.
    fn types(&self, id: NodeId, operation: &Operation<'_>) -> Result<Types<ValueType>> {
        let operands = self.graph.operands(id).iter().map(|&operand| self.graph.ty(operand));
        let types = operation.types(&operands.collect::<SmallVec<[ValueType; 4]>>());
        types.map_err(|mismatch| mismatch.error())
    }

    fn op(&mut self, id: NodeId, op: Op, compute: DType, shape: &Shape) -> Result<Value> {
        let operands = self.graph.operands(id);
        let mut values: SmallVec<[Value; 3]> = SmallVec::new();
        for (i, &operand) in operands.iter().enumerate() {
            let dtype = op.operand_dtype(i, compute);
            values.push(self.coerce(operand, dtype, Reason::Operand(id, i as u32)).map_err(|e| {
                let names: Vec<&str> = operands.iter().map(|&operand| self.graph.ty(operand).name()).collect();
                e.fact(format_args!("in {op} of {}, computed in {compute}", names.join(" and ")))
            })?);
        }
        let shape = self.rewriter.new.intern(shape);
        Ok(self.rewriter.new.add(NodeKind::Op(op, ()), &values, &[(op.result_dtype(compute), shape)]))
    }

    /// Floor division of floats that is `floor(x / y)` where an operand is infinite.
    fn floor_quotient(&mut self, id: NodeId, compute: DType, shape: &Shape) -> Result<Value> {
        let paired = self.op(id, Op::FloorDivide, compute, shape)?;
        let new = &mut *self.rewriter.new;
        let &[x, y] = new.operands(new.producer(paired)) else {
            return Err(Error::new(ErrorCode::Verify, "commit: a division without two operands"));
        };
        let shape = new.intern(shape);
        let quotient = new.add(NodeKind::Op(Op::Divide, ()), &[x, y], &[(compute, shape)]);
        let floor = new.add(NodeKind::Op(Op::Floor, ()), &[quotient], &[(compute, shape)]);
        let [x, y] = [x, y].map(|operand| {
            let own = new.intern(&new.shape(operand).clone());
            new.add(NodeKind::Op(Op::IsInf, ()), &[operand], &[(DType::Bool, own)])
        });
        let infinite = new.add(NodeKind::Op(Op::LogicalOr, ()), &[x, y], &[(DType::Bool, shape)]);
        Ok(new.add(NodeKind::Op(Op::Where, ()), &[infinite, floor, paired], &[(compute, shape)]))
    }

    /// Casts a traced value to the dtype of a use.
    fn coerce(&mut self, value: Value, dtype: DType, reason: Reason) -> Result<Value> {
        match *self.rewriter.of(value) {
            Committed::Value(value) => Ok(self.convert(value, dtype, reason)),
            // Bools are computed from numbers, as for arrays, not rounded.
            Committed::Literal(_) if dtype == DType::Bool => self.cast(value, dtype, reason),
            Committed::Literal(slot) => self.weak_literal(value, slot, dtype, reason),
        }
    }

    /// Casts a traced value to its storage dtype, for a node that moves its elements.
    fn stored(&mut self, value: Value, user: NodeId) -> Result<Value> {
        let dtype = self.graph.storage_dtype(value, self.policy);
        self.coerce(value, dtype, Reason::Operand(user, 0))
    }

    /// Casts a traced value explicitly.
    fn cast(&mut self, value: Value, dtype: DType, reason: Reason) -> Result<Value> {
        match *self.rewriter.of(value) {
            Committed::Value(value) => Ok(self.convert(value, dtype, reason)),
            Committed::Literal(slot) => {
                let kind = self.graph.slots()[slot.index()].ty().kind();
                if dtype.is_complex() || dtype.is_float() && kind != Kind::Complex {
                    return self.weak_literal(value, slot, dtype, reason);
                }
                // An explicit cast to a lower kind casts the exact value as a cast of an array would: from the widest
                // dtype of its kind.
                let widest = match kind {
                    Kind::Bool => DType::Bool,
                    // Of the known literals only larger ones do not fit i64.
                    Kind::UInt | Kind::Int if self.exceeds_i64(slot) => DType::U64,
                    Kind::UInt | Kind::Int => DType::I64,
                    Kind::Float => DType::F64,
                    Kind::Complex => DType::C128,
                };
                let wide = self.weak_literal(value, slot, widest, reason)?;
                Ok(self.convert(wide, dtype, reason))
            }
        }
    }

    fn is_integer_literal(&self, value: Value) -> bool {
        match *self.rewriter.of(value) {
            Committed::Literal(slot) => self.graph.slots()[slot.index()].ty().kind() == Kind::Int,
            Committed::Value(_) => false,
        }
    }

    fn exceeds_i64(&self, slot: SlotId) -> bool {
        match &self.graph.slots()[slot.index()] {
            Slot::Value(literal) => literal.to_repr(DType::I64).is_err() && literal.to_repr(DType::U64).is_ok(),
            Slot::Argument { .. } => false,
        }
    }

    /// Casts a value of the typed graph.
    fn convert(&mut self, value: Value, dtype: DType, reason: Reason) -> Value {
        if self.rewriter.new.ty(value) == dtype {
            return value;
        }
        let shape = self.rewriter.new.shape_id(value);
        let cast = self.rewriter.new.add(NodeKind::Cast(()), &[value], &[(dtype, shape)]);
        self.reasons.push((self.rewriter.new.producer(cast), reason));
        cast
    }

    /// Adds a traced literal as `dtype`, for the node being committed.
    fn weak_literal(&mut self, value: Value, slot: SlotId, dtype: DType, reason: Reason) -> Result<Value> {
        let user = self.rewriter.new.making();
        self.rewriter.new.make_from(&[self.graph.producer(value)]);
        let literal = self.literal(slot, dtype)?;
        self.rewriter.new.make_from(&user);
        self.reasons.push((self.rewriter.new.producer(literal), reason));
        Ok(literal)
    }

    /// Adds the literal of a slot as `dtype`. Checks that a known value fits.
    fn literal(&mut self, slot: SlotId, dtype: DType) -> Result<Value> {
        if let Slot::Value(literal) = &self.graph.slots()[slot.index()] {
            Literal::to_repr(literal, dtype)?;
        }
        Ok(self.rewriter.new.slot_value(slot, dtype))
    }
}
