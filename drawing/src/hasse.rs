//! Hasse diagrams of ordered sets: lower nodes below, a line to each immediate successor. As SVG, as text for terminals, and in DOT.

use crate::{LayeredLayout, escape, layout, path, quoted, text_width};
use std::fmt::Write;

/// An ordered set to draw.
pub struct HasseDiagram<'a> {
    /// The title; text has none.
    pub title: &'a str,
    /// The names of the nodes.
    pub nodes: &'a [String],
    /// The immediate successors of nodes, by index: pairs `(lower, upper)`.
    pub edges: &'a [(usize, usize)],
}

/// How a node is drawn in SVG.
pub struct NodeStyle {
    /// The colours inside and of the border.
    pub colours: (&'static str, &'static str),
    /// Whether the border is dashed.
    pub dashed: bool,
}

/// Distances of SVG, in pixels. Layers are further apart in wide diagrams, to avoid flat lines.
const LAYER_HEIGHT: f64 = 72.0;
const FLATTEST: f64 = 1.0 / 12.0;
const TEXT: f64 = 14.0;
const NODE_HEIGHT: f64 = 30.0;
const MARGIN: f64 = 24.0;
const TITLE_HEIGHT: f64 = 30.0;

/// The number of columns of text of a node beside its name, and of pixels of the layout in a column.
const SIDES: usize = 2;
const COLUMN: f64 = 8.0;
/// The number of lines of text from layer to layer, including that of the names.
const LAYER: usize = 3;
/// The numbers of dots of a character, across and down.
const DOTS: (usize, usize) = (2, 4);

