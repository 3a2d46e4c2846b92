//! [`Explainer`]: one traced graph, and what is known of its user's source.

use super::site::{ParamSource, Site, Snippet, SourceReader};
use ndjit_ir::graph::{Graph, NodeId, NodeKind, Places};
use ndjit_ir::op::Op;
use ndjit_ir::place::Place;
use ndjit_ir::promotion::Policy;
use ndjit_ir::support::CastReason;
use ndjit_ir::value_type::ValueType;

/// Deeper nesting at one place is that of a loop, and not counted.
const NESTED: usize = 64;

/// Answers questions about the dtypes of one traced graph.
///
/// ```
/// use ndjit_inspect::explain::Explainer;
/// use ndjit_ir::graph::{Graph, Places};
/// use ndjit_ir::ValueType;
///
/// let text = "graph (%0: u32[3], %1: i32[3]) {\n  %2 = add %0, %1 : i64[3]\n  return %2\n}";
/// let graph: Graph<ValueType> = text.parse()?;
/// let explanation = Explainer::new(&graph, &Places::default()).explain(graph.outputs()[0]);
/// assert_eq!(
///     explanation.to_string(),
///     "i64 because add: x u32 from argument 0, y i32 from argument 1; join u32 ∨ i32 = i64"
/// );
/// # Ok::<(), ndjit_ir::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Explainer<'a> {
    pub(super) graph: &'a Graph<ValueType>,
    pub(super) places: &'a Places,
    pub(super) inputs: &'a [ParamSource],
    pub(super) policy: Policy,
    pub(super) source: SourceReader<'a>,
}

impl<'a> Explainer<'a> {
    /// Explains `graph`, whose array parameters are the first arguments, under the default policy, without source text.
    pub fn new(graph: &'a Graph<ValueType>, places: &'a Places) -> Explainer<'a> {
        Explainer { graph, places, inputs: &[], policy: Policy::default(), source: &|_| None }
    }

    /// What the array parameters are, in order; those beyond are arguments of their own number.
    #[must_use]
    pub fn inputs(self, inputs: &'a [ParamSource]) -> Explainer<'a> {
        Explainer { inputs, ..self }
    }

    /// The policy whose default dtypes numbers have that meet nothing.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Explainer<'a> {
        Explainer { policy, ..self }
    }

    /// How to read the source.
    #[must_use]
    pub fn source(self, source: SourceReader<'a>) -> Explainer<'a> {
        Explainer { source, ..self }
    }

    /// A node as it is written at one of its places, where the source can be read. `None` for what is not written: a cast that
    /// nobody wrote.
    pub fn written(&self, node: NodeId, place: Place) -> Option<Snippet> {
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

    /// An operation as it is written at a place, by its name.
    pub(super) fn written_as(&self, what: &'static str, place: Place) -> Option<Snippet> {
        let op = Op::ALL.iter().copied().find(|op| op.name() == what);
        (self.source)(Site { what, op, place, nested: 0 })
    }

    fn op(&self, node: NodeId) -> Option<Op> {
        self.graph.node(node).kind.op()
    }
}
