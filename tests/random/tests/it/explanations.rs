//! Explanations hold for random programs.

use ndjit_inspect::explain::{Explainer, Origin};
use ndjit_ir::graph::{NodeKind, SourceLocs};
use ndjit_ir::{Policy, ValueType};
use ndjit_random::{Limits, program};

/// An explanation ends, visits no node twice, and each step's deciding operands suffice to give its type.
#[test]
fn the_deciding_operands_decide() {
    let mut steps = 0;
    for seed in 0..300 {
        let graph = program(seed, &Limits::default()).unwrap().graph;
        let (places, inputs) = (SourceLocs::default(), []);
        let explainer = Explainer::new(&graph, &places).inputs(&inputs);
        for id in graph.node_ids() {
            for value in graph.node(id).results() {
                let why = explainer.explain(value);
                assert_eq!((why.ty, why.stored), (graph.ty(value), graph.storage_dtype(value, Policy::default())));
                assert!(why.steps.len() <= graph.node_count());
                // Indices have no inputs.
                let positions = matches!(why.origin, Origin::Computed { value: Some(origin), .. }
                    if matches!(graph.node(graph.producer(origin)).kind, NodeKind::Iota(_)));
                let computed = matches!(why.origin, Origin::Computed { .. });
                assert!(positions || computed != why.steps.is_empty(), "{why}");
                for step in &why.steps {
                    let NodeKind::Op(op, policy) = graph.node(graph.producer(step.value)).kind else { continue };
                    let types: Vec<ValueType> = step.operands.iter().filter(|o| o.deciding).map(|o| o.ty).collect();
                    assert!(!step.rules.is_empty(), "{step}");
                    if types.is_empty() {
                        assert!(["bool", "i32"].contains(&step.ty.name()), "{step}");
                        continue;
                    }
                    let rule = op.row().rule.of_joined();
                    let all: Vec<ValueType> = step.operands.iter().map(|o| o.ty).collect();
                    // A rule of the op alone takes as many operands as the op.
                    let alone = match policy.system().own_rule(op) {
                        Some(_) => {
                            let repeated: Vec<ValueType> = types.iter().cycle().take(all.len()).copied().collect();
                            policy.resolve_op(op, &repeated).unwrap().compute
                        }
                        None => policy.resolve(rule, &types).unwrap().compute,
                    };
                    assert_eq!(alone, policy.resolve_op(op, &all).unwrap().compute, "{step}");
                    steps += 1;
                }
            }
        }
    }
    assert!(steps > 3_000, "only {steps} steps");
}
