//! Reductions as loops: their kernels, and that the loops compute the graph.

use ndjit_codegen::{Lowered, LoweredKernel, Options, lower};
use ndjit_ir::graph::{Graph, Slot, SourceLocs, Value};
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Policy, Shape, ValueType};
use ndjit_math::interp::{Tensor, Tensors, eval_graph, eval_nest};
use ndjit_random::{Rng, tensor};
use ndjit_transform::access::contiguous;
use std::collections::HashMap;

fn lowered(text: &str, fuse: bool) -> Lowered {
    let graph: Graph<ValueType> = text.parse().unwrap();
    let policy = Policy::default();
    let layouts: Vec<Layout> =
        graph.params().iter().map(|&p| contiguous(graph.shape(p), graph.storage_dtype(p, policy)).unwrap()).collect();
    lower(&graph, &SourceLocs::default(), &layouts, &Options { fuse, verify: true, ..Options::default() }).unwrap()
}

fn kernels(text: &str) -> String {
    let lowered = lowered(text, true);
    agrees(&lowered);
    lowered.kernels().map(|kernel| kernel.fused.to_string()).collect::<Vec<String>>().join("\n")
}

/// The interpreted loops give the same as the typed graph.
fn agrees(lowered: &Lowered) {
    let mut rng = Rng::new(7);
    let graph = &lowered.simplified;
    let params: Vec<Tensor> =
        graph.params().iter().map(|&p| tensor(&mut rng, graph.ty(p), graph.shape(p).clone()).unwrap()).collect();
    let mut values: HashMap<Value, Tensor> = graph.params().iter().copied().zip(params.iter().cloned()).collect();
    for LoweredKernel { scheduled, .. } in lowered.kernels() {
        let mut literals = Vec::new();
        for &(slot, dtype) in &scheduled.literals {
            let Slot::Value(literal) = &graph.slots()[slot.index()] else { panic!("a number is known") };
            literals.extend(literal.to_repr(dtype).unwrap());
        }
        // Indices have no memory.
        let none = Tensor::zeros(DType::I64, Shape::from(0)).unwrap();
        let inputs: Vec<Tensor> = scheduled.inputs.iter().map(|v| values.get(v).unwrap_or(&none).clone()).collect();
        let zeros = |&v: &Value| Tensor::zeros(graph.ty(v), graph.shape(v).clone()).unwrap();
        let mut outputs: Vec<Tensor> = scheduled.outputs.iter().map(zeros).collect();
        let mut memory = Tensors { inputs: &inputs, outputs: &mut outputs };
        eval_nest(&scheduled.nest, &scheduled.domain, &literals, &mut memory).unwrap();
        values.extend(scheduled.outputs.iter().copied().zip(outputs));
    }
    let expected = eval_graph(&lowered.typed, &params, &[]).unwrap();
    for ((output, stored), expected) in graph.outputs().iter().zip(&lowered.stored).zip(&expected) {
        let result = Tensor { shape: graph.shape(*output).clone(), ..values[stored].clone() };
        assert!(result.same_bits(expected), "{result:?}, expected {expected:?}");
    }
}

