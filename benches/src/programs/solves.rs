//! Systems of linear equations by loops: tridiagonal systems, a factorization, a substitution.

use super::{Case, array, called, unit};
use ndjit::{Array, Expr, arange, fori_loop, scan, scan_reversed, take, where_, zeros_like};

/// Tridiagonal systems by Thomas's algorithm, side by side: equations along the first axis.
pub fn thomas(large: bool) -> Case {
    let [n, systems] = if large { [200, 10_000] } else { [64, 1000] };
    let noise = unit(n * systems);
    let made = |f: fn(f64) -> f64| noise.iter().map(|&x| f(x)).collect::<Vec<f64>>();
    let (low, main, high, right) = (made(|x| x - 0.5), made(|x| 3.0 + x), made(|x| 0.7 - x), made(|x| x * 2.0 - 1.0));
    let arrays = [&low, &main, &high, &right].map(|x| array(x, &[n, systems]));
    let [a, b, c, d] = &arrays;
    let ours = called!(
        |low: Expr, main: Expr, high: Expr, right: Expr| {
            let forth = |(c, d): (Expr, Expr), (low, main, high, right): (Expr, Expr, Expr, Expr)| {
                let scale = 1 / (main - low * c);
                let next = (high * scale, (right - low * d) * scale);
                (next, next)
            };
            let zero = zeros_like(main.slice(0));
            let (_, (c, d)) = scan(forth, (zero, zero), (low, main, high, right));
            let back = |x: Expr, (c, d): (Expr, Expr)| {
                let x = d - c * x;
                (x, x)
            };
            vec![scan_reversed(back, zero, (c, d)).1]
        },
        a,
        b,
        c,
        d
    );
    let rust = Box::new(move || {
        let (mut c, mut x) = (vec![0.0; n * systems], vec![0.0; n * systems]);
        let (mut before_c, mut before_d) = (vec![0.0; systems], vec![0.0; systems]);
        for i in 0..n {
            for j in 0..systems {
                let at = i * systems + j;
                let scale = 1.0 / (main[at] - low[at] * before_c[j]);
                c[at] = high[at] * scale;
                x[at] = (right[at] - low[at] * before_d[j]) * scale;
                (before_c[j], before_d[j]) = (c[at], x[at]);
            }
        }
        for i in (0..n - 1).rev() {
            for j in 0..systems {
                let at = i * systems + j;
                x[at] -= c[at] * x[at + systems];
            }
        }
        vec![Array::from(x)]
    });
    Case { size: format!("{n}x{systems}"), steps: 2 * n, ours, rust, within: 1e-12 }
}

/// A diagonally dominant symmetric matrix.
fn symmetric(n: usize) -> Vec<f64> {
    let noise = unit(n * n);
    let element = |i: usize, j: usize| noise[i.max(j) * n + i.min(j)] + if i == j { n as f64 } else { 0.0 };
    (0..n * n).map(|at| element(at / n, at % n)).collect()
}

/// The LDL^T factors of a symmetric matrix, column by column: a unit lower triangle and a diagonal.
pub fn ldlt(large: bool) -> Case {
    let n = if large { 512 } else { 64 };
    let matrix = symmetric(n);
    let a = array(&matrix, &[n, n]);
    let ours = called!(
        move |a: Expr| {
            let rows = Expr::from(arange(n));
            let step = |k: Expr, (l, d): (Expr, Expr)| {
                let column = take(a, k, 1) - (l * (take(l, k, 0) * d)).prefix(k, 1, 0).sum(1);
                let pivot = take(column, k, 0);
                (l.at((.., k)).set(where_(rows.ge(k), column / pivot, 0)), d.at(k).set(pivot))
            };
            let (l, d) = fori_loop(0, n, (zeros_like(a), zeros_like(take(a, 0, 0))), step);
            vec![l, d]
        },
        a
    );
    let rust = Box::new(move || {
        let (mut l, mut d, mut scaled) = (vec![0.0; n * n], vec![0.0; n], vec![0.0; n]);
        for k in 0..n {
            (0..k).for_each(|j| scaled[j] = l[k * n + j] * d[j]);
            for i in k..n {
                let mut dot = 0.0;
                for j in 0..k {
                    dot += l[i * n + j] * scaled[j];
                }
                l[i * n + k] = matrix[i * n + k] - dot;
            }
            d[k] = l[k * n + k];
            (k..n).for_each(|i| l[i * n + k] /= d[k]);
        }
        vec![Array::from(l), Array::from(d)]
    });
    Case { size: format!("{n}x{n}"), steps: n, ours, rust, within: 1e-10 }
}

/// A lower triangular system, one unknown per step.
pub fn forward(large: bool) -> Case {
    let n = if large { 2000 } else { 200 };
    let mut matrix = symmetric(n);
    (0..n * n).filter(|at| at % n > at / n).for_each(|at| matrix[at] = 0.0);
    let given = unit(n);
    let (l, b) = (array(&matrix, &[n, n]), Array::from(given.as_slice()));
    let ours = called!(
        move |l: Expr, b: Expr| {
            let step = |i: Expr, x: Expr| {
                let row = take(l, i, 0);
                x.at(i).set((take(b, i, 0) - (row * x).prefix(i, 0, 0).sum(..)) / take(row, i, 0))
            };
            vec![fori_loop(0, n, zeros_like(b), step)]
        },
        l,
        b
    );
    let rust = Box::new(move || {
        let mut x = vec![0.0; n];
        for i in 0..n {
            let mut dot = 0.0;
            for j in 0..i {
                dot += matrix[i * n + j] * x[j];
            }
            x[i] = (given[i] - dot) / matrix[i * n + i];
        }
        vec![Array::from(x)]
    });
    Case { size: format!("{n}x{n}"), steps: n, ours, rust, within: 1e-12 }
}
