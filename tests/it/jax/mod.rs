//! The cases of JAX's own tests of derivatives, lanes, control flow, rules and errors, rewritten. They come from `tests/` of
//! [jax-ml/jax](https://github.com/jax-ml/jax), Copyright The JAX Authors, under the Apache License 2.0; names are theirs.
//!
//! An equal case asserts the same as JAX's test: its values, or finite differences and the function of each lane. A different one asserts
//! the behaviour here, with the reason. docs/transforms.md has the counts.

mod autodiff;
mod batching;
mod control;
mod control_slopes;
mod errors;
mod gathers;
mod numpy;
mod page;
mod remat;
mod rules;
mod transforms;
mod vjp_rules;

use ndjit::{Array, DType, ErrorCode, Expr, arange, grad_at, hvp, jit, jvp, moveaxis, reshape, sin, stack, sum, vmap};
use std::panic::catch_unwind;

/// A test of JAX, and the assertion of the same or of a difference here.
pub struct Case {
    pub name: &'static str,
    pub outcome: Outcome,
    pub run: fn(),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Same,
    Differs(Why),
}

/// The reason for a deliberate difference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    Conjugate,
    ZeroWins,
    Modes,
    Lanes,
    Types,
    Integers,
    Slices,
}

impl Why {
    pub const ALL: [Why; 7] =
        [Why::Conjugate, Why::ZeroWins, Why::Modes, Why::Lanes, Why::Types, Why::Integers, Why::Slices];

    /// The reason on the page.
    pub fn words(self) -> &'static str {
        match self {
            Why::Conjugate => {
                "gradients with respect to complex variables are the adjoint, JAX's its conjugate; no `holomorphic=True`"
            }
            Why::ZeroWins => "a zero wins over an infinite slope or NaN",
            Why::Modes => "both modes support what JAX refuses in one of them",
            Why::Lanes => "a result shared by all lanes is broadcast to them; no `out_axes=None`",
            Why::Types => {
                "types and shapes: checked where JAX promotes, broadcast where it refuses; run-time control flow instead of Python's"
            }
            Why::Integers => "no `float0` for integers: an error as a named variable, zeros within a structure",
            Why::Slices => "a `scan` without slices is a `fori_loop`",
        }
    }
}

pub const fn same(name: &'static str, run: fn()) -> Case {
    Case { name, outcome: Outcome::Same, run }
}

pub const fn differs(name: &'static str, why: Why, run: fn()) -> Case {
    Case { name, outcome: Outcome::Differs(why), run }
}

/// Runs all cases, and names the failed ones.
fn run(cases: &[Case]) {
    let failed: Vec<&str> = cases.iter().filter(|case| catch_unwind(case.run).is_err()).map(|case| case.name).collect();
    assert!(failed.is_empty(), "{failed:?} of {} cases", cases.len());
}

fn array<const N: usize>(x: [f64; N]) -> Array {
    Array::from(x)
}

fn number(x: f64) -> Array {
    Array::from(x)
}

/// Values between -2 and 2, away from kinks.
fn data(shape: &[usize]) -> Array {
    drawn(shape, 0)
}

fn drawn(shape: &[usize], seed: usize) -> Array {
    let count: usize = shape.iter().product();
    let one = |n: usize| ((n * 7919 + seed * 3571 + 411) % 1009) as f64 / 252.25 - 2.0;
    Array::from((0..count).map(one).collect::<Vec<f64>>()).reshape(extents(shape))
}

fn extents(shape: &[usize]) -> Vec<isize> {
    shape.iter().map(|&n| n as isize).collect()
}

fn f64s(x: &Array) -> Vec<f64> {
    x.cast(DType::F64).to_vec().unwrap()
}

#[track_caller]
fn is(found: &Array, expected: &[f64]) {
    assert_eq!(f64s(found), expected);
}

#[track_caller]
fn near(found: &Array, expected: &[f64]) {
    within(&f64s(found), expected, 1e-11);
}

#[track_caller]
fn within(found: &[f64], expected: &[f64], bound: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
    for (a, b) in found.iter().zip(expected) {
        let fits = (a - b).abs() <= bound * (1.0 + b.abs()) || a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        assert!(fits || a == b, "{found:?} for {expected:?}");
    }
}

/// The error of a call has this code and this text.
#[track_caller]
fn refused<T>(result: ndjit::Result<T>, code: ErrorCode, words: &str) {
    let Err(error) = result else { panic!("no error that says {words}") };
    let text = format!("{error:#}");
    assert!(error.code() == code && text.contains(words), "{:?}: {text}", error.code());
}

/// `check_grads` of order 2: both modes and second derivatives against differences, along one direction of all parameters.
#[track_caller]
fn check(f: impl Fn(&[Expr]) -> Expr + Send + Sync + 'static, x: &[Array]) {
    check_to(2, f, x);
}

