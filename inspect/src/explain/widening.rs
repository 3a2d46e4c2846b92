//! The first operation whose result needs more bytes than its array operands.

use super::chain::Explanation;
use super::explainer::Explainer;
use super::origin::{Origin, is_strong};
use ndjit_ir::dtype::DType;
use ndjit_ir::graph::{NodeId, NodeKind, Value};
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::{Literal, LiteralValue};
use ndjit_ir::reduction::{ReductionRule, TypeRequest};
use ndjit_ir::value_type::ValueType;
use std::fmt;

/// An operation whose result has a wider dtype than every array operand.
///
/// The relevant dtype is that of computation and storage; for complex numbers that of the real part, so a complex result is no
/// wider than its parts. Scalars in the source and scalars passed at a call may be the cause, but are not widened. Bool has no
/// width, and an explicit cast is intended; neither widens.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Widening {
    /// The value.
    pub value: Value,
    /// The widest dtype among the array operands.
    pub from: DType,
    /// The result's dtype.
    pub to: DType,
    /// The explanation of the result's dtype.
    pub explanation: Explanation,
    /// The strong scalars among the operands, if they are the cause: as bare literals they would not have widened.
    pub strong: Vec<LiteralValue>,
}

impl Explainer<'_> {
    /// The first operation, in trace order, that [widened](Widening).
    pub fn first_widening(&self) -> Option<Widening> {
        self.graph.node_ids().find_map(|id| {
            let (from, to) = self.widened(id)?;
            let value = self.graph.node(id).first();
            let (explanation, strong) = (self.explain(value), self.needlessly_strong(id, from));
            Some(Widening { value, from, to, explanation, strong })
        })
    }

    fn widened(&self, id: NodeId) -> Option<(DType, DType)> {
        let graph = self.graph;
        let kind = graph.node(id).kind;
        match kind.type_request() {
            None if kind.op().is_some() => {}
            // An index is not a value of the operand.
            Some((function, TypeRequest { dtype: None, .. })) if function.row().rule != ReductionRule::Index => {}
            _ => return None,
        }
        let is_array = |&&value: &&Value| !matches!(graph.node(graph.producer(value)).kind, NodeKind::Literal(_));
        let arrays = graph.operands(id).iter().filter(is_array).map(|&value| graph.storage_dtype(value, self.policy));
        let numbers = arrays.filter(|dtype| *dtype != DType::Bool);
        let from = numbers.reduce(|widest, dtype| if width(dtype) > width(widest) { dtype } else { widest })?;
        let to = graph.storage_dtype(graph.node(id).first(), self.policy);
        (width(to) > width(from)).then_some((from, to))
    }

    /// The strong scalars among an operation's operands without which its result would be no wider than `from`.
    fn needlessly_strong(&self, id: NodeId, from: DType) -> Vec<LiteralValue> {
        let graph = self.graph;
        let NodeKind::Op(op, policy) = graph.node(id).kind else { return Vec::new() };
        let operands = graph.operands(id);
        let mut types: Vec<ValueType> = operands.iter().map(|&value| graph.ty(value)).collect();
        let mut strong = Vec::new();
        for (ty, &operand) in types.iter_mut().zip(operands).take(op.joined().end).skip(op.joined().start) {
            if let Origin::Literal(literal, _) = self.origin(operand)
                && is_strong(&literal)
            {
                *ty = literal.value().weak_type();
                strong.push(literal.value());
            }
        }
        let Ok(bare) = Operation::op(op, policy).types(&types) else { return Vec::new() };
        let fits = |value: &LiteralValue| Literal::weak(*value).to_repr(policy.commit(bare.compute)).is_ok();
        match width(policy.commit(bare.result)) <= width(from) && strong.iter().all(fits) {
            true => strong,
            false => Vec::new(),
        }
    }
}

/// The bytes of a real element, or of a complex element's part.
fn width(dtype: DType) -> usize {
    dtype.real().bytes()
}

impl fmt::Display for Widening {
    /// `f32 in, f64 out: ` and the explanation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in, {} out: {}", self.from, self.to, self.explanation)
    }
}
