//! The kernels of programs.

use ndjit_codegen::{Lowered, Options, lower};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::loops::Layout;
use ndjit_ir::{Policy, ValueType};
use ndjit_transform::access::contiguous;

fn lowered(text: &str) -> Lowered {
    let graph: Graph<ValueType> = text.parse().unwrap_or_else(|e| panic!("{e}"));
    let layout = |&p| contiguous(graph.shape(p), graph.storage_dtype(p, Policy::default())).expect("a small array");
    let layouts: Vec<Layout> = graph.params().iter().map(layout).collect();
    lower(&graph, &SourceLocs::default(), &layouts, &Options { verify: true, ..Options::default() })
        .unwrap_or_else(|e| panic!("{e}"))
}

/// The shape of each kernel, and its numbers of statements, inputs and outputs.
fn kernels(text: &str) -> String {
    let lowered = lowered(text);
    let line = |k: &ndjit_ir::kernel::FusedKernel| {
        format!("{} stmts {} in {} out {}\n", k.shape, k.body.stmts.len(), k.inputs.len(), k.outputs.len())
    };
    lowered.kernels().map(|kernel| line(&kernel.fused)).collect()
}

#[test]
fn one_kernel_has_several_inputs_and_outputs() {
    let text = "graph (%0: f32[9], %1: f32[9], %2: f32[9]) {
  %3 = multiply %0, %1 : f32[9]
  %4 = add %3, %2 : f32[9]
  %5 = subtract %3, %2 : f32[9]
  return %4, %5
}";
    insta::assert_snapshot!(kernels(text), @"[9] stmts 6 in 3 out 2");
}

#[test]
fn axes_of_contiguous_arrays_are_joined_and_broadcast_ones_read_in_place() {
    let text = "graph (%0: f32[4, 5, 6], %1: f32[4, 5, 6], %2: f32[5, 1]) {
  %3 = add %0, %1 : f32[4, 5, 6]
  %4 = multiply %3, %2 : f32[4, 5, 6]
  return %3, %4
}";
    let lowered = lowered(text);
    let text: Vec<String> =
        lowered.kernels().map(|k| format!("{}\n{}", k.scheduled.nest, k.scheduled.domain)).collect();
    insta::assert_snapshot!(text.join("\n"), @r##"
    nest rank 3 {
      in0: f32 contiguous, in1: f32 contiguous, in2: f32 broadcast
      out0: f32 contiguous, out1: f32 contiguous
      for i0, i1, i2 {
        t0 = load in0 : f32
        t1 = load in1 : f32
        t2 = add t0, t1 : f32
        t3 = load in2 : f32
        t4 = multiply t3, t2 : f32
        store out0, t2
        store out1, t4
      }
    }
    domain [4, 5, 6] {
      in0: offset 0, strides [120, 24, 4]
      in1: offset 0, strides [120, 24, 4]
      in2: offset 0, strides [0, 4, 0]
      out0: offset 0, strides [120, 24, 4]
      out1: offset 0, strides [120, 24, 4]
    }
    "##);
}

#[test]
fn cheap_and_row_wise_values_are_computed_in_the_kernel_that_broadcasts_them() {
    // exp of a column is computed once per row, before the innermost loop; the square of a row is cheap.
    let text = "graph (%0: f32[7, 1], %1: f32[1, 9], %2: f32[7, 9]) {
  %3 = exp %0 : f32[7, 1]
  %4 = square %1 : f32[1, 9]
  %5 = multiply %2, %3 : f32[7, 9]
  %6 = add %5, %4 : f32[7, 9]
  return %6
}";
    insta::assert_snapshot!(kernels(text), @r##"[7, 9] stmts 7 in 3 out 1"##);
}

#[test]
fn dear_values_are_stored_before_they_are_broadcast_along_rows() {
    let text = "graph (%0: f64[1, 9], %1: f64[7, 9]) {
  %2 = sin %0 : f64[1, 9]
  %3 = multiply %1, %2 : f64[7, 9]
  return %3
}";
    insta::assert_snapshot!(kernels(text), @r##"
    [1, 9] stmts 2 in 1 out 1
    [7, 9] stmts 3 in 2 out 1
    "##);
}

#[test]
fn a_kernel_per_shape_where_values_are_dear() {
    let text = "graph (%0: f64[9], %1: f64[7, 9], %2: f64[9]) {
  %3 = sin %0 : f64[9]
  %4 = multiply %1, %3 : f64[7, 9]
  %5 = add %3, %2 : f64[9]
  %6 = cos %5 : f64[9]
  %7 = add %4, %6 : f64[7, 9]
  return %7, %6
}";
    insta::assert_snapshot!(kernels(text), @r##"
    [9] stmts 5 in 2 out 2
    [7, 9] stmts 5 in 3 out 1
    "##);
}

#[test]
fn long_programs_are_split_and_share_bodies() {
    let mut text = String::from("graph (%0: f32[9], %1: f32[9]) {\n");
    for i in 2..2002 {
        let op = if i % 2 == 0 { "add" } else { "subtract" };
        text += &format!("  %{i} = {op} %{}, %1 : f32[9]\n", if i == 2 { 0 } else { i - 1 });
    }
    text += "  return %2001\n}";
    let lowered = lowered(&text);
    assert_eq!(lowered.steps.len(), 5);
    let bodies: std::collections::HashSet<_> = lowered.kernels().map(|kernel| &kernel.scheduled.nest).collect();
    // The first one adds two parameters, the others one to loaded values.
    assert_eq!(bodies.len(), 2, "equal loops are one kernel");
}

/// Elements, bytes read and written, and operations of each launch.
fn work(text: &str) -> String {
    let lowered = lowered(text);
    let line = |launch| {
        let work = lowered.work(launch);
        format!("{} elements, {} read, {} written, {} flops", work.elements, work.read, work.written, work.flops)
    };
    lowered.launches.iter().map(line).collect::<Vec<String>>().join("\n")
}

#[test]
fn work_is_counted_from_the_program() {
    let shares = "graph (%0: f32[4, 100]) {
  %1 = sum %0 axes [1] keepdims : f32[4, 1]
  %2 = divide %0, %1 : f32[4, 100]
  return %2
}";
    insta::assert_snapshot!(work(shares), @"800 elements, 1600 read, 1616 written, 800 flops");
    let windows = "graph (%0: f32[100]) {
  %1 = view %0 (d0) -> (d0 + 1) : f32[99]
  %2 = view %0 (d0) -> (d0) : f32[99]
  %3 = subtract %1, %2 : f32[99]
  return %3
}";
    insta::assert_snapshot!(work(windows), @"99 elements, 396 read, 396 written, 99 flops");
    let empty = "graph (%0: f32[0, 5]) {
  %1 = negative %0 : f32[0, 5]
  return %1
}";
    insta::assert_snapshot!(work(empty), @"0 elements, 0 read, 0 written, 0 flops");
}
