//! Sorts in the public API: values, types, axes, errors, on arrays and in traced functions; and searches outside of
//! them.

use ndjit::{
    Array, Complex, DType, ErrorCode, Expr, Interpolation, Policy, Result, Stage, argsort, descending, dtype, isin,
    jit, keepdims, median, nonzero, quantile, sort, spec, strong, topk, unique_all, unique_counts, unique_inverse,
    unique_values, with_policy, zeros,
};

/// Many kinds of values, many of them equal.
fn numbers(n: usize) -> Vec<f32> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 40
    };
    let specials = [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    (0..n)
        .map(|_| match next() % 16 {
            special @ 0..5 => specials[special as usize],
            _ => (next() % 41) as f32 / 4.0 - 5.0,
        })
        .collect()
}

fn bits(x: &Array) -> Result<Vec<u32>> {
    Ok(x.to_vec::<f32>()?.iter().map(|x| if x.is_nan() { u32::MAX } else { x.to_bits() }).collect())
}

#[test]
fn elements_and_indices_agree() -> Result<()> {
    for n in [0, 1, 2, 50, 1_000, 40_000] {
        let elements = numbers(n);
        let x = Array::from(elements.clone());
        for order in [ndjit::IntoSorting::sorting(0), descending(0)] {
            let indices = dtype(DType::I64).argsort(&x, order).to_vec::<i64>()?;
            let mut seen = indices.clone();
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(0..n as i64));
            let taken: Vec<f32> = indices.iter().map(|&i| elements[i as usize]).collect();
            assert_eq!(bits(&sort(&x, order))?, bits(&Array::from(taken.clone()))?, "{n}");
            // In ascending order with NaN last; the sort is stable.
            let key = |i: usize| (taken[i].is_nan(), if taken[i].is_nan() { 0.0 } else { taken[i] });
            for i in 1..n {
                let (a, b) = if order == descending(0) { (key(i), key(i - 1)) } else { (key(i - 1), key(i)) };
                assert!(a <= b && (a != b || indices[i - 1] < indices[i]), "{n} {i}");
            }
        }
    }
    Ok(())
}

#[test]
fn dtypes_and_policies() -> Result<()> {
    let x = Array::from([3u8, 1, 2]);
    assert_eq!((x.sort(0).dtype(), x.argsort(0).dtype()), (DType::U8, DType::I32));
    assert_eq!(dtype(DType::U8).argsort(&x, 0).to_vec::<u8>()?, [1, 2, 0]);
    assert_eq!(dtype(DType::U8).argsort(&x, descending(0)).to_vec::<u8>()?, [0, 2, 1]);
    assert_eq!(with_policy(Policy::NumPy2, || x.argsort(descending(0))).to_vec::<i64>()?, [0, 2, 1]);
    assert_eq!((median(&x, ..).dtype(), quantile(&x, 0.3, ..).dtype()), (DType::F32, DType::F32));
    assert_eq!(with_policy(Policy::NumPy2, || median(&x, ..)).dtype(), DType::F64);
    assert_eq!(Interpolation::Higher.quantile(&x, 0.3, ..).dtype(), DType::U8);
    let z = Array::from([Complex::new(1.0f32, 2.0), Complex::new(1.0, -2.0), Complex::new(0.0, 5.0)]);
    assert_eq!(z.argsort(0).to_vec::<i32>()?, [2, 1, 0]);
    assert_eq!(median(&z, ..).item::<Complex<f32>>()?, Complex::new(1.0, -2.0));
    assert_eq!(sort(Array::from([true, false, true]), 0).to_vec::<bool>()?, [false, true, true]);
    // Weak operands give strong results.
    assert!(!sort(ndjit::full([2], 3), 0).is_weak());
    Ok(())
}