#[track_caller]
fn check_to(order: usize, f: impl Fn(&[Expr]) -> Expr + Send + Sync + 'static, x: &[Array]) {
    let shapes: Vec<Vec<usize>> = x.iter().map(|x| x.shape().extents().to_vec()).collect();
    let at: Vec<f64> = x.iter().flat_map(f64s).collect();
    let direction: Vec<f64> = (0..at.len()).map(|n| (n as f64 * 1.7 + 0.3).sin()).collect();
    let along = jit(move |x: Expr, v: Expr| {
        let weighted = |x: Expr| {
            let mut parts = Vec::new();
            let mut begin = 0;
            for shape in &shapes {
                let count: usize = shape.iter().product();
                parts.push(reshape(x.slice((begin..begin + count,)), extents(shape)));
                begin += count;
            }
            let y = reshape(f(&parts), -1);
            let n = y.shape().extents()[0];
            sum(sin(arange(n).cast(DType::F64) + 1.0) * y, ..)
        };
        let (value, forward) = jvp(weighted, x, v);
        let second = if order > 1 { sum(hvp(weighted, x, v) * v, ..) } else { value };
        (value, forward, sum(grad_at(weighted, x) * v, ..), second)
    });
    let evaluated = |t: f64| -> [f64; 4] {
        let moved: Vec<f64> = at.iter().zip(&direction).map(|(x, v)| x + t * v).collect();
        let (a, b, c, d) = along.call((&Array::from(moved), &Array::from(direction.clone()))).unwrap();
        [a, b, c, d].map(|x| x.item::<f64>().unwrap())
    };
    let [_, forward, reverse, second] = evaluated(0.0);
    let slopes = difference(evaluated);
    within(&[forward, reverse], &[slopes[0], slopes[0]], 1e-6);
    if order > 1 {
        within(&[second], &[slopes[2]], 1e-5);
    }
}

/// Derivatives at 0 by Richardson's extrapolation.
fn difference(f: impl Fn(f64) -> [f64; 4]) -> [f64; 4] {
    let central = |h: f64| {
        let (a, b) = (f(h), f(-h));
        std::array::from_fn(|n| (a[n] - b[n]) / (2.0 * h))
    };
    let mut rows: Vec<[f64; 4]> = (0..4).map(|n| central(5e-3 / f64::from(1 << n))).collect();
    for order in 1..rows.len() {
        let factor = f64::from(1 << (2 * order));
        for n in 0..rows.len() - order {
            rows[n] = std::array::from_fn(|k| (factor * rows[n + 1][k] - rows[n][k]) / (factor - 1.0));
        }
    }
    rows[0]
}

/// `_CheckBatching`: lanes of two arguments along these axes, compared with the function of each, bit for bit.
#[track_caller]
fn lanes(f: impl Fn(Expr, Expr) -> Expr + Copy + Send + Sync + 'static, axes: [Option<i32>; 2], x: &Array, y: &Array) {
    let given = [(x, axes[0]), (y, axes[1])].map(|(x, axis)| match axis {
        Some(axis) => moveaxis(x, [axis as isize], [0]),
        None => x.clone(),
    });
    let count = if axes[0].is_some() { given[0].shape() } else { given[1].shape() }.extents()[0];
    let of =
        |n: usize, lane: usize| if axes[n].is_some() { given[n].slice((lane as isize,)) } else { given[n].clone() };
    let one = jit(move |x: Expr, y: Expr| f(x, y));
    let expected: Vec<Array> = (0..count).map(|lane| one.call((&of(0, lane), &of(1, lane))).unwrap()).collect();
    let found = jit(vmap(f, (axes[0], axes[1]))).call((x, y)).unwrap();
    let expected = stack(&expected, 0);
    assert_eq!(found.shape(), expected.shape());
    assert_eq!(found.dtype(), expected.dtype());
    within(&f64s(&found), &f64s(&expected), 0.0);
}

/// Both arguments with lanes along every axis, or without, for these shapes.
#[track_caller]
fn all_lanes(f: impl Fn(Expr, Expr) -> Expr + Copy + Send + Sync + 'static, x: &[usize], y: &[usize]) {
    let axes = |shape: &[usize]| (-1..=shape.len() as i32).map(|axis| (axis >= 0).then_some(axis)).collect::<Vec<_>>();
    for a in axes(x) {
        for b in axes(y).into_iter().filter(|b| a.is_some() || b.is_some()) {
            let of = |shape: &[usize], axis: Option<i32>, seed| {
                let mut shape = shape.to_vec();
                axis.into_iter().for_each(|axis| shape.insert(axis as usize, 3));
                drawn(&shape, seed)
            };
            lanes(f, [a, b], &of(x, a, 1), &of(y, b, 2));
        }
    }
}
