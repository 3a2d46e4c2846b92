//! Reductions of rows, of columns and of all elements.

use crate::has_turn;
use crate::memory::{Program, assert_all_fault, check};
use crate::programs::lowered_graph;
use ndjit_ir::graph::{Graph, NodeKind};
use ndjit_ir::reduction::{AxisSet, Reduce, TypeRequest};
use ndjit_ir::{DType, Policy, Reduction, Shape, ValueType};

/// Shapes with an axis of `n`, and the reduced axes: rows and columns, few and many, inner and outer ones, all.
fn cases(n: usize) -> [([usize; 3], &'static [isize]); 6] {
    [
        ([1, 3, n], &[2]),
        ([1, n, 3], &[1]),
        ([1, 3, n], &[1]),
        ([2, n, 3], &[0, 2]),
        ([2, 3, n], &[0, 2]),
        ([1, 1, n], &[0, 1, 2]),
    ]
}

/// Each of these reductions of an array per case, with the array's dtype as the result's, since sums may widen.
fn of_cases(dtype: DType, cases: &[([usize; 3], &[isize])], reductions: &[Reduction], asks: bool) -> Program {
    let policy = Policy::default();
    let mut graph: Graph<ValueType> = Graph::new();
    let given: Vec<_> = cases.iter().map(|(own, _)| graph.param(dtype.into(), &Shape::new(own))).collect();
    let mut outputs = Vec::new();
    for ((extents, axes), x) in cases.iter().zip(given) {
        let shape = Shape::new(extents);
        let axes = AxisSet::new(axes, 3).unwrap();
        for &reduction in reductions {
            if reduction.needs_elements() && axes.count(&shape) == 0 {
                continue;
            }
            let asked = Some(dtype).filter(|_| asks && reduction.takes_dtype());
            let Ok(types) = policy.resolve_reduction(reduction, asked, dtype.into()) else { continue };
            let result = (types.result.into(), graph.intern(&axes.reduced(&shape, false)));
            let kind = NodeKind::Reduce(Reduce {
                request: TypeRequest { dtype: asked, policy },
                ..Reduce::new(reduction, axes, false)
            });
            outputs.push(graph.add(kind, &[x], &[result]));
        }
    }
    graph.set_outputs(outputs);
    (lowered_graph(&graph), cases.iter().map(|(extents, _)| (dtype, extents.to_vec())).collect())
}

fn elementary() -> Vec<Reduction> {
    Reduction::ALL.into_iter().filter(|reduction| reduction.combine().is_some()).collect()
}

#[test]
fn reductions_of_every_dtype_and_length() {
    for n in 0..=257 {
        for dtype in DType::ALL.into_iter().filter(|&dtype| has_turn(dtype, n)) {
            let (program, params) = of_cases(dtype, &cases(n), &elementary(), n % 2 == 0);
            check(&program, &params, None);
        }
    }
}

#[test]
fn blocks_and_what_is_left_of_them() {
    for n in [1023, 1024, 1025, 2047, 2049, 3100] {
        for dtype in [DType::U8, DType::F16, DType::F32, DType::C128] {
            let (program, params) = of_cases(dtype, &cases(n), &[Reduction::Sum, Reduction::Max], true);
            check(&program, &params, None);
        }
    }
}

#[test]
fn a_reduction_that_reads_an_element_too_far_faults() {
    let reductions = [Reduction::Sum, Reduction::Max];
    let programs: Vec<Program> =
        cases(67).chunks(1).map(|case| of_cases(DType::F32, case, &reductions, true)).collect();
    assert_all_fault("reductions::a_reduction_that_reads_an_element_too_far_faults", &programs, None);
}
