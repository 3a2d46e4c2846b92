//! Indexing by integer arrays: NumPy's values, and the rules for indices out of bounds.

use ndjit::{Array, DType, ErrorCode, Expr, Side, arange, jit, ones, searchsorted, take, take_along_axis};

fn x() -> Array {
    arange(24).reshape([2, 3, 4])
}

#[test]
fn takes_slices_as_numpy_does() {
    // np.take(np.arange(24).reshape(2, 3, 4), [2, 0], axis)
    let i = Array::from([2, 0]);
    assert_eq!(take(x(), &i, 1).to_vec::<i32>().unwrap(), [8, 9, 10, 11, 0, 1, 2, 3, 20, 21, 22, 23, 12, 13, 14, 15]);
    assert_eq!(take(x(), &i, 2).to_vec::<i32>().unwrap(), [2, 0, 6, 4, 10, 8, 14, 12, 18, 16, 22, 20]);
    assert_eq!(take(x(), &i, -1).shape().extents(), [2, 3, 2]);
    let table = Array::from_rows(&[[1, -1], [0, 0]]);
    let taken = take(x(), &table, 0);
    assert_eq!(taken.shape().extents(), [2, 2, 3, 4]);
    assert_eq!(taken.slice((0, 0, 0)).to_vec::<i32>().unwrap(), [12, 13, 14, 15]);
    assert_eq!(take(x(), 1, 0).to_vec::<i32>().unwrap(), (12..24).collect::<Vec<i32>>());
}

#[test]
fn takes_along_an_axis_as_numpy_does() {
    // np.take_along_axis(x, i, 1)
    let i = Array::from_rows(&[[2, 0, -3, 1]]).reshape([1, 1, 4]);
    let taken = take_along_axis(x(), &i, 1);
    assert_eq!(taken.shape().extents(), [2, 1, 4]);
    assert_eq!(taken.to_vec::<i32>().unwrap(), [8, 1, 2, 7, 20, 13, 14, 19]);
}

#[test]
fn positions_out_of_range_are_errors_of_arrays_and_nearest_when_traced() {
    let i = Array::from([0, 3]);
    let error = take(x(), &i, 1).eval().unwrap_err();
    assert_eq!((error.code(), error.headline()), (ErrorCode::Index, "take: index 3 is out of range"));
    assert_eq!(take(x(), Array::from([-4]), 1).eval().unwrap_err().code(), ErrorCode::Index);
    assert_eq!(
        take(x(), Array::from([u64::MAX]), 1).eval().unwrap_err().headline(),
        "take: index 18446744073709551615 is out of range"
    );
    let traced = jit(|x: Expr, i: Expr| take(x, i, 1));
    let taken = traced(&x(), &Array::from([7i64, -9, -1]));
    assert_eq!(taken.slice((0, .., 0)).to_vec::<i32>().unwrap(), [8, 0, 8]);
    let taken = traced(&x(), &Array::from([u64::MAX, 1 << 63, 0]));
    assert_eq!(taken.slice((0, .., 0)).to_vec::<i32>().unwrap(), [8, 8, 0]);
}

/// A scalar is an index, for any default integer: of an array, and in a traced function.
#[test]
fn numbers_beyond_32_bits_are_positions() {
    let many = || ndjit::broadcast_to(Array::from([7u8]), [1 << 33]);
    for position in [1isize << 31, (1 << 33) - 1, -(1 << 33)] {
        assert_eq!(many().at(position).get().item::<u8>().unwrap(), 7);
        assert_eq!(jit(move |x: Expr| x.at(position).get())(&many()).item::<u8>().unwrap(), 7);
        assert_eq!(x().at(position).get_or(9).slice((0, 0)).item::<i32>().unwrap(), 9);
        let outside = format!("at: index {position} is out of range");
        assert_eq!(x().at(position).get().eval().unwrap_err().headline(), outside);
        let error = jit(move |x: Expr| x.at(position).get()).call((&x(),)).unwrap_err();
        assert_eq!((error.code(), error.headline()), (ErrorCode::Index, &outside[..]));
    }
}

