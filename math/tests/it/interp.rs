//! The reference interpreters on hand-made programs, against plain Rust.

use ndjit_ir::graph::{Graph, NodeKind, Value};
use ndjit_ir::kernel::{OpBody, StmtKind};
use ndjit_ir::loops::{Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, Stride};
use ndjit_ir::{DType, ErrorCode, Literal, Op, PrimType, Shape};
use ndjit_math::interp::{NestMemory, Tensor, Tensors, eval_graph, eval_nest};
use ndjit_math::{body, cast_body, load_body, store_body};

fn typed(text: &str) -> Graph<DType> {
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn f32s(shape: impl Into<Shape>, values: &[f32]) -> Tensor {
    Tensor::from_words(DType::F32, shape.into(), |i| [u64::from(values[i].to_bits())]).unwrap()
}

fn i8s(shape: impl Into<Shape>, values: &[i8]) -> Tensor {
    Tensor::from_words(DType::I8, shape.into(), |i| [values[i] as u64]).unwrap()
}

fn as_f32s(tensor: &Tensor) -> Vec<f32> {
    assert_eq!(tensor.dtype, DType::F32);
    (0..tensor.len()).map(|i| f32::from_bits(tensor.get(i)[0] as u32)).collect()
}

#[test]
fn broadcasting_and_casts_follow_plain_rust() {
    let graph = typed(
        "graph (%0: f32[2, 3], %1: i8[3], %2: f32[2, 1]) {
  %3 = literal #0 0.5 : f32[]
  %4 = cast %1 : f32[3]
  %5 = multiply %4, %3 : f32[3]
  %6 = add %0, %5 : f32[2, 3]
  %7 = subtract %6, %2 : f32[2, 3]
  return %7, %5, %0, %7
}",
    );
    let (x, y, z) = ([1.0, 2.0, 3.0, 4.0, 5.0, 1e30], [-7, 100, -128], [0.25, 8.0]);
    let params = [f32s([2, 3], &x), i8s([3], &y), f32s([2, 1], &z)];
    let results = eval_graph(&graph, &params, &[]).unwrap();
    let halves: Vec<f32> = y.iter().map(|&y| f32::from(y) * 0.5).collect();
    let expected: Vec<f32> = (0..6).map(|i| x[i] + halves[i % 3] - z[i / 3]).collect();
    assert_eq!(as_f32s(&results[0]), expected);
    assert_eq!(results[0].shape, Shape::from([2, 3]));
    assert_eq!(as_f32s(&results[1]), halves);
    assert_eq!(results[2], params[0]);
    assert_eq!(results[3], results[0]);
}

#[test]
fn empty_arrays_and_scalars() {
    let graph = typed(
        "graph (%0: f32[0, 3], %1: f32[]) {\n  %2 = add %0, %1 : f32[0, 3]\n  %3 = add %1, %1 : f32[]\n  return %2, %3\n}",
    );
    let results = eval_graph(&graph, &[f32s([0, 3], &[]), f32s(Shape::scalar(), &[1.5])], &[]).unwrap();
    assert!(results[0].is_empty());
    assert_eq!(results[0].shape, Shape::from([0, 3]));
    assert_eq!(as_f32s(&results[1]), [3.0]);
}

#[test]
fn numbers_given_at_the_call() {
    let graph = typed(
        "graph (%0: f32[2]) {\n  %1 = literal #0 argument 4 i* : f32[]\n  %2 = multiply %0, %1 : f32[2]\n  return %2\n}",
    );
    let params = [f32s([2], &[1.5, -2.0])];
    let results = eval_graph(&graph, &params, &[(4, Literal::weak(3))]).unwrap();
    assert_eq!(as_f32s(&results[0]), [4.5, -6.0]);
    assert_eq!(eval_graph(&graph, &params, &[]).unwrap_err().code(), ErrorCode::Argument);
    let complex = Literal::weak(num_complex::Complex::new(0.0, 1.0));
    assert_eq!(eval_graph(&graph, &params, &[(4, complex)]).unwrap_err().code(), ErrorCode::Literal);
}

