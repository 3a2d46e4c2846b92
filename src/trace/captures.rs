//! What a graph of control flow uses of the traces around it, while it is recorded.

use super::ranges::IntRange;
use crate::trace::known::Known;
use crate::trace::operand::AnyOperand;
use ndjit_ir::graph::{Slot, Value};
use ndjit_ir::{DType, Shape, ValueType};
use std::collections::HashMap;
use std::sync::Arc;

/// What is known of a value of a trace around: if it is a number, what fills its slot; of an integer its range.
pub(super) type Seen = (ValueType, DType, Shape, Option<Slot>, Option<IntRange>);

/// What a graph of control flow uses of what is around it.
#[derive(Default)]
pub(super) struct Captures {
    /// The values of the traces around, by trace.
    pub(super) around: HashMap<u32, Arc<Vec<Seen>>>,
    /// What is used, in the order of the parameters that stand for it, which come after its own.
    pub(super) used: Vec<AnyOperand>,
    /// The values that stand for values of the traces around: parameters, and numbers, which stay numbers.
    pub(super) values: HashMap<(u32, Value), Value>,
    /// The parameters that stand for arrays, by identity.
    pub(super) arrays: HashMap<usize, Value>,
    /// What was known of the control flow in it when it was recorded before.
    pub(super) known: Vec<Known>,
    /// The same, of this recording.
    pub(super) learned: Vec<Known>,
}
