//! Kernels and nests that reduce: their text, their verifiers, and that they compute a graph's reductions.

use insta::assert_snapshot;
use ndjit_ir::body::BodyBuilder;
use ndjit_ir::graph::{Graph, Value};
use ndjit_ir::kernel::{
    FusedKernel, FusedStep, KernelInput, KernelKind, KernelReduce, OpBody, Reads, ScalarId, StmtKind, parse_kernels,
    verify_steps,
};
use ndjit_ir::loops::{
    Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, NestReduce, Role, Stride, VectorLoop, parse_nests,
};
use ndjit_ir::reduction::AxisSet;
use ndjit_ir::{DType, ErrorCode, Op, PrimType, Reduction, Result, Shape};
use ndjit_math::interp::{Tensor, Tensors, eval_graph, eval_nest};
use std::sync::Arc;

/// The square of an element, once for each output.
fn squares(outputs: usize) -> OpBody {
    let mut body = OpBody { inputs: vec![DType::F32], ..OpBody::default() };
    let x = body.push(StmtKind::Load(0), &[], DType::F32);
    let square = body.push(StmtKind::Op(Op::Multiply), &[x, x], DType::F32);
    body.outputs = vec![square; outputs];
    body
}

fn graph() -> Graph<DType> {
    "graph (%0: f32[8, 3]) {
  %1 = multiply %0, %0 : f32[8, 3]
  %2 = sum %1 axes [1] : f32[8]
  %3 = max %1 axes [1] keepdims : f32[8, 1]
  return %2, %3
}"
    .parse()
    .unwrap()
}

fn kernel() -> FusedKernel {
    FusedKernel {
        shape: Shape::from([8, 3]),
        inputs: vec![KernelInput { value: Value(0), shape: Shape::from([8, 3]), reads: Reads::Elements }],
        literals: vec![],
        body: squares(2).into(),
        outputs: vec![Value(2), Value(3)],
        kind: KernelKind::Reduce(KernelReduce {
            axes: AxisSet::new(&[1], 2).unwrap(),
            outputs: [Reduction::Sum, Reduction::Max].into_iter().collect(),
        }),
        statements: Default::default(),
    }
}

/// A nest of two loops over `f32`, of which the innermost `loops` are reduced.
fn nest(reductions: &[Reduction], loops: usize, along: VectorLoop) -> LoopNest {
    LoopNest {
        rank: 2,
        inputs: vec![Access::memory(DType::F32, Stride::Contiguous)],
        literals: vec![],
        outputs: vec![Access::memory(DType::F32, Stride::Contiguous); reductions.len()],
        body: LoopBody::Ops(squares(reductions.len()).into()),
        kind: NestKind::Reduce(NestReduce { loops, outputs: reductions.iter().copied().collect(), along }),
    }
}

fn rows() -> LoopNest {
    nest(&[Reduction::Sum, Reduction::Max], 1, VectorLoop::Reduction)
}

/// The same of primitives.
fn expanded(nest: LoopNest) -> LoopNest {
    let mut b = BodyBuilder::new(&[PrimType::F32]);
    let x = b.inputs()[0];
    let square = b.fmul(x, x);
    let body = b.finish(&vec![square; nest.outputs.len()]);
    LoopNest { body: LoopBody::Prims { body, hoisted: 0 }, ..nest }
}

fn facts(result: Result<()>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Verify);
    error.facts().join("\n")
}

