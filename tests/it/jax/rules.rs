//! Rules for tangents: cases of `CustomJVPTest` in `tests/custom_api_test.py`, and of `tests/custom_root_test.py`, of jax-ml/jax (Apache License 2.0).

use super::{Case, Why, array, check, data, differs, drawn, f64s, is, near, number, refused, same};
use ndjit::{
    Array, ErrorCode, Expr, Same, abs, arange, checkpoint, cond, cos, count_nonzero, cumulative_sum, custom_jvp,
    custom_jvp_at, descending, exp, fori_loop, grad, grad_at, jacfwd, jacrev, jit, jvp, matmul, maximum, ones,
    ones_like, pow, relu, scan, sigmoid, sin, sinc, sort, sum, take, value_and_grad, vmap, vmap_at, where_, while_loop,
    wrt, zeros, zeros_like,
};

/// The sine with twice its slope, as in most of these tests.
fn steep(x: Expr) -> Expr {
    custom_jvp_at(|x: Expr| sin(x), |x, _, t| cos(x) * t * 2, x)
}

/// Three times the argument, with a slope of two.
fn tripled(x: Expr) -> Expr {
    custom_jvp_at(|x: Expr| x * 3, |_, _, t| t * 2, x)
}

fn in_a_loop(x: Expr) -> Expr {
    scan(|c: Expr, _: Expr| (tripled(c), ()), x, Expr::from(&arange(1))).0
}

fn sines(x: &Array, f: fn(f64) -> f64) -> Vec<f64> {
    f64s(x).into_iter().map(f).collect()
}

/// `projection_unit_simplex`, with its Jacobian as the rule.
fn projected(x: Expr) -> Expr {
    let project = |x: Expr| {
        let n = x.shape().extents()[0];
        let largest = sort(x, descending(0));
        let sums = cumulative_sum(largest, 0) - 1;
        let count = arange(n).cast(ndjit::DType::F64) + 1;
        let used = count_nonzero((largest - sums / &count).gt(0), ..);
        relu(x - take(sums, used - 1, 0) / used.cast(ndjit::DType::F64))
    };
    let rule = |_, y: Expr, t: Expr| {
        let support = where_(y.gt(0), ones_like(y), zeros_like(y));
        support * t - sum(support * t, ..) / sum(support, ..) * support
    };
    custom_jvp_at(project, rule, x)
}

/// The root of y^2 = x^3, with the slope of the implicit function.
fn root_of_cube(x: Expr) -> Expr {
    let newton = |x: Expr| {
        let goes_on = |(y, x): (Expr, Expr)| abs(y * y - x * x * x).gt(1e-12);
        while_loop((x, x), goes_on, |(y, x)| (y - (y * y - x * x * x) / (y * 2), x)).0
    };
    custom_jvp_at(newton, |x, y, t| t * x * x * 3 / (y * 2), x)
}

