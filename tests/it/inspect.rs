//! Stages as pictures, JSON and diffs.

use insta::assert_snapshot;
use ndjit::inspect::graph_from_json;
use ndjit::{Array, DType, ErrorCode, Expr, Stage, ValueType, cumulative_sum, exp, jit, keepdims, spec, sum, tanh};
use ndjit_ir::graph::Graph;

#[test]
fn graphs_in_dot() {
    let f = jit(|x, y| x + y * 2);
    f.call((&Array::from([1.0f32]), &Array::from([1i8]))).unwrap();
    assert_snapshot!(f.dot(Stage::Simplified).unwrap(), @r##"
    digraph "simplified" {
      node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11]
      n0_0 [label="argument 0\n%0 : f32[1]", fillcolor="#fdeacb", color="#b8720b"]
      n0_1 [label="argument 1\n%1 : i8[1]", fillcolor="#d3efe9", color="#1d7f6e"]
      n0_2 [label="multiply %1, 2\n%3 : i8[1]", fillcolor="#d3efe9", color="#1d7f6e"]
      n0_3 [label="cast %3\n%4 : f32[1]", fillcolor="#fdeacb", color="#b8720b"]
      n0_4 [label="add %0, %4\n%5 : f32[1]\n→ result 0", fillcolor="#fdeacb", color="#b8720b", penwidth=2]
      n0_1 -> n0_2
      n0_2 -> n0_3
      n0_0 -> n0_4
      n0_3 -> n0_4
    }
    "##);
    let traced = f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [3])]).unwrap().dot().unwrap();
    assert!(traced.contains("tooltip=\"tests/it/inspect.rs:"), "{traced}");
}

#[test]
fn kernels_and_loops_are_clusters() {
    let f = jit!(|x| {
        let y = x.mt();
        y / y.sum(keepdims(-1))
    });
    let lowered = f.trace(&[spec(DType::F32, [2, 3])]).unwrap().lower().unwrap();
    assert_snapshot!(lowered.dot(Stage::Kernels).unwrap(), @r##"
    digraph "kernels" {
      node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11]
      n0_0 [label="argument 0\n%0 : f32[2, 3]", fillcolor="#fdeacb", color="#b8720b"]
      subgraph cluster_1 {
        label="step 0 [3, 2] reduces axes [1]"
        n1_0 [label="in0 = %1\nt0 : f32[3, 2]", fillcolor="#fdeacb", color="#b8720b"]
        n1_1 [label="out0 = sum t0\n→ %2", fillcolor="#fdeacb", color="#b8720b", penwidth=2]
        n1_0 -> n1_1
      }
      subgraph cluster_2 {
        label="step 1 [3, 2]"
        n2_0 [label="in0 = %1\nt0 : f32[3, 2]", fillcolor="#fdeacb", color="#b8720b"]
        n2_1 [label="in1 = %3\nt1 : f32[3, 1]", fillcolor="#fdeacb", color="#b8720b"]
        n2_2 [label="divide t0, t1\nt2 : f32", fillcolor="#fdeacb", color="#b8720b"]
        n2_3 [label="out0 = t2\n→ %4\n→ result 0", fillcolor="#fdeacb", color="#b8720b", penwidth=2]
        n2_0 -> n2_2
        n2_1 -> n2_2
        n2_2 -> n2_3
      }
      n0_0 -> n1_0
      n0_0 -> n2_0
      n1_1 -> n2_1
    }
    "##);
    assert_snapshot!(lowered.dot(Stage::Loops).unwrap(), @r##"
    digraph "loops" {
      node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11]
      n0_0 [label="argument 0\n%0 : f32[2, 3]", fillcolor="#fdeacb", color="#b8720b"]
      subgraph cluster_1 {
        label="nest 0: for i0 reduce i1 of 3, 2"
        n1_0 [label="in0 = %0\nt0 : f32 contiguous", fillcolor="#fdeacb", color="#b8720b"]
        n1_1 [label="out0 = sum t0\n→ %2 contiguous", fillcolor="#fdeacb", color="#b8720b", penwidth=2]
        n1_0 -> n1_1
      }
      subgraph cluster_2 {
        label="nest 1: for i0, i1 of 3, 2"
        n2_0 [label="in0 = %0\nt0 : f32 strided", fillcolor="#fdeacb", color="#b8720b"]
        n2_1 [label="in1 = %2\nt1 : f32 broadcast", fillcolor="#fdeacb", color="#b8720b"]
        n2_2 [label="divide t0, t1\nt2 : f32", fillcolor="#fdeacb", color="#b8720b"]
        n2_3 [label="out0 = store t2\n→ %4 contiguous\n→ result 0", fillcolor="#fdeacb", color="#b8720b", penwidth=2]
        n2_0 -> n2_2
        n2_1 -> n2_2
        n2_2 -> n2_3
      }
      n0_0 -> n1_0
      n0_0 -> n2_0
      n1_1 -> n2_1
    }
    "##);
}

