//! Slices with runtime starts: gathers and updates, compared with static slices.

use ndjit::{Array, ErrorCode, Expr, arange, dynamic_range, fori_loop, jit, slice_dynamic};

fn cube() -> Array {
    arange(3 * 4 * 5).reshape([3, 4, 5])
}

/// The start of a slice of `length` requested at `start` of an axis.
fn moved(start: i64, length: usize, extent: usize) -> usize {
    let start = if start < 0 { start + extent as i64 } else { start };
    start.clamp(0, (extent - length) as i64) as usize
}

#[test]
fn slices_are_moved_into_their_array() {
    let x = cube();
    let f = jit(|x: Expr, i: Expr, k: Expr| (x.slice_dynamic((i, 0, k), [2, 4, 3]), x.slice_dynamic(i, 1)));
    for (i, k) in (-6..7).flat_map(|i| (-8..9).map(move |k| (i, k))) {
        let (a, c, one) = (moved(i, 2, 3), moved(k, 3, 5), moved(i, 1, 3));
        let (cut, row) = f.call((&x, &Array::from(i), &Array::from(k as i8))).unwrap();
        assert_eq!(cut.to_string(), x.slice((a..a + 2, .., c..c + 3)).to_string(), "{i} {k}");
        assert_eq!(row.to_string(), x.slice((one..one + 1,)).to_string(), "{i}");
        // Outside of a traced function too.
        assert_eq!(x.slice_dynamic((Array::from(i), 0, k), [2, 4, 3]).to_string(), cut.to_string());
    }
    let compiled = f.compile_count();
    f.call((&x, &Array::from(2i64), &Array::from(1i8))).unwrap();
    assert_eq!(f.compile_count(), compiled);
}

#[test]
fn elements_are_put_into_ranges_that_begin_at_traced_indices() {
    let x = cube();
    let f = jit(|x: Expr, i: Expr, j: Expr| {
        let range = (dynamic_range(i, 2), .., dynamic_range(j, 3));
        (x.at((dynamic_range(i, 2), .., dynamic_range(j, 3))).set(-1), x.at(range).add(x.at((0..2, .., 0..3)).get()))
    });
    for (i, j) in [(0, 0), (1, 2), (-1, -1), (9, -9)] {
        let (a, b) = (moved(i, 2, 3), moved(j, 3, 5));
        let (set, added) = f.call((&x, &Array::from(i), &Array::from(j))).unwrap();
        let ranges = (a..a + 2, .., b..b + 3);
        assert_eq!(set.to_string(), x.at(ranges.clone()).set(-1).to_string());
        assert_eq!(added.to_string(), x.at(ranges).add(x.slice((0..2, .., 0..3))).to_string());
    }
}

#[test]
fn loops_take_what_their_index_names() {
    // The sum of blocks of three; the last block has two, so it begins one earlier.
    let f = jit(|x: Expr| fori_loop(0, 3, x.slice((0..3,)) * 0.0, |i, sum| sum + x.slice_dynamic(i * 3, 3)));
    let sum = f.call((&Array::from([0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),)).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), [0.0 + 3.0 + 5.0, 1.0 + 4.0 + 6.0, 2.0 + 5.0 + 7.0]);
}

#[test]
fn what_is_no_slice_is_an_error_that_says_so() {
    let x = cube();
    type Refused = (ErrorCode, &'static str, fn(&Array) -> Array);
    let errors: [Refused; 6] = [
        (ErrorCode::Shape, "axis 0", |x| x.slice_dynamic(0, 4)),
        (ErrorCode::Shape, "2 starts and 1 lengths", |x| x.slice_dynamic((0, 0), 4)),
        (ErrorCode::Shape, "a slice of -1 elements", |x| x.slice_dynamic(0, -1)),
        (ErrorCode::Shape, "a range is not a start", |x| x.slice_dynamic(.., 2)),
        (ErrorCode::DType, "indices are integers", |x| x.slice_dynamic(Array::from(0.5), 2)),
        (ErrorCode::Shape, "begins at one index", |x| x.slice_dynamic(Array::from([0, 1]), 2)),
    ];
    for (code, words, make) in errors {
        let error = make(&x).eval().unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(words), "{words}: {error}");
    }
    let traced = jit(|x: Expr, i: Expr| slice_dynamic(x, (i, 0, 0, 0), [1, 1, 1, 1]));
    assert_eq!(traced.call((&x, &Array::from(0))).unwrap_err().code(), ErrorCode::Shape);
    assert_eq!(x.slice_dynamic(0, 0).shape().extents(), [0, 4, 5]);
}