#[test]
fn medians_and_quantiles_over_axes() -> Result<()> {
    let x = ndjit::arange(24).reshape([2, 3, 4]).cast(DType::F64);
    assert_eq!(median(&x, [0, 2]).to_vec::<f64>()?, [7.5, 11.5, 15.5]);
    assert_eq!(median(&x, keepdims(..)).shape().extents(), [1, 1, 1]);
    assert_eq!(quantile(&x, 0.9, keepdims([0, -1])).shape().extents(), [1, 3, 1]);
    assert_eq!(quantile(&x, 0, 1).to_vec::<f64>()?, x.min(1).to_vec::<f64>()?);
    assert_eq!(quantile(&x, 1, 1).to_vec::<f64>()?, x.max(1).to_vec::<f64>()?);
    let methods = [
        (Interpolation::Linear, 1.75),
        (Interpolation::Lower, 1.0),
        (Interpolation::Higher, 2.0),
        (Interpolation::Midpoint, 1.5),
        (Interpolation::Nearest, 2.0),
    ];
    for (method, expected) in methods {
        assert_eq!(
            method.quantile(Array::from([4.0f64, 1.0, 3.0, 2.0]), 0.25, ..).item::<f64>()?,
            expected,
            "{method:?}"
        );
        assert!(method.quantile(Array::from([4.0f64, 1.0, f64::NAN, 2.0]), 0.0, ..).item::<f64>()?.is_nan());
        // At an element an adjacent infinity has no effect.
        assert_eq!(method.quantile(Array::from([1.0f64, f64::INFINITY]), 0, ..).item::<f64>()?, 1.0);
    }
    assert!(median(zeros([0]), ..).item::<f32>()?.is_nan());
    assert_eq!(median(zeros([0, 3]), 1).shape().extents(), [0]);
    assert_eq!(median(Array::from(7i32), ..).item::<f32>()?, 7.0);
    assert_eq!(Interpolation::Nearest.quantile(Array::from([10, 20, 30, 40, 50, 60]), 0.5, ..).item::<i32>()?, 30);
    Ok(())
}

#[test]
fn the_largest_elements() -> Result<()> {
    let x = Array::from_rows(&[[3, 9, 9, 1], [5, 5, 5, 7]]);
    let (values, indices) = topk(&x, 2, 1);
    assert_eq!((values.to_string(), indices.to_string()), ("[[9 9]\n [7 5]]".into(), "[[1 2]\n [3 0]]".into()));
    let (values, indices) = x.topk(1, 0);
    assert_eq!((values.to_string(), indices.to_string()), ("[[5 9 9 7]]".into(), "[[1 0 0 1]]".into()));
    let (values, _) = topk(&x, 0, -1);
    assert_eq!(values.shape().extents(), [2, 0]);
    Ok(())
}

#[test]
fn traced_functions_sort() -> Result<()> {
    let x = Array::from(numbers(200)).reshape([4, 50]);
    let f = jit(|x: Expr| {
        let (values, indices) = (x * 2).topk(3, -1);
        (
            x.sort(descending(1)) + 1,
            argsort(x, 0),
            x.median(1),
            x.quantile(0.3, keepdims(..)),
            values,
            indices,
            x.isin(0.25),
        )
    });
    let (sorted, order, middle, lower, values, indices, among) = f.call((&x,))?;
    assert_eq!(bits(&sorted)?, bits(&(sort(&x, descending(1)) + 1))?);
    assert_eq!(order.to_vec::<i32>()?, argsort(&x, 0).to_vec::<i32>()?);
    assert_eq!(bits(&middle)?, bits(&median(&x, 1))?);
    assert_eq!(bits(&lower)?, bits(&quantile(&x, 0.3, keepdims(..)))?);
    let (eager, at) = topk(&x * 2, 3, -1);
    assert_eq!((bits(&values)?, indices.to_vec::<i32>()?), (bits(&eager)?, at.to_vec::<i32>()?));
    assert_eq!(among.to_vec::<bool>()?, x.eq(0.25).to_vec::<bool>()?);
    Ok(())
}

