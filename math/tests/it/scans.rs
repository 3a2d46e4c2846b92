//! Scans: their text in graphs, kernels and nests, the verifiers' errors, and that nests compute the graphs.

use insta::assert_snapshot;
use ndjit_ir::graph::{Graph, Value};
use ndjit_ir::kernel::{
    FusedKernel, FusedStep, KernelInput, KernelKind, KernelScan, OpBody, Reads, StmtKind, verify_steps,
};
use ndjit_ir::loops::{Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, NestScan, Stride, VectorLoop};
use ndjit_ir::{DType, Result, Scan, Shape, ValueType};
use ndjit_math::interp::{Tensor, Tensors, eval_graph, eval_nest};

fn facts(result: Result<()>) -> String {
    result.unwrap_err().facts().join("\n")
}

#[test]
fn scans_print_as_they_parse() {
    let text = "graph (%0: i8[2, 3], %1: f*[4]) {
  %2 = cumulative_sum %0 axis 1 : i32[2, 3]
  %3 = cumulative_prod[numpy2] %0 axis 0 dtype f64 : f64[2, 3]
  %4 = cummax %0 axis 0 : i8[2, 3]
  %5 = cummin %1 axis 0 : f32[4]
  return %2, %3, %4, %5
}";
    let graph: Graph<ValueType> = text.parse().unwrap();
    graph.verify().unwrap();
    assert_eq!(graph.to_string(), text);
    for broken in ["cumulative_sum %0 axes [0]", "cummax %0", "cummin %0, %0 axis 0", "sum %0 axis 0"] {
        assert!(
            format!("graph (%0: i8[2]) {{\n  %1 = {broken} : i8[2]\n  return\n}}").parse::<Graph<DType>>().is_err()
        );
    }
}

#[test]
fn the_verifier_names_each_broken_invariant() {
    let graph = |line: &str| format!("graph (%0: i8[2, 3], %1: f16[3], %2: i8[]) {{\n  {line}\n  return\n}}");
    let traced = |line: &str| facts(graph(line).parse::<Graph<ValueType>>().unwrap().verify());
    let typed = |line: &str| facts(graph(line).parse::<Graph<DType>>().unwrap().verify());
    let all = [
        traced("%3 = cumulative_sum %0 axis 2 : i32[2, 3]"),
        traced("%3 = cumulative_sum %2 axis 0 : i32[]"),
        traced("%3 = cumulative_sum %0 axis 0 : i32[3]"),
        traced("%3 = cumulative_sum %0 axis 0 : i8[2, 3]"),
        traced("%3 = cummax %0 axis 0 dtype i32 : i32[2, 3]"),
        typed("%3 = cumulative_sum %0 axis 0 : i32[2, 3]"),
        typed("%3 = cumulative_sum %1 axis 0 : f16[3]"),
    ];
    assert_snapshot!(all.join("\n"));
}

/// A kernel that scans its input along the last axis.
fn kernel(reduction: Scan) -> FusedKernel {
    FusedKernel {
        shape: Shape::from([8, 3]),
        inputs: vec![KernelInput { value: Value(0), shape: Shape::from([8, 3]), reads: Reads::Elements }],
        literals: vec![],
        body: itself().into(),
        outputs: vec![Value(1)],
        kind: KernelKind::Scan(KernelScan { axis: 1, outputs: [reduction].into_iter().collect() }),
        statements: Default::default(),
    }
}

fn itself() -> OpBody {
    let mut body = OpBody { inputs: vec![DType::F32], ..OpBody::default() };
    let x = body.push(StmtKind::Load(0), &[], DType::F32);
    body.outputs = vec![x];
    body
}

fn nest(reduction: Scan, along: VectorLoop, inner: Stride) -> LoopNest {
    LoopNest {
        rank: 2,
        inputs: vec![Access::memory(DType::F32, inner)],
        literals: vec![],
        outputs: vec![Access::memory(DType::F32, inner)],
        body: LoopBody::Ops(itself().into()),
        kind: NestKind::Scan(NestScan { outputs: [reduction].into_iter().collect(), along }),
    }
}

#[test]
fn kernels_and_nests_say_what_is_scanned() {
    let graph: Graph<DType> =
        "graph (%0: f32[8, 3]) {\n  %1 = cumulative_sum %0 axis 1 : f32[8, 3]\n  return %1\n}".parse().unwrap();
    let kernel = kernel(Scan::CumulativeSum);
    verify_steps(&[FusedStep::Kernel(kernel.clone())], &graph).unwrap();
    let nest = nest(Scan::CumulativeSum, VectorLoop::Parallel, Stride::Contiguous);
    nest.verify().unwrap();
    assert_snapshot!(format!("{kernel}\n{nest}"));
}

#[test]
fn broken_kernels_and_nests_are_refused() {
    let mut two_axes = kernel(Scan::CumMax);
    two_axes.kind = KernelKind::Scan(KernelScan { axis: 2, outputs: [Scan::CumMax].into_iter().collect() });
    let still = nest(Scan::CumMax, VectorLoop::Reduction, Stride::Broadcast);
    let all = [facts(two_axes.verify()), facts(still.verify())];
    assert_snapshot!(all.join("\n"));
}

#[test]
fn nests_scan_as_graphs_do() {
    for [r, c] in [[0, 0], [0, 5], [5, 0], [1, 1], [3, 7], [2, 1025], [2100, 3]] {
        let shape = Shape::from([r, c]);
        let x = Tensor::from_repr(DType::F32, shape.clone(), |i| {
            [u64::from(((i * 7919 % 1013) as f32 / 1000.0 - 0.4).to_bits())]
        })
        .unwrap();
        for axis in [0, 1] {
            let graph: Graph<DType> = format!(
                "graph (%0: f32{shape}) {{\n  %1 = cumulative_sum %0 axis {axis} : f32{shape}\n  return %1\n}}"
            )
            .parse()
            .unwrap();
            let expected = eval_graph(&graph, std::slice::from_ref(&x), &[]).unwrap();
            let row = 4 * c as isize;
            let (extents, strides, along) = if axis == 0 {
                ([c, r], [4, row], VectorLoop::Parallel)
            } else {
                ([r, c], [row, 4], VectorLoop::Reduction)
            };
            let layout = Layout { offset: 0, strides: strides.into_iter().collect() };
            let domain = IterationDomain {
                extents: extents.into_iter().collect(),
                inputs: vec![layout.clone()],
                outputs: vec![layout],
            };
            let nest = nest(Scan::CumulativeSum, along, Stride::Contiguous);
            domain.verify(&nest, &[4 * r * c], &[4 * r * c]).unwrap();
            let mut outputs = [Tensor::zeros(DType::F32, shape.clone()).unwrap()];
            let mut memory = Tensors { inputs: std::slice::from_ref(&x), outputs: &mut outputs };
            eval_nest(&nest, &domain, &[], &mut memory).unwrap();
            assert_eq!(outputs[..], expected, "axis {axis} of {shape}");
            // The results must be whole.
            if r * c > 0 {
                assert!(domain.verify(&nest, &[4 * r * c], &[4 * r * c - 1]).is_err());
            }
        }
    }
}
