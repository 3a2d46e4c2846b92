//! The first operation whose result needs more bytes than the arrays it was computed from.

use super::{Explainer, Explanation};
use crate::dtype::DType;
use crate::graph::{NodeId, NodeKind, Value};
use crate::reduction::Rule;
use std::fmt;

/// An operation that widened: its result's dtype has more bytes than that of every array operand.
///
/// What counts is the dtype that values are computed and stored in; of complex numbers the real part, so that a complex result
/// is no wider than its parts. Numbers in the source and numbers passed at each call are no arrays: they may be the reason, but
/// are not what is widened. Bool has no width, and a cast was asked for; neither widens.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Widening {
    /// The value.
    pub value: Value,
    /// The widest dtype among the array operands.
    pub from: DType,
    /// The result's dtype.
    pub to: DType,
    /// Why the result has it.
    pub explanation: Explanation,
}

impl Explainer<'_> {
    /// The first operation, in the order traced, that [widened](Widening).
    pub fn first_widening(&self) -> Option<Widening> {
        self.graph.node_ids().find_map(|id| {
            let (from, to) = self.widened(id)?;
            let value = self.graph.node(id).first();
            Some(Widening { value, from, to, explanation: self.explain(value) })
        })
    }

    fn widened(&self, id: NodeId) -> Option<(DType, DType)> {
        let graph = self.graph;
        match graph.node(id).kind {
            NodeKind::Op(..) => {}
            // An index is no number of the operand's.
            NodeKind::Reduce(reduce) if reduce.reduction.row().rule != Rule::Index && reduce.dtype.is_none() => {}
            _ => return None,
        }
        let is_array = |&&value: &&Value| !matches!(graph.node(graph.producer(value)).kind, NodeKind::Literal(_));
        let arrays = graph.operands(id).iter().filter(is_array).map(|&value| graph.stored(value, self.policy));
        let width = |dtype: DType| dtype.real().bytes();
        let numbers = arrays.filter(|dtype| *dtype != DType::Bool);
        let from = numbers.reduce(|widest, dtype| if width(dtype) > width(widest) { dtype } else { widest })?;
        let to = graph.stored(graph.node(id).first(), self.policy);
        (width(to) > width(from)).then_some((from, to))
    }
}

impl fmt::Display for Widening {
    /// `f32 in, f64 out: ` and the explanation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in, {} out: {}", self.from, self.to, self.explanation)
    }
}