#[test]
fn errors_say_what_is_wrong_and_what_to_do() {
    let of = |x: &Array| x.error().cloned().unwrap();
    let x = zeros([2, 3]);
    let all = [
        of(&sort(&x, 2)),
        of(&sort(&x, descending(-3))),
        of(&argsort(Array::from(1.0f32), 0)),
        of(&dtype(DType::U8).argsort(zeros([300]), 0)),
        of(&dtype(DType::F32).argsort(&x, 0)),
        of(&topk(&x, 4, 1).1),
        of(&median(&x, [0, 0])),
        of(&quantile(&x, 1.5, ..)),
        of(&quantile(&x, f64::NAN, ..)),
        of(&quantile(zeros([0]), 0.5, ..)),
        of(&quantile(x.cast(DType::C64), 0.5, ..)),
        of(&nonzero(Array::from(1.0f32))[0]),
    ];
    assert!(all.iter().all(|error| error.place().is_some_and(|place| place.file == file!())));
    let shown = |error: &ndjit::Error| {
        format!(
            "{}: {}; {}; {}",
            error.code(),
            error.headline(),
            error.facts().join(", "),
            error.help_text().unwrap_or("-")
        )
    };
    insta::assert_snapshot!(all.iter().map(shown).collect::<Vec<_>>().join("\n"));
}

#[test]
fn shapes_that_depend_on_values_are_errors_in_traced_functions() {
    type Function = fn(Expr) -> Expr;
    let all: [(&str, Function); 5] = [
        ("nonzero", |x| nonzero(x)[0]),
        ("unique_all", |x| unique_all(x).counts),
        ("unique_counts", |x| unique_counts(x).1),
        ("unique_inverse", |x| unique_inverse(x).0),
        ("unique_values", |x| -unique_values(x)),
    ];
    for (name, function) in all {
        let error = jit(function).trace(&[spec(DType::F32, [3])]).err().unwrap();
        assert_eq!(error.code(), ErrorCode::Traced, "{name}");
        assert!(error.headline().starts_with(&format!("{name}: the shape of its result depends on values")), "{error}");
        assert!(error.help_text().unwrap().contains(&format!("call `{name}` outside")), "{error}");
        assert_eq!(error.place().unwrap().file, file!());
    }
    // An array that is captured is data.
    let captured = Array::from([0.0f32, 3.0]);
    let f = jit(move |x: Expr| x + nonzero(&captured)[0].clone());
    assert_eq!(f.call((&Array::from([1i64]),)).unwrap().to_vec::<i64>().unwrap(), [2]);
}

#[test]
fn what_is_nonzero() -> Result<()> {
    let rows =
        |x: &Array| -> Result<Vec<Vec<i64>>> { nonzero(x).iter().map(|i| i.cast(DType::I64).to_vec()).collect() };
    let x = Array::from_rows(&[[0.0f32, 2.0, f32::NAN], [-0.0, 0.0, 1.0]]);
    assert_eq!(rows(&x)?, [[0, 0, 1], [1, 2, 2]]);
    assert_eq!(rows(&x.mt())?, [[1, 2, 2], [0, 0, 1]]);
    assert_eq!(rows(&zeros([2, 0, 3]))?, [[]; 3] as [[i64; 0]; 3]);
    assert_eq!(rows(&Array::from([false, true]))?, [[1]]);
    assert_eq!(rows(&Array::from([Complex::new(0.0f64, 1.0)]))?, [[0]]);
    let four = ndjit::ones([2, 3, 2, 2]);
    assert_eq!(rows(&four)?[1], [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2].repeat(2));
    with_policy(Policy::Torch, || assert_eq!(rows(&x).unwrap(), [[0, 0, 1], [1, 2, 2]]));
    Ok(())
}

