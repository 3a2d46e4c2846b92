//! Indices combined with ranges: the order of result axes, as in NumPy, and updates at these elements.

use ndjit::{Array, Ellipsis, ErrorCode, Expr, NewAxis, Slice, Stage, arange, jit, step, step_by};

fn x() -> Array {
    arange(24).reshape([2, 3, 4])
}

/// Checks `x.at(indices)` of `x()`, and of traced arrays with traced indices, against the shape and the elements of NumPy's expression.
macro_rules! cases {
    ($i:ident $j:ident $k:ident: $($numpy:literal $indices:expr => $shape:expr, $elements:expr;)*) => {$({
        let [i, j, k] = [Array::from([1, 0]), Array::from_rows(&[[1], [0]]), Array::from([2, 0, -1])];
        let expected: Vec<i32> = Vec::from($elements);
        let shape: Vec<usize> = Vec::from($shape);
        let taken = {
            let ($i, $j, $k) = (&i, &j, &k);
            _ = ($i, $j, $k);
            x().at($indices).get()
        };
        assert_eq!((taken.shape().extents(), taken.to_vec::<i32>().unwrap()), (&shape[..], expected.clone()), $numpy);
        let traced = jit(|x: Expr, $i: Expr, $j: Expr, $k: Expr| {
            _ = ($i, $j, $k);
            let y = ndjit::zeros_like(x.at($indices).get());
            (x.at($indices).get(), x.at($indices).get_or(-1), x.at($indices).set(y - 1), x.at($indices).add(y + 100))
        });
        let (taken, or, set, add) = traced.call((&x(), &i, &j, &k)).unwrap();
        for taken in [taken, or] {
            assert_eq!((taken.shape().extents(), taken.to_vec::<i32>().unwrap()), (&shape[..], expected.clone()), $numpy);
        }
        // Elements of `x()` are their own indices.
        let (mut other, mut more): (Vec<i32>, Vec<i32>) = ((0..24).collect(), (0..24).collect());
        for &at in &expected {
            other[at as usize] = -1;
            more[at as usize] += 100;
        }
        assert_eq!((set.to_vec::<i32>().unwrap(), add.to_vec::<i32>().unwrap()), (other, more), $numpy);
    })*};
}

