//! Explanations of graphs as text: every rule.

use insta::assert_snapshot;
use ndjit_inspect::explain::{Explainer, ParamSource, Site, Snippet};
use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::{Op, SourceLoc, ValueType};

fn parse(text: &str) -> Graph<ValueType> {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// Explains the dtype of each output of a graph.
fn explained(text: &str) -> String {
    let (graph, places) = (parse(text), SourceLocs::default());
    let explainer = Explainer::new(&graph, &places);
    graph.outputs().iter().map(|&o| explainer.explain(o).to_string()).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_rule_in_words() {
    let text = "graph (%0: u8[3], %1: f64[3], %2: bool[3], %3: c64[3], %4: i32[3]) {
  %5 = literal #0 2 : i*[]
  %6 = add %0, %1 : f64[3]
  %7 = add[strict] %0, %5 : u8[3]
  %8 = add %0, %0 : u8[3]
  %9 = remainder %2, %2 : i32[3]
  %10 = divide %0, %4 : f32[3]
  %11 = sqrt %5 : f*[]
  %12 = logical_and %0, %1 : bool[3]
  %13 = less %0, %1 : bool[3]
  %14 = abs %3 : f32[3]
  %15 = cast %0 : f64[3]
  %16 = where %1, %0, %4 : i32[3]
  %17 = add[numpy2] %0, %4 : i32[3]
  %18 = sqrt[numpy2] %5 : f64[]
  %19 = add[numpy2] %5, %5 : i64[]
  return %0, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19
}";
    assert_snapshot!(explained(text));
}

#[test]
fn orders_and_widths_of_policies_in_words() {
    let text = "graph (%0: i8[3], %1: u8[3], %2: f16[3], %3: f64[3]) {
  %4 = literal #0 2 : i*[]
  %5 = clip[numpy2] %0, %1, %2 : f16[3]
  %6 = clip[torch] %4, %0, %2 : f16[3]
  %7 = clip[ivy_precise] %0, %1, %0 : i16[3]
  %8 = clip[standard] %0, %1, %2 : f16[3]
  %9 = add[numpy2] %1, %2 : f16[3]
  %10 = sqrt[jax32] %3 : f32[3]
  %11 = add[jax32] %3, %3 : f32[3]
  %12 = add[jax32] %3, %0 : f32[3]
  return %5, %6, %7, %8, %9, %10, %11, %12
}";
    assert_snapshot!(explained(text));
}

#[test]
fn a_chain_follows_the_operands_that_decided() {
    let text = "graph (%0: u32[3], %1: i32[3], %2: i8[3]) {
  %3 = add %0, %2 : i64[3]
  %4 = multiply %1, %2 : i32[3]
  %5 = maximum %4, %3 : i64[3]
  %6 = negative %5 : i64[3]
  return %6
}";
    assert_snapshot!(explained(text));
}

#[test]
fn calls_are_terms() {
    let text = "child @0 (%0: f32[3]) {
  %1 = sin %0 : f32[3]
  return %1
}
graph (%0: f32[3], %1: f64[3]) calls @0 {
  %2 = call @0(%0) : f32[3]
  %3 = add %2, %1 : f64[3]
  return %3, %2
}";
    assert_snapshot!(explained(text));
}

#[test]
fn names_and_inputs_are_those_given() {
    let graph = parse("graph (%0: f32[3], %1: f64[3]) {\n  %2 = multiply %0, %1 : f64[3]\n  return %2\n}");
    let mut places = SourceLocs::default();
    let at = |line| SourceLoc { file: "a.rs", line, column: 5 };
    let node = graph.producer(graph.outputs()[0]);
    places.note(graph.producer(graph.params()[1]), at(4));
    [at(7), at(9), SourceLoc { file: "b.rs", ..at(1) }].into_iter().for_each(|place| places.note(node, place));
    let source = |site: Site| {
        assert_eq!(site, Site::of_op(Op::Multiply, at(7)));
        Some(Snippet { text: "x * w".to_owned(), operands: vec!["x".to_owned(), "w".to_owned()] })
    };
    let inputs = [ParamSource::Argument(3), ParamSource::Captured];
    let explainer = Explainer::new(&graph, &places).inputs(&inputs).source(&source);
    assert_snapshot!(explainer.explain(graph.outputs()[0]));
    assert_eq!(explainer.origin(graph.params()[1]).to_string(), "from an array captured at a.rs:4:5");
}
