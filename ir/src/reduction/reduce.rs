//! Reductions as nodes of graphs.

use super::{AxisSet, Reduction, TypeRequest};
use crate::graph::Type;
use crate::value_type::ValueType;

/// A reduction as a node of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reduce<T: Type = ValueType> {
    /// The reduction.
    pub reduction: Reduction,
    /// The axes of the operand.
    pub axes: AxisSet,
    /// True if those axes stay, with extent 1.
    pub keepdims: bool,
    /// True for the sum of a contraction. If it is of products of two arrays, its order may be that of a matrix product, which is the same
    /// in every run on a machine, instead of [`fold`](super::fold)'s. Only sums contract.
    pub contracts: bool,
    /// The requested type.
    pub request: T::Traced<TypeRequest>,
}

impl<T: Type> Reduce<T> {
    /// A reduction that is no contraction, without a type request.
    pub fn new(reduction: Reduction, axes: AxisSet, keepdims: bool) -> Reduce<T> {
        Reduce { reduction, axes, keepdims, contracts: false, request: T::Traced::default() }
    }
}