/// Boxes of an SVG: left, top, right, bottom.
fn boxes(svg: &str) -> Vec<[f64; 4]> {
    let number = |text: &str, name: &str| -> f64 {
        text.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0.parse().unwrap()
    };
    let rects = svg.split("<g>").skip(1).map(|node| node.split_once("<rect").unwrap().1);
    let corners = rects.map(|r| [number(r, "x"), number(r, "y"), number(r, "width"), number(r, "height")]);
    corners.map(|[x, y, w, h]| [x, y, x + w, y + h]).collect()
}

#[test]
fn boxes_do_not_overlap() {
    let softmax = jit!(|x| {
        let e = (x - x.max(keepdims(-1))).exp();
        e / e.sum(keepdims(-1))
    });
    let lowered = softmax.trace(&[spec(DType::I16, [4, 300])]).unwrap().lower().unwrap();
    for stage in [Stage::Graph, Stage::Typed, Stage::Simplified, Stage::Kernels, Stage::Loops] {
        let svg = lowered.svg(stage).unwrap();
        let boxes = boxes(&svg);
        assert!(boxes.len() > 4, "{}: {} boxes", stage.name(), boxes.len());
        for (n, a) in boxes.iter().enumerate() {
            for b in &boxes[..n] {
                let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                assert!(apart, "{}: {a:?} and {b:?}", stage.name());
            }
        }
        assert_eq!(svg.matches("<g>").count(), svg.matches("</g>").count());
        assert!(svg.ends_with("</svg>\n"));
    }
}