#[test]
fn wrong_arguments_are_errors() {
    let graph = typed("graph (%0: f32[2]) {\n  return %0\n}");
    let code = |params: &[Tensor]| eval_graph(&graph, params, &[]).unwrap_err().code();
    assert_eq!(code(&[]), ErrorCode::Arity);
    assert_eq!(code(&[i8s([2], &[1, 2])]), ErrorCode::Argument);
    assert_eq!(code(&[f32s([3], &[1.0; 3])]), ErrorCode::Argument);
    let mut short = f32s([2], &[1.0; 2]);
    short.bytes.pop();
    assert_eq!(code(&[short]), ErrorCode::Argument);
    let broken = typed("graph (%0: f32[2]) {\n  %1 = add %0, %0 : f64[2]\n  return %1\n}");
    assert_eq!(eval_graph(&broken, &[f32s([2], &[1.0; 2])], &[]).unwrap_err().code(), ErrorCode::Verify);
}

/// Every op on every dtype, and every cast, runs and gives its result's number of words.
#[test]
fn every_op_and_cast_evaluates() {
    for op in Op::ALL {
        for dtype in op.row().domain.iter() {
            let mut graph = Graph::new();
            let shape = graph.intern(&Shape::from([2]));
            let params: Vec<Value> =
                (0..op.arity()).map(|i| graph.param(op.operand_dtype(i, dtype), &Shape::from([2]))).collect();
            let kind = NodeKind::Op(op, ());
            let result = graph.add(kind, &params, &[(op.result_dtype(dtype), shape)]);
            graph.set_outputs(vec![result]);
            let tensors: Vec<Tensor> =
                params.iter().map(|&p| Tensor::zeros(graph.ty(p), Shape::from([2])).unwrap()).collect();
            let results = eval_graph(&graph, &tensors, &[]).unwrap();
            assert_eq!(results[0].dtype, op.result_dtype(dtype), "{op} in {dtype}");
            assert_eq!(results[0].get(0), results[0].get(1), "{op} in {dtype}");
        }
    }
    for from in DType::ALL {
        for to in DType::ALL {
            let mut graph = Graph::new();
            let shape = graph.intern(&Shape::from([1]));
            let x = graph.param(from, &Shape::from([1]));
            let y = graph.add(NodeKind::Cast(()), &[x], &[(to, shape)]);
            graph.set_outputs(vec![y]);
            let one = |dtype: DType| {
                let words = Literal::weak(true).to_repr(dtype).unwrap();
                Tensor::from_repr(dtype, Shape::from([1]), |_| &words[..]).unwrap()
            };
            assert_eq!(eval_graph(&graph, &[one(from)], &[]).unwrap(), [one(to)], "{from} to {to}");
        }
    }
}

#[test]
fn tensors_compare_with_all_nans_equal() {
    let half = |bits: u64| Tensor::from_words(DType::F16, Shape::from([2]), |_| [bits]).unwrap();
    assert!(half(0x7e00).same_bits(&half(0xfc01)));
    assert!(!half(0x7c00).same_bits(&half(0x7e00)));
    assert!(!half(0x8000).same_bits(&half(0)));
    let complex = |re: f32, im: f32| {
        let words = [u64::from(re.to_bits()), u64::from(im.to_bits())];
        Tensor::from_words(DType::C64, Shape::from([1]), |_| words).unwrap()
    };
    assert!(complex(f32::NAN, 1.0).same_bits(&complex(-f32::NAN, 1.0)));
    assert_eq!(complex(f32::NAN, 1.0).first_difference(&complex(f32::NAN, 2.0)), Some(0));
    // Not a float: no bit pattern is special.
    assert!(!i8s([1], &[0x7f]).same_bits(&i8s([1], &[0x7e])));
    assert!(!f32s([2, 1], &[0.0, 0.0]).same_bits(&f32s([1, 2], &[0.0, 0.0])));
    assert_eq!(f32s([1], &[0.0]).first_difference(&f32s([2], &[0.0, 0.0])), Some(1));
}

