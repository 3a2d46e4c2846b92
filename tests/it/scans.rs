//! Scans of the public API: values, types, axes, on arrays and in traced functions.

use ndjit::{
    Array, Complex, DType, ErrorCode, Result, Stage, arange, bf16, cummax, cumulative_prod, cumulative_sum, dtype, f16,
    include_initial, jit, spec, zeros,
};

#[test]
fn values_along_every_axis() -> Result<()> {
    let x = arange(6).reshape([2, 3]);
    assert_eq!(x.cumulative_sum(0).to_string(), "[[0 1 2]\n [3 5 7]]");
    assert_eq!(x.cumulative_sum(-1).to_string(), "[[ 0  1  3]\n [ 3  7 12]]");
    assert_eq!(cumulative_prod(&x + 1, 1).to_string(), "[[  1   2   6]\n [  4  20 120]]");
    let y = Array::from([3.0f32, 1.0, f32::NAN, 5.0]);
    let (max, min) = (cummax(&y, 0).to_vec::<f32>()?, y.cummin(0).to_vec::<f32>()?);
    assert_eq!((&max[..2], &min[..2]), (&[3.0, 3.0][..], &[3.0, 1.0][..]));
    assert!(max[2..].iter().chain(&min[2..]).all(|x| x.is_nan()));
    assert!(cummax(Array::from([-0.0f32, 0.0, -0.0]), 0).to_vec::<f32>()?[2].is_sign_positive());
    assert!(cumulative_sum(Array::from([-0.0f32, -0.0]), 0).to_vec::<f32>()?[1].is_sign_negative());
    Ok(())
}

#[test]
fn results_may_begin_with_the_value_of_no_elements() -> Result<()> {
    let x = arange(4).reshape([2, 2]);
    assert_eq!(x.cumulative_sum(include_initial(0)).to_string(), "[[0 0]\n [0 1]\n [2 4]]");
    assert_eq!(x.cumulative_prod(include_initial(-1)).to_string(), "[[1 0 0]\n [1 2 6]]");
    assert_eq!(zeros([0]).cumulative_sum(include_initial(0)).to_vec::<f32>()?, [0.0]);
    assert_eq!(dtype(DType::I8).cumulative_sum(&x, include_initial(0)).dtype(), DType::I8);
    let f = jit(|x: ndjit::Expr| x.cumulative_sum(include_initial(0)));
    let y: Array = f(&x);
    assert_eq!(y.to_string(), "[[0 0]\n [0 1]\n [2 4]]");
    Ok(())
}

#[test]
fn dtypes_are_those_of_sums_and_products() -> Result<()> {
    let small = Array::from([200u8, 100]);
    assert_eq!((small.cumulative_sum(0).dtype(), small.cumulative_prod(0).dtype()), (DType::U32, DType::U32));
    assert_eq!((small.cummax(0).dtype(), small.cummin(0).dtype()), (DType::U8, DType::U8));
    assert_eq!(dtype(DType::U8).cumulative_sum(&small, 0).to_vec::<u8>()?, [200, 44]);
    assert_eq!(dtype(DType::F64).cumulative_prod(&small, 0).to_vec::<f64>()?, [200.0, 20000.0]);
    assert_eq!(Array::from([true, true]).cumulative_sum(0).to_vec::<i32>()?, [1, 2]);
    assert_eq!(Array::from([i64::MAX, 1]).cumulative_sum(0).to_vec::<i64>()?, [i64::MAX, i64::MIN]);
    let z = Array::from([Complex::new(0.0f32, 1.0); 3]).cumulative_prod(0).to_vec::<Complex<f32>>()?;
    assert_eq!(z[2], Complex::new(0.0, -1.0));
    // Rounded once each: 2049 is not an f16, and a sum in halves would stay at 2048.
    let ones = dtype(DType::F16).ones([2050]).cumulative_sum(0).to_vec::<f16>()?;
    assert_eq!((ones[2047], ones[2049]), (f16::from_f32(2048.0), f16::from_f32(2050.0)));
    assert_eq!(dtype(DType::Bf16).ones([300]).cumulative_sum(0).to_vec::<bf16>()?[299], bf16::from_f32(300.0));
    Ok(())
}

#[test]
fn errors_name_the_axis_and_the_place() {
    let error = |x: Array| x.error().cloned().unwrap();
    let scalar = error(cumulative_sum(Array::from(1.0f32), 0));
    assert_eq!(scalar.code(), ErrorCode::Shape);
    insta::assert_snapshot!(scalar.headline(), @"cumulative_sum: there is no axis 0");
    assert_eq!(scalar.place().unwrap().file, file!());
    insta::assert_snapshot!(error(zeros([2, 3]).cummax(-3)).help_text().unwrap(), @"name one of these axes");
    insta::assert_snapshot!(error(zeros([2, 3]).cummax(-3)).facts()[1], @"axes: 0 to 1, or -2 to -1 from the last");
    assert_eq!(error(zeros([2]).cumulative_sum(include_initial(1))).code(), ErrorCode::Shape);
}

#[test]
fn every_stage_shows_a_scan() -> Result<()> {
    let f = jit(|x: ndjit::Expr| (x * 2).cumulative_sum(0) + 1);
    let shown = f.trace(&[spec(DType::F32, [5])])?;
    let stages = [Stage::Graph, Stage::Typed, Stage::Kernels, Stage::Loops, Stage::Expanded];
    let lowered = shown.lower()?;
    insta::assert_snapshot!(stages.map(|stage| lowered.explain(stage)).join("\n"));
    Ok(())
}
