//! Rules for cotangents: cases of `CustomVJPTest` in `tests/custom_api_test.py` of jax-ml/jax (Apache License 2.0).

use super::{Case, Why, array, check_to, data, differs, drawn, f64s, is, near, number, refused, same};
use ndjit::{
    Array, DType, ErrorCode, Expr, Same, arange, checkpoint, checkpoint_at, clip, cond, cos, custom_vjp, custom_vjp_at,
    fori_loop, grad, grad_at, jit, jvp, ones, ones_like, relu, scan, sin, square, sum, value_and_grad, vjp, vmap,
    vmap_at, where_, wrt, zeros_like,
};

/// The sine with twice its slope, as in most of these tests.
fn steep(x: Expr) -> Expr {
    custom_vjp_at(|x: Expr| (sin(x), cos(x)), |slope, g| slope * g * 2, x)
}

/// Three times the argument, with another function's slope.
fn tripled(x: Expr) -> Expr {
    custom_vjp_at(|x: Expr| (x * 3, cos(x)), |slope, g| slope * g * 2, x)
}

fn in_a_loop(f: fn(Expr) -> Expr) -> impl Fn(Expr) -> Expr + Copy {
    move |x| fori_loop(0, 1, x, |_, c| f(c))
}

fn floats(n: i32) -> Array {
    arange(n).cast(DType::F64)
}

fn mapped(x: &Array, f: fn(f64) -> f64) -> Vec<f64> {
    f64s(x).into_iter().map(f).collect()
}

/// A product of sines, whose rule omits the first parameter.
fn half_ruled(x: Expr, y: Expr) -> Expr {
    custom_vjp_at(
        |(x, y): (Expr, Expr)| (x * sin(y), (cos(y), x)),
        |(slope, x), g| (zeros_like(x), slope * g * 2),
        (x, y),
    )
}