#[test]
fn positions_are_integers_and_axes_are_there() {
    let error = take(x(), Array::from([1.0f32]), 0).eval().unwrap_err();
    assert_eq!((error.code(), error.headline()), (ErrorCode::DType, "take: indices are integers, not f32"));
    assert_eq!(take(x(), Array::from([true]), 0).eval().unwrap_err().code(), ErrorCode::DType);
    assert_eq!(take(x(), 0, 3).eval().unwrap_err().code(), ErrorCode::Shape);
    assert_eq!(take_along_axis(x(), Array::from([0]), 0).eval().unwrap_err().code(), ErrorCode::Shape);
    let empty = ndjit::dtype(DType::F32).zeros([0, 2]);
    assert_eq!(take(&empty, 0, 0).eval().unwrap_err().code(), ErrorCode::Index);
    let traced = jit(|x: Expr, i: Expr| take(x, i, 0));
    assert_eq!(traced.call((&empty, &Array::from([0]))).unwrap_err().code(), ErrorCode::Shape);
    assert_eq!(traced(&empty, &ndjit::dtype(DType::I32).zeros([0])).shape().extents(), [0, 2]);
}

#[test]
fn a_gather_is_fused_with_what_is_before_and_after() {
    let f = jit(|x: Expr, i: Expr| take(x, i * 2 + 1, 0) * 10 + 1);
    let (x, i) = (arange(100), arange(40));
    let expected: Vec<i32> = (0..40).map(|i| (2 * i + 1) * 10 + 1).collect();
    assert_eq!(f(&x, &i).to_vec::<i32>().unwrap(), expected);
    ndjit::assert_kernels!(f, (&x, &i), 1);
}

#[test]
fn what_is_taken_from_may_be_computed_a_view_or_positions() {
    let i = Array::from([3i64, 0, 2, 2]);
    let computed = jit(|x: Expr, i: Expr| take(x * 2, i, 0) + x);
    assert_eq!(computed(&arange(4), &i).to_vec::<i32>().unwrap(), [6, 1, 6, 7]);
    let flipped = jit(|x: Expr, i: Expr| take(x.flip(0), i, 0));
    assert_eq!(flipped(&arange(4), &i).to_vec::<i32>().unwrap(), [0, 3, 1, 1]);
    let positions = jit(|i: Expr| take(arange(4).flip(0) + ndjit::zeros_like(i), i, 0));
    assert_eq!(positions(&i).to_vec::<i64>().unwrap(), [0, 3, 1, 1]);
    let constant = jit(|i: Expr| take(ndjit::full([4], 7), i, 0));
    assert_eq!(constant(&i).to_vec::<i32>().unwrap(), [7; 4]);
    let twice = jit(|x: Expr, i: Expr| take(take(x, i, 0), i, 0));
    assert_eq!(twice(&arange(4), &i).to_vec::<i32>().unwrap(), [2, 3, 2, 2]);
}

#[test]
fn every_dtype_is_taken() {
    for dtype in DType::ALL {
        let x = ndjit::cast(arange(50) % 7, dtype);
        let i = (arange(200) * 37) % 50;
        let taken = jit(|x: Expr, i: Expr| take(x, i, 0))(&x, &i);
        let expected = ndjit::cast(((arange(200) * 37) % 50) % 7, dtype);
        assert_eq!(taken.dtype(), dtype);
        assert!(ndjit::all(taken.eq(&expected), ..).item::<bool>().unwrap(), "{dtype}");
    }
}

