//! Derivatives of control flow: cases of `tests/lax_control_flow_test.py` of jax-ml/jax (Apache License 2.0).

use super::control::{step, switch, written};
use super::{Case, Why, array, check, check_to, data, differs, drawn, f64s, is, near, number, refused, same};
use ndjit::{
    Array, ErrorCode, Expr, arange, checkpoint_at, concat, cond, cos, custom_jvp_at, floor, fori_loop, grad, grad_at,
    jacfwd, jacrev, jit, jvp, linearize, matmul, ones, ones_like, scan, sin, sqrt, stack, sum, take, tanh, vjp, vmap,
    vmap_at, where_, while_loop, wrt, zeros, zeros_like,
};

/// `testCondGrad` and others: a line below 2, the sine above.
fn line_or_sine(x: Expr) -> Expr {
    cond(x.lt(2), |x| x * 3, |x| sin(x), x)
}

fn three(x: Expr) -> Expr {
    switch(floor(x), [|x| x * 3, |x| sin(x), |x| -x], x)
}

fn constant_or_line(x: Expr) -> Expr {
    cond(x.lt(3), |x| zeros_like(x) + 2.0, |x| x * 2, x)
}

/// `testCondGrad2`: branches of arrays, by their first element.
fn scaled_or_sine(x: Expr) -> Expr {
    cond(x.slice((0,)).lt(2), |x| x * array([1.0, 2.0]), |x| sin(x), x)
}

fn slope(f: fn(Expr) -> Expr, x: f64) -> Array {
    jit(grad(f))(&number(x))
}

fn squared(x: Expr) -> Expr {
    while_loop(x, |x| x.slice((0, 2)).le(8), |x| x * x)
}

fn nine() -> Array {
    ndjit::arange(9.0).cast(ndjit::DType::F64).reshape([3, 3])
}

