//! The order that edges generate: upper bounds as bitmasks, minimal nodes of a set, the join of two nodes.
//!
//! Nodes are numbers below 64 and a set of them is a `u64`, so the same `const fn`s serve the joins computed at compile
//! time ([`joins`](super::joins)) and the lattices of users ([`Lattice`](super::Lattice)).

/// The join of two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// The least common upper bound.
    Node(u8),
    /// The nodes have no common upper bound.
    NoBound,
    /// The nodes have common upper bounds, but no least one.
    Ambiguous,
}

/// The largest number of nodes: one bit each.
pub(super) const MAX_NODES: usize = 64;

/// Fills `upper` with the upper bounds of each node: itself and all nodes reached by edges `(lower, upper)`. Edges with
/// nodes beyond `upper` are ignored.
pub(super) const fn close(upper: &mut [u64], edges: &[(u8, u8)]) {
    let mut node = 0;
    while node < upper.len() {
        upper[node] = 1 << node;
        node += 1;
    }
    // A path has fewer edges than there are nodes, so this many rounds suffice for edges in any order.
    let mut round = 0;
    while round < upper.len() {
        let mut e = 0;
        while e < edges.len() {
            let (lower, above) = (edges[e].0 as usize, edges[e].1 as usize);
            if lower < upper.len() && above < upper.len() {
                upper[lower] |= upper[above];
            }
            e += 1;
        }
        round += 1;
    }
}

/// Returns the minimal nodes of `set`. In a cycle each node is below the other: none is minimal.
pub(super) const fn minimal(upper: &[u64], set: u64) -> u64 {
    let mut minimal = set;
    let mut node = 0;
    while node < upper.len() {
        if set >> node & 1 == 1 {
            minimal &= !(upper[node] & !(1 << node));
        }
        node += 1;
    }
    minimal
}

/// Returns the join of two nodes. The only minimal node of a finite set is its least.
pub(super) const fn join(upper: &[u64], a: usize, b: usize) -> Join {
    let common = upper[a] & upper[b];
    let minimal = minimal(upper, common);
    match (common, minimal.count_ones()) {
        (0, _) => Join::NoBound,
        (_, 1) => Join::Node(minimal.trailing_zeros() as u8),
        _ => Join::Ambiguous,
    }
}

/// Returns the numbers of the nodes of `set`, ascending.
pub(super) fn members(set: u64) -> impl Iterator<Item = usize> {
    (0..MAX_NODES).filter(move |&node| set >> node & 1 == 1)
}