#[test]
fn all_positions_have_the_dtype_of_indices() -> Result<()> {
    let dtypes = || {
        let x = Array::from([3, 1, 2]);
        let unique = unique_all(&x);
        let all = [
            argsort(&x, 0),
            ndjit::argmax(&x, 0),
            ndjit::count_nonzero(&x, ..),
            nonzero(&x)[0].clone(),
            unique.indices,
            unique.inverse_indices,
            unique.counts,
            ndjit::searchsorted(&x, 2, ndjit::Side::Left),
            jit(|x: Expr| x.searchsorted(2, ndjit::Side::Left))(&x),
            unique_all(zeros(0)).counts,
        ];
        all.iter().map(Array::dtype).collect::<Vec<DType>>()
    };
    assert_eq!(dtypes(), [DType::I32; 10]);
    for policy in [Policy::Torch, Policy::NumPy2] {
        assert_eq!(with_policy(policy, dtypes), [DType::I64; 10], "{policy}");
    }
    assert_eq!(ndjit::with_defaults(ndjit::Defaults::BITS_64, dtypes)?, [DType::I64; 10]);
    Ok(())
}

#[test]
fn what_there_is_once() -> Result<()> {
    let x = Array::from_rows(&[[2.0f32, -0.0, f32::NAN, 0.0], [2.0, f32::NAN, -1.0, 2.0]]);
    let unique = unique_all(&x);
    assert_eq!(unique.values.to_string(), "[-1. -0.  2. nan nan]");
    assert_eq!(unique.indices.to_vec::<i32>()?, [6, 1, 0, 2, 5]);
    assert_eq!(unique.counts.to_vec::<i32>()?, [1, 2, 3, 1, 1]);
    assert_eq!(unique.inverse_indices.to_string(), "[[2 1 3 1]\n [2 4 0 2]]");
    let (values, counts) = unique_counts(Array::from(vec![7u8; 300]));
    assert_eq!((values.to_vec::<u8>()?, counts.to_vec::<i32>()?), (vec![7], vec![300]));
    let (values, inverse) = unique_inverse(Array::from([true, false, true]));
    assert_eq!((values.to_vec::<bool>()?, inverse.to_vec::<i32>()?), (vec![false, true], vec![1, 0, 1]));
    assert_eq!(unique_values(zeros([0, 3])).shape().extents(), [0]);
    assert_eq!(unique_inverse(zeros([0, 3])).1.shape().extents(), [0, 3]);
    assert_eq!(unique_values(Array::from(5i16)).to_vec::<i16>()?, [5]);
    let z = [Complex::new(1.0f32, 1.0), Complex::new(1.0, 0.0), Complex::new(1.0, 1.0)];
    assert_eq!(unique_values(Array::from(z)).to_vec::<Complex<f32>>()?, [z[1], z[0]]);
    // A large one, against the standard library.
    let elements: Vec<i32> = numbers(30_000).iter().map(|x| (x * 4.0) as i32).collect();
    let mut expected = elements.clone();
    expected.sort_unstable();
    expected.dedup();
    let unique = unique_all(Array::from(elements.clone()));
    assert_eq!(unique.values.to_vec::<i32>()?, expected);
    let inverse = unique.inverse_indices.to_vec::<i32>()?;
    assert!(inverse.iter().zip(&elements).all(|(&i, &x)| expected[i as usize] == x));
    let failed = unique_all(zeros([2]) + zeros([3]));
    assert_eq!(failed.counts.error().unwrap().code(), ErrorCode::Shape);
    Ok(())
}

#[test]
fn membership() -> Result<()> {
    let x = Array::from_rows(&[[1, 5], [2, 5]]);
    assert_eq!(isin(&x, Array::from_rows(&[[5], [7]])).to_string(), "[[false  true]\n [false  true]]");
    assert_eq!(isin(&x, zeros([0])).to_vec::<bool>()?, [false; 4]);
    assert_eq!(x.isin(2).to_vec::<bool>()?, [false, false, true, false]);
    assert!(isin(Array::from(5), &x).item::<bool>()?);
    assert_eq!(isin(Array::from([f32::NAN, 0.0]), Array::from([f32::NAN, -0.0])).to_vec::<bool>()?, [false, true]);
    assert_eq!(isin(Array::from([1u8, 200]), Array::from([-56i8, 1])).to_vec::<bool>()?, [true, false]);
    assert_eq!(isin(&x, strong(5i64)).to_vec::<bool>()?, [false, true, false, true]);
    Ok(())
}

