//! Stencils on grids: waves, Life, reaction and diffusion.

#![allow(clippy::reversed_empty_ranges, reason = "the end of a range may count from the last element")]

use super::{Case, array, called, unit};
use ndjit::{Array, DType, Expr, fori_loop, roll};

/// The wave equation in the plane, with a fixed border.
pub fn wave(large: bool) -> Case {
    let (n, steps) = if large { (1024, 50) } else { (128, 200) };
    let mut begin = unit(n * n);
    (0..n).for_each(|i| [i, (n - 1) * n + i, i * n, i * n + n - 1].iter().for_each(|&at| begin[at] = 0.0));
    let x = array(&begin, &[n, n]);
    let ours = called!(
        move |u: Expr| {
            let step = |_, (u, before): (Expr, Expr)| {
                let inner = u.slice((1..-1, 1..-1));
                let around =
                    u.slice((..-2, 1..-1)) + u.slice((2.., 1..-1)) + u.slice((1..-1, ..-2)) + u.slice((1..-1, 2..));
                let next = inner * 2 - before.slice((1..-1, 1..-1)) + (around - inner * 4) * 0.25;
                (before.at((1..-1, 1..-1)).set(next), u)
            };
            vec![fori_loop(0, steps, (u, u), step).0]
        },
        x
    );
    let rust = Box::new(move || {
        let (mut u, mut before) = (begin.clone(), begin.clone());
        for _ in 0..steps {
            for i in 1..n - 1 {
                for j in 1..n - 1 {
                    let at = i * n + j;
                    let around = u[at - n] + u[at + n] + u[at - 1] + u[at + 1];
                    before[at] = u[at] * 2.0 - before[at] + (around - u[at] * 4.0) * 0.25;
                }
            }
            std::mem::swap(&mut u, &mut before);
        }
        vec![array(&u, &[n, n])]
    });
    Case { size: format!("{n}x{n}"), steps, ours, rust, within: 1e-12 }
}

/// Conway's Life on bytes, dead beyond the border.
pub fn life(large: bool) -> Case {
    let (n, steps) = if large { (2048, 20) } else { (256, 100) };
    let begin: Vec<u8> = unit(n * n)
        .iter()
        .enumerate()
        .map(|(at, x)| {
            let border = [0, n - 1];
            u8::from(*x < 0.4 && !border.contains(&(at / n)) && !border.contains(&(at % n)))
        })
        .collect();
    let x = Array::from(begin.clone()).reshape([n, n]);
    let ours = called!(
        move |cells: Expr| {
            let step = |_, cells: Expr| {
                let inner = cells.slice((1..-1, 1..-1));
                let around = cells.slice((..-2, ..-2))
                    + cells.slice((..-2, 1..-1))
                    + cells.slice((..-2, 2..))
                    + cells.slice((1..-1, ..-2))
                    + cells.slice((1..-1, 2..))
                    + cells.slice((2.., ..-2))
                    + cells.slice((2.., 1..-1))
                    + cells.slice((2.., 2..));
                let alive = around.eq(3) | (around.eq(2) & inner.eq(1));
                cells.at((1..-1, 1..-1)).set(alive.cast(DType::U8))
            };
            vec![fori_loop(0, steps, cells, step)]
        },
        x
    );
    let rust = Box::new(move || {
        let (mut cells, mut next) = (begin.clone(), begin.clone());
        for _ in 0..steps {
            for i in 1..n - 1 {
                for j in 1..n - 1 {
                    let at = i * n + j;
                    let row = |at: usize| cells[at - 1] + cells[at] + cells[at + 1];
                    let around = row(at - n) + row(at) + row(at + n) - cells[at];
                    next[at] = u8::from(around == 3 || (around == 2 && cells[at] == 1));
                }
            }
            std::mem::swap(&mut cells, &mut next);
        }
        vec![Array::from(cells)]
    });
    Case { size: format!("{n}x{n}"), steps, ours, rust, within: 0.0 }
}

/// Reaction and diffusion of two substances (Gray and Scott) on a torus.
pub fn gray_scott(large: bool) -> Case {
    let (n, steps) = if large { (1024, 20) } else { (128, 100) };
    let middle = |at: usize| (at / n).abs_diff(n / 2) < n / 8 && (at % n).abs_diff(n / 2) < n / 8;
    let noise = unit(n * n);
    let first: Vec<f64> = (0..n * n).map(|at| if middle(at) { 0.5 } else { 1.0 }).collect();
    let second: Vec<f64> = (0..n * n).map(|at| noise[at] * 0.1 + if middle(at) { 0.25 } else { 0.0 }).collect();
    let (u, v) = (array(&first, &[n, n]), array(&second, &[n, n]));
    let ours = called!(
        move |u: Expr, v: Expr| {
            let laplace = |x: Expr| roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1) - x * 4;
            let step = |_, (u, v): (Expr, Expr)| {
                let reaction = u * v * v;
                (u + laplace(u) * 0.16 - reaction + (1 - u) * 0.035, v + laplace(v) * 0.08 + reaction - v * 0.1)
            };
            let (u, v) = fori_loop(0, steps, (u, v), step);
            vec![u, v]
        },
        u,
        v
    );
    let rust = Box::new(move || {
        let (mut u, mut v) = (first.clone(), second.clone());
        let (mut next_u, mut next_v) = (u.clone(), v.clone());
        for _ in 0..steps {
            for i in 0..n {
                let (up, down) = ((i + n - 1) % n * n, (i + 1) % n * n);
                for j in 0..n {
                    let (left, right) = (if j == 0 { n - 1 } else { j - 1 }, if j == n - 1 { 0 } else { j + 1 });
                    let at = i * n + j;
                    let laplace =
                        |x: &[f64]| x[up + j] + x[down + j] + x[i * n + left] + x[i * n + right] - x[at] * 4.0;
                    let reaction = u[at] * v[at] * v[at];
                    next_u[at] = u[at] + laplace(&u) * 0.16 - reaction + (1.0 - u[at]) * 0.035;
                    next_v[at] = v[at] + laplace(&v) * 0.08 + reaction - v[at] * 0.1;
                }
            }
            std::mem::swap(&mut u, &mut next_u);
            std::mem::swap(&mut v, &mut next_v);
        }
        vec![Array::from(u.as_slice()), Array::from(v.as_slice())]
    });
    Case { size: format!("{n}x{n}"), steps, ours, rust, within: 1e-12 }
}
