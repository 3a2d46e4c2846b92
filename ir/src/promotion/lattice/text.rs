//! The text form of lattices: one line per node, which parses back.
//!
//! ```text
//! lattice python
//! i* -> f*
//! f* -> c*
//! c*
//! ```
//!
//! Every node has a line, so a misspelled successor is an error.

use super::error::{LatticeError, NoLattice};
use super::value::Lattice;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

impl Display for Lattice {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "lattice {}", self.name())?;
        for node in self.nodes() {
            f.write_str(node)?;
            for (i, (_, upper)) in self.edges().filter(|(lower, _)| lower == node).enumerate() {
                write!(f, "{}{upper}", if i == 0 { " -> " } else { " " })?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}

impl FromStr for Lattice {
    type Err = LatticeError;

    /// Parses the text of `Display`. Without the first line the name is `unnamed`.
    fn from_str(text: &str) -> Result<Lattice, LatticeError> {
        let mut name = "unnamed";
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [] => {}
                ["lattice", named] if nodes.is_empty() => name = named,
                [node] if node != "->" => nodes.push(node),
                [node, "->", ref uppers @ ..] if !uppers.is_empty() => {
                    nodes.push(node);
                    edges.extend(uppers.iter().map(|upper| (node, *upper)));
                }
                _ => return Err(LatticeError { lattice: name.to_owned(), reason: NoLattice::Line(number + 1) }),
            }
        }
        Lattice::with_nodes(name, &nodes, &edges)
    }
}
