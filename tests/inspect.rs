//! Stages as pictures, JSON and diffs.

#![cfg(feature = "json")]

use insta::assert_snapshot;
use ndjit::inspect::graph_from_json;
use ndjit::{Array, DType, ErrorCode, Stage, ValueType, jit, keepdims, spec};
use ndjit_ir::graph::Graph;

#[test]
fn graphs_in_dot() {
    let f = jit(|x, y| x + y * 2);
    f.call((&Array::from([1.0f32]), &Array::from([1i8]))).unwrap();
    assert_snapshot!(f.dot(Stage::Simplified).unwrap(), @r#""#);
    let traced = f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [3])]).unwrap().dot().unwrap();
    assert!(traced.contains("tooltip=\"tests/inspect.rs:"), "{traced}");
}

#[test]
fn kernels_and_loops_are_clusters() {
    let f = jit!(|x| {
        let y = x.mt();
        y / y.sum(keepdims(-1))
    });
    let lowered = f.trace(&[spec(DType::F32, [2, 3])]).unwrap().lower().unwrap();
    assert_snapshot!(lowered.dot(Stage::Kernels).unwrap(), @r#""#);
    assert_snapshot!(lowered.dot(Stage::Loops).unwrap(), @r#""#);
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
    assert_snapshot!(f.svg(Stage::Graph).unwrap_err(), @"");
    let lowered = f.trace(&[spec(DType::F32, [3])]).unwrap().lower().unwrap();
    assert_snapshot!(lowered.dot(Stage::Expanded).unwrap_err(), @"");
    let long = jit!(|x| (0..10_001).fold(x, |x, _| x.sin()));
    let traced = long.trace(&[spec(DType::F32, [3])]).unwrap();
    let error = traced.svg().unwrap_err();
    assert_eq!(error.code(), ErrorCode::Size);
    assert_snapshot!(error, @"");
    let long = jit!(|x| (0..9_998).fold(x, |y, _| y.sin() + x));
    drop(long.trace(&[spec(DType::F32, [3])]).unwrap().svg());
}

#[test]
fn json_says_all_of_a_graph() {
    let f = jit(|x, y| x + y * 2);
    let lowered = f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [3])]).unwrap().lower().unwrap();
    assert_snapshot!(lowered.json(Stage::Simplified).unwrap(), @"");
    assert_snapshot!(lowered.json(Stage::Kernels).unwrap(), @"");
    assert_snapshot!(lowered.json(Stage::Loops).unwrap(), @"");
    assert!(lowered.json(Stage::Expanded).unwrap().starts_with("{\"ndjit\":1,\"stage\":\"expanded\",\"text\":\"nest rank 1"));
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
    assert_snapshot!(error("{"), @"");
    assert_snapshot!(error("{\"ndjit\": 2}"), @"");
    assert_snapshot!(error("{\"ndjit\": 1, \"graphs\": [{\"params\": 3}]}"), @"");
    let graph = "{\"ndjit\": 1, \"graphs\": [{\"params\": [{\"value\": 0, \"type\": \"f33\", \"shape\": [3]}], \"calls\": [], \"slots\": [], \
                 \"nodes\": [], \"outputs\": [0]}]}";
    assert_snapshot!(error(graph), @"");
}

#[test]
fn diffs_show_what_really_changed() {
    let f = jit(|x, y| x + y * 2 + 0 * x);
    let lowered = f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [3])]).unwrap().lower().unwrap();
    assert_snapshot!(lowered.diff(Stage::Graph, Stage::Typed), @"");
    assert_snapshot!(lowered.diff(Stage::Typed, Stage::Simplified), @"");
    assert!(lowered.diff(Stage::Loops, Stage::Loops).is_empty());
    let (one, other) = ([spec(DType::F32, [3]), spec(DType::I8, [3])], [spec(DType::F32, [3]), spec(DType::F32, [3])]);
    assert_snapshot!(f.diff(&one, &other, Stage::Loops).unwrap(), @"");
}