#[test]
fn puts_as_numpy_does() {
    // x = np.arange(6).reshape(3, 2); np.add.at(x, [2, 0, 2], [[10, 20], [30, 40], [50, 60]])
    let x = arange(6).reshape([3, 2]);
    let i = Array::from([2, 0, -1]);
    let y = Array::from_rows(&[[10, 20], [30, 40], [50, 60]]);
    assert_eq!(x.at(&i).add(&y).to_vec::<i32>().unwrap(), [30, 41, 2, 3, 64, 85]);
    assert_eq!(x.at(&i).subtract(&y).to_vec::<i32>().unwrap(), [-30, -39, 2, 3, -56, -75]);
    assert_eq!(x.at(&i).multiply(3).to_vec::<i32>().unwrap(), [0, 3, 2, 3, 36, 45]);
    let floats = x.cast(DType::F64).at(&i).divide(4).to_vec::<f64>().unwrap();
    assert_eq!(floats, [0.0, 0.25, 2.0, 3.0, 0.25, 0.3125]);
    // Integer division is unsupported, and a complex product is too.
    for refused in [x.at(&i).divide(4), x.cast(DType::C64).at(&i).multiply(4)] {
        assert_eq!(refused.error().unwrap().code(), ErrorCode::DType);
    }
    assert_eq!(x.at(&i).set(&y).to_vec::<i32>().unwrap(), [30, 40, 2, 3, 50, 60]);
    assert_eq!(x.at(&i).max(Array::from([3, 3])).to_vec::<i32>().unwrap(), [3, 3, 2, 3, 4, 5]);
    assert_eq!(x.at(&i).min(1).to_vec::<i32>().unwrap(), [0, 1, 2, 3, 1, 1]);
    // x[[0, 2], [1, 0]] = [7, 8]
    let two = (Array::from([0, 2]), Array::from([1, 0]));
    assert_eq!(x.at(two.clone()).set(Array::from([7, 8])).to_vec::<i32>().unwrap(), [0, 7, 2, 3, 8, 5]);
    assert_eq!(x.at(two).get().to_vec::<i32>().unwrap(), [1, 4]);
    assert_eq!(x.at(0).set(9).to_vec::<i32>().unwrap(), [9, 9, 2, 3, 4, 5]);
}

/// A scalar argument fits the updated array's dtype, or is an error, as a literal.
#[test]
fn numbers_that_are_put_fit() {
    let x = Array::from([1u8, 2]);
    let puts: [fn(Expr, Expr) -> Expr; 8] = [
        |x, k| x.at(0).set(k),
        |x, k| x.at(0).add(k),
        |x, k| x.at(x).max(k),
        |x, k| x.at(x.gt(1)).set(k),
        |x, k| x.at(x.gt(1)).subtract(k),
        |x, k| jit(|x: Expr, k: Expr| x.at(0).set(k)).inline((x, k)),
        |x, k| ndjit::fori_loop(0, 1, x, move |_, x| x.at(0).set(k)),
        |x, _| x.at(0).set(Expr::from(300)),
    ];
    for (n, put) in puts.into_iter().enumerate() {
        let f = jit(put);
        let error = f.call((&x, 300)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Literal, "{n}: {error}");
        assert!(error.facts().len() > 1 && error.help_text().is_some(), "{n}: {error}");
        assert!(n == 7 || f.call((&x, 7)).is_ok(), "{n}");
    }
    // A scalar of another kind is cast, as arrays are.
    assert_eq!(jit(|x: Expr, k: Expr| x.at(0).set(k)).call((&x, 2.5)).unwrap().to_vec::<u8>().unwrap(), [2, 2]);
}

#[test]
fn masks_say_where_to_put() {
    let x = arange(6).reshape([3, 2]);
    let odd = (&x % 2).eq(1);
    assert_eq!(x.at(&odd).set(9).to_vec::<i32>().unwrap(), [0, 9, 2, 9, 4, 9]);
    assert_eq!(x.at(Array::from([true, false, true])).add(10).to_vec::<i32>().unwrap(), [10, 11, 2, 3, 14, 15]);
    let clipped = jit(|x: Expr| x.at(x.gt(3)).set(3));
    assert_eq!(clipped(&x).to_vec::<i32>().unwrap(), [0, 1, 2, 3, 3, 3]);
    let errors = [
        x.at((0, Array::from([true, false]))).get().eval().unwrap_err(),
        jit(|x: Expr| x.at(x.gt(3)).get()).call((&x,)).unwrap_err(),
        x.at((0, Array::from([true, false]))).set(1).eval().unwrap_err(),
    ];
    for (error, what) in errors.iter().zip(["at", "at", "at.set"]) {
        let headline = format!("{what}: a mask names no indices: how many depends on its elements");
        assert_eq!((error.code(), error.headline()), (ErrorCode::DType, &*headline));
        let help = error.help_text().unwrap_or_default();
        assert!(
            ["where_(mask, x, y)", "nonzero(mask)", "x.at(mask).set(0)"].iter().all(|way| help.contains(way)),
            "{help}"
        );
    }
    // The fixes named by the error.
    let [rows, columns] = &ndjit::nonzero(&odd)[..] else { unreachable!() };
    assert_eq!(x.at((rows, columns)).get().to_vec::<i32>().unwrap(), [1, 3, 5]);
    assert_eq!(x.at(&odd).get().to_vec::<i32>().unwrap(), [1, 3, 5]);
    assert_eq!(x.at(Array::from([true, false])).set(1).eval().unwrap_err().code(), ErrorCode::Shape);
}