/// Floats of many magnitudes and both signs.
fn varied(i: usize) -> f32 {
    f32::from_bits((i as u32).wrapping_mul(0x9e37_79b9) & 0x83ff_ffff | 0x3c00_0000)
}

/// A sum by the published order, implemented independently: lanes of a block, halving, blocks in pairs.
fn sum_in_order(x: &[f32]) -> f32 {
    let block = |x: &[f32]| {
        let mut lanes = [-0.0f32; 16];
        x.iter().enumerate().for_each(|(i, x)| lanes[i % 16] += x);
        for half in [8, 4, 2, 1] {
            (0..half).for_each(|lane| lanes[lane] += lanes[lane + half]);
        }
        lanes[0]
    };
    fn tree(sums: &[f32]) -> f32 {
        let half = sums.len().next_power_of_two() / 2;
        match sums {
            [one] => *one,
            _ => tree(&sums[..half]) + tree(&sums[half..]),
        }
    }
    if x.is_empty() { 0.0 } else { tree(&x.chunks(1024).map(block).collect::<Vec<f32>>()) }
}

#[test]
fn sums_of_graphs_have_the_published_order() {
    for len in [0, 1, 2, 15, 16, 17, 1023, 1024, 1025, 2048, 2049, 3 * 1024, 5 * 1024 + 7, 11 * 1024] {
        let elements: Vec<f32> = (0..len).map(varied).collect();
        let x = f32s([1, len], &elements);
        let text = format!("graph (%0: f32[1, {len}]) {{\n  %1 = sum %0 axes [0, 1] : f32[]\n  return %1\n}}");
        let sum = eval_graph(&typed(&text), std::slice::from_ref(&x), &[]).unwrap()[0].get(0)[0] as u32;
        assert_eq!(sum, sum_in_order(&elements).to_bits(), "{len}");
    }
}

/// The elements that combine, and the order of axes: each in plain Rust.
#[test]
fn graphs_reduce_along_the_axes_they_name() {
    let graph = typed(
        "graph (%0: i32[2, 3, 4], %1: i32[2, 0], %2: bool[2, 0]) {
  %3 = sum %0 axes [0, 2] : i32[3]
  %4 = prod %0 axes [1] keepdims : i32[2, 1, 4]
  %5 = max %0 axes [0, 1, 2] : i32[]
  %6 = min %0 axes [] : i32[2, 3, 4]
  %7 = sum %1 axes [1] : i32[2]
  %8 = prod %1 axes [0, 1] keepdims : i32[1, 1]
  %9 = any %2 axes [1] : bool[2]
  %10 = all %2 axes [0] : bool[0]
  %11 = all %2 axes [1] : bool[2]
  %12 = iota axes [0, 2] : i64[2, 3, 4]
  %13 = iota axes [] : i64[2]
  return %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13
}",
    );
    let value = |i: usize| (i as i32 * 7919) % 23 - 11;
    let x = Tensor::from_words(DType::I32, Shape::from([2, 3, 4]), |i| [u64::from(value(i) as u32)]).unwrap();
    let empty = |dtype| Tensor::zeros(dtype, Shape::from([2, 0])).unwrap();
    let results = eval_graph(&graph, &[x, empty(DType::I32), empty(DType::Bool)], &[]).unwrap();
    let found: Vec<Vec<i64>> =
        results.iter().map(|t| (0..t.len()).map(|i| i64::from(t.get(i)[0] as i32)).collect()).collect();
    let at = |i: usize, j: usize, k: usize| i64::from(value(12 * i + 4 * j + k));
    let (planes, rows) = (0..2usize, 0..3usize);
    let sums: Vec<i64> = rows.clone().map(|j| (0..8).map(|n| at(n / 4, j, n % 4)).sum()).collect();
    let products: Vec<i64> = (0..8).map(|n| rows.clone().map(|j| at(n / 4, j, n % 4)).product()).collect();
    let all: Vec<i64> = (0..24).map(|i| i64::from(value(i))).collect();
    let most = all.iter().copied().max().unwrap();
    let positions = planes.flat_map(|i| rows.clone().flat_map(move |_| (0..4).map(move |k| 4 * i as i64 + k)));
    let expected = [
        sums,
        products,
        vec![most],
        all,
        vec![0, 0],
        vec![1],
        vec![0, 0],
        vec![],
        vec![1, 1],
        positions.collect(),
        vec![0, 0],
    ];
    assert_eq!(found, expected);
}

