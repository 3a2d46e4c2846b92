//! Explanations: why a value has its dtype, from a traced graph and the places its nodes were written at.
//!
//! Nothing here is recorded while tracing. A node holds its policy, its operands and their types; [`Places`] says where it was
//! written; so every step can be worked out again, by the policy itself. [`Explanation`] is the chain from a value to the
//! arguments and numbers that decided its dtype, [`Widening`] the first node that needs more bytes than its arrays,
//! [`Conversions`](ndjit_transform::Conversions) says for each cast and number of a typed graph which use asked for it.
//!
//! The text of the user's source is not read here: who can, gives it as [`Snippet`]s. Calls are terms of a chain, not looked
//! into: inline a graph first.

mod chain;
mod conversion;
pub mod operations;
mod origin;
mod rule;
mod text;
mod typed;
mod whole;
mod widening;

pub use chain::{Explanation, Step};
pub use origin::{Origin, Term};
pub use rule::{Rule, joining};
pub use typed::{casts, reasons, text as typed_text};
pub use whole::{all, first_widening, inputs, value, widened};
pub use widening::Widening;

use ndjit_ir::graph::{Graph, NodeId, NodeKind, Places};
use ndjit_ir::op::Op;
use ndjit_ir::place::Place;
use ndjit_ir::promotion::Policy;
use ndjit_ir::support::CastReason;
use ndjit_ir::value_type::ValueType;

/// What an array parameter of a traced graph is to its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The argument at this position.
    Argument(usize),
    /// An array that the function used without being passed it.
    Captured,
    /// An array of a program without arguments.
    Data,
    /// What a body of control flow is given: the state of a loop, a slice, an operand of branches.
    Body,
    /// What a body of control flow uses of what stands around it.
    Around,
}

/// A piece of the user's source: an operation as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The whole expression, `x * k`.
    pub text: String,
    /// Its operands, `x` and `k`; none where they cannot be told apart.
    pub operands: Vec<String>,
}

/// An operation in the user's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// What it is called: the name of an op or a reduction, `cast` or `call`.
    pub what: &'static str,
    /// The op, if it is one, which may be spelled as an operator.
    pub op: Option<Op>,
    /// Where it begins.
    pub place: Place,
    /// How many operations of the same op, inside its first operand, begin at that place too: 1 for the outer sum of
    /// `(x + y) * z + w`.
    pub nested: usize,
}

impl Site {
    /// A use of an op.
    pub fn of_op(op: Op, place: Place) -> Site {
        Site { what: op.name(), op: Some(op), place, nested: 0 }
    }

    /// A use of something else that has a name.
    pub fn of(what: &'static str, place: Place) -> Site {
        Site { what, op: None, place, nested: 0 }
    }
}

/// Reads the source of an operation. `None` where it cannot be read.
pub type Source<'a> = &'a dyn Fn(Site) -> Option<Snippet>;

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
    graph: &'a Graph<ValueType>,
    places: &'a Places,
    inputs: &'a [Input],
    policy: Policy,
    source: Source<'a>,
}

impl<'a> Explainer<'a> {
    /// Explains `graph`, whose array parameters are the first arguments, under the default policy, without source text.
    pub fn new(graph: &'a Graph<ValueType>, places: &'a Places) -> Explainer<'a> {
        Explainer { graph, places, inputs: &[], policy: Policy::default(), source: &|_| None }
    }

    /// What the array parameters are, in order; those beyond are arguments of their own number.
    #[must_use]
    pub fn inputs(self, inputs: &'a [Input]) -> Explainer<'a> {
        Explainer { inputs, ..self }
    }

    /// The policy whose default dtypes numbers have that meet nothing.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Explainer<'a> {
        Explainer { policy, ..self }
    }

    /// How to read the source.
    #[must_use]
    pub fn source(self, source: Source<'a>) -> Explainer<'a> {
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
        let what = origin::what(self.graph.node(node).kind);
        (self.source)(Site { what, op, place, nested })
    }

    fn op(&self, node: NodeId) -> Option<Op> {
        match self.graph.node(node).kind {
            NodeKind::Op(op, _) => Some(op),
            NodeKind::Param(..)
            | NodeKind::Literal(_)
            | NodeKind::Cast(_)
            | NodeKind::Reduce(_)
            | NodeKind::Scan(_)
            | NodeKind::Iota(_)
            | NodeKind::View(_)
            | NodeKind::Reshape
            | NodeKind::Concat(..)
            | NodeKind::Gather
            | NodeKind::Scatter(_)
            | NodeKind::Control(..)
            | NodeKind::Call(_) => None,
        }
    }
}
