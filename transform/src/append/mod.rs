//! Nodes that transformations append to a traced graph. Dtypes are strong and casts explicit, under the default policy:
//! the user's restrictions do not apply.

mod copy;
pub(crate) mod ops;

pub(crate) use copy::{ControlPiece, LocatedGraph, ParamType};

use ndjit_ir::graph::{Graph, Identity, NodeId, NodeKind, NodeLoc, Slot, SourceLocs, Value};
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::{Literal, LiteralValue};
use ndjit_ir::promotion::Defaults;
use ndjit_ir::reduction::{AxisSet, Reduce, Reduction, Scan, Sort, TypeRequest};
use ndjit_ir::support::CastReason;
use ndjit_ir::view::{self, Slice, View};
use ndjit_ir::{DType, Error, ErrorCode, Op, Policy, Result, Shape, SourceLoc, ValueType, Weak};
use smallvec::{SmallVec, smallvec};
use std::cell::{Cell, RefCell};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A graph to append to, and its places. It records the first error.
pub(crate) struct Appender {
    /// The policy for storage dtypes of weak literals.
    pub policy: Policy,
    /// The bytes of loop states that reverse mode saves.
    pub state_bytes: usize,
    /// True in a step of a loop that reverse mode recomputes.
    pub in_step: Cell<bool>,
    state: RefCell<AppendState>,
}

/// A graph with the places of its nodes, to append to.
///
pub type OpenGraph<'a> = (&'a mut Graph<ValueType>, &'a mut SourceLocs, AppendSettings);

/// Settings of transformations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendSettings {
    /// The policy for storage dtypes of weak literals.
    pub policy: Policy,
    /// The bytes of loop states that reverse mode saves; it recomputes further states.
    pub state_bytes: usize,
}

impl AppendSettings {
    /// The default bytes of loop states that reverse mode saves.
    pub const STATE_BYTES: usize = 256 << 20;
}

impl Default for AppendSettings {
    fn default() -> AppendSettings {
        AppendSettings { policy: Policy::default(), state_bytes: AppendSettings::STATE_BYTES }
    }
}

/// Appends nodes to a graph, with a given place.
///
/// # Errors
/// The first error.
pub(crate) fn appended<R>(
    (graph, places, settings): OpenGraph<'_>,
    place: SourceLoc,
    append: impl FnOnce(&Appender) -> R,
) -> Result<R> {
    let to = Appender::new(std::mem::take(graph), std::mem::take(places), settings);
    to.at_place(place);
    let made = append(&to);
    let (new, new_places, result) = to.finish();
    (*graph, *places) = (new, new_places);
    result.map(|()| made)
}

struct AppendState {
    graph: Graph<ValueType>,
    places: SourceLocs,
    /// The places of the next nodes.
    written: SmallVec<[NodeLoc; 1]>,
    /// Literals made so far, by dtype and bits.
    numbers: Vec<(DType, u64, Value)>,
    error: Option<Error>,
}

/// Dtype and shape of a tangent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TangentSpace {
    pub dtype: DType,
    pub shape: Shape,
}

impl Appender {
    pub fn new(graph: Graph<ValueType>, places: SourceLocs, settings: AppendSettings) -> Appender {
        let (written, numbers) = (SmallVec::new(), Vec::new());
        let state = RefCell::new(AppendState { graph, places, written, numbers, error: None });
        let AppendSettings { policy, state_bytes } = settings;
        Appender { state, policy, state_bytes, in_step: Cell::new(false) }
    }

    /// Returns the graph and its places, and the first error.
    pub fn finish(self) -> (Graph<ValueType>, SourceLocs, Result<()>) {
        let AppendState { graph, places, error, .. } = self.state.into_inner();
        (graph, places, error.map_or(Ok(()), Err))
    }

    /// Returns the settings.
    pub fn settings(&self) -> AppendSettings {
        AppendSettings { policy: self.policy, state_bytes: self.state_bytes }
    }

    /// Reads the graph with `ask`.
    pub fn read<R>(&self, ask: impl FnOnce(&Graph<ValueType>) -> R) -> R {
        ask(&self.state.borrow().graph)
    }

    /// Modifies the graph and its places with `change`.
    pub fn write<R>(&self, change: impl FnOnce(&mut Graph<ValueType>, &mut SourceLocs) -> R) -> R {
        let state = &mut *self.state.borrow_mut();
        change(&mut state.graph, &mut state.places)
    }

