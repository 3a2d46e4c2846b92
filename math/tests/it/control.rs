//! Control flow in texts of graphs: it parses back at any depth; errors have their place.

use insta::assert_snapshot;
use ndjit_ir::graph::{Control, ControlKind, Graph, Inner, MAX_NESTING, NodeKind};
use ndjit_ir::{DType, ErrorCode, Shape, ValueType};
use ndjit_math::interp::{Tensor, eval_graph};
use std::sync::Arc;

type Traced = Graph<ValueType>;

const COUNT: &str = "child @0 (%0: i32[], %1: i32[]) {
  %2 = less %0, %1 : bool[]
  return %2
}
child @1 (%0: i32[]) {
  %1 = literal #0 1_i32 : i32[]
  %2 = add %0, %1 : i32[]
  return %2
}
graph (%0: i32[], %1: i32[]) {
  $0 = while condition @0 of [0, 1] body @1 of [0]
  %2 = while $0 %0, %1 : i32[]
  return %2
}";

fn i32s(value: i32) -> Tensor {
    Tensor { dtype: DType::I32, shape: Shape::scalar(), bytes: value.to_le_bytes().to_vec() }
}

#[test]
fn control_flow_reads_back() {
    let graph: Traced = COUNT.parse().unwrap();
    graph.verify().unwrap();
    assert_eq!((graph.to_string().as_str(), graph.nesting()), (COUNT, 1));
    let typed: Graph<DType> = COUNT.parse().unwrap();
    assert_eq!(typed.to_string(), COUNT);
    assert_eq!(eval_graph(&typed, &[i32s(3), i32s(7)], &[]).unwrap(), [i32s(7)]);
    assert_eq!(eval_graph(&typed, &[i32s(9), i32s(7)], &[]).unwrap(), [i32s(9)]);
}

