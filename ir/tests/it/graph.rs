//! Graph text, parser and verifier: printed text parses to the same graph; errors have their place.

use insta::assert_snapshot;
use ndjit_ir::graph::{Graph, NodeId, NodeKind, Slot, SlotId, SourceLocs, Value};
use ndjit_ir::reduction::{AxisSet, Reduce};
use ndjit_ir::{DType, ErrorCode, Literal, Op, Policy, Reduction, Shape, SourceLoc, ValueType, Weak};
use std::sync::Arc;

type Traced = Graph<ValueType>;
type Typed = Graph<DType>;

const SMALL: &str = "graph (%0: f32[8, 3], %1: i8[3]) {
  %2 = literal #0 2 : i*[]
  %3 = multiply %1, %2 : i8[3]
  %4 = add %0, %3 : f32[8, 3]
  return %4
}";

/// Builds `SMALL` by hand.
fn small() -> Traced {
    let mut graph = Traced::new();
    let x = graph.param(DType::F32.into(), &Shape::from([8, 3]));
    let y = graph.param(DType::I8.into(), &Shape::from([3]));
    let two = graph.literal(Slot::Value(Literal::weak(2)), Weak::Int.into());
    let row = graph.intern(&Shape::from([3]));
    let full = graph.intern(&Shape::from([8, 3]));
    let policy = Policy::default();
    let product = graph.add(NodeKind::Op(Op::Multiply, policy), &[y, two], &[(DType::I8.into(), row)]);
    let sum = graph.add(NodeKind::Op(Op::Add, policy), &[x, product], &[(DType::F32.into(), full)]);
    graph.set_outputs(vec![sum]);
    graph
}