impl HasseDiagram<'_> {
    /// The diagram as an SVG document; `style` is that of each name.
    pub fn svg(&self, style: impl Fn(&str) -> NodeStyle) -> String {
        let widths: Vec<f64> = self.nodes.iter().map(|node| node_width(node)).collect();
        let plan = layout(&widths, self.edges);
        let top = plan.layer.iter().max().copied().unwrap_or(0);
        let title_width = text_width(self.title, TEXT);
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
        let title = escape(self.title);
        put(format_args!(r#"<text x="{:.0}" y="{MARGIN:.0}" font-weight="bold">{title}</text>"#, width / 2.0));
        for route in &plan.routes {
            put(format_args!(r##"<path d="{}" fill="none" stroke="#777" stroke-width="1.5"/>"##, page.path(route)));
        }
        for (index, node) in self.nodes.iter().enumerate() {
            put(format_args!("{}", page.node(&plan, index, (node, style(node)), widths[index])));
        }
        put(format_args!("</svg>"));
        svg
    }

    /// The diagram as text: lines in Braille dots, names for which `marked` returns true in brackets.
    pub fn text(&self, marked: impl Fn(&str) -> bool) -> String {
        let columns = |name: &String| name.chars().count() + 2 * SIDES;
        let widths: Vec<f64> = self.nodes.iter().map(|name| columns(name) as f64 * COLUMN).collect();
        let plan = layout(&widths, self.edges);
        let top = plan.layer.iter().max().copied().unwrap_or(0);
        let (width, height) = ((plan.width / COLUMN).ceil() as usize + 1, top * LAYER + 1);
        let mut page = BraillePage { width, cells: vec![0; width * height] };
        let row = |layer: usize| (top - layer) * LAYER;
        for route in &plan.routes {
            for line in route.windows(2) {
                let [(from, below), (to, above)] = [line[0], line[1]];
                let column = |x: f64| x / COLUMN * DOTS.0 as f64;
                // The line runs from below the upper name to above the lower one. Bends have no name: lines go through
                // them.
                let (start, end) = ((row(above) + 1) * DOTS.1, row(below) * DOTS.1 - 1);
                page.line((column(to), start), (column(from), end));
            }
            for bend in route.get(1..route.len().saturating_sub(1)).unwrap_or_default() {
                let (x, y) = (bend.0 / COLUMN * DOTS.0 as f64, row(bend.1) * DOTS.1);
                page.line((x, y), (x, y + DOTS.1 - 1));
            }
        }
        let mut names: Vec<Vec<(usize, String)>> = vec![Vec::new(); top + 1];
        for (node, name) in self.nodes.iter().enumerate() {
            let text = if marked(name) { format!("[{name}]") } else { format!(" {name} ") };
            let column = (plan.x[node] / COLUMN - text.chars().count() as f64 / 2.0).round().max(0.0) as usize;
            names[plan.layer[node]].push((column, text));
        }
        let mut out = String::new();
        for line in 0..height {
            let mut cells: Vec<char> = page.row(line).collect();
            let layer = top - line / LAYER;
            let here = if line.is_multiple_of(LAYER) { names[layer].as_slice() } else { &[] };
            for (column, name) in here {
                cells.iter_mut().skip(*column).zip(name.chars()).for_each(|(cell, letter)| *cell = letter);
            }
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}", cells.into_iter().collect::<String>().trim_end());
        }
        out
    }

    /// The diagram as a `digraph` of Graphviz's language.
    pub fn dot(&self) -> String {
        let nodes: String = self.nodes.iter().map(|node| format!("  {};\n", quoted(node))).collect();
        let edge = |&(a, b): &(usize, usize)| {
            Some(format!("  {} -> {};\n", quoted(self.nodes.get(a)?), quoted(self.nodes.get(b)?)))
        };
        let edges: String = self.edges.iter().filter_map(edge).collect();
        format!("digraph {} {{\n  rankdir=BT;\n{nodes}{edges}}}\n", quoted(self.title))
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

    fn node(&self, plan: &LayeredLayout, index: usize, (name, style): (&str, NodeStyle), width: f64) -> String {
        let (x, y) = self.at((plan.x[index], plan.layer[index]));
        let (left, top, radius) = (x - width / 2.0, y - NODE_HEIGHT / 2.0, NODE_HEIGHT / 2.0);
        let NodeStyle { colours: (fill, stroke), dashed } = style;
        let dashes = if dashed { r#" stroke-dasharray="4 3""# } else { "" };
        let (base, name) = (y + 5.0, escape(name));
        format!(
            r#"<rect x="{left:.0}" y="{top:.0}" width="{width:.0}" height="{NODE_HEIGHT:.0}" rx="{radius:.0}" fill="{fill}" stroke="{stroke}" stroke-width="1.5"{dashes}/><text x="{x:.0}" y="{base:.0}">{name}</text>"#
        )
    }
}

fn node_width(name: &str) -> f64 {
    (text_width(name, TEXT) + 22.0).max(46.0)
}

/// A page of Braille characters, each a byte of dots.
struct BraillePage {
    width: usize,
    cells: Vec<u8>,
}

impl BraillePage {
    /// Draws a line of dots from a point down to another; rows are of dots.
    fn line(&mut self, (from, top): (f64, usize), (to, bottom): (f64, usize)) {
        let rows = bottom.saturating_sub(top).max(1) as f64;
        let steps = (rows.max((to - from).abs()).ceil() as usize).max(1);
        for step in 0..=steps {
            let part = step as f64 / steps as f64;
            let (x, y) = (from + (to - from) * part, top as f64 + rows * part);
            self.dot(x.round() as usize, y.round() as usize);
        }
    }

    fn dot(&mut self, x: usize, y: usize) {
        // The bits of the Braille block, by column and row.
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let at = y / DOTS.1 * self.width + (x / DOTS.0).min(self.width - 1);
        if let Some(cell) = self.cells.get_mut(at) {
            *cell |= BITS[x % DOTS.0][y % DOTS.1];
        }
    }

    fn row(&self, line: usize) -> impl Iterator<Item = char> + '_ {
        let cells = self.cells.iter().skip(line * self.width).take(self.width);
        cells.map(|&dots| match dots {
            0 => ' ',
            dots => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        })
    }
}