#[test]
fn every_stage_shows_a_sort() -> Result<()> {
    let f = jit(|x: Expr| (x * 2).sort(0) + 1);
    let lowered = f.trace(&[spec(DType::F32, [5])])?.lower()?;
    let stages = [Stage::Graph, Stage::Typed, Stage::Kernels, Stage::Loops, Stage::Expanded];
    insta::assert_snapshot!(stages.map(|stage| lowered.explain(stage)).join("\n"));
    Ok(())
}

#[test]
fn several_quantiles_of_one_sort() -> Result<()> {
    let x = ndjit::arange(24).reshape([2, 3, 4]).cast(DType::F64);
    let both = quantile(&x, [0, 1], 1);
    assert_eq!(both.shape().extents(), [2, 2, 4]);
    assert_eq!(both.to_vec::<f64>()?, ndjit::stack([x.min(1), x.max(1)], 0).to_vec::<f64>()?);
    assert_eq!(quantile(&x, vec![0.5], keepdims(..)).shape().extents(), [1, 1, 1, 1]);
    let several = jit(|x: Expr| quantile(x, [0.25, 0.5, 0.75], ..));
    assert_eq!(several(&x).to_vec::<f64>()?, [5.75, 11.5, 17.25]);
    assert_eq!(several.explain(Stage::Kernels).matches("sorts").count(), 1);
    let error = quantile(&x, [0.5, 1.5], ..).error().cloned().unwrap();
    assert_eq!(error.headline(), "quantile: q is 1.5, not a number from 0 to 1");
    assert_eq!(quantile(&x, &[] as &[f64], ..).error().unwrap().headline(), "quantile: no q is given");
    Ok(())
}

/// A few places of sorted elements are computed by comparisons, with the bits of the sort: also for zeros of both signs, NaNs and windows.
#[test]
fn places_of_few_elements() -> Result<()> {
    for n in 2..=17 {
        let rows = Array::from_shape_vec([40, n], numbers(40 * n))?;
        for d in [
            DType::F32,
            DType::F64,
            DType::F16,
            DType::Bf16,
            DType::I8,
            DType::U16,
            DType::I32,
            DType::U64,
            DType::Bool,
        ] {
            let x = if d.is_float() { rows.cast(d) } else { ndjit::where_(ndjit::isfinite(&rows), &rows, 3).cast(d) };
            for backwards in [false, true] {
                let order = move |axis| if backwards { descending(axis) } else { ndjit::IntoSorting::sorting(axis) };
                let place = |x: Expr, at: usize| x.slice((.., at..at + 1));
                let f = jit(move |x: Expr| {
                    let sorted = x.sort(order(1));
                    (place(sorted, 0), place(sorted, n / 2), place(sorted, n - 1).squeeze(1))
                });
                let whole = jit(move |x: Expr| x.sort(order(1)))(&x);
                let (first, middle, last) = f(&x);
                assert_eq!(f.explain(Stage::Kernels).contains("sorts"), n > 16, "{d} {n}");
                for (got, at) in [(first, 0), (middle, n / 2), (last, n - 1)] {
                    let (got, expected) = (got.cast(DType::F32), whole.slice((.., at)).cast(DType::F32));
                    assert_eq!(bits(&got)?, bits(&expected)?, "{d} {n} {at}");
                }
            }
        }
    }
    let x = Array::from(numbers(5000));
    let windows = |x: Expr| ndjit::sliding_window(x * 2, 9, 0);
    let f = jit(move |x: Expr| median(windows(x), -1));
    let sorted = jit(move |x: Expr| windows(x).sort(-1))(&x);
    let last = bits(&sorted.slice((.., 8)))?;
    let middle = bits(&sorted.slice((.., 4)))?;
    let expected: Vec<u32> =
        last.into_iter().zip(middle).map(|(last, middle)| if last == u32::MAX { last } else { middle }).collect();
    assert_eq!(bits(&f(&x))?, expected);
    let text = f.explain(Stage::Kernels);
    assert_eq!(text.matches("kernel").count(), 2, "{text}");
    Ok(())
}