/// `x + cast(y) * l`, as ops.
fn op_body() -> OpBody {
    let mut body = OpBody { inputs: vec![DType::F32, DType::I8], literals: vec![DType::F32], ..OpBody::default() };
    let x = body.push(StmtKind::Load(0), &[], DType::F32);
    let y = body.push(StmtKind::Load(1), &[], DType::I8);
    let l = body.push(StmtKind::Literal(0), &[], DType::F32);
    let y = body.push(StmtKind::Cast, &[y], DType::F32);
    let product = body.push(StmtKind::Op(Op::Multiply), &[y, l], DType::F32);
    let sum = body.push(StmtKind::Op(Op::Add), &[x, product], DType::F32);
    body.outputs = vec![sum, y];
    body
}

fn nest(body: LoopBody) -> LoopNest {
    LoopNest {
        rank: 2,
        inputs: vec![Access::memory(DType::F32, Stride::Strided), Access::memory(DType::I8, Stride::Broadcast)],
        literals: vec![DType::F32],
        outputs: vec![Access::memory(DType::F32, Stride::Contiguous); 2],
        body,
        kind: NestKind::Map,
    }
}

/// The same as primitives.
fn prim_body() -> LoopBody {
    let mut b = ndjit_ir::body::BodyBuilder::new(&[PrimType::F32, PrimType::I8, PrimType::F32]);
    let regs = b.inputs();
    let y = b.inline(&load_body(DType::I8), &regs[1..2]);
    let y = b.inline(&cast_body(DType::I8, DType::F32), &y);
    let product = b.inline(&body(Op::Multiply, DType::F32), &[y[0], regs[2]]);
    let sum = b.inline(&body(Op::Add, DType::F32), &[regs[0], product[0]]);
    let sum = b.inline(&store_body(DType::F32), &sum);
    let body = b.finish(&[sum[0], y[0]]);
    let hoisted = body.insts.len() - 1;
    LoopBody::Prims { body, hoisted }
}

fn domain(extents: [usize; 2]) -> IterationDomain {
    let layout = |offset, strides: [isize; 2]| Layout { offset, strides: strides.into_iter().collect() };
    let rows = 4 * extents[1] as isize;
    IterationDomain {
        extents: extents.into_iter().collect(),
        // The first input runs backwards along the inner loop, from the last column.
        inputs: vec![layout(4 * extents[1].saturating_sub(1), [rows, -4]), layout(0, [1, 0])],
        outputs: vec![layout(0, [rows, 4]), layout(0, [rows, 4])],
    }
}

