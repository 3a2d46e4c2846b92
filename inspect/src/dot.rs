//! Pictures in Graphviz's language.

use crate::picture::{Cluster, Picture, PictureNode};
use ndjit_drawing::quoted;
use ndjit_ir::dtype::colours::colours;
use std::fmt::Write;

/// The picture as a `digraph`.
pub fn dot(picture: &Picture) -> String {
    let mut out = format!("digraph {} {{\n", quoted(&picture.title));
    out += "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=11]\n";
    for (c, cluster) in picture.clusters.iter().enumerate() {
        match &cluster.title {
            // Writing to a string cannot fail.
            Some(title) => {
                let _ = writeln!(out, "  subgraph cluster_{c} {{\n    label={}", quoted(title));
                body(&mut out, c, cluster, "    ");
                out += "  }\n";
            }
            None => body(&mut out, c, cluster, "  "),
        }
    }
    for &((from_cluster, from), (to_cluster, to)) in &picture.edges {
        let _ = writeln!(out, "  n{from_cluster}_{from} -> n{to_cluster}_{to}");
    }
    out + "}\n"
}

fn body(out: &mut String, number: usize, cluster: &Cluster, indent: &str) {
    for (n, node) in cluster.nodes.iter().enumerate() {
        let _ = writeln!(out, "{indent}n{number}_{n} [{}]", attributes(node));
    }
    for (from, to) in &cluster.edges {
        let _ = writeln!(out, "{indent}n{number}_{from} -> n{number}_{to}");
    }
}

fn attributes(node: &PictureNode) -> String {
    let (fill, border) = colours(node.kind);
    let mut text = format!("label={}, fillcolor=\"{fill}\", color=\"{border}\"", quoted(&node.lines.join("\n")));
    if node.weak {
        text += ", style=\"rounded,filled,dashed\"";
    }
    if node.result {
        text += ", penwidth=2";
    }
    if !node.places.is_empty() {
        let _ = write!(text, ", tooltip={}", quoted(&node.places));
    }
    text
}