#[test]
fn reducing_kernels_print_what_is_reduced_how() {
    kernel().verify().unwrap();
    verify_steps(&[FusedStep::Kernel(kernel())], &graph()).unwrap();
    assert_snapshot!(kernel(), @r"
    kernel [8, 3] reduces axes [1] {
      in0 = %0 : f32[8, 3]
      t0 = load in0 : f32
      t1 = multiply t0, t0 : f32
      out0 = sum t1 -> %2
      out1 = max t1 -> %3
    }
    ");
}

/// Iotas are read without being stored.
#[test]
fn kernels_read_positions() {
    let graph: Graph<DType> =
        "graph () {\n  %0 = iota axes [0] : i64[8]\n  %1 = sum %0 axes [0] : i64[]\n  return %1\n}".parse().unwrap();
    let mut body = OpBody { inputs: vec![DType::I64], ..OpBody::default() };
    let position = body.push(StmtKind::Load(0), &[], DType::I64);
    body.outputs = vec![position];
    let reduce = KernelReduce { axes: AxisSet::all(1).unwrap(), outputs: [Reduction::Sum].into_iter().collect() };
    let kernel = FusedKernel {
        shape: Shape::from([8]),
        inputs: vec![KernelInput { value: Value(0), shape: Shape::from([8]), reads: Reads::Elements }],
        body: body.into(),
        outputs: vec![Value(1)],
        kind: KernelKind::Reduce(reduce),
        ..kernel()
    };
    verify_steps(&[FusedStep::Kernel(kernel)], &graph).unwrap();
}

#[test]
fn reducing_nests_print_as_loops() {
    rows().verify().unwrap();
    assert_snapshot!(rows(), @r"
    nest rank 2, vectors along i1 {
      in0: f32 contiguous
      out0: f32 sum, out1: f32 max
      for i0 reduce i1 {
        t0 = load in0 : f32
        t1 = multiply t0, t0 : f32
        reduce out0, t1
        reduce out1, t1
      }
    }
    ");
    let columns = expanded(nest(&[Reduction::Prod], 1, VectorLoop::Parallel));
    columns.verify().unwrap();
    assert_snapshot!(columns, @r"
    nest rank 2, vectors along i0 {
      in0: f32 contiguous
      out0: f32 prod
      for i0 reduce i1 {
        r0 = load in0 : f32
        r1 = fmul.f32 r0, r0
        reduce out0, r1
      }
    }
    ");
    let mut all = nest(&[Reduction::Sum], 2, VectorLoop::Reduction);
    all.inputs.push(Access { role: Role::Index, ..Access::memory(DType::I64, Stride::Strided) });
    Arc::make_mut(match &mut all.body {
        LoopBody::Ops(body) => body,
        LoopBody::Prims { .. } => unreachable!("the nest is of ops"),
    })
    .inputs
    .push(DType::I64);
    all.verify().unwrap();
    assert_snapshot!(all, @r"
    nest rank 2, vectors along i1 {
      in0: f32 contiguous, in1: i64 index strided
      out0: f32 sum
      reduce i0, i1 {
        t0 = load in0 : f32
        t1 = multiply t0, t0 : f32
        reduce out0, t1
      }
    }
    ");
}

fn reduce(kernel: &mut FusedKernel) -> &mut KernelReduce {
    match &mut kernel.kind {
        KernelKind::Reduce(reduce) => reduce,
        _ => panic!("no reduction"),
    }
}

fn nest_reduce(nest: &mut LoopNest) -> &mut NestReduce {
    match &mut nest.kind {
        NestKind::Reduce(reduce) => reduce,
        _ => panic!("no reduction"),
    }
}

#[test]
fn the_kernel_verifier_names_each_broken_invariant() {
    let broken = |change: fn(&mut KernelReduce)| {
        let mut kernel = kernel();
        change(reduce(&mut kernel));
        assert!(!kernel.to_string().is_empty());
        facts(kernel.verify())
    };
    let found = [
        broken(|reduce| reduce.axes = AxisSet::new(&[2], 3).unwrap()),
        broken(|reduce| reduce.outputs.truncate(1)),
        broken(|reduce| reduce.outputs[0] = Reduction::Mean),
        broken(|reduce| reduce.outputs[1] = Reduction::Any),
    ];
    assert_snapshot!(found.join("\n"), @r"
    axes [2] of [8, 3]
    1 reductions of 2 outputs
    out0: mean does not accumulate f32
    out1: any does not accumulate f32
    ");
    let broken = |change: fn(&mut FusedKernel)| {
        let mut kernel = kernel();
        change(&mut kernel);
        facts(verify_steps(&[FusedStep::Kernel(kernel)], &graph()))
    };
    let found = [broken(|k| k.kind = KernelKind::Map), broken(|k| reduce(k).axes = AxisSet::new(&[0], 2).unwrap())];
    assert_snapshot!(found.join("\n"), @r"
    kernel 0: out0 = t1 -> %2 : f32[8, 3]  ; is f32[8] in the graph
    kernel 0: out1 = t1 -> %3 : f32[8, 3]  ; is f32[8, 1] in the graph
    the graph's output %2 is stored by no kernel
    the graph's output %3 is stored by no kernel
    kernel 0: out0 = sum t1 -> %2 : f32[3]  ; is f32[8] in the graph
    kernel 0: out1 = max t1 -> %3 : f32[3]  ; is f32[8, 1] in the graph
    the graph's output %2 is stored by no kernel
    the graph's output %3 is stored by no kernel
    ");
}

/// Sums of halves are accumulated in `f32`, so none of them is elementary.
#[test]
fn what_does_not_accumulate_is_refused() {
    let mut half = rows();
    nest_reduce(&mut half).outputs.pop();
    half.inputs[0].dtype = DType::F16;
    half.outputs = vec![Access::memory(DType::F16, Stride::Contiguous)];
    let mut body = OpBody { inputs: vec![DType::F16], ..OpBody::default() };
    let x: ScalarId = body.push(StmtKind::Load(0), &[], DType::F16);
    body.outputs = vec![x];
    half.body = LoopBody::Ops(body.into());
    assert_snapshot!(facts(half.verify()), @"out0: sum does not accumulate f16");
    nest_reduce(&mut half).outputs[0] = Reduction::Max;
    half.verify().unwrap();
}

#[test]
fn the_nest_verifier_names_each_broken_invariant() {
    let broken = |change: fn(&mut LoopNest)| {
        let mut nest = rows();
        change(&mut nest);
        assert!(!nest.to_string().is_empty());
        facts(nest.verify())
    };
    let found = [
        broken(|n| nest_reduce(n).loops = 0),
        broken(|n| nest_reduce(n).loops = 3),
        broken(|n| {
            nest_reduce(n).loops = 2;
            nest_reduce(n).along = VectorLoop::Parallel;
        }),
        broken(|n| nest_reduce(n).outputs.truncate(1)),
        broken(|n| nest_reduce(n).outputs[0] = Reduction::Std),
        broken(|n| nest_reduce(n).outputs[1] = Reduction::All),
        broken(|n| n.outputs[0].inner = Stride::Strided),
        broken(|n| n.outputs[0].role = Role::Index),
        broken(|n| n.inputs[0].role = Role::Index),
    ];
    assert_snapshot!(found.join("\n"), @r"
    0 of 2 loops are reduced
    3 of 2 loops are reduced
    vectors lie along a loop that is kept, and none is
    1 reductions of 2 outputs
    out0: std does not accumulate f32
    out1: all does not accumulate f32
    out0: a reduction's results are contiguous, not strided
    indices are i64
    out0: f32 index contiguous is stored neither at its index nor at an address
    indices are i64
    ");
    // A value broadcast along rows changes along the other axis, along which vectors lie.
    let hoisted = |along| {
        let mut nest = expanded(nest(&[Reduction::Sum], 1, along));
        nest.inputs[0].inner = Stride::Broadcast;
        let LoopBody::Prims { hoisted, .. } = &mut nest.body else { unreachable!("the nest is expanded") };
        *hoisted = 1;
        nest.verify()
    };
    hoisted(VectorLoop::Reduction).unwrap();
    assert_snapshot!(facts(hoisted(VectorLoop::Parallel)), @"r1 is hoisted, but r0 changes in the innermost loop");
}

fn layout(offset: usize, strides: [isize; 2]) -> Layout {
    Layout { offset, strides: strides.into_iter().collect() }
}

/// For `extents` contiguous elements, outermost first, with contiguous results.
fn domain(extents: [usize; 2], input: [isize; 2], outputs: usize, output: [isize; 2]) -> IterationDomain {
    IterationDomain {
        extents: extents.into_iter().collect(),
        inputs: vec![layout(0, input)],
        outputs: vec![layout(0, output); outputs],
    }
}

#[test]
fn geometry_bounds() {
    let of_rows = || domain([8, 3], [12, 4], 2, [4, 0]);
    of_rows().verify(&rows(), &[96], &[32, 32]).unwrap();
    let broken = |change: fn(&mut IterationDomain)| {
        let mut domain = of_rows();
        change(&mut domain);
        facts(domain.verify(&rows(), &[96], &[32, 32]))
    };
    let found = [
        broken(|g| g.outputs[0] = layout(0, [4, 4])),
        broken(|g| g.outputs[0] = layout(0, [0, 0])),
        broken(|g| g.outputs[0] = layout(4, [4, 0])),
        broken(|g| g.outputs[0].strides.truncate(1)),
        broken(|g| g.inputs[0] = layout(0, [12, 8])),
    ];
    assert_snapshot!(found.join("\n"), @r"
    out0: f32 contiguous, offset 0, strides [4, 4]  ; it moves along a loop that is reduced
    out0: f32 contiguous, offset 0, strides [0, 0]  ; indices along loop i0 write the same bytes: stride 0, span 4
    out0: f32 contiguous, offset 4, strides [4, 0]  ; bytes 4..36 of a buffer of 32
    out0: f32 contiguous, offset 0, strides [4]  ; 1 strides for 2 loops
    in0: f32 contiguous, offset 0, strides [12, 8]  ; the innermost stride is 8, not 4
    ");
    // Results are stored even if nothing is read.
    let no_rows = domain([8, 0], [0, 4], 1, [4, 0]);
    let sums = nest(&[Reduction::Sum], 1, VectorLoop::Reduction);
    no_rows.verify(&sums, &[0], &[32]).unwrap();
    assert_snapshot!(facts(no_rows.verify(&sums, &[0], &[31])), @"out0: f32 contiguous, offset 0, strides [4, 0]  ; bytes 0..32 of a buffer of 31");
    // Vectorized along columns: contiguous elements there.
    let columns = nest(&[Reduction::Sum], 1, VectorLoop::Parallel);
    domain([3, 8], [4, 12], 1, [4, 0]).verify(&columns, &[96], &[12]).unwrap();
    assert_snapshot!(facts(domain([8, 3], [12, 4], 1, [4, 0]).verify(&columns, &[96], &[32])), @"in0: f32 contiguous, offset 0, strides [12, 4]  ; the innermost stride is 12, not 4");
    // Indices have no memory.
    let mut positions = nest(&[Reduction::Sum], 2, VectorLoop::Reduction);
    positions.inputs = vec![Access { role: Role::Index, ..Access::memory(DType::I64, Stride::Strided) }];
    domain([8, 3], [3, 1], 1, [0, 0]).verify(&positions, &[0], &[4]).unwrap();
}

/// Floats of many magnitudes and both signs.
fn input(shape: [usize; 2]) -> Tensor {
    Tensor::from_words(DType::F32, Shape::from(shape), |i| {
        let bits = (i as u32).wrapping_mul(0x9e37_79b9);
        let x = f32::from_bits(bits & 0x83ff_ffff | 0x3c00_0000);
        [u64::from(x.to_bits())]
    })
    .unwrap()
}

/// Rows, columns and all of an array, in nests of ops and of primitives, against the graph.
#[test]
fn nests_reduce_as_graphs_do() {
    let cases: [(&str, usize, VectorLoop); 3] =
        [("[1]", 1, VectorLoop::Reduction), ("[0]", 1, VectorLoop::Parallel), ("[0, 1]", 2, VectorLoop::Reduction)];
    let mut compared = 0;
    for [r, c] in [[0, 0], [0, 5], [5, 0], [1, 1], [3, 7], [2, 1023], [17, 1025], [2100, 3], [2, 5000]] {
        let x = input([r, c]);
        for (axes, loops, along) in cases {
            let rank = 2;
            let of_columns = axes == "[0]";
            let kept = if loops == rank {
                1
            } else if of_columns {
                c
            } else {
                r
            };
            let empty = if of_columns {
                r == 0
            } else if loops == rank {
                r * c == 0
            } else {
                c == 0
            };
            let reductions: &[Reduction] = match empty {
                true => &[Reduction::Sum, Reduction::Prod],
                false => &[Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::Min],
            };
            let shape = if loops == rank { "[]".to_owned() } else { format!("[{kept}]") };
            let lines: String = (2..)
                .zip(reductions)
                .map(|(n, reduction)| format!("  %{n} = {reduction} %1 axes {axes} : f32{shape}\n"))
                .collect();
            let results: Vec<String> = (2..).zip(reductions).map(|(n, _)| format!("%{n}")).collect();
            let graph: Graph<DType> = format!(
                "graph (%0: f32[{r}, {c}]) {{\n  %1 = multiply %0, %0 : f32[{r}, {c}]\n{lines}  return {}\n}}",
                results.join(", ")
            )
            .parse()
            .unwrap();
            let expected = eval_graph(&graph, std::slice::from_ref(&x), &[]).unwrap();

            let row = 4 * c as isize;
            let (extents, strides) = if of_columns { ([c, r], [4, row]) } else { ([r, c], [row, 4]) };
            let output = if loops == rank { [0, 0] } else { [4, 0] };
            let domain = domain(extents, strides, reductions.len(), output);
            let of_ops = nest(reductions, loops, along);
            for nest in [of_ops.clone(), expanded(of_ops)] {
                domain.verify(&nest, &[4 * r * c], &vec![4 * kept; reductions.len()]).unwrap();
                let mut outputs: Vec<Tensor> =
                    expected.iter().map(|t| Tensor::zeros(DType::F32, t.shape.clone()).unwrap()).collect();
                let mut memory = Tensors { inputs: std::slice::from_ref(&x), outputs: &mut outputs };
                eval_nest(&nest, &domain, &[], &mut memory).unwrap();
                assert_eq!(outputs, expected, "{axes} of [{r}, {c}]\n{nest}");
                compared += outputs.len();
            }
        }
    }
    assert!(compared > 150, "{compared}");
}

/// The index of an element is read without memory.
#[test]
fn nests_read_positions() {
    let graph: Graph<DType> =
        "graph () {\n  %0 = iota axes [0, 1] : i64[3, 4]\n  %1 = max %0 axes [1] : i64[3]\n  return %1\n}"
            .parse()
            .unwrap();
    let expected = eval_graph(&graph, &[], &[]).unwrap();
    let mut body = OpBody { inputs: vec![DType::I64], ..OpBody::default() };
    let position = body.push(StmtKind::Load(0), &[], DType::I64);
    body.outputs = vec![position];
    let access = Access::memory(DType::I64, Stride::Contiguous);
    let nest = LoopNest {
        inputs: vec![Access { role: Role::Index, inner: Stride::Strided, ..access }],
        outputs: vec![access],
        body: LoopBody::Ops(body.into()),
        ..nest(&[Reduction::Max], 1, VectorLoop::Reduction)
    };
    let domain = domain([3, 4], [4, 1], 1, [8, 0]);
    domain.verify(&nest, &[0], &[24]).unwrap();
    let mut outputs = [Tensor::zeros(DType::I64, Shape::from([3])).unwrap()];
    eval_nest(&nest, &domain, &[], &mut Tensors { inputs: &[], outputs: &mut outputs }).unwrap();
    assert_eq!(outputs[..], expected);
    assert_eq!([0, 1, 2].map(|i| outputs[0].get(i)[0]), [3, 7, 11]);
}

#[test]
fn a_contraction_is_one_sum_of_products() {
    let mut body = OpBody { inputs: vec![DType::F32; 2], ..OpBody::default() };
    let factors = [0, 1].map(|n| body.push(StmtKind::Load(n), &[], DType::F32));
    let product = body.push(StmtKind::Op(Op::Multiply), &factors, DType::F32);
    body.outputs = vec![product];
    let contracting = |body: &OpBody, reduction: Reduction| {
        let input = |value: u32, shape: [usize; 3]| KernelInput {
            value: Value(value),
            shape: Shape::from(shape),
            reads: Reads::Elements,
        };
        let reduce = KernelReduce { axes: AxisSet::one(2), outputs: [reduction].into_iter().collect() };
        let kernel = FusedKernel {
            shape: Shape::from([4, 5, 3]),
            inputs: vec![input(0, [4, 1, 3]), input(1, [1, 5, 3])],
            literals: vec![],
            body: body.clone().into(),
            outputs: vec![Value(2)],
            kind: KernelKind::Contract(reduce),
            statements: Default::default(),
        };
        let access = Access::memory(DType::F32, Stride::Contiguous);
        let outputs = [reduction].into_iter().collect();
        let nest = LoopNest {
            rank: 3,
            inputs: vec![access; 2],
            literals: vec![],
            outputs: vec![access],
            body: LoopBody::Ops(body.clone().into()),
            kind: NestKind::Contract(NestReduce { loops: 1, outputs, along: VectorLoop::Reduction }),
        };
        (kernel, nest)
    };
    let (kernel, nest) = contracting(&body, Reduction::Sum);
    assert_eq!(parse_kernels(&kernel.to_string()).unwrap(), std::slice::from_ref(&kernel));
    assert_eq!(parse_nests(&nest.to_string()).unwrap()[0].0, nest);
    assert!(kernel.to_string().starts_with("kernel [4, 5, 3] contracts axes [2] {"), "{kernel}");
    let refused = |(kernel, nest): (FusedKernel, LoopNest)| {
        let texts = [parse_kernels(&kernel.to_string()).map(drop), nest.verify()];
        texts.map(|text| text.unwrap_err().to_string().contains("sums the products of two arrays"))
    };
    assert_eq!(refused(contracting(&body, Reduction::Max)), [true; 2]);
    let square = body.push(StmtKind::Op(Op::Multiply), &[factors[0]; 2], DType::F32);
    body.outputs = vec![square];
    assert_eq!(refused(contracting(&body, Reduction::Sum)), [true; 2]);
}
