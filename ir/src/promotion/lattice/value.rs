//! [`Lattice`]: an ordered set of named nodes, built from edges, with a table of joins.
//!
//! It is at least a partial lattice: it has no cycle, and a pair with common upper bounds has a least one. Only the
//! order is stored, without redundant edges: lattices are equal if they have the same name, the same nodes in the same
//! order of listing, and the same order among them.

use super::error::{LatticeError, NoLattice};
use super::named::{Claim, NAMED};
use super::order::{self, Join, MAX_NODES, members};
use crate::promotion::system::Table;
use crate::value_type::ValueType;
use std::collections::BTreeSet;

/// A (partial) lattice over up to 64 named nodes: the types of a promotion system. An edge is a promotion, and the join
/// of two nodes is their promoted type.
///
/// ```
/// use ndjit_ir::promotion::Lattice;
///
/// let lattice = Lattice::new("python", [("int", &["float"][..]), ("float", &["complex"])])?;
/// assert_eq!(lattice.join("int", "complex"), Some("complex"));
/// assert!(lattice.is_total());
/// assert_eq!(lattice.to_string(), "lattice python\nint -> float\nfloat -> complex\ncomplex\n");
/// # Ok::<(), ndjit_ir::promotion::LatticeError>(())
/// ```
/// The lattices of other libraries are available [by name](Lattice::named). A lattice prints as one line per node,
/// parses back, and draws itself as [SVG](Lattice::to_svg) or [DOT](Lattice::to_dot).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lattice {
    name: String,
    nodes: Vec<String>,
    /// The upper bounds of each node, itself included.
    upper: Vec<u64>,
    /// The join of nodes `a` and `b` at `a * nodes + b`.
    joins: Vec<Option<u8>>,
}

