//! Canonical views: a view written for other extents may step along axes of one index, or select nothing from a start. Programs whose
//! extents have names have such views for small sizes.

use ndjit_ir::ValueType;
use ndjit_ir::graph::{Control, Graph, Inner, NodeKind, Rewriter, SourceLocs};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Rewritten graphs of control flow, by address, each with its places.
type CanonicalGraphs = FxHashMap<*const Graph<ValueType>, (Arc<Graph<ValueType>>, Arc<SourceLocs>)>;

/// Returns a graph without calls with [canonical](ndjit_ir::view::View::canonical) views, and its places; also in control flow. The graph
/// need not be valid: its text was for other extents.
pub fn canonical_views(graph: &Graph<ValueType>, places: &SourceLocs) -> (Graph<ValueType>, SourceLocs) {
    rewritten(graph, places, &mut CanonicalGraphs::default())
}

fn rewritten(
    graph: &Graph<ValueType>,
    places: &SourceLocs,
    bodies: &mut CanonicalGraphs,
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
                        *controls[n as usize].insert(control((graph, places), n, into, bodies))
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

/// Rewrites the graphs of one control flow. Returns its number in the new graph.
fn control(
    (graph, places): (&Graph<ValueType>, &SourceLocs),
    n: u32,
    (out, out_places): (&mut Graph<ValueType>, &mut SourceLocs),
    bodies: &mut CanonicalGraphs,
) -> u32 {
    let mut new = Control::clone(&graph.controls()[n as usize]);
    let mut inner_places = Vec::with_capacity(new.graphs.len());
    for (which, Inner { graph, .. }) in new.graphs.iter_mut().enumerate() {
        let made = match bodies.get(&Arc::as_ptr(graph)) {
            Some(known) => known.clone(),
            None => {
                let (made, noted) = rewritten(graph, &places.control(n, which), bodies);
                let made = (Arc::new(made), Arc::new(noted));
                bodies.insert(Arc::as_ptr(graph), made.clone());
                made
            }
        };
        *graph = made.0;
        inner_places.push(made.1);
    }
    let number = out.control(Arc::new(new));
    out_places.set_control(number, inner_places);
    number
}
