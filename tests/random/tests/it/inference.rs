//! Inference agrees with every node of random programs, which are generated without it.

use ndjit_random::{Limits, program};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The generator takes types from policies, and shapes from its own rules.
#[test]
fn what_is_inferred_is_what_random_programs_have() {
    let limits = Limits { control: true, ..Limits::default() };
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..1500 {
        let program = program(seed, &limits).unwrap();
        for graph in program.graph.whole() {
            for id in graph.node_ids() {
                let inferred = graph.infer(id).unwrap_or_else(|mismatch| panic!("{mismatch}\n{program}"));
                let found = graph.node(id).results().map(|value| (graph.ty(value), Cow::Borrowed(graph.shape(value))));
                assert_eq!(inferred.to_vec(), found.collect::<Vec<_>>(), "{}\n{program}", graph.display_node(id));
                let kind = graph.node(id).kind.row().name;
                *kinds.entry(kind).or_default() += 1;
            }
        }
    }
    let all = "argument call cast concat control flow gather insert iota literal op reduction reshape scan scatter slice sort view";
    assert_eq!(kinds.keys().copied().collect::<Vec<_>>().join(" "), all);
    assert!(kinds.values().all(|&count| count > 50), "{kinds:?}");
}