impl Lattice {
    /// Builds a lattice from nodes and their immediate successors. Nodes are all names, in order of occurrence.
    ///
    /// # Errors
    /// If a name is empty or not one word, there are more than 64 nodes, an edge is repeated or leads to its own start,
    /// the edges form a cycle, or a pair of nodes has common upper bounds but no least one. A pair without any common
    /// upper bound is no error: [`total`](Lattice::total) refuses it.
    pub fn new<'a, S: AsRef<[&'a str]>>(
        name: &str,
        rows: impl IntoIterator<Item = (&'a str, S)>,
    ) -> Result<Lattice, LatticeError> {
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        let mut known = BTreeSet::new();
        for (lower, uppers) in rows {
            nodes.extend([lower].iter().chain(uppers.as_ref()).copied().filter(|node| known.insert(*node)));
            edges.extend(uppers.as_ref().iter().map(|upper| (lower, *upper)));
        }
        Lattice::with_nodes(name, &nodes, &edges)
    }

    /// Builds a lattice over the given nodes from edges `(lower, upper)`.
    ///
    /// # Errors
    /// Those of [`new`](Lattice::new), and if a node is listed twice or an edge names a node that is not listed.
    pub fn with_nodes(name: &str, nodes: &[&str], edges: &[(&str, &str)]) -> Result<Lattice, LatticeError> {
        Lattice::build(name, nodes, edges).map_err(|reason| LatticeError { lattice: name.to_owned(), reason })
    }

    /// Returns the lattice with a name in [`NAMED`].
    ///
    /// # Errors
    /// If there is no lattice of this name, or the graph of this name is not a lattice ([`Claim::NoLattice`]); the
    /// error then has the reason.
    pub fn named(name: &str) -> Result<Lattice, LatticeError> {
        let Some(named) = NAMED.iter().find(|named| named.name == name) else {
            return Err(LatticeError { lattice: name.to_owned(), reason: NoLattice::UnknownLattice });
        };
        let lattice = Lattice::new(name, named.rows.iter().copied())?;
        if named.claim == Claim::PartialLattice { Ok(lattice) } else { lattice.total() }
    }

    /// Returns the lattice if every pair of nodes has a join.
    ///
    /// # Errors
    /// If a pair has none; all such pairs are listed.
    pub fn total(self) -> Result<Lattice, LatticeError> {
        let pairs = self.undefined_pairs();
        if pairs.is_empty() {
            return Ok(self);
        }
        let pairs = pairs.into_iter().map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
        Err(LatticeError { lattice: self.name, reason: NoLattice::NoBound(pairs) })
    }

    fn build(name: &str, nodes: &[&str], edges: &[(&str, &str)]) -> Result<Lattice, NoLattice> {
        check_names(name, nodes)?;
        let edges = number_edges(nodes, edges)?;
        let mut upper = vec![0; nodes.len()];
        order::close(&mut upper, &edges);
        if let Some(cycle) = cycle(&upper, &edges) {
            return Err(NoLattice::Cycle(cycle.into_iter().map(|node| nodes[node].to_owned()).collect()));
        }
        let joins = join_table(nodes, &upper)?;
        let nodes = nodes.iter().map(|&node| node.to_owned()).collect();
        Ok(Lattice { name: name.to_owned(), nodes, upper, joins })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of the nodes, by index.
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// Returns the index of the node called `name`.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node == name)
    }

    /// Returns the join of two nodes: their least common upper bound; `None` if they have none, or a name is unknown.
    pub fn join(&self, a: &str, b: &str) -> Option<&str> {
        let join = self.join_indices(self.index_of(a)?, self.index_of(b)?)?;
        Some(&self.nodes[join])
    }

    /// Returns the join of two nodes by index, by one table look-up; `None` if they have none, or an index is out of
    /// bounds.
    pub fn join_indices(&self, a: usize, b: usize) -> Option<usize> {
        if a >= self.nodes.len() || b >= self.nodes.len() {
            return None;
        }
        self.joins[a * self.nodes.len() + b].map(usize::from)
    }

    /// Returns the join of any number of nodes, in any order; for no nodes, the least node. `None` if there is no join.
    ///
    /// ```
    /// use ndjit_ir::promotion::Lattice;
    ///
    /// let jax = Lattice::named("jax")?;
    /// assert_eq!(jax.join_all(["i8", "u8", "f16"]), Some("f16"));
    /// assert_eq!(jax.join_all([]), Some("bool"));
    /// # Ok::<(), ndjit_ir::promotion::LatticeError>(())
    /// ```
    pub fn join_all<'a>(&self, nodes: impl IntoIterator<Item = &'a str>) -> Option<&str> {
        let mut joined = None;
        for name in nodes {
            let node = self.index_of(name)?;
            joined = Some(joined.map_or(Some(node), |joined| self.join_indices(joined, node))?);
        }
        let all = self.all();
        let least = || (0..self.nodes.len()).find(|&node| self.upper[node] == all);
        joined.or_else(least).map(|node| self.nodes[node].as_str())
    }

    /// Returns the join of two value types, by the nodes with their short or long names. `None` if the nodes have no
    /// join, or it is not a value type.
    pub fn join_types(&self, a: ValueType, b: ValueType) -> Option<ValueType> {
        let node = |ty| self.nodes.iter().position(|node| value_type(node) == Some(ty));
        value_type(&self.nodes[self.join_indices(node(a)?, node(b)?)?])
    }

    /// The joins of all value types.
    pub(in crate::promotion) fn type_table(&self) -> Table {
        let types: Vec<Option<ValueType>> = self.nodes.iter().map(|node| value_type(node)).collect();
        let node = |ty| types.iter().position(|of| *of == Some(ty));
        Table::from_fn(|a, b| types[self.join_indices(node(a)?, node(b)?)?])
    }

    /// Returns `true` if `a` may be promoted to `b`: they are the same node, or edges lead from `a` to `b`. False if a
    /// name is unknown.
    pub fn le(&self, a: &str, b: &str) -> bool {
        let (Some(a), Some(b)) = (self.index_of(a), self.index_of(b)) else { return false };
        self.upper[a] >> b & 1 == 1
    }

    /// Returns the common upper bounds of `nodes`; all nodes if `nodes` is empty, none if a name is unknown.
    pub fn upper_bounds<'a>(&self, nodes: impl IntoIterator<Item = &'a str>) -> Vec<&str> {
        let of = |name| self.index_of(name).map_or(0, |node| self.upper[node]);
        let common = nodes.into_iter().map(of).fold(self.all(), |common, upper| common & upper);
        members(common).map(|node| self.nodes[node].as_str()).collect()
    }

    /// Returns the edges `(lower, upper)` to immediate successors, without redundant ones.
    pub fn edges(&self) -> impl Iterator<Item = (&str, &str)> {
        self.edge_indices().map(|(a, b)| (self.nodes[a].as_str(), self.nodes[b].as_str()))
    }

    /// Returns the edges to immediate successors, by index.
    pub(crate) fn edge_indices(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.nodes.len()).flat_map(|node| {
            let above = self.upper[node] & !(1 << node);
            members(order::minimal(&self.upper, above)).map(move |successor| (node, successor))
        })
    }

    /// Returns a shortest chain of immediate successors from one node up to another, both included; `None` if there is
    /// none.
    ///
    /// ```
    /// use ndjit_ir::promotion::Lattice;
    ///
    /// assert_eq!(Lattice::named("jax")?.chain("i32", "f*").unwrap(), ["i32", "i64", "f*"]);
    /// # Ok::<(), ndjit_ir::promotion::LatticeError>(())
    /// ```
    pub fn chain(&self, from: &str, to: &str) -> Option<Vec<&str>> {
        let to = self.index_of(to)?;
        let mut chains = vec![vec![self.index_of(from)?]];
        let mut next = 0;
        while let Some(chain) = chains.get(next).cloned() {
            let end = *chain.last()?;
            if end == to {
                return Some(chain.into_iter().map(|node| self.nodes()[node].as_str()).collect());
            }
            for (_, above) in self.edge_indices().filter(|(lower, _)| *lower == end) {
                if !chains.iter().any(|known| known.contains(&above)) {
                    chains.push(chain.iter().copied().chain([above]).collect());
                }
            }
            next += 1;
        }
        None
    }

    /// Returns `true` if every pair of nodes has a join: this is a lattice, not only a partial one.
    pub fn is_total(&self) -> bool {
        self.joins.iter().all(Option::is_some)
    }

    /// Returns the pairs of nodes without a common upper bound, each once.
    pub fn undefined_pairs(&self) -> Vec<(&str, &str)> {
        let pairs = pairs(self.nodes.len()).filter(|&(a, b)| self.join_indices(a, b).is_none());
        pairs.map(|(a, b)| (self.nodes[a].as_str(), self.nodes[b].as_str())).collect()
    }

    /// Returns the set of all nodes.
    fn all(&self) -> u64 {
        (0..self.nodes.len()).fold(0, |all, node| all | 1 << node)
    }
}

