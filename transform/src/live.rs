//! Live nodes: removal of nodes on which no output depends.

use ndjit_ir::graph::{Graph, NodeKind, Notes, Rewriter, Type};

/// Returns the graph without dead nodes, and the notes of the others; parameters stay. `None` if all nodes are live.
pub fn live<T: Type, N: Notes + Default>(graph: &Graph<T>, notes: &N) -> Option<(Graph<T>, N)> {
    let mut needed = vec![false; graph.node_count()];
    graph.outputs().iter().for_each(|&output| needed[graph.producer(output).index()] = true);
    for id in graph.node_ids().rev() {
        needed[id.index()] |= matches!(graph.node(id).kind, NodeKind::Param(..));
        if needed[id.index()] {
            graph.operands(id).iter().for_each(|&operand| needed[graph.producer(operand).index()] = true);
        }
    }
    if needed.iter().all(|needed| *needed) {
        return None;
    }
    let (mut new, mut new_notes) = (Graph::with_slots(graph), N::default());
    // Calls keep their numbers.
    for (n, child) in graph.children().iter().enumerate() {
        new.child(std::sync::Arc::clone(child));
        new_notes.follow_child(notes, n as u32);
    }
    let mut rewriter = Rewriter::new((graph, notes), (&mut new, &mut new_notes));
    for id in graph.node_ids().filter(|id| needed[id.index()]) {
        rewriter.copy(id);
    }
    rewriter.finish();
    Some((new, new_notes))
}