#[test]
fn nests_of_ops_and_primitives_follow_plain_rust() {
    let (x, y, l) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [-3i8, 7], 0.5f32);
    let inputs = [f32s([2, 3], &x), i8s([2], &y)];
    for body in [LoopBody::Ops(op_body().into()), prim_body()] {
        let nest = nest(body);
        let domain = domain([2, 3]);
        domain.verify(&nest, &[24, 2], &[24, 24]).unwrap();
        let mut outputs = [f32s([2, 3], &[0.0; 6]), f32s([2, 3], &[0.0; 6])];
        let mut memory = Tensors { inputs: &inputs, outputs: &mut outputs };
        eval_nest(&nest, &domain, &[u64::from(l.to_bits())], &mut memory).unwrap();
        let at = |i: usize, j: usize| x[3 * i + 2 - j] + f32::from(y[i]) * l;
        let expected: Vec<f32> = (0..6).map(|n| at(n / 3, n % 3)).collect();
        assert_eq!(as_f32s(&outputs[0]), expected);
        assert_eq!(as_f32s(&outputs[1]), [-3.0, -3.0, -3.0, 7.0, 7.0, 7.0]);
    }
}

/// Memory that refuses every access.
struct Nothing;

impl NestMemory for Nothing {
    fn load(&mut self, _: usize, _: usize, _: PrimType) -> u64 {
        panic!("nothing to load")
    }

    fn store(&mut self, _: usize, _: usize, _: PrimType, _: u64) {
        panic!("nowhere to store")
    }
}

#[test]
fn empty_nests_touch_nothing_and_misfits_are_errors() {
    for body in [LoopBody::Ops(op_body().into()), prim_body()] {
        let nest = nest(body);
        for extents in [[0, 3], [2, 0], [0, 0]] {
            eval_nest(&nest, &domain(extents), &[0], &mut Nothing).unwrap();
        }
        let code = |domain: &IterationDomain, literals: &[u64]| {
            eval_nest(&nest, domain, literals, &mut Nothing).unwrap_err().code()
        };
        assert_eq!(code(&domain([2, 3]), &[]), ErrorCode::Argument);
        assert_eq!(code(&IterationDomain::default(), &[0]), ErrorCode::Argument);
        let mut short = domain([2, 3]);
        short.inputs[1].strides.pop();
        assert_eq!(code(&short, &[0]), ErrorCode::Argument);
    }
}

/// A chain of a million nodes is printed, parsed, verified, evaluated and dropped on a small stack.
#[test]
fn a_million_nodes_on_a_small_stack() {
    const NODES: usize = 1_000_000;
    let work = || {
        let mut graph: Graph<DType> = Graph::new();
        let x = graph.param(DType::I32, &Shape::from([2]));
        let shape = graph.intern(&Shape::from([2]));
        let kind = NodeKind::Op(Op::Add, ());
        let mut value = x;
        for n in 0..NODES {
            // Every other node adds the parameter: no two nodes are equal.
            let other = if n % 2 == 0 { value } else { x };
            value = graph.add(kind, &[value, other], &[(DType::I32, shape)]);
        }
        graph.set_outputs(vec![value]);
        let text = graph.to_string();
        let parsed = typed(&text);
        assert_eq!(parsed.node_count(), NODES + 1);
        assert!(parsed.to_string() == text);
        drop(graph);
        let input = Tensor::from_words(DType::I32, Shape::from([2]), |i| [i as u64 + 1]).unwrap();
        let results = eval_graph(&parsed, &[input], &[]).unwrap();
        let expected: Vec<u64> = (1..=2u32)
            .map(|x| {
                let pairs = (0..NODES / 2).fold(x, |v, _| v.wrapping_add(v).wrapping_add(x));
                u64::from(pairs)
            })
            .collect();
        assert_eq!([results[0].get(0)[0], results[0].get(1)[0]], expected[..]);
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
}

/// Like compiled code: a program may exceed memory, or never end.
#[test]
fn what_no_result_needs_is_not_computed() {
    let graph = typed(
        "graph (%0: f32[1]) {
  %1 = iota axes [0] : i64[1152921504606846975]
  %2 = negative %1 : i64[1152921504606846975]
  %3 = sin %0 : f32[1]
  return %3
}",
    );
    assert_eq!(as_f32s(&eval_graph(&graph, &[f32s([1], &[0.0])], &[]).unwrap()[0]), [0.0]);
}