#[test]
fn a_producer_is_computed_in_the_reduction() {
    insta::assert_snapshot!(kernels("graph (%0: f32[8, 30], %1: f32[30]) {
        %2 = subtract %0, %1 : f32[8, 30]
        %3 = square %2 : f32[8, 30]
        %4 = sum %3 axes [1] : f32[8]
        return %4
    }"), @r"
    kernel [8, 30] reduces axes [1] {
      in0 = %0 : f32[8, 30]
      in1 = %1 : f32[30]
      t0 = load in0 : f32
      t1 = load in1 : f32
      t2 = subtract t0, t1 : f32
      t3 = square t2 : f32
      out0 = sum t3 -> %4
    }
    ");
}

#[test]
fn what_is_stored_anyway_is_read() {
    insta::assert_snapshot!(kernels("graph (%0: f32[8, 30]) {
        %1 = exp %0 : f32[8, 30]
        %2 = sum %1 axes [1] keepdims : f32[8, 1]
        %3 = divide %1, %2 : f32[8, 30]
        return %3
    }"), @r"
    kernel [8, 30] {
      in0 = %0 : f32[8, 30]
      t0 = load in0 : f32
      t1 = exp t0 : f32
      out0 = t1 -> %1
    }
    kernel [8, 30] reduces axes [1] {
      in0 = %1 : f32[8, 30]
      t0 = load in0 : f32
      out0 = sum t0 -> %2
    }
    kernel [8, 30] {
      in0 = %1 : f32[8, 30]
      in1 = %3 : f32[8, 1]
      t0 = load in0 : f32
      t1 = load in1 : f32
      t2 = divide t0, t1 : f32
      out0 = t2 -> %4
    }
    ");
}

#[test]
fn a_small_result_is_finished_where_it_is_used() {
    // The mean of each column is divided in the kernel that subtracts it.
    insta::assert_snapshot!(kernels("graph (%0: f32[9, 30]) {
        %1 = mean %0 axes [0] : f32[30]
        %2 = subtract %0, %1 : f32[9, 30]
        return %2
    }"), @r"
    kernel [9, 30] reduces axes [0] {
      in0 = %0 : f32[9, 30]
      t0 = load in0 : f32
      out0 = sum t0 -> %2
    }
    kernel [9, 30] {
      in0 = %2 : f32[30]
      in1 = %0 : f32[9, 30]
      l0 = #0 : f32
      t0 = load in0 : f32
      t1 = literal l0 : f32
      t2 = divide t0, t1 : f32
      t3 = load in1 : f32
      t4 = subtract t3, t2 : f32
      out0 = t4 -> %4
    }
    ");
}

#[test]
fn loops_say_what_is_reduced() {
    let lowered = lowered(
        "graph (%0: f16[2, 5, 6]) {
        %1 = sum %0 axes [0, 2] : f16[5]
        %2 = argmax %0 axes [1] : i32[2, 6]
        return %1, %2
    }",
        true,
    );
    agrees(&lowered);
    let text: Vec<String> =
        lowered.kernels().map(|k| format!("{}\n{}", k.scheduled.nest, k.scheduled.domain)).collect();
    insta::assert_snapshot!(text.join("\n"), @r"
    nest rank 3, vectors along i2 {
      in0: f16 contiguous
      out0: f32 sum
      for i0 reduce i1, i2 {
        t0 = load in0 : f16
        t1 = cast t0 : f32
        reduce out0, t1
      }
    }
    domain [5, 2, 6] {
      in0: offset 0, strides [12, 60, 2]
      out0: offset 0, strides [4, 0, 0]
    }
    nest rank 1 {
      in0: f32 contiguous
      out0: f16 contiguous
      for i0 {
        t0 = load in0 : f32
        t1 = cast t0 : f16
        store out0, t1
      }
    }
    domain [5] {
      in0: offset 0, strides [4]
      out0: offset 0, strides [2]
    }
    nest rank 3, vectors along i1 {
      in0: f16 contiguous
      out0: f16 max
      for i0, i1 reduce i2 {
        t0 = load in0 : f16
        reduce out0, t0
      }
    }
    domain [2, 6, 5] {
      in0: offset 0, strides [60, 2, 12]
      out0: offset 0, strides [12, 2, 0]
    }
    nest rank 3, vectors along i1 {
      in0: f16 contiguous, in1: f16 contiguous, in2: i64 index broadcast
      literals: l0 i32
      out0: i32 min
      for i0, i1 reduce i2 {
        t0 = load in0 : f16
        t1 = load in1 : f16
        t2 = equal t0, t1 : bool
        t3 = isnan t0 : bool
        t4 = logical_or t2, t3 : bool
        t5 = load in2 : i64
        t6 = cast t5 : i32
        t7 = literal l0 : i32
        t8 = where t4, t6, t7 : i32
        reduce out0, t8
      }
    }
    domain [2, 6, 5] {
      in0: offset 0, strides [60, 2, 12]
      in1: offset 0, strides [12, 2, 0]
      in2: offset 0, strides [0, 0, 1]
      out0: offset 0, strides [24, 4, 0]
    }
    ");
}

#[test]
fn loops_mean_what_the_graph_means() {
    for name in ["reductions", "moments"] {
        let path = format!("{}/../tests/programs/{name}.graph", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        agrees(&lowered(&text, true));
        agrees(&lowered(&text, false));
    }
}
