//! The built-in systems at compile time: JAX's two as tables over the 18 value types, and the claims of all named
//! graphs.
//!
//! The edges are those of [`NAMED`](super::NAMED).

use super::joins::Joins;
use super::named::{Claim, JAX, JAX_STRICT, NAMED, Rows};
use super::order::Join;
use crate::dtype::DType;
use crate::value_type::ValueType;

/// The names of the value types, by number.
const TYPE_NAMES: [&str; 18] = {
    let mut names = [""; 18];
    let mut i = 0;
    while i < 18 {
        names[i] = ValueType::ALL[i].name();
        i += 1;
    }
    names
};

/// JAX's lattice (`jax_numpy_dtype_promotion=standard`, 64-bit types on): edges between numbers of value types.
pub const STANDARD_EDGES: &[(u8, u8)] = &numbered::<{ count(JAX) }>(&TYPE_NAMES, JAX);
/// JAX's strict mode: the only implicit promotion is from a weak type to one with a width. A partial lattice.
pub const STRICT_EDGES: &[(u8, u8)] = &numbered::<{ count(JAX_STRICT) }>(&TYPE_NAMES, JAX_STRICT);

/// The joins of [`STANDARD_EDGES`].
pub const STANDARD: Joins<18> = Joins::from_edges(STANDARD_EDGES);
/// The joins of [`STRICT_EDGES`].
pub const STRICT: Joins<18> = Joins::from_edges(STRICT_EDGES);

const _: () = assert!(STANDARD.broken_law().is_none(), "the standard promotion graph is no lattice");
const _: () = assert!(STANDARD.is_total(), "two types have no join in the standard promotion graph");
const _: () = assert!(STRICT.broken_law().is_none(), "the strict promotion graph is no partial lattice");

/// Returns the join of two types in JAX's lattice: the least type to which both can be promoted. It is commutative,
/// associative and idempotent, and defined for every pair.
pub const fn join(a: ValueType, b: ValueType) -> ValueType {
    static TABLE: [[ValueType; 18]; 18] = {
        let mut table = [[ValueType::Strong(DType::Bool); 18]; 18];
        let mut a = 0;
        while a < 18 {
            let mut b = 0;
            while b < 18 {
                if let Join::Node(node) = STANDARD.join(a as u8, b as u8) {
                    table[a][b] = ValueType::ALL[node as usize];
                }
                b += 1;
            }
            a += 1;
        }
        table
    };
    TABLE[a.index()][b.index()]
}

/// Returns the join of two types in strict mode's partial lattice; `None` if it requires an explicit cast.
pub const fn strict_join(a: ValueType, b: ValueType) -> Option<ValueType> {
    static JOINS: Joins<18> = STRICT;
    match JOINS.join(a.index() as u8, b.index() as u8) {
        Join::Node(node) => Some(ValueType::ALL[node as usize]),
        Join::NoBound | Join::Ambiguous => None,
    }
}

/// The largest numbers of edges and nodes of a named graph, for the check below.
const MAX_EDGES: usize = 48;
const MAX_NAMED_NODES: usize = 20;

// Every named graph meets its claim.
const _: () = {
    let mut i = 0;
    while i < NAMED.len() {
        let rows = NAMED[i].rows;
        let nodes = nodes(rows);
        assert!(count(rows) <= MAX_EDGES);
        let edges: [(u8, u8); MAX_EDGES] = numbered(&nodes, rows);
        let (edges, _) = edges.split_at(count(rows));
        let joins: Joins<MAX_NAMED_NODES> = Joins::from_edges(edges);
        let lawful = joins.broken_law().is_none();
        let total = every_pair_joins(&joins, &nodes);
        let holds = match NAMED[i].claim {
            Claim::Lattice => lawful && total,
            Claim::PartialLattice => lawful && !total,
            Claim::NoLattice => !(lawful && total),
        };
        assert!(holds, "a named graph is not what it is listed as");
        i += 1;
    }
};

/// Returns `true` if every pair of named nodes joins.
const fn every_pair_joins(joins: &Joins<MAX_NAMED_NODES>, nodes: &[&str; MAX_NAMED_NODES]) -> bool {
    let mut a = 0;
    while a < MAX_NAMED_NODES && !nodes[a].is_empty() {
        let mut b = 0;
        while b < a {
            if !matches!(joins.join(a as u8, b as u8), Join::Node(_)) {
                return false;
            }
            b += 1;
        }
        a += 1;
    }
    true
}

/// Returns the names in `rows`, each once, then empty strings.
const fn nodes(rows: Rows) -> [&'static str; MAX_NAMED_NODES] {
    let mut nodes = [""; MAX_NAMED_NODES];
    let mut len = 0;
    let mut r = 0;
    while r < rows.len() {
        let (lower, uppers) = rows[r];
        let mut u = 0;
        // The row's own name comes first, then its successors.
        while u <= uppers.len() {
            let name = if u == 0 { lower } else { uppers[u - 1] };
            if position(&nodes, name) == nodes.len() {
                nodes[len] = name;
                len += 1;
            }
            u += 1;
        }
        r += 1;
    }
    nodes
}

/// Returns the number of edges in `rows`.
const fn count(rows: Rows) -> usize {
    let mut edges = 0;
    let mut r = 0;
    while r < rows.len() {
        edges += rows[r].1.len();
        r += 1;
    }
    edges
}

/// Returns the edges of `rows` between indices in `names`; entries after the last edge are `(0, 0)`.
const fn numbered<const E: usize>(names: &[&str], rows: Rows) -> [(u8, u8); E] {
    let mut edges = [(0, 0); E];
    let mut e = 0;
    let mut r = 0;
    while r < rows.len() {
        let (lower, uppers) = rows[r];
        let mut u = 0;
        while u < uppers.len() {
            edges[e] = (position(names, lower) as u8, position(names, uppers[u]) as u8);
            e += 1;
            u += 1;
        }
        r += 1;
    }
    edges
}

/// Returns the index of `name` in `names`; `names.len()` if there is none.
const fn position(names: &[&str], name: &str) -> usize {
    let mut i = 0;
    while i < names.len() && !same(names[i], name) {
        i += 1;
    }
    i
}

/// Compares two names in constants.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