/// An axis of extent 1 of a mask stands for one index, as in NumPy ("boolean index did not match indexed array"), not for all.
#[test]
fn masks_do_not_broadcast() {
    type Put = fn(ndjit::indexing::At<Expr>) -> Expr;
    type PutEager = fn(ndjit::indexing::At<Array>) -> Array;
    let puts: [(&str, Put, PutEager); 4] = [
        ("at.set", |at| at.set(0), |at| at.set(0)),
        ("at.add", |at| at.add(1), |at| at.add(1)),
        ("at.min", |at| at.min(0), |at| at.min(0)),
        ("at.max", |at| at.max(0), |at| at.max(0)),
    ];
    let wrong: [(&[usize], &[usize]); 6] =
        [(&[3], &[1]), (&[2, 3], &[1]), (&[2, 3], &[1, 3]), (&[2, 3], &[2, 1]), (&[0], &[1]), (&[1, 3], &[1, 1])];
    for (of, own) in wrong {
        let (x, mask) = (ones(of), ones(own).cast(DType::Bool));
        let (of, own) = (x.shape().to_string(), mask.shape().to_string());
        for (what, traced, eager) in puts {
            let traced = jit(move |x: Expr, mask: Expr| traced(x.at(mask))).call((&x, &mask)).unwrap_err();
            for error in [traced, eager(x.at(&mask)).eval().unwrap_err()] {
                let headline = format!("{what}: a mask of shape {own} for an array of shape {of}");
                assert_eq!((error.code(), error.headline()), (ErrorCode::Shape, &*headline));
                assert!(error.place().is_some(), "{error}");
                let help = error.help_text().unwrap_or_default();
                assert!(help.contains(&format!("broadcast_to(mask, {of})")), "{help}");
            }
        }
    }
    // If the array's axis has extent 1, so has the mask's; a 0-d mask stands for all; and the fix named by the error.
    let x = arange(3).reshape([1, 3]);
    assert_eq!(x.at(Array::from([true])).set(7).to_vec::<i32>().unwrap(), [7, 7, 7]);
    assert_eq!(x.at(true).set(7).to_vec::<i32>().unwrap(), [7, 7, 7]);
    let spread = ndjit::broadcast_to(Array::from([true]), [1, 3]);
    assert_eq!(x.at(spread).set(7).to_vec::<i32>().unwrap(), [7, 7, 7]);
}

#[test]
fn searches_as_numpy_does() {
    // np.searchsorted([1, 2, 2, 3, nan], [0, 1, 2, 2.5, 3, 4, nan], side)
    let x = Array::from([1.0f32, 2.0, 2.0, 3.0, f32::NAN]);
    let v = Array::from([0.0f32, 1.0, 2.0, 2.5, 3.0, 4.0, f32::NAN]);
    assert_eq!(searchsorted(&x, &v, Side::Left).to_vec::<i32>().unwrap(), [0, 0, 1, 3, 3, 4, 4]);
    assert_eq!(searchsorted(&x, &v, Side::Right).to_vec::<i32>().unwrap(), [0, 1, 3, 3, 4, 4, 5]);
    for n in 0..70 {
        let x = arange(n) * 2;
        let v = (arange(150) - 3).reshape([3, 50]);
        let left: Vec<i32> = (-3..147).map(|v: i32| ((v + 1) / 2).clamp(0, n)).collect();
        let found = searchsorted(&x, &v, Side::Left);
        assert_eq!((found.shape().extents(), found.to_vec::<i32>().unwrap()), (&[3, 50][..], left), "{n}");
    }
    let f = jit(|x: Expr, v: Expr| searchsorted(x, v, Side::Right));
    ndjit::assert_kernels!(f, (&x, &v), 1);
    assert_eq!(searchsorted(x.reshape([1, -1]), 1, Side::Left).eval().unwrap_err().code(), ErrorCode::Shape);
}

