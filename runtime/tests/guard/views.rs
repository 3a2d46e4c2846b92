//! Views and joins: each element of an operand is read, and no other memory.

use crate::has_turn;
use crate::memory::{Program, assert_all_fault, check};
use crate::programs::lowered_graph;
use ndjit_ir::graph::{Graph, NodeKind};
use ndjit_ir::reduction::{AxisSet, Reduce, TypeRequest};
use ndjit_ir::view::{self, Slice, View};
use ndjit_ir::{DType, Policy, Reduction, Shape, ValueType};

type Made = ndjit_ir::Result<(View, Shape)>;

/// The extents of an operand, and its view for `n`.
type Seen = (Vec<usize>, fn(&Shape, usize) -> Made);

/// Views with extent `n` along an axis, each of which reads the first and the last element of its operand.
fn views(n: usize) -> [Seen; 11] {
    const fn step(step: isize) -> Slice {
        Slice::Range { start: None, end: None, step }
    }
    let spread = (2 * n).saturating_sub(1);
    [
        (vec![spread], |shape, _| view::slice(shape, &[step(2)])),
        (vec![spread], |shape, _| view::slice(shape, &[step(-2)])),
        (vec![3, spread], |shape, _| view::slice(shape, &[step(-2), step(2)])),
        (vec![n], |shape, _| view::flip(shape, &[0])),
        (vec![3, n], |shape, _| view::flip(shape, &[0, 1])),
        (vec![n, 3], |shape, _| view::permute_dims(shape, &[1, 0])),
        (vec![3, 1], |shape, n| view::broadcast_to(shape, &Shape::from([3, n]))),
        (vec![n], |shape, n| view::broadcast_to(shape, &Shape::from([3, n]))),
        (vec![n + 2], |shape, _| view::sliding_window(shape, &[3], &[0])),
        (vec![n + 2], |shape, _| {
            view::sliding_window(shape, &[3], &[0]).and_then(|own| after(own, |s| view::permute_dims(s, &[1, 0])))
        }),
        (vec![n.min(67); 2], |shape, _| view::diagonal(shape, 0, [0, 1])),
    ]
}

/// One view of another's result.
fn after((inner, shape): (View, Shape), outer: fn(&Shape) -> Made) -> Made {
    let (outer, shape) = outer(&shape)?;
    Ok((outer.of(&inner).canonical(&shape), shape))
}

/// Stores each view, the sum and the maximum along its last axis, and twice its elements, in sequence.
fn of_views(dtype: DType, n: usize, views: &[Seen]) -> Program {
    let policy = Policy::default();
    let mut graph: Graph<ValueType> = Graph::new();
    let mut params = Vec::new();
    let mut outputs = Vec::new();
    let given: Vec<_> = views.iter().map(|(own, _)| graph.param(dtype.into(), &Shape::new(own))).collect();
    for ((extents, make), x) in views.iter().zip(given) {
        params.push((dtype, extents.clone()));
        let Ok((seen, shape)) = &make(&Shape::new(extents), n) else {
            assert_eq!(n, 0, "a window of 3 fits into 2 elements");
            continue;
        };
        let seen = graph.view(x, seen.clone(), shape);
        outputs.push(seen);
        for reduction in [Reduction::Sum, Reduction::Max] {
            if shape.extents().ends_with(&[0]) {
                continue;
            }
            let axes = AxisSet::new(&[-1], shape.rank()).unwrap();
            let types = policy.resolve_reduction(reduction, None, dtype.into()).unwrap();
            let result = (types.result.into(), graph.intern(&axes.reduced(shape, false)));
            let kind = NodeKind::Reduce(Reduce {
                request: TypeRequest { dtype: None, policy },
                ..Reduce::new(reduction, axes, false)
            });
            outputs.push(graph.add(kind, &[seen], &[result]));
        }
        let joined = view::concat_shape(&[shape; 2], 0).unwrap();
        let joined = (dtype.into(), graph.intern(&joined));
        outputs.push(graph.add(NodeKind::Concat(0, policy), &[seen, seen], &[joined]));
    }
    graph.set_outputs(outputs);
    (lowered_graph(&graph), params)
}

#[test]
fn views_of_every_dtype_and_length() {
    for n in 0..=257 {
        for dtype in DType::ALL.into_iter().filter(|&dtype| has_turn(dtype, n)) {
            let (program, params) = of_views(dtype, n, &views(n));
            check(&program, &params, None);
        }
    }
}

#[test]
fn a_view_that_reads_an_element_too_far_faults() {
    let programs: Vec<Program> = views(67).chunks(1).map(|view| of_views(DType::F32, 67, view)).collect();
    assert_all_fault("views::a_view_that_reads_an_element_too_far_faults", &programs, None);
}
