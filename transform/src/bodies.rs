//! The graphs of control flow in a rewrite of a whole program: shared ones are rewritten once, and stay shared.

use ndjit_ir::ValueType;
use ndjit_ir::graph::{Control, Graph, Inner, SourceLocs};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Rewritten graphs of control flow, by address.
pub(crate) type RewrittenGraphs = FxHashMap<*const Graph<ValueType>, (Arc<Graph<ValueType>>, Arc<SourceLocs>)>;

/// A rewrite of a graph with its places, which knows the graphs rewritten before.
type GraphRewrite = fn(&Graph<ValueType>, &SourceLocs, &mut RewrittenGraphs) -> (Graph<ValueType>, SourceLocs);

/// Rewrites the graphs of one control flow. Returns its number in the new graph.
pub(crate) fn rewritten_control(
    (graph, places): (&Graph<ValueType>, &SourceLocs),
    n: u32,
    (out, out_places): (&mut Graph<ValueType>, &mut SourceLocs),
    known: &mut RewrittenGraphs,
    rewrite: GraphRewrite,
) -> u32 {
    let mut new = Control::clone(&graph.controls()[n as usize]);
    let mut inner_places = Vec::with_capacity(new.graphs.len());
    for (which, Inner { graph, .. }) in new.graphs.iter_mut().enumerate() {
        let made = match known.get(&Arc::as_ptr(graph)) {
            Some(made) => made.clone(),
            None => {
                let (made, noted) = rewrite(graph, &places.control(n, which), known);
                let made = (Arc::new(made), Arc::new(noted));
                known.insert(Arc::as_ptr(graph), made.clone());
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
