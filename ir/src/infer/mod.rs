//! Inference: type and shape of an operation's result from those of its operands, or the mismatch. Builders of nodes use it, and the
//! verifier compares against it.
//!
//! An [`Operation`] is the kind of a node with the attributes of its result: the shape of a view, the dtype of a cast. Types and shapes are
//! independent, except for extents too large for an index dtype; values do not matter. Calls and control flow have the outputs of
//! their graphs. Sizes in memory and ranges of literals are checked elsewhere.

mod mismatch;
mod rules;
mod traced;

pub use mismatch::InferenceError;
pub(crate) use rules::{Annotation, InferenceRules};

use crate::axes::{AxisSet, MAX_RANK};
use crate::dtype::{DType, Kind};
use crate::graph::{DerivativeRule, Graph, Identity, NodeId, NodeKind, RuleKind, Type, Value, ViewId};
use crate::op::Op;
use crate::promotion::{Policy, Types};
use crate::reduction::{AxisFunction, Reduce, Reduction, ReductionRule};
use crate::shape::{Shape, ShapeMismatch};
use crate::support::CastReason;
use crate::value_type::ValueType;
use crate::view::{View, concat_shape, gathered, scattered};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

/// An operation: the kind of a node outside of a graph, with the attributes that a graph keeps with the node's result.
///
/// ```
/// use ndjit_ir::infer::{InferenceError, Operation};
/// use ndjit_ir::{DType, Op, Policy, Shape, ValueType, Weak};
///
/// let [x, number] = [Shape::from([2, 3]), Shape::scalar()];
/// let add = Operation::op(Op::Add, Policy::Standard);
/// let (ty, shape) = add.infer(&[(DType::F32.into(), &x), (Weak::Int.into(), &number)])?;
/// assert_eq!((ty, shape.into_owned()), (ValueType::from(DType::F32), Shape::from([2, 3])));
/// assert_eq!(add.infer(&[]), Err(InferenceError::Arity { takes: 2, given: 0 }));
/// # Ok::<(), InferenceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operation<'a, T: Type = ValueType> {
    /// The kind.
    pub kind: NodeKind<T, Arc<View>>,
    /// The type of a cast's result; in a typed graph also of a sort's, which may be indices.
    pub ty: Option<T>,
    /// The shape of the result of a view, a slice, a reshape and an iota.
    pub shape: Option<Cow<'a, Shape>>,
}

/// Types and shapes of a node's results.
pub type Results<'a, T> = SmallVec<[(T, Cow<'a, Shape>); 1]>;

impl<T: Type> From<NodeKind<T, Arc<View>>> for Operation<'static, T> {
    /// The operation of a kind whose result is inferred.
    fn from(kind: NodeKind<T, Arc<View>>) -> Operation<'static, T> {
        Operation { kind, ty: None, shape: None }
    }
}

impl Operation<'static> {
    /// An elementwise op under a policy.
    pub fn op(op: Op, policy: Policy) -> Operation<'static> {
        NodeKind::Op(op, policy).into()
    }

    /// A cast to a type.
    pub fn cast(reason: CastReason, ty: ValueType) -> Operation<'static> {
        Operation { ty: Some(ty), ..NodeKind::Cast(reason).into() }
    }

    /// Arrays joined along an axis, under a policy.
    pub fn concat(axis: u32, policy: Policy) -> Operation<'static> {
        NodeKind::Concat(axis, policy).into()
    }

    /// A view of this shape.
    pub fn view(view: View, shape: Shape) -> Operation<'static> {
        Operation { shape: Some(Cow::Owned(shape)), ..NodeKind::View(Arc::new(view)).into() }
    }

    /// A slice of this shape from starts.
    pub fn slice(view: View, shape: Shape) -> Operation<'static> {
        Operation { shape: Some(Cow::Owned(shape)), ..NodeKind::Slice(Arc::new(view)).into() }
    }

    /// The same elements in this shape.
    pub fn reshape(shape: Shape) -> Operation<'static> {
        Operation { shape: Some(Cow::Owned(shape)), ..NodeKind::Reshape.into() }
    }

    /// Indices along axes of this shape.
    pub fn iota(axes: AxisSet, shape: Shape) -> Operation<'static> {
        Operation { shape: Some(Cow::Owned(shape)), ..NodeKind::Iota(axes).into() }
    }
}