#[test]
fn what_is_put_nowhere_is_left_out_when_traced_and_an_error_of_arrays() {
    let put = jit(|x: Expr, i: Expr, y: Expr| x.at(i).set(y));
    let x = arange(3);
    let y = Array::from([7, 8, 9]);
    assert_eq!(put(&x, &Array::from([5, -1, -4]), &y).to_vec::<i32>().unwrap(), [0, 1, 8]);
    assert_eq!(x.at(Array::from([5])).set(1).eval().unwrap_err().headline(), "at.set: index 5 is out of range");
    let get = jit(|x: Expr, i: Expr| (x.at(i).get(), x.at(i).get_or(-1)));
    let (nearest, filled) = get(&x, &Array::from([5, -1, -4]));
    assert_eq!(nearest.to_vec::<i32>().unwrap(), [2, 2, 0]);
    assert_eq!(filled.to_vec::<i32>().unwrap(), [-1, 2, -1]);
    let error = x.at((0, 0)).get().eval().unwrap_err();
    assert_eq!(
        (error.code(), error.headline()),
        (ErrorCode::Shape, "at: 2 indices or ranges of an array of shape [3]")
    );
    let error = x.at(Array::from([0, 1])).add(Array::from([1, 2, 3])).eval().unwrap_err();
    assert_eq!(error.headline(), "at.add: [3] does not broadcast to [2], the shape of what is put");
    let facts = ["x:       i32[3] held as data", "indices: i32[2] held as data", "y:       i32[3] held as data"];
    assert!(error.facts() == facts && error.help_text().is_some(), "{error}");
    assert_eq!(x.at(0).set(1.5).eval().unwrap_err().code(), ErrorCode::Literal);
}

#[test]
fn errors_name_what_was_given() {
    let x = x();
    let i = Array::from([0, 1]);
    type Wrong = fn(Expr, Expr) -> Expr;
    let wrong: [(Wrong, &str); 6] = [
        (
            |x, i| x.at((i, i + arange(2).reshape([2, 1]), arange(3))).get(),
            "at: indices of shapes [2, 2] and [3] do not broadcast",
        ),
        (|x, i| x.at(i * 0.5).set(1), "at.set: indices are integers, not f*"),
        (
            |x, i| x.at(i.gt(0).slice(..1).reshape([1, 1]).broadcast_to([2, 2])).set(1),
            "at.set: a mask of shape [2, 2] for an array of shape [2, 3, 4]",
        ),
        (|x, i| x.at(i.gt(0)).set(i), "at.set: [2] does not broadcast to [2, 3, 4], the array's shape"),
        (
            |x, i| take_along_axis(x, i.reshape([1, 2, 1]), 2),
            "take_along_axis: indices of shape [1, 2, 1] for an array of shape [2, 3, 4]",
        ),
        (|x, i| take(x, i, 3), "take: there is no axis 3"),
    ];
    for (f, headline) in wrong {
        let error = jit(f).call((&x, &i)).unwrap_err();
        assert_eq!(error.headline(), headline);
        let facts = error.facts();
        assert!(
            facts[0].starts_with("x: ")
                && facts[0].ends_with("i32[2, 3, 4] from argument 0")
                && facts[1].starts_with("indices"),
            "{error}"
        );
        assert!(error.help_text().is_some() && error.place().is_some(), "{error}");
    }
}

