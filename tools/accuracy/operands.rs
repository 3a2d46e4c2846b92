//! The operand dtypes of an op.

use ndjit::{DType, Op};
use ndjit_ir::op::TypeRule;

/// The dtypes of an op's operands when it computes in `dtype`; exponents are integers.
pub fn operands(op: Op, dtype: DType) -> Vec<DType> {
    let exponent = |i: usize| matches!(op.row().rule, TypeRule::Ldexp | TypeRule::Shift) && i == 1;
    (0..op.arity()).map(|i| if exponent(i) { DType::I32 } else { op.operand_dtype(i, dtype) }).collect()
}
