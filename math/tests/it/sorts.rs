//! Sorts: their text in graphs, kernels and nests, the verifiers' errors, and that nests compute the graphs.

use insta::assert_snapshot;
use ndjit_ir::graph::{Graph, Value};
use ndjit_ir::kernel::{
    FusedKernel, FusedStep, KernelInput, KernelKind, KernelScan, OpBody, Reads, StmtKind, parse_kernels, verify_steps,
};
use ndjit_ir::loops::{Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, Stride, parse_nests};
use ndjit_ir::{DType, Result, Shape, Sort, ValueType};
use ndjit_math::interp::{Tensor, Tensors, eval_graph, eval_nest};

fn facts(result: Result<()>) -> String {
    result.unwrap_err().facts().join("\n")
}

#[test]
fn sorts_print_as_they_parse() {
    let text = "graph (%0: i8[2, 3], %1: f*[4]) {
  %2 = sort %0 axis 1 : i8[2, 3]
  %3 = argsort[numpy2] %0 axis 0 : i64[2, 3]
  %4 = argsort %1 axis 0 dtype u8 : u8[4]
  %5 = sort %1 axis 0 : f32[4]
  return %2, %3, %4, %5
}";
    let graph: Graph<ValueType> = text.parse().unwrap();
    graph.verify().unwrap();
    assert_eq!(graph.to_string(), text);
}

#[test]
fn the_verifier_names_each_broken_invariant() {
    let graph = |line: &str| format!("graph (%0: i8[2, 3], %1: f16[3], %2: u8[3000000000]) {{\n  {line}\n  return\n}}");
    let traced = |line: &str| facts(graph(line).parse::<Graph<ValueType>>().unwrap().verify());
    let typed = |line: &str| facts(graph(line).parse::<Graph<DType>>().unwrap().verify());
    let all = [
        traced("%3 = sort %0 axis 2 : i8[2, 3]"),
        traced("%3 = sort %0 axis 0 : i8[3]"),
        traced("%3 = sort %0 axis 0 dtype i32 : i32[2, 3]"),
        traced("%3 = argsort %0 axis 0 : i8[2, 3]"),
        typed("%3 = sort %1 axis 0 : f32[3]"),
        typed("%3 = argsort %1 axis 0 : f16[3]"),
        typed("%3 = argsort %1 axis 0 : u64[3]"),
        typed("%3 = argsort %2 axis 0 : i32[3000000000]"),
    ];
    assert_snapshot!(all.join("\n"));
    graph("%3 = argsort %2 axis 0 : i64[3000000000]").parse::<Graph<DType>>().unwrap().verify().unwrap();
}

fn body(dtype: DType) -> OpBody {
    let mut body = OpBody { inputs: vec![dtype], ..OpBody::default() };
    let x = body.push(StmtKind::Load(0), &[], dtype);
    body.outputs = vec![x];
    body
}

fn kernel(reduction: Sort) -> FusedKernel {
    FusedKernel {
        shape: Shape::from([8, 3]),
        inputs: vec![KernelInput { value: Value(0), shape: Shape::from([8, 3]), reads: Reads::Elements }],
        literals: vec![],
        body: body(DType::F32).into(),
        outputs: vec![Value(1)],
        kind: KernelKind::Sort(KernelScan { axis: 1, outputs: [reduction].into_iter().collect() }),
        statements: Default::default(),
    }
}

fn nest(reduction: Sort, dtype: DType, result: DType) -> LoopNest {
    LoopNest {
        rank: 2,
        inputs: vec![Access::memory(dtype, Stride::Contiguous)],
        literals: vec![],
        outputs: vec![Access::memory(result, Stride::Contiguous)],
        body: LoopBody::Ops(body(dtype).into()),
        kind: NestKind::Sort([reduction].into_iter().collect()),
    }
}

#[test]
fn kernels_and_nests_say_what_is_sorted() {
    let mut text = String::new();
    for (reduction, result) in [(Sort::Sort, DType::F32), (Sort::ArgSort, DType::I32)] {
        let graph = format!("graph (%0: f32[8, 3]) {{\n  %1 = {reduction} %0 axis 1 : {result}[8, 3]\n  return %1\n}}");
        let (kernel, graph) = (kernel(reduction), graph.parse::<Graph<DType>>().unwrap());
        verify_steps(&[FusedStep::Kernel(kernel.clone())], &graph).unwrap();
        assert_eq!(parse_kernels(&kernel.to_string()).unwrap(), std::slice::from_ref(&kernel));
        let nest = nest(reduction, DType::F32, result);
        nest.verify().unwrap();
        let read = parse_nests(&nest.to_string()).unwrap();
        assert_eq!(read.iter().map(|(read, _)| read).collect::<Vec<_>>(), [&nest]);
        text += &format!("{kernel}\n{nest}\n");
    }
    assert_snapshot!(text);
}

#[test]
fn broken_kernels_and_nests_are_refused() {
    let mut two_axes = kernel(Sort::Sort);
    two_axes.kind = KernelKind::Sort(KernelScan { axis: 2, outputs: [Sort::Sort].into_iter().collect() });
    let all = [
        facts(two_axes.verify()),
        facts(nest(Sort::Sort, DType::F32, DType::F64).verify()),
        facts(nest(Sort::ArgSort, DType::F32, DType::U32).verify()),
    ];
    assert_snapshot!(all.join("\n"));
}

#[test]
fn nests_sort_as_graphs_do() {
    for [r, c] in [[0, 0], [0, 5], [5, 0], [1, 1], [3, 7], [2, 105], [210, 3]] {
        let shape = Shape::from([r, c]);
        let x = Tensor::from_repr(DType::F32, shape.clone(), |i| {
            [u64::from(((i * 7919 % 13) as f32 / 1000.0 - 0.004).to_bits())]
        })
        .unwrap();
        for (axis, reduction, result) in [
            (0, Sort::Sort, DType::F32),
            (1, Sort::Sort, DType::F32),
            (0, Sort::ArgSort, DType::I64),
            (1, Sort::ArgSort, DType::I32),
        ] {
            let graph: Graph<DType> = format!(
                "graph (%0: f32{shape}) {{\n  %1 = {reduction} %0 axis {axis} : {result}{shape}\n  return %1\n}}"
            )
            .parse()
            .unwrap();
            let expected = eval_graph(&graph, std::slice::from_ref(&x), &[]).unwrap();
            let layout = |size: usize| {
                let (row, size) = ((size * c) as isize, size as isize);
                let strides = if axis == 0 { [size, row] } else { [row, size] };
                Layout { offset: 0, strides: strides.into_iter().collect() }
            };
            let domain = IterationDomain {
                extents: if axis == 0 { [c, r] } else { [r, c] }.into_iter().collect(),
                inputs: vec![layout(4)],
                outputs: vec![layout(result.bytes())],
            };
            let mut nest = nest(reduction, DType::F32, result);
            let inner = if axis == 0 { Stride::Strided } else { Stride::Contiguous };
            (nest.inputs[0].inner, nest.outputs[0].inner) = (inner, inner);
            domain.verify(&nest, &[4 * r * c], &[result.bytes() * r * c]).unwrap();
            let mut outputs = [Tensor::zeros(result, shape.clone()).unwrap()];
            let mut memory = Tensors { inputs: std::slice::from_ref(&x), outputs: &mut outputs };
            eval_nest(&nest, &domain, &[], &mut memory).unwrap();
            assert_eq!(outputs[..], expected, "{reduction} along {axis} of {shape}");
        }
    }
}