#[test]
fn arrays_without_elements() {
    let (empty, rows): (Array, Array) = (ndjit::zeros([0]), ndjit::zeros([0, 2]));
    let i = Array::from([0, -1]);
    let put = |f: fn(Expr, Expr) -> Expr, x: &Array| jit(f)(x, &i).shape().extents().to_vec();
    assert_eq!(put(|x, i| x.at(i).add(1), &empty), [0]);
    assert_eq!(put(|x, i| x.at(i).set(1), &rows), [0, 2]);
    assert_eq!(put(|x, i| x.at((i, i)).max(1), &rows), [0, 2]);
    let instead = jit(|x: Expr, i: Expr| x.at(i).get_or(7));
    assert_eq!(instead(&empty, &i).to_vec::<f32>().unwrap(), [7.0, 7.0]);
    assert_eq!(instead(&rows, &i).to_string(), "[[7. 7.]\n [7. 7.]]");
    assert_eq!(empty.at(&i).get_or(7).to_vec::<f32>().unwrap(), [7.0, 7.0]);
    for f in [|x, i| take(x, i, 0), |x: Expr, i| x.at(i).get(), |x, i| take_along_axis(x, i, 0)]
        as [fn(Expr, Expr) -> Expr; 3]
    {
        let error = jit(f).call((&empty, &i)).unwrap_err();
        assert!(error.headline().ends_with("an array of shape [0] has no element to take"), "{error}");
    }
}

#[test]
fn a_search_is_compiled_for_few_lengths() {
    let f = jit(|x: Expr, v: Expr| searchsorted(x, v, Side::Left));
    for n in [16, 17, 31, 32, 100, 255] {
        let x = arange(n) * 2;
        let found = f(&x, &(arange(n) * 2 + 1)).to_vec::<i32>().unwrap();
        assert_eq!(found, (1..=n).collect::<Vec<i32>>(), "{n}");
    }
    assert_eq!(f.compile_count(), 1);
}

#[test]
fn what_is_put_takes_the_memory_of_what_dies() {
    let put = jit(|x: Expr, i: Expr| x.at(i).add(1));
    let (mut x, i): (Array, Array) = (ndjit::zeros(1000), Array::from([3, 3, 999]));
    for _ in 0..3 {
        x = put.call((x.donate(), &i)).unwrap();
    }
    assert_eq!(x.slice(3).item::<f32>().unwrap(), 6.0);
    let stats = put.stats();
    assert_eq!((stats.donated, stats.donations_taken), (3, 3), "{stats:?}");
    // The elements of a live array stay.
    let y = put(&x, &i);
    assert_eq!((x.slice(3).item::<f32>().unwrap(), y.slice(3).item::<f32>().unwrap()), (6.0, 8.0));
    // The updates are computed from the updated array.
    let mixed = jit(|x: Expr, i: Expr| (x * 2).at(i).add(x * 2));
    assert_eq!(mixed(&arange(3), &Array::from([2, 1, 0])).to_vec::<i32>().unwrap(), [4, 4, 4]);
}

#[test]
fn many_are_put_the_same_for_any_number_of_threads() {
    let n = 200_000;
    let x = ndjit::zeros(1000);
    let i = (arange(n) * 7919) % 1000;
    let y = ndjit::cast(arange(n), DType::F32) * 0.37f32;
    let once = jit(|x: Expr, i: Expr, y: Expr| x.at(i).add(y)).threads(1)(&x, &i, &y).to_vec::<f32>().unwrap();
    let mut expected = vec![0f32; 1000];
    for k in 0..n as usize {
        expected[(k * 7919) % 1000] += k as f32 * 0.37;
    }
    assert_eq!(once, expected);
    // Rows of 40 elements, distributed over threads.
    let (rows, to) = (y.reshape([5000, 40]), (arange(5000) * 7919) % 100);
    let wide = ndjit::zeros([100, 40]);
    let mut sums = vec![0f32; 4000];
    for k in 0..n as usize {
        sums[(k / 40 * 7919) % 100 * 40 + k % 40] += k as f32 * 0.37;
    }
    for threads in [1, 2, 3, 7] {
        let f = jit(|x: Expr, i: Expr, y: Expr| x.at(i).add(y)).threads(threads);
        assert_eq!(f(&x, &i, &y).to_vec::<f32>().unwrap(), expected);
        assert_eq!(f(&wide, &to, &rows).to_vec::<f32>().unwrap(), sums);
    }
}

/// Bits of the elements; all NaNs are equal.
fn bits(x: &Array) -> Vec<String> {
    let text = x.flatten_text();
    text.into_iter().map(|element| element.replace("-nan", "nan")).collect()
}

trait Text {
    fn flatten_text(&self) -> Vec<String>;
}

