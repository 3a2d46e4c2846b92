//! The uses that required the casts and scalars of a typed graph, in words.

use super::explainer::Explainer;
use super::rule::{Rule, committed, promotion, reducing};
use super::text;
use ndjit_ir::SourceLoc;
use ndjit_ir::graph::{NodeId, NodeKind, Value};
use ndjit_ir::infer::Operation;
use ndjit_ir::op::TypeRule;
use ndjit_ir::reduction::{AxisFunction, TypeRequest};
use ndjit_ir::value_type::ValueType;
use ndjit_transform::Reason;
use std::fmt::{self, Display, Formatter};

impl Explainer<'_> {
    /// A reason in words: `operand y of add at src/main.rs:10:24: join f32 ∨ i8 = f32`.
    pub fn reason(&self, reason: Reason) -> impl Display + '_ {
        InWords { explainer: self, reason }
    }
}

struct InWords<'a> {
    explainer: &'a Explainer<'a>,
    reason: Reason,
}

impl InWords<'_> {
    fn reduction(
        &self,
        node: NodeId,
        (function, request): (AxisFunction, TypeRequest),
        index: usize,
        f: &mut Formatter<'_>,
    ) -> fmt::Result {
        let Explainer { graph, places, .. } = *self.explainer;
        let name = function.row().operands.get(index).copied().unwrap_or("?");
        write!(f, "operand {name} of {function}")?;
        text::write_places(&places.all(node).collect::<Vec<SourceLoc>>(), f)?;
        let Some(&operand) = graph.operands(node).first() else { return Ok(()) };
        let types = [operand, graph.node(node).first()].map(|value| graph.ty(value));
        write!(f, ": {}", reducing(function, request, types))
    }
}

impl Display for InWords<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Explainer { graph, places, policy, .. } = *self.explainer;
        let at = |node: NodeId| places.all(node).collect::<Vec<SourceLoc>>();
        match self.reason {
            Reason::Operand(node, index) => {
                let index = index as usize;
                let operands: &[Value] = graph.operands(node);
                let types: Vec<ValueType> = operands.iter().map(|&o| graph.ty(o)).collect();
                let kind = graph.node(node).kind;
                if let Some(asked) = kind.type_request() {
                    return self.reduction(node, asked, index, f);
                }
                let (op, policy) = match kind {
                    NodeKind::Op(op, policy) => (op, policy),
                    NodeKind::Concat(axis, policy) => {
                        write!(f, "operand {index} of concat")?;
                        text::write_places(&at(node), f)?;
                        let rules = promotion(&Operation::concat(axis, policy), &types).unwrap_or_default();
                        for (i, rule) in rules.iter().enumerate() {
                            write!(f, "{}{rule}", if i == 0 { ": " } else { "; " })?;
                        }
                        return Ok(());
                    }
                    _ => return Ok(()),
                };
                let name = op.row().operands.get(index).copied().unwrap_or("?");
                write!(f, "operand {name} of {op}")?;
                text::write_places(&at(node), f)?;
                // A condition becomes bool independently, an exponent the dtype of the scaled
                // float.
                let rules = match op.row().rule {
                    TypeRule::Select if index == 0 => vec![Rule::Truth],
                    _ => committed(&Operation::op(op, policy), &types).unwrap_or_default(),
                };
                for (i, rule) in rules.iter().enumerate() {
                    write!(f, "{}{rule}", if i == 0 { ": " } else { "; " })?;
                }
                Ok(())
            }
            Reason::Cast(node) => {
                let kind = graph.node(node).kind;
                f.write_str(kind.name())?;
                if let NodeKind::Cast(reason) = kind
                    && let Some(name) = reason.name()
                {
                    write!(f, "[{name}]")?;
                }
                text::write_places(&at(node), f)
            }
            Reason::Part(node) => {
                write!(f, "part of {}", graph.node(node).kind.name())?;
                text::write_places(&at(node), f)
            }
            Reason::Result(index) => {
                write!(f, "result {index}")?;
                match graph.outputs().get(index as usize).map(|&value| graph.ty(value)) {
                    Some(ty @ ValueType::Weak(weak)) => {
                        write!(f, ": {}", Rule::Default { weak, to: policy.commit(ty).into(), policy })
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}
