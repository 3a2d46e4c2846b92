//! Gathers from rows and scatters into them, at indices within and beyond the axis.

use crate::has_turn;
use crate::memory::{Program, assert_all_fault, check};
use crate::programs::lowered_graph;
use ndjit_ir::graph::{Graph, NodeKind, Scatter};
use ndjit_ir::support::CastReason;
use ndjit_ir::view::{flip, gathered};
use ndjit_ir::{DType, Shape, ValueType};

/// An array of `rows` and `n` indices, some out of bounds: gathers of elements and of whole rows, from both ends, and scatters of them.
fn program(dtype: DType, rows: usize, n: usize) -> Program {
    let mut graph: Graph<ValueType> = Graph::new();
    let shapes = [vec![rows, 3], vec![n, 3], vec![n, 1]];
    let x = graph.param(dtype.into(), &Shape::from(shapes[0].clone()));
    let updates = graph.param(dtype.into(), &Shape::from(shapes[1].clone()));
    let narrow = graph.param(DType::I8.into(), &Shape::from(shapes[2].clone()));
    let [many, few] = [updates, narrow].map(|given| {
        let shape = graph.shape_id(given);
        graph.add(NodeKind::Cast(CastReason::Explicit), &[given], &[(DType::I64.into(), shape)])
    });
    let mut outputs = Vec::new();
    let (view, same) = flip(&Shape::from(shapes[0].clone()), &[0, 1]).unwrap();
    let flipped = graph.view(x, view, &same);
    for (of, index) in [(x, many), (x, few), (flipped, many), (flipped, few)] {
        let shape = gathered(graph.shape(of), graph.shape(index)).unwrap();
        let result = (dtype.into(), graph.intern(&shape));
        outputs.push(graph.add(NodeKind::Gather, &[of, index], &[result]));
        for scatter in Scatter::ALL.into_iter().filter(|scatter| scatter.takes(dtype)) {
            let result = (dtype.into(), graph.shape_id(of));
            outputs.push(graph.add(NodeKind::Scatter(scatter), &[of, index, updates], &[result]));
        }
    }
    graph.set_outputs(outputs);
    let params = [dtype, dtype, DType::I8].into_iter().zip(shapes).collect();
    (lowered_graph(&graph), params)
}

#[test]
fn rows_of_every_dtype_and_number() {
    for n in 0..=130 {
        for dtype in DType::ALL.into_iter().filter(|&dtype| has_turn(dtype, n)) {
            for rows in [1, 2, 5, 70] {
                let (program, params) = program(dtype, rows, n);
                check(&program, &params, None);
            }
        }
    }
}

#[test]
fn blocks_and_what_is_left_of_them() {
    for n in [682, 683, 2048, 2049] {
        for dtype in [DType::U8, DType::F16, DType::F32, DType::C128] {
            let (program, params) = program(dtype, 9, n);
            check(&program, &params, None);
        }
    }
}

#[test]
fn a_gather_from_a_row_too_far_faults() {
    let mut graph: Graph<ValueType> = Graph::new();
    let x = graph.param(DType::F32.into(), &Shape::from([67]));
    let shape = graph.shape_id(x);
    // The first row and the last.
    let bounds = NodeKind::Cast(CastReason::Explicit);
    let index = graph.add(NodeKind::Iota(ndjit_ir::axes::AxisSet::one(0)), &[], &[(DType::I64.into(), shape)]);
    let index = graph.add(bounds, &[index], &[(DType::I64.into(), shape)]);
    let taken = graph.add(NodeKind::Gather, &[x, index], &[(DType::F32.into(), shape)]);
    graph.set_outputs(vec![taken]);
    let programs: Vec<Program> = vec![(lowered_graph(&graph), vec![(DType::F32, vec![67])])];
    assert_all_fault("rows::a_gather_from_a_row_too_far_faults", &programs, None);
}
