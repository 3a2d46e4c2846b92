//! Graph passes change no bit of a result, as the interpreter shows.

use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::{DType, Policy};
use ndjit_math::interp::eval_graph;
use ndjit_random::{Limits, program};
use ndjit_transform::access::contiguous;
use ndjit_transform::{commit, gathers, inline, networks, simplify, views, windows};
use std::sync::Arc;

#[test]
fn passes_change_no_bit() {
    let limits = Limits { elements: 100, control: true, ..Limits::default() };
    let mut changed = [0; 5];
    for seed in 0..4000 {
        let program = program(seed, &limits).unwrap();
        let (graph, places) = inline(&program.graph, &SourceLocs::default()).unwrap();
        let typed = commit(Arc::new(graph), Arc::new(places), Policy::default()).unwrap().graph;
        let eval = |graph: &Graph<DType>| eval_graph(graph, &program.params, &program.scalars).unwrap();
        let expected = eval(&typed);
        let layouts: Vec<_> = program.params.iter().map(|x| contiguous(&x.shape, x.dtype).unwrap()).collect();
        let mut graph = Graph::clone(&typed);
        for (n, changed) in changed.iter_mut().enumerate() {
            let new = match n {
                0 => Some(simplify(&graph).unwrap()),
                1 => networks(&graph).unwrap(),
                2 => gathers(&graph).unwrap(),
                3 => windows(&graph).unwrap(),
                _ => views(&graph, &layouts).unwrap(),
            };
            let Some(new) = new else { continue };
            let results = eval(&new);
            let same = results.len() == expected.len() && results.iter().zip(&expected).all(|(a, b)| a.same_bits(b));
            assert!(same, "seed {seed}, pass {n}:\n{graph}\n{new}");
            *changed += usize::from(new.to_string() != graph.to_string());
            graph = new;
        }
    }
    assert!(changed.iter().all(|&count| count > 20), "{changed:?}");
}
