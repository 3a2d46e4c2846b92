//! Functions of adjacent elements along an axis: differences with and without ends, integrals at equal distances and at positions, errors.

use ndjit::{
    Array, DType, ErrorCode, Expr, Policy, Result, append, arange, diff, dtype, jit, positions, prepend, trapezoid,
    with_policy, zeros,
};

fn y_of_one() -> Array {
    Array::from([5.0f32])
}

#[test]
fn differences() -> Result<()> {
    let x = Array::from([1, 4, 9, 16, 25]);
    assert_eq!(diff(&x, 0, 0).to_vec::<i32>()?, [1, 4, 9, 16, 25]);
    assert_eq!(x.diff(3, -1).to_vec::<i32>()?, [0, 0]);
    assert_eq!(x.diff(9, 0).shape().extents(), [0]);
    assert_eq!(zeros([0, 2]).diff(1, 0).shape().extents(), [0, 2]);
    assert_eq!(Array::from([true, true, false]).diff(1, 0).to_vec::<bool>()?, [false, true]);
    assert_eq!(arange(6).reshape([2, 3]).diff(1, 0).to_string(), "[[3 3 3]]");
    assert_eq!(trapezoid(Array::from([1u8, 255, 255]), 2, 0).item::<f32>()?, 766.0);
    assert_eq!(trapezoid(zeros([0]), 1, 0).item::<f32>()?, 0.0);
    assert_eq!(Array::from([5.0f32]).trapezoid(1, 0).item::<f32>()?, 0.0);
    // The sum of the values overflows the dtype, the integral does not.
    assert_eq!(dtype(DType::F32).full(1001, 1e36).trapezoid(0.5, 0).item::<f32>()?, f32::INFINITY);
    let area = dtype(DType::F32).full(1025, 1e36).trapezoid(0.125, 0).item::<f32>()?;
    assert!((area / 1.28e38 - 1.0).abs() < 1e-5);
    assert!(with_policy(Policy::Lax, || y_of_one().trapezoid(1.0, 0)).error().is_none());
    Ok(())
}

#[test]
fn ends_of_differences() -> Result<()> {
    let x = Array::from([1u8, 4, 9]);
    let ends = (prepend(0).diff(&x, 1, 0), append(9).diff(&x, 1, -1), prepend(&x).append(2).diff(&x, 1, 0));
    assert_eq!(ends.0.to_vec::<u8>()?, [1, 3, 5]);
    assert_eq!(ends.1.to_vec::<u8>()?, [3, 5, 0]);
    assert_eq!(ends.2.to_vec::<u8>()?, [3, 5, 248, 3, 5, 249]);
    // Scalars are weak, arrays are not, and operands that are not subtracted have no effect.
    assert_eq!(prepend(0.5).diff(Array::from([1.0f64]), 1, 0).dtype(), DType::F64);
    assert_eq!(append(Array::from([1i64])).diff(&x, 1, 0).dtype(), DType::I64);
    assert_eq!(append(7).prepend(7).diff(&x, 0, 0).to_vec::<u8>()?, [1, 4, 9]);
    let f = jit(|x: Expr, y: Expr| prepend(0).append(y.slice(0)).diff(x, 2, 0));
    let (rows, own) =
        (arange(6).reshape([3, 2]), jit(|x: Expr| append(x.slice(0)).diff(arange(6).reshape([3, 2]), 1, 0)));
    assert_eq!(f.call((&rows, &Array::from([5, 6])))?.to_string(), "[[ 2  1]\n [ 0  0]\n [-1 -2]]");
    assert_eq!(own.call((&Array::from([5, 6]),))?.to_string(), "[[2 2]\n [2 2]\n [1 0]]");
    Ok(())
}

#[test]
fn integrals_of_values_at_positions() -> Result<()> {
    let (x, y) = (Array::from([0.0f64, 1.0, 3.0]), Array::from_rows(&[[0.0f32, 2.0], [1.0, 2.0], [3.0, 2.0]]));
    let of = |x: &Array, y: &Array, axis| positions(x).trapezoid(y, axis);
    assert_eq!((of(&x, &y, 0).to_vec::<f64>()?, of(&x, &y, 0).dtype()), (vec![4.5, 6.0], DType::F64));
    assert_eq!(of(&y, &y, -1).to_vec::<f32>()?, [2.0, 1.5, -2.5]);
    assert_eq!(of(&Array::from([3, 1]), &y, 1).to_vec::<f32>()?, [-2.0, -3.0, -5.0]);
    assert_eq!(of(&zeros([1]), &zeros([4, 1]), 1).to_vec::<f32>()?, [0.0; 4]);
    assert_eq!(of(&zeros([0]), &zeros([0]), 0).item::<f32>()?, 0.0);
    let f = jit(|x: Expr, y: Expr| positions(x).trapezoid(y, 0));
    assert_eq!(f.call((&x, &y))?.to_vec::<f64>()?, [4.5, 6.0]);
    Ok(())
}

