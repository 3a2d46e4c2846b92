//! [`Conversions`]: which uses asked for the casts and numbers of a typed graph, and which values are made for a reduction. Commit notes them;
//! nothing else depends on them but what explains programs.

use ndjit_ir::graph::NodeId;

/// What asked for a cast, or for a number in a dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// An op's operand at this position; the node is of the traced graph.
    Operand(NodeId, u32),
    /// A cast node of the traced graph: the user's.
    Cast(NodeId),
    /// A reduction of the traced graph, which is made with it.
    Part(NodeId),
    /// A result of the program, at this position.
    Result(u32),
}

/// For each cast, each number and each value that a reduction is made with the [`Reason`]s it is in a typed graph, in the order
/// of the traced graph: several where several uses share it. A side table, as [`Places`](ndjit_ir::graph::Places) is: one entry of 16 bytes per reason.
#[derive(Clone, Debug, Default)]
pub struct Conversions {
    /// Sorted by node.
    reasons: Vec<(NodeId, Reason)>,
}

impl Conversions {
    /// The table of reasons noted in the order of the traced graph.
    pub fn new(mut reasons: Vec<(NodeId, Reason)>) -> Conversions {
        reasons.sort_by_key(|(typed, _)| *typed);
        reasons.dedup();
        reasons.shrink_to_fit();
        Conversions { reasons }
    }

    /// The reasons for a node of the typed graph.
    pub fn of(&self, typed: NodeId) -> impl Iterator<Item = Reason> + '_ {
        let start = self.reasons.partition_point(|(node, _)| *node < typed);
        self.reasons[start..].iter().take_while(move |(node, _)| *node == typed).map(|(_, reason)| *reason)
    }
}
