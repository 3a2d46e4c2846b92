//! Inference: type and shape of an operation's result from those of its operands, or the mismatch. Builders of nodes use it, and the
//! verifier compares against it.
//!
//! An [`Operation`] is a node's operation with its attributes: the shape of a view, the dtype of a cast. Types and shapes are
//! independent, except for extents too large for an index dtype; values do not matter. Calls and control flow have the outputs of
//! their graphs. Sizes in memory and ranges of literals are checked elsewhere.

mod mismatch;
mod rules;
mod traced;

pub use mismatch::InferenceError;
pub(crate) use rules::{Annotation, InferenceRules};

use crate::axes::{AxisSet, MAX_RANK};
use crate::dtype::{DType, Kind};
use crate::graph::{
    Dependence, DerivativeRule, Graph, Identity, KindRow, NodeId, NodeKind, RuleKind, Scatter, Type, Value, ViewId,
};
use crate::op::Op;
use crate::promotion::{Policy, Types};
use crate::reduction::{AxisFunction, Reduce, Reduction, ReductionRule, Scan, Sort, TypeRequest};
use crate::shape::{Shape, ShapeMismatch};
use crate::support::CastReason;
use crate::value_type::ValueType;
use crate::view::{View, concat_shape, gathered, scattered};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::sync::Arc;

/// An operation on operands: in traced graphs of [`ValueType`]s, in typed ones of [`DType`]s.
///
/// ```
/// use ndjit_ir::infer::{InferenceError, Operation};
/// use ndjit_ir::{DType, Op, Policy, Shape, ValueType, Weak};
///
/// let [x, number] = [Shape::from([2, 3]), Shape::scalar()];
/// let add: Operation = Operation::Op(Op::Add, Policy::Standard);
/// let (ty, shape) = add.infer(&[(DType::F32.into(), &x), (Weak::Int.into(), &number)])?;
/// assert_eq!((ty, shape.into_owned()), (ValueType::from(DType::F32), Shape::from([2, 3])));
/// assert_eq!(add.infer(&[]), Err(InferenceError::Arity { takes: 2, given: 0 }));
/// # Ok::<(), InferenceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation<'a, T: Type = ValueType> {
    /// An elementwise op, under a policy.
    Op(Op, T::Traced<Policy>),
    /// A cast to this type.
    Cast(T::Traced<CastReason>, T),
    /// The operand.
    Identity(Identity),
    /// A reduction.
    Reduce(Reduce<T>),
    /// A scan along an axis.
    Scan(Scan, u32, T::Traced<TypeRequest>),
    /// A sort along an axis; in a typed graph with the dtype of its result, which may be indices.
    Sort(Sort, u32, T::Traced<TypeRequest>, Option<T>),
    /// Indices along axes of this shape.
    Iota(AxisSet, Cow<'a, Shape>),
    /// A view of this shape.
    View(Arc<View>, Cow<'a, Shape>),
    /// The same elements in this shape.
    Reshape(Cow<'a, Shape>),
    /// Arrays joined along an axis, under a policy.
    Concat(u32, T::Traced<Policy>),
    /// Rows of the first operand at the indices of the second.
    Gather,
    /// The first operand with elements of the third scattered into its rows at the indices of the second.
    Scatter(Scatter),
    /// The first operand with the second one's elements in place of those that the view selects.
    Insert(Arc<View>),
}

/// Types and shapes of a node's results.
pub type Results<'a, T> = SmallVec<[(T, Cow<'a, Shape>); 1]>;

impl Operation<'static> {
    /// A view of this shape.
    pub fn view(view: View, shape: Shape) -> Operation<'static> {
        Operation::View(Arc::new(view), Cow::Owned(shape))
    }

    /// The same elements in this shape.
    pub fn reshape(shape: Shape) -> Operation<'static> {
        Operation::Reshape(Cow::Owned(shape))
    }

    /// Indices along axes of this shape.
    pub fn iota(axes: AxisSet, shape: Shape) -> Operation<'static> {
        Operation::Iota(axes, Cow::Owned(shape))
    }
}