#[test]
fn errors_name_shapes_and_the_axis() {
    let (x, row): (Array, Array) = (zeros([2, 3]), zeros([3]));
    insta::assert_snapshot!(refused!(diff(&x, 1, -3)), @r"
    error[shape]: diff: there is no axis -3
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(trapezoid(&x, 1, 2)), @r"
    error[shape]: trapezoid: there is no axis 2
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(prepend(0).diff(&x, 1, 2)), @r"
    error[shape]: diff: there is no axis 2
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
    insta::assert_snapshot!(refused!(append(&row).diff(&x, 1, 0)), @r"
    error[shape]: diff: x1 has 1 axes, x0 has 2
      at here
      x0: f32[2, 3] held as data
      x1: f32[3] held as data
      help: arrays joined along axis 0 have the same number of axes, and the same extents along all others
    ");
    insta::assert_snapshot!(refused!(prepend(&x).append(zeros([2, 1])).diff(&x, 1, 0)), @r"
    error[shape]: diff: x2 has 1 along axis 1, x0 has 3
      at here
      x0: f32[2, 3] held as data
      x1: f32[2, 3] held as data
      x2: f32[2, 1] held as data
      help: arrays joined along axis 0 have the same number of axes, and the same extents along all others
    ");
    insta::assert_snapshot!(refused!(with_policy(Policy::Strict, || append(Array::from_rows(&[[1, 2, 3]])).diff(&x, 1, 0))), @r"
    error[promotion]: diff: the strict policy does not promote f32 and i32
      at here
      x0: f32[2, 3] held as data
      x1: i32[1, 3] held as data
      help: cast the arrays to a common dtype, as in `cast(x, DType::F64)`
    ");
    insta::assert_snapshot!(refused!(positions(&row).trapezoid(&x, 0)), @r"
    error[shape]: trapezoid: positions of shape [3] for values of shape [2, 3]
      at here
      x0: f32[3] held as data
      x1: f32[2, 3] held as data
      along axis 0, which has 2
      help: give positions of shape [2], or one for each value
    ");
    insta::assert_snapshot!(refused!(positions(zeros([3, 2])).trapezoid(&x, 0)), @r"
    error[shape]: trapezoid: positions of shape [3, 2] for values of shape [2, 3]
      at here
      x0: f32[3, 2] held as data
      x1: f32[2, 3] held as data
      along axis 0, which has 2
      help: give positions of shape [2], or one for each value
    ");
    insta::assert_snapshot!(refused!(positions(0.5).trapezoid(&x, 0)), @r"
    error[shape]: trapezoid: positions of shape [] for values of shape [2, 3]
      at here
      x0: f* (literal 0.5)
      x1: f32[2, 3] held as data
      along axis 0, which has 2
      help: give positions of shape [2], or one for each value
    ");
    insta::assert_snapshot!(refused!(positions(&row).trapezoid(&x, -3)), @r"
    error[shape]: trapezoid: there is no axis -3
      at here
      x: f32[2, 3] held as data
      axes: 0 to 1, or -2 to -1 from the last
      help: name one of these axes
    ");
}

/// A scalar at an end is exact in the promoted dtype, for any default dtype: with arrays, traced, and as an argument.
#[test]
fn numbers_at_the_ends_are_exact() {
    let of = |x: Array| {
        let traced = jit(|x: Expr| append(0.15).diff(x, 1, 0));
        let passed = jit(|x: Expr, k: Expr| append(k).diff(x, 1, 0));
        let ends = [append(0.15).diff(&x, 1, 0), traced(&x), passed.call((&x, 0.15)).unwrap()];
        ends.map(|end| end.cast(DType::F64).to_vec::<f64>().unwrap())
    };
    for policy in [Policy::Standard, Policy::NumPy1, Policy::NumPy2, Policy::Torch] {
        with_policy(policy, || assert_eq!(of(Array::from([1.0f64, 2.0])), [(); 3].map(|()| [1.0, 0.15 - 2.0])));
    }
    // Here integers and a float are doubles.
    for policy in [Policy::NumPy1, Policy::NumPy2] {
        with_policy(policy, || assert_eq!(of(Array::from([1u16, 2])), [(); 3].map(|()| [1.0, 0.15 - 2.0])));
    }
    let large = append(1i64 << 40).diff(Array::from([1i64]), 1, 0);
    assert_eq!(large.item::<i64>().unwrap(), (1 << 40) - 1);
    let small = Array::from([1u8]);
    let error = append(300).diff(&small, 1, 0).eval().unwrap_err();
    assert_eq!((error.code(), error.headline()), (ErrorCode::Literal, "diff: literal 300 does not fit u8"));
    let passed = jit(|x: Expr, k: Expr| append(k).diff(x, 1, 0));
    assert_eq!(passed.call((&small, 300)).unwrap_err().code(), ErrorCode::Literal);
}
