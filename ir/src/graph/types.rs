//! The types that values of graphs can have.

use super::{Graph, InnerGraph};
use crate::dtype::DType;
use crate::promotion::Policy;
use crate::value_type::ValueType;
use std::fmt::{Debug, Display};
use std::hash::Hash;

/// The types a graph's values can have: [`ValueType`] before commit, [`DType`] after.
pub trait Type: Copy + Eq + Hash + Display + Debug + 'static {
    /// The dtype a value of this type is stored in, unless something else is said: of a weak one the default policy's.
    fn stored(self) -> DType;

    /// A graph of control flow, if its values have such types.
    fn inner(graph: &InnerGraph) -> Option<&Graph<Self>>
    where
        Self: Sized;
}

impl Type for ValueType {
    fn stored(self) -> DType {
        Policy::default().commit(self)
    }

    fn inner(graph: &InnerGraph) -> Option<&Graph<ValueType>> {
        match graph {
            InnerGraph::Traced(graph) => Some(graph),
            InnerGraph::Typed(_) => None,
        }
    }
}

impl Type for DType {
    fn stored(self) -> DType {
        self
    }

    fn inner(graph: &InnerGraph) -> Option<&Graph<DType>> {
        match graph {
            InnerGraph::Traced(_) => None,
            InnerGraph::Typed(graph) => Some(graph),
        }
    }
}