    /// Sets the place of the next nodes to a node's.
    pub fn at(&self, id: NodeId) {
        let state = &mut *self.state.borrow_mut();
        state.written = state.places.written(id).collect();
    }

    /// Marks the next nodes as the derivative of a node; the derivative of a derivative has the original operation.
    pub fn at_slope(&self, id: NodeId) {
        let state = &mut *self.state.borrow_mut();
        let name = state.graph.operation_name(id);
        let of = |written: NodeLoc| NodeLoc { slope_of: written.slope_of.or(Some(name)), ..written };
        state.written = state.places.written(id).map(of).collect();
    }

    /// Sets the place of the next nodes.
    pub fn at_place(&self, place: SourceLoc) {
        self.state.borrow_mut().written = smallvec![place.into()];
    }

    /// Sets the places of the next nodes to those of another appender.
    pub fn written_as(&self, other: &Appender) {
        self.state.borrow_mut().written = other.state.borrow().written.clone();
    }

    /// Records an error, with the current place.
    pub fn fail(&self, error: Error) {
        let state = &mut *self.state.borrow_mut();
        let error = error.at(state.written.first().map(|written| written.place));
        state.error.get_or_insert(error);
    }

    pub fn has_failed(&self) -> bool {
        self.state.borrow().error.is_some()
    }