impl<'a, T: Type> Operation<'a, T> {
    /// The name in messages.
    pub fn name(&self) -> &'static str {
        self.kind_with(|_| ViewId(0)).name()
    }

    /// The properties of its kind.
    pub fn row(&self) -> &'static KindRow {
        self.kind_with(|_| ViewId(0)).row()
    }

    /// The elements of operands on which an element of the result depends.
    pub fn dependence(&self) -> Dependence {
        self.kind_with(|_| ViewId(0)).dependence()
    }

    /// The function along axes and its type request, if there is one.
    pub fn type_request(&self) -> Option<(AxisFunction, T::Traced<TypeRequest>)> {
        self.kind_with(|_| ViewId(0)).type_request()
    }

    /// The kind of its node in a graph.
    pub fn kind(&self, graph: &mut Graph<T>) -> NodeKind<T> {
        self.kind_with(|view| graph.intern_view(Arc::clone(view)))
    }

    /// The kind of its node, with the number of its view.
    fn kind_with(&self, number: impl FnOnce(&Arc<View>) -> ViewId) -> NodeKind<T> {
        match self {
            &Operation::Op(op, policy) => NodeKind::Op(op, policy),
            &Operation::Cast(reason, _) => NodeKind::Cast(reason),
            &Operation::Identity(identity) => NodeKind::Identity(identity),
            &Operation::Reduce(reduce) => NodeKind::Reduce(reduce),
            &Operation::Scan(scan, axis, request) => NodeKind::Scan(scan, axis, request),
            &Operation::Sort(sort, axis, request, _) => NodeKind::Sort(sort, axis, request),
            &Operation::Iota(axes, _) => NodeKind::Iota(axes),
            Operation::View(view, _) => NodeKind::View(number(view)),
            Operation::Reshape(_) => NodeKind::Reshape,
            &Operation::Concat(axis, policy) => NodeKind::Concat(axis, policy),
            Operation::Gather => NodeKind::Gather,
            &Operation::Scatter(scatter) => NodeKind::Scatter(scatter),
            Operation::Insert(view) => NodeKind::Insert(number(view)),
        }
    }

    #[inline]
    fn check_arity(&self, given: usize) -> Result<(), InferenceError> {
        let takes = match self {
            Operation::Op(op, _) => op.arity(),
            Operation::Iota(..) => 0,
            Operation::Cast(..)
            | Operation::Identity(Identity::Variable(_) | Identity::StopGradient)
            | Operation::Scan(..)
            | Operation::Sort(..)
            | Operation::View(..)
            | Operation::Reshape(_) => 1,
            Operation::Reduce(reduce) => given.clamp(1, reduce.reduction.row().operands.len()),
            Operation::Concat(..) => given.max(1),
            Operation::Identity(Identity::Ruled(rule)) => match rule.takes(given) {
                true => given,
                false => given + 1,
            },
            Operation::Gather | Operation::Insert(_) => 2,
            Operation::Scatter(_) => 3,
        };
        if given == takes { Ok(()) } else { Err(InferenceError::Arity { takes, given }) }
    }

    /// Infers type and shape of the result, from those of the operands.
    ///
    /// # Errors
    /// The mismatch.
    pub fn infer(&self, operands: &[(T, &'a Shape)]) -> Result<(T, Cow<'a, Shape>), InferenceError> {
        let shape = self.shape(&operands.iter().map(|(_, shape)| *shape).collect::<SmallVec<[&'a Shape; 4]>>())?;
        let Types { result, .. } = self.types(&operands.iter().map(|(ty, _)| *ty).collect::<SmallVec<[T; 4]>>())?;
        match self {
            Operation::View(view, shape) => view.check(operands[0].1, shape).map_err(InferenceError::View)?,
            Operation::Reshape(shape) if operands[0].1.size().ok() != shape.size().ok() => {
                return Err(InferenceError::Elements(operands[0].1.clone(), Shape::clone(shape)));
            }
            Operation::Insert(view) if view.region(operands[0].1, operands[1].1).is_none() => {
                let words = match view.check(operands[0].1, operands[1].1) {
                    Ok(()) => format!("elements of {} that are named more than once", operands[0].1),
                    Err(words) => words,
                };
                return Err(InferenceError::View(words));
            }
            _ => self.check_function(result, operands)?,
        }
        Ok((result, shape))
    }

    /// Checks the rules of functions along axes about operands and result together: the result's dtype holds indices and counts, and
    /// corrections are real. Apart from [`infer`](Operation::infer) for results of operands that casting modes cast.
    ///
    /// # Errors
    /// The mismatch.
    pub fn check_function(&self, result: T, operands: &[(T, &Shape)]) -> Result<(), InferenceError> {
        let (function, axes) = match *self {
            Operation::Reduce(Reduce { reduction, axes, .. }) => (AxisFunction::from(reduction), axes),
            Operation::Sort(sort, axis, ..) => (sort.into(), AxisSet::one(axis as usize)),
            _ => return Ok(()),
        };
        let count = axes.count(operands[0].1);
        if function.row().rule == ReductionRule::Index && !result.counts(count) {
            return Err(InferenceError::Count(result.storage_dtype(), count));
        }
        match operands.get(1).map(|&(ty, _)| ty.into()) {
            Some(correction) if correction.kind() == Kind::Complex => Err(InferenceError::Correction(correction)),
            _ => Ok(()),
        }
    }

    /// Infers only the types: the computing type, and the result's.
    ///
    /// # Errors
    /// The mismatch.
    #[inline]
    pub fn types(&self, operands: &[T]) -> Result<Types<T>, InferenceError> {
        self.check_arity(operands.len())?;
        let same = |ty: T| Types { compute: ty, result: ty };
        match *self {
            Operation::Op(op, policy) => T::op(op, policy, operands),
            Operation::Cast(reason, to) => T::cast(reason, operands[0], to).map(|()| same(to)),
            Operation::Reduce(Reduce { reduction, request, .. }) => {
                T::reduction(reduction.into(), request, operands[0], None)
            }
            Operation::Scan(scan, _, request) => T::reduction(scan.into(), request, operands[0], None),
            Operation::Sort(sort, _, request, indices) => T::reduction(sort.into(), request, operands[0], indices),
            Operation::Iota(..) => Ok(same(DType::I64.into())),
            Operation::Identity(_) | Operation::View(..) | Operation::Reshape(_) => Ok(same(operands[0])),
            Operation::Concat(_, policy) => T::join(policy, operands).map(same),
            Operation::Gather => rules::is_index(operands[1]).map(|()| same(operands[0])),
            Operation::Scatter(scatter) => {
                T::scatter(scatter, [operands[0], operands[1], operands[2]]).map(|()| same(operands[0]))
            }
            Operation::Insert(_) => T::insert([operands[0], operands[1]]).map(|()| same(operands[0])),
        }
    }

    /// Infers only the shape. Not checked: the bounds of views and insertions, and the size of reshapes.
    ///
    /// # Errors
    /// The mismatch.
    pub fn shape(&self, operands: &[&'a Shape]) -> Result<Cow<'a, Shape>, InferenceError> {
        self.check_arity(operands.len())?;
        match self {
            Operation::Op(..) => {
                let mut shape = Cow::Borrowed(operands[0]);
                for other in &operands[1..] {
                    let both = shape.broadcast(other);
                    let clash = || ShapeMismatch::Broadcast(Shape::clone(&shape), Shape::clone(other));
                    shape = Cow::Owned(both.ok_or_else(clash)?);
                }
                Ok(shape)
            }
            Operation::Identity(Identity::Ruled(rule)) => ruled(*rule, operands).map(Cow::Borrowed),
            Operation::Cast(..) | Operation::Identity(_) => Ok(Cow::Borrowed(operands[0])),
            Operation::Reduce(reduce) => reduced(reduce, operands).map(Cow::Owned),
            &Operation::Scan(_, axis, _) | &Operation::Sort(_, axis, ..) => match operands[0] {
                shape if axis as usize >= shape.rank().min(MAX_RANK) => Err(InferenceError::Axis(axis, shape.clone())),
                shape => Ok(Cow::Borrowed(shape)),
            },
            Operation::Iota(axes, shape) => match axes.within(shape.rank()) {
                true => Ok(shape.clone()),
                false => Err(InferenceError::Iota(*axes, Shape::clone(shape))),
            },
            Operation::View(_, shape) | Operation::Reshape(shape) => Ok(shape.clone()),
            &Operation::Concat(axis, _) => Ok(Cow::Owned(concat_shape(operands, axis as usize)?)),
            Operation::Gather => Ok(Cow::Owned(gathered(operands[0], operands[1])?)),
            Operation::Scatter(_) => {
                let space = scattered(operands[0], operands[1])?;
                match operands[2].broadcast(&space).as_ref() == Some(&space) {
                    true => Ok(Cow::Borrowed(operands[0])),
                    false => Err(ShapeMismatch::BroadcastTo(operands[2].clone(), space).into()),
                }
            }
            Operation::Insert(_) => Ok(Cow::Borrowed(operands[0])),
        }
    }
}

/// The shape of a rule's output, which its variables and tangents share.
fn ruled<'a>(rule: DerivativeRule, operands: &[&'a Shape]) -> Result<&'a Shape, InferenceError> {
    let Some(parts) = rule.parts(operands) else {
        return Err(InferenceError::Arity { takes: operands.len() + 1, given: operands.len() });
    };
    let output = rule.output as usize;
    let pairs = match rule.kind {
        RuleKind::Jvp => vec![(operands[0], parts.outputs[output]), (operands[0], parts.mapped[output])],
        RuleKind::Checkpoint => vec![(operands[0], parts.outputs[output])],
        RuleKind::Vjp => [(operands[0], parts.outputs[output])]
            .into_iter()
            .chain(parts.inputs.iter().copied().zip(parts.mapped.iter().copied()))
            .collect(),
    };
    match pairs.into_iter().find(|(own, other)| own != other) {
        Some((own, other)) => Err(ShapeMismatch::Broadcast(other.clone(), own.clone()).into()),
        None => Ok(operands[0]),
    }
}

fn reduced<T: Type>(reduce: &Reduce<T>, operands: &[&Shape]) -> Result<Shape, InferenceError> {
    let (&Reduce { reduction, axes, .. }, shape) = (reduce, operands[0]);
    match () {
        () if !axes.within(shape.rank()) => Err(InferenceError::Axes(axes, shape.clone())),
        () if reduce.contracts && reduction != Reduction::Sum => Err(InferenceError::Contracts(reduction)),
        () if reduction.needs_elements() && axes.count(shape) == 0 => {
            Err(InferenceError::NoElements { reduction, axes, shape: shape.clone() })
        }
        () => match operands[1..].iter().position(|other| other.rank() > 0) {
            Some(n) => Err(InferenceError::NotScalar(n + 1)),
            None => Ok(axes.reduced(shape, reduce.keepdims)),
        },
    }
}

impl<T: Type> Graph<T> {
    /// The operation of a node; `None` for parameters, literals, calls and control flow.
    ///
    /// # Errors
    /// A missing view.
    pub fn operation(&self, id: NodeId) -> Result<Option<Operation<'_, T>>, InferenceError> {
        let (node, first) = (self.node(id), self.node(id).first());
        let shape = || Cow::Borrowed(self.shape(first));
        Ok(Some(match node.kind {
            _ if node.result_count() == 0 => return Ok(None),
            NodeKind::Param(..) | NodeKind::Literal(_) | NodeKind::Control(..) | NodeKind::Call(_) => return Ok(None),
            NodeKind::Op(op, policy) => Operation::Op(op, policy),
            NodeKind::Cast(reason) => Operation::Cast(reason, self.ty(first)),
            NodeKind::Identity(identity) => Operation::Identity(identity),
            NodeKind::Reduce(reduce) => Operation::Reduce(reduce),
            NodeKind::Scan(scan, axis, request) => Operation::Scan(scan, axis, request),
            NodeKind::Sort(sort, axis, request) => {
                Operation::Sort(sort, axis, request, T::TYPED.then(|| self.ty(first)))
            }
            NodeKind::Iota(axes) => Operation::Iota(axes, shape()),
            NodeKind::View(view) | NodeKind::Insert(view) => {
                let known = self.views().get(view.index());
                let view = Arc::clone(known.ok_or(InferenceError::Missing("view", view.0))?);
                if let NodeKind::View(_) = node.kind { Operation::View(view, shape()) } else { Operation::Insert(view) }
            }
            NodeKind::Reshape => Operation::Reshape(shape()),
            NodeKind::Concat(axis, policy) => Operation::Concat(axis, policy),
            NodeKind::Gather => Operation::Gather,
            NodeKind::Scatter(scatter) => Operation::Scatter(scatter),
        }))
    }

    /// Infers types and shapes of a node's results from those of its operands, which exist. Operands of control flow are not checked
    /// against its graphs.
    ///
    /// # Errors
    /// The mismatch.
    pub fn infer(&self, id: NodeId) -> Result<Results<'_, T>, InferenceError> {
        let (first, operands) = (self.node(id).first(), self.operands(id));
        let known = |&value: &Value| (self.ty(value), self.shape(value));
        if let Some(operation) = self.operation(id)? {
            return Ok(smallvec![operation.infer(&operands.iter().map(known).collect::<SmallVec<[_; 4]>>())?]);
        }
        if self.node(id).result_count() == 0 {
            return Ok(Results::new());
        }
        let (ty, shape) = known(&first);
        Ok(match self.node(id).kind {
            NodeKind::Control(n) => {
                let control = self.controls().get(n as usize).ok_or(InferenceError::Missing("control flow ", n))?;
                // Both branches have the same results.
                let results = control.last().into_iter().flat_map(|graph| graph.results());
                let shaped = results.enumerate().map(|(n, result)| {
                    let (ty, shape) = result?;
                    Ok((ty, control.result_shape(n, shape)))
                });
                shaped.collect::<Result<_, InferenceError>>()?
            }
            NodeKind::Call(n) => {
                let child = self.children().get(n as usize).ok_or(InferenceError::Missing("child @", n))?;
                let (takes, given) = (child.params().len(), operands.len());
                if takes != given {
                    return Err(InferenceError::Graph(format!("the child has {takes} operands, the call {given}")));
                }
                for (n, (&param, here)) in child.params().iter().zip(operands.iter().map(known)).enumerate() {
                    let (ty, shape) = child.inner(param, "operand", n)?;
                    if here != (ty, &*shape) {
                        let words = format!("operand {n} is {}{}, the child's {ty}{shape}", here.0, here.1);
                        return Err(InferenceError::Graph(words));
                    }
                }
                T::call()?;
                child.results().collect::<Result<_, _>>()?
            }
            _ if !operands.is_empty() => return Err(InferenceError::Arity { takes: 0, given: operands.len() }),
            NodeKind::Param(_, stored) => {
                ty.param(stored)?;
                smallvec![(ty, Cow::Borrowed(shape))]
            }
            NodeKind::Literal(slot) => {
                let slot = self.slots().get(slot.index()).ok_or(InferenceError::Missing("slot #", slot.0))?;
                smallvec![(ty.literal(slot)?, Cow::Owned(Shape::scalar()))]
            }
            _ => Results::new(),
        })
    }

    /// Types and shapes of its outputs, as results of another graph's node.
    fn results(&self) -> impl Iterator<Item = Result<(T, Cow<'_, Shape>), InferenceError>> {
        self.outputs().iter().enumerate().map(|(n, &output)| self.inner(output, "result", n))
    }

    /// Type and shape of a value of a callee or a graph of control flow.
    fn inner(&self, value: Value, what: &str, n: usize) -> Result<(T, Cow<'_, Shape>), InferenceError> {
        match value.index() < self.value_count() {
            true => Ok((self.ty(value), Cow::Borrowed(self.shape(value)))),
            false => Err(InferenceError::Graph(format!("{what} {n} of the child does not exist"))),
        }
    }
}
