//! The Hasse diagram of a lattice as SVG: lower nodes below, a line to each immediate successor.

use super::value::{Lattice, value_type};
use crate::drawing::{LayeredLayout, colours, escape, layout, path, text_width};
use crate::value_type::ValueType;
use std::fmt::Write;

/// Distances in pixels. Layers are further apart in wide diagrams, to avoid flat lines.
const LAYER_HEIGHT: f64 = 72.0;
const FLATTEST: f64 = 1.0 / 12.0;
const TEXT: f64 = 14.0;
const NODE_HEIGHT: f64 = 30.0;
const MARGIN: f64 = 24.0;
const TITLE_HEIGHT: f64 = 30.0;

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
        let widths: Vec<f64> = self.nodes().iter().map(|node| node_width(node)).collect();
        let edges: Vec<(usize, usize)> = self.edge_indices().collect();
        let plan = layout(&widths, &edges);
        let top = plan.layer.iter().max().copied().unwrap_or(0);
        let title_width = text_width(self.name(), TEXT);
        let width = plan.width.max(title_width) + 2.0 * MARGIN;
        let layer_height = LAYER_HEIGHT.max(plan.width * FLATTEST);
        let height = top as f64 * layer_height + NODE_HEIGHT + 2.0 * MARGIN + TITLE_HEIGHT;
        let page = PageGeometry {
            left: (width - plan.width) / 2.0,
            bottom: height - MARGIN - NODE_HEIGHT / 2.0,
            layer_height,
        };
        let mut svg = String::new();
        let mut put = |line: std::fmt::Arguments<'_>| {
            // Writing to a string cannot fail.
            let _ = writeln!(svg, "{line}");
        };
        put(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" font-family="sans-serif" font-size="{TEXT}" text-anchor="middle">"#
        ));
        put(format_args!(r#"<rect width="100%" height="100%" fill="white"/>"#));
        let name = escape(self.name());
        put(format_args!(r#"<text x="{:.0}" y="{MARGIN:.0}" font-weight="bold">{name}</text>"#, width / 2.0));
        for route in &plan.routes {
            put(format_args!(r##"<path d="{}" fill="none" stroke="#777" stroke-width="1.5"/>"##, page.path(route)));
        }
        for (index, node) in self.nodes().iter().enumerate() {
            put(format_args!("{}", page.node(&plan, index, node, widths[index])));
        }
        put(format_args!("</svg>"));
        svg
    }
}

/// The placement of the layout on the page.
struct PageGeometry {
    left: f64,
    bottom: f64,
    layer_height: f64,
}

impl PageGeometry {
    fn at(&self, (x, layer): (f64, usize)) -> (f64, f64) {
        (self.left + x, self.bottom - layer as f64 * self.layer_height)
    }

    /// Returns a line from the top of a node to the bottom of one above it. The line is straight between layers and
    /// vertical across a layer, so it touches no other node.
    fn path(&self, route: &[(f64, usize)]) -> String {
        let ends = route.iter().map(|&point| self.at(point));
        let corners = ends.flat_map(|(x, y)| [(x, y + NODE_HEIGHT / 2.0), (x, y - NODE_HEIGHT / 2.0)]);
        let mut points: Vec<(f64, f64)> = corners.skip(1).collect();
        points.pop();
        path(&points, f64::INFINITY)
    }

    fn node(&self, plan: &LayeredLayout, index: usize, name: &str, width: f64) -> String {
        let (x, y) = self.at((plan.x[index], plan.layer[index]));
        let (left, top, radius) = (x - width / 2.0, y - NODE_HEIGHT / 2.0, NODE_HEIGHT / 2.0);
        let ty = value_type(name);
        let (fill, stroke) = colours(ty.map(ValueType::kind));
        let dashes = if ty.is_some_and(ValueType::is_weak) { r#" stroke-dasharray="4 3""# } else { "" };
        let (base, name) = (y + 5.0, escape(name));
        format!(
            r#"<rect x="{left:.0}" y="{top:.0}" width="{width:.0}" height="{NODE_HEIGHT:.0}" rx="{radius:.0}" fill="{fill}" stroke="{stroke}" stroke-width="1.5"{dashes}/><text x="{x:.0}" y="{base:.0}">{name}</text>"#
        )
    }
}

fn node_width(name: &str) -> f64 {
    (text_width(name, TEXT) + 22.0).max(46.0)
}
