//! Relaxation on a grid: alternate updates of red and black points from adjacent ones.

use super::{Case, array, called, unit};
use ndjit::{Expr, fori_loop, step_by};

/// Red-black Gauss-Seidel for Poisson's equation in the plane; the border stays.
pub fn gauss_seidel(large: bool) -> Case {
    let (n, steps) = if large { (1026, 20) } else { (130, 100) };
    let (begin, source) = (unit(n * n), unit(n * n).iter().map(|x| 1.0 - x).collect::<Vec<f64>>());
    let (x, f) = (array(&begin, &[n, n]), array(&source, &[n, n]));
    let ours = called!(
        move |u: Expr, f: Expr| {
            // Points of one parity of rows and columns, from an index on.
            let every = |from: usize| step_by(from as isize..(from + n - 3) as isize, 2);
            let relax = |u: Expr, i: usize, j: usize| {
                let at = |x: Expr, i, j| x.slice((every(i), every(j)));
                let around = at(u, i - 1, j) + at(u, i + 1, j) + at(u, i, j - 1) + at(u, i, j + 1);
                u.at((every(i), every(j))).set((around - at(f, i, j)) * 0.25)
            };
            let colors = [(1, 1), (2, 2), (1, 2), (2, 1)];
            vec![fori_loop(0, steps, u, |_, u| colors.iter().fold(u, |u, &(i, j)| relax(u, i, j)))]
        },
        x,
        f
    );
    let rust = Box::new(move || {
        let mut u = begin.clone();
        for _ in 0..steps {
            for color in 0..2 {
                for i in 1..n - 1 {
                    for j in (1 + (i + 1 + color) % 2..n - 1).step_by(2) {
                        let at = i * n + j;
                        u[at] = (u[at - n] + u[at + n] + u[at - 1] + u[at + 1] - source[at]) * 0.25;
                    }
                }
            }
        }
        vec![array(&u, &[n, n])]
    });
    Case { size: format!("{n}x{n}"), steps, ours, rust, within: 1e-12 }
}
