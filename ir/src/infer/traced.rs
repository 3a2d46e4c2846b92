//! Questions about operations of traced graphs only: the steps of a promotion, and errors with advice.

use super::{InferenceError, Operation};
use crate::axes::AxisSet;
use crate::error::{Error, Result};
use crate::graph::NodeKind;
use crate::op::TypeRule;
use crate::promotion::{OpMismatch, OpTypes, Resolution};
use crate::reduction::{AxisFunction, Reduce, TypeRequest};
use crate::value_type::ValueType;

impl Operation<'static> {
    /// A function along axes; for scans and sorts, the first of these.
    pub fn along(function: impl Into<AxisFunction>, axes: AxisSet, request: TypeRequest) -> Operation<'static> {
        let axis = axes.iter().next().unwrap_or(0) as u32;
        match function.into() {
            AxisFunction::Reduction(reduction) => {
                NodeKind::Reduce(Reduce { request, ..Reduce::new(reduction, axes, false) }).into()
            }
            AxisFunction::Scan(scan) => NodeKind::Scan(scan, axis, request).into(),
            AxisFunction::Sort(sort) => NodeKind::Sort(sort, axis, request).into(),
        }
    }
}

impl Operation<'_> {
    /// The promotion of operands, step by step. `joined` are only those that [are joined](TypeRule::joined), or some of them.
    /// Not checked: whether the operation supports the computing type.
    ///
    /// ```
    /// use ndjit_ir::infer::Operation;
    /// use ndjit_ir::{DType, Op, Policy};
    /// let steps = Operation::op(Op::Sin, Policy::Standard).promotion(&[DType::I8.into()])?;
    /// assert_eq!([steps.joined, steps.compute], [DType::I8.into(), DType::F32.into()]);
    /// # Ok::<(), ndjit_ir::infer::InferenceError>(())
    /// ```
    ///
    /// # Errors
    /// The mismatch.
    pub fn promotion(&self, joined: &[ValueType]) -> Result<Resolution, InferenceError> {
        match self.kind {
            NodeKind::Op(op, policy) => policy
                .resolve_for(op, op.row().rule.of_joined(), joined)
                .map_err(|clash| InferenceError::Op(op, OpMismatch::Clash(clash))),
            NodeKind::Concat(_, policy) => policy.resolve(TypeRule::Join, joined).map_err(InferenceError::Clash),
            _ => {
                let compute = self.types(joined)?.compute;
                Ok(Resolution { joined: compute, adapted: compute, compute })
            }
        }
    }

    /// The [types](Operation::types), or the [error](Operation::error).
    pub(crate) fn resolve(&self, operands: &[ValueType]) -> Result<OpTypes> {
        self.types(operands).map_err(|mismatch| self.error(mismatch, operands))
    }

    /// A mismatch of operands of these types, as an error with the casts that would help.
    pub(crate) fn error(&self, mismatch: InferenceError, operands: &[ValueType]) -> Error {
        match (&self.kind, self.kind.type_request(), mismatch) {
            (&NodeKind::Op(op, policy), _, InferenceError::Arity { given, .. }) => {
                policy.op_error(op, operands, OpMismatch::Arity(given))
            }
            (&NodeKind::Op(op, policy), _, InferenceError::Op(_, mismatch)) => policy.op_error(op, operands, mismatch),
            (_, Some((function, TypeRequest { policy, .. })), InferenceError::Reduction(_, mismatch)) => {
                policy.reduction_error(function, operands[0], mismatch)
            }
            (.., mismatch) => mismatch.error(),
        }
    }
}
