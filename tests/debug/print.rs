//! `debug_print`: in order, with computed values, without changes of the results.

use super::without_places;
use ndjit::debug::{DebugPrint, collect_debug_output, debug_print, with_jit_disabled, with_nan_check};
use ndjit::{Array, DType, ErrorCode, Expr, exp, jit, spec, sqrt, sum};

fn texts(printed: &[DebugPrint]) -> String {
    without_places(&printed.iter().map(|print| format!("{print}\n")).collect::<String>())
}

fn example(x: Expr, y: Expr) -> (Expr, Vec<Expr>) {
    let d = debug_print("twice", y * 2);
    debug_print("unused", exp(x));
    let s = debug_print("sum", sum(x + d, ..));
    (s + 1, vec![x + d, d])
}

#[test]
fn values_are_printed_in_order() {
    let f = jit(example);
    let (x, y) = (Array::from_rows(&[[0.0f32, 1.0], [2.0, 3.0]]), Array::from([1i8, 2]));
    let (_, printed) = collect_debug_output(|| f.call((&x, &y)).unwrap());
    insta::assert_snapshot!(texts(&printed), @r"
    twice: i8[2] at print.rs
    [2 4]
    unused: f32[2, 2] at print.rs
    [[ 1.         2.7182817]
     [ 7.389056  20.085537 ]]
    sum: f32[] at print.rs
    18.
    ");
    assert_eq!(printed[0].place.line, 12);
}

#[test]
fn results_do_not_change() {
    let plain = jit(|x, y| {
        let d = y * 2;
        let s = sum(x + d, ..);
        (s + 1, vec![x + d, d])
    });
    let (x, y) = (Array::from([0.5f32, -1.25, 3.0]), Array::from([0.1f32, 0.2, 0.3]));
    let (a, b) = plain.call((&x, &y)).unwrap();
    for f in [jit(example), jit(example).fuse(false), jit(example).threads(1), jit(example).interpreted(true)] {
        let ((c, d), printed) = collect_debug_output(|| f.call((&x, &y)).unwrap());
        assert_eq!(a.to_vec::<f32>().unwrap(), c.to_vec::<f32>().unwrap());
        assert_eq!(d.len(), 2, "printed values are no results");
        for (b, d) in b.iter().zip(&d) {
            assert_eq!(b.to_vec::<f32>().unwrap(), d.to_vec::<f32>().unwrap());
        }
        let labels: Vec<&str> = printed.iter().map(|print| print.label.as_str()).collect();
        assert_eq!(labels, ["twice", "unused", "sum"]);
        assert_eq!(printed[1].value.to_vec::<f32>().unwrap(), exp(&x).to_vec::<f32>().unwrap());
    }
}

#[test]
fn every_way_to_call_prints() {
    let f = jit(|x| debug_print("x", x * 2) + 1);
    let x = [1.0f32, 2.0];
    let mut out = [0.0f32; 2];
    let (_, printed) = collect_debug_output(|| f.call_into((&x,), &mut out).unwrap());
    assert_eq!((printed.len(), out), (1, [3.0, 5.0]));
    let (_, printed) = collect_debug_output(|| f.call((Array::from(x).donate(),)).unwrap());
    assert_eq!(printed[0].value.to_vec::<f32>().unwrap(), [2.0, 4.0]);
    let traced = f.trace(&[spec(DType::F32, [2])]).unwrap();
    assert_eq!(traced.results(), [spec(DType::F32, [2])], "what is printed is no result");
    let compiled = traced.lower().unwrap().compile().unwrap();
    let (z, printed) = collect_debug_output(|| compiled.call((&x,)).unwrap());
    assert_eq!((printed.len(), z.to_vec::<f32>().unwrap()), (1, vec![3.0, 5.0]));
    let (_, printed) = collect_debug_output(|| compiled.call_into((&x,), &mut out).unwrap());
    assert_eq!(printed.len(), 1);
    let (_, printed) = collect_debug_output(|| with_jit_disabled(|| f.call((&x,)).unwrap()));
    assert_eq!(printed[0].value.to_vec::<f32>().unwrap(), [2.0, 4.0]);
}

#[test]
fn observers_of_a_call_do_not_disturb_each_other() {
    let f = jit(|x| debug_print("root", sqrt(x)) + 1);
    let (_, printed) = collect_debug_output(|| f.call((Array::from([4.0f32]).donate(),)).unwrap());
    assert_eq!((printed.len(), f.stats().donated, f.stats().donations_taken), (1, 1, 1), "prints read no inputs");
    let refused = || with_nan_check(|| f.call((Array::from([-4.0f32]).donate(),)).map(|_| ()).unwrap_err());
    let (error, printed) = collect_debug_output(refused);
    assert_eq!((error.code(), printed.len()), (ErrorCode::Nan, 1), "a call that is refused has printed");
    assert_eq!((f.stats().donated, f.stats().donations_taken), (2, 1), "the check reads inputs after the run");
    let (_, printed) = collect_debug_output(|| f.call((&[-4.0f32],)).map(|_| ()).unwrap());
    assert_eq!(printed[0].value.to_string(), "[nan]", "the check ends with its scope");
    let (refused, printed) = collect_debug_output(|| f.check_nans(true).call((&[-4.0f32],)).is_err());
    assert_eq!((refused, printed.len()), (true, 1), "nor do those of one plan");
}

#[test]
fn inlined_functions_print_where_they_are_called() {
    let square = jit(|x| debug_print("square", x * x));
    let outer = jit(move |x| {
        let a = square.inline((debug_print("before", x),));
        let b = debug_print("between", a + 1);
        square.inline((b,)) + square.inline((a,))
    });
    let (z, printed) = collect_debug_output(|| outer.call((&[2i32],)).unwrap());
    assert_eq!(z.to_vec::<i32>().unwrap(), [41]);
    let shown: Vec<String> = printed.iter().map(|p| format!("{} {}", p.label, p.value)).collect();
    assert_eq!(shown, ["before [2]", "square [4]", "between [5]", "square [25]", "square [16]"]);
    assert_eq!(outer.call((&[2i32],)).unwrap().to_vec::<i32>().unwrap(), [41]);
}

#[test]
fn arguments_captured_arrays_and_numbers_are_printed() {
    let w = Array::from([1.0f64, 2.0]);
    let f = jit(move |x, n| {
        let n = debug_print("n", n);
        debug_print("w", &w);
        debug_print("x", x) * n
    });
    let (_, printed) = collect_debug_output(|| f.call((&[1.0f32, 2.0], 3)).unwrap());
    let shown: Vec<String> = printed.iter().map(|p| format!("{} {}", p.label, p.value)).collect();
    // An array has elements during the trace.
    assert_eq!(shown, ["w [1. 2.]", "n 3 i*", "x [1. 2.]"]);
    let (_, again) = collect_debug_output(|| f.call((&[1.0f32, 2.0], 4)).unwrap());
    assert_eq!(again.len(), 2);
    assert_eq!(again[0].value.to_string(), "4 i*");
}

#[test]
fn arrays_are_printed_at_once() {
    let x = Array::from([1.0f32, 2.0]);
    let (y, printed) = collect_debug_output(|| debug_print("y", &x * 2) + 1);
    assert_eq!(printed[0].value.to_vec::<f32>().unwrap(), [2.0, 4.0]);
    assert_eq!(y.to_vec::<f32>().unwrap(), [3.0, 5.0]);
    let (bad, printed) = collect_debug_output(|| debug_print("bad", &x + &Array::from([1.0f32; 3])));
    assert!(printed.is_empty() && bad.error().is_some());
}

#[test]
fn collections_nest_and_a_failed_call_prints_nothing() {
    let f = jit(|x, n| debug_print("x", x + n));
    let ((), outer) = collect_debug_output(|| {
        let (_, inner) = collect_debug_output(|| f.call((&[1u8], 1)).unwrap());
        assert_eq!(inner.len(), 1);
        // 300 does not fit u8.
        assert!(f.call((&[1u8], 300)).is_err());
        f.call((&[1u8], 2)).unwrap();
    });
    assert_eq!(outer.len(), 1);
}
