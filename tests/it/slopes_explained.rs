//! The differentiated operation in the output of derivatives, in each format.

use ndjit::{Array, DType, Expr, Stage, debug, grad, jit, jvp, sin, spec, sqrt, sum};

#[test]
fn dumps_say_of_whose_slope_a_node_is() {
    let f = jit(grad(|x: Expr| sum(sin(x) * x, ..)));
    f.call((&Array::from([0.5f32, 2.0]),)).unwrap();
    let text = f.explain(Stage::Graph);
    let line = |operation: &str| {
        let found = text.lines().find(|line| line.contains(operation));
        found.unwrap_or_else(|| panic!("{operation} is not in\n{text}")).to_owned()
    };
    assert!(line("= cos ").contains("slope of sin at tests/it/slopes_explained.rs:"), "{text}");
    assert!(line("= sin ").contains("; tests/it/slopes_explained.rs:"), "{text}");
    // For second slopes it is the written operation.
    let second = jit(grad(grad(|x: Expr| sin(x))));
    second.call((&Array::from(0.5f32),)).unwrap();
    assert!(second.explain(Stage::Graph).contains(": f32[]  ; slope of sin at "), "{}", second.explain(Stage::Graph));
}

#[test]
fn explanations_name_what_was_written() {
    let f = jit(|x: Expr| jvp(|x: Expr| sqrt(x), x, x).1);
    let traced = f.trace(&[spec(DType::F32, [2])]).unwrap();
    let explained = traced.explain_dtype(0).unwrap().to_string();
    assert!(explained.contains("in the slope of `sqrt(x)` at tests/it/slopes_explained.rs:"), "{explained}");
}

#[test]
fn what_is_not_finite_in_a_slope_is_found_there() {
    let f = jit(grad(|x: Expr| sum(sqrt(x) + x, ..)));
    let x = Array::from([4.0f32, 0.0]);
    let found = debug::first_nonfinite(&f, (&x,)).unwrap().expect("an infinite slope");
    assert_eq!((found.slope_of, &found.index[..]), (Some("sqrt"), &[1][..]), "{found}");
    assert!(found.to_string().contains("in the slope of sqrt at tests/it/slopes_explained.rs:"), "{found}");
    let checked = jit(grad(|x: Expr| sum(sqrt(x), ..))).check_nans(true);
    let error = checked.call((&Array::from([-1.0f32]),)).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("sqrt"), "{error}");
}
