//! [`Explainer`]: one traced graph, with its user's source.

use super::site::{ParamSource, Site, Snippet, SourceReader};
use ndjit_ir::SourceLoc;
use ndjit_ir::graph::{Graph, NodeId, NodeKind, SourceLocs};
use ndjit_ir::op::Op;
use ndjit_ir::promotion::Policy;
use ndjit_ir::support::CastReason;
use ndjit_ir::value_type::ValueType;

/// Deeper nesting at one place comes from a loop, and is not counted.
const NESTED: usize = 64;

/// Explains the dtypes of one traced graph.
///
/// ```
/// use ndjit_inspect::explain::Explainer;
/// use ndjit_ir::graph::{Graph, SourceLocs};
/// use ndjit_ir::ValueType;
///
/// let text = "graph (%0: u32[3], %1: i32[3]) {\n  %2 = add %0, %1 : i64[3]\n  return %2\n}";
/// let graph: Graph<ValueType> = text.parse()?;
/// let explanation = Explainer::new(&graph, &SourceLocs::default()).explain(graph.outputs()[0]);
/// assert_eq!(
///     explanation.to_string(),
///     "i64 because add: x u32 from argument 0, y i32 from argument 1; join u32 ∨ i32 = i64"
/// );
/// # Ok::<(), ndjit_ir::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Explainer<'a> {
    pub(super) graph: &'a Graph<ValueType>,
    pub(super) places: &'a SourceLocs,
    pub(super) inputs: &'a [ParamSource],
    pub(super) policy: Policy,
    pub(super) source: SourceReader<'a>,
}

impl<'a> Explainer<'a> {
    /// Explains `graph`, whose array parameters are the first arguments, under the default policy, without source text.
    pub fn new(graph: &'a Graph<ValueType>, places: &'a SourceLocs) -> Explainer<'a> {
        Explainer { graph, places, inputs: &[], policy: Policy::default(), source: &|_| None }
    }

    /// The sources of the array parameters, in order; further ones are arguments with their own index.
    #[must_use]
    pub fn inputs(self, inputs: &'a [ParamSource]) -> Explainer<'a> {
        Explainer { inputs, ..self }
    }

    /// The policy for default dtypes of scalars.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Explainer<'a> {
        Explainer { policy, ..self }
    }

    /// The reader of the source.
    #[must_use]
    pub fn source(self, source: SourceReader<'a>) -> Explainer<'a> {
        Explainer { source, ..self }
    }

    /// A node's text at one of its places, if the source is readable. `None` for implicit casts, which have no text.
    pub fn written(&self, node: NodeId, place: SourceLoc) -> Option<Snippet> {
        if let NodeKind::Cast(CastReason::Mode(_) | CastReason::Promotion) = self.graph.node(node).kind {
            return None;
        }
        let op = self.op(node);
        let mut nested = 0;
        let mut at = node;
        for _ in 0..NESTED {
            let Some(&first) = self.graph.operands(at).first() else { break };
            at = self.graph.producer(first);
            if !self.places.all(at).any(|other| other == place) {
                break;
            }
            nested += usize::from(self.op(at) == op);
        }
        let what = self.graph.node(node).kind.name();
        (self.source)(Site { what, op, place, nested })
    }

    /// The text of an operation at a place, by its name.
    pub(super) fn written_as(&self, what: &'static str, place: SourceLoc) -> Option<Snippet> {
        let op = Op::ALL.iter().copied().find(|op| op.name() == what);
        (self.source)(Site { what, op, place, nested: 0 })
    }

    fn op(&self, node: NodeId) -> Option<Op> {
        self.graph.node(node).kind.op()
    }
}
