//! Errors of graphs that are not lattices.

use super::named::NAMED;
use super::order::MAX_NODES;
use std::fmt;

/// A graph that is not a lattice, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatticeError {
    /// The name of the lattice.
    pub lattice: String,
    /// The reason.
    pub reason: NoLattice,
}

/// The reason why a graph is not a lattice.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoLattice {
    /// No built-in lattice has this name.
    UnknownLattice,
    /// A name is empty, contains white space, or is `->`: its text would not parse.
    Name(String),
    /// More than 64 nodes; their number.
    TooManyNodes(usize),
    /// A node is listed twice.
    DuplicateNode(String),
    /// An edge `(lower, upper)` names a node that is not listed.
    UnknownNode {
        /// The edge.
        edge: (String, String),
        /// The unknown end.
        node: String,
    },
    /// An edge `(lower, upper)` is listed twice.
    DuplicateEdge(String, String),
    /// An edge from a node to itself.
    SelfEdge(String),
    /// A cycle, each node below the next and the last below the first.
    Cycle(Vec<String>),
    /// Pairs with common upper bounds but no least one: two nodes and their minimal upper bounds. Never empty.
    Ambiguous(Vec<(String, String, Vec<String>)>),
    /// Pairs without a common upper bound, where all must have one. Never empty.
    NoBound(Vec<(String, String)>),
    /// A line of text without a node at its start, or without successors after `->`; its number, from 1.
    Line(usize),
}

impl fmt::Display for LatticeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.lattice;
        match &self.reason {
            NoLattice::UnknownLattice => {
                write!(f, "no lattice has the name `{name}`; known are")?;
                NAMED.iter().try_for_each(|named| write!(f, " {}", named.name))
            }
            NoLattice::Name(bad) => {
                write!(f, "`{bad}` cannot be a name in lattice `{name}`: use one word other than `->`")
            }
            NoLattice::TooManyNodes(nodes) => {
                write!(f, "lattice `{name}` has {nodes} nodes; at most {MAX_NODES} are possible")
            }
            NoLattice::DuplicateNode(node) => write!(f, "lattice `{name}` lists node `{node}` twice"),
            NoLattice::UnknownNode { edge: (lower, upper), node } => {
                write!(f, "edge {lower} -> {upper} of lattice `{name}` names `{node}`, which is not listed as a node")
            }
            NoLattice::DuplicateEdge(lower, upper) => {
                write!(f, "lattice `{name}` lists edge {lower} -> {upper} twice")
            }
            NoLattice::SelfEdge(node) => {
                write!(f, "lattice `{name}` has an edge from {node} to itself; edges lead to other nodes above")
            }
            NoLattice::Cycle(nodes) => {
                write!(f, "`{name}` is no lattice: its edges form the cycle ")?;
                nodes.iter().try_for_each(|node| write!(f, "{node} -> "))?;
                f.write_str(nodes.first().map_or("", |first| first))
            }
            NoLattice::Ambiguous(pairs) => {
                write!(f, "`{name}` is no lattice: ")?;
                if let Some((a, b, minimal)) = pairs.first() {
                    let minimal = minimal.join(" and ");
                    write!(
                        f,
                        "the minimal common upper bounds of {a} and {b} are {minimal}, none of them is the least"
                    )?;
                }
                others(f, pairs.len())?;
                f.write_str("; add an edge between these bounds, or a node below them and above the pair")
            }
            NoLattice::NoBound(pairs) => {
                write!(f, "`{name}` is only a partial lattice: ")?;
                if let Some((a, b)) = pairs.first() {
                    write!(f, "{a} and {b} have no common upper bound")?;
                }
                others(f, pairs.len())?;
                f.write_str("; add a node above both")
            }
            NoLattice::Line(line) => {
                write!(f, "line {line} of lattice `{name}` is neither `node` nor `node -> successor …`")
            }
        }
    }
}

fn others(f: &mut fmt::Formatter<'_>, pairs: usize) -> fmt::Result {
    match pairs {
        0 | 1 => Ok(()),
        2 => f.write_str(" (1 more pair like this)"),
        _ => write!(f, " ({} more pairs like this)", pairs - 1),
    }
}

impl std::error::Error for LatticeError {}