pub const CASES: &[Case] = &[
    same("test_basic", || {
        let (value, tangent) = jit(|x: Expr| jvp(steep, x, ones_like(x)))(&number(3.0));
        near(&value, &[3f64.sin()]);
        near(&tangent, &[2.0 * 3f64.cos()]);
        near(&jit(grad(steep))(&number(3.0)), &[2.0 * 3f64.cos()]);
    }),
    same("test_invariance", || {
        let f = |x: Expr| custom_jvp_at(|x: Expr| cos(x * 2) / 2, |_, _, t| t * 3, x);
        let again = move |x: Expr| jvp(f, x, x).0;
        let thrice = move |x: Expr| jvp(again, x, x).0;
        for found in [
            jit(move |x: Expr| jvp(f, x, x).1)(&number(1.0)),
            jit(move |x: Expr| jvp(again, x, x).1)(&number(1.0)),
            jit(move |x: Expr| jvp(thrice, x, x).1)(&number(1.0)),
        ] {
            is(&found, &[3.0]);
        }
    }),
    differs("test_python_control_flow", Why::Types, || {
        // Control flow in the program, not in the host language.
        let f = |x: Expr| {
            let value = |x: Expr| cond(x.gt(0), |x| sin(x), |x| cos(x), x);
            custom_jvp_at(value, |x, _, t| t * where_(x.gt(0), 2.0, 3.0), x)
        };
        for (x, value, slope) in [(2.0, 2f64.sin(), 2.0), (-2.0, 2f64.cos(), 3.0)] {
            let (found, by_x) = jit(value_and_grad(f))(&number(x));
            near(&found, &[value]);
            is(&by_x, &[slope]);
        }
    }),
    same("test_vmap", || {
        let (x, xx) = (arange(3.0).cast(ndjit::DType::F64), arange(6.0).cast(ndjit::DType::F64).reshape([2, 3]));
        near(&jit(vmap(steep, 0))(&x), &sines(&x, f64::sin));
        near(&jit(vmap(vmap(steep, 0), 0))(&xx), &sines(&xx, f64::sin));
        let tangent = |x: Expr| jvp(steep, x, x).1;
        near(&jit(vmap(tangent, 0))(&x), &sines(&x, |x| 2.0 * x.cos() * x));
        near(&jit(vmap(vmap(tangent, 0), 0))(&xx), &sines(&xx, |x| 2.0 * x.cos() * x));
        near(&jit(|x: Expr| jvp(|x: Expr| vmap_at(steep, x), x, x).1)(&x), &sines(&x, |x| 2.0 * x.cos() * x));
        let nested = |row: Expr| jvp(|x: Expr| vmap_at(steep, x), row, row).1;
        near(&jit(vmap(nested, 0))(&xx), &sines(&xx, |x| 2.0 * x.cos() * x));
    }),
    same("test_jit", || {
        near(&jit(jit(steep))(&number(3.0)), &[3f64.sin()]);
        let f = jit(|x: Expr| jvp(steep, x, x).1);
        near(&f(&number(3.0)), &[2.0 * 3f64.cos() * 3.0]);
    }),
    same("test_pytrees", || {
        let f = |x: Vec<Expr>| custom_jvp_at(|x: Vec<Expr>| (sin(x[0]), ()), |x, _, t| (cos(x[0]) * t[0] * 2, ()), x).0;
        let g = jit(move |x: Expr| jvp(f, vec![x], vec![x]));
        let (value, tangent) = g(&number(3.0));
        near(&value, &[3f64.sin()]);
        near(&tangent, &[6.0 * 3f64.cos()]);
    }),
    same("test_initial_style", || {
        is(&jit(grad(in_a_loop))(&number(3.0)), &[2.0]);
        is(&jit(grad(jit(in_a_loop)))(&number(3.0)), &[2.0]);
        is(&jit(grad(grad(in_a_loop)))(&number(3.0)), &[0.0]);
        is(&jit(grad(jit(grad(in_a_loop))))(&number(3.0)), &[0.0]);
    }),
    same("test_initial_style_vmap", || {
        is(&jit(vmap(in_a_loop, 0))(&ones([3])), &[3.0; 3]);
        is(&jit(grad(|x: Expr| sum(vmap_at(in_a_loop, x), ..)))(&ones([3])), &[2.0; 3]);
        is(&jit(vmap(grad(in_a_loop), 0))(&ones([3])), &[2.0; 3]);
    }),
    differs("test_closed_over_tracers_error_message", Why::Modes, || {
        // Captured values of a rule are constant; JAX rejects them.
        let f = jit(grad(|x: Expr, y: Expr| custom_jvp_at(|y: Expr| x + y, |y, _, t| t * y * 2, y)));
        is(&f(&number(1.0), &number(2.0)), &[0.0]);
    }),
    same("test_nondiff_arg_jit_tracer", || {
        let f = |by: Expr, x: Expr| custom_jvp_at(|x: Expr| by * x, |_, _, t| by * t * 4, x);
        is(&jit(move |by: Expr, x: Expr| grad_at(|x: Expr| f(by, x), x))(&number(3.0), &number(1.0)), &[12.0]);
    }),
    same("test_nondiff_arg_vmap_tracer", || {
        let f = |by: Expr, x: Expr| custom_jvp_at(|x: Expr| by * x, |_, _, t| by * t * 4, x);
        let g = vmap(move |by: Expr, x: Expr| grad_at(|x: Expr| f(by, x), x), (0, Same));
        is(&jit(g)(&arange(3.0), &number(1.0)), &[0.0, 4.0, 8.0]);
    }),
    same("test_nondiff_argnums", || {
        let apply = |f: fn(Expr) -> Expr, x: Expr| custom_jvp_at(f, |x, _, t| f(x) * t * 3, x);
        let f = jit(move |x: Expr| jvp(|x: Expr| apply(|y| y * 2, x), x, ones_like(x)));
        let (value, tangent) = f(&number(1.0));
        is(&value, &[2.0]);
        is(&tangent, &[6.0]);
    }),
    same("test_jvp_rule_inconsistent_pytree_structures_error_message", || {
        let f = jit(grad(|x: Expr| custom_jvp_at(|x: Expr| vec![x, x], |_, _, t| vec![t], x)[0]));
        refused(f.call((&number(2.0),)), ErrorCode::Arity, "custom_jvp_at");
    }),
    same("test_primal_tangent_aval_disagreement_error_message", || {
        let f = jit(grad(|x: Expr| sum(custom_jvp_at(|x: Expr| sin(x), |_, _, t| t * zeros([3]), x), ..)));
        refused(f.call((&number(2.0),)), ErrorCode::Shape, "tangent 0 has shape [3]");
    }),
    same("test_hard_stuff2", || {
        let zero = |x: Expr| custom_jvp_at(|x: Expr| zeros_like(x), |_, _, t| t, x);
        is(&jit(vmap(zero, 0))(&arange(3.0)), &[0.0; 3]);
        is(&jit(vmap(grad(zero), 0))(&arange(3.0)), &[1.0; 3]);
        is(&jit(grad(move |x: Expr| sum(vmap_at(zero, x), ..)))(&arange(3.0)), &[1.0; 3]);
    }),
    same("test_hard_stuff3", || {
        let own = |x: Expr| custom_jvp_at(|x: Expr| maximum(x, 0), |x, _, t| where_(x.gt(0), t, 0.0), x);
        let f = move |x: Expr| {
            let zero = zeros_like(x);
            let next = move |c: [Expr; 5]| [own(c[0]), c[0] + c[1], c[1] + c[2], c[2] + c[3], c[3] + c[4]];
            fori_loop(0, 10, [x, zero, zero, zero, zero], |_, c| next(c))[4]
        };
        // Ten choose four.
        is(&jit(vmap(f, 0))(&arange(3.0)), &[0.0, 210.0, 420.0]);
        is(&jit(vmap(grad(f), 0))(&array([1.0, 2.0])), &[210.0, 210.0]);
        is(&jit(grad(move |x: Expr| sum(vmap_at(f, x), ..)))(&array([1.0, 2.0])), &[210.0, 210.0]);
    }),
    same("test_eval_shape", || {
        let expit = |x: Expr| custom_jvp_at(|x: Expr| 1 / (1 + exp(-x)), |_, y, t| t * y * (1 - y), x);
        let spec = ndjit::spec(ndjit::DType::F64, [2, 3]);
        let traced = jit(grad(move |x: Expr| sum(expit(x), ..))).trace(&[spec]);
        assert!(traced.is_ok());
    }),
    same("test_linear_in_scan", || {
        let minus = |x: Expr| custom_jvp_at(|x: Expr| -x, |_, _, t| -t, x);
        is(&jit(grad(move |x: Expr| fori_loop(0, 1, x, |_, c| minus(c))))(&number(3.0)), &[-1.0]);
    }),
    differs("test_custom_jvps_first_rule_is_none", Why::Types, || {
        // The rule is one function; an omitted tangent is zero.
        let f = || custom_jvp(|x, y| x * x * y, |[x, y], _, [_, t]| t * x * y * 2);
        is(&jit(wrt(1).grad(f()))(&number(2.0), &number(3.0)), &[12.0]);
        is(&jit(grad(f()))(&number(2.0), &number(3.0)), &[0.0]);
    }),
    same("test_concurrent_initial_style", || {
        let f = |by: Expr, xs: Expr| sum(scan(|c: Expr, x: Expr| (c, sigmoid(by * x)), Expr::from(0.0), xs).1, ..);
        let run = move || f64s(&jit(grad(f))(&number(1.0), &array([1.0])));
        let threads: Vec<_> = (0..2).map(|_| std::thread::spawn(run)).collect();
        let expected = run();
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), expected));
    }),
    same("test_closure_with_vmap2", || {
        let f =
            |z: Expr| vmap_at(|x: Expr| custom_jvp_at(|y: Expr| x * y, |_, _, t| x * t, z), Expr::from(&arange(3.0)));
        let (value, tangent) = jit(move |z: Expr| jvp(f, z, z * 2))(&Array::from(1.0f32));
        is(&value, &[0.0, 1.0, 2.0]);
        is(&tangent, &[0.0, 2.0, 4.0]);
    }),
    differs("test_float0", Why::Integers, || {
        let f = |x: Expr, n: Expr| {
            custom_jvp_at(|(x, n): (Expr, Expr)| (x, n), |_, _, (_, n)| (Expr::from(2.0), n), (x, n))
        };
        let g = jit(move |x: Expr, n: Expr| jvp(|x: Expr| f(x, n), x, x).1);
        let (by_x, by_n) = g(&Array::from(2.0f32), &Array::from(3));
        is(&by_x, &[2.0]);
        is(&by_n, &[0.0]);
    }),
    same("test_remat", || {
        let f = checkpoint(|x: Expr| steep(steep(x)));
        near(&jit(grad(f))(&number(2.0)), &[4.0 * 2f64.sin().cos() * 2f64.cos()]);
    }),
    same("test_remat_higher_order", || {
        let f = |x: Expr| steep(steep(x));
        let expected = f64s(&jit(grad(grad(f)))(&number(2.0)));
        near(&jit(grad(grad(checkpoint(f))))(&number(2.0)), &expected);
        near(&jit(grad(checkpoint(grad(f))))(&number(2.0)), &expected);
        let third = f64s(&jit(grad(grad(grad(f))))(&number(2.0)));
        near(&jit(grad(grad(grad(checkpoint(f)))))(&number(2.0)), &third);
    }),
    same("test_initial_style_vmap_2", || {
        let f = |x: Expr| custom_jvp_at(|x: Expr| x * sum(array([1.0, 2.0, 3.0]), ..) * 3, |_, _, t| t * 2, x);
        let g = jit(grad(move |x: Expr| sum(vmap_at(|x: Expr| fori_loop(0, 1, x, |_, c| f(c)), x), ..)));
        is(&g(&array([1.0; 3])), &[2.0; 3]);
    }),
    same("test_custom_jvp_vmap_broadcasting_interaction", || {
        let f = |z: Expr| sum(vmap_at(|y: Expr| ndjit::logaddexp(z, sum(y, ..) + z), Expr::from(&ones([3, 2]))), ..);
        let (value, slope) = jit(value_and_grad(f))(&number(0.1));
        assert_eq!((value.shape().rank(), slope.shape().rank()), (0, 0));
        near(&slope, &[3.0]);
    }),
    same("test_custom_jvp_vmap_broadcasting_interaction_2", || {
        let moved = |size: Expr, r: Expr| {
            custom_jvp_at(|(size, r): (Expr, Expr)| r * size, |(_, r), _, (s, t)| t + r * s, (size, r))
        };
        let energy = move |size: Expr| {
            let r = Expr::from(&data(&[6, 2]));
            let apart = vmap_at(|a: Expr| vmap_at(|b: Expr| moved(size, a - b), r), r);
            sum(apart * apart, ..)
        };
        let slope = jit(grad(energy))(&number(1.0));
        assert_eq!(slope.shape().rank(), 0);
        near(&slope, &[2.0 * jit(energy)(&number(1.0)).item::<f64>().unwrap()]);
    }),
    same("test_custom_jvp_implicit_broadcasting", || {
        let x = drawn(&[5], 4) * 0.25 + 0.5;
        let y = f64s(&jit(projected)(&x));
        assert!((y.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let support: Vec<f64> = y.iter().map(|&y| f64::from(u8::from(y > 0.0))).collect();
        let count: f64 = support.iter().sum();
        let expected: Vec<f64> = (0..25)
            .map(|n| support[n / 5] * f64::from(u8::from(n % 6 == 0)) - support[n / 5] * support[n % 5] / count)
            .collect();
        near(&jit(jacfwd(projected))(&x), &expected);
        near(&jit(jacrev(projected))(&x), &expected);
        let f = |x: &[Expr]| {
            let y = vmap_at(projected, x[0]);
            y * y
        };
        check(f, &[drawn(&[4, 5], 2)]);
    }),
    same("test_vmap_inside_defjvp", || {
        let rule = |[m, by]: [Expr; 2], _: Expr, [t, _]: [Expr; 2]| {
            let rows = vmap_at(|(row, t): (Expr, Expr)| matmul(m, row) * t, (m, sum(t, 1)));
            sum(rows, 0) / by
        };
        let f = custom_jvp(|m, by| sum(m, 1) * 0.0 + by, rule);
        let slope = jit(grad(move |m, by| sum(f(m, by), ..)))(&ones([2, 3]), &number(0.5));
        is(&slope, &[12.0; 6]);
    }),
    same("test_custom_jvp_unbroadcasting", || {
        let f = |x: Expr| custom_jvp_at(|x: Expr| x * array([1.0, 1.0]), |_, _, t| t * array([1.0, 1.0]), x);
        let slope = jit(grad(move |x: Expr| sum(f(x), ..)))(&number(1.0));
        assert_eq!(slope.shape().rank(), 0);
        is(&slope, &[2.0]);
    }),
    same("test_sinc_constant_function_batching", || {
        let batch = || Expr::from(&arange(15.0)).reshape([5, 3]);
        let f =
            move |by: Expr| sum(vmap_at(|row: Expr| scan(|(), x: Expr| ((), sinc(x)), (), row).1, batch() * by), ..);
        let slope = jit(grad(f))(&number(0.1));
        near(&slope, &f64s(&jit(grad(move |by: Expr| sum(sinc(batch() * by), ..)))(&number(0.1))));
    }),
    same("test_run_rules_more_than_once", || {
        let f = |x: Expr, y: Expr| custom_jvp_at(|(x, _): (Expr, Expr)| x, |_, _, (s, _)| s, (x, y));
        let g = jit(grad(move |x: Expr| fori_loop(0, 2, (x, ones_like(x)), |_, (x, y)| (f(x, y), x)).0));
        is(&g(&number(1.0)), &[1.0]);
    }),
    same("test_dce", || {
        let f = || {
            custom_jvp(|x, y| (sin(x), x + cos(y)), |[x, y], _, [s, t]| (cos(x) * s * 2, s * 1.5 - sin(y) * t * 0.5))
        };
        let (x, y) = (number(0.1), number(-1.3));
        let (by_x, by_y) = jit(wrt((0, 1)).grad(move |x, y| f()(x, y).0))(&x, &y);
        near(&by_x, &[2.0 * 0.1f64.cos()]);
        is(&by_y, &[0.0]);
        let (by_x, by_y) = jit(wrt((0, 1)).grad(move |x, y| f()(x, y).1))(&x, &y);
        is(&by_x, &[1.5]);
        near(&by_y, &[-0.5 * (-1.3f64).sin()]);
    }),
    same("test_custom_jvp_transpose_vjp3", || {
        fn quotient(x: Expr, y: Expr) -> Expr {
            let again =
                |x: Expr, y: Expr| custom_jvp_at(|(x, y): (Expr, Expr)| x / y, |(_, y), _, (s, _)| s / y, (x, y));
            custom_jvp_at(|(x, y): (Expr, Expr)| x / y, |(_, y), _, (s, _)| again(s, y), (x, y))
        }
        is(&jit(grad(|x: Expr| quotient(x, Expr::from(2.0))))(&number(1.0)), &[0.5]);
    }),
];

pub const ROOTS: &[Case] = &[
    same("test_custom_root_scalar", || {
        let (value, slope) = jit(value_and_grad(root_of_cube))(&number(5.0));
        near(&value, &[5f64.powf(1.5)]);
        near(&slope, &[1.5 * 5f64.sqrt()]);
        check(|x| root_of_cube(x[0]), &[number(5.0)]);
        let roots = f64s(&jit(vmap(root_of_cube, 0))(&array([4.0, 5.0])));
        super::within(&roots, &[8.0, 5f64.powf(1.5)], 1e-12);
    }),
    same("test_custom_root_vector_nonlinear", || {
        // x = y is the only root of (x - y) (x^2 + y^2 + 1).
        let solved = |y: Expr| {
            let residual = |x: Expr, y: Expr| (x - y) * (x * x + y * y + 1);
            let next = |x: Expr, y: Expr| x - residual(x, y) / (x * x + y * y + 1 + (x - y) * x * 2);
            custom_jvp_at(|y: Expr| fori_loop(0, 40, y * 0.5 - 1, |_, x| next(x, y)), |_, _, t| t, y)
        };
        check(move |x| solved(x[0]), &[data(&[3, 1])]);
        near(&jit(solved)(&data(&[3])), &f64s(&data(&[3])));
    }),
    same("test_custom_root_with_aux", || {
        let f = |a: Expr| {
            custom_jvp_at(|a: Expr| (pow(a, 0.5), Expr::from(3)), |_, (x, n), t| (t / (x * 2), zeros_like(n)), a)
        };
        let g = jit(move |a: Expr| jvp(f, a, ones_like(a)));
        let ((root, count), (slope, _)) = g(&number(4.0));
        is(&root, &[2.0]);
        is(&count, &[3.0]);
        is(&slope, &[0.25]);
    }),
];

#[test]
fn rules_for_tangents_are_those_of_jax() {
    super::run(CASES);
    super::run(ROOTS);
}
