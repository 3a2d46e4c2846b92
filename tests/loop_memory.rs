//! The memory of loops, beside their arguments: the peak number of arrays, found by refusing more. Most loops over time steps take their
//! state and at most one temporary array.

#![allow(clippy::reversed_empty_ranges, reason = "the end of a range may count from the last element")]

use ndjit::{
    Array, CountingAllocator, DType, Expr, abs, fori_loop, jit, max, scan, sqrt, strong, sum, take, where_, while_loop,
    zeros_like,
};
use ndjit_runtime::Refused;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The minimum size of counted blocks: everything else is small relative to the arrays.
const LARGE: usize = 1 << 14;

/// The minimum memory of a function of one array, in arrays of its size: with larger blocks refused, it fails.
fn arrays(x: &Array, f: fn(Expr) -> Vec<Expr>) -> usize {
    let f = jit(f).threads(2);
    // Compiles.
    f.call((x,)).unwrap();
    let one = (x.shape().size().unwrap() * x.dtype().bytes()) as i64;
    let least = (0..16).find(|&n| {
        let held = CountingAllocator::large_blocks().held;
        CountingAllocator::refuse(LARGE, Refused::Above(held + n * one));
        let made = f.call((x,));
        CountingAllocator::refuse(LARGE, Refused::Above(i64::MAX));
        made.is_ok()
    });
    least.map_or(usize::MAX, |n| n as usize)
}

fn plane(n: usize) -> Array {
    let element = |i: usize| ((i * 7919 % 1013) as f64) / 1000.0;
    Array::from((0..n * n).map(element).collect::<Vec<f64>>()).reshape([n, n])
}

/// One test: the allocator belongs to the process.
#[test]
fn loops_take_no_more_arrays_than_these() {
    ndjit::set_pool_limit(0);
    CountingAllocator::refuse(LARGE, Refused::Above(i64::MAX));
    let u = plane(128);
    let mut more = Vec::new();
    let mut check = |what: &str, most: usize, x: &Array, f: fn(Expr) -> Vec<Expr>| {
        let least = arrays(x, f);
        println!("{what}: {least} arrays");
        if least > most {
            more.push(format!("{what}: {least} arrays, more than {most}"));
        }
    };
    check("heat", 2, &u, |u| {
        let step = |_, u: Expr| {
            let around =
                u.slice((..-2, 1..-1)) + u.slice((2.., 1..-1)) + u.slice((1..-1, ..-2)) + u.slice((1..-1, 2..));
            u.at((1..-1, 1..-1)).set(around * 0.25)
        };
        vec![fori_loop(0, 20, u, step)]
    });
    check("wave", 2, &u, |u| {
        let step = |_, (u, before): (Expr, Expr)| {
            let inner = u.slice((1..-1, 1..-1));
            let around =
                u.slice((..-2, 1..-1)) + u.slice((2.., 1..-1)) + u.slice((1..-1, ..-2)) + u.slice((1..-1, 2..));
            (before.at((1..-1, 1..-1)).set(inner * 2 - before.slice((1..-1, 1..-1)) + (around - inner * 4) * 0.25), u)
        };
        vec![fori_loop(0, 21, (u, u), step).0]
    });
    // Both arrays of the next state depend on both: four, plus the initial state and a step's temporaries.
    check("rolled", 6, &u, |u| {
        let lap = |x: Expr| x.roll(1, 0) + x.roll(-1, 0) + x.roll(1, 1) + x.roll(-1, 1) - 4 * x;
        let step = |_, (u, v): (Expr, Expr)| {
            let uvv = u * v * v;
            (u + 0.16 * lap(u) - uvv + 0.06 * (1 - u), v + 0.08 * lap(v) + uvv - 0.122 * v)
        };
        let (u, _) = fori_loop(0, 10, (u, u * 0.5), step);
        vec![u]
    });
    check("life", 2, &u.gt(0.5).cast(DType::U8), |c| {
        let step = |_, c: Expr| {
            let p = |i: isize, j: isize| c.roll(i, 0).roll(j, 1);
            let k = p(1, 1) + p(1, 0) + p(1, -1) + p(0, 1) + p(0, -1) + p(-1, 1) + p(-1, 0) + p(-1, -1);
            where_(k.eq(3).logical_or(k.eq(2).logical_and(c.eq(1))), 1, 0).cast(DType::U8)
        };
        vec![fori_loop(0, 10, c, step)]
    });
    check("logistic", 1, &u, |x| vec![fori_loop(0, 50, x, |_, x| x * 3.7 * (1 - x))]);
    check("while", 1, &u, |x| {
        let step = |(x, t): (Expr, Expr)| (x + 0.1 * sqrt(abs(x)) * max(x, ..), t + 1);
        vec![while_loop((x, Expr::from(strong(0i32))), |(_, t)| t.lt(5), step).0]
    });
    check("smoothing", 1, &u, |x| {
        let step = |level: Expr, x: Expr| (level * 0.9 + x * 0.1, level);
        vec![scan(step, x.slice(0), x).1]
    });
    // The initial zeros are an array too.
    check("factors", 4, &(&u + 3.0), |a| {
        let step = |k: Expr, l: Expr| {
            let row = take(a, k, 0) - (l * take(l, k, 0)).prefix(k, 1, 0).sum(1);
            l.at(k).set(row / sqrt(abs(sum(row * row, ..))))
        };
        vec![fori_loop(0, 128, zeros_like(a), step)]
    });
    assert!(more.is_empty(), "{more:?}");
}
