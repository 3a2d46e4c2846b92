//! Shrinking of failing graphs.

use ndjit::debug::{disagreement, shrink, write_graph};
use ndjit::{Array, ErrorCode, Stage, exp, jit, keepdims, sqrt};

fn example() -> String {
    let f = jit(|x: ndjit::Expr, y: ndjit::Expr| {
        let shares = x / x.sum(keepdims(-1));
        let moved = ndjit::concat([&shares.mt(), &shares.mt()], 0);
        (exp(moved) * 2, ndjit::cumulative_sum(sqrt(y + 1) - x, 1), y.mean(..))
    });
    let x = Array::from_shape_vec([5, 7], vec![1.5f64; 35]).unwrap();
    f.call((&x, &x)).unwrap();
    f.explain(Stage::Graph)
}

#[test]
fn what_fails_is_left() {
    let graph = example();
    let small = |word: &'static str| shrink(&graph, move |text| text.contains(word)).unwrap();
    insta::assert_snapshot!(small("cumulative_sum"), @r"
    graph (%0: f32[1, 1]) {
      %1 = cumulative_sum %0 axis 1 : f32[1, 1]
      return %1
    }
    ");
    insta::assert_snapshot!(small("concat"), @r"
    graph (%0: f32[1, 1]) {
      %1 = concat %0, %0 axis 0 : f32[2, 1]
      return %1
    }
    ");
    insta::assert_snapshot!(small("mean"), @r"
    graph (%0: f32[1, 1]) {
      %1 = mean %0 axes [0, 1] : f32[]
      return %1
    }
    ");
    let both = shrink(&graph, |text| text.contains("exp %") && text.contains("sum %")).unwrap();
    insta::assert_snapshot!(both, @r"
    graph (%0: f32[1, 1]) {
      %1 = sum %0 axes [1] keepdims : f32[1, 1]
      %2 = concat %1, %1 axis 0 : f32[2, 1]
      %3 = exp %2 : f32[2, 1]
      return %3
    }
    ");
    let wide = shrink(&graph, |text| text.contains("7]")).unwrap();
    insta::assert_snapshot!(wide, @r"
    graph (%0: f32[1, 7]) {
      return %0
    }
    ");
}

#[test]
fn every_graph_that_is_tried_runs() {
    let graph = example();
    let mut tried = 0;
    shrink(&graph, |text| {
        tried += 1;
        assert_eq!(disagreement(text, 7).unwrap(), None, "{text}");
        text.contains("sqrt")
    })
    .unwrap();
    assert!(tried > 10, "{tried}");
}

#[test]
fn a_graph_that_does_not_fail_or_is_none_is_an_error() {
    let error = shrink(&example(), |_| false).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Argument);
    assert_eq!(shrink("graph (", |_| true).unwrap_err().code(), ErrorCode::Parse);
    let wrong = "graph (%0: f32[3], %1: f32[4]) {\n  %2 = add %0, %1 : f32[3]\n  return %2\n}";
    assert_eq!(shrink(wrong, |_| true).unwrap_err().code(), ErrorCode::Verify);
    assert_eq!(disagreement(wrong, 0).unwrap_err().code(), ErrorCode::Verify);
}

#[test]
fn files_parse_back() {
    let graph = shrink(&example(), |text| text.contains("exp")).unwrap();
    let path = std::env::temp_dir().join(format!("ndjit-shrink-{}.graph", std::process::id()));
    write_graph(&path, "Found by a test.\nIn two lines.", &graph).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(text.starts_with("; Found by a test.\n; In two lines.\ngraph ("), "{text}");
    assert_eq!(shrink(&text, |text| text.contains("exp")).unwrap(), graph, "it is as small as it gets");
    assert_eq!(write_graph("no such folder/x.graph", "", &graph).unwrap_err().code(), ErrorCode::Io);
}
