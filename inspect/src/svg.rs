//! Pictures as SVG, from operands at the top to users below. Each cluster is laid out, then the clusters are.

use crate::picture::{Cluster, Picture, PictureNode};
use ndjit_drawing::{LayeredLayout, escape, layout, path, text_width};
use ndjit_ir::dtype::colours::colours;
use std::fmt::Write;

/// Distances in pixels.
const TEXT: f64 = 12.0;
const LINE: f64 = 16.0;
const PADDING: f64 = 8.0;
const BETWEEN_LAYERS: f64 = 34.0;
const MARGIN: f64 = 16.0;
const ROUND: f64 = 16.0;
const HEADING: f64 = 20.0;

/// The picture as an SVG document.
pub fn svg(picture: &Picture) -> String {
    let drawings: Vec<Drawing> = picture.clusters.iter().map(Drawing::new).collect();
    let mut edges: Vec<(usize, usize)> = picture.edges.iter().map(|&((from, _), (to, _))| (from, to)).collect();
    edges.sort_unstable();
    edges.dedup();
    let sizes: Vec<(f64, f64)> = drawings.iter().map(|drawing| drawing.size).collect();
    let page = Page::new(&sizes, &edges);
    let (width, height) = (page.size.0 + 2.0 * MARGIN, page.size.1 + 2.0 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"sans-serif\" font-size=\"{TEXT}\">\n<title>{}</title>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\" fill=\"#777\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        escape(&picture.title)
    );
    page.lines(&mut out, (MARGIN, MARGIN));
    for (n, drawing) in drawings.iter().enumerate() {
        let (left, top) = page.corner(n);
        drawing.draw(&mut out, (left + MARGIN, top + MARGIN));
    }
    out + "</svg>\n"
}

/// Boxes in layers.
struct Page {
    plan: LayeredLayout,
    sizes: Vec<(f64, f64)>,
    edges: Vec<(usize, usize)>,
    /// Top and height of each layer.
    layers: Vec<(f64, f64)>,
    size: (f64, f64),
}

impl Page {
    fn new(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Page {
        let widths: Vec<f64> = sizes.iter().map(|size| size.0).collect();
        let plan = layout(&widths, edges);
        let mut heights = vec![0.0f64; plan.layer.iter().max().map_or(0, |last| last + 1)];
        for (&layer, size) in plan.layer.iter().zip(sizes) {
            heights[layer] = heights[layer].max(size.1);
        }
        let mut top = 0.0;
        let mut layers = Vec::with_capacity(heights.len());
        for height in heights {
            layers.push((top, height));
            top += height + BETWEEN_LAYERS;
        }
        let size = (plan.width, (top - BETWEEN_LAYERS).max(0.0));
        Page { plan, sizes: sizes.to_vec(), edges: edges.to_vec(), layers, size }
    }

    /// The corner of a box, at the top of its layer.
    fn corner(&self, n: usize) -> (f64, f64) {
        (self.plan.x[n] - self.sizes[n].0 / 2.0, self.layers[self.plan.layer[n]].0)
    }

    /// Edges: from the bottom of a box to the top of another, vertical through layers.
    fn lines(&self, out: &mut String, (left, above): (f64, f64)) {
        for (route, &(from, _)) in self.plan.routes.iter().zip(&self.edges) {
            let [(x, layer), rest @ ..] = &route[..] else { continue };
            let (top, height) = self.layers[*layer];
            let mut points = vec![(left + x, above + top + self.sizes[from].1), (left + x, above + top + height)];
            for &(x, layer) in rest {
                let (top, height) = self.layers[layer];
                points.extend([(left + x, above + top), (left + x, above + top + height)]);
            }
            points.pop();
            let _ = writeln!(
                out,
                "<path d=\"{}\" fill=\"none\" stroke=\"#777\" stroke-width=\"1.2\" marker-end=\"url(#arrow)\"/>",
                path(&points, ROUND)
            );
        }
    }
}

/// A cluster, laid out.
struct Drawing<'a> {
    cluster: &'a Cluster,
    page: Page,
    size: (f64, f64),
}

impl<'a> Drawing<'a> {
    fn new(cluster: &'a Cluster) -> Drawing<'a> {
        let sizes: Vec<(f64, f64)> = cluster.nodes.iter().map(box_size).collect();
        let page = Page::new(&sizes, &cluster.edges);
        let size = match &cluster.title {
            None => page.size,
            Some(title) => {
                let width = page.size.0.max(text_width(title, TEXT)) + 2.0 * PADDING;
                (width, page.size.1 + HEADING + 2.0 * PADDING)
            }
        };
        Drawing { cluster, page, size }
    }

    fn draw(&self, out: &mut String, (left, top): (f64, f64)) {
        let mut inside = (left, top);
        if let Some(title) = &self.cluster.title {
            let (width, height) = self.size;
            let _ = writeln!(
                out,
                "<rect x=\"{left:.0}\" y=\"{top:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"6\" fill=\"#fafafa\" \
                 stroke=\"#999\"/><text x=\"{:.0}\" y=\"{:.0}\" font-weight=\"bold\">{}</text>",
                left + PADDING,
                top + PADDING + TEXT,
                escape(title)
            );
            inside = (left + (width - self.page.size.0) / 2.0, top + HEADING + PADDING);
        }
        self.page.lines(out, inside);
        for (n, node) in self.cluster.nodes.iter().enumerate() {
            let (x, y) = self.page.corner(n);
            draw_node(out, node, self.page.sizes[n], (inside.0 + x, inside.1 + y));
        }
    }
}

fn box_size(node: &PictureNode) -> (f64, f64) {
    let widest = node.lines.iter().map(|line| text_width(line, TEXT)).fold(0.0, f64::max);
    (widest + 2.0 * PADDING, node.lines.len() as f64 * LINE + PADDING)
}

fn draw_node(out: &mut String, node: &PictureNode, (width, height): (f64, f64), (x, y): (f64, f64)) {
    let (fill, stroke) = colours(node.kind);
    let dashes = if node.weak { " stroke-dasharray=\"4 3\"" } else { "" };
    let border = if node.result { 2.5 } else { 1.2 };
    let _ = write!(out, "<g>");
    if !node.places.is_empty() {
        let _ = write!(out, "<title>{}</title>", escape(&node.places));
    }
    let _ = write!(
        out,
        "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"5\" fill=\"{fill}\" stroke=\"{stroke}\" \
         stroke-width=\"{border}\"{dashes}/>"
    );
    for (n, line) in node.lines.iter().enumerate() {
        let (middle, base) = (x + width / 2.0, y + PADDING / 2.0 + TEXT + n as f64 * LINE);
        let _ = write!(out, "<text x=\"{middle:.0}\" y=\"{base:.0}\" text-anchor=\"middle\">{}</text>", escape(line));
    }
    let _ = writeln!(out, "</g>");
}
