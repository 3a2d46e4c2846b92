//! Softmax and its logarithm: sums, dtypes, ends, slopes, errors.

use ndjit::{Array, DType, ErrorCode, Expr, grad, jit, jvp, log_softmax, softmax, sum, vjp};

/// The softmax of `x` by definition, in double precision.
fn written(x: &[f64]) -> Vec<f64> {
    let most = x.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let powers: Vec<f64> = x.iter().map(|x| (x - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}

/// Rows of numbers between -4 and 4.
fn numbers(rows: usize, columns: usize) -> Array {
    let own: Vec<f64> = (0..rows * columns).map(|n| ((n * 7919 % 1000) as f64 / 125.0) - 4.0).collect();
    Array::from(own).reshape([rows as isize, columns as isize])
}

fn close(ours: &[f64], expected: &[f64], bound: f64) {
    assert_eq!(ours.len(), expected.len());
    for (ours, expected) in ours.iter().zip(expected) {
        assert!((ours - expected).abs() <= bound, "{ours} is not {expected}");
    }
}

#[test]
fn rows_and_columns_have_sums_of_one() {
    for (rows, columns) in [(3, 5), (17, 33), (1, 1), (40, 1)] {
        let x = numbers(rows, columns);
        let own = x.to_vec::<f64>().unwrap();
        let expected: Vec<f64> = own.chunks(columns).flat_map(written).collect();
        let by_rows = softmax(&x, -1).to_vec::<f64>().unwrap();
        close(&by_rows, &expected, 1e-14);
        assert_eq!(jit(|x: Expr| softmax(x, 1))(&x).to_vec::<f64>().unwrap(), by_rows);
        let logs: Vec<f64> = expected.iter().map(|x| x.ln()).collect();
        close(&log_softmax(&x, 1).to_vec::<f64>().unwrap(), &logs, 1e-14);
        close(&sum(softmax(&x, 0), 0).to_vec::<f64>().unwrap(), &vec![1.0; columns], 1e-14);
        close(&softmax(&x, ..).to_vec::<f64>().unwrap(), &written(&own), 1e-14);
    }
}

#[test]
fn dtypes_are_those_of_quotients() {
    assert_eq!(softmax(Array::from([1i32, 2]), 0).dtype(), DType::F32);
    assert_eq!(softmax(Array::from([1.0f64, 2.0]), 0).dtype(), DType::F64);
    let halves = Array::from([1.0f32, 2.0, 3.0]).cast(DType::Bf16);
    assert_eq!(softmax(&halves, 0).dtype(), DType::Bf16);
    // Computed in f32, rounded once.
    let exact = softmax(halves.cast(DType::F32), 0).cast(DType::Bf16);
    assert_eq!(softmax(&halves, 0).to_vec::<half::bf16>().unwrap(), exact.to_vec::<half::bf16>().unwrap());
    assert_eq!(softmax(Array::from(2.0f32), ..).item::<f32>().unwrap(), 1.0);
}

#[test]
fn ends_are_met() {
    let infinity = f64::INFINITY;
    let x = Array::from([1e308, -1e308, -infinity]);
    assert_eq!(softmax(&x, 0).to_vec::<f64>().unwrap(), [1.0, 0.0, 0.0]);
    assert_eq!(log_softmax(&x, 0).to_vec::<f64>().unwrap(), [0.0, -infinity, -infinity]);
    let above = softmax(Array::from([infinity, 0.0]), 0).to_vec::<f64>().unwrap();
    assert!(above[0].is_nan());
    let logs = log_softmax(Array::from([0.0f64, 1000.0]), 0).to_vec::<f64>().unwrap();
    assert_eq!(logs, [-1000.0, 0.0]);
}

#[test]
fn slopes_are_those_of_the_formula() {
    let x = numbers(4, 6);
    let t = numbers(6, 4).reshape([4, 6]) * 0.5 + 1;
    let s = softmax(&x, 1);
    let expected = (&s * (&t - sum(&s * &t, 1).expand_dims(1))).to_vec::<f64>().unwrap();
    let forward = jit(|x: Expr, t: Expr| jvp(|x: Expr| softmax(x, 1), x, t).1);
    close(&forward(&x, &t).to_vec::<f64>().unwrap(), &expected, 1e-14);
    // Its Jacobian is symmetric.
    let reverse = jit(|x: Expr, t: Expr| vjp(|x: Expr| softmax(x, 1), x).1(t));
    close(&reverse(&x, &t).to_vec::<f64>().unwrap(), &expected, 1e-14);
    let logs = jit(grad(|x: Expr, t: Expr| sum(log_softmax(x, 1) * t, ..)));
    let expected = (&t - &s * sum(&t, 1).expand_dims(1)).to_vec::<f64>().unwrap();
    close(&logs(&x, &t).to_vec::<f64>().unwrap(), &expected, 1e-14);
}

#[test]
fn errors_are_values() {
    let complex = Array::from([1.0f32]).cast(DType::C64);
    let error = softmax(complex, 0).error().cloned().unwrap();
    assert_eq!(error.code(), ErrorCode::DType);
    assert!(error.to_string().contains("softmax"), "{error}");
    let axis = log_softmax(Array::from([1.0f32]), 1).error().cloned().unwrap();
    assert_eq!(axis.code(), ErrorCode::Shape);
    let none = softmax(Array::from_rows(&[[0.0f32; 0]; 2]), 1).error().cloned().unwrap();
    assert_eq!(none.code(), ErrorCode::Shape);
}
