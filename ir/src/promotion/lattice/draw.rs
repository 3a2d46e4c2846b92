//! Lattices as Hasse diagrams: SVG, text for terminals, and DOT, drawn by `ndjit-drawing`.
//!
//! The methods are here because `ndjit` re-exports [`Lattice`], and methods of a type are in its crate: in `ndjit-inspect`, beside the
//! pictures of stages, they would be those of a trait that users would have to import.

use super::value::{Lattice, value_type};
use crate::dtype::colours::colours;
use crate::value_type::ValueType;
use ndjit_drawing::hasse::{HasseDiagram, NodeStyle};

impl Lattice {
    /// Draws the Hasse diagram as an SVG document. A node is above all nodes that promote to it; redundant lines are
    /// omitted. Nodes with names of value types are coloured by kind, weak ones with a dashed border.
    ///
    /// ```no_run
    /// use ndjit_ir::promotion::Lattice;
    ///
    /// std::fs::write("jax.svg", Lattice::named("jax")?.to_svg())?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_svg(&self) -> String {
        let style = |name: &str| {
            let ty = value_type(name);
            NodeStyle { colours: colours(ty.map(ValueType::kind)), dashed: ty.is_some_and(ValueType::is_weak) }
        };
        self.drawn(|diagram| diagram.svg(style))
    }

    /// Draws the Hasse diagram as text: a node is above all nodes that promote to it. Nodes for which `marked` returns
    /// true are in brackets.
    ///
    /// ```
    /// use ndjit_ir::promotion::Lattice;
    ///
    /// let text = Lattice::named("python")?.to_text(|node| node == "f*");
    /// assert_eq!(text, "  c*\n   ⡇\n   ⡇\n [f*]\n   ⡇\n   ⡇\n  i*\n");
    /// # Ok::<(), ndjit_ir::promotion::LatticeError>(())
    /// ```
    pub fn to_text(&self, marked: impl Fn(&str) -> bool) -> String {
        self.drawn(|diagram| diagram.text(marked))
    }

    /// Returns the diagram in the DOT language of Graphviz, lower nodes below.
    pub fn to_dot(&self) -> String {
        self.drawn(|diagram| diagram.dot())
    }

    fn drawn(&self, draw: impl FnOnce(HasseDiagram<'_>) -> String) -> String {
        let edges: Vec<(usize, usize)> = self.edge_indices().collect();
        draw(HasseDiagram { title: self.name(), nodes: self.nodes(), edges: &edges })
    }
}
