//! Canonical views: a view written for other extents may step along axes of one index, or select nothing from a start. Programs whose
//! extents have names have such views for small sizes.

use crate::bodies::{RewrittenGraphs, rewritten_control};
use ndjit_ir::ValueType;
use ndjit_ir::graph::{Graph, NodeKind, Rewriter, SourceLocs};

/// Returns a graph without calls with [canonical](ndjit_ir::view::View::canonical) views, and its places; also in control flow. The graph
/// need not be valid: its text was for other extents.
pub fn canonical_views(graph: &Graph<ValueType>, places: &SourceLocs) -> (Graph<ValueType>, SourceLocs) {
    rewritten(graph, places, &mut RewrittenGraphs::default())
}

fn rewritten(
    graph: &Graph<ValueType>,
    places: &SourceLocs,
    bodies: &mut RewrittenGraphs,
) -> (Graph<ValueType>, SourceLocs) {
    let (mut out, mut out_places) = (Graph::with_slots(graph), SourceLocs::default());
    let mut controls: Vec<Option<u32>> = vec![None; graph.controls().len()];
    let mut rewriter = Rewriter::new((graph, places), (&mut out, &mut out_places));
    for id in graph.node_ids() {
        match graph.node(id).kind {
            NodeKind::View(view) => {
                let shape = graph.shape(graph.node(id).first());
                let Some(&of) = rewriter.operands(id).first() else { continue };
                let made = rewriter.new.view(of, graph.view_of(view).clone().canonical(shape), shape);
                match made == of {
                    true => rewriter.replace(id, made),
                    false => rewriter.set(id, made),
                }
            }
            kind @ (NodeKind::Slice(view) | NodeKind::Insert(view)) => {
                let operands = rewriter.operands(id);
                let view = graph.view_of(view).clone();
                let view = match kind {
                    NodeKind::Slice(_) => {
                        let starts = operands.len().saturating_sub(1);
                        view.canonical_after(starts, graph.shape(graph.node(id).first()))
                    }
                    _ => match graph.operands(id).get(1) {
                        Some(&updates) => view.canonical_after(operands.len().saturating_sub(2), graph.shape(updates)),
                        None => view,
                    },
                };
                let view = rewriter.new.intern_view(view);
                let kind =
                    if matches!(kind, NodeKind::Slice(_)) { NodeKind::Slice(view) } else { NodeKind::Insert(view) };
                rewriter.add(id, kind, &operands);
            }
            NodeKind::Control(n) if (n as usize) < controls.len() => {
                let number = match controls[n as usize] {
                    Some(number) => number,
                    None => {
                        let into = (&mut *rewriter.new, &mut *rewriter.notes);
                        *controls[n as usize].insert(rewritten_control((graph, places), n, into, bodies, rewritten))
                    }
                };
                rewriter.add(id, NodeKind::Control(number), &rewriter.operands(id));
            }
            _ => {
                rewriter.copy(id);
            }
        }
    }
    rewriter.finish();
    (out, out_places)
}
