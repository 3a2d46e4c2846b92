//! Rules of type inference at each stage: in traced graphs by policies, with weak types; in typed graphs operands have the dtypes
//! that the operation takes, and every policy is resolved.

use super::InferenceError;
use crate::dtype::DType;
use crate::graph::{Scatter, Slot};
use crate::op::{Op, TypeRule};
use crate::promotion::{Policy, Types};
use crate::reduction::{AxisFunction, Sort, TypeRequest};
use crate::support::CastReason;
use crate::value_type::{ValueType, Weak};
use std::fmt::Debug;
use std::hash::Hash;

/// An annotation of graphs about type resolution.
pub trait Annotation: Copy + Debug + Default + Eq + Hash + Send + Sync + 'static {}

impl<X: Copy + Debug + Default + Eq + Hash + Send + Sync + 'static> Annotation for X {}

/// The rules of a stage's types, for the right number of operands. Errors are mismatches.
pub trait InferenceRules: Copy + Eq + From<DType> + Into<ValueType> {
    /// The verifier's name for a graph of this stage.
    const STAGE: &'static str;

    /// True if types are dtypes: after commit.
    const TYPED: bool;

    /// The annotation of graphs of this stage: before commit an `X`, afterwards nothing.
    type Traced<X: Annotation>: Annotation;

    /// The annotation `x` at this stage; `None` after commit if `x` is not the default.
    fn traced<X: Annotation>(x: X) -> Option<Self::Traced<X>>;

    /// The annotation; after commit the default.
    fn noted<X: Annotation>(note: Self::Traced<X>) -> X;

    /// The types of an op.
    fn op(op: Op, policy: Self::Traced<Policy>, operands: &[Self]) -> Result<Types<Self>, InferenceError>;

    /// Checks that a cast may have this reason.
    fn cast(reason: Self::Traced<CastReason>, from: Self, to: Self) -> Result<(), InferenceError>;

    /// The types of a reduction, a scan or a sort; `indices` is the dtype of the indices of a sort in a typed graph.
    fn reduction(
        function: AxisFunction,
        request: Self::Traced<TypeRequest>,
        operand: Self,
        indices: Option<Self>,
    ) -> Result<Types<Self>, InferenceError>;

    /// Returns `true` if indices of so many elements fit this type; before commit also their count, as a count is a result there.
    fn counts(self, count: usize) -> bool;

    /// The type of joined arrays, at least one.
    fn join(policy: Self::Traced<Policy>, operands: &[Self]) -> Result<Self, InferenceError>;

    /// Checks that elements of the third operand can be scattered into the first.
    fn scatter(scatter: Scatter, operands: [Self; 3]) -> Result<(), InferenceError>;

    /// Checks that elements of the second operand can replace some of the first one's.
    fn insert(operands: [Self; 2]) -> Result<(), InferenceError>;

    /// Checks that a parameter of this type may be stored as a dtype.
    fn param(self, stored: DType) -> Result<(), InferenceError>;

    /// The type of a literal, which the graph has as this type.
    fn literal(self, slot: &Slot) -> Result<Self, InferenceError>;

    /// Checks that graphs of this stage may have calls.
    fn call() -> Result<(), InferenceError>;
}

impl InferenceRules for ValueType {
    const STAGE: &'static str = "graph";
    const TYPED: bool = false;
    type Traced<X: Annotation> = X;

    fn traced<X: Annotation>(x: X) -> Option<X> {
        Some(x)
    }

    fn noted<X: Annotation>(note: X) -> X {
        note
    }

    #[inline]
    fn op(op: Op, policy: Policy, operands: &[ValueType]) -> Result<Types<ValueType>, InferenceError> {
        policy.op_types(op, operands).map_err(|mismatch| InferenceError::Op(op, mismatch))
    }

    fn cast(reason: CastReason, from: ValueType, to: ValueType) -> Result<(), InferenceError> {
        match (reason, from, to) {
            (_, _, ValueType::Weak(_)) => Err(InferenceError::WeakCast),
            (CastReason::Promotion, ValueType::Weak(weak), ValueType::Strong(dtype)) if weak.promotes_to(dtype) => {
                Ok(())
            }
            (CastReason::Promotion, ..) => Err(InferenceError::Promotion(from, to)),
            (CastReason::Explicit | CastReason::Mode(_), ..) => Ok(()),
        }
    }

    fn reduction(
        function: AxisFunction,
        TypeRequest { dtype, policy }: TypeRequest,
        operand: ValueType,
        _: Option<ValueType>,
    ) -> Result<Types<ValueType>, InferenceError> {
        let types = policy.reduction_types(function, dtype, operand);
        let Types { compute, result } = types.map_err(|mismatch| InferenceError::Reduction(function, mismatch))?;
        Ok(Types { compute: compute.into(), result: result.into() })
    }