    /// Wraps a value as a term.
    pub fn term(&self, value: Value) -> SlopeTerm<'_> {
        SlopeTerm { to: self, value }
    }

    /// Returns the storage dtype of a value.
    pub fn dtype(&self, value: Value) -> DType {
        self.read(|graph| graph.storage_dtype(value, self.policy))
    }

    pub fn shape(&self, value: Value) -> Shape {
        self.read(|graph| graph.shape(value).clone())
    }

    /// Returns the tangent space of a value; `None` for integers and bools. Tangents of halves are in `f32`, which
    /// rounds them once.
    pub fn space(&self, value: Value) -> Option<TangentSpace> {
        Some(TangentSpace { dtype: linear(self.dtype(value))?, shape: self.shape(value) })
    }

    /// Appends an operation.
    pub fn add(&self, operation: &Operation<'_>, operands: &[Value]) -> Value {
        let made = self.try_add(operation, operands);
        made.unwrap_or_else(|error| {
            self.fail(error);
            operands.first().copied().unwrap_or(Value(0))
        })
    }

    fn try_add(&self, operation: &Operation<'_>, operands: &[Value]) -> Result<Value> {
        let state = &mut *self.state.borrow_mut();
        let graph = &mut state.graph;
        let (ty, shape) = {
            let known: SmallVec<[(ValueType, &Shape); 4]> =
                operands.iter().map(|&value| (graph.ty(value), graph.shape(value))).collect();
            let wrong =
                |error| Error::new(ErrorCode::Verify, format!("derivative: {}: {error}", operation.kind.name()));
            let (ty, shape) = operation.infer(&known).map_err(wrong)?;
            (ty, shape.into_owned())
        };
        shape.bytes(Policy::default().commit(ty).bytes())?;
        let before = graph.node_count();
        let value = match &operation.kind {
            NodeKind::View(view) => graph.view(operands[0], std::sync::Arc::clone(view), &shape),
            NodeKind::Reshape => graph.reshape(operands[0], &shape),
            _ => {
                let own = if let NodeKind::Iota(..) = operation.kind { &[] } else { operands };
                let (kind, shape) = (operation.kind_in(graph), graph.intern(&shape));
                graph.add(kind, own, &[(ty, shape)])
            }
        };
        if graph.node_count() > before {
            let id = graph.producer(value);
            state.written.iter().for_each(|&place| state.places.note(id, place));
        }
        Ok(value)
    }

    /// Appends a literal of a dtype. Equal literals share a node.
    pub fn number(&self, value: f64, dtype: DType) -> SlopeTerm<'_> {
        let known = |numbers: &[(DType, u64, Value)]| {
            numbers.iter().find(|(of, bits, _)| (*of, *bits) == (dtype, value.to_bits())).map(|(.., value)| *value)
        };
        let found = known(&self.state.borrow().numbers);
        let made = found.map_or_else(|| self.literal(value, dtype), Ok);
        self.term(made.unwrap_or_else(|error| {
            self.fail(error);
            Value(0)
        }))
    }

    fn literal(&self, number: f64, dtype: DType) -> Result<Value> {
        let literal = match dtype.is_int() {
            true => Literal::strong(number as i64, dtype)?,
            false => Literal::strong(number, dtype)?,
        };
        let state = &mut *self.state.borrow_mut();
        let value = state.graph.literal(Slot::Value(literal), literal.ty());
        let id = state.graph.producer(value);
        state.written.iter().for_each(|&place| state.places.note(id, place));
        state.numbers.push((dtype, number.to_bits(), value));
        Ok(value)
    }

    /// Appends a zero of a weak type.
    pub fn weak_zero(&self, weak: Weak) -> SlopeTerm<'_> {
        let zero = match weak {
            Weak::Int => LiteralValue::Int(0),
            Weak::Float => LiteralValue::Float(0.0),
            Weak::Complex => LiteralValue::Complex(0.0, 0.0),
        };
        let literal = Literal::weak(zero);
        self.term(self.write(|graph, _| graph.literal(Slot::Value(literal), literal.ty())))
    }

    /// Appends an array filled with a literal.
    pub fn full(&self, value: f64, space: &TangentSpace) -> SlopeTerm<'_> {
        self.number(value, space.dtype).broadcast(&space.shape)
    }

    /// Appends indices along an axis of a shape.
    pub fn iota(&self, axis: usize, shape: &Shape) -> SlopeTerm<'_> {
        self.term(self.add(&Operation::iota(AxisSet::one(axis), shape.clone()), &[]))
    }

    /// Appends results of a node whose kind is not an operation.
    pub fn results(&self, kind: NodeKind, operands: &[Value], results: &[(ValueType, Shape)]) -> Vec<Value> {
        if results.is_empty() {
            return Vec::new();
        }
        let state = &mut *self.state.borrow_mut();
        let types: SmallVec<[_; 1]> = results.iter().map(|(ty, shape)| (*ty, state.graph.intern(shape))).collect();
        let value = state.graph.add(kind, operands, &types);
        let id = state.graph.producer(value);
        state.written.iter().for_each(|&place| state.places.note(id, place));
        state.graph.node(id).results().collect()
    }

    /// Appends a value as a variable of its own.
    pub fn variable(&self, value: Value) -> Value {
        let state = &mut *self.state.borrow_mut();
        let variable = state.graph.variable(value);
        let id = state.graph.producer(variable);
        state.written.iter().for_each(|&place| state.places.note(id, place));
        variable
    }

    /// Appends zeros: the lane of an array without lanes.
    pub fn empty_lane(&self, all: Value, shape: &Shape) -> Value {
        let dtype = self.dtype(all);
        self.number(0.0, DType::I32).cast(dtype).broadcast(shape).value
    }

    /// Joins arrays of one dtype along an axis.
    pub fn concat(&self, axis: usize, parts: &[SlopeTerm<'_>]) -> SlopeTerm<'_> {
        let values: SmallVec<[Value; 4]> = parts.iter().map(|part| part.value).collect();
        match values[..] {
            [one] => self.term(one),
            _ => self.term(self.add(&Operation::concat(axis as u32, Policy::default()), &values)),
        }
    }
}

/// Returns the dtype of the tangents of a dtype.
pub(crate) fn linear(dtype: DType) -> Option<DType> {
    match dtype {
        dtype if dtype.is_half() => Some(DType::F32),
        dtype if dtype.is_float() || dtype.is_complex() => Some(dtype),
        _ => None,
    }
}

/// A value in a formula of derivatives. The operators and the functions of [`ops`] append to its graph.
#[derive(Clone, Copy)]
pub(crate) struct SlopeTerm<'a> {
    pub to: &'a Appender,
    pub value: Value,
}

impl<'a> SlopeTerm<'a> {
    pub fn dtype(self) -> DType {
        self.to.dtype(self.value)
    }

    pub fn shape(self) -> Shape {
        self.to.shape(self.value)
    }

    pub fn is_complex(self) -> bool {
        self.dtype().is_complex()
    }

    pub fn space(self) -> TangentSpace {
        TangentSpace { dtype: self.dtype(), shape: self.shape() }
    }