pub const CASES: &[Case] = &[
    same("testCondJVP", || {
        let f = |x: Expr| cond(x.lt(3), |x: Expr| (x, x), |x: Expr| (x * 2, x * 4), x);
        for (x, [a, b]) in [(3.15, [2.0, 4.0]), (2.72, [1.0, 1.0])] {
            let (_, (s, t)) = jit(move |x: Expr| jvp(f, x, x))(&number(x));
            near(&s, &[a * x]);
            near(&t, &[b * x]);
            check(
                move |x| {
                    let (a, b) = f(x[0]);
                    stack(&[a, b], 0)
                },
                &[number(x)],
            );
        }
    }),
    same("testSwitchJVP", || {
        let f = |x: Expr| switch(floor(x), [|x| x * x, |x| x * 2, |x| x * -4], x);
        for x in [-0.7, 0.7, 1.7, 2.7, 3.7] {
            check(move |x| f(x[0]), &[number(x)]);
        }
    }),
    same("testCondJVP2", || {
        for (x, expected) in [(3.15, 2.0 * 3.15), (2.72, 0.0)] {
            near(&jit(|x: Expr| jvp(constant_or_line, x, x).1)(&number(x)), &[expected]);
        }
    }),
    same("testCondGrad", || {
        near(&slope(line_or_sine, 2.14), &[2.14f64.cos()]);
        near(&slope(line_or_sine, 1.72), &[3.0]);
        for x in [2.14, 1.72] {
            check(|x| line_or_sine(x[0]), &[number(x)]);
        }
    }),
    same("testCondGradVmapNan", || {
        let safe = |x: Expr| cond(x.lt(1e-3), |()| zeros_like(x) + 1e-3, |()| sqrt(x), ());
        is(&jit(grad(move |x: Expr| sum(vmap_at(safe, x), ..)))(&zeros([10])), &[0.0; 10]);
    }),
    same("testSwitchGrad", || {
        for (x, expected) in [(-0.7, 3.0), (0.7, 3.0), (1.7, 1.7f64.cos()), (2.7, -1.0), (3.7, -1.0)] {
            near(&slope(three, x), &[expected]);
            check(|x| three(x[0]), &[number(x)]);
        }
    }),
    same("testSwitchGradWithForwarding", || {
        let branch = |scale: f64| move |(x, y, z): (Expr, Expr, Expr)| (z, x, ndjit::exp(y) * scale + sin(x));
        let f = move |x: &[Expr]| {
            let (a, b, c) = cond(x[0].gt(0.1), branch(2.0), branch(3.0), (x[0], x[1], x[2]));
            stack(&[a, b, c], 0)
        };
        check_to(1, f, &[number(0.0), number(1.0), number(2.0)]);
        check_to(1, f, &[number(2.0), number(1.0), number(0.0)]);
    }),
    differs("testSwitchGradWithWeakTypeMismatch", Why::Types, || {
        let f = jit(grad(|x: Expr| cond(x.lt(1), |x| x, |x| x + ndjit::strong(1.0f32), x)));
        for x in [0.0, 1.0] {
            is(&f.call((&Array::from(x as f32),)).unwrap(), &[1.0]);
        }
        refused(f.call((0.5,)), ErrorCode::DType, "branches give the same dtypes");
    }),
    same("testCondGrad2", || {
        let f = jit(grad(|x: Expr| sum(scaled_or_sine(x), ..)));
        near(&f(&array([2.14, 2.14])), &[2.14f64.cos(); 2]);
        near(&f(&array([1.72, 1.72])), &[1.0, 2.0]);
        for x in [2.14, 1.72] {
            check(|x| scaled_or_sine(x[0]), &[array([x, x])]);
        }
    }),
    same("testCondGrad3", || {
        is(&slope(constant_or_line, 3.15), &[2.0]);
        is(&slope(constant_or_line, 2.72), &[0.0]);
    }),
    same("testCondGrad4", || {
        let f = |x: Expr, y: Expr| cond(x.lt(3), |_| sin(y) * 2, |x: Expr| x * 2, x);
        let by_y = jit(wrt(1).grad(f));
        near(&by_y(&number(3.15), &number(5.8)), &[0.0]);
        near(&by_y(&number(2.72), &number(5.8)), &[2.0 * 5.8f64.cos()]);
        for x in [3.15, 2.72] {
            check(move |x| f(x[0], x[1]), &[number(x), number(5.8)]);
        }
    }),
    same("testCondLinearize", || {
        let f = jit(|x: Expr, t: Expr| {
            let (y, linear) = linearize(line_or_sine, x);
            (y, linear(t))
        });
        for (x, y, t) in [(1.0, 3.0, 6.0), (4.0, 4f64.sin(), 4f64.cos() * 2.0)] {
            let found = f(&number(x), &number(2.0));
            near(&found.0, &[y]);
            near(&found.1, &[t]);
        }
    }),
    same("testSwitchLinearize", || {
        let f = jit(|x: Expr, t: Expr| linearize(three, x).1(t));
        for (x, expected) in [(-1.0, 6.0), (0.0, 6.0), (1.0, 1f64.cos() * 2.0), (2.0, -2.0), (3.0, -2.0)] {
            near(&f(&number(x), &number(2.0)), &[expected]);
        }
    }),
    same("testCondLinearize2", || {
        let f = |x: Expr| sum(cond(x.slice((0,)).lt(2), |x| x * array([1.0, 2.0]), |x| cos(sin(x)), x), ..);
        let g = jit(move |x: Expr| linearize(f, x).1(x));
        near(&g(&array([-2.14, -2.14])), &[-2.14 * 3.0]);
        let x = 2.14f64;
        near(&g(&array([x, x])), &[-2.0 * x.sin().sin() * x.cos() * x]);
    }),
    same("testCondVmapGrad", || {
        let f = |x: Expr| cond(x.gt(0), |x| x * x, |x| x * x * x, x);
        let g = |x: Expr| where_(x.gt(0), x * x, x * x * x);
        let x = ndjit::linspace(-1.0..=1.0, 20).cast(ndjit::DType::F64);
        near(&jit(vmap(grad(f), 0))(&x), &f64s(&jit(vmap(grad(g), 0))(&x)));
    }),
    same("testScanJVP", || {
        let (c, xs) = (data(&[4]), drawn(&[5, 3], 1));
        let f = jit(|c: Expr, xs: Expr| jvp(|(c, xs)| scan(step, c, xs), (c, xs), (c, xs)).1);
        let g = jit(|c: Expr, xs: Expr| jvp(|(c, xs)| written(c, xs), (c, xs), (c, xs)).1);
        let ((a, b), (x, y)) = (f(&c, &xs), g(&c, &xs));
        near(&a, &f64s(&x));
        near(&b, &f64s(&y));
    }),
    same("testScanLinearize", || {
        let (c, xs) = (data(&[4]), drawn(&[5, 3], 1));
        let f = jit(|c: Expr, xs: Expr| linearize(|(c, xs)| scan(step, c, xs), (c, xs)).1((c, xs)));
        let g = jit(|c: Expr, xs: Expr| jvp(|(c, xs)| written(c, xs), (c, xs), (c, xs)).1);
        let ((a, b), (x, y)) = (f(&c, &xs), g(&c, &xs));
        near(&a, &f64s(&x));
        near(&b, &f64s(&y));
    }),
    same("testScanGrad", || {
        let (c, xs) = (data(&[4]), drawn(&[5, 3], 1));
        let both = |(last, all): (Expr, Expr)| sum(sin(last), ..) + sum(sin(all), ..);
        let (a, b) = jit(wrt((0, 1)).grad(move |c: Expr, xs: Expr| both(scan(step, c, xs))))(&c, &xs);
        let (x, y) = jit(wrt((0, 1)).grad(move |c: Expr, xs: Expr| both(written(c, xs))))(&c, &xs);
        near(&a, &f64s(&x));
        near(&b, &f64s(&y));
        check(|x| scan(step, x[0], x[1]).0, &[c, xs]);
    }),
    same("testScanRnn", || {
        let loss = |w: Expr, out: Expr, xs: Expr, targets: Expr| {
            let body = |state: Expr, x: Expr| {
                let stacked = concat(&[state, x], 0);
                (tanh(matmul(w, stacked)), tanh(matmul(out, stacked)))
            };
            let apart = scan(body, Expr::from(&array([0.0, 0.0])), xs).1 - targets;
            sum(apart * apart, ..)
        };
        let given = [drawn(&[2, 6], 1), drawn(&[1, 6], 2), drawn(&[3, 4], 3), drawn(&[3, 1], 4)];
        check(move |x| loss(x[0], x[1], x[2], x[3]), &given);
        let (xs, targets) = (drawn(&[7, 3, 4], 5), drawn(&[7, 3, 1], 6));
        let all =
            jit(vmap(loss, (ndjit::Same, ndjit::Same, 0, 0))).call((&given[0], &given[1], &xs, &targets)).unwrap();
        for lane in 0..7 {
            let own = jit(loss).call((&given[0], &given[1], &xs.slice((lane,)), &targets.slice((lane,)))).unwrap();
            near(&all.slice((lane,)), &f64s(&own));
        }
    }),
    same("testIssue711", || {
        let minimized = |by: Expr| {
            let start = Expr::from(&array([1.0, 2.0, 3.0]));
            fori_loop(0, 75, start, |_, x| x - grad_at(|x: Expr| sum(x * by, ..), x) * 0.1)
        };
        let loss = move |by: Expr| sum(sin(1 - minimized(by)), ..);
        // With respect to x - 7.5.
        let expected: f64 = [1.0, 2.0, 3.0].map(|x| (1.0 - x + 7.5 * 0.25f64).cos() * 7.5).iter().sum();
        near(&jit(grad(loss))(&number(0.25)), &[expected]);
    }),
    same("testScanHigherOrderDifferentiation", || {
        let body = |c: Expr, a: Expr| (cos(sum(sin(c * a), ..) * 0.75) * 0.9, sin(c * sum(cos(a * 0.75), ..)));
        let xs = arange(6.0).cast(ndjit::DType::F64).reshape([3, 2]);
        check(move |x| scan(body, x[0], x[1]).1, &[number(1.0), xs.clone()]);
        check(move |x| scan(body, x[0], x[1]).0, &[number(1.0), xs]);
    }),
    same("testIssue757", || {
        let looped = |x: Expr| scan(|x: Expr, i: Expr| (grad_at(|x: Expr| cos(x), x), i), x, Expr::from(&arange(10))).0;
        // Ten times the negative sine.
        let (mut x, mut slope) = (0.5f64, 1.0);
        for _ in 0..10 {
            (x, slope) = (-x.sin(), -x.cos() * slope);
        }
        near(&jit(jacfwd(looped))(&number(0.5)), &[slope]);
    }),
    same("testWhileJVP", || {
        let by_hand = |x: Expr| {
            let x = x * x;
            x * x
        };
        let x = nine();
        // 2, then 4, then 16.
        let (y, t) = jit(|x: Expr| jvp(squared, x, x))(&x);
        let (z, s) = jit(move |x: Expr| jvp(by_hand, x, x))(&x);
        is(&y, &f64s(&z));
        is(&t, &f64s(&s));
        check(|x| squared(x[0]), &[x]);
    }),
    same("testWhileLinearize", || {
        let (x, expected) = (nine(), jit(|x: Expr| jvp(squared, x, x).1)(&nine()));
        is(&jit(|x: Expr| linearize(squared, x).1(x))(&x), &f64s(&expected));
    }),
    same("testWhileJVPViaForiLoop", || {
        let f = |x: Expr| fori_loop(0, 3, x, |_, x| x * 2);
        let g = |x: Expr| fori_loop(0, 3, x, |i, x| x * (i + 1));
        let both = jit(move |x: Expr| (jvp(f, x, ones_like(x)), jvp(g, x, ones_like(x))));
        let ((a, s), (b, t)) = both(&number(2.0));
        for (found, expected) in [(a, 16.0), (s, 8.0), (b, 12.0), (t, 6.0)] {
            is(&found, &[expected]);
        }
        check(move |x| f(x[0]) + g(x[0]), &[number(2.0)]);
    }),
    same("testWhileJVPWithGrowingNonzeroTangents", || {
        let f = |x: Expr| {
            let next = |(i, x, y, _): (Expr, Expr, Expr, Expr)| (i + 1, x, x * x, y * y);
            let init = (Expr::from(0), x, Expr::from(&array([0.3, -0.7])), Expr::from(&array([1.1, 0.2])));
            while_loop(init, |(i, _, _, _)| i.lt(2), next)
        };
        check(move |x| f(x[0]).1, &[array([0.5, -1.5])]);
        // The last one's tangent comes from the second step: the fourth power.
        near(&jit(move |x: Expr| jvp(|x: Expr| f(x).3, x, ones_like(x)).1)(&array([0.5, -1.5])), &[0.5, -13.5]);
    }),
    differs("testStaticForiGrad", Why::Types, || {
        let f = jit(grad(|x: Expr| fori_loop(x, x + 2, x, |_, c| c)));
        refused(f.call((&number(1.0),)), ErrorCode::DType, "`start` is of type f64");
        is(&jit(grad(|x: Expr| fori_loop(1, 3, x, |_, c| c)))(&number(1.0)), &[1.0]);
    }),
    differs("testWhileGradError", Why::Modes, || {
        let looped = |x: Expr| while_loop(x, |x| x.lt(5), |x| x * 2);
        is(&slope(looped, 1.0), &[8.0]);
        let within_branch = |x: Expr| cond(x.gt(0), |x: Expr| while_loop(x, |x| x.lt(5), |x| x * 2), |x| x, x);
        is(&slope(within_branch, 2.0), &[4.0]);
        let within_scan = |x: Expr| {
            let body = |c: Expr, x: Expr| (while_loop(x, |y| y.lt(9), |y| y * c + y), ());
            scan(body, x, Expr::from(&array([1.0, 2.0]))).0
        };
        check(move |x| within_scan(x[0]), &[number(1.3)]);
    }),
    same("testIssue1361", || {
        let f = |x: Expr| fori_loop(0, 3, (x, Expr::from(0.0)), |_, (x, _)| (x * 2, Expr::from(0.0))).0;
        is(&slope(f, 0.0), &[8.0]);
    }),
    same("testIssue810", || {
        let loss = |a: Expr| sum(fori_loop(0, 3, Expr::from(&array([1.0, 2.0])), |_, x| matmul(a, x)), ..);
        check(move |x| loss(x[0]), &[drawn(&[2, 2], 3)]);
        is(&jit(grad(loss))(&zeros([2, 2])), &[0.0; 4]);
    }),
    same("test_scan_vjp_forwards_extensive_residuals", || {
        let f = |xs: Expr| scan(|s: Expr, x: Expr| (x * s, s), Expr::from(&array([1.0, 1.0])), xs).0;
        let back = jit(move |xs: Expr, g: Expr| vjp(|xs: Expr| checkpoint_at(f, xs), xs).1(g));
        let xs = array([2.0, 3.0, 5.0, 7.0]).reshape([2, 2]);
        is(&back(&xs, &array([1.0, 1.0])), &[5.0, 7.0, 2.0, 3.0]);
        check(move |x| f(x[0]), &[xs]);
    }),
    same("test_xla_cpu_gpu_loop_cond_bug", || {
        let power = |x: Expr| {
            let step = |(y, goes_on): (Expr, Expr), _: Expr| {
                let next = |y: Expr| (y * x, Expr::from(true));
                (cond(goes_on, next, |y| (y, Expr::from(false)), y), ())
            };
            scan(step, (ones_like(x), Expr::from(true)), Expr::from(&arange(1))).0.0
        };
        is(&jit(move |x: Expr| linearize(power, x).1(ones_like(x)))(&number(3.0)), &[1.0]);
    }),
    same("test_cond_ad_batched_unit", || {
        let same = |x: Expr| cond(x.lt(0), |x| x, |x| x, x);
        is(&jit(vmap(jacrev(move |x: Expr| same(same(x))), 0))(&ones([1])), &[1.0]);
    }),
    same("test_scan_hoisting_consts", || {
        let f = |x: Expr| {
            let (a, b) = (array([0.0, 1.0, 2.0, 3.0]).reshape([2, 2]), array([1.0, 2.0, 3.0, 4.0]).reshape([2, 2]));
            let next = |(p, q, r): (Expr, Expr, Expr)| (matmul(&a, p), matmul(&b, q), matmul(sin(&b), r));
            let start = x * array([1.0, 1.0]);
            let (p, q, r) = fori_loop(0, 3, (start, start, start), |_, c| next(c));
            sum(p, ..) + sum(q, ..) + sum(r, ..)
        };
        check(move |x| f(x[0]), &[number(1.0)]);
    }),
    same("test_custom_jvp_tangent_cond_transpose", || {
        let f = |x: Expr, choice: Expr| cond(choice.lt(1), |x| sum(x, ..), |x: Expr| 1 - sum(x, ..), x);
        let linear = |t: Expr, choice: Expr| cond(choice.lt(1), |t| sum(t, ..), |t: Expr| -sum(t, ..), t);
        let plain = jit(grad(f));
        let own = jit(grad(move |x: Expr, choice: Expr| {
            custom_jvp_at(|x: Expr| f(x, choice), |_, _, t| linear(t, choice), x)
        }));
        for (choice, expected) in [(0.0, 1.0), (1.0, -1.0)] {
            is(&plain(&data(&[3]), &number(choice)), &[expected; 3]);
            is(&own(&data(&[3]), &number(choice)), &[expected; 3]);
        }
    }),
    same("test_grad_remat_while_fixpoint", || {
        let f = |(x, y): (Expr, Expr)| {
            let swapped = while_loop((x, y), |_| Expr::from(false), |(x, y)| (y, x));
            swapped.0 + swapped.1
        };
        let g = jit(move |x: Expr, y: Expr| linearize(|at| checkpoint_at(f, at), (x, y)).1((x, y)));
        is(&g(&number(1.0), &number(2.0)), &[3.0]);
    }),
    same("test_while_constification_correctness", || {
        let f = |x: &[Expr]| {
            let next = |(i, a, b, c): (Expr, Expr, Expr, Expr)| (i + 1, a, sin(b * a) + x[3], c + take(x[4], i, 0));
            let (_, a, b, c) = while_loop((Expr::from(0), x[0], x[1], x[2]), |(i, _, _, _)| i.lt(4), next);
            stack(&[a, b, c], 0)
        };
        check(f, &[number(0.5), number(1.2), number(-0.3), number(0.8), data(&[4])]);
    }),
    same("test_scan_forwarding_correctness", || {
        let f = |x: &[Expr]| {
            let body = |(a, b): (Expr, Expr), (s, t): (Expr, Expr)| ((b, a * s), (a, t, s * b));
            let ((a, b), (p, q, r)) = scan(body, (x[0], x[1]), (x[2], x[3]));
            concat(&[stack(&[a, b], 0), p, q, r], 0)
        };
        check(f, &[number(0.5), number(1.2), drawn(&[4], 1), drawn(&[4], 2)]);
    }),
    same("test_scan_fixpoint_instantiate", || {
        let f = |x: Expr| {
            let (a, b) = fori_loop(0, 5, (x, zeros_like(x)), |_, (a, _)| (zeros_like(a), zeros_like(a)));
            a + b
        };
        is(&slope(f, 1.0), &[0.0]);
    }),
    same("test_cond_basic_vjp3", || {
        let f = |x: Expr| cond(x.gt(0), |x| sin(x), |x| ones_like(x), x);
        let back = jit(move |x: Expr| vjp(f, x).1(ones_like(x)));
        near(&back(&number(1.0)), &[1f64.cos()]);
        is(&back(&number(-1.0)), &[0.0]);
    }),
];

#[test]
fn derivatives_of_loops_and_branches_are_those_of_jax() {
    super::run(CASES);
}
