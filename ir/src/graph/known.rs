//! The nodes of a graph by their contents, for hash-consing.

use super::{NodeId, Value};
use hashbrown::HashTable;

/// The maximum number of users of a value in its list; further ones are hashed.
const MOST: usize = 8;

/// Nodes by their latest operand. Equal nodes have the same one, and most values have one or two users, which lie close in memory.
/// A single hash table took a fifth of the time of making 10^6 nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeTable {
    /// For each value one more than the number of the newest node whose latest operand it is; zero if there is none.
    newest: Vec<u32>,
    /// For each node the previous one of the same value, likewise.
    before: Vec<u32>,
    /// All other nodes, with their hashes: those without operands, and those beyond [`MOST`] of a value.
    others: HashTable<(u32, NodeId)>,
}

/// The place of a new node.
pub(super) enum Vacant {
    /// In the list of this latest operand.
    Of(Value),
    /// In the hash table, at this hash.
    Hashed(u32),
}

impl NodeTable {
    /// An empty table with capacity for this number of nodes and values.
    pub fn with_room(nodes: usize, values: usize) -> NodeTable {
        NodeTable { newest: Vec::with_capacity(values), before: Vec::with_capacity(nodes), others: HashTable::new() }
    }

    /// The node for which `same` holds, with this latest operand.
    ///
    /// # Errors
    /// The place of a new node, if there is none.
    pub fn find(
        &self,
        latest: Option<Value>,
        same: impl Fn(NodeId) -> bool,
        hash: impl FnOnce() -> u32,
    ) -> Result<NodeId, Vacant> {
        if let Some(latest) = latest {
            let mut users = 0;
            let mut next = self.newest.get(latest.index()).copied().unwrap_or(0);
            while let Some(id) = next.checked_sub(1) {
                if same(NodeId(id)) {
                    return Ok(NodeId(id));
                }
                users += 1;
                next = self.before.get(id as usize).copied().unwrap_or(0);
            }
            if users < MOST {
                return Err(Vacant::Of(latest));
            }
        }
        let hash = hash();
        match self.others.find(spread(hash), |&(known, id)| known == hash && same(id)) {
            Some(&(_, id)) => Ok(id),
            None => Err(Vacant::Hashed(hash)),
        }
    }

    /// Adds a node at its place.
    pub fn insert(&mut self, id: NodeId, place: Vacant) {
        match place {
            Vacant::Of(latest) => {
                let (value, node) = (latest.index(), id.index());
                if self.newest.len() <= value {
                    self.newest.resize(value + 1, 0);
                }
                if self.before.len() <= node {
                    self.before.resize(node + 1, 0);
                }
                self.before[node] = std::mem::replace(&mut self.newest[value], id.0 + 1);
            }
            Vacant::Hashed(hash) => {
                self.others.insert_unique(spread(hash), (hash, id), |&(hash, _)| spread(hash));
            }
        }
    }
}

/// A hash of 64 bits from one of 32: tables use the lowest and the highest bits.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::super::{Graph, NodeKind, Value};
    use super::MOST;
    use crate::dtype::DType;
    use crate::op::Op;
    use crate::shape::Shape;

    #[test]
    fn equal_nodes_are_one_however_many_use_a_value() {
        let mut graph: Graph<DType> = Graph::new();
        let shape = graph.intern(&Shape::from(3));
        let made = |graph: &mut Graph<DType>, n: usize, operands: &[Value]| {
            graph.add(NodeKind::Op(Op::ALL[n], ()), operands, &[(DType::F32, shape)])
        };
        let x = graph.add(NodeKind::Param(0, DType::F32), &[], &[(DType::F32, shape)]);
        let y = graph.add(NodeKind::Param(1, DType::F32), &[], &[(DType::F32, shape)]);
        let all: Vec<[Value; 3]> =
            (0..3 * MOST).map(|n| [&[x][..], &[x, y], &[y, x]].map(|of| made(&mut graph, n, of))).collect();
        assert_eq!(graph.node_count(), 2 + 9 * MOST);
        for (n, before) in all.iter().enumerate() {
            assert_eq!([&[x][..], &[x, y], &[y, x]].map(|of| made(&mut graph, n, of)), *before);
        }
        assert_eq!(graph.add(NodeKind::Param(1, DType::F32), &[], &[(DType::F32, shape)]), y);
        assert_eq!(graph.node_count(), 2 + 9 * MOST);
        // A sealed graph finds only nodes added later.
        graph.seal();
        let new = made(&mut graph, 0, &[x]);
        assert_ne!(new, all[0][0]);
        assert_eq!(made(&mut graph, 0, &[x]), new);
    }
}