    fn counts(self, count: usize) -> bool {
        match self {
            ValueType::Strong(dtype) => dtype.int_range().is_none_or(|(_, most)| count as i128 <= most),
            ValueType::Weak(_) => true,
        }
    }

    fn join(policy: Policy, operands: &[ValueType]) -> Result<ValueType, InferenceError> {
        Ok(policy.resolve(TypeRule::Join, operands).map_err(InferenceError::Clash)?.compute)
    }

    fn scatter(_: Scatter, [_, index, _]: [ValueType; 3]) -> Result<(), InferenceError> {
        is_index(index)
    }

    fn insert(_: [ValueType; 2]) -> Result<(), InferenceError> {
        Ok(())
    }

    fn param(self, stored: DType) -> Result<(), InferenceError> {
        let fits = match self {
            ValueType::Strong(own) => own == stored,
            ValueType::Weak(Weak::Int) => stored.is_int(),
            ValueType::Weak(Weak::Float) => stored.is_float(),
            ValueType::Weak(Weak::Complex) => stored.is_complex(),
        };
        if fits { Ok(()) } else { Err(InferenceError::Stored(self, stored)) }
    }

    fn literal(self, slot: &Slot) -> Result<ValueType, InferenceError> {
        Ok(slot.ty())
    }

    fn call() -> Result<(), InferenceError> {
        Ok(())
    }
}

impl InferenceRules for DType {
    const STAGE: &'static str = "typed graph";
    const TYPED: bool = true;
    type Traced<X: Annotation> = ();

    fn traced<X: Annotation>(x: X) -> Option<()> {
        (x == X::default()).then_some(())
    }

    fn noted<X: Annotation>((): ()) -> X {
        X::default()
    }

    fn op(op: Op, (): (), operands: &[DType]) -> Result<Types<DType>, InferenceError> {
        let compute = operands[op.joined().start];
        let mut found = operands.iter().copied().enumerate();
        if let Some((operand, found)) = found.find(|&(operand, found)| found != op.operand_dtype(operand, compute)) {
            return Err(InferenceError::Operand { operand, found, op, compute });
        }
        if !op.row().domain.contains(compute) {
            return Err(InferenceError::Domain(op, compute));
        }
        Ok(Types { compute, result: op.result_dtype(compute) })
    }

    fn cast((): (), _: DType, _: DType) -> Result<(), InferenceError> {
        Ok(())
    }

    fn reduction(
        function: AxisFunction,
        (): (),
        operand: DType,
        indices: Option<DType>,
    ) -> Result<Types<DType>, InferenceError> {
        let result = match function {
            AxisFunction::Sort(Sort::ArgSort) => indices.unwrap_or(DType::I64),
            _ => operand,
        };
        match () {
            () if !function.stores(operand, result) => Err(InferenceError::Unlike),
            () if !function.accumulates(operand) => Err(InferenceError::Accumulates(function, operand)),
            () => Ok(Types { compute: operand, result }),
        }
    }

    fn counts(self, count: usize) -> bool {
        self.int_range().is_some_and(|(_, most)| count as i128 <= most + 1)
    }

    fn join((): (), operands: &[DType]) -> Result<DType, InferenceError> {
        if operands.iter().all(|dtype| *dtype == operands[0]) { Ok(operands[0]) } else { Err(InferenceError::Unlike) }
    }

    fn scatter(scatter: Scatter, [x, index, updates]: [DType; 3]) -> Result<(), InferenceError> {
        match () {
            () if !scatter.takes(x) => Err(InferenceError::Scatter(scatter, x)),
            () if (index, updates) != (DType::I64, x) => Err(InferenceError::Unlike),
            () => Ok(()),
        }
    }

    fn insert([x, updates]: [DType; 2]) -> Result<(), InferenceError> {
        if x == updates { Ok(()) } else { Err(InferenceError::Unlike) }
    }

    fn param(self, stored: DType) -> Result<(), InferenceError> {
        if self == stored { Ok(()) } else { Err(InferenceError::Stored(self.into(), stored)) }
    }

    fn literal(self, slot: &Slot) -> Result<DType, InferenceError> {
        match slot {
            Slot::Value(literal) => literal.to_repr(self).map(|_| self).map_err(InferenceError::Literal),
            Slot::Argument { ty, .. } if ty.promotes_to(self) => Ok(self),
            Slot::Argument { ty, .. } => Err(InferenceError::Argument(*ty, self)),
        }
    }

    fn call() -> Result<(), InferenceError> {
        Err(InferenceError::Graph("a call that was not inlined".to_owned()))
    }
}

/// Checks that a value of this type is an index of rows.
pub(super) fn is_index<T: InferenceRules>(ty: T) -> Result<(), InferenceError> {
    if ty == DType::I64.into() { Ok(()) } else { Err(InferenceError::Index(ty.into())) }
}