/// Finite elements have finite quantiles between them, even if their sum or difference overflows; next to an infinite element is that
/// infinity, and between both infinities NaN.
#[test]
fn quantiles_beyond_the_range_of_differences() -> Result<()> {
    let (inf, most) = (f64::INFINITY, f64::MAX);
    let tiny = 5e-324;
    // The elements, q, the quantile; the mean of the two elements.
    let cases = [
        ([most, most, most], 0.25, most, most),
        ([-most, most, most], 0.25, 0.0, 0.0),
        ([-most, most, most], 0.125, -most / 2.0, 0.0),
        ([-most, most, most], 0.375, most / 2.0, 0.0),
        ([-most, -most, most], 0.625, -most / 2.0, 0.0),
        ([most / 2.0, most, most], 0.25, most * 0.75, most * 0.75),
        ([1.0, inf, inf], 0.75, inf, inf),
        ([1.0, inf, inf], 0.0, 1.0, 1.0),
        ([1.0, inf, inf], 0.125, inf, inf),
        ([1.0, inf, inf], 0.375, inf, inf),
        ([-inf, 1.0, 2.0], 0.125, -inf, -inf),
        ([-inf, 1.0, 2.0], 0.375, -inf, -inf),
        ([-inf, -inf, 1.0], 0.25, -inf, -inf),
        ([-inf, inf, inf], 0.375, f64::NAN, f64::NAN),
        ([tiny, 3.0 * tiny, 4.0], 0.25, 2.0 * tiny, 2.0 * tiny),
    ];
    let same = |x: f64, y: f64| x == y || (x.is_nan() && y.is_nan());
    for (elements, q, linear, mean) in cases {
        let x = Array::from(elements);
        let [eager, traced] = [quantile(&x, q, ..), jit(move |x: Expr| quantile(x, q, ..)).call((&x,))?];
        let [eager_mean, traced_mean] = [
            Interpolation::Midpoint.quantile(&x, q, ..),
            jit(move |x: Expr| Interpolation::Midpoint.quantile(x, q, ..)).call((&x,))?,
        ];
        for (got, expected) in [(eager, linear), (traced, linear), (eager_mean, mean), (traced_mean, mean)] {
            let got = got.item::<f64>()?;
            assert!(same(got, expected), "{elements:?} {q}: {got}, not {expected}");
        }
    }
    for d in [DType::F64, DType::F32, DType::Bf16, DType::F16] {
        let most = ndjit::finfo(d)?.max;
        for (elements, expected) in
            [([most, most], most), ([-most, most], 0.0), ([-most, -most], -most), ([inf, inf], inf)]
        {
            let x = Array::from(elements).cast(d);
            let traced =
                jit(|x: Expr| (median(x, ..), quantile(x, 0.5, ..), Interpolation::Midpoint.quantile(x, 0.5, ..)));
            let (a, b, c) = traced.call((&x,))?;
            for got in [median(&x, ..), quantile(&x, 0.5, ..), Interpolation::Midpoint.quantile(&x, 0.5, ..), a, b, c] {
                assert_eq!((got.dtype(), got.cast(DType::F64).item::<f64>()?), (d, expected), "{elements:?}");
            }
        }
    }
    let most = f32::MAX;
    let z = Array::from([Complex::new(most, 1e-45), Complex::new(most, 3e-45)]);
    assert_eq!(median(&z, ..).item::<Complex<f32>>()?, Complex::new(most, 3e-45));
    // Quantiles lie between the elements, and are monotone.
    let x = Array::from(numbers(64).into_iter().filter(|x| x.is_finite()).map(|x| x * 6e37).collect::<Vec<f32>>());
    let qs: Vec<f64> = (0..=1000).map(|n| f64::from(n) / 1000.0).collect();
    let all = quantile(&x, qs, ..).to_vec::<f32>()?;
    assert!(all.is_sorted() && all.iter().all(|x| x.is_finite()), "{all:?}");
    assert_eq!([all[0], all[1000]], [x.min(..).item::<f32>()?, x.max(..).item::<f32>()?]);
    Ok(())
}
