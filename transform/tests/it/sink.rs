//! Positions compared within loops, and operands that stay.

use insta::assert_snapshot;
use ndjit_ir::ValueType;
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_transform::sink;

fn parse(text: &str) -> Graph<ValueType> {
    let graph: Graph<ValueType> = text.parse().unwrap_or_else(|e| panic!("{e}"));
    graph.verify().unwrap_or_else(|e| panic!("{e}"));
    graph
}

fn sunk(text: &str) -> Option<Graph<ValueType>> {
    let (out, _) = sink(&parse(text), &SourceLocs::default())?;
    out.verify().unwrap_or_else(|e| panic!("{e}\n{out}"));
    Some(out)
}

#[test]
fn loops_within_loops_compute_positions_that_only_comparisons_read() {
    let text = "child @0 (%0: f32[4], %1: i32[], %2: i32[4]) {
  %3 = greater_equal %2, %1 : bool[4]
  %4 = where %3, %0, %0 : f32[4]
  return %4
}
child @1 (%0: f32[4], %1: i32[], %2: i32[4], %3: f32[4]) {
  $0 = for index i32 carried 1 body @0 of [0, 1, 3]
  %4 = literal #0 0_i32 : i32[]
  %5 = for $0 %0, %4, %1, %2 : f32[4]
  %6 = add %5, %3 : f32[4]
  return %6
}
graph (%0: f32[4]) {
  $0 = for index i32 carried 1 body @1 of [0, 1, 3, 4]
  %1 = iota axes [0] : i64[4]
  %2 = literal #0 2_i64 : i64[]
  %3 = multiply %1, %2 : i64[4]
  %4 = cast %3 : i32[4]
  %5 = literal #1 0_i32 : i32[]
  %6 = literal #2 3_i32 : i32[]
  %7 = for $0 %0, %5, %6, %4, %0 : f32[4]
  return %7
}";
    assert_snapshot!(sunk(text).unwrap(), @"
    child @0 (%0: f32[4], %1: i32[]) {
      %2 = iota axes [0] : i64[4]
      %3 = literal #0 2_i64 : i64[]
      %4 = multiply %2, %3 : i64[4]
      %5 = cast %4 : i32[4]
      %6 = greater_equal %5, %1 : bool[4]
      %7 = where %6, %0, %0 : f32[4]
      return %7
    }
    child @1 (%0: f32[4], %1: i32[], %2: f32[4]) {
      $0 = for index i32 carried 1 body @0 of [0, 1]
      %3 = iota axes [0] : i64[4]
      %4 = literal #1 2_i64 : i64[]
      %5 = multiply %3, %4 : i64[4]
      %6 = cast %5 : i32[4]
      %7 = literal #0 0_i32 : i32[]
      %8 = for $0 %0, %7, %1 : f32[4]
      %9 = add %8, %2 : f32[4]
      return %9
    }
    graph (%0: f32[4]) {
      $0 = for index i32 carried 1 body @1 of [0, 1, 3]
      %1 = iota axes [0] : i64[4]
      %2 = literal #0 2_i64 : i64[]
      %3 = multiply %1, %2 : i64[4]
      %4 = cast %3 : i32[4]
      %5 = literal #1 0_i32 : i32[]
      %6 = literal #2 3_i32 : i32[]
      %7 = for $0 %0, %5, %6, %0 : f32[4]
      return %7
    }
    ");
}

#[test]
fn values_that_others_store_or_that_arguments_determine_stay() {
    let text = |own: &str, operand: &str| {
        format!(
            "child @0 (%0: f32[4], %1: i32[], %2: i64[4]) {{
  %3 = {own}
  %4 = where %3, %0, %0 : f32[4]
  return %4
}}
graph (%0: f32[4], %1: i64[4]) {{
  $0 = for index i32 carried 1 body @0 of [0, 1, 3]
  %2 = iota axes [0] : i64[4]
  %3 = add %2, %1 : i64[4]
  %4 = literal #0 0_i32 : i32[]
  %5 = for $0 %0, %4, %4, {operand} : f32[4]
  return %5
}}"
        )
    };
    assert!(sunk(&text("less %2, %1 : bool[4]", "%2")).is_some());
    // An argument of the program.
    assert!(sunk(&text("less %2, %1 : bool[4]", "%3")).is_none());
    // Arithmetic, and indices in memory.
    assert!(sunk(&text("multiply %0, %2 : f32[4]", "%2")).is_none());
    assert!(sunk(&text("scatter add %0, %2, %0 : f32[4]", "%2")).is_none());
}

#[test]
fn deep_control_flow_of_shared_graphs_takes_no_time() {
    let mut text = "child @0 (%0: bool[], %1: i64[4]) {
  %2 = literal #0 2_i64 : i64[]
  %3 = less %1, %2 : bool[4]
  return %3
}
"
    .to_owned();
    for deep in 1..30 {
        let below = deep - 1;
        text += &format!(
            "child @{deep} (%0: bool[], %1: i64[4]) {{
  $0 = cond true @{below} of [1, 2] false @{below} of [1, 2]
  %2 = cond $0 %0, %0, %1 : bool[4]
  return %2
}}
"
        );
    }
    text += "graph (%0: bool[]) {
  $0 = cond true @29 of [1, 2] false @29 of [1, 2]
  %1 = iota axes [0] : i64[4]
  %2 = cond $0 %0, %0, %1 : bool[4]
  return %2
}";
    let graph: Graph<ValueType> = text.parse().unwrap();
    let (out, _) = sink(&graph, &SourceLocs::default()).unwrap();
    out.verify().unwrap();
}
