//! Hoisted values, and values that stay in loops.

use insta::assert_snapshot;
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::{Policy, ValueType};
use ndjit_math::interp::eval_graph;
use ndjit_math::random::{Rng, tensor};
use ndjit_transform::{commit, hoist};
use std::sync::Arc;

fn parse(text: &str) -> Graph<ValueType> {
    let graph: Graph<ValueType> = text.parse().unwrap_or_else(|e| panic!("{e}"));
    graph.verify().unwrap_or_else(|e| panic!("{e}"));
    graph
}

/// The graph after the pass, which gives the same results.
fn hoisted(text: &str) -> Graph<ValueType> {
    let graph = parse(text);
    let (out, _) = hoist(&graph, &SourceLocs::default(), Policy::default()).expect("something is hoisted");
    out.verify().unwrap_or_else(|e| panic!("{e}\n{out}"));
    let results = |graph: &Graph<ValueType>| {
        let typed = commit(Arc::new(graph.clone()), Arc::default(), Policy::default()).unwrap();
        let mut rng = Rng::new(7);
        let params = typed.graph.params().iter();
        let params = params.map(|&p| tensor(&mut rng, typed.graph.ty(p), typed.graph.shape(p).clone()).unwrap());
        let params: Vec<_> = params.collect();
        eval_graph(&typed.graph, &params, &[]).unwrap()
    };
    for (before, after) in results(&graph).iter().zip(&results(&out)) {
        assert_eq!(before.bytes, after.bytes);
    }
    out
}

#[test]
fn reductions_weights_and_scalars_are_computed_before() {
    let text = "child @0 (%0: f32[4], %1: i32[], %2: f32[4], %3: f32[], %4: f32[9]) {
  %5 = exp %2 : f32[4]
  %6 = sum %4 axes [0] : f32[]
  %7 = multiply %6, %3 : f32[]
  %8 = multiply %0, %5 : f32[4]
  %9 = add %8, %7 : f32[4]
  %10 = cast %1 : f32[]
  %11 = add %9, %10 : f32[4]
  return %11
}
graph (%0: f32[4], %1: f32[4], %2: f32[], %3: f32[9]) {
  $0 = for index i32 carried 1 body @0 of [0, 1, 3, 4, 5]
  %4 = literal #0 0_i32 : i32[]
  %5 = literal #1 3_i32 : i32[]
  %6 = for $0 %0, %4, %5, %1, %2, %3 : f32[4]
  return %6
}";
    assert_snapshot!(hoisted(text), @"
    child @0 (%0: f32[4], %1: i32[], %2: f32[4], %3: f32[]) {
      %4 = multiply %0, %2 : f32[4]
      %5 = add %4, %3 : f32[4]
      %6 = cast %1 : f32[]
      %7 = add %5, %6 : f32[4]
      return %7
    }
    graph (%0: f32[4], %1: f32[4], %2: f32[], %3: f32[9]) {
      $0 = for index i32 carried 1 body @0 of [0, 1, 3, 4]
      %4 = literal #0 0_i32 : i32[]
      %5 = literal #1 3_i32 : i32[]
      %6 = exp %1 : f32[4]
      %7 = sum %3 axes [0] : f32[]
      %8 = multiply %7, %2 : f32[]
      %9 = for $0 %0, %4, %5, %6, %8 : f32[4]
      return %9
    }
    ");
}

#[test]
fn products_of_rows_and_columns_stay_where_they_are_read() {
    let text = "child @0 (%0: f32[8, 8], %1: f32[8], %2: f32[8, 1]) {
  %3 = multiply %1, %2 : f32[8, 8]
  %4 = exp %3 : f32[8, 8]
  %5 = add %0, %3 : f32[8, 8]
  return %5
}
child @1 (%0: f32[8, 8], %1: f32[8], %2: f32[8, 1]) {
  %3 = multiply %1, %2 : f32[8, 8]
  %4 = exp %3 : f32[8, 8]
  %5 = add %0, %4 : f32[8, 8]
  return %5
}
graph (%0: f32[8, 8], %1: f32[8], %2: f32[8, 1]) {
  $0 = for index i32 carried 1 body @BODY of [0, 3, 4]
  %3 = literal #0 0_i32 : i32[]
  %4 = literal #1 3_i32 : i32[]
  %5 = for $0 %0, %3, %4, %1, %2 : f32[8, 8]
  return %5
}";
    let graph = parse(&text.replace("BODY", "0"));
    assert!(hoist(&graph, &SourceLocs::default(), Policy::default()).is_none());
    // Expensive ones are computed once.
    assert_snapshot!(hoisted(&text.replace("BODY", "1")), @"
    child @0 (%0: f32[8, 8], %1: f32[8, 8]) {
      %2 = add %0, %1 : f32[8, 8]
      return %2
    }
    graph (%0: f32[8, 8], %1: f32[8], %2: f32[8, 1]) {
      $0 = for index i32 carried 1 body @0 of [0, 3]
      %3 = literal #0 0_i32 : i32[]
      %4 = literal #1 3_i32 : i32[]
      %5 = multiply %1, %2 : f32[8, 8]
      %6 = exp %5 : f32[8, 8]
      %7 = for $0 %0, %3, %4, %6 : f32[8, 8]
      return %7
    }
    ");
}

