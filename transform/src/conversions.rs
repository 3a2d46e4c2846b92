//! [`Conversions`]: the reasons of a typed graph's casts and literals, and the parts of reductions. Commit records them; only
//! explanations of programs depend on them.

use ndjit_ir::graph::NodeId;

/// The reason of a cast, or of a literal's dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// An op's operand of this index; the node is of the traced graph.
    Operand(NodeId, u32),
    /// A cast node of the traced graph, written by the user.
    Cast(NodeId),
    /// A reduction of the traced graph, of which the value is part.
    Part(NodeId),
    /// A result of the program, of this index.
    Result(u32),
}

/// The [`Reason`]s of each cast, literal and part of a reduction in a typed graph, in the order of the traced graph:
/// several for shared ones. A side table, like [`SourceLocs`](ndjit_ir::graph::SourceLocs): one entry of 16 bytes per reason.
#[derive(Clone, Debug, Default)]
pub struct Conversions {
    /// Sorted by node.
    reasons: Vec<(NodeId, Reason)>,
}

impl Conversions {
    /// Creates the table from reasons recorded in the order of the traced graph.
    pub fn new(mut reasons: Vec<(NodeId, Reason)>) -> Conversions {
        reasons.sort_by_key(|(typed, _)| *typed);
        reasons.dedup();
        reasons.shrink_to_fit();
        Conversions { reasons }
    }

    /// Returns the reasons for a node of the typed graph.
    pub fn of(&self, typed: NodeId) -> impl Iterator<Item = Reason> + '_ {
        let start = self.reasons.partition_point(|(node, _)| *node < typed);
        self.reasons[start..].iter().take_while(move |(node, _)| *node == typed).map(|(_, reason)| *reason)
    }
}
