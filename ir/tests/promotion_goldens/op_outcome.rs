//! One function on operands of some types, in a library and in ndjit; and the parts of deliberate differences.

use crate::ops::Call;
use ndjit_ir::op::{ResultRule, TypeRule};
use ndjit_ir::reduction::ReductionRule;
use ndjit_ir::{DType, Kind, Op, Policy, Reduction, ValueType};

/// One cell.
pub struct Outcome<'a> {
    pub policy: Policy,
    pub call: Call,
    pub operands: &'a [ValueType],
    pub theirs: Option<&'a str>,
    pub ours: Option<ValueType>,
}

impl Outcome<'_> {
    pub fn has(&self, test: impl Fn(&ValueType) -> bool) -> bool {
        self.operands.iter().any(test)
    }

    pub fn has_kind(&self, kind: Kind) -> bool {
        self.has(|ty| ty.kind() == kind)
    }

    /// The joined operands: without a condition or an exponent.
    pub fn joined(&self) -> &[ValueType] {
        match self.call {
            Call::Op(op) => &self.operands[op.joined()],
            _ => self.operands,
        }
    }

    /// The library refuses, ndjit computes.
    pub fn refused(&self) -> bool {
        self.theirs.is_none() && self.ours.is_some()
    }

    /// The library computes, ndjit refuses.
    pub fn missing(&self) -> bool {
        self.theirs.is_some() && self.ours.is_none()
    }

    /// Both compute.
    pub fn other(&self) -> bool {
        self.theirs.is_some() && self.ours.is_some()
    }
}

/// Cells with deliberate differences.
pub struct Difference {
    /// Its reports.
    pub libraries: &'static [&'static str],
    /// Function names; empty for all.
    pub calls: &'static [&'static str],
    /// The cells.
    pub cells: fn(&Outcome) -> bool,
    /// The result of ndjit.
    pub ours: fn(&Outcome) -> Option<ValueType>,
    pub reason: &'static str,
}

impl Difference {
    pub fn explains(&self, outcome: &Outcome) -> bool {
        (self.calls.is_empty() || self.calls.contains(&outcome.call.name()))
            && (self.cells)(outcome)
            && (self.ours)(outcome) == outcome.ours
    }
}

pub fn nothing(_: &Outcome) -> Option<ValueType> {
    None
}

pub fn bool_result(_: &Outcome) -> Option<ValueType> {
    Some(DType::Bool.into())
}

pub fn i64_result(_: &Outcome) -> Option<ValueType> {
    Some(DType::I64.into())
}

pub fn c64(_: &Outcome) -> Option<ValueType> {
    Some(DType::C64.into())
}

/// The operands' join in the policy's table, as a float or a number if the call requires one; bool for predicates, i64 for
/// indices and counts (no listed library has another).
pub fn meets(o: &Outcome) -> Option<ValueType> {
    let rule = match o.call {
        Call::Op(op) if matches!(op.row().rule.of_joined(), TypeRule::Inexact | TypeRule::Number) => {
            op.row().rule.of_joined()
        }
        _ => TypeRule::Join,
    };
    let met = o.policy.resolve(rule, o.joined()).ok().map(|resolution| resolution.compute);
    match o.call {
        Call::Op(op) if op.row().rule == TypeRule::Logical => bool_result(o),
        Call::Op(op) if op.row().result == ResultRule::Bool => met.and(bool_result(o)),
        Call::Reduction(reduction) if reduction.row().rule == ReductionRule::Bool => bool_result(o),
        Call::Reduction(reduction) if reduction.row().rule == ReductionRule::Index => i64_result(o),
        _ => met,
    }
}

/// The operands' join, with bool as a number.
pub fn number(o: &Outcome) -> Option<ValueType> {
    o.policy.resolve(TypeRule::Number, o.operands).ok().map(|resolution| resolution.compute)
}

/// Like arrays of the default dtypes instead of the numbers.
pub fn of_defaults(o: &Outcome) -> Option<ValueType> {
    let operands: Vec<ValueType> = o.operands.iter().map(|&ty| o.policy.commit(ty).into()).collect();
    o.call.resolve(o.policy, &operands)
}

/// Like the square root.
pub fn as_sqrt(o: &Outcome) -> Option<ValueType> {
    Call::Op(Op::Sqrt).resolve(o.policy, o.operands)
}

/// Like the standard deviation.
pub fn as_std(o: &Outcome) -> Option<ValueType> {
    Call::Reduction(Reduction::Std.into()).resolve(o.policy, o.operands)
}

/// Like a sum.
pub fn as_sum(o: &Outcome) -> Option<ValueType> {
    Call::Reduction(Reduction::Sum.into()).resolve(o.policy, o.operands)
}

/// Returns `true` if an exponent may have this type.
pub fn is_integer(ty: ValueType) -> bool {
    matches!(ty.kind(), Kind::Bool | Kind::UInt | Kind::Int)
}
