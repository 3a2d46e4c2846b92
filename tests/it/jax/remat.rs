//! Rematerialized values: cases of `RematTest` in `tests/api_test.py` of jax-ml/jax (Apache License 2.0).

use super::{Case, array, check, data, drawn, f64s, is, near, number, same};
use ndjit::{
    DType, Expr, arange, checkpoint, checkpoint_at, cond, cos, custom_jvp_at, einsum, fori_loop, grad, jacfwd, jacrev,
    jit, linearize, matmul, ones, ones_like, scan, sin, sum, vmap, while_loop,
};

fn sine_of_sine(x: Expr) -> Expr {
    sin(sin(x))
}

fn fifth(x: Expr) -> Expr {
    sum(fori_loop(0, 3, x, |_, x| checkpoint(|x: Expr| sin(x) * 1.1)(x)), ..)
}

pub const CASES: &[Case] = &[
    same("test_remat_basic", || {
        let g = checkpoint(|x: Expr| (sine_of_sine(x), Expr::from(3.0)));
        let f = jit(move |x: Expr, t: Expr| linearize(|x: Expr| g(x).0, x).1(t));
        near(&f(&number(2.0), &number(3.0)), &[2f64.sin().cos() * 2f64.cos() * 3.0]);
    }),
    same("test_remat_freevars", || {
        let f = |x: Expr| {
            let y = sin(x) * 2;
            checkpoint_at(|x: Expr| cos(x) * sin(y), x)
        };
        check(move |x| f(x[0]), &[number(2.0)]);
        // The same in a branch and in a loop, with y captured.
        let g = |x: Expr| {
            let y = sin(x) * 2;
            let once = |x: Expr| checkpoint_at(|x: Expr| cos(x) * sin(y), x);
            fori_loop(0, 2, cond(x.gt(0), once, |x| x, x), |_, x| once(x))
        };
        check(move |x| g(x[0]), &[number(2.0)]);
    }),
    same("test_remat_vmap", || {
        let x = arange(3.0).cast(DType::F64);
        let expected: Vec<f64> = [0.0, 1.0, 2.0].map(|x: f64| x.sin().cos() * x.cos()).to_vec();
        near(&jit(vmap(checkpoint(sine_of_sine), 0))(&x), &f64s(&sin(sin(&x))));
        for found in [jit(jacfwd(checkpoint(sine_of_sine)))(&x), jit(jacrev(checkpoint(sine_of_sine)))(&x)] {
            near(&ndjit::diagonal(found, 0, [0, 1]), &expected);
        }
    }),
    same("test_remat_vmap_not_leading_dim", || {
        let x = arange(15.0).cast(DType::F64).reshape([3, 5]);
        near(&jit(vmap(checkpoint(sine_of_sine), 1))(&x), &f64s(&sin(sin(&x)).mt()));
    }),
    same("test_remat_higher_order_autodiff", || {
        let f = |x: Expr| cos(sin(x));
        let found = jit(grad(grad(checkpoint(f))))(&number(3.0));
        near(&found, &f64s(&jit(grad(grad(f)))(&number(3.0))));
    }),
    same("test_remat_scan", || {
        let plain = |x: Expr| fori_loop(0, 3, x, |_, x| sin(x));
        let again = |x: Expr| fori_loop(0, 3, x, |_, x| checkpoint_at(|x: Expr| sin(x), x));
        is(&jit(grad(again))(&number(4.0)), &f64s(&jit(grad(plain))(&number(4.0))));
        let whole = move |x: Expr| checkpoint_at(plain, x);
        is(&jit(grad(whole))(&number(4.0)), &f64s(&jit(grad(plain))(&number(4.0))));
    }),
    same("test_remat_binomial_checkpointing", || {
        let pair = || checkpoint(sine_of_sine);
        let f = checkpoint(move |x: Expr| pair()(pair()(x)));
        let g = |x: Expr| sine_of_sine(sine_of_sine(x));
        is(&jit(grad(f))(&number(4.0)), &f64s(&jit(grad(g))(&number(4.0))));
    }),
    same("test_remat_symbolic_zeros", || {
        let f = |by: Expr| {
            let moved = |r: Expr, _: Expr| (checkpoint_at(|r: Expr| r + r * by * 0.001, r), Expr::from(0.0));
            scan(moved, Expr::from(&data(&[5, 3])), Expr::from(&arange(2))).0.slice((0, 0))
        };
        check(move |x| f(x[0]), &[number(5.0)]);
    }),
    same("test_remat_jit3", || {
        let f = |w: Expr, x: Expr| {
            let a = matmul(x, w);
            sum(einsum("btT,btd->btd", [einsum("btd,bTd->btT", [a, a]), a]), ..)
        };
        is(&jit(grad(checkpoint(f)))(&ones([1, 1]), &ones([1, 1, 1])), &[3.0]);
    }),
    same("test_remat_of_cond", || {
        let f = |x: Expr| cond(x.gt(0), |x| sin(x), |x| x * x, x);
        check(move |x| checkpoint(f)(x[0]), &[number(0.7)]);
        check(move |x| checkpoint(f)(x[0]), &[number(-0.7)]);
    }),
    same("test_remat_of_scan", || check(|x| fifth(x[0]), &[data(&[3])])),
    same("test_remat_of_scan_unused_extensive_output_grad", || {
        let body = |c: Expr, a: Expr| {
            let b = sum(sin(a), ..) + sum(sin(c), ..);
            (sin(c * b), b)
        };
        let (c, xs) = (array([0.0, 0.25, 0.5, 0.75]), drawn(&[5, 3], 1));
        let plain = jit(grad(move |c: Expr, xs: Expr| sum(scan(body, c, xs).0, ..)));
        let again = jit(grad(move |c: Expr, xs: Expr| sum(checkpoint(move |c, xs| scan(body, c, xs))(c, xs).0, ..)));
        near(&again(&c, &xs), &f64s(&plain(&c, &xs)));
    }),
    same("test_const_in_jvp_scan", || {
        let f = checkpoint(|x: Expr| sum(fori_loop(0, 1, x, |_, x| by_position(x)), ..));
        is(&jit(grad(f))(&arange(3.0)), &[0.0, 1.0, 2.0]);
    }),
    same("test_const_in_jvp_cond", || {
        let f = checkpoint(|x: Expr| sum(cond(sum(x, ..).gt(0), by_position, |x| x, x), ..));
        is(&jit(grad(f))(&arange(3.0)), &[0.0, 1.0, 2.0]);
    }),
    same("test_remat_of_while_loop", || {
        let looped = |x: Expr| while_loop((Expr::from(0), x), |(i, _)| i.lt(3), |(i, x)| (i + 1, sin(x))).1;
        let found = jit(move |x: Expr| linearize(checkpoint(looped), x).1(ones_like(x)))(&number(3.0));
        near(&found, &f64s(&jit(grad(|x: Expr| sin(sin(sin(x)))))(&number(3.0))));
    }),
    same("test_remat_scan2", || {
        let inner = |x: Expr| fori_loop(0, 1, x, |_, x| x + 1);
        is(
            &jit(grad(move |x: Expr| checkpoint_at(|x: Expr| fori_loop(0, 1, x, |_, x| inner(x)), x)))(&number(1.0)),
            &[1.0],
        );
    }),
];

/// Elements times their index, with a rule.
fn by_position(x: Expr) -> Expr {
    custom_jvp_at(|x: Expr| x * arange(3.0), |_, _, t| t * arange(3.0), x)
}

#[test]
fn values_are_computed_once_more_as_in_jax() {
    super::run(CASES);
}
