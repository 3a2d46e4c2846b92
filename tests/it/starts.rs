//! Parts of arrays at run-time indices: stores of columns and blocks, without positions or copies.

use ndjit::{
    Array, DType, Expr, Same, Stage, arange, assert_in_place, dynamic_range, fori_loop, grad_at, jit, step, vmap,
    zeros_like,
};

fn cube() -> Array {
    arange(3 * 4 * 5).reshape([3, 4, 5]).cast(DType::F32)
}

/// Adds 1000 to the elements for which `is` holds, of [`cube`].
fn changed(is: impl Fn([i64; 3]) -> bool) -> Vec<f32> {
    let at = |n: i64| [n / 20, n / 5 % 4, n % 5];
    (0..60).map(|n| if is(at(n)) { n as f32 + 1000.0 } else { n as f32 }).collect()
}

/// A nonnegative index, if it is one of an axis.
fn index(i: i64, extent: i64) -> Option<i64> {
    let i = if i < 0 { i + extent } else { i };
    (0..extent).contains(&i).then_some(i)
}

#[test]
fn parts_at_traced_indices_change_and_the_rest_stays() {
    let f = jit(|x: Expr, i: Expr, j: Expr| {
        let more = x + 1000.0;
        (
            x.at((.., i)).set(more.at((.., i)).get()),
            x.at((i, 1..3)).add(1000),
            x.at((.., .., j)).set(more.at((.., .., j)).get()),
            x.at((i, .., j)).set(more.at((i, .., j)).get()),
            x.at((2, step(2), j)).add(1000.0),
            x.at((dynamic_range(i, 2), .., j)).set(more.at((dynamic_range(i, 2), .., j)).get()),
        )
    });
    let x = cube();
    for (i, j) in (-5..5).flat_map(|i| (-7..7).map(move |j| (i, j))) {
        let all = f.call((&x, &Array::from(i), &Array::from(j as i8))).unwrap();
        let vec = |array: &Array| array.to_vec::<f32>().unwrap();
        let (row, column, last) = (index(i, 3), index(i, 4), index(j, 5));
        assert_eq!(vec(&all.0), changed(|[_, b, _]| column == Some(b)), "{i}");
        assert_eq!(vec(&all.1), changed(|[a, b, _]| row == Some(a) && (1..3).contains(&b)), "{i}");
        assert_eq!(vec(&all.2), changed(|[_, _, c]| last == Some(c)), "{j}");
        assert_eq!(vec(&all.3), changed(|[a, _, c]| row == Some(a) && last == Some(c)), "{i} {j}");
        assert_eq!(vec(&all.4), changed(|[a, b, c]| a == 2 && b % 2 == 0 && last == Some(c)), "{j}");
        let first = (if i < 0 { i + 3 } else { i }).clamp(0, 1);
        assert_eq!(vec(&all.5), changed(|[a, _, c]| (first..first + 2).contains(&a) && last == Some(c)), "{i} {j}");
    }
}

#[test]
fn a_column_of_the_state_is_stored_in_place() {
    // The column of the counter from the one before it.
    let f = jit(|x: Expr| {
        fori_loop(1, 40, x, |k, x| x.at((.., k)).set(x.at((.., k - 1)).get() * 0.5 + x.at((.., k)).get()))
    });
    let x = arange(50 * 40).reshape([50, 40]).cast(DType::F64);
    let result = f.call((&x,)).unwrap();
    let mut wanted = x.to_vec::<f64>().unwrap();
    for (k, i) in (1..40).flat_map(|k| (0..50).map(move |i| (k, i))) {
        wanted[i * 40 + k] += wanted[i * 40 + k - 1] * 0.5;
    }
    assert_eq!(result.to_vec::<f64>().unwrap(), wanted);
    let kernels = f.explain(Stage::Kernels);
    assert!(kernels.contains("start ") && !kernels.contains("scatter"), "{kernels}");
}

/// Each changes the donated array in place, whatever elements of it the update is computed from.
#[test]
fn parts_computed_from_other_parts_are_stored_in_place() {
    let x = || (arange(50 * 40).reshape([50, 40]).cast(DType::F64) * 1.0).donate();
    let k = Array::from(7);
    macro_rules! in_place {
        ($($update:expr;)*) => {$({
            let update: fn(Expr, Expr) -> Expr = $update;
            let f = jit(update);
            let own = assert_in_place!(f, (x(), &k));
            let law = jit(update).interpreted(true).call((x(), &k)).unwrap();
            assert_eq!(own.to_vec::<f64>().unwrap(), law.to_vec::<f64>().unwrap(), "{}", stringify!($update));
        })*};
    }
    in_place! {
        |x, k| x.at((.., k)).set(x.at((.., k)).get() * 2.0);
        |x, k| x.at((.., k)).set(x.at((.., k + 1)).get());
        |x, k| x.at((.., k)).set(x.at((.., k - 1)).get() * 0.5);
        |x, k| x.at((.., k)).set(x.at((.., 0)).get());
        |x, k| x.at((.., k)).add(x.at((.., k - 1)).get());
        |x, k| x.at((.., k)).set(x.at((.., k)).get().flip(0));
        |x, k| x.at((.., k)).set(x.at((k, ..)).get().sum(..) + x.slice((.., 1)));
        |x, k| x.at((k, 1..)).set(x.at((k, ..39)).get());
        |x, k| x.at((k, 2..5)).add(1.0);
        |x, k| x.at(dynamic_range(k, 3)).set(x.at(dynamic_range(k - 1, 3)).get());
        |x, k| x.at((dynamic_range(k, 3), 2)).add(1.0);
        |x, k| x.at((dynamic_range(k, 3), dynamic_range(k, 2))).multiply(2.0);
    }
}

