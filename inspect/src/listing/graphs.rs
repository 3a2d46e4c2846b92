//! The lines of a graph's text, each with its nodes.

use super::{Listing, OperationNumbers, StageLine, once};
use ndjit_ir::graph::{Graph, GraphLine, GraphPart, GraphText, NodeId, NodeKind, Type, Value};
use ndjit_ir::lines::TextLine;
use std::sync::Arc;

/// The lines of a graph: one per node, between those of the parameters and of the results. The graphs of its control flow come first, with
/// numbered nodes.
pub(super) fn graph<T: Type>(
    graph: &Graph<T>,
    text: &GraphText<'_, T>,
    numbers: &OperationNumbers<'_>,
    nodes: impl Fn(&Graph<T>, NodeId) -> Vec<NodeId>,
) -> Listing {
    let (blocks, within) = (graph.blocks(), control_of_blocks(graph, &nodes));
    let line = |TextLine { text, part, spans }: TextLine<GraphLine>| {
        let mut line = StageLine { spans, ..StageLine::plain(text, None) };
        let Some(GraphLine { block, part }) = part else { return line };
        line.block = block;
        let (own, outer) = (blocks[block].graph, within.get(block));
        line.within = outer.map_or_else(Arc::default, |outer| outer[..].into());
        // The graph itself has the first numbers. Unknown operations have those of the enclosing ones.
        let Some(first) = outer.map_or(Some(0), |_| numbers.first(own)) else {
            line.nodes = line.within.to_vec();
            return line;
        };
        let of = |values: &[Value]| values.iter().flat_map(|&value| nodes(own, own.producer(value))).collect();
        let found = match part {
            GraphPart::Control(n) => {
                let is_it = |id: &NodeId| matches!(own.node(*id).kind, NodeKind::Control(own) if own as usize == n);
                own.node_ids().filter(is_it).flat_map(|id| nodes(own, id)).collect()
            }
            GraphPart::Node(id) => nodes(own, id),
            GraphPart::Params => of(own.params()),
            GraphPart::Outputs => of(own.outputs()),
            GraphPart::Other => Vec::new(),
        };
        line.nodes = once(found).into_iter().map(|id| id.0 + first).collect();
        line
    };
    Listing { lines: text.lines().into_iter().map(line).collect() }
}

/// For each block of a graph's text except the last, the graph, the nodes of the enclosing control flow.
fn control_of_blocks<T: Type>(graph: &Graph<T>, nodes: impl Fn(&Graph<T>, NodeId) -> Vec<NodeId>) -> Vec<Vec<u32>> {
    let mut pieces = vec![Vec::new(); graph.controls().len()];
    for id in graph.node_ids() {
        if let NodeKind::Control(n) = graph.node(id).kind {
            pieces[n as usize].extend(nodes(graph, id));
        }
    }
    let all = graph.blocks();
    let mut blocks = vec![Vec::new(); all.len()];
    if let Some(root) = all.last() {
        for (own, nodes) in root.controls.iter().zip(&pieces) {
            own.iter().for_each(|&block| blocks[block].extend(nodes));
        }
    }
    // Blocks precede their users.
    for n in (0..all.len().saturating_sub(1)).rev() {
        let nodes = std::mem::take(&mut blocks[n]);
        for &used in all[n].callees.iter().chain(all[n].controls.iter().flatten()) {
            blocks[used].extend(&nodes);
        }
        blocks[n] = once(nodes);
    }
    blocks.pop();
    blocks.into_iter().map(|nodes| nodes.into_iter().map(|id| id.0).collect()).collect()
}