/// Out of nested loops, as far as invariant; also from a condition. Several results are of one control flow.
#[test]
fn loops_in_loops_are_left_step_by_step() {
    let text = "child @0 (%0: f32[], %1: f32[5], %2: f32[]) {
  %3 = max %1 axes [0] : f32[]
  %4 = subtract %3, %2 : f32[]
  %5 = less %0, %4 : bool[]
  return %5
}
child @1 (%0: f32[], %1: f32[], %2: f32[5], %3: f32[]) {
  %4 = sum %2 axes [0] : f32[]
  %5 = multiply %3, %4 : f32[]
  %6 = add %0, %5 : f32[]
  %7 = minimum %1, %4 : f32[]
  return %6, %7
}
child @2 (%0: f32[], %1: f32[], %2: f32[5]) {
  $0 = while condition @0 of [0, 2, 3] body @1 of [0, 1, 2, 3]
  %3 = literal #0 1_f32 : f32[]
  %4, %5 = while $0 %3, %3, %2, %1 : f32[], f32[]
  %6 = add %4, %5 : f32[]
  return %6, %4
}
graph (%0: f32[], %1: f32[5], %2: f32[3]) {
  $0 = scan length 3 carried 1 sliced 1 body @2 of [0, 1, 2]
  %3, %4 = scan $0 %0, %2, %1 : f32[], f32[3]
  return %3, %4
}";
    // Its loops may not end on any numbers.
    let (out, _) = hoist(&parse(text), &SourceLocs::default(), Policy::default()).expect("something is hoisted");
    out.verify().unwrap_or_else(|e| panic!("{e}\n{out}"));
    assert_snapshot!(out, @"
    child @0 (%0: f32[], %1: f32[]) {
      %2 = less %0, %1 : bool[]
      return %2
    }
    child @1 (%0: f32[], %1: f32[], %2: f32[], %3: f32[]) {
      %4 = add %0, %3 : f32[]
      %5 = minimum %1, %2 : f32[]
      return %4, %5
    }
    child @2 (%0: f32[], %1: f32[], %2: f32[]) {
      $0 = while condition @0 of [0, 2] body @1 of [0, 1, 3, 4]
      %3 = literal #0 1.0_f32 : f32[]
      %4 = subtract %1, %0 : f32[]
      %5 = multiply %0, %2 : f32[]
      %6, %7 = while $0 %3, %3, %4, %2, %5 : f32[], f32[]
      %8 = add %6, %7 : f32[]
      return %8, %6
    }
    graph (%0: f32[], %1: f32[5], %2: f32[3]) {
      $0 = scan length 3 carried 1 sliced 1 body @2 of [1, 2, 3]
      %3 = max %1 axes [0] : f32[]
      %4 = sum %1 axes [0] : f32[]
      %5, %6 = scan $0 %0, %2, %3, %4 : f32[], f32[3]
      return %5, %6
    }
    ");
}

#[test]
fn branches_keep_what_they_compute() {
    let text = "child @0 (%0: f32[4]) {
  %1 = sum %0 axes [0] : f32[]
  return %1
}
child @1 (%0: f32[4]) {
  %1 = max %0 axes [0] : f32[]
  return %1
}
graph (%0: bool[], %1: f32[4]) {
  $0 = cond true @0 of [1] false @1 of [1]
  %2 = cond $0 %0, %1 : f32[]
  return %2
}";
    assert!(hoist(&parse(text), &SourceLocs::default(), Policy::default()).is_none());
}
