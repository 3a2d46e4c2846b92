//! Reasons of casts in graphs: text that parses back, verifiers; and the support of a graph.

use insta::assert_snapshot;
use ndjit_ir::graph::{Graph, NodeKind, SourceLocs};
use ndjit_ir::support::walk::infer;
use ndjit_ir::support::*;
use ndjit_ir::{DType, DTypeSet, Op, ValueType};

const CASTS: &str = "graph (%0: f16[3]) {
  %1 = cast %0 : f32[3]
  %2 = cast[cross] %0 : f32[3]
  %3 = cast[up] %0 : f32[3]
  %4 = cast[down] %0 : f32[3]
  return %1, %2, %3, %4
}";

#[test]
fn reasons_are_printed_and_read() {
    let graph: Graph<ValueType> = CASTS.parse().unwrap();
    graph.verify().unwrap();
    assert_eq!(graph.to_string(), CASTS);
    let wrong = CASTS.replace("[down]", "[sideways]").parse::<Graph<ValueType>>().unwrap_err();
    assert_snapshot!(wrong, @"error[parse]: graph text, line 5, column 13: unknown reason of a cast `sideways`; known are cross up down promotion");
}

#[test]
fn typed_graphs_have_no_reasons() {
    let refused = |text: &str| text.parse::<Graph<DType>>().unwrap_err().headline().to_owned();
    let notes = ["cast[up] %0", "sum[numpy2] %0 axes [0]", "sum %0 axes [0] dtype f64", "cummax[torch] %0 axis 0"];
    let texts = notes.map(|note| refused(&format!("graph (%0: f32[3]) {{\n  %1 = {note} : f32[3]\n  return %1\n}}")));
    assert!(
        texts.iter().all(|text| text
            .ends_with("a typed graph has no policies, no dtypes that are asked for and no reasons of casts")),
        "{texts:?}"
    );
}

/// All ops are made under `support`; `declared` is about the first parameter.
fn inferred(text: &str, support: Support, declared: Option<Restriction>) -> Inferred {
    let graph: Graph<ValueType> = text.parse().unwrap();
    graph.verify().unwrap();
    let mut supports = Supports::default();
    let ops = graph.node_ids().filter(|&id| matches!(graph.node(id).kind, NodeKind::Op(..)));
    ops.for_each(|id| supports.note(id, support));
    if let Some(restriction) = declared {
        let restrictions = Restrictions::NONE.with(restriction);
        supports.note(graph.producer(graph.params()[0]), Support { restrictions, ..Support::default() });
    }
    infer(&graph, &SourceLocs::default(), &supports, 1, support).unwrap()
}

fn text(inferred: &Inferred) -> String {
    let excluded: Vec<String> = inferred.unsupported.iter().map(|e| e.to_string()).collect();
    let both = format!("supported {}\n{}", inferred.supported, excluded.join("\n"));
    both.replace(file!(), "graphs.rs")
}

#[test]
fn a_composition_supports_what_all_its_ops_do() {
    let composed = "graph (%0: f32[3], %1: i8[3]) {
  %2 = floor %0 : f32[3]
  %3 = remainder %2, %1 : f32[3]
  %4 = negative %3 : f32[3]
  return %4
}";
    assert_snapshot!(text(&inferred(composed, Support::default(), None)), @r"
    supported bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64
    c64: floor: c64 is not supported
    c128: floor: c128 is not supported
    ");
}

#[test]
fn after_an_explicit_cast_the_argument_does_not_matter() {
    let no_halves = Device::describe("graphs_no_halves")
        .unsupported([Op::Cbrt], [DType::F16, DType::Bf16], "test", "https://example.org")
        .register()
        .unwrap();
    let support = Support { device: Some(no_halves), ..Support::default() };
    let program = |reason: &str| {
        format!("graph (%0: f16[3]) {{\n  %1 = cast{reason} %0 : f32[3]\n  %2 = cbrt %1 : f32[3]\n  return %2\n}}")
    };
    assert_eq!(inferred(&program(""), support, None).supported, DTypeSet::ALL);
    // A mode's cast does not count as support of the function.
    assert_snapshot!(text(&inferred(&program("[up]"), support, None)), @r"
    supported bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64
    bf16: graphs_no_halves does not do cbrt in bf16: test
    f16: graphs_no_halves does not do cbrt in f16: test
    c64: cbrt: c64 is not supported
    c128: cbrt: c128 is not supported
    ");
}

#[test]
fn declarations_and_devices_count() {
    let program = "graph (%0: i8[3]) {\n  %1 = divide %0, %0 : f32[3]\n  return %1\n}";
    let device = Device::describe("graphs_no_i8").invalid(DType::I8, "test", "https://example.org").register().unwrap();
    let ints = Restriction::unsupported(DTypeSet::COMPLEX | DType::F64);
    let support = Support { device: Some(device), restrictions: Restrictions::NONE.with(ints), ..Support::default() };
    let declared = Restriction::unsupported([DType::Bool, DType::U8]);
    let found = text(&inferred(program, support, Some(declared)));
    let found = found.replace(&format!(":{}:", ints.place().line), ":SCOPE:");
    assert_snapshot!(found.replace(&format!(":{}:", declared.place().line), ":FUNCTION:"), @r"
    supported u16 u32 i16 i32 bf16 f16 f32
    bool: declared unsupported, at graphs.rs:FUNCTION:20
    u8: declared unsupported, at graphs.rs:FUNCTION:20
    u64: divide computes in f64, which is declared unsupported, at graphs.rs:SCOPE:16
    i8: graphs_no_i8 has no i8: test
    i64: divide computes in f64, which is declared unsupported, at graphs.rs:SCOPE:16
    f64: declared unsupported, at graphs.rs:SCOPE:16
    c64: declared unsupported, at graphs.rs:SCOPE:16
    c128: declared unsupported, at graphs.rs:SCOPE:16
    ");
}
