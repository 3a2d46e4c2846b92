//! How the types of results follow, at each stage: in traced graphs by policies, weak types among them; in typed graphs operands have the dtypes
//! in which they are taken, and every policy is resolved.

use super::Mismatch;
use crate::dtype::DType;
use crate::graph::{Scatter, Slot};
use crate::op::{Op, Operands};
use crate::promotion::{Policy, Types};
use crate::reduction::Reduction;
use crate::support::CastReason;
use crate::value_type::{ValueType, Weak};

/// The rules of a stage's types, for as many operands as the operation takes. Errors are what does not fit.
pub trait Rules: Copy + Eq + From<DType> + Into<ValueType> {
    /// What the verifier calls a graph of this stage.
    const STAGE: &'static str;

    /// Whether types are dtypes: commit has run.
    const TYPED: bool;

    /// The types of an op.
    fn op(op: Op, policy: Policy, operands: &[Self]) -> Result<Types<Self>, Mismatch>;

    /// Whether there is a cast for this reason.
    fn cast(reason: CastReason, from: Self, to: Self) -> Result<(), Mismatch>;

    /// The types of a reduction or a scan, where a dtype is asked for or none is; `indices` is the dtype in which a typed graph has the
    /// indices of a sort.
    fn reduction(
        reduction: Reduction,
        asked: Option<DType>,
        policy: Policy,
        operand: Self,
        indices: Option<Self>,
    ) -> Result<Types<Self>, Mismatch>;

    /// Whether positions along an axis of this extent are numbers of this type.
    fn counts(self, extent: usize) -> bool;

    /// The type of arrays that are joined, one at least.
    fn join(policy: Policy, operands: &[Self]) -> Result<Self, Mismatch>;

    /// Whether elements of the third operand are put into the first one.
    fn scatter(scatter: Scatter, operands: [Self; 3]) -> Result<(), Mismatch>;

    /// Whether a parameter of this type may be stored as a dtype.
    fn param(self, stored: DType) -> Result<(), Mismatch>;

    /// The type of a number, which a graph has as this one.
    fn literal(self, slot: &Slot) -> Result<Self, Mismatch>;

    /// Whether there are calls.
    fn call() -> Result<(), Mismatch>;
}

impl Rules for ValueType {
    const STAGE: &'static str = "graph";
    const TYPED: bool = false;

    #[inline]
    fn op(op: Op, policy: Policy, operands: &[ValueType]) -> Result<Types<ValueType>, Mismatch> {
        policy.op_types(op, operands).map_err(|mismatch| Mismatch::Op(op, mismatch))
    }

    fn cast(reason: CastReason, from: ValueType, to: ValueType) -> Result<(), Mismatch> {
        match (reason, from, to) {
            (_, _, ValueType::Weak(_)) => Err(Mismatch::WeakCast),
            (CastReason::Promotion, ValueType::Weak(weak), ValueType::Strong(dtype)) if weak.promotes_to(dtype) => {
                Ok(())
            }
            (CastReason::Promotion, ..) => Err(Mismatch::Promotion(from, to)),
            (CastReason::Explicit | CastReason::Mode(_), ..) => Ok(()),
        }
    }

    fn reduction(
        reduction: Reduction,
        asked: Option<DType>,
        policy: Policy,
        operand: ValueType,
        _: Option<ValueType>,
    ) -> Result<Types<ValueType>, Mismatch> {
        let types = policy.reduction_types(reduction, asked, operand);
        let Types { compute, result } = types.map_err(|mismatch| Mismatch::Reduction(reduction, mismatch))?;
        Ok(Types { compute: compute.into(), result: result.into() })
    }

    fn counts(self, _: usize) -> bool {
        true
    }

    fn join(policy: Policy, operands: &[ValueType]) -> Result<ValueType, Mismatch> {
        Ok(policy.resolve(Operands::Join, operands).map_err(Mismatch::Clash)?.compute)
    }

    fn scatter(_: Scatter, [_, index, _]: [ValueType; 3]) -> Result<(), Mismatch> {
        is_index(index)
    }

