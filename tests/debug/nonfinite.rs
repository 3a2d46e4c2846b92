//! The operation of the first NaN or infinity.

use super::without_places;
use ndjit::debug::{NonFinite, first_nan, first_nonfinite, with_nan_check};
use ndjit::{Array, ErrorCode, Expr, cumulative_sum, exp, fori_loop, jit, keepdims, log, sqrt, sum};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

fn operation(found: &Option<NonFinite>) -> &str {
    found.as_ref().map_or("none", |found| found.operation.as_str())
}

#[test]
fn the_first_operation_is_described() {
    let f = jit(|x, y| exp(log(x - y) + 1) * 2);
    let (x, y) = (Array::from_rows(&[[3.0f32, 1.0], [5.0, 2.0]]), Array::from([2.0f32, 2.5]));
    let found = first_nan(&f, (&x, &y)).unwrap().unwrap();
    assert_eq!((found.place.unwrap().line, found.elements, found.of), (line!() - 3, 2, 4));
    insta::assert_snapshot!(without_places(&found.to_string()), @r"
    %3 = log %2 : f32[2, 2]
      at nonfinite.rs
      nan in 2 of 4 elements, first at [0, 1]
      %2 = -1.5
    ");
    assert_eq!(first_nan(&f, (&[3.0f32], &[2.0f32])).unwrap(), None);
}

#[test]
fn infinities_are_found_if_asked_for() {
    let f = jit(|x| {
        let inverse = 1 / x;
        inverse - inverse
    });
    let x = [1.0f32, 0.0];
    assert_eq!(operation(&first_nan(&f, (&x,)).unwrap()), "%3 = subtract %2, %2 : f32[2]");
    assert_eq!(operation(&first_nonfinite(&f, (&x,)).unwrap()), "%2 = divide %1, %0 : f32[2]");
    assert_eq!(operation(&first_nonfinite(&f, (&[1.0f32, 2.0],)).unwrap()), "none");
    let overflow = jit(|x: Expr| x.cast(ndjit::DType::F16));
    assert_eq!(operation(&first_nonfinite(&overflow, (&[1e6f32],)).unwrap()), "%1 = cast %0 : f16[1]");
}

#[test]
fn a_reduction_or_scan_is_at_fault_where_its_own_elements_are_fine() {
    let x = Array::from_rows(&[[1.0f32, NAN, 2.0], [INF, -INF, 1.0], [1.0, 2.0, 3.0]]);
    let f = jit(|x| sum(x, keepdims(1)) * 2);
    let found = first_nan(&f, (&x,)).unwrap().unwrap();
    assert_eq!(
        (found.operation.as_str(), &found.index[..]),
        ("%1 = sum %0 axes [1] keepdims : f32[3, 1]", &[1, 0][..])
    );
    assert_eq!(found.elements, 1, "the row with a NaN of its own is not counted");
    let f = jit(|x| cumulative_sum(x, 1));
    let found = first_nan(&f, (&x,)).unwrap().unwrap();
    assert_eq!((&found.index[..], found.elements), (&[1, 1][..], 2));
    let f = jit(|x| cumulative_sum(x, 0));
    let found = first_nan(&f, (&x,)).unwrap();
    assert_eq!(operation(&found), "argument 0");
}

#[test]
fn a_loop_a_branch_or_a_scatter_is_at_fault_where_its_operands_are_fine() {
    let f = jit(|x: Expr, n: Expr| fori_loop(0, n, x * 2, |_, x: Expr| x - 3 + sqrt(x) * 0.0) + 1);
    let found = first_nan(&f, (&[8.0f32, 1.0], 2)).unwrap().unwrap();
    assert!(found.operation.contains(" = sqrt %"), "{found}");
    assert!(
        matches!(&found.within[..], [step] if step.starts_with("step 1 of for at tests/debug/nonfinite.rs:")),
        "{found}"
    );
    assert_eq!((found.place.unwrap().line, &found.index[..], found.elements), (line!() - 7, &[1][..], 1));
    assert_eq!(operation(&first_nan(&f, (&[8.0f32, 9.0], 2)).unwrap()), "none");
    assert_eq!(operation(&first_nan(&f, (&[8.0f32, NAN], 2)).unwrap()), "argument 0");
    let error = f.check_nans(true).call((&[8.0f32, 1.0], 2)).unwrap_err();
    assert_eq!(error.headline(), "sqrt: a result is NaN");

    let g = jit(|x: Expr| ndjit::cond(sum(x, ..).gt(0), |x| x, |x| sqrt(x), x));
    let found = first_nan(&g, (&[-1.0f32, -4.0],)).unwrap();
    assert!(operation(&found).contains(" = sqrt %"), "{found:?}");
    assert!(found.is_some_and(|found| found.within[0].starts_with("the branch `false` of cond at ")));

    let put = jit(|x: Expr, y: Expr| x.at(Array::from([1, 1])).add(y));
    let found = first_nan(&put, (&[1.0f32, INF], &[2.0f32, -INF])).unwrap();
    assert!(operation(&found).contains(" = scatter add "), "{found:?}");
    assert_eq!(operation(&first_nan(&put, (&[1.0f32, 1.0], &[2.0f32, NAN])).unwrap()), "argument 1");
}

#[test]
fn arguments_and_captured_arrays_are_named() {
    let (x, bad) = (Array::from([1.0f32, 2.0]), Array::from([[1.0f64, f64::NAN], [3.0, 4.0]].concat()).reshape([2, 2]));
    let seen = bad.mt();
    let f = jit(move |x, n| x * n + &seen);
    let found = first_nan(&f, (&x, 3)).unwrap().unwrap();
    assert_eq!((found.operation.as_str(), &found.index[..]), ("captured array 0", &[1, 0][..]));
    let g = jit(|n, x| x * n);
    assert_eq!(operation(&first_nan(&g, (2, &[1.0f32, NAN])).unwrap()), "argument 1");
    let both = jit(|x, y| x + y * 2 - y);
    assert_eq!(operation(&first_nan(&both, (&[1.0f32], &[1.0f32])).unwrap()), "none");
    let dropped = jit(|x, y| (x + 1, ndjit::isnan(y)));
    assert_eq!(operation(&first_nan(&dropped, (&[1.0f32], &[NAN])).unwrap()), "none", "it reaches no result");
}

#[test]
fn views_halves_complex_numbers_and_calls_are_looked_through() {
    let half = jit(|x: Expr| log(x));
    let f = jit(move |x: Expr| half.inline((x.mt() - 2,)) + 1);
    let x = Array::from_rows(&[[ndjit::f16::from_f32(3.0), ndjit::f16::from_f32(1.0)]]);
    let found = first_nan(&f, (&x,)).unwrap().unwrap();
    assert_eq!((found.dtype, &found.index[..]), (ndjit::DType::F16, &[1, 0][..]));
    assert!(found.operation.contains("log"), "{}", found.operation);
    assert_eq!(found.place.unwrap().line, line!() - 6);
    let z = Array::from([ndjit::Complex::new(0.0f32, INF)]);
    assert!(first_nan(&jit(|z| z * z), (&z,)).unwrap().is_some());
    assert_eq!(first_nan(&jit(|x| x + 1), (&[1i32],)).unwrap(), None);
    assert_eq!(first_nan(&jit(|x| x + 1), (&Array::from(Vec::<f32>::new()),)).unwrap(), None);
    assert_eq!(first_nan(&jit(|x, y| x + y), (&[1.0f32; 2], &[1.0f32; 3])).unwrap_err().code(), ErrorCode::Shape);
}

#[test]
fn a_checked_call_is_an_error_that_names_the_operation() {
    let f = jit(|x, y| sqrt(x - y) * 2);
    let checked = jit(|x, y| sqrt(x - y) * 2).check_nans(true);
    assert_eq!(checked.call((&[5.0f32], &[1.0f32])).unwrap().to_vec::<f32>().unwrap(), [4.0]);
    let error = checked.call((&[5.0f32, 0.0], &[1.0f32, 1.0])).unwrap_err();
    assert_eq!((error.code(), error.place().unwrap().line), (ErrorCode::Nan, line!() - 3));
    insta::assert_snapshot!(without_places(&error.to_string()), @r"
    error[nan]: sqrt: a result is NaN
      at nonfinite.rs
      %3 = sqrt %2 : f32[2]
      nan in 1 of 2 elements, first at [1]
      %2 = -1.
      result 0 of the call is NaN at [1]
      called at nonfinite.rs
      help: `debug::first_nan` finds the operation without the check; `nan_to_num` and `where_` replace NaN
    ");
    assert!(f.call((&[0.0f32], &[1.0f32])).is_ok());
    let bad = |result: ndjit::Result<()>| result.is_err_and(|error| error.code() == ErrorCode::Nan);
    with_nan_check(|| {
        let (x, y) = (Array::from([0.0f32]), Array::from([1.0f32]));
        assert!(bad(f.call((&x, &y)).map(|_| ())));
        assert!(bad(f.call((x.clone().donate(), y.donate())).map(|_| ())), "memory given away is still read");
        assert!(bad(f.call((Array::from([0.0f32]), 1)).map(|_| ())));
        assert!(bad(f.call_into((&[0.0f32], &[1.0f32]), &mut [0.0f32])));
        let error = sqrt(&x - 1).eval().map(|_| ()).unwrap_err();
        assert_eq!((error.code(), error.headline()), (ErrorCode::Nan, "sqrt: a result is NaN"));
        assert!(f.call((&[f32::INFINITY], &[1.0f32])).is_ok(), "infinities are no NaN");
        assert!(bad(f.call((&[NAN], &[1.0f32])).map(|_| ())));
    });
    assert!(f.call((&[0.0f32], &[1.0f32])).is_ok());
}

#[test]
fn a_check_changes_no_result_and_is_found_in_the_interpreter() {
    let f = jit(|x| (x * 3, sqrt(x))).check_nans(true).interpreted(true);
    let (a, b) = f.call((&[4.0f64, 9.0],)).unwrap();
    assert_eq!((a.to_vec::<f64>().unwrap(), b.to_vec::<f64>().unwrap()), (vec![12.0, 27.0], vec![2.0, 3.0]));
    let error = f.call((&[-4.0f64],)).unwrap_err();
    assert!(error.facts().contains(&"result 1 of the call is NaN at [0]".to_owned()), "{error}");
}