#[test]
fn what_is_not_drawn_is_an_error() {
    let f = jit!(|x| x + 1);
    assert_snapshot!(f.svg(Stage::Graph).unwrap_err(), @"
    error[argument]: explain: the function was not called yet
      help: call it, or ask for a signature: `f.trace(&[spec(DType::F32, [3])])?.lower()?`
    ");
    assert_eq!(f.explain(Stage::Graph), f.svg(Stage::Graph).unwrap_err().to_string(), "text says the same");
    let lowered = f.trace(&[spec(DType::F32, [3])]).unwrap().lower().unwrap();
    assert_snapshot!(lowered.dot(Stage::Expanded).unwrap_err(), @"
    error[argument]: picture: the stage expanded is not drawn
      drawn are: graph typed simplified kernels loops
      help: read its text, which `explain` gives
    ");
    let long = jit!(|x| (0..10_001).fold(x, |x, _| x.sin()));
    let traced = long.trace(&[spec(DType::F32, [3])]).unwrap();
    let error = traced.svg().unwrap_err();
    assert_eq!(error.code(), ErrorCode::Size);
    assert_snapshot!(error, @"
    error[size]: picture: 10002 nodes are too many to draw
      limit: 10000 nodes
      help: read the stage's text, or draw a part of the function
    ");
    let long = jit!(|x| (0..9_998).fold(x, |y, _| y.sin() + x));
    drop(long.trace(&[spec(DType::F32, [3])]).unwrap().svg());
}

#[test]
fn json_says_all_of_a_graph() {
    let f = jit(|x, y| x + y * 2);
    let lowered = f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [3])]).unwrap().lower().unwrap();
    assert_snapshot!(lowered.json(Stage::Simplified).unwrap(), @r#"{"graphs":[{"calls":[],"nodes":[{"kind":"literal","operands":[],"results":[{"shape":[],"type":"i8","value":2}],"slot":0},{"kind":"multiply","operands":[1,2],"results":[{"shape":[3],"type":"i8","value":3}]},{"kind":"cast","operands":[3],"results":[{"shape":[3],"type":"f32","value":4}]},{"kind":"add","operands":[0,4],"results":[{"shape":[3],"type":"f32","value":5}]}],"outputs":[5],"params":[{"shape":[3],"type":"f32","value":0},{"shape":[3],"type":"i8","value":1}],"slots":[{"literal":"2"}]}],"ndjit":1,"stage":"simplified"}"#);
    assert_snapshot!(lowered.json(Stage::Kernels).unwrap(), @r#"{"kernels":[{"inputs":[1,0],"literals":[0],"outputs":[5],"shape":[3],"text":"kernel [3] {\n  in0 = %1 : i8[3]\n  in1 = %0 : f32[3]\n  l0 = #0 : i8\n  t0 = load in0 : i8\n  t1 = literal l0 : i8\n  t2 = multiply t0, t1 : i8\n  t3 = cast t2 : f32\n  t4 = load in1 : f32\n  t5 = add t4, t3 : f32\n  out0 = t5 -> %5\n}"}],"ndjit":1,"stage":"kernels"}"#);
    assert_snapshot!(lowered.json(Stage::Loops).unwrap(), @r#"{"ndjit":1,"nests":[{"extents":[3],"inputs":[1,0],"literals":[0],"outputs":[5],"text":"nest rank 1 {\n  in0: i8 contiguous, in1: f32 contiguous\n  literals: l0 i8\n  out0: f32 contiguous\n  for i0 {\n    t0 = load in0 : i8\n    t1 = literal l0 : i8\n    t2 = multiply t0, t1 : i8\n    t3 = cast t2 : f32\n    t4 = load in1 : f32\n    t5 = add t4, t3 : f32\n    store out0, t5\n  }\n}\ndomain [3] {\n  in0: offset 0, strides [1]\n  in1: offset 0, strides [4]\n  out0: offset 0, strides [4]\n}"}],"stage":"loops"}"#);
    assert!(
        lowered
            .json(Stage::Expanded)
            .unwrap()
            .starts_with("{\"ndjit\":1,\"stage\":\"expanded\",\"text\":\"nest rank 1")
    );
}

#[test]
fn graphs_come_back_from_json() {
    let inner = jit(|x, y| (x + y, x * 0.5));
    let f = jit!(move |x, y| {
        let (a, b) = inner.inline((x, y));
        let s = ndjit::concat([a.cumulative_sum(0), b.slice(..)], 0).reshape([3, 2]).mt();
        (s.sum(keepdims(0)), ndjit::dtype(DType::F64).mean(s, 1), x + ndjit::arange(3), x.cast(DType::I8))
    });
    let traced = f.trace(&[spec(DType::F16, [3]), spec(ValueType::Weak(ndjit::Weak::Float), [3])]).unwrap();
    let json = traced.json();
    let graph: Graph<ValueType> = graph_from_json(&json).unwrap_or_else(|error| panic!("{error}\n{json}"));
    assert!(json.contains("\"call\""), "{json}");
    let lowered = traced.lower().unwrap();
    graph.verify().unwrap();
    let inlined: Graph<ValueType> = graph_from_json(&lowered.json(Stage::Graph).unwrap()).unwrap();
    let text: Graph<ValueType> = lowered.explain(Stage::Graph).parse().unwrap();
    assert_eq!(inlined.to_string(), text.to_string());
    for stage in [Stage::Typed, Stage::Simplified] {
        let graph: Graph<DType> = graph_from_json(&lowered.json(stage).unwrap()).unwrap();
        let text: Graph<DType> = lowered.explain(stage).parse().unwrap();
        assert_eq!(graph.to_string(), text.to_string());
    }
}

#[test]
fn what_is_no_graph_is_refused() {
    let error = |text: &str| graph_from_json::<DType>(text).unwrap_err().to_string();
    assert_snapshot!(error("{"), @"
    error[parse]: graph_from_json: EOF while parsing an object at line 1 column 1
      help: pass what `json` gave of a graph
    ");
    assert_snapshot!(error("{\"ndjit\": 2}"), @r#"
    error[parse]: graph_from_json: not a document of version 1
      "ndjit": 2
      help: pass what `json` gave of a graph
    "#);
    assert_snapshot!(error("{\"ndjit\": 1, \"graphs\": [{\"params\": 3}]}"), @"
    error[parse]: graph_from_json: graph 0 is not as the form says
      help: pass what `json` gave of a graph
    ");
    let graph = "{\"ndjit\": 1, \"graphs\": [{\"params\": [{\"value\": 0, \"type\": \"f33\", \"shape\": [3]}], \"calls\": [], \"slots\": [], \
                 \"nodes\": [], \"outputs\": [0]}]}";
    assert_snapshot!(error(graph), @"error[parse]: graph_from_json: graph text, line 1, column 12: expected a dtype, then a shape, found `f33[3]) {`");
}

#[test]
fn diffs_show_what_really_changed() {
    let f = jit!(|x, y| {
        let negated = -x;
        y * 2 - -negated * 3
    });
    let lowered = f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [3])]).unwrap().lower().unwrap();
    assert_snapshot!(lowered.diff(Stage::Graph, Stage::Typed), @"
    --- graph
    +++ typed
    @@ -1,10 +1,11 @@
     graph (%0: f32[3], %1: i8[3]) {
       %2 = negative %0 : f32[3]
    -  %3 = literal #0 2 : i*[]
    +  %3 = literal #0 2 : i8[]
       %4 = multiply %1, %3 : i8[3]
       %5 = negative %2 : f32[3]
    -  %6 = literal #1 3 : i*[]
    +  %6 = literal #1 3 : f32[]
       %7 = multiply %5, %6 : f32[3]
    -  %8 = subtract %4, %7 : f32[3]
    +  %9 = cast %4 : f32[3]
    +  %8 = subtract %9, %7 : f32[3]
       return %8
     }
    ");
    assert_snapshot!(lowered.diff(Stage::Typed, Stage::Simplified), @"
    --- typed
    +++ simplified
    @@ -1,10 +1,8 @@
     graph (%0: f32[3], %1: i8[3]) {
    -  %2 = negative %0 : f32[3]
       %3 = literal #0 2 : i8[]
       %4 = multiply %1, %3 : i8[3]
    -  %5 = negative %2 : f32[3]
       %6 = literal #1 3 : f32[]
    -  %7 = multiply %5, %6 : f32[3]
    +  %7 = multiply %0, %6 : f32[3]
       %8 = cast %4 : f32[3]
       %9 = subtract %8, %7 : f32[3]
       return %9
    ");
    assert!(lowered.diff(Stage::Loops, Stage::Loops).is_empty());
    let (one, other) = ([spec(DType::F32, [3]), spec(DType::I8, [3])], [spec(DType::F32, [3]), spec(DType::F32, [3])]);
    assert_snapshot!(f.diff(&one, &other, Stage::Loops).unwrap(), @"
    --- loops (f32[3], i8[3])
    +++ loops (f32[3], f32[3])
    @@ -1,21 +1,20 @@
     nest rank 1 {
    -  in0: i8 contiguous, in1: f32 contiguous
    -  literals: l0 i8, l1 f32
    +  in0: f32 contiguous, in1: f32 contiguous
    +  literals: l0 f32, l1 f32
       out0: f32 contiguous
       for i0 {
    -    t0 = load in0 : i8
    -    t1 = literal l0 : i8
    -    t2 = multiply t0, t1 : i8
    +    t0 = load in0 : f32
    +    t1 = literal l0 : f32
    +    t2 = multiply t0, t1 : f32
         t3 = load in1 : f32
         t4 = literal l1 : f32
         t5 = multiply t3, t4 : f32
    -    t6 = cast t2 : f32
    -    t7 = subtract t6, t5 : f32
    -    store out0, t7
    +    t6 = subtract t2, t5 : f32
    +    store out0, t6
       }
     }
     domain [3] {
    -  in0: offset 0, strides [1]
    +  in0: offset 0, strides [4]
       in1: offset 0, strides [4]
       out0: offset 0, strides [4]
     }
    ");
}

/// A displacement or an immediate equal to a label's number is not replaced.
#[test]
#[cfg(feature = "disassembler")]
fn only_jumps_name_labels() {
    let f = jit(|x: Expr, y: Expr| (exp(x) * 2 + y, sum(tanh(x * y), ..), cumulative_sum(x, 0)));
    let x = Array::from((0..999).map(|n| n as f32).collect::<Vec<f32>>());
    f.call((&x, &x)).unwrap();
    let code = f.explain(Stage::Assembly);
    let instructions: Vec<&str> = code.lines().filter(|line| line.starts_with("    ")).collect();
    assert!(instructions.iter().any(|line| line.contains("block")), "{code}");
    for line in instructions.into_iter().filter(|line| line.contains("block")) {
        assert!(line.trim_start().starts_with('j'), "{line}");
    }
}