impl<'a, T: Type> Operation<'a, T> {
    /// The kind of its node in a graph.
    pub fn kind_in(&self, graph: &mut Graph<T>) -> NodeKind<T> {
        let number = |view: &Arc<View>| Ok::<_, Infallible>(graph.intern_view(Arc::clone(view)));
        match self.kind.with_view(number) {
            Ok(kind) => kind,
        }
    }

    /// The attribute of its result, which its kind has.
    fn attribute<A>(&self, attribute: Option<A>) -> Result<A, InferenceError> {
        let missing = || format!("{} without an attribute of its result", self.kind.name());
        attribute.ok_or_else(|| InferenceError::Graph(missing()))
    }

    #[inline]
    fn check_arity(&self, given: usize) -> Result<(), InferenceError> {
        let takes = match self.kind {
            NodeKind::Op(op, _) => op.arity(),
            NodeKind::Iota(..) => 0,
            NodeKind::Cast(..)
            | NodeKind::Identity(Identity::Variable(_) | Identity::StopGradient)
            | NodeKind::Scan(..)
            | NodeKind::Sort(..)
            | NodeKind::View(_)
            | NodeKind::Reshape => 1,
            NodeKind::Reduce(reduce) => given.clamp(1, reduce.reduction.row().operands.len()),
            NodeKind::Concat(..) => given.max(1),
            NodeKind::Identity(Identity::Ruled(rule)) => match rule.takes(given) {
                true => given,
                false => given + 1,
            },
            NodeKind::Gather => 2,
            NodeKind::Insert(_) => given.max(2),
            NodeKind::Slice(_) => given.max(1),
            NodeKind::Scatter(_) => 3,
            NodeKind::Param(..) | NodeKind::Literal(_) | NodeKind::Control(_) | NodeKind::Call(_) => {
                return Err(InferenceError::Graph(format!("{}: the graph has its types", self.kind.name())));
            }
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
        match &self.kind {
            NodeKind::View(view) => view.check(operands[0].1, &shape).map_err(InferenceError::View)?,
            NodeKind::Reshape if operands[0].1.size().ok() != shape.size().ok() => {
                return Err(InferenceError::Elements(operands[0].1.clone(), shape.into_owned()));
            }
            NodeKind::Insert(view) => part(view, [operands[0].1, operands[1].1], operands.len() - 2)?,
            NodeKind::Slice(view) => part(view, [operands[0].1, &shape], operands.len() - 1)?,
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
        let (function, axes) = match self.kind {
            NodeKind::Reduce(Reduce { reduction, axes, .. }) => (AxisFunction::from(reduction), axes),
            NodeKind::Sort(sort, axis, ..) => (sort.into(), AxisSet::one(axis as usize)),
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
        match self.kind {
            NodeKind::Op(op, policy) => T::op(op, policy, operands),
            NodeKind::Cast(reason) => {
                let to = self.attribute(self.ty)?;
                T::cast(reason, operands[0], to).map(|()| same(to))
            }
            NodeKind::Reduce(Reduce { reduction, request, .. }) => {
                T::reduction(reduction.into(), request, operands[0], None)
            }
            NodeKind::Scan(scan, _, request) => T::reduction(scan.into(), request, operands[0], None),
            NodeKind::Sort(sort, _, request) => T::reduction(sort.into(), request, operands[0], self.ty),
            NodeKind::Iota(..) => Ok(same(DType::I64.into())),
            NodeKind::Concat(_, policy) => T::join(policy, operands).map(same),
            NodeKind::Gather => rules::is_index(operands[1]).map(|()| same(operands[0])),
            NodeKind::Scatter(scatter) => {
                T::scatter(scatter, [operands[0], operands[1], operands[2]]).map(|()| same(operands[0]))
            }
            NodeKind::Slice(_) => {
                operands[1..].iter().try_for_each(|&start| rules::is_index(start))?;
                Ok(same(operands[0]))
            }
            NodeKind::Insert(_) => {
                operands[2..].iter().try_for_each(|&start| rules::is_index(start))?;
                T::insert([operands[0], operands[1]]).map(|()| same(operands[0]))
            }
            NodeKind::Identity(_)
            | NodeKind::View(_)
            | NodeKind::Reshape
            // Refused above.
            | NodeKind::Param(..)
            | NodeKind::Literal(_)
            | NodeKind::Control(_)
            | NodeKind::Call(_) => Ok(same(operands[0])),
        }
    }

    /// Infers only the shape. Not checked: the bounds of views and insertions, and the size of reshapes.
    ///
    /// # Errors
    /// The mismatch.
    pub fn shape(&self, operands: &[&'a Shape]) -> Result<Cow<'a, Shape>, InferenceError> {
        self.check_arity(operands.len())?;
        match self.kind {
            NodeKind::Op(..) => {
                let mut shape = Cow::Borrowed(operands[0]);
                for other in &operands[1..] {
                    let both = shape.broadcast(other);
                    let clash = || ShapeMismatch::Broadcast(Shape::clone(&shape), Shape::clone(other));
                    shape = Cow::Owned(both.ok_or_else(clash)?);
                }
                Ok(shape)
            }
            NodeKind::Identity(Identity::Ruled(rule)) => ruled(rule, operands).map(Cow::Borrowed),
            NodeKind::Reduce(reduce) => reduced(&reduce, operands).map(Cow::Owned),
            NodeKind::Scan(_, axis, _) | NodeKind::Sort(_, axis, _) => match operands[0] {
                shape if axis as usize >= shape.rank().min(MAX_RANK) => Err(InferenceError::Axis(axis, shape.clone())),
                shape => Ok(Cow::Borrowed(shape)),
            },
            NodeKind::Iota(axes) => match self.attribute(self.shape.clone())? {
                shape if axes.within(shape.rank()) => Ok(shape),
                shape => Err(InferenceError::Iota(axes, shape.into_owned())),
            },
            NodeKind::View(_) | NodeKind::Reshape => self.attribute(self.shape.clone()),
            NodeKind::Slice(_) => scalar_starts(&operands[1..]).and_then(|()| self.attribute(self.shape.clone())),
            NodeKind::Concat(axis, _) => Ok(Cow::Owned(concat_shape(operands, axis as usize)?)),
            NodeKind::Gather => Ok(Cow::Owned(gathered(operands[0], operands[1])?)),
            NodeKind::Scatter(_) => {
                let space = scattered(operands[0], operands[1])?;
                match operands[2].broadcast(&space).as_ref() == Some(&space) {
                    true => Ok(Cow::Borrowed(operands[0])),
                    false => Err(ShapeMismatch::BroadcastTo(operands[2].clone(), space).into()),
                }
            }
            NodeKind::Insert(_) => scalar_starts(&operands[2..]).map(|()| Cow::Borrowed(operands[0])),
            NodeKind::Cast(_)
            | NodeKind::Identity(_)
            // Refused above.
            | NodeKind::Param(..)
            | NodeKind::Literal(_)
            | NodeKind::Control(_)
            | NodeKind::Call(_) => Ok(Cow::Borrowed(operands[0])),
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
        if node.result_count() == 0
            || matches!(
                node.kind,
                NodeKind::Param(..) | NodeKind::Literal(_) | NodeKind::Control(_) | NodeKind::Call(_)
            )
        {
            return Ok(None);
        }
        let view =
            |&id: &ViewId| self.views().get(id.index()).map(Arc::clone).ok_or(InferenceError::Missing("view", id.0));
        let typed = match node.kind {
            NodeKind::Cast(_) => true,
            NodeKind::Sort(..) => T::TYPED,
            _ => false,
        };
        let shaped =
            matches!(node.kind, NodeKind::Iota(_) | NodeKind::View(_) | NodeKind::Slice(_) | NodeKind::Reshape);
        Ok(Some(Operation {
            kind: node.kind.with_view(view)?,
            ty: typed.then(|| self.ty(first)),
            shape: shaped.then(|| Cow::Borrowed(self.shape(first))),
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

/// Checks that starts are scalars.
fn scalar_starts(starts: &[&Shape]) -> Result<(), InferenceError> {
    match starts.iter().find(|start| start.rank() > 0) {
        Some(&start) => Err(InferenceError::Start(start.clone())),
        None => Ok(()),
    }
}

/// Checks that a view from so many starts selects each element of the result from the operand once.
fn part(view: &View, [operand, result]: [&Shape; 2], starts: usize) -> Result<(), InferenceError> {
    if view.starts(operand, result, starts).is_some() {
        return Ok(());
    }
    let inner = view.without_starts(starts);
    Err(InferenceError::View(match (inner.check(operand, result), inner.region(operand, result)) {
        (Err(words), _) => words,
        (Ok(()), None) => format!("elements of {operand} that are named more than once"),
        (Ok(()), Some(_)) => {
            format!("{starts} starts, of which each moves along an axis of {operand} of its own, forwards")
        }
    }))
}
