//! Scans of the face: values, types, axes, what is made of neighbours, on arrays and in traced functions.

use ndjit::{
    Array, Complex, DType, ErrorCode, Result, Stage, arange, bf16, cummax, cummin, cumulative_prod, cumulative_sum,
    diff, dtype, f16, include_initial, jit, spec, trapezoid, zeros,
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
