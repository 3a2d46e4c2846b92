//! The integer ranges of the values of a trace, as data.

use ndjit_ir::graph::Value;
use std::collections::HashMap;

/// The minimum and the maximum of a value.
pub(crate) type IntRange = (i64, i64);

/// Ranges of the values of a trace.
#[derive(Default)]
pub(super) struct IntRanges {
    /// Ranges of parameters, given at the start of the trace.
    pub(super) given: HashMap<Value, IntRange>,
    /// Ranges of the first values.
    pub(super) known: Vec<Option<IntRange>>,
}

impl IntRanges {
    /// Sets the range of a parameter.
    pub(super) fn give(&mut self, param: Value, range: IntRange) {
        self.given.insert(param, range);
        self.known.truncate(param.index());
    }

    /// Returns the ranges of the first values.
    pub(super) fn known(&self) -> &[Option<IntRange>] {
        &self.known
    }
}