/// A graph shared by several control flows is one block, and parses back as one.
#[test]
fn shared_graphs_are_printed_once() {
    let mut same = Traced::new();
    let x = same.param(DType::F32.into(), &Shape::scalar());
    same.set_outputs(vec![x]);
    let inner = Inner { graph: Arc::new(same), operands: vec![1] };
    let mut graph = Traced::new();
    let condition = graph.param(DType::Bool.into(), &Shape::scalar());
    let x = graph.param(DType::F32.into(), &Shape::scalar());
    let scalar = graph.intern(&Shape::scalar());
    let mut outputs = Vec::new();
    for _ in 0..2 {
        let control = Control { kind: ControlKind::Cond, graphs: vec![inner.clone(), inner.clone()] };
        let number = graph.control(Arc::new(control));
        outputs.push(graph.add(NodeKind::Control(number), &[condition, x], &[(DType::F32.into(), scalar)]));
    }
    graph.set_outputs(outputs);
    graph.verify().unwrap();
    assert_snapshot!(graph, @"
    child @0 (%0: f32[]) {
      return %0
    }
    graph (%0: bool[], %1: f32[]) {
      $0 = cond true @0 of [1] false @0 of [1]
      $1 = cond true @0 of [1] false @0 of [1]
      %2 = cond $0 %0, %1 : f32[]
      %3 = cond $1 %0, %1 : f32[]
      return %2, %3
    }
    ");
    assert_eq!(graph.to_string().parse::<Traced>().unwrap().to_string(), graph.to_string());
}

/// Expansion is counted by operands, each list once: not by a hash, for which a text could have lists with equal ones.
#[test]
fn control_flow_counts_once_for_each_list_of_operands() {
    let (branch, scalar) = ("graph (%0: bool[], %1: f32[]) {\n  %2 = sin %1 : f32[]\n  return %2\n}", Shape::scalar());
    let inner = Inner { graph: Arc::new(branch.parse::<Traced>().unwrap()), operands: vec![0, 1] };
    let own = inner.graph.node_count();
    let mut graph = Traced::new();
    let conditions: Vec<_> = (0..40).map(|_| graph.param(DType::Bool.into(), &scalar)).collect();
    let numbers: Vec<_> = (0..40).map(|_| graph.param(DType::F32.into(), &scalar)).collect();
    let number = graph.control(Arc::new(Control { kind: ControlKind::Cond, graphs: vec![inner.clone(), inner] }));
    let shape = graph.intern(&scalar);
    // Each list stands here twice, the second time after all others.
    for _ in 0..2 {
        for (&condition, &x) in conditions.iter().flat_map(|condition| numbers.iter().map(move |x| (condition, x))) {
            graph.add(NodeKind::Control(number), &[condition, x], &[(DType::F32.into(), shape)]);
        }
    }
    assert_eq!(graph.expanded() - graph.node_count(), 40 * 40 * 2 * own);
}

/// Branches nested to this depth.
fn nested(deep: usize) -> String {
    let mut text = "child @0 (%0: bool[], %1: i32[]) {\n  return %1\n}\n".to_owned();
    for n in 0..deep {
        let header = if n + 1 < deep { format!("child @{} ", n + 1) } else { "graph ".to_owned() };
        text += &header;
        text += "(%0: bool[], %1: i32[]) {\n";
        text += &format!("  $0 = cond true @{n} of [0, 1] false @{n} of [0, 1]\n");
        text += "  %2 = cond $0 %0, %1 : i32[]\n  return %2\n}\n";
    }
    text.trim_end().to_owned()
}

#[test]
fn control_flow_nests_so_deep_and_no_deeper() {
    let text = nested(MAX_NESTING);
    let graph: Traced = text.parse().unwrap();
    graph.verify().unwrap();
    assert_eq!((graph.nesting(), graph.to_string()), (MAX_NESTING, text));
    let typed: Graph<DType> = graph.to_string().parse().unwrap();
    let yes = Tensor { dtype: DType::Bool, shape: Shape::scalar(), bytes: vec![1] };
    assert_eq!(eval_graph(&typed, &[yes, i32s(5)], &[]).unwrap(), [i32s(5)]);
    assert_snapshot!(nested(1000).parse::<Traced>().unwrap_err(), @"error[parse]: graph text, line 165, column 22: control flow nests 33 deep; the limit is 32");
    // Calls between count nothing.
    let mut text = "child @0 () {\n  return\n}\n".to_owned();
    for n in 1..1000 {
        text += &match n % 3 {
            0 => format!("child @{n} () {{\n  $0 = while condition @{} of [] body @0 of []\n  return\n}}\n", n - 1),
            _ => format!("child @{n} () calls @{} {{\n  return\n}}\n", n - 1),
        };
    }
    assert_snapshot!(text.parse::<Traced>().unwrap_err(), @"error[parse]: graph text, line 331, column 28: control flow nests 33 deep; the limit is 32");
    // The same when built directly: the verifier refuses it.
    let mut graph: Traced = nested(MAX_NESTING).parse().unwrap();
    let inner = Inner { graph: Arc::new(graph.clone()), operands: vec![0, 1] };
    graph.control(Arc::new(Control { kind: ControlKind::Cond, graphs: vec![inner.clone(), inner] }));
    assert_eq!(graph.verify().unwrap_err().facts(), ["control flow stands more than 32 deep in control flow"]);
}

/// The errors of texts with one fault each.
fn errors(changes: &[(&str, &str)], read: impl Fn(&str) -> String) -> String {
    let error = |&(right, wrong): &(&str, &str)| {
        assert!(COUNT.contains(right), "{right}");
        read(&COUNT.replacen(right, wrong, 1)) + "\n"
    };
    changes.iter().map(error).collect()
}

#[test]
fn errors_of_the_parser_say_where() {
    let changes = [
        ("$0 = while", "$1 = while"),
        ("$0 = while", "$0 = until"),
        ("$0 = while condition", "$0 = while body"),
        ("condition @0", "condition @7"),
        ("condition @0", "condition %0"),
        ("@0 of [0, 1]", "@0 [0, 1]"),
        ("@0 of [0, 1]", "@0 of [0, %1]"),
        ("@0 of [0, 1]", "@0 of [0, 99999999999]"),
        ("body @1 of [0]", "body @1 of [0] and more"),
        ("  $0 = while condition @0 of [0, 1] body @1 of [0]\n", ""),
        ("while $0 %0", "while $1 %0"),
        ("while $0 %0", "while 0 %0"),
        ("while $0 %0", "cond $0 %0"),
        ("$0 %0", "$0 result 0 %0"),
        ("$0 %0, %1", "$0"),
        ("$0 %0, %1", "$0 %0, %9"),
        ("%2 = while $0", "%2 = whiel $0"),
    ];
    assert_snapshot!(errors(&changes, |text| text.parse::<Traced>().unwrap_err().headline().to_owned()), @"
    graph text, line 11, column 6: numbers are in order: the next one is `$0`
    graph text, line 11, column 8: expected `while`, `cond`, `scan` or `for`, found `until condition @0 of [0`
    graph text, line 11, column 14: expected `condition`, found `body @0 of [0, 1] body @`
    graph text, line 11, column 27: child @7 is not known; children come before their callers
    graph text, line 11, column 24: expected a child, as in `@0`, found `%0 of [0, 1] body @1 of `
    graph text, line 11, column 27: expected `of`, found `[0, 1] body @1 of [0]`
    graph text, line 11, column 34: expected the position of an operand, found `%1] body @1 of [0]`
    graph text, line 11, column 34: 99999999999 is too large
    graph text, line 11, column 52: expected the end of the line, found `and more`
    graph text, line 11, column 17: $0 is not defined above this line
    graph text, line 12, column 17: $1 is not defined above this line
    graph text, line 12, column 14: expected control flow, as in `$0`, found `0 %0, %1 : i32[]`
    graph text, line 12, column 16: $0 is a while
    graph text, line 12, column 17: expected a value, as in `%0`, found `result 0 %0, %1 : i32[]`
    graph text, line 12, column 17: expected a value, as in `%0`, found `: i32[]`
    graph text, line 12, column 24: %9 is not defined above this line
    graph text, line 12, column 8: expected an op, a reduction, a scan, `literal`, `cast`, `view`, `reshape`, `gather`, `scatter`, `slice`, `insert`, `concat`, `iota`, `call`, `while`, `cond`, `scan` or `for`, found `whiel $0 %0, %1 : i32[]`
    ");
}

#[test]
fn the_verifier_names_what_does_not_fit() {
    let changes = [
        ("[0, 1] body", "[0] body"),
        ("[0, 1] body", "[0, 2] body"),
        ("(%0: i32[], %1: i32[]) {\n  $0", "(%0: i32[], %1: i64[]) {\n  $0"),
        ("  %2 = less %0, %1 : bool[]\n  return %2", "  return %0"),
        ("  return %2\n}\ngraph", "  return %2, %2, %2\n}\ngraph"),
        ("%2 = while $0 %0, %1 : i32[]", "%2, %3 = while $0 %0, %1 : i32[], i32[]"),
        ("%0, %1 : i32[]\n  return", "%0, %1 : i64[]\n  return"),
        (
            "child @0 (%0: i32[], %1: i32[]) {\n",
            "child @0 (%0: i32[], %1: i32[]) {\n  slot #0 argument 0 f*\n  slot #1 argument 0 i*\n",
        ),
        ("add %0, %1 : i32[]", "add %0, %1 : i32[3]"),
    ];
    let refused = |text: &str| {
        let error = text.parse::<Graph<DType>>().unwrap().verify().expect_err(text);
        assert_eq!(error.code(), ErrorCode::Verify);
        error.facts().join(" | ")
    };
    assert_snapshot!(errors(&changes, refused), @"
    %2 = while $0 %0, %1 : i32[]  ; the graph `condition` has 2 parameters, and takes 1
    %2 = while $0 %0, %1 : i32[]  ; the graph `condition` takes operand 2 of 2
    %2 = while $0 %0, %1 : i32[]  ; operand 1 is i64[], the graph `condition` takes i32[]
    %2 = while $0 %0, %1 : i32[]  ; the condition is not one bool
    %2 = while $0 %0, %1 : i32[]  ; the body gives otherwise than it takes
    %2, %3 = while $0 %0, %1 : i32[], i32[]  ; the last graph has 1 results, the node 2
    %2 = while $0 %0, %1 : i32[]  ; the body gives otherwise than it takes | %2 = add %0, %1 : i64[]  ; the result's type is i32, not i64
    argument 0 is f* here and i* elsewhere
    %2 = while $0 %0, %1 : i32[]  ; the body gives otherwise than it takes | %2 = add %0, %1 : i32[3]  ; the result's shape is [], not [3]
    ");
    let cond = COUNT.replace("while condition", "cond true").replace("body", "false").replace("while", "cond");
    assert_snapshot!(refused(&cond), @"%2 = cond $0 %0, %1 : i32[]  ; the first operand is not one bool");
    let differing = "child @0 (%0: f32[]) {\n  return %0\n}\nchild @1 () {\n  return\n}\ngraph (%0: bool[], %1: f32[]) {\n  \
                     $0 = cond true @0 of [1] false @1 of []\n  %2 = cond $0 %0, %1 : f32[]\n  return %2\n}";
    assert_snapshot!(refused(differing), @"%2 = cond $0 %0, %1 : f32[]  ; the graphs for true and for false give different types");
}

/// A number passed at each call is the same one in graphs of control flow.
#[test]
fn numbers_are_passed_to_graphs_of_control_flow() {
    let text = COUNT.replace("literal #0 1_i32 : i32[]", "literal #0 argument 2 i* : i32[]");
    let typed: Graph<DType> = text.parse().unwrap();
    typed.verify().unwrap();
    assert_eq!(typed.to_string(), text);
    assert_eq!(typed.numbers().into_iter().collect::<Vec<_>>(), [(2, ndjit_ir::Weak::Int)]);
    let steps = [(2, ndjit_ir::Literal::weak(3))];
    assert_eq!(eval_graph(&typed, &[i32s(3), i32s(7)], &steps).unwrap(), [i32s(9)]);
    assert_eq!(eval_graph(&typed, &[i32s(3), i32s(7)], &[]).unwrap_err().code(), ErrorCode::Argument);
}

/// Truncating or changing the text anywhere gives an error or a graph, never a panic.
#[test]
fn damaged_text_never_panics() {
    for at in 0..COUNT.len() {
        for replacement in ["", "9", "$", "@", "[", ",", "\n", "é"] {
            for cut in 0..2 {
                let damaged = format!("{}{replacement}{}", &COUNT[..at], &COUNT[at + cut..]);
                if let Ok(graph) = damaged.parse::<Traced>() {
                    let _ = graph.verify();
                    assert_eq!(graph.to_string().parse::<Traced>().unwrap().to_string(), graph.to_string());
                }
                let _ = damaged.parse::<Graph<DType>>().map(|graph| graph.verify());
            }
        }
    }
}
