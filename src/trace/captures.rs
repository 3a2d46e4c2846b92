//! Values that a graph of control flow captures from enclosing traces during recording, and facts on its control flow.

use super::int_ranges::IntRange;
use crate::trace::operand::AnyOperand;
use ndjit_ir::graph::{Slot, Value};
use ndjit_ir::{DType, Shape, SourceLoc, ValueType};
use std::collections::HashMap;
use std::sync::Arc;

/// A value of an enclosing trace. Includes the slot of a number and the range of an integer.
pub(super) type Seen = (ValueType, DType, Shape, Option<Slot>, Option<IntRange>);

/// The captures of a graph of control flow.
#[derive(Default)]
pub(super) struct Captures {
    /// The values of the enclosing traces, by trace.
    pub(super) around: HashMap<u32, Arc<Vec<Seen>>>,
    /// The captured operands, in the order of their parameters, which follow the graph's own.
    pub(super) used: Vec<AnyOperand>,
    /// The local values of captured ones: parameters, and numbers, which remain numbers.
    pub(super) values: HashMap<(u32, Value), Value>,
    /// The parameters of captured arrays, by identity.
    pub(super) arrays: HashMap<usize, Value>,
    /// The previous recording's facts on nested control flow.
    pub(super) known: Vec<Known>,
    /// This recording's facts on nested control flow.
    pub(super) learned: Vec<Known>,
}

/// Facts on one loop or branch.
#[derive(Clone, Default)]
pub(crate) struct Known {
    pub(super) place: Option<SourceLoc>,
    /// The types of a loop's state.
    pub(crate) types: Vec<ValueType>,
    /// Facts on the control flow in each of its graphs.
    pub(crate) graphs: Vec<Vec<Known>>,
}

impl Known {
    /// Takes the facts on the control flow in a graph.
    pub(crate) fn graph(&mut self, n: usize) -> Vec<Known> {
        self.graphs.get_mut(n).map(std::mem::take).unwrap_or_default()
    }
}
