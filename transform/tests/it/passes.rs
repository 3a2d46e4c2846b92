//! The result of each pass on small programs, as text.

use insta::assert_snapshot;
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::{DType, ErrorCode, Policy, ValueType};
use ndjit_transform::{commit, fp_contract, inline, simplify};
use std::sync::Arc;

fn parse(text: &str) -> Graph<ValueType> {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

fn typed(text: &str) -> Graph<DType> {
    let (graph, places) = inline(&parse(text), &SourceLocs::default()).unwrap();
    Graph::clone(&commit(Arc::new(graph), Arc::new(places), Policy::default()).unwrap().graph)
}

fn simplified(text: &str) -> String {
    simplify(&typed(text)).unwrap().to_string()
}

#[test]
fn commit_rounds_literals_to_each_use_and_makes_casts_explicit() {
    let text = "graph (%0: f32[4], %1: i8[4], %2: i32[4]) {
  %3 = literal #0 2 : i*[]
  %4 = multiply %1, %3 : i8[4]
  %5 = add %0, %4 : f32[4]
  %6 = divide %2, %3 : f32[4]
  %7 = multiply %5, %3 : f32[4]
  return %7, %6, %3
}";
    assert_snapshot!(typed(text), @r##"
    graph (%0: f32[4], %1: i8[4], %2: i32[4]) {
      %3 = literal #0 2 : i8[]
      %4 = multiply %1, %3 : i8[4]
      %5 = cast %4 : f32[4]
      %6 = add %0, %5 : f32[4]
      %7 = cast %2 : f32[4]
      %8 = literal #0 2 : f32[]
      %9 = divide %7, %8 : f32[4]
      %10 = multiply %6, %8 : f32[4]
      %11 = literal #0 2 : i32[]
      return %10, %9, %11
    }
    "##);
}

#[test]
fn commit_computes_weak_values_in_their_default_dtype() {
    let text = "graph (%0: u8[4], %1: bf16[4]) {
  %2 = literal #0 2.5 : f*[]
  %3 = multiply %0, %2 : f*[4]
  %4 = add %3, %1 : bf16[4]
  return %3, %4
}";
    assert_snapshot!(typed(text), @r##"
    graph (%0: u8[4], %1: bf16[4]) {
      %2 = cast %0 : f32[4]
      %3 = literal #0 2.5 : f32[]
      %4 = multiply %2, %3 : f32[4]
      %5 = cast %4 : bf16[4]
      %6 = add %5, %1 : bf16[4]
      return %4, %6
    }
    "##);
}

#[test]
fn commit_refuses_integers_that_do_not_fit() {
    let text = "graph (%0: i8[4]) {
  %1 = literal #0 300 : i*[]
  %2 = add %0, %1 : i8[4]
  return %2
}";
    let error = commit(Arc::new(parse(text)), Arc::default(), Policy::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Literal);
    assert_snapshot!(error, @r##"
    error[literal]: literal 300 does not fit i8
      i8 holds -128 to 127
      in add of i8 and i*, computed in i8
      help: cast the other operand to a wider dtype, for example `.cast(DType::I16)`
    "##);
}

#[test]
fn an_explicit_cast_of_a_literal_converts_its_exact_value() {
    let text = "graph () {
  %0 = literal #0 16777217 : i*[]
  %1 = cast %0 : f64[]
  %2 = cast %0 : u8[]
  return %1, %2
}";
    assert_snapshot!(typed(text), @r##"
    graph () {
      %0 = literal #0 16777217 : f64[]
      %1 = literal #0 16777217 : i64[]
      %2 = cast %1 : u8[]
      return %0, %2
    }
    "##);
}

#[test]
fn inline_shares_equal_nodes_of_two_calls() {
    let text = "child @0 (%0: f32[3]) {
  %1 = literal #0 2 : i*[]
  %2 = multiply %0, %1 : f32[3]
  return %2, %0
}
graph (%0: f32[3]) calls @0 {
  %1, %2 = call @0(%0) : f32[3], f32[3]
  %3, %4 = call @0(%1) : f32[3], f32[3]
  return %3, %2
}";
    let (graph, _) = inline(&parse(text), &SourceLocs::default()).unwrap();
    assert_snapshot!(graph, @r##"
    graph (%0: f32[3]) {
      %1 = literal #0 2 : i*[]
      %2 = multiply %0, %1 : f32[3]
      %3 = literal #1 2 : i*[]
      %4 = multiply %2, %3 : f32[3]
      return %4, %0
    }
    "##);
}

#[test]
fn contraction_takes_products_of_floats_that_one_sum_reads() {
    let text = "graph (%0: f32[4], %1: f32[4], %2: i32[4], %3: f64[4], %4: c64[4]) {
  %5 = literal #0 2 : i*[]
  %6 = multiply %0, %5 : f32[4]
  %7 = add %1, %6 : f32[4]
  %8 = multiply %0, %0 : f32[4]
  %9 = multiply %1, %1 : f32[4]
  %10 = add %8, %9 : f32[4]
  %11 = multiply %2, %2 : i32[4]
  %12 = add %11, %2 : i32[4]
  %13 = multiply %0, %1 : f32[4]
  %14 = add %13, %3 : f64[4]
  %15 = multiply %4, %4 : c64[4]
  %16 = add %15, %4 : c64[4]
  %17 = multiply %1, %5 : f32[4]
  %18 = add %17, %17 : f32[4]
  %19 = multiply %7, %5 : f32[4]
  %20 = add %19, %0 : f32[4]
  %21 = subtract %19, %0 : f32[4]
  return %10, %12, %14, %16, %18, %20, %21
}";
    let (graph, _) = fp_contract(&parse(text), &SourceLocs::default());
    graph.verify().unwrap();
    assert_snapshot!(graph, @r##"
    graph (%0: f32[4], %1: f32[4], %2: i32[4], %3: f64[4], %4: c64[4]) {
      %5 = literal #0 2 : i*[]
      %6 = mul_add %0, %5, %1 : f32[4]
      %7 = multiply %1, %1 : f32[4]
      %8 = mul_add %0, %0, %7 : f32[4]
      %9 = multiply %2, %2 : i32[4]
      %10 = add %9, %2 : i32[4]
      %11 = multiply %0, %1 : f32[4]
      %12 = add %11, %3 : f64[4]
      %13 = multiply %4, %4 : c64[4]
      %14 = add %13, %4 : c64[4]
      %15 = multiply %1, %5 : f32[4]
      %16 = add %15, %15 : f32[4]
      %17 = multiply %6, %5 : f32[4]
      %18 = add %17, %0 : f32[4]
      %19 = subtract %17, %0 : f32[4]
      return %8, %10, %12, %14, %16, %18, %19
    }
    "##);
}

#[test]
fn simplify_applies_its_rules() {
    let text = "graph (%0: f32[4], %1: f32[4], %2: bool[4]) {
  %3 = negative %1 : f32[4]
  %4 = add %0, %3 : f32[4]
  %5 = subtract %0, %3 : f32[4]
  %6 = add %1, %0 : f32[4]
  %7 = abs %3 : f32[4]
  %8 = abs %7 : f32[4]
  %9 = negative %3 : f32[4]
  %10 = where %2, %9, %1 : f32[4]
  %11 = minimum %10, %1 : f32[4]
  %12 = floor %11 : f32[4]
  return %4, %5, %6, %8, %11
}";
    assert_snapshot!(simplified(text), @r##"
    graph (%0: f32[4], %1: f32[4], %2: bool[4]) {
      %3 = subtract %0, %1 : f32[4]
      %4 = add %0, %1 : f32[4]
      %5 = abs %1 : f32[4]
      return %3, %4, %4, %5, %1
    }
    "##);
}

#[test]
fn simplify_folds_known_literals_but_not_those_given_at_each_call() {
    let text = "graph (%0: f32[4]) {
  %1 = literal #0 3 : i*[]
  %2 = literal #1 argument 1 : f*[]
  %3 = literal #2 0.5 : f*[]
  %4 = multiply %1, %3 : f*[]
  %5 = multiply %2, %3 : f*[]
  %6 = multiply %0, %4 : f32[4]
  %7 = multiply %6, %5 : f32[4]
  return %7
}";
    assert_snapshot!(simplified(text), @r##"
    graph (%0: f32[4]) {
      slot #0 3
      %1 = literal #2 0.5 : f32[]
      %2 = literal #3 1.5_f32 : f32[]
      %3 = literal #1 argument 1 f* : f32[]
      %4 = multiply %1, %3 : f32[]
      %5 = multiply %0, %2 : f32[4]
      %6 = multiply %4, %5 : f32[4]
      return %6
    }
    "##);
}

#[test]
fn simplify_skips_casts_that_lose_nothing() {
    let text = "graph (%0: i8[4], %1: f32[4]) {
  %2 = cast %0 : i32[4]
  %3 = cast %2 : f32[4]
  %4 = cast %0 : f32[4]
  %5 = cast %4 : u8[4]
  %6 = cast %1 : f64[4]
  %7 = cast %6 : f32[4]
  %8 = cast %6 : f16[4]
  return %3, %5, %7, %8
}";
    assert_snapshot!(simplified(text), @r##"
    graph (%0: i8[4], %1: f32[4]) {
      %2 = cast %0 : f32[4]
      %3 = cast %2 : u8[4]
      %4 = cast %1 : f16[4]
      return %2, %3, %1, %4
    }
    "##);
}

/// The mask would be of four billion elements.
#[test]
fn of_what_has_no_elements_nothing_large_is_computed() {
    let text = "graph (%0: f32[2, 0, 1]) {
  %1 = iota axes [2] : i64[1, 1, 4294967296]
  %2 = literal #0 7 : i64[]
  %3 = less %1, %2 : bool[1, 1, 4294967296]
  %4 = sin %0 : f32[2, 0, 1]
  %5 = where %3, %4, %0 : f32[2, 0, 4294967296]
  %6 = sum %5 axes [1] : f32[2, 4294967296]
  return %4, %5, %6
}";
    assert_snapshot!(simplified(text), @r##"
    graph (%0: f32[2, 0, 1]) {
      slot #0 7
      %1 = sin %0 : f32[2, 0, 1]
      %2 = literal #1 0.0_f32 : f32[]
      %3 = view %2 (d0, d1, d2) -> () : f32[2, 0, 4294967296]
      %4 = sum %3 axes [1] : f32[2, 4294967296]
      return %1, %3, %4
    }
    "##);
}
