//! An op's types: what it computes in and what it gives, or the error that says which operand to cast to what.
//!
//! The policy decides the computing type; the op's table row adds arity, domain and result. Errors carry no place: who calls
//! knows it and adds it.

use super::lattice;
use super::policy::{Clash, Policy};
use crate::dtype::{DType, Kind};
use crate::error::{Error, ErrorCode, Result};
use crate::op::{Op, Operands, ResultRule};
use crate::value_type::{ValueType, Weak};

/// The types of one use of an op. The dtype each operand is cast to follows from `compute` by [`Op::operand_dtype`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpTypes {
    /// The type the op computes in.
    pub compute: ValueType,
    /// The type of its result. Weak where `compute` is; bool is always strong.
    pub result: ValueType,
}

impl Policy {
    /// The types of `op` on operands of the given types, in order.
    ///
    /// # Errors
    /// [`Arity`](ErrorCode::Arity) for a wrong number of operands, [`Promotion`](ErrorCode::Promotion) where the policy
    /// defines no common type, [`Dtype`](ErrorCode::DType) where the op does not take the common type (a weak one counts as
    /// its default dtype).
    pub fn resolve_op(self, op: Op, operands: &[ValueType]) -> Result<OpTypes> {
        if operands.len() != op.arity() {
            return Err(wrong_arity(op, operands));
        }
        let compute =
            self.resolve(op.row().rule, operands).map_err(|clash| no_common_type(op, operands, clash))?.compute;
        if !op.row().domain.contains(self.commit(compute)) {
            return Err(self.not_supported(op, operands, compute));
        }
        Ok(OpTypes { compute, result: result_type(op, compute) })
    }

    fn not_supported(self, op: Op, operands: &[ValueType], compute: ValueType) -> Error {
        let row = op.row();
        let mut error = Error::new(ErrorCode::DType, format!("{op}: {compute} is not supported"));
        error = operand_facts(error, op, operands).fact(format_args!("accepted: {}", row.domain));
        let accepts = |ty: ValueType| row.domain.contains(self.commit(ty));
        let refused: Vec<usize> = (first_joined(op)..operands.len()).filter(|&i| !accepts(operands[i])).collect();
        let help = if refused.is_empty() {
            // Integers whose join is a float, as of u64 and i64.
            let target = DType::I64;
            let casts = casts_to(op, operands, target, |ty| ty == ValueType::Strong(target) || ty.is_weak());
            format!("the operands' common type is {compute}; cast explicitly: {casts}")
        } else {
            let Some(target) = self.nearest(op, compute) else { return error };
            let casts = casts_to(op, operands, target, accepts);
            match compute.kind() {
                Kind::Complex => format!("abs gives the modulus; a cast drops the imaginary part: {casts}"),
                Kind::Float => format!("a cast truncates: {casts}"),
                Kind::Bool | Kind::UInt | Kind::Int => format!("cast explicitly: {casts}"),
            }
        };
        error.help(help)
    }

    /// The dtype of the op's domain that is nearest to a type outside it: the real part's, the integer of the same width, or
    /// the default integer for bool.
    fn nearest(self, op: Op, compute: ValueType) -> Option<DType> {
        let dtype = self.commit(compute);
        let same_width = match dtype.real().bytes() {
            1 => DType::I8,
            2 => DType::I16,
            4 => DType::I32,
            _ => DType::I64,
        };
        let domain = op.row().domain;
        [dtype.real(), if dtype == DType::Bool { self.default_dtype(Weak::Int) } else { same_width }]
            .into_iter()
            .find(|&candidate| domain.contains(candidate))
            .or_else(|| domain.iter().next())
    }
}

/// The result's type from the computing one.
fn result_type(op: Op, compute: ValueType) -> ValueType {
    match (op.row().result, compute) {
        (ResultRule::Bool, _) => ValueType::Strong(DType::Bool),
        (ResultRule::Real, ValueType::Weak(Weak::Complex)) => ValueType::Weak(Weak::Float),
        (ResultRule::Real, ValueType::Strong(dtype)) => ValueType::Strong(dtype.real()),
        (ResultRule::Real, ValueType::Weak(Weak::Int | Weak::Float)) | (ResultRule::Same, _) => compute,
    }
}

fn wrong_arity(op: Op, operands: &[ValueType]) -> Error {
    let (takes, given) = (op.arity(), operands.len());
    let plural = if takes == 1 { "" } else { "s" };
    Error::new(ErrorCode::Arity, format!("{op}: takes {takes} operand{plural}, {given} given"))
        .fact(format_args!("operands: {op}({})", op.row().operands.join(", ")))
}

fn no_common_type(op: Op, operands: &[ValueType], clash: Clash) -> Error {
    let error = Error::new(ErrorCode::Promotion, format!("{op}: {clash}"));
    // What the standard policy would compute in, given a width, and the casts that make every operand agree to it.
    let joined = operands.iter().skip(first_joined(op)).copied().reduce(lattice::join);
    let target = clash.policy.commit(joined.unwrap_or(clash.with));
    let agrees = |ty| clash.policy.join(ty, ValueType::Strong(target)) == Some(ValueType::Strong(target));
    operand_facts(error, op, operands).help(format!("cast explicitly: {}", casts_to(op, operands, target, agrees)))
}

/// One fact per operand: its name, aligned, and its type.
fn operand_facts(error: Error, op: Op, operands: &[ValueType]) -> Error {
    let names = op.row().operands;
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0) + 1;
    names.iter().zip(operands).fold(error, |error, (name, ty)| {
        let label = format!("{name}:");
        error.fact(format_args!("{label:width$} {ty}"))
    })
}

/// The casts to write, for each joined operand that is not fine as it is: `x.cast(DType::F32), y.cast(DType::F32)`.
fn casts_to(op: Op, operands: &[ValueType], target: DType, fine: impl Fn(ValueType) -> bool) -> String {
    let mut casts = Vec::new();
    for (name, &ty) in op.row().operands.iter().zip(operands).skip(first_joined(op)) {
        if !fine(ty) {
            casts.push(format!("`{name}.cast(DType::{target:?})`"));
        }
    }
    casts.join(", ")
}

/// The first operand that takes part in the join: all do, but for a condition.
fn first_joined(op: Op) -> usize {
    match op.row().rule {
        Operands::Choose => 1,
        Operands::Join | Operands::Number | Operands::Inexact | Operands::Logical => 0,
    }
}