    fn param(self, stored: DType) -> Result<(), Mismatch> {
        let fits = match self {
            ValueType::Strong(own) => own == stored,
            ValueType::Weak(Weak::Int) => stored.is_int(),
            ValueType::Weak(Weak::Float) => stored.is_float(),
            ValueType::Weak(Weak::Complex) => stored.is_complex(),
        };
        if fits { Ok(()) } else { Err(Mismatch::Stored(self, stored)) }
    }

    fn literal(self, slot: &Slot) -> Result<ValueType, Mismatch> {
        Ok(slot.ty())
    }

    fn call() -> Result<(), Mismatch> {
        Ok(())
    }
}

impl Rules for DType {
    const STAGE: &'static str = "typed graph";
    const TYPED: bool = true;

    fn op(op: Op, policy: Policy, operands: &[DType]) -> Result<Types<DType>, Mismatch> {
        is_resolved(policy)?;
        let compute = operands[op.joined().start];
        let mut found = operands.iter().copied().enumerate();
        if let Some((operand, found)) = found.find(|&(operand, found)| found != op.operand_dtype(operand, compute)) {
            return Err(Mismatch::Operand { operand, found, op, compute });
        }
        if !op.row().domain.contains(compute) {
            return Err(Mismatch::Domain(op, compute));
        }
        Ok(Types { compute, result: op.result_dtype(compute) })
    }

    fn cast(reason: CastReason, _: DType, _: DType) -> Result<(), Mismatch> {
        if reason == CastReason::Explicit { Ok(()) } else { Err(Mismatch::Reason(reason)) }
    }

    fn reduction(
        reduction: Reduction,
        asked: Option<DType>,
        policy: Policy,
        operand: DType,
        indices: Option<DType>,
    ) -> Result<Types<DType>, Mismatch> {
        let result = match (reduction, indices) {
            (Reduction::ArgSort, indices) => indices.unwrap_or(DType::I64),
            _ => operand,
        };
        match () {
            () if (asked, policy) != (None, Policy::default()) => Err(Mismatch::UnresolvedReduction(reduction)),
            () if !reduction.stores(operand, result) => Err(Mismatch::Unlike),
            () if !reduction.accumulates(operand) => Err(Mismatch::Accumulates(reduction, operand)),
            () => Ok(Types { compute: operand, result }),
        }
    }

    fn counts(self, extent: usize) -> bool {
        self.int_range().is_some_and(|(_, most)| extent as i128 <= most + 1)
    }

    fn join(policy: Policy, operands: &[DType]) -> Result<DType, Mismatch> {
        is_resolved(policy)?;
        if operands.iter().all(|dtype| *dtype == operands[0]) { Ok(operands[0]) } else { Err(Mismatch::Unlike) }
    }

    fn scatter(scatter: Scatter, [x, index, updates]: [DType; 3]) -> Result<(), Mismatch> {
        match () {
            () if !scatter.takes(x) => Err(Mismatch::Scatter(scatter, x)),
            () if (index, updates) != (DType::I64, x) => Err(Mismatch::Unlike),
            () => Ok(()),
        }
    }

    fn param(self, stored: DType) -> Result<(), Mismatch> {
        if self == stored { Ok(()) } else { Err(Mismatch::Stored(self.into(), stored)) }
    }

    fn literal(self, slot: &Slot) -> Result<DType, Mismatch> {
        match slot {
            Slot::Value(literal) => literal.to_repr(self).map(|_| self).map_err(Mismatch::Literal),
            Slot::Argument { ty, .. } if ty.promotes_to(self) => Ok(self),
            Slot::Argument { ty, .. } => Err(Mismatch::Argument(*ty, self)),
        }
    }

    fn call() -> Result<(), Mismatch> {
        Err(Mismatch::Graph("a call that was not inlined".to_owned()))
    }
}

/// Whether a value of this type is an index of rows.
pub(super) fn is_index<T: Rules>(ty: T) -> Result<(), Mismatch> {
    if ty == DType::I64.into() { Ok(()) } else { Err(Mismatch::Index(ty.into())) }
}

fn is_resolved(policy: Policy) -> Result<(), Mismatch> {
    if policy == Policy::default() { Ok(()) } else { Err(Mismatch::Unresolved(policy)) }
}