    /// Appends a literal of this term's dtype.
    pub fn number(self, value: f64) -> SlopeTerm<'a> {
        self.to.number(value, self.dtype())
    }

    fn made(self, operation: &Operation<'_>, others: &[SlopeTerm<'a>]) -> SlopeTerm<'a> {
        let operands: SmallVec<[Value; 4]> =
            [self.value].into_iter().chain(others.iter().map(|other| other.value)).collect();
        self.to.term(self.to.add(operation, &operands))
    }

    pub fn op(op: Op, operands: &[SlopeTerm<'a>]) -> SlopeTerm<'a> {
        operands[0].made(&Operation::op(op, Policy::default()), &operands[1..])
    }

    /// Casts the term. The real part of a complex number is its value as a real one.
    pub fn cast(self, dtype: DType) -> SlopeTerm<'a> {
        let ty = self.to.read(|graph| graph.ty(self.value));
        match () {
            () if ty == ValueType::Strong(dtype) => self,
            () if self.is_complex() && !dtype.is_complex() => SlopeTerm::op(Op::Real, &[self]).cast(dtype),
            () => self.made(&Operation::cast(CastReason::Explicit, dtype.into()), &[]),
        }
    }

    pub fn view(self, (view, shape): (View, Shape)) -> SlopeTerm<'a> {
        self.made(&Operation::view(view, shape), &[])
    }

    /// The elements that a view selects from starts.
    pub fn sliced(self, (view, shape): (View, Shape), starts: &[Value]) -> SlopeTerm<'a> {
        let starts: SmallVec<[SlopeTerm<'a>; 2]> = starts.iter().map(|&start| self.to.term(start)).collect();
        self.made(&Operation::slice(view, shape), &starts)
    }

    fn try_view(self, made: Result<(View, Shape)>) -> SlopeTerm<'a> {
        match made {
            Ok(view) => self.view(view),
            Err(error) => {
                self.to.fail(error);
                self
            }
        }
    }

    pub fn broadcast(self, to: &Shape) -> SlopeTerm<'a> {
        self.try_view(view::broadcast_to(&self.shape(), to))
    }

    pub fn reshape(self, to: &Shape) -> SlopeTerm<'a> {
        self.made(&Operation::reshape(to.clone()), &[])
    }

    pub fn flip(self, axis: usize) -> SlopeTerm<'a> {
        self.try_view(view::flip(&self.shape(), &[axis as isize]))
    }

    pub fn moveaxis(self, from: usize, to: usize) -> SlopeTerm<'a> {
        self.try_view(view::moveaxis(&self.shape(), &[from as isize], &[to as isize]))
    }

    pub fn permute(self, order: &[usize]) -> SlopeTerm<'a> {
        let order: SmallVec<[isize; 4]> = order.iter().map(|&axis| axis as isize).collect();
        self.try_view(view::permute_dims(&self.shape(), &order))
    }

    /// Slices the elements `start..end` along an axis.
    pub fn slice(self, axis: usize, start: usize, end: usize) -> SlopeTerm<'a> {
        let mut parts = vec![Slice::ALL; self.shape().rank()];
        parts[axis] = Slice::Range { start: Some(start as isize), end: Some(end as isize), step: 1 };
        self.try_view(view::slice(&self.shape(), &parts))
    }

    /// Reduces the term to a value of the same dtype.
    pub fn reduce(self, reduction: Reduction, axes: AxisSet, keepdims: bool) -> SlopeTerm<'a> {
        self.summed(Reduce { reduction, axes, keepdims, contracts: false, request: TypeRequest::default() })
    }

    /// Reduces the term; a sum has this dtype.
    pub fn summed(self, reduce: Reduce) -> SlopeTerm<'a> {
        if reduce.axes == AxisSet::NONE {
            return self;
        }
        let dtype = (reduce.reduction == Reduction::Sum).then(|| self.dtype());
        let request = TypeRequest { dtype, policy: Policy::default() };
        self.made(&NodeKind::Reduce(Reduce { request, ..reduce }).into(), &[])
    }

    pub fn scan(self, scan: Scan, axis: usize) -> SlopeTerm<'a> {
        let dtype = matches!(scan, Scan::CumulativeSum | Scan::CumulativeProd).then(|| self.dtype());
        self.made(&NodeKind::Scan(scan, axis as u32, TypeRequest { dtype, policy: Policy::default() }).into(), &[])
    }

    pub fn argsort(self, axis: usize) -> SlopeTerm<'a> {
        let request = TypeRequest { dtype: Some(DType::I64), policy: Policy::default() };
        self.made(&NodeKind::Sort(Sort::ArgSort, axis as u32, request).into(), &[])
    }

    pub fn gather(self, index: SlopeTerm<'a>) -> SlopeTerm<'a> {
        self.made(&NodeKind::Gather.into(), &[index])
    }

    pub fn scatter(self, how: ndjit_ir::graph::Scatter, index: SlopeTerm<'a>, updates: SlopeTerm<'a>) -> SlopeTerm<'a> {
        self.made(&NodeKind::Scatter(how).into(), &[index, updates])
    }

    pub fn insert(self, view: View, updates: SlopeTerm<'a>, starts: &[Value]) -> SlopeTerm<'a> {
        let starts = starts.iter().map(|&start| self.to.term(start));
        let operands: SmallVec<[SlopeTerm<'a>; 2]> = [updates].into_iter().chain(starts).collect();
        self.made(&NodeKind::Insert(std::sync::Arc::new(view)).into(), &operands)
    }

    /// Selects `self` where the condition is true, else `other`.
    pub fn unless(self, condition: SlopeTerm<'a>, other: SlopeTerm<'a>) -> SlopeTerm<'a> {
        SlopeTerm::op(Op::Where, &[condition, other, self])
    }

    /// Selects `self` where the condition is true, else `other`, of the same type: a weak `other` takes the storage
    /// dtype of `self`.
    pub fn where_else(self, condition: SlopeTerm<'a>, other: SlopeTerm<'a>) -> SlopeTerm<'a> {
        let stored = self.dtype();
        let defaults = Policy::default().defaults();
        let defaults = match stored {
            dtype if dtype.is_complex() => Defaults { complex: dtype, ..defaults },
            dtype if dtype.is_float() => Defaults { float: dtype, ..defaults },
            dtype if dtype.is_int() => Defaults { int: dtype, ..defaults },
            _ => defaults,
        };
        let policy = Policy::default().with_defaults(defaults).unwrap_or_default();
        condition.made(&Operation::op(Op::Where, policy), &[self, other])
    }

    /// Returns the value as a constant for derivatives.
    pub fn constant(self) -> SlopeTerm<'a> {
        let ty = self.to.read(|graph| (graph.ty(self.value), graph.shape(self.value).clone()));
        self.to.term(self.to.results(NodeKind::Identity(Identity::StopGradient), &[self.value], &[ty])[0])
    }

    /// Multiplies two terms; zero wins over infinities and NaN.
    pub fn scaled(self, by: SlopeTerm<'a>) -> SlopeTerm<'a> {
        SlopeTerm::op(Op::MultiplyNoNan, &[self, by])
    }

    /// Replaces subnormal numbers by zeros: products of decaying values would be subnormal, and cost some hundred
    /// cycles each.
    pub fn flushed(self) -> SlopeTerm<'a> {
        let least = match self.dtype() {
            DType::F32 => f64::from(f32::MIN_POSITIVE),
            DType::F64 => f64::MIN_POSITIVE,
            _ => return self,
        };
        let small = SlopeTerm::op(Op::Less, &[SlopeTerm::op(Op::Abs, &[self]), self.number(least)]);
        self.unless(small, self.number(0.0))
    }

    pub fn conj(self) -> SlopeTerm<'a> {
        if self.is_complex() { SlopeTerm::op(Op::Conj, &[self]) } else { self }
    }
}