fn traced(text: &str) -> Traced {
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn typed(text: &str) -> Typed {
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_graph_prints_one_line_per_node() {
    assert_eq!(small().to_string(), SMALL);
    small().verify().unwrap();
}

#[test]
fn places_are_comments() {
    let mut places = SourceLocs::default();
    let at = |line| SourceLoc { file: "src/main.rs", line, column: 5 };
    places.note(NodeId(3), at(3));
    places.note(NodeId(4), at(4));
    places.note(NodeId(4), at(9));
    let text = small().display_with(&places).to_string();
    assert_snapshot!(text, @r"
    graph (%0: f32[8, 3], %1: i8[3]) {
      %2 = literal #0 2 : i*[]
      %3 = multiply %1, %2 : i8[3]  ; src/main.rs:3:5
      %4 = add %0, %3 : f32[8, 3]  ; src/main.rs:4:5, src/main.rs:9:5
      return %4
    }
    ");
    assert_eq!(traced(&text).to_string(), SMALL);
}

/// Callees and graphs of control flow have their own places, too.
#[test]
fn places_of_inner_graphs_are_comments() {
    let text = "child @0 (%0: f32[]) {
  %1 = sin %0 : f32[]
  return %1
}
child @1 (%0: f32[]) calls @0 {
  %1 = call @0(%0) : f32[]
  return %1
}
child @2 (%0: f32[]) {
  %1 = cos %0 : f32[]
  return %1
}
graph (%0: f32[], %1: bool[]) calls @0 {
  $0 = cond true @1 of [1] false @2 of [1]
  %2 = call @0(%0) : f32[]
  %3 = cond $0 %1, %2 : f32[]
  return %3
}";
    let graph = traced(text);
    let at = |line| {
        let mut places = SourceLocs::default();
        places.note(NodeId(1), SourceLoc { file: "src/main.rs", line, column: 5 });
        places
    };
    let (mut then, mut places) = (at(2), SourceLocs::default());
    then.add_child(Arc::new(at(1)));
    places.add_child(Arc::new(at(1)));
    places.note(NodeId(3), SourceLoc { file: "src/main.rs", line: 4, column: 5 });
    places.set_control(0, vec![Arc::new(then), Arc::new(at(3))]);
    let noted = graph.display_with(&places).to_string();
    let lines = noted.lines().filter_map(|line| line.split_once("  ; "));
    let lines: Vec<(&str, &str)> = lines.map(|(line, place)| (line.trim(), place)).collect();
    assert_eq!(
        lines,
        [
            ("%1 = sin %0 : f32[]", "src/main.rs:1:5"),
            ("%1 = call @0(%0) : f32[]", "src/main.rs:2:5"),
            ("%1 = cos %0 : f32[]", "src/main.rs:3:5"),
            ("%3 = cond $0 %1, %2 : f32[]", "src/main.rs:4:5"),
        ]
    );
    assert_eq!(traced(&noted).to_string(), text);
}

/// Every form of a line: printed text that parses to the same text.
#[test]
fn text_round_trips() {
    for text in [
        SMALL,
        "graph () {\n  return\n}",
        "graph (%0: bool[0, 18446744073709551615]) {\n  return %0, %0\n}",
        "graph (%0: i32[2]) {
  slot #1 argument 3 f*
  slot #2 2.0_f32
  %1 = literal #0 argument 2 : c*[]
  %2 = literal #3 (-1.5e300+nani) : c*[]
  %3 = add[strict] %1, %2 : c*[]
  %4 = where %0, %3, %0 : c64[2]
  %5 = cast %4 : i8[2]
  return %5, %3
}",
        "graph (%0: i8[2, 3]) {
  %1 = sum[numpy2] %0 axes [0, 1] keepdims dtype f64 : f64[1, 1]
  %2 = iota axes [1] : i64[2, 3]
  %3 = literal #0 1 : i*[]
  %4 = var %0, %3 axes [0] : f32[3]
  %5 = any %0 axes [] : bool[2, 3]
  %6 = max %2 axes [1] keepdims : i64[2, 1]
  %7 = argmin[jax32] %6 axes [0, 1] dtype u8 : u8[]
  return %1, %4, %5, %7
}",
        "child @0 (%0: f32[3]) {
  %1 = sin %0 : f32[3]
  %2 = cos %0 : f32[3]
  return %1, %2
}
child @1 (%0: f32[3]) calls @0 {
  %1, %2 = call @0(%0) : f32[3], f32[3]
  %3 = add %1, %2 : f32[3]
  return %3
}
graph (%0: f32[3]) calls @1, @0 {
  %1 = call @1(%0) : f32[3]
  %2, %3 = call @0(%1) : f32[3], f32[3]
  return %3, %2
}",
    ] {
        let graph = traced(text);
        assert_eq!(graph.to_string(), text);
    }
    let text = "graph (%0: f16[2]) {
  %1 = literal #0 2 : f32[]
  %2 = literal #0 2 : f16[]
  %3 = literal #1 argument 0 i* : f32[]
  %4 = cast %0 : f32[2]
  %5 = mul_add %4, %1, %3 : f32[2]
  return %5, %2
}";
    let graph = typed(text);
    assert_eq!(graph.to_string(), text);
    assert_eq!(graph.slots().len(), 2);
    graph.verify().unwrap();
    let text = "graph (%0: c64[2, 3]) {
  %1 = iota axes [0, 1] : i64[2, 3]
  %2 = sum %0 axes [1] keepdims : c64[2, 1]
  %3 = min %1 axes [0] : i64[3]
  return %2, %3
}";
    assert_eq!(typed(text).to_string(), text);
    typed(text).verify().unwrap();
}

/// Nodes with equal contents are one.
#[test]
fn reductions_are_told_apart_by_each_of_their_parts() {
    let lines = [
        "sum %0 axes [0] : f32[1]",
        "prod %0 axes [0] : f32[1]",
        "sum %0 axes [1] : f32[1]",
        "sum %0 axes [0] keepdims : f32[1, 1]",
        "sum %0 axes [0] dtype f32 : f32[1]",
        "sum[numpy2] %0 axes [0] : f32[1]",
    ];
    let nodes: String = lines.iter().enumerate().map(|(i, line)| format!("  %{} = {line}\n", i + 1)).collect();
    traced(&format!("graph (%0: f32[1, 1]) {{\n{nodes}  return\n}}")).verify().unwrap();
}

