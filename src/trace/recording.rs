//! Inputs and results of tracing, as data: parameters, recordings, debug output.

use super::print::Printing;
use crate::array::node::Array;
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::support::Supports;
use ndjit_ir::{DType, Shape, SourceLoc, ValueType, Weak};
use std::fmt;

/// A parameter of a function to trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Param {
    /// An array of this type, stored as this dtype.
    Array(ValueType, DType, Shape),
    /// A number passed at each call.
    Scalar(Weak),
}

impl Param {
    pub(crate) fn is_array(&self) -> bool {
        matches!(self, Param::Array(..))
    }
}

/// The recording of a function.
#[derive(Debug)]
pub(crate) struct Recording {
    pub graph: Graph<ValueType>,
    pub places: SourceLocs,
    /// The settings of its operations.
    pub supports: Supports,
    /// Captured arrays: the last parameters of the graph.
    pub closed_over: Vec<Array>,
    /// The debug output: the last results of the graph.
    pub printed: Vec<Printing>,
}

/// The name of a function in errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionName {
    /// Its identity, unique while it lives.
    pub id: usize,
    /// The type of the closure.
    pub name: &'static str,
    /// The place of its `jit` call.
    pub place: SourceLoc,
}

impl fmt::Display for FunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, jitted at {}", self.name, self.place)
    }
}