/// The value type of a node's short or long name.
pub(in crate::promotion) fn value_type(node: &str) -> Option<ValueType> {
    node.parse().ok()
}

/// Returns all pairs `a < b` of numbers below `nodes`.
fn pairs(nodes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..nodes).flat_map(move |a| (a + 1..nodes).map(move |b| (a, b)))
}

fn check_names(name: &str, nodes: &[&str]) -> Result<(), NoLattice> {
    let readable = |name: &str| !name.is_empty() && name != "->" && !name.contains(char::is_whitespace);
    if let Some(bad) = [name].iter().chain(nodes).find(|name| !readable(name)) {
        return Err(NoLattice::Name(bad.to_string()));
    }
    if nodes.len() > MAX_NODES {
        return Err(NoLattice::TooManyNodes(nodes.len()));
    }
    match pairs(nodes.len()).find(|&(a, b)| nodes[a] == nodes[b]) {
        Some((a, _)) => Err(NoLattice::DuplicateNode(nodes[a].to_owned())),
        None => Ok(()),
    }
}

fn number_edges(nodes: &[&str], edges: &[(&str, &str)]) -> Result<Vec<(u8, u8)>, NoLattice> {
    let mut numbered = Vec::new();
    for &(lower, upper) in edges {
        let number = |name: &str| {
            let edge = || (lower.to_owned(), upper.to_owned());
            let node = nodes.iter().position(|node| *node == name);
            node.ok_or_else(|| NoLattice::UnknownNode { edge: edge(), node: name.to_owned() })
        };
        let edge = (number(lower)? as u8, number(upper)? as u8);
        if edge.0 == edge.1 {
            return Err(NoLattice::SelfEdge(lower.to_owned()));
        }
        if numbered.contains(&edge) {
            return Err(NoLattice::DuplicateEdge(lower.to_owned(), upper.to_owned()));
        }
        numbered.push(edge);
    }
    Ok(numbered)
}

/// Finds a cycle of the edges: a shortest one through the first node on any cycle.
fn cycle(upper: &[u64], edges: &[(u8, u8)]) -> Option<Vec<usize>> {
    let (start, _) = pairs(upper.len()).find(|&(a, b)| upper[a] >> b & 1 == 1 && upper[b] >> a & 1 == 1)?;
    // The search is breadth first, with a path for each node reached, until one has an edge back to the start.
    let mut paths = vec![vec![start]];
    let mut reached = 1_u64 << start;
    let mut next = 0;
    while let Some(path) = paths.get(next).cloned() {
        let end = path.last().copied()?;
        for &(_, above) in edges.iter().filter(|(lower, _)| usize::from(*lower) == end) {
            let above = usize::from(above);
            if above == start {
                return Some(path);
            }
            if reached >> above & 1 == 0 {
                reached |= 1 << above;
                paths.push(path.iter().copied().chain([above]).collect());
            }
        }
        next += 1;
    }
    None
}

fn join_table(nodes: &[&str], upper: &[u64]) -> Result<Vec<Option<u8>>, NoLattice> {
    let mut ambiguous = Vec::new();
    let mut joins = Vec::with_capacity(nodes.len() * nodes.len());
    for a in 0..nodes.len() {
        for b in 0..nodes.len() {
            joins.push(match order::join(upper, a, b) {
                Join::Node(join) => Some(join),
                Join::NoBound => None,
                Join::Ambiguous => {
                    let minimal = members(order::minimal(upper, upper[a] & upper[b]));
                    let minimal = minimal.map(|node| nodes[node].to_owned()).collect();
                    if a < b {
                        ambiguous.push((nodes[a].to_owned(), nodes[b].to_owned(), minimal));
                    }
                    None
                }
            });
        }
    }
    if ambiguous.is_empty() { Ok(joins) } else { Err(NoLattice::Ambiguous(ambiguous)) }
}
