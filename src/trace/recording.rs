//! What functions are traced with and what that gives, as data: parameters, recordings, what is printed.

use crate::array::node::Array;
use ndjit_eval::plan::compiled::Printing;
use ndjit_ir::graph::{Graph, Places};
use ndjit_ir::support::Supports;
use ndjit_ir::{DType, Place, Shape, ValueType, Weak};
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

/// What recording a function gave.
#[derive(Debug)]
pub(crate) struct Recording {
    pub graph: Graph<ValueType>,
    pub places: Places,
    /// What its ops were made under.
    pub supports: Supports,
    /// Arrays the function used without being passed them: the last parameters of the graph.
    pub closed_over: Vec<Array>,
    /// What the function prints when it runs: the last results of the graph.
    pub printed: Vec<Printing>,
}

/// A function, as errors name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionName {
    /// Which it is, for as long as it lives.
    pub id: usize,
    /// The type of the closure.
    pub name: &'static str,
    /// Where it was made a jitted function.
    pub place: Place,
}

impl fmt::Display for FunctionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, jitted at {}", self.name, self.place)
    }
}
