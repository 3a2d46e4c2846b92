//! The joins of all pairs as a table that `const fn`s compute, and the laws it keeps.
//!
//! Nodes are plain numbers here, so the same functions serve any system of up to 64 nodes. The laws are properties of the table
//! alone and are checked on it over all pairs and triples, whatever it was made from.

use super::order::{self, Join, MAX_NODES};

/// The entry of a join table for a pair without common upper bound.
const NO_BOUND: u8 = u8::MAX;
/// The entry of a join table for a pair with common upper bounds, none of them below all others.
const AMBIGUOUS: u8 = u8::MAX - 1;

/// A law of joins that a system can break, with the nodes that show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenLaw {
    /// An edge names a node that does not exist.
    Edge(u8, u8),
    /// The join of this pair is ambiguous: the edges are no (partial) lattice.
    UniqueJoin(u8, u8),
    /// `a ∨ a` is not `a`.
    Idempotent(u8),
    /// `a ∨ b` is not `b ∨ a`.
    Commutative(u8, u8),
    /// `(a ∨ b) ∨ c` is not `a ∨ (b ∨ c)`, where an undefined join makes the whole undefined.
    Associative(u8, u8, u8),
}

/// The joins of all pairs of `N` nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joins<const N: usize> {
    table: [[u8; N]; N],
    /// The first edge that names a node `>= N`; it is left out of the table.
    bad_edge: Option<(u8, u8)>,
}

impl<const N: usize> Joins<N> {
    /// Computes the joins of the order that `edges`, pairs `(lower, upper)`, generate.
    ///
    /// # Panics
    /// If `N` is larger than 64 (while compiling, when used in a constant).
    pub const fn from_edges(edges: &[(u8, u8)]) -> Joins<N> {
        assert!(N <= MAX_NODES, "sets of nodes are 64-bit masks");
        let mut upper = [0; N];
        order::close(&mut upper, edges);
        let mut table = [[NO_BOUND; N]; N];
        let mut a = 0;
        while a < N {
            let mut b = 0;
            while b < N {
                table[a][b] = match order::join(&upper, a, b) {
                    Join::Node(node) => node,
                    Join::NoBound => NO_BOUND,
                    Join::Ambiguous => AMBIGUOUS,
                };
                b += 1;
            }
            a += 1;
        }
        Joins { table, bad_edge: bad_edge(edges, N) }
    }

    /// The join of nodes `a` and `b`.
    ///
    /// # Panics
    /// If `a` or `b` is not below `N`.
    pub const fn join(&self, a: u8, b: u8) -> Join {
        match self.table[a as usize][b as usize] {
            NO_BOUND => Join::NoBound,
            AMBIGUOUS => Join::Ambiguous,
            node => Join::Node(node),
        }
    }

    /// Returns `true` if every pair has a join: the order is a lattice, not a partial one.
    pub const fn is_total(&self) -> bool {
        let mut a = 0;
        while a < N {
            let mut b = 0;
            while b < N {
                if !matches!(self.join(a as u8, b as u8), Join::Node(_)) {
                    return false;
                }
                b += 1;
            }
            a += 1;
        }
        true
    }

    /// A law that does not hold, pairs looked at before triples; `None` if all hold. A pair without any common upper bound
    /// breaks no law: the order is a partial lattice then.
    pub const fn broken_law(&self) -> Option<BrokenLaw> {
        if let Some((a, b)) = self.bad_edge {
            return Some(BrokenLaw::Edge(a, b));
        }
        let mut a = 0;
        while a < N {
            let mut b = 0;
            while b < N {
                if self.table[a][b] == AMBIGUOUS {
                    return Some(BrokenLaw::UniqueJoin(a as u8, b as u8));
                }
                if self.table[a][b] != self.table[b][a] {
                    return Some(BrokenLaw::Commutative(a as u8, b as u8));
                }
                b += 1;
            }
            if self.table[a][a] != a as u8 {
                return Some(BrokenLaw::Idempotent(a as u8));
            }
            a += 1;
        }
        self.broken_triple()
    }

    const fn broken_triple(&self) -> Option<BrokenLaw> {
        let mut a = 0;
        while a < N {
            let mut b = 0;
            while b < N {
                let mut c = 0;
                while c < N {
                    let left = self.join_entries(self.table[a][b], c as u8);
                    let right = self.join_entries(a as u8, self.table[b][c]);
                    if left != right {
                        return Some(BrokenLaw::Associative(a as u8, b as u8, c as u8));
                    }
                    c += 1;
                }
                b += 1;
            }
            a += 1;
        }
        None
    }

    /// The join of two table entries; undefined if one of them is.
    const fn join_entries(&self, a: u8, b: u8) -> u8 {
        if (a as usize) < N && (b as usize) < N { self.table[a as usize][b as usize] } else { NO_BOUND }
    }
}

const fn bad_edge(edges: &[(u8, u8)], nodes: usize) -> Option<(u8, u8)> {
    let mut e = 0;
    while e < edges.len() {
        if edges[e].0 as usize >= nodes || edges[e].1 as usize >= nodes {
            return Some(edges[e]);
        }
        e += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_that_are_no_lattices_name_the_pair() {
        // int -> {float, complex}, bool -> {float, complex}: two minimal upper bounds.
        let crossed = Joins::<4>::from_edges(&[(0, 2), (0, 3), (1, 2), (1, 3)]);
        assert_eq!(crossed.join(0, 1), Join::Ambiguous);
        assert_eq!(crossed.broken_law(), Some(BrokenLaw::UniqueJoin(0, 1)));
        // A common bound above the crossing does not mend it.
        let roofed = Joins::<5>::from_edges(&[(0, 2), (0, 3), (1, 2), (1, 3), (2, 4), (3, 4)]);
        assert_eq!(roofed.broken_law(), Some(BrokenLaw::UniqueJoin(0, 1)));
        // A point between them does.
        let mended = Joins::<5>::from_edges(&[(0, 4), (1, 4), (4, 2), (4, 3)]);
        assert_eq!((mended.join(0, 1), mended.broken_law()), (Join::Node(4), None));
    }

    #[test]
    fn cycles_and_unknown_nodes_are_refused() {
        let cycle = Joins::<3>::from_edges(&[(0, 1), (1, 2), (2, 1)]);
        assert!(matches!(cycle.broken_law(), Some(BrokenLaw::UniqueJoin(..))));
        assert_eq!(Joins::<2>::from_edges(&[(0, 1), (1, 2)]).broken_law(), Some(BrokenLaw::Edge(1, 2)));
    }

    #[test]
    fn disjoint_chains_are_a_partial_lattice() {
        // Edges in any order close to the same relation.
        let chains = Joins::<5>::from_edges(&[(1, 2), (0, 1), (3, 4)]);
        assert_eq!(chains, Joins::from_edges(&[(3, 4), (0, 1), (1, 2)]));
        assert_eq!((chains.join(0, 2), chains.join(2, 3)), (Join::Node(2), Join::NoBound));
        assert_eq!((chains.is_total(), chains.broken_law()), (false, None));
    }
}
