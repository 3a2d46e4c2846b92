//! Scans along each axis, with and without the initial value.

use crate::has_turn;
use crate::memory::{Program, assert_all_fault, check};
use crate::programs::lowered_graph;
use ndjit_ir::graph::{Graph, NodeKind, Slot};
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::{AxisFunction, ReductionRule, TypeRequest};
use ndjit_ir::view::{broadcast_to, concat_shape};
use ndjit_ir::{DType, Policy, Shape, ValueType};

/// Shapes with an axis of `n`, and the scanned axis: the last, the one before it, the first, one beside `n`.
fn cases(n: usize) -> [([usize; 3], usize); 5] {
    [([1, 3, n], 2), ([2, n, 3], 1), ([n, 1, 3], 0), ([1, 3, n], 1), ([1, 1, n], 2)]
}

/// Scans one array for each case in every way.
fn of_cases(dtype: DType, cases: &[([usize; 3], usize)], asks: bool) -> Program {
    let policy = Policy::default();
    let mut graph: Graph<ValueType> = Graph::new();
    let given: Vec<_> = cases.iter().map(|(own, _)| graph.param(dtype.into(), &Shape::new(own))).collect();
    let mut outputs = Vec::new();
    for ((extents, axis), x) in cases.iter().zip(given) {
        let shape = Shape::new(extents);
        for function in AxisFunction::all() {
            // Indices of longer axes keep their own dtype.
            let counts = function.row().rule != ReductionRule::Index
                || dtype.int_range().is_none_or(|(_, most)| extents[*axis] as i128 <= most);
            let asked = Some(dtype).filter(|_| asks && counts && function.takes_dtype());
            let Ok(types) = policy.resolve_reduction(function, asked, dtype.into()) else { continue };
            let result = (types.result.into(), graph.intern(&shape));
            let request = TypeRequest { dtype: asked, policy };
            let (kind, nothing) = match function {
                AxisFunction::Scan(scan) => (NodeKind::Scan(scan, *axis as u32, request), scan.empty_result()),
                AxisFunction::Sort(sort) => (NodeKind::Sort(sort, *axis as u32, request), None),
                AxisFunction::Reduction(_) => continue,
            };
            let scanned = graph.add(kind, &[x], &[result]);
            outputs.push(scanned);
            let Some(nothing) = nothing else { continue };
            let mut one = *extents;
            one[*axis] = 1;
            let one = Shape::new(&one);
            let nothing = Literal::strong(nothing.value(), types.result).unwrap();
            let nothing = graph.literal(Slot::Value(nothing), types.result.into());
            let (wide, _) = broadcast_to(&Shape::scalar(), &one).unwrap();
            let first = graph.view(nothing, wide, &one);
            let joined = concat_shape(&[&one, &shape], *axis).unwrap();
            let result = (types.result.into(), graph.intern(&joined));
            outputs.push(graph.add(NodeKind::Concat(*axis as u32, policy), &[first, scanned], &[result]));
        }
    }
    graph.set_outputs(outputs);
    (lowered_graph(&graph), cases.iter().map(|(extents, _)| (dtype, extents.to_vec())).collect())
}

#[test]
fn scans_of_every_dtype_and_length() {
    for n in 0..=257 {
        for dtype in DType::ALL.into_iter().filter(|&dtype| has_turn(dtype, n)) {
            let (program, params) = of_cases(dtype, &cases(n), n % 2 == 0);
            check(&program, &params, None);
        }
    }
}

#[test]
fn blocks_and_what_is_left_of_them() {
    for n in [1023, 1024, 1025, 2047, 2049, 3100] {
        for dtype in [DType::U8, DType::F16, DType::F32, DType::C128] {
            let (program, params) = of_cases(dtype, &cases(n), true);
            check(&program, &params, None);
        }
    }
}

#[test]
fn a_scan_that_reads_an_element_too_far_faults() {
    let programs: Vec<Program> = cases(67).chunks(1).map(|case| of_cases(DType::F32, case, true)).collect();
    assert_all_fault("scans::a_scan_that_reads_an_element_too_far_faults", &programs, None);
}