#[test]
fn finds_what_numpy_finds() {
    cases! { i j k:
        "x[1:]" 1.. => [1, 3, 4], [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];
        "x[:, 1]" (.., 1) => [2, 4], [4, 5, 6, 7, 16, 17, 18, 19];
        "x[:, 1:3]" (.., 1..3) => [2, 2, 4], [4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23];
        "x[:, ::2, -1]" (.., step(2), -1) => [2, 2], [3, 11, 15, 23];
        "x[..., 2]" (Ellipsis, 2) => [2, 3], [2, 6, 10, 14, 18, 22];
        "x[0, ..., 1:]" (0, Ellipsis, 1..) => [3, 3], [1, 2, 3, 5, 6, 7, 9, 10, 11];
        "x[::-1, 0]" (step(-1), 0) => [2, 4], [12, 13, 14, 15, 0, 1, 2, 3];
        "x[:, :, :0:-2]" (.., .., step_by(1.., -2)) => [2, 3, 2], [3, 1, 7, 5, 11, 9, 15, 13, 19, 17, 23, 21];
        "x[i, :]" (i, ..) => [2, 3, 4], [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
        "x[:, [2, 0, -1]]" (.., k) => [2, 3, 4], [8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11, 20, 21, 22, 23, 12, 13, 14, 15, 20, 21, 22, 23];
        "x[i, :, i]" (i, .., i) => [2, 3], [13, 17, 21, 0, 4, 8];
        "x[:, i, i]" (.., i, i) => [2, 2], [5, 0, 17, 12];
        "x[:, i, 1:3]" (.., i, 1..3) => [2, 2, 2], [5, 6, 1, 2, 17, 18, 13, 14];
        "x[i, 1:, 2]" (i, 1.., 2) => [2, 2], [18, 22, 6, 10];
        "x[1, :, i]" (1, .., i) => [2, 3], [13, 17, 21, 12, 16, 20];
        "x[:, j, i]" (.., j, i) => [2, 2, 2], [5, 4, 1, 0, 17, 16, 13, 12];
        "x[j, 1:, i]" (j, 1.., i) => [2, 2, 2], [17, 21, 16, 20, 5, 9, 4, 8];
        "x[None, i]" (NewAxis, i) => [1, 2, 3, 4], [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
        "x[i, None, i]" (i, NewAxis, i) => [2, 1, 4], [16, 17, 18, 19, 0, 1, 2, 3];
        "x[:, None, i, :]" (.., NewAxis, i, ..) => [2, 1, 2, 4], [4, 5, 6, 7, 0, 1, 2, 3, 16, 17, 18, 19, 12, 13, 14, 15];
        "x[:, 1, None, 2]" (.., 1, NewAxis, 2) => [2, 1], [6, 18];
        "x[j, ..., 1]" (j, Ellipsis, 1) => [2, 1, 3], [13, 17, 21, 1, 5, 9];
        "x[:, 3:, i]" (.., 3.., i) => [2, 0, 2], [0i32; 0];
        "x[:, 0:0]" (.., 0..0) => [2, 0, 4], [0i32; 0];
        "x[:]" .. => [2, 3, 4], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];
        "x[:, :2, :2]" (.., ..=1, ..2) => [2, 2, 2], [0, 1, 4, 5, 12, 13, 16, 17];
        "x[-1:, ...]" (-1.., Ellipsis) => [1, 3, 4], [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];
    }
}

#[test]
fn ranges_alone_are_views() {
    let taken = x().at((.., 1..3)).get();
    assert_eq!(taken.to_vec::<i32>().unwrap(), x().slice((.., 1..3)).to_vec::<i32>().unwrap());
    let f = jit(|x: Expr| x.at((.., 1..)).get() * 2);
    f.call((&x(),)).unwrap();
    assert!(!f.explain(Stage::Graph).contains("gather"), "{}", f.explain(Stage::Graph));
    assert_eq!(x().at(Slice::Index(1)).get().shape().extents(), [3, 4]);
    assert_eq!(x().at((Slice::ALL, Slice::Index(-1))).set(0).at((.., 2)).get().to_vec::<i32>().unwrap(), [0; 8]);
}

#[test]
fn what_is_put_into_ranges_broadcasts() {
    let border = jit(|x: Expr| x.at((.., 0)).set(0).at((.., -1)).set(9).at((1..3, 1..3)).add(arange(2)));
    let put = border(&ndjit::dtype(ndjit::DType::I32).ones([4, 4]));
    assert_eq!(put.to_string(), "[[0 1 1 9]\n [0 1 2 9]\n [0 1 2 9]\n [0 1 1 9]]");
}

#[test]
fn what_is_wrong_is_said() {
    let error = |x: Array| {
        let error = x.eval().unwrap_err().clone();
        (error.code(), error.headline().to_owned())
    };
    assert_eq!(error(x().at((.., 4..)).get()), (ErrorCode::Shape, "at: 4 is beyond an axis of 3".to_owned()));
    assert_eq!(error(x().at((.., 4..)).set(0)), (ErrorCode::Shape, "at.set: 4 is beyond an axis of 3".to_owned()));
    assert_eq!(
        error(x().at((.., .., .., 1)).get()),
        (ErrorCode::Shape, "at: 4 indices or ranges of an array of shape [2, 3, 4]".to_owned())
    );
    let three = Array::from([0, 1, 0]);
    let two = Array::from([0, 1]);
    let (code, headline) = error(x().at((&two, .., &three)).set(0));
    assert_eq!((code, &headline[..]), (ErrorCode::Shape, "at.set: indices of shapes [2] and [3] do not broadcast"));
    assert_eq!(error(x().at((.., 3)).get()), (ErrorCode::Index, "at: index 3 is out of range".to_owned()));
    assert_eq!(error(x().at((1.., 0)).set(arange(3))).0, ErrorCode::Shape);
    let (code, headline) = error(Array::from(3).at(Ellipsis).get_or(7));
    assert_eq!((code, &headline[..]), (ErrorCode::Shape, "at.get_or: an array without axes has no indices"));
    // The result type does not depend on the kind of indices.
    assert_eq!(x().at(1..).get_or(0.5).dtype(), x().at(Array::from([1])).get_or(0.5).dtype());
}