fn parse_error(text: &str) -> String {
    let traced = text.parse::<Traced>().err().unwrap_or_else(|| panic!("this parses:\n{text}"));
    assert_eq!(traced.code(), ErrorCode::Parse);
    traced.headline().to_owned()
}

#[test]
fn parser_errors_name_line_column_and_what_was_expected() {
    let body = |line: &str| parse_error(&format!("graph (%0: f32[3], %1: i8[3]) {{\n  {line}\n  return %0\n}}"));
    let lines = [
        "%2 = sine %0 : f32[3]",
        "%3 = sin %0 : f32[3]",
        "%2 = sin %2 : f32[3]",
        "%2 = sin %99999999999 : f32[3]",
        "%2 = add %0 : f32[3]",
        "%2 = add[pax] %0, %1 : f32[3]",
        "%2 = sin %0",
        "%2 = sin %0 : f33[3]",
        "%2 = sin %0 : f32",
        "%2 = sin %0 : f32[3",
        "%2 = sin %0 : f32[99999999999999999999]",
        "%2 = sin %0 : f32[-3]",
        "%2 = sin %0 : f32[3] f32",
        "%2, %3 = sin %0 : f32[3]",
        "%2 sin %0",
        "2 = sin %0",
        "%2 = call @0(%0) : f32[3]",
        "%2 = literal 2 : i*[]",
        "%2 = literal #0 : i*[]",
        "%2 = literal #1 2 : i*[]",
        "%2 = literal #0 2x : i*[]",
        "%2 = literal #0 300_u8 : u8[]",
        "%2 = sum axes [0] : f32[]",
        "%2 = sum %0, %1 axes [0] : f32[]",
        "%2 = var %0, %1, %1 axes [0] : f32[]",
        "%2 = sum[pax] %0 axes [0] : f32[]",
        "%2 = sum %0 : f32[]",
        "%2 = sum %0 axes 0 : f32[]",
        "%2 = sum %0 axes [-1] : f32[]",
        "%2 = sum %0 axes [0, 0] : f32[]",
        "%2 = sum %0 axes [32] : f32[]",
        "%2 = sum %0 axes [256] : f32[]",
        "%2 = sum %0 axes [0] dtype f* : f32[]",
        "%2 = sum %0 axes [0] dtype f64 keepdims : f64[1]",
        "%2 = iota %0 axes [0] : i64[3]",
        "%2 = literal #0 argument -1 : i*[]",
        "%2 = literal #0 argument 1 : i32[]",
        "slot #0 argument 1",
        "return %1, ",
        "return %5",
        "}",
        "\u{1F600}",
    ];
    let typo = "graph (%0: f32[3]) {\n  %1 = reshpe %0 : f32[3]\n  return %0\n}".parse::<Traced>().unwrap_err();
    assert_eq!(typo.help_text(), Some("did you mean `reshape`?"));
    let errors: Vec<String> = lines.into_iter().map(body).collect();
    assert_snapshot!(errors.join("\n"), @r"
    graph text, line 2, column 8: expected an op, a reduction, a scan, `literal`, `cast`, `view`, `reshape`, `gather`, `scatter`, `slice`, `insert`, `concat`, `iota`, `call`, `while`, `cond`, `scan` or `for`, found `sine %0 : f32[3]`
    graph text, line 2, column 6: results are numbered in order: %2
    graph text, line 2, column 15: %2 is not defined above this line
    graph text, line 2, column 13: 99999999999 is too large
    graph text, line 2, column 15: add takes 2 operands, 1 given
    graph text, line 2, column 12: unknown promotion policy `pax`; known are standard strict jax32 jax32_explicit jax2019 numpy2 numpy2_ml_dtypes numpy1 torch tensorflow tensorflow_np_all tensorflow_np_safe tensorflow_np_legacy ivy_precise ivy_imprecise array_api lax numexpr
    graph text, line 2, column 14: expected `:`, found the end of the line
    graph text, line 2, column 17: expected a dtype, `i*`, `f*` or `c*`, then a shape, found `f33[3]`
    graph text, line 2, column 20: expected `[`, found the end of the line
    graph text, line 2, column 22: expected `,` or `]`, found the end of the line
    graph text, line 2, column 21: 99999999999999999999 is too large
    graph text, line 2, column 21: expected an extent, found `-3]`
    graph text, line 2, column 24: expected the end of the line, found `f32`
    graph text, line 2, column 27: 2 results on the left, 1 types on the right
    graph text, line 2, column 6: expected `=`, found `sin %0`
    graph text, line 2, column 3: expected a result, as in `%2 = …`, or `return`, found `2 = sin %0`
    graph text, line 2, column 15: the header does not say `calls @0`
    graph text, line 2, column 16: expected a slot, as in `#0`, found `2 : i*[]`
    graph text, line 2, column 19: expected a number, or `argument` and a number, found `: i*[]`
    graph text, line 3, column 12: slot #0 is missing
    graph text, line 2, column 19: `2x` is no literal
    graph text, line 2, column 19: literal 300 does not fit u8
    graph text, line 2, column 12: expected a value, as in `%0`, found `axes [0] : f32[]`
    graph text, line 2, column 19: sum takes 1 operands, 2 given
    graph text, line 2, column 23: var takes 2 operands, 3 given
    graph text, line 2, column 12: unknown promotion policy `pax`; known are standard strict jax32 jax32_explicit jax2019 numpy2 numpy2_ml_dtypes numpy1 torch tensorflow tensorflow_np_all tensorflow_np_safe tensorflow_np_legacy ivy_precise ivy_imprecise array_api lax numexpr
    graph text, line 2, column 15: expected `axes`, found `: f32[]`
    graph text, line 2, column 20: expected `[`, found `0 : f32[]`
    graph text, line 2, column 21: expected an axis, found `-1] : f32[]`
    graph text, line 2, column 27: axis 0 is named twice
    graph text, line 2, column 25: there is no axis 32
    graph text, line 2, column 21: 256 is too large
    graph text, line 2, column 30: expected the dtype that was asked for, found `f* : f32[]`
    graph text, line 2, column 34: expected `:`, found `keepdims : f64[1]`
    graph text, line 2, column 13: expected `axes`, found `%0 axes [0] : i64[3]`
    graph text, line 2, column 28: expected the number of an argument, found `-1 : i*[]`
    graph text, line 2, column 37: an argument of another type names it: `argument 0 f* : f32[]`
    graph text, line 2, column 21: expected `i*`, `f*` or `c*`, found the end of the line
    graph text, line 2, column 13: expected a value, as in `%0`, found the end of the line
    graph text, line 2, column 12: %5 is not defined above this line
    graph text, line 2, column 3: expected a result, as in `%2 = …`, or `return`, found `}`
    graph text, line 2, column 3: expected a result, as in `%2 = …`, or `return`, found `😀`
    ");
}

#[test]
fn parser_errors_of_blocks() {
    let texts = [
        "",
        "; nothing but a comment",
        "digraph {}",
        "graph",
        "graph (%0: f32[3]",
        "graph (%1: f32[3]) {",
        "graph (%0: f32[3]) calls @0 {",
        "graph () {",
        "graph () {\n  return",
        "graph () {\n  return\n  return\n}",
        "graph () {\n  return\n}\ngraph () {",
        "child @1 () {\n  return\n}",
        "child @0 () {\n  return\n}",
        "graph (%0: f32[]) {\n  %1 = sin %0 : f32[]\n  %2 = sin %0 : f32[]\n  return\n}",
        "graph () {\n  %0 = literal #0 1 : i*[]\n  %1 = literal #0 2 : i*[]\n  return\n}",
    ];
    let errors: Vec<String> = texts.into_iter().map(parse_error).collect();
    assert_snapshot!(errors.join("\n"), @"
    graph text, line 1: expected `graph (…) {`, found the end
    graph text, line 2: expected `graph (…) {`, found the end
    graph text, line 1, column 1: expected `graph` or `child`, found `digraph {}`
    graph text, line 1, column 6: expected `(`, found the end of the line
    graph text, line 1, column 18: expected `,` or `)`, found the end of the line
    graph text, line 1, column 10: parameters are numbered in order: %0
    graph text, line 1, column 29: child @0 is not known; children come before their callers
    graph text, line 1: the block that begins here has no `return`
    graph text, line 2, column 9: no `}` after `return`
    graph text, line 3, column 3: expected `}`, found `return`
    graph text, line 4, column 1: expected the end, found `graph () {`
    graph text, line 1, column 10: children are numbered in order: @0
    graph text, line 4: expected `graph (…) {`, found the end
    graph text, line 3, column 22: the same node as %1; equal nodes are one
    graph text, line 3, column 27: slot #0 holds something else above
    ");
    let weak = "graph (%0: i*[]) {\n  return\n}";
    assert_snapshot!(weak.parse::<Typed>().unwrap_err(), @"error[parse]: graph text, line 1, column 12: expected a dtype, then a shape, found `i*[]) {`");
}

/// Truncating or changing the text anywhere gives an error or a graph, never a panic.
#[test]
fn damaged_text_never_panics() {
    let text = "child @0 (%0: f32[3]) {\n  %1 = sin %0 : f32[3]\n  return %1\n}\ngraph (%0: f32[3], %1: i8[3]) calls @0 {\n  slot #1 argument 3 f*\n  %2 = literal #0 2 : i*[]\n  %3 = multiply[strict] %1, %2 : i8[3]  ; a.rs:3:20\n  %4 = call @0(%0) : f32[3]\n  %5 = iota axes [0] : i64[3]\n  %6 = sum[numpy2] %5 axes [0] keepdims dtype f64 : f64[1]\n  return %4, %3, %6\n}";
    traced(text).verify().unwrap();
    for at in 0..text.len() {
        for replacement in ["", "9", "%", "[", ",", " ", "\n", "é", "@", "#", "*"] {
            for cut in 0..2 {
                let damaged = format!("{}{replacement}{}", &text[..at], &text[at + cut..]);
                if let Ok(graph) = damaged.parse::<Traced>() {
                    let _ = graph.verify();
                    assert_eq!(traced(&graph.to_string()).to_string(), graph.to_string());
                }
                let _ = damaged.parse::<Typed>().map(|graph| graph.verify());
            }
        }
        let _ = text[..at].parse::<Traced>();
    }
}

/// The facts of the verifier's error on traced text.
fn broken(text: &str) -> String {
    let error = traced(text).verify().expect_err(text);
    assert_eq!(error.code(), ErrorCode::Verify);
    error.facts().join("\n")
}

fn broken_typed(text: &str) -> String {
    let error = typed(text).verify().expect_err(text);
    assert_eq!(error.code(), ErrorCode::Verify);
    error.facts().join("\n")
}

#[test]
fn the_verifier_names_each_broken_invariant_of_traced_graphs() {
    let node = |line: &str| broken(&format!("graph (%0: f32[3], %1: i8[2, 1]) {{\n  {line}\n  return %2\n}}"));
    let facts = [
        node("%2 = add %0, %1 : f32[3]"),
        node("%2 = add %0, %1 : i8[2, 3]"),
        node("%2 = add[strict] %0, %1 : f32[2, 3]"),
        node("%2 = bitwise_and %0, %1 : f32[2, 3]"),
        node("%2 = cast %0 : i8[2]"),
        node("%2 = cast %0 : f*[3]"),
        node("%2 = literal #0 2 : i*[1]"),
        node("%2 = literal #0 2 : f*[]"),
        broken("graph (%0: f32[3], %1: i8[2]) {\n  %2 = add %0, %1 : f32[3]\n  return %2\n}"),
        broken("graph (%0: f32[9223372036854775807, 2]) {\n  return\n}"),
        broken("graph (%0: c128[576460752303423488]) {\n  return\n}"),
    ];
    assert_snapshot!(facts.join("\n"), @r#"
    %2 = add %0, %1 : f32[3]  ; the result's shape is [2, 3], not [3]
    %2 = add %0, %1 : i8[2, 3]  ; the result's type is f32, not i8
    %2 = add[strict] %0, %1 : f32[2, 3]  ; add: the strict policy does not promote f32 and i8
    %2 = bitwise_and %0, %1 : f32[2, 3]  ; bitwise_and: f32 is not supported
    %2 = cast %0 : i8[2]  ; the result's shape is [3], not [2]
    %2 = cast %0 : f*[3]  ; a cast to a weak type
    %2 = literal #0 2 : i*[1]  ; the result's shape is [], not [1]
    %2 = literal #0 2 : f*[]  ; the result's type is i*, not f*
    %2 = add %0, %1 : f32[3]  ; shapes [3] and [2] do not broadcast
    %0 = param 0 : f32[9223372036854775807, 2]  ; shape [9223372036854775807, 2] has more elements than memory can address
    %0 = param 0 : c128[576460752303423488]  ; shape [576460752303423488] needs more bytes than memory can address
    "#);
    let call = |line: &str| {
        let child = "child @0 (%0: f32[3]) {\n  return %0\n}\n";
        broken(&format!("{child}graph (%0: f32[3], %1: i8[3]) calls @0 {{\n  {line}\n  return %2\n}}"))
    };
    let facts = [
        call("%2 = call @0(%1) : f32[3]"),
        call("%2 = call @0(%0, %0) : f32[3]"),
        call("%2 = call @0(%0) : f16[3]"),
        call("%2, %3 = call @0(%0) : f32[3], f32[3]"),
    ];
    assert_snapshot!(facts.join("\n"), @r#"
    %2 = call @0(%1) : f32[3]  ; operand 0 is i8[3], the child's f32[3]
    %2 = call @0(%0, %0) : f32[3]  ; the child has 1 operands, the call 2
    %2 = call @0(%0) : f16[3]  ; result 0 is f16[3], the child's f32[3]
    %2, %3 = call @0(%0) : f32[3], f32[3]  ; the child has 1 results, the call 2
    "#);
}

#[test]
fn the_verifier_names_each_broken_invariant_of_reductions() {
    let node = |line: &str| broken(&format!("graph (%0: i8[2, 0], %1: f32[3], %2: f64[]) {{\n  {line}\n  return\n}}"));
    let facts = [
        node("%3 = sum %1 axes [1] : f32[]"),
        node("%3 = sum %1 axes [0] : f32[3]"),
        node("%3 = sum %1 axes [0] keepdims : f32[]"),
        node("%3 = max %0 axes [1] : i8[2]"),
        node("%3 = argmin %0 axes [0, 1] : i32[]"),
        node("%3 = var %1, %1 axes [0] : f32[]"),
        node("%3 = sum %0 axes [0] : i8[0]"),
        node("%3 = sum[numpy2] %0 axes [0] : i32[0]"),
        node("%3 = mean[torch] %0 axes [0] : f32[0]"),
        node("%3 = sum %1 axes [0] dtype f64 : f32[]"),
        node("%3 = any %1 axes [0] dtype u8 : u8[]"),
        node("%3 = iota axes [1] : i64[3]"),
        node("%3 = iota axes [0] : i32[3]"),
    ];
    assert_snapshot!(facts.join("\n"), @r"
    %3 = sum %1 axes [1] : f32[]  ; axes [1] of an operand of shape [3]
    %3 = sum %1 axes [0] : f32[3]  ; the result's shape is [], not [3]
    %3 = sum %1 axes [0] keepdims : f32[]  ; the result's shape is [1], not []
    %3 = max %0 axes [1] : i8[2]  ; max of no elements
    %3 = argmin %0 axes [0, 1] : i32[]  ; argmin of no elements
    %3 = var %1, %1 axes [0] : f32[]  ; operand %1 is no scalar
    %3 = sum %0 axes [0] : i8[0]  ; the result's type is i32, not i8
    %3 = sum[numpy2] %0 axes [0] : i32[0]  ; the result's type is i64, not i32
    %3 = mean[torch] %0 axes [0] : f32[0]  ; mean: the torch policy does not turn i8 into a float
    %3 = sum %1 axes [0] dtype f64 : f32[]  ; the result's type is f64, not f32
    %3 = any %1 axes [0] dtype u8 : u8[]  ; any: a result of dtype u8 is not supported
    %3 = iota axes [1] : i64[3]  ; axes [1] of shape [3]
    %3 = iota axes [0] : i32[3]  ; the result's type is i64, not i32
    ");
    let typed =
        |line: &str| broken_typed(&format!("graph (%0: i8[2, 0], %1: f16[3], %2: i8[]) {{\n  {line}\n  return\n}}"));
    let facts = [
        typed("%3 = sum %0 axes [0] : i32[0]"),
        typed("%3 = sum %1 axes [0] : f16[]"),
        typed("%3 = any %0 axes [0] : i8[0]"),
        typed("%3 = mean %1 axes [0] : f16[]"),
        typed("%3 = var %1, %2 axes [0] : f16[]"),
        typed("%3 = iota axes [0] : u8[3]"),
    ];
    assert_snapshot!(facts.join("\n"), @r"
    %3 = sum %0 axes [0] : i32[0]  ; operand %0 is i8, the result i32
    %3 = sum %1 axes [0] : f16[]  ; sum does not accumulate f16
    %3 = any %0 axes [0] : i8[0]  ; any does not accumulate i8
    %3 = mean %1 axes [0] : f16[]  ; mean does not accumulate f16
    %3 = var %1, %2 axes [0] : f16[]  ; var does not accumulate f16
    %3 = iota axes [0] : u8[3]  ; indices are i64, not u8
    ");
    // Graphs without a text form.
    let mut graph = Typed::new();
    let x = graph.param(DType::I64, &Shape::from([3]));
    let scalar = graph.intern(&Shape::scalar());
    let axes = AxisSet::new(&[0], 1).unwrap();
    let sum = NodeKind::Reduce(Reduce::new(Reduction::Sum, axes, false));
    graph.add(sum, &[], &[(DType::I64, scalar)]);
    graph.add(sum, &[x, x], &[(DType::I64, scalar)]);
    graph.add(sum, &[x], &[(DType::I64, scalar), (DType::I64, scalar)]);
    graph.add(NodeKind::Iota(AxisSet::NONE), &[x], &[(DType::I64, scalar)]);
    assert_snapshot!(graph.verify().unwrap_err().facts().join("\n"), @r"
    %1 = sum axes [0] : i64[]  ; takes 1 operands, has 0
    %2 = sum %0, %0 axes [0] : i64[]  ; takes 1 operands, has 2
    %3, %4 = sum %0 axes [0] : i64[], i64[]  ; has 2 results instead of 1
    %5 = iota axes [] : i64[]  ; takes 0 operands, has 1
    ");
}

#[test]
fn the_verifier_names_each_broken_invariant_of_typed_graphs() {
    let node = |line: &str| broken_typed(&format!("graph (%0: f32[3], %1: i8[3]) {{\n  {line}\n  return %2\n}}"));
    let facts = [
        node("%2 = add %0, %1 : f32[3]"),
        node("%2 = add %0, %0 : f64[3]"),
        node("%2 = equal %0, %0 : f32[3]"),
        node("%2 = sin %1 : f32[3]"),
        node("%2 = where %0, %0, %0 : f32[3]"),
        node("%2 = literal #0 300 : i8[]"),
        node("%2 = literal #0 2.5 : i8[]"),
        node("%2 = literal #0 argument 0 f* : i8[]"),
        broken_typed(
            "child @0 () {\n  %0 = literal #0 2 : i32[]\n  return %0\n}\ngraph () calls @0 {\n  %0 = call @0() : i32[]\n  return %0\n}",
        ),
    ];
    assert_snapshot!(facts.join("\n"), @r"
    %2 = add %0, %1 : f32[3]  ; operand %1 is i8, add in f32 takes f32
    %2 = add %0, %0 : f64[3]  ; the result's type is f32, not f64
    %2 = equal %0, %0 : f32[3]  ; the result's type is bool, not f32
    %2 = sin %1 : f32[3]  ; sin does not compute in i8
    %2 = where %0, %0, %0 : f32[3]  ; operand %0 is f32, where in f32 takes bool
    %2 = literal #0 300 : i8[]  ; literal 300 does not fit i8
    %2 = literal #0 2.5 : i8[]  ; literal 2.5 does not fit i8
    %2 = literal #0 argument 0 f* : i8[]  ; an argument of type f* becomes i8 by a cast only
    %0 = call @0() : i32[]  ; a call that was not inlined
    ");
}

/// Graphs without a text form, made with `add`.
#[test]
fn the_verifier_names_broken_structure() {
    let f32s = |graph: &mut Typed| (DType::F32, graph.intern(&Shape::from([3])));
    let mut facts = Vec::new();
    let mut check = |make: &dyn Fn(&mut Typed)| {
        let mut graph = Typed::new();
        make(&mut graph);
        let error = graph.verify().unwrap_err();
        facts.push(error.facts().join("\n"));
    };
    let add = NodeKind::Op(Op::Add, ());
    check(&|graph| {
        let ty = f32s(graph);
        graph.add(add, &[Value(7), Value(0)], &[ty]);
    });
    check(&|graph| {
        let x = graph.param(DType::F32, &Shape::from([3]));
        let ty = f32s(graph);
        graph.add(add, &[x], &[ty]);
        graph.add(add, &[x, x], &[ty, ty]);
        graph.add(NodeKind::Cast(()), &[], &[ty]);
        graph.add(NodeKind::Literal(SlotId(3)), &[], &[ty]);
        graph.add(NodeKind::Call(2), &[], &[ty]);
        graph.param(DType::F32, &Shape::from([3]));
        graph.add(NodeKind::Param(9, DType::F32), &[], &[ty]);
        graph.set_outputs(vec![Value(99)]);
    });
    assert_snapshot!(facts.join("\n"), @r#"
    %0 = add %7, %0 : f32[3]  ; operand %7 does not come before the node
    %1 = add %0 : f32[3]  ; takes 2 operands, has 1
    %2, %3 = add %0, %0 : f32[3], f32[3]  ; has 2 results instead of 1
    %4 = cast : f32[3]  ; takes 1 operands, has 0
    %5 = literal #3 unknown : f32[3]  ; slot #3 does not exist
    %6 = call @2() : f32[3]  ; child @2 does not exist
    %7 = param 1 : f32[3]  ; parameter 1 is node 6; parameters are the first nodes, in order
    %8 = param 9 : f32[3]  ; parameter 9 is node 7; parameters are the first nodes, in order
    output %99 does not exist
    2 parameters are listed, not all of the first nodes are parameters
    "#);
}

#[test]
fn many_problems_are_cut_off() {
    let mut graph = Typed::new();
    let mut value = graph.param(DType::F32, &Shape::scalar());
    let shape = graph.intern(&Shape::from([2]));
    for _ in 0..1000 {
        value = graph.add(NodeKind::Cast(()), &[value], &[(DType::F32, shape)]);
        let shape = graph.intern(&Shape::scalar());
        value = graph.add(NodeKind::Cast(()), &[value], &[(DType::F32, shape)]);
    }
    let error = graph.verify().unwrap_err();
    assert_eq!(error.headline(), "typed graph: 20 or more broken invariants");
    assert_eq!(error.facts().len(), 20);
}

/// Equal nodes are one, with the origins of the first.
#[test]
fn nodes_know_what_they_were_made_from() {
    let mut graph = Typed::new();
    let x = graph.param(DType::F32, &Shape::scalar());
    let shape = graph.intern(&Shape::scalar());
    let [first, other] = [7, 9].map(NodeId);
    let mut cast = |from: &[NodeId]| {
        graph.make_from(from);
        let value = graph.add(NodeKind::Cast(()), &[x], &[(DType::F64, shape)]);
        graph.origins(graph.producer(value)).to_vec()
    };
    assert_eq!(cast(&[first]), [first]);
    assert_eq!(cast(&[other]), [first, other]);
    assert_eq!(cast(&[other]), [first, other], "said once");
    assert_eq!(cast(&[]), [first, other], "nothing was said");
    assert!(graph.origins(graph.producer(x)).is_empty());
}
