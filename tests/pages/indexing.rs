//! The examples of docs/indexing.md.

use super::{Examples, examples};
use ndjit::Result;

fn taking() -> Result<()> {
    use ndjit::{Array, argmax, take, take_along_axis};

    let x = Array::from_rows(&[[10, 50, 30], [60, 20, 40]]);
    println!("{}", take(&x, Array::from([2, 0, -1]), 1)); // columns
    let largest = argmax(&x, ndjit::keepdims(1));
    println!("{}", take_along_axis(&x, &largest, 1)); // of each row
    println!("{}", x.at((Array::from([1, 0]), Array::from([0, 2]))).get()); // x[1, 0] and x[0, 2]
    println!("{}", x.at((.., Array::from([2, 0]))).get()); // x[:, [2, 0]]
    Ok(())
}

fn gathering() -> Result<()> {
    use ndjit::{Expr, assert_kernels, jit, take};

    let f = jit(|table: Expr, x: Expr| take(table, x % 10 * 2, 0) + 1);
    let (table, x) = (ndjit::arange(20) * 100, ndjit::arange(1000));
    assert_kernels!(f, (&table, &x), 1);
    println!("{}", f.explain(ndjit::Stage::Kernels));
    Ok(())
}

fn putting() -> Result<()> {
    use ndjit::{Array, Expr, jit, zeros};

    let histogram = jit(|x: Expr| Expr::from(zeros(5)).at(x).add(1));
    println!("{}", histogram(&Array::from([0, 3, 3, 1, 3])));
    let x = Array::from_rows(&[[1, 2], [3, 4]]);
    println!("{}", x.at((0, -1)).set(9));
    println!("{}", x.at((.., 0)).add(100));
    println!("{}", x.at(x.gt(2)).set(2));
    Ok(())
}

fn ranges() -> Result<()> {
    use ndjit::{Stage, arange, assert_in_place, assert_kernels, jit, step_by};

    // A step of heat: each inner point is the mean of its neighbours, the border stays.
    let heat = jit!(|u| u.at(1..5).set((u.slice(..-2) + u.slice(2..)) / 2));
    let u = arange(6) * 1.0;
    assert_kernels!(heat, (&u,), 1);
    println!("{}", heat.explain(Stage::Graph));
    // Every other point at once: none is read that is stored, so the array is changed in place.
    let odd = jit!(|u| u.at(step_by(1..4, 2)).set(u.slice(step_by(..3, 2)) + u.slice(step_by(2.., 2))));
    println!("{}", assert_in_place!(odd, ((arange(5) * 1.0).donate(),)));
    Ok(())
}

fn dynamic() -> Result<()> {
    use ndjit::{Array, Expr, arange, dynamic_range, fori_loop, jit};

    let f = jit(|x: Expr, i: Expr| (x.slice_dynamic(i, 3), x.at(dynamic_range(i, 2)).set(0)));
    let (taken, put) = f(&arange(6), &Array::from(1));
    println!("{taken} {put}");
    println!("{}", f(&arange(6), &Array::from(5)).0); // the last three
    // Sums of blocks of two rows.
    let sums = jit(|x: Expr| {
        let sums = x.slice((..3, 0));
        fori_loop(0, 3, sums, |n, sums| sums.at(n).set(x.slice_dynamic(n * 2, 2).sum(..)))
    });
    println!("{}", sums(&arange(12).reshape([6, 2])));
    Ok(())
}

fn prefixes() -> Result<()> {
    use ndjit::{Array, Expr, fori_loop, jit, take, zeros_like};

    // A lower triangular system by forward substitution: row i has i elements to sum.
    let solve = jit(|l: Expr, b: Expr| {
        let step = |i: Expr, x: Expr| {
            let row = take(l, i, 0);
            let known = (row * x).prefix(i, 0, 0).sum(..);
            x.at(i).set((take(b, i, 0) - known) / take(row, i, 0))
        };
        fori_loop(0, 3, zeros_like(b), step)
    });
    let l = Array::from_rows(&[[2.0, 0.0, 0.0], [1.0, 4.0, 0.0], [3.0, 5.0, 8.0]]);
    println!("{}", solve(&l, &Array::from([2.0, 5.0, 16.0])));
    Ok(())
}

fn outside() -> Result<()> {
    use ndjit::{Array, Expr, jit};

    let x = Array::from([10, 20, 30]);
    let i = Array::from([2, 3]);
    println!("{}", x.take(&i, 0).eval().unwrap_err());
    let traced = jit(|x: Expr, i: Expr| (x.at(i).get(), x.at(i).get_or(-1), x.at(i).add(1)));
    let (nearest, filled, put) = traced(&x, &i);
    println!("{nearest} {filled} {put}");
    Ok(())
}

fn searching() -> Result<()> {
    use ndjit::{Array, Side, searchsorted};

    let edges = Array::from([0.0f32, 1.0, 10.0]);
    let x = Array::from([0.5f32, 10.0, -2.0, f32::NAN]);
    println!("{} {}", searchsorted(&edges, &x, Side::Left), searchsorted(&edges, &x, Side::Right));
    Ok(())
}

fn looping() -> Result<()> {
    use ndjit::{Array, Expr, cond, fori_loop, jit, ones_like, scan, sum, take, while_loop, zeros_like};

    // Newton's method until it stands still.
    let root =
        jit(|a: Expr| while_loop((a, zeros_like(a)), |(x, before)| x.ne(before), |(x, _)| ((x + a / x) / 2, x)).0);
    println!("{}", root(&Array::from([2.0f64]).slice(0)));

    // A number of steps that is an argument.
    let power = jit(|x: Expr, n: Expr| fori_loop(0, n, ones_like(x), |_, y| y * x));
    println!("{} {}", power(&Array::from([2, 3]), &Array::from(3)), power(&Array::from([2, 3]), &Array::from(10)));

    // Each step gives the next state, and what is stacked.
    let drops = jit(|x: Expr| scan(|level: Expr, drop: Expr| (level * 0.5 + drop, level), Expr::from(0.0), x));
    let (last, levels) = drops(&Array::from([8.0f32, 0.0, 4.0]));
    println!("{last} {levels}");

    // The ways to pay each sum up to 10 with coins of 1, 2 and 5: a table, element by element.
    let ways = jit(|coins: Expr| {
        let none = Expr::from(Array::from([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
        let add = |table: Expr, coin: Expr| {
            (fori_loop(coin, 11, table, move |i, t: Expr| t.at(i).add(take(t, i - coin, 0))), ())
        };
        scan(add, none, coins).0
    });
    println!("{}", ways(&Array::from([1, 2, 5])));

    // Only one side is computed.
    let shrink = jit(|x: Expr| cond(sum(x, ..).gt(10), |x| x / 2, |x| x / 1, x));
    println!("{} {}", shrink(&Array::from([8.0f32, 4.0])), shrink(&Array::from([1.0f32, 4.0])));
    Ok(())
}

fn keeping() -> Result<()> {
    use ndjit::{Array, Expr, fori_loop, jit};

    let f = jit(|x: Expr| fori_loop(0, 3, (x, x), |i, (a, b)| (a + i, b * 0.5)).1);
    println!("{}", f.call((&Array::from([1, 2]),)).unwrap_err());
    Ok(())
}

examples!(taking gathering putting ranges dynamic prefixes outside searching looping keeping);