pub const CASES: &[Case] = &[
    same("test_basic", || {
        let (value, slope) = jit(value_and_grad(steep))(&number(3.0));
        near(&value, &[3f64.sin()]);
        near(&slope, &[2.0 * 3f64.cos()]);
    }),
    same("test_invariance", || {
        let f = |x: Expr| custom_vjp_at(|x: Expr| (cos(x * 2) / 2, ()), |(), g| g * 3, x);
        let again = move |x: Expr| value_and_grad(f)(x).0;
        let thrice = move |x: Expr| value_and_grad(again)(x).0;
        for found in [jit(grad(f))(&number(1.0)), jit(grad(again))(&number(1.0)), jit(grad(thrice))(&number(1.0))] {
            is(&found, &[3.0]);
        }
    }),
    differs("test_python_control_flow", Why::Types, || {
        // Control flow in the program, not in the host language.
        let forward = |x: Expr| (cond(x.gt(0), |x| sin(x), |x| cos(x), x), x);
        let f = move |x: Expr| custom_vjp_at(forward, |x, g| g * where_(x.gt(0), 2.0, 3.0), x);
        for (x, value, slope) in [(2.0, 2f64.sin(), 2.0), (-2.0, 2f64.cos(), 3.0)] {
            let (found, by_x) = jit(value_and_grad(f))(&number(x));
            near(&found, &[value]);
            is(&by_x, &[slope]);
        }
    }),
    same("test_vmap", || {
        let (x, xx) = (floats(3), floats(6).reshape([2, 3]));
        near(&jit(vmap(steep, 0))(&x), &mapped(&x, f64::sin));
        near(&jit(vmap(vmap(steep, 0), 0))(&xx), &mapped(&xx, f64::sin));
        near(&jit(vmap(grad(steep), 0))(&x), &mapped(&x, |x| 2.0 * x.cos()));
        near(&jit(vmap(vmap(grad(steep), 0), 0))(&xx), &mapped(&xx, |x| 2.0 * x.cos()));
        let all = |x: Expr| sum(vmap_at(steep, x), ..);
        near(&jit(grad(all))(&x), &mapped(&x, |x| 2.0 * x.cos()));
        near(&jit(vmap(grad(all), 0))(&xx), &mapped(&xx, |x| 2.0 * x.cos()));
        let nested = |x: Expr| sum(vmap_at(|row: Expr| vmap_at(steep, row), x), ..);
        near(&jit(grad(nested))(&xx), &mapped(&xx, |x| 2.0 * x.cos()));
    }),
    same("test_jit", || {
        near(&jit(jit(steep))(&number(3.0)), &[3f64.sin()]);
        near(&jit(grad(jit(steep)))(&number(3.0)), &[2.0 * 3f64.cos()]);
    }),
    same("test_pytrees", || {
        let f = |x: [Expr; 1]| {
            custom_vjp_at(|x: [Expr; 1]| (vec![sin(x[0])], (cos(x[0]), ())), |(r, ()), g| [r * g[0] * 2], x)
        };
        near(&jit(move |x: Expr| grad_at(|x: [Expr; 1]| f(x)[0], [x])[0])(&number(3.0)), &[2.0 * 3f64.cos()]);
    }),
    differs("test_jvp_error", Why::Modes, || {
        // The tangent is the adjoint of the rule.
        near(&jit(|x: Expr| jvp(steep, x, ones_like(x)).1)(&number(3.0)), &[2.0 * 3f64.cos()]);
        let lanes = jit(|x: Expr| jvp(|x: Expr| vmap_at(steep, x), x, ones_like(x)).1);
        near(&lanes(&floats(3)), &mapped(&floats(3), |x| 2.0 * x.cos()));
    }),
    same("test_initial_style", || {
        near(&jit(grad(in_a_loop(steep)))(&number(3.0)), &[2.0 * 3f64.cos()]);
        near(&jit(grad(grad(in_a_loop(steep))))(&number(3.0)), &[-2.0 * 3f64.sin()]);
    }),
    same("test_initial_style_vmap", || {
        near(&jit(vmap(in_a_loop(tripled), 0))(&floats(3)), &[0.0, 3.0, 6.0]);
        let slopes = jit(grad(|x: Expr| sum(vmap_at(in_a_loop(tripled), x), ..)));
        near(&slopes(&floats(3)), &mapped(&floats(3), |x| 2.0 * x.cos()));
    }),
    same("test_nondiff_argnums", || {
        let apply = |f: fn(Expr) -> Expr, x: Expr| custom_vjp_at(|x: Expr| (f(x), cos(x)), |slope, g| slope * g, x);
        let f = move |x: Expr| apply(|y| y * 2, x);
        let (value, slope) = jit(value_and_grad(f))(&number(1.0));
        is(&value, &[2.0]);
        near(&slope, &[1f64.cos()]);
    }),
    same("test_closed_over_jit_tracer", || {
        let f = |x: Expr, y: Expr| custom_vjp_at(|y: Expr| (x * y, (x, cos(y))), |(x, slope), g| x * slope * g, y);
        let value = jit(f);
        is(&value(&number(2.0), &number(3.0)), &[6.0]);
        near(&jit(wrt(1).grad(f))(&number(2.0), &number(3.0)), &[2.0 * 3f64.cos()]);
    }),
    same("test_closed_over_vmap_tracer", || {
        let f = |x: Expr, y: Expr| custom_vjp_at(|y: Expr| (x * y, (x, cos(y))), |(x, slope), g| x * slope * g, y);
        is(&jit(vmap(f, (0, Same)))(&floats(3), &number(3.0)), &[0.0, 3.0, 6.0]);
        near(&jit(vmap(wrt(1).grad(f), (0, Same)))(&floats(3), &number(3.0)), &[0.0, 3f64.cos(), 2.0 * 3f64.cos()]);
    }),
    same("test_vjp_rule_inconsistent_pytree_structures_error", || {
        let f = jit(|x: Expr| {
            grad_at(|x: Vec<Expr>| custom_vjp_at(|x: Vec<Expr>| (x[0], ()), |(), g| vec![g, g], x), vec![x])[0]
        });
        refused(f.call((&number(2.0),)), ErrorCode::Arity, "custom_vjp_at");
    }),
    same("test_fwd_rule_primal_out_type_doesnt_match_primal_error_message", || {
        let f = |x: Expr| custom_vjp_at(|x: Expr| (ndjit::broadcast_to(x, [3]), ()), |(), g: Expr| sum(g, ..), x);
        refused(jit(grad(in_scan(f))).call((&Array::from(1.0f32),)), ErrorCode::Shape, "leaf 0 of the state");
    }),
    same("test_lowering_out_of_traces", || {
        is(&jit(wrt(1).grad(|a: Expr, x: Expr| relu(a) * x))(&number(2.0), &number(0.0)), &[2.0]);
    }),
    same("test_clip_gradient", || {
        let clipped = |low: Expr, high: Expr, x: Expr| {
            let rule = |(low, high): (Expr, Expr), g: Expr| [zeros_like(low), zeros_like(high), clip(g, low, high)];
            custom_vjp(|low, high, x| (x + low * 0.0 + high * 0.0, (low, high)), rule)(low, high, x)
        };
        near(&jit(grad(move |x: Expr| clipped(zeros_like(x) - 0.1, x + 0.1, x)))(&number(0.1)), &[0.2]);
    }),
    same("test_nestable_vjp", || {
        let own = |x: Expr| custom_vjp_at(|x: Expr| (x * x, x), |x, g| vjp(|x: Expr| x * x, x).1(g), x);
        is(&jit(grad(own))(&number(1.0)), &[2.0]);
        is(&jit(move |x: Expr, g: Expr| vjp(own, x).1(g))(&number(1.0), &number(3.0)), &[6.0]);
        is(&jit(grad(grad(own)))(&number(1.0)), &[2.0]);
    }),
    same("test_initial_style_vmap_2", || {
        let own = |x: Expr| custom_vjp_at(|x: Expr| (sum(x, ..), ones_like(x)), |r, g| r * g, x);
        let train = move |x: Expr| grad_at(|x: Expr| sum(vmap_at(own, x), ..), x);
        let f = jit(move |x: Expr| scan(|x: Expr, _: Expr| (x, train(x)), x, Expr::from(&arange(4))).1);
        is(&f(&ones([10, 3])), &[1.0; 120]);
    }),
    same("test_initial_style_vmap_3", || {
        let f = |x: Expr| {
            let forward = |x: Expr| (x * 3 * sum(array([1.0, 2.0, 3.0]), ..), cos(x));
            custom_vjp_at(forward, |slope, g| slope * g * 2, x)
        };
        near(&jit(vmap(in_a_loop(f), 0))(&floats(3)), &[0.0, 18.0, 36.0]);
        let slopes = jit(grad(move |x: Expr| sum(vmap_at(in_a_loop(f), x), ..)));
        near(&slopes(&floats(3)), &mapped(&floats(3), |x| 2.0 * x.cos()));
    }),
    same("test_bwd_closes_over_tracer", || {
        let f =
            |y: Expr| grad_at(|x: Expr| custom_vjp_at(|x: Expr| (sin(x), ()), |(), g| cos(y) * g * 2, x), ones_like(y));
        near(&jit(f)(&number(2.0)), &[2.0 * 2f64.cos()]);
        near(&jit(vmap(f, 0))(&floats(3)), &mapped(&floats(3), |x| 2.0 * x.cos()));
        near(&jit(grad(f))(&number(4.0)), &[-2.0 * 4f64.sin()]);
    }),
    same("test_fwd_closes_over_tracer", || {
        let f =
            |y: Expr| grad_at(|x: Expr| custom_vjp_at(|x: Expr| (sin(x), y), |y, g| cos(y) * g * 2, x), ones_like(y));
        near(&jit(f)(&number(2.0)), &[2.0 * 2f64.cos()]);
        near(&jit(vmap(f, 0))(&floats(3)), &mapped(&floats(3), |x| 2.0 * x.cos()));
        near(&jit(grad(f))(&number(4.0)), &[-2.0 * 4f64.sin()]);
    }),
    differs("test_float0", Why::Integers, || {
        let f =
            |x: Expr, n: Expr| custom_vjp_at(|(x, n): (Expr, Expr)| (x, n), |n, _: Expr| (Expr::from(2.0), n), (x, n));
        let g = jit(move |x: Expr, n: Expr| grad_at(|(x, n)| f(x, n), (x, n)));
        let (by_x, by_n) = g(&Array::from(2.0f32), &Array::from(3));
        is(&by_x, &[2.0]);
        is(&by_n, &[0.0]);
    }),
    same("test_remat", || {
        let f = checkpoint(|x: Expr| steep(steep(x)));
        near(&jit(grad(f))(&number(2.0)), &[4.0 * 2f64.sin().cos() * 2f64.cos()]);
    }),
    same("test_remat_pytree_arg", || {
        let own = |x: (Expr, Expr)| {
            custom_vjp_at(|(a, b): (Expr, Expr)| (a * b, (a, b)), |(a, b), g: Expr| (g * b, g * a), x)
        };
        let f = jit(move |a: Expr, b: Expr| grad_at(|x| checkpoint_at(|x| sin(own(x)), x), (a, b)));
        let (by_a, by_b) = f(&number(2.0), &number(3.0));
        near(&by_a, &[6f64.cos() * 3.0]);
        near(&by_b, &[6f64.cos() * 2.0]);
    }),
    same("test_remat_nondiff_argnums", || {
        let own = |k: f64, x: Expr| custom_vjp_at(|x: Expr| (sin(x * k), cos(x * k)), |slope, g| slope * g * k, x);
        let f = checkpoint(move |x: Expr| own(2.0, x) * 3);
        near(&jit(grad(f))(&number(0.5)), &[6.0 * 1f64.cos()]);
    }),
    same("test_remat_higher_order", || {
        let f = |x: Expr| steep(steep(x));
        let expected = f64s(&jit(grad(grad(f)))(&number(2.0)));
        near(&jit(grad(grad(checkpoint(f))))(&number(2.0)), &expected);
        near(&jit(grad(checkpoint(grad(f))))(&number(2.0)), &expected);
        let third = f64s(&jit(grad(grad(grad(f))))(&number(2.0)));
        near(&jit(grad(grad(grad(checkpoint(f)))))(&number(2.0)), &third);
    }),
    same("test_bwd_nones", || {
        near(&jit(grad(|x: Expr| half_ruled(x, x)))(&number(3.0)), &[2.0 * 3f64.cos()]);
    }),
    same("test_bwd_nones_vmap", || {
        let f = jit(grad(|x: Expr| sum(vmap_at(|(x, y)| half_ruled(x, y), (x, x)), ..)));
        near(&f(&floats(3)), &mapped(&floats(3), |x| 2.0 * x.cos()));
    }),
    same("test_custom_vjp_closure_4521", || {
        let own = |x: Expr, y: Expr| custom_vjp(|x, y| (zeros_like(x), y), |y, g| [g, zeros_like(y)])(x, y);
        let f = move |xs: Expr, y: Expr| vmap_at(|x: Expr| own(x, y), xs);
        let body = move |xs: Expr, _: Expr| {
            vjp(|y: Expr| f(xs, y), zeros_like(sum(xs, ..))).1(xs);
            (xs, ())
        };
        is(&jit(move |x: Expr| scan(body, x, Expr::from(&arange(100))).0)(&ones([5])), &[1.0; 5]);
    }),
    same("test_float0_bwd_none", || {
        let own = || custom_vjp(|i, x| (sin(x), (i, cos(x))), |(i, slope), g| [zeros_like(i), slope * g * 2]);
        near(&jit(wrt(1).grad(own()))(&Array::from([1, 2]), &number(3.0)), &[2.0 * 3f64.cos()]);
    }),
    same("test_custom_gradient", || {
        let f = |x: Expr| custom_vjp_at(|x: Expr| (x * x, x), |x, g| g * x, x);
        is(&jit(f)(&number(3.0)), &[9.0]);
        is(&jit(grad(f))(&number(3.0)), &[3.0]);
        is(&jit(grad(grad(f)))(&number(3.0)), &[1.0]);
    }),
    same("test_custom_gradient_2", || {
        let f = || custom_vjp(|x, y| (x * y, (x, y)), |(x, y), _: Expr| [y, x]);
        let (by_x, by_y) = jit(wrt((0, 1)).grad(f()))(&number(3.0), &number(4.0));
        is(&by_x, &[4.0]);
        is(&by_y, &[3.0]);
    }),
    same("test_custom_gradient_3", || {
        let f =
            |x: Expr| custom_vjp_at(|x: Expr| (sum(sin(x), ..), x), |x, _: Expr| cos(x) * array([3.0, 4.0, 5.0]), x);
        near(&jit(grad(f))(&floats(3)), &[3.0, 4.0 * 1f64.cos(), 5.0 * 2f64.cos()]);
    }),
    same("test_closure_convert", || {
        // Captured values become parameters.
        let distance = |c: Expr, x: Expr| sum(square(x - c), ..);
        let solved = move |c: Expr, x: Expr| {
            custom_vjp(move |c, x| (cos(distance(c, x)), (c, x)), |(c, x), _: Expr| [c * 42, x * 17])(c, x)
        };
        let (c, x) = (array([2.0, 2.0]), array([1.0, 1.0]));
        near(&jit(solved)(&c, &x), &[2f64.cos()]);
        let (by_c, by_x) = jit(wrt((0, 1)).grad(solved))(&c, &x);
        is(&by_c, &[84.0; 2]);
        is(&by_x, &[17.0; 2]);
    }),
    same("test_custom_vjp_scan_batching_edge_case", || {
        let scaled = |x: Expr, by: Expr| {
            let rule = |(x, by): (Expr, Expr), g: Expr| (g * by, sum(x * g, ..));
            custom_vjp_at(|(x, by): (Expr, Expr)| (x * by, (x, by)), rule, (x, by))
        };
        let looped = move |x: Expr, by: Expr| fori_loop(0, 3, x, |_, x| scaled(x, by));
        check_to(2, move |x| vmap_at(|row: Expr| looped(row, x[1]), x[0]), &[drawn(&[3, 2], 1), number(1.0)]);
    }),
    same("test_closure_with_vmap2", || {
        let f = |z: Expr| {
            let of = |x: Expr| custom_vjp_at(|y: Expr| (x * y, (x, x * y, y)), |(x, _, _), g| x * g, z);
            sum(vmap_at(of, Expr::from(&arange(3.0))), ..)
        };
        is(&jit(grad(f))(&number(3.15)), &[3.0]);
    }),
    same("test_vmap_vjp_called_twice", || {
        let f = jit(|x: Expr, g: Expr| {
            let own = |x: Expr| custom_vjp_at(|x: Expr| (x, ()), |(), g| g, x);
            let (_, back) = vjp(|x: Expr| vmap_at(own, x), x);
            back(g) + back(g * 2)
        });
        is(&f(&array([3.0]), &array([3.0])), &[9.0]);
    }),
    differs("test_bwd_rule_shape_mismatch", Why::Types, || {
        let of = |rule: fn(Expr) -> Expr| {
            jit(grad(move |x: Expr| sum(custom_vjp_at(|x: Expr| (x, ()), |(), g| rule(g), x), ..)))
        };
        let f = of(|g| ndjit::concat(&[g, g], 0));
        refused(f.call((&data(&[3]),)), ErrorCode::Shape, "custom_vjp_at: cotangent 0 has shape [6]");
        // One scalar is a cotangent of each element.
        is(&of(|g| sum(g, ..))(&data(&[3])), &[3.0; 3]);
    }),
    same("test_bwd_rule_can_produce_list_or_tuple", || {
        let f = |x: Expr, y: Expr| {
            let forward = |x: Vec<Expr>| (x[0] * x[1], x);
            custom_vjp_at(forward, |x: Vec<Expr>, g| vec![g * x[1], g * x[0]], vec![x, y])
        };
        is(&jit(grad(f))(&number(1.0), &number(2.0)), &[2.0]);
    }),
];

fn in_scan<F: Fn(Expr) -> Expr + Send + Sync + 'static>(f: F) -> impl Fn(Expr) -> Expr + Send + Sync + 'static {
    move |x| scan(|c: Expr, _: Expr| (f(c), ()), x, Expr::from(&arange(1))).0
}

#[test]
fn rules_for_cotangents_are_those_of_jax() {
    super::run(CASES);
}