/// Indices and literals have no memory: no more than the slice is stored.
#[test]
fn slices_of_indices_and_literals_take_little_memory() {
    const N: i64 = 400_000;
    let function = |i: Expr| {
        let numbers = Expr::from(arange(N)).cast(DType::I64);
        let (squares, ones) = (numbers * numbers + i, numbers.minimum(0) + 1);
        let part = || dynamic_range(i, N as usize / 2);
        let first = squares.at(part()).get() - squares.min(..);
        (numbers.at(part()).get().max(..), ones.at(part()).get().sum(..), first.min(..))
    };
    for interpreted in [false, true] {
        let (last, sum, first) = jit(function).interpreted(interpreted).call((&Array::from(N),)).unwrap();
        let all = [last, sum, first].map(|x| x.item::<i64>().unwrap());
        assert_eq!(all, [N - 1, N / 2, N * N / 4]);
    }
}

#[test]
fn slices_from_traced_starts_are_read_and_added_to_in_place() {
    // Blocks of the state, each from the block before it; the last start is clamped.
    let f = jit(|x: Expr| {
        fori_loop(0, 5, x, |k, x| {
            let before = x.slice_dynamic((k * 8, 0), [8, 20]);
            x.at(dynamic_range(k * 8 + 8, 8)).add(before * 0.5)
        })
    });
    let x = arange(44 * 20).reshape([44, 20]).cast(DType::F64);
    let result = f.call((&x,)).unwrap();
    let mut wanted = x.to_vec::<f64>().unwrap();
    for k in 0..5 {
        let before: Vec<f64> = (0..160).map(|n| wanted[(k * 8).min(36) * 20 + n] * 0.5).collect();
        let to = (k * 8 + 8).min(36) * 20;
        wanted[to..to + 160].iter_mut().zip(before).for_each(|(x, y)| *x += y);
    }
    assert_eq!(result.to_vec::<f64>().unwrap(), wanted);
    let kernels = f.explain(Stage::Kernels);
    assert!(kernels.contains("start ") && !kernels.contains("rows of") && !kernels.contains("scatter"), "{kernels}");
    // A derivative has the slice's elements, not those of all slices.
    let g = jit(|x: Expr, i: Expr| grad_at(|x: Expr| (x.slice_dynamic(i, 1000) * 2.0).sum(..), x));
    let g = g.call((&arange(3000).cast(DType::F32), &Array::from(2500))).unwrap().to_vec::<f32>().unwrap();
    assert!(g.iter().enumerate().all(|(n, &g)| g == if n < 2000 { 0.0 } else { 2.0 }));
}

#[test]
fn known_indices_are_checked_in_a_trace() {
    let x = cube().slice((0,));
    let functions: [fn(Expr) -> Expr; 2] =
        [|x| x.at((.., Array::from(9))).get(), |x| x.at((Array::from(-5), 1..3)).add(5)];
    for function in functions {
        assert_eq!(jit(function).call((&x,)).unwrap_err().code(), ndjit::ErrorCode::Index);
    }
}

#[test]
fn columns_have_derivatives_and_lanes() {
    let put = |x: Expr, k: Expr, y: Expr| x.at((.., k)).set(y);
    let f = jit(move |x: Expr, k: Expr, y: Expr, w: Expr| {
        let of_x = grad_at(|x: Expr| (put(x, k, y) * w).sum(..), x);
        (of_x, grad_at(|y: Expr| (put(x, k, y) * w).sum(..), y))
    });
    let (x, w) = (cube(), cube() * 0.5);
    let y = Array::from_rows(&[[1.0f32, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [-1.0, -2.0, -3.0, -4.0]]);
    let vec = |array: &Array| array.to_vec::<f32>().unwrap();
    for k in [0, 3, -1, 5] {
        let (first, w) = (x.slice((0,)), w.slice((0,)));
        let (of_x, of_y) = f.call((&first, &Array::from(k), &y.slice((0,)), &w)).unwrap();
        let (wanted, column) = match k {
            5 => (w.clone(), zeros_like(&y.slice((0,)))),
            k => (w.at((.., k)).set(0), w.at((.., k)).get()),
        };
        assert_eq!((vec(&of_x), vec(&of_y)), (vec(&wanted), vec(&column)), "{k}");
    }
    let one = jit(put);
    let k = Array::from([4, -3, 7]);
    let (each, alike) = (jit(vmap(put, (0, 0, 0))), jit(vmap(put, (0, Same, 0))));
    let (own, same) = (each.call((&x, &k, &y)).unwrap(), alike.call((&x, &Array::from(2), &y)).unwrap());
    for lane in 0..3 {
        let of = |k: &Array| vec(&one.call((&x.slice((lane,)), k, &y.slice((lane,)))).unwrap());
        assert_eq!(vec(&own.slice((lane,))), of(&k.slice((lane,))), "lane {lane}");
        assert_eq!(vec(&same.slice((lane,))), of(&Array::from(2)), "lane {lane}");
    }
}
