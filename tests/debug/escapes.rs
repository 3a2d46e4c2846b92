//! Traced values that escape: the error has the value's place and call, for each way of escaping.

use super::without_places;
use ndjit::{Array, ErrorCode, Expr, jit};
use std::cell::Cell;

thread_local!(static KEPT: Cell<Option<Expr>> = const { Cell::new(None) });

fn keep(x: Expr) -> Expr {
    KEPT.set(Some(x));
    x
}

fn kept() -> Expr {
    KEPT.get().expect("an expression was kept")
}

fn one() -> Array {
    Array::from([1.0f32])
}

fn text(error: &ndjit::Error) -> String {
    assert_eq!(error.code(), ErrorCode::Traced);
    without_places(&error.to_string())
}

#[test]
fn a_value_that_is_used_in_a_later_trace() {
    jit(|x| keep(x * 2)).call((&one(),)).unwrap();
    let error = jit(|x| x + kept()).call((&one(),)).unwrap_err();
    assert_eq!(error.place().unwrap().line, line!() - 1);
    assert!(error.facts()[0].contains(&format!("{}:{}:", file!(), line!() - 3)), "{error}");
    assert!(error.facts()[1].contains(&format!("{}:{}:", file!(), line!() - 4)), "{error}");
    insta::assert_snapshot!(text(&error), @r"
    error[traced]: add: a traced value was used outside its trace
      at escapes.rs
      the value: made at escapes.rs
      its trace: for the call at escapes.rs
      called at escapes.rs
      help: values of a traced function end with it; return them, or pass them as arguments
    ");
}

#[test]
fn a_parameter_that_is_returned_from_a_later_trace() {
    let f = jit(keep);
    let x = one();
    f(&x);
    let error = jit(|_x: Expr| kept()).call((&x,)).unwrap_err();
    insta::assert_snapshot!(text(&error), @r"
    error[traced]: return: a traced value was used outside its trace
      at escapes.rs
      the value: a parameter of the traced function
      its trace: for the call at escapes.rs
      help: values of a traced function end with it; return them, or pass them as arguments
    ");
}

#[test]
fn a_value_that_is_read_after_its_trace() {
    jit(|x| keep(x * 2)).call((&one(),)).unwrap();
    insta::assert_snapshot!(text(&kept().to_vec::<f32>().unwrap_err()), @r"
    error[traced]: to_vec: a traced value was used outside its trace
      at escapes.rs
      the value: made at escapes.rs
      its trace: for the call at escapes.rs
      help: values of a traced function end with it; return them, or pass them as arguments
    ");
    insta::assert_snapshot!(text(&kept().explain_dtype().unwrap_err()), @r"
    error[traced]: explain_dtype: a traced value was used outside its trace
      at escapes.rs
      the value: made at escapes.rs
      its trace: for the call at escapes.rs
      help: values of a traced function end with it; return them, or pass them as arguments
    ");
    // A computation with it outside of a trace.
    let stray = kept() + 1;
    insta::assert_snapshot!(text(&stray.item::<f32>().unwrap_err()), @r"
    error[traced]: item: a traced value was used outside its trace
      at escapes.rs
      the value: made where no function is traced
      help: `Expr`s are values of a traced function, and end with it: return them, and compute with `Array`s outside
    ");
    assert_eq!(format!("{stray:?} {:?}", kept()), "Expr(poisoned) Expr(outside its trace)");
}

#[test]
fn a_value_of_the_outer_trace_in_an_inner_one() {
    let inner = jit(|y| y + kept());
    let outer = jit(move |x| {
        keep(x * 2);
        inner.inline((x,))
    });
    let error = outer.call((&one(),)).unwrap_err();
    insta::assert_snapshot!(text(&error), @r"
    error[traced]: add: a traced value was used outside its trace
      at escapes.rs
      the value: made at escapes.rs
      its trace: for the call at escapes.rs
      called at escapes.rs
      called at escapes.rs
      help: that trace is not finished: pass the value to the inner function as an argument, `g.inline((x,))`
    ");
}

#[test]
fn a_value_of_an_inner_trace_in_the_outer_one() {
    let inner = jit(|y| {
        keep(y * 3);
        y
    });
    let outer = jit(move |x| inner.inline((x,)) + kept());
    let error = outer.call((&one(),)).unwrap_err();
    insta::assert_snapshot!(text(&error), @r"
    error[traced]: add: a traced value was used outside its trace
      at escapes.rs
      the value: made at escapes.rs
      its trace: for the call at escapes.rs
      called at escapes.rs
      help: values of a traced function end with it; return them, or pass them as arguments
    ");
}

#[test]
fn a_trace_that_failed_is_left() {
    let error = jit(|x| keep(x + &Array::from([1.0f32; 3])) * &Array::from([1.0f32; 2])).call((&one(),)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Shape);
    let error = jit(|x| x * kept()).call((&one(),)).unwrap_err();
    insta::assert_snapshot!(text(&error), @r"
    error[traced]: multiply: a traced value was used outside its trace
      at escapes.rs
      the value: made at escapes.rs
      its trace: for the call at escapes.rs
      called at escapes.rs
      help: values of a traced function end with it; return them, or pass them as arguments
    ");
}