impl Text for Array {
    fn flatten_text(&self) -> Vec<String> {
        (0..self.len() as isize).map(|n| self.slice(n).to_string()).collect()
    }
}

#[test]
fn what_is_put_is_what_the_interpreter_puts_in_every_dtype() {
    let special =
        [0.0f64, -0.0, 1.0, -1.0, 0.1, 255.0, 1e5, -3e9, 1e300, 6e-8, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let n = special.len();
    let (a, b): (Vec<f64>, Vec<f64>) = (0..n * n).map(|k| (special[k / n], special[k % n])).unzip();
    let i = Array::from((0..(n * n) as i64).rev().collect::<Vec<i64>>());
    for dtype in DType::ALL {
        let mut x = ndjit::cast(Array::from(a.clone()), dtype);
        let mut y = ndjit::cast(Array::from(b.clone()), dtype).flip(0);
        if dtype.is_complex() {
            let turn = ndjit::cast(Array::from(num_complex::Complex::new(0.0f64, 1.0)), dtype);
            (x, y) = (&x + &y * &turn, &y - &x * &turn);
        }
        for kind in ["set", "add", "min", "max"] {
            let put = move |x: Expr, i: Expr, y: Expr| match kind {
                "set" => x.at(i).set(y),
                "add" => x.at(i).add(y),
                "min" => x.at(i).min(y),
                _ => x.at(i).max(y),
            };
            let compiled = match jit(put).call((&x, &i, &y)) {
                Ok(compiled) => compiled,
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::DType, "{kind} {dtype}: {error}");
                    continue;
                }
            };
            let interpreted = jit(put).interpreted(true).call((&x, &i, &y)).unwrap();
            assert_eq!(bits(&compiled), bits(&interpreted), "{kind} {dtype}");
        }
    }
}

#[test]
fn an_array_without_axes_is_put_as_a_whole() {
    use ndjit::dynamic::{self, Index};
    use ndjit::operand::Operand;

    let x = Array::from(1.5f32);
    let at = |indices: Vec<Index>| dynamic::at::<Array>((&x).operand(), indices);
    let all = || vec![Index::Slice(ndjit::manipulation::Slice::Ellipsis)];
    assert_eq!(at(all()).set(2).item(), Ok(2.0f32));
    assert_eq!(x.at(ndjit::Ellipsis).add(1).item(), Ok(2.5f32));
    assert_eq!(at(Vec::new()).set(3).item(), Ok(3.0f32));
    let put = jit(|x: Expr| x.at(ndjit::Ellipsis).set(x * 3));
    assert_eq!(put(&x).item(), Ok(4.5f32));
    assert_eq!(at(all()).set(Array::from([1, 2])).eval().unwrap_err().code(), ErrorCode::Shape);
    assert_eq!(x.at(0).set(2).eval().unwrap_err().code(), ErrorCode::Shape);
}

#[test]
fn a_mask_may_have_axes_without_elements() {
    let x = arange(6).reshape([2, 3]);
    let none = ndjit::dtype(DType::Bool).zeros([0]);
    assert_eq!(x.at(&none).get().shape().extents(), [0, 3]);
    assert_eq!(x.at(ndjit::dtype(DType::Bool).zeros([2, 0])).get().shape().extents(), [0]);
    assert_eq!(x.at(&none).set(7).to_vec::<i32>(), x.to_vec());
    assert_eq!(x.at(ndjit::dtype(DType::Bool).zeros([0, 2])).get().eval().unwrap_err().code(), ErrorCode::Shape);
}

#[test]
fn a_number_is_searched_for_under_policies_that_refuse_two_numbers() {
    let x = Array::from([1u8, 3, 5]);
    let found = ndjit::with_policy(ndjit::Policy::ArrayApi, || searchsorted(&x, 3, Side::Right));
    assert_eq!(found.cast(DType::I32).item(), Ok(2));
    assert_eq!(searchsorted(&x, 300, Side::Left).eval().unwrap_err().code(), ErrorCode::Literal);
    let floats = Array::from([0.5f32, 1.5]);
    assert_eq!(searchsorted(&floats, f64::NAN, Side::Left).item(), Ok(2));
}
