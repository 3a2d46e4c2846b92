//! Joins of small ordered sets, computed from their edges; the built-in sets over the 18 value types.
//!
//! A system is written down as immediate-successor edges `(lower, upper)` between node numbers. Everything else follows
//! from them in `const fn`s: the upper bounds of each node as a bitmask, the join of each pair as the least element of the
//! common upper bounds, and the laws. For the built-in systems the laws are asserted while this file compiles, so a wrong
//! edge is a build error and a join at run time is one table look-up.
//!
//! Nodes are plain numbers here, so the same functions serve any system of up to 64 nodes.

use crate::dtype::DType::*;
use crate::value_type::ValueType;
use crate::value_type::Weak::*;

/// The entry of a join table for a pair without common upper bound.
const NO_BOUND: u8 = u8::MAX;
/// The entry of a join table for a pair with common upper bounds, none of them below all others.
const AMBIGUOUS: u8 = u8::MAX - 1;

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
        assert!(N <= 64, "sets of nodes are 64-bit masks");
        let upper = upper_bounds::<N>(edges);
        let mut table = [[NO_BOUND; N]; N];
        let mut a = 0;
        while a < N {
            let mut b = 0;
            while b < N {
                table[a][b] = least(&upper, upper[a] & upper[b]);
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

    /// Whether every pair has a join: the order is a lattice, not a partial one.
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

/// For each node the set of nodes not below it: itself and all that edges lead to.
const fn upper_bounds<const N: usize>(edges: &[(u8, u8)]) -> [u64; N] {
    let mut upper = [0; N];
    let mut node = 0;
    while node < N {
        upper[node] = 1 << node;
        node += 1;
    }
    // A path has at most N - 1 edges, so N rounds close the relation whatever the order of the edges.
    let mut round = 0;
    while round < N {
        let mut e = 0;
        while e < edges.len() {
            let (lower, above) = (edges[e].0 as usize, edges[e].1 as usize);
            if lower < N && above < N {
                upper[lower] |= upper[above];
            }
            e += 1;
        }
        round += 1;
    }
    upper
}

/// The node of `set` that is below all of `set`, as a table entry.
const fn least<const N: usize>(upper: &[u64; N], set: u64) -> u8 {
    let mut found = if set == 0 { NO_BOUND } else { AMBIGUOUS };
    let mut node = 0;
    while node < N {
        if set >> node & 1 == 1 && set & !upper[node] == 0 {
            // Two least nodes are each above the other: a cycle.
            if found != AMBIGUOUS {
                return AMBIGUOUS;
            }
            found = node as u8;
        }
        node += 1;
    }
    found
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

/// Edges between value types as edges between their numbers.
const fn numbered<const E: usize>(edges: [(ValueType, ValueType); E]) -> [(u8, u8); E] {
    let mut out = [(0, 0); E];
    let mut e = 0;
    while e < E {
        out[e] = (edges[e].0.index() as u8, edges[e].1.index() as u8);
        e += 1;
    }
    out
}

macro_rules! edges {
    ($($lower:expr => $($upper:expr),+;)*) => {
        &numbered([$($(($lower, $upper)),+),*])
    };
}

/// A strong node.
const fn s(dtype: crate::dtype::DType) -> ValueType {
    ValueType::Strong(dtype)
}

/// A weak node.
const fn w(weak: crate::value_type::Weak) -> ValueType {
    ValueType::Weak(weak)
}

/// JAX's lattice (`jax_numpy_dtype_promotion=standard`, 64-bit types on): each type and its immediate successors.
pub const STANDARD_EDGES: &[(u8, u8)] = edges! {
    s(Bool) => w(Int);
    w(Int) => s(U8), s(I8);
    s(U8) => s(U16), s(I16);
    s(U16) => s(U32), s(I32);
    s(U32) => s(U64), s(I64);
    s(I8) => s(I16);
    s(I16) => s(I32);
    s(I32) => s(I64);
    s(U64) => w(Float);
    s(I64) => w(Float);
    w(Float) => s(Bf16), s(F16), w(Complex);
    s(Bf16) => s(F32);
    s(F16) => s(F32);
    s(F32) => s(F64), s(C64);
    s(F64) => s(C128);
    w(Complex) => s(C64);
    s(C64) => s(C128);
};

/// JAX's strict mode: nothing is implicit but giving a weak type its width, so edges leave weak types only. A partial lattice.
pub const STRICT_EDGES: &[(u8, u8)] = edges! {
    w(Int) => s(U8), s(U16), s(U32), s(U64), s(I8), s(I16), s(I32), s(I64), w(Float);
    w(Float) => s(Bf16), s(F16), s(F32), s(F64), w(Complex);
    w(Complex) => s(C64), s(C128);
};

/// The joins of [`STANDARD_EDGES`].
pub const STANDARD: Joins<18> = Joins::from_edges(STANDARD_EDGES);
/// The joins of [`STRICT_EDGES`].
pub const STRICT: Joins<18> = Joins::from_edges(STRICT_EDGES);

const _: () = assert!(STANDARD.broken_law().is_none(), "the standard promotion graph is no lattice");
const _: () = assert!(STANDARD.is_total(), "two types have no join in the standard promotion graph");
const _: () = assert!(STRICT.broken_law().is_none(), "the strict promotion graph is no partial lattice");

/// The join of two types in JAX's lattice: the type both can be promoted to that is below all other such types.
/// Commutative, associative and idempotent; defined for every pair.
pub const fn join(a: ValueType, b: ValueType) -> ValueType {
    static TABLE: [[ValueType; 18]; 18] = {
        let mut table = [[ValueType::Strong(Bool); 18]; 18];
        let mut a = 0;
        while a < 18 {
            let mut b = 0;
            while b < 18 {
                table[a][b] = ValueType::ALL[STANDARD.table[a][b] as usize];
                b += 1;
            }
            a += 1;
        }
        table
    };
    TABLE[a.index()][b.index()]
}

/// The join of two types in strict mode's partial lattice; `None` where it asks for an explicit cast.
pub const fn strict_join(a: ValueType, b: ValueType) -> Option<ValueType> {
    static JOINS: Joins<18> = STRICT;
    match JOINS.join(a.index() as u8, b.index() as u8) {
        Join::Node(node) => Some(ValueType::ALL[node as usize]),
        Join::NoBound | Join::Ambiguous => None,
    }
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