macro_rules! operators {
    ($($operator:ident $function:ident $op:ident;)*) => {$(
        impl<'a> $operator for SlopeTerm<'a> {
            type Output = SlopeTerm<'a>;

            fn $function(self, other: SlopeTerm<'a>) -> SlopeTerm<'a> {
                SlopeTerm::op(Op::$op, &[self, other])
            }
        }

        impl<'a> $operator<f64> for SlopeTerm<'a> {
            type Output = SlopeTerm<'a>;

            fn $function(self, other: f64) -> SlopeTerm<'a> {
                SlopeTerm::op(Op::$op, &[self, self.number(other)])
            }
        }

        impl<'a> $operator<SlopeTerm<'a>> for f64 {
            type Output = SlopeTerm<'a>;

            fn $function(self, other: SlopeTerm<'a>) -> SlopeTerm<'a> {
                SlopeTerm::op(Op::$op, &[other.number(self), other])
            }
        }
    )*};
}

operators! {
    Add add Add;
    Sub sub Subtract;
    Mul mul Multiply;
    Div div Divide;
}

impl<'a> Neg for SlopeTerm<'a> {
    type Output = SlopeTerm<'a>;

    fn neg(self) -> SlopeTerm<'a> {
        SlopeTerm::op(Op::Negative, &[self])
    }
}
