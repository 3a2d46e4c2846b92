//! Functions with custom derivatives: both modes and higher derivatives follow a rule, in lanes and in loops too; and rematerialized
//! functions.

use ndjit::{
    Array, ErrorCode, Expr, Same, Stage, arange, checkpoint, checkpoint_at, clip, cos, cumulative_sum, custom_jvp,
    custom_jvp_at, custom_vjp, custom_vjp_at, exp, fori_loop, grad, grad_at, jit, jvp, linearize, log, ones_like, scan,
    scan_reversed, sin, sum, tanh, vjp, vmap, vmap_at, while_loop, with_state_budget, wrt,
};

fn f64s(x: &Array) -> Vec<f64> {
    x.to_vec().unwrap()
}

fn array<const N: usize>(x: [f64; N]) -> Array {
    Array::from(x)
}

/// The sine, with three times its slope as rule.
fn tripled(x: Expr) -> Expr {
    custom_jvp_at(|x: Expr| sin(x), |x, _, t| t * cos(x) * 3, x)
}

#[test]
fn a_rule_of_tangents_gives_both_modes() {
    let x = array([0.5, -1.0]);
    let expected: Vec<f64> = [0.5f64, -1.0].map(|x| x.cos() * 3.0).to_vec();
    assert_eq!(f64s(&jit(grad(|x: Expr| sum(tripled(x), ..)))(&x)), expected);
    let forward = jit(|x: Expr| jvp(tripled, x, ones_like(x)));
    let (value, tangent) = forward(&x);
    assert_eq!(f64s(&value), [0.5f64.sin(), (-1.0f64).sin()]);
    assert_eq!(f64s(&tangent), expected);
}

#[test]
fn derivatives_of_derivatives_follow_the_rule() {
    // The rule uses the result: d y = y t, so d2 y = y.
    let f = || custom_jvp(|x| exp(x), |[_], y, [t]| y * t * 2);
    let x = array([0.25]);
    let y = 0.25f64.exp();
    assert_eq!(f64s(&jit(grad(move |x: Expr| sum(f()(x), ..)))(&x)), [2.0 * y]);
    let second = jit(grad(move |x: Expr| sum(grad_at(|x: Expr| sum(f()(x), ..), x), ..)));
    assert_eq!(f64s(&second(&x)), [4.0 * y]);
    let third = jit(|x: Expr| {
        let slope =
            move |x: Expr| grad_at(move |x: Expr| sum(custom_jvp(|x| exp(x), |[_], y, [t]| y * t * 2)(x), ..), x);
        let curvature = move |x: Expr| jvp(slope, x, ones_like(x)).1;
        jvp(curvature, x, ones_like(x)).1
    });
    assert_eq!(f64s(&third(&x)), [8.0 * y]);
}

#[test]
fn rules_of_several_parameters_and_results() {
    let f = || custom_jvp(|x, y| (x * y, x + y), |[x, y], (_, _), [s, t]| (s * y + x * t, s + t));
    let (x, y) = (array([2.0, 3.0]), array([5.0, 7.0]));
    let by_both = jit(wrt((0, 1)).grad(move |x, y| {
        let (product, added) = f()(x, y);
        sum(product * added, ..)
    }));
    let (by_x, by_y) = by_both(&x, &y);
    assert_eq!(f64s(&by_x), [5.0 * 7.0 + 10.0, 7.0 * 10.0 + 21.0]);
    assert_eq!(f64s(&by_y), [2.0 * 7.0 + 10.0, 3.0 * 10.0 + 21.0]);
    // For one of them, the other result is unused.
    let one = jit(grad(move |x, y| sum(f()(x, y).1, ..)));
    assert_eq!(f64s(&one(&x, &y)), [1.0, 1.0]);
}

#[test]
fn a_rule_of_cotangents_gives_both_modes() {
    let clipped = || custom_vjp(|x| (x * 2, ()), |(), g| [clip(g, -1.0, 1.0)]);
    let f = jit(grad(move |x: Expr| sum(clipped()(x) * 5, ..)));
    assert_eq!(f64s(&f(&array([1.0, 2.0]))), [1.0, 1.0]);
    let product = || custom_vjp(|x, y| (x * y, (x, y)), |(x, y), g| [g * y * 10, g * x]);
    let (x, y) = (array([2.0]), array([5.0]));
    let back = jit(wrt((0, 1)).grad(move |x, y| sum(product()(x, y), ..)));
    let (by_x, by_y) = back(&x, &y);
    assert_eq!((f64s(&by_x), f64s(&by_y)), (vec![50.0], vec![2.0]));
    // The adjoint: t y 10 + s x.
    let forward = jit(move |x: Expr, y: Expr| {
        jvp(|(x, y): (Expr, Expr)| product()(x, y), (x, y), (ones_like(x), ones_like(y))).1
    });
    assert_eq!(f64s(&forward(&x, &y)), [52.0]);
    // The forward function's residuals are differentiated as they were computed.
    let second = jit(grad(|x: Expr| {
        let own = |x: Expr| custom_vjp_at(|x: Expr| (sin(x), x), |x, g| g * cos(x), x);
        sum(grad_at(|x: Expr| sum(own(x), ..), x), ..)
    }));
    assert_eq!(f64s(&second(&array([0.5]))), [-0.5f64.sin()]);
}

#[test]
fn rules_have_lanes() {
    let x = array([0.5, -1.0, 2.0]);
    let expected: Vec<f64> = [0.5f64, -1.0, 2.0].map(|x| x.cos() * 3.0).to_vec();
    let lanes = jit(vmap(grad(|x: Expr| tripled(x)), 0));
    assert_eq!(f64s(&lanes(&x)), expected);
    let outside = jit(grad(|x: Expr| sum(vmap_at(tripled, x), ..)));
    assert_eq!(f64s(&outside(&x)), expected);
    // A slope that depends on lanes, with a shared value.
    let scaled = jit(|x: Expr, scale: Expr| {
        let own = move |x: Expr, scale: Expr| custom_jvp_at(|x: Expr| x * x, |_, y, t| t * y * scale, x);
        grad_at(|x: Expr| sum(vmap_at(|scale: Expr| own(x, scale), scale), ..), x)
    });
    assert_eq!(f64s(&scaled(&array([3.0]), &array([1.0, 10.0]))), [9.0 + 90.0]);
    let cotangents = jit(grad(|x: Expr, y: Expr| {
        let own = custom_vjp(|x, y| (x * y, (x, y)), |(x, y), g| [g * y, g * x]);
        sum(vmap(own, (Same, 0))(x, y), ..)
    }));
    assert_eq!(f64s(&cotangents(&Array::from(2.0), &array([5.0, 7.0]))), [12.0]);
}

#[test]
fn a_loop_with_a_rule_keeps_no_states() {
    // A root by Newton's method, and its slope by the implicit function theorem.
    let root = |a: Expr| {
        let newton = |a: Expr| {
            let goes_on = |(x, a): (Expr, Expr)| ndjit::abs(x * x - a).gt(1e-12);
            while_loop((a, a), goes_on, |(x, a)| ((x + a / x) / 2, a)).0
        };
        custom_jvp_at(newton, |_, x, t| t / (x * 2), a)
    };
    let slope = jit(grad(root));
    let found = f64s(&slope(&Array::from(2.0)));
    assert!((found[0] - 0.5 / 2f64.sqrt()).abs() < 1e-12, "{found:?}");
    let text = slope.explain(Stage::Graph).to_string();
    assert_eq!(text.matches("while $").count(), 1, "{text}");
    // Within a loop.
    let summed = jit(grad(move |a: Expr| fori_loop(0, 3, a, |_, a| root(a) * 4)));
    let difference = |h: f64| {
        let mut a: f64 = 2.0 + h;
        (0..3).for_each(|_| a = a.sqrt() * 4.0);
        a
    };
    let expected = (difference(1e-5) - difference(-1e-5)) / 2e-5;
    assert!((f64s(&summed(&Array::from(2.0)))[0] - expected).abs() < 1e-8);
}

#[test]
fn what_is_computed_once_more_has_the_same_bits() {
    let x = array([0.3, -0.7, 1.1]);
    let layer = |x: Expr, w: Expr| fori_loop(0, 4, x, |_, x| tanh(x * w) + x);
    let plain = jit(wrt((0, 1)).value_and_grad(move |x, w| sum(layer(layer(x, w), w), ..)));
    let again = jit(wrt((0, 1)).value_and_grad(move |x, w| {
        // The weights are captured.
        let first = checkpoint_at(|x| layer(x, w), x);
        sum(checkpoint(layer)(first, w), ..)
    }));
    let w = array([0.5, 0.25, 2.0]);
    let ((value, (by_x, by_w)), (value2, (by_x2, by_w2))) = (plain(&x, &w), again(&x, &w));
    assert_eq!(f64s(&value), f64s(&value2));
    assert_eq!((f64s(&by_x), f64s(&by_w)), (f64s(&by_x2), f64s(&by_w2)));
    let forward = jit(move |x: Expr, w: Expr| linearize(|x: Expr| checkpoint_at(|x| layer(x, w), x), x).1(x));
    let expected = jit(move |x: Expr, w: Expr| jvp(|x: Expr| layer(x, w), x, x).1);
    assert_eq!(f64s(&forward(&x, &w)), f64s(&expected(&x, &w)));
}

#[test]
fn what_is_computed_once_more_is_not_kept() {
    let layer = |x: Expr| tanh(cumulative_sum(cumulative_sum(x, 0), 1));
    let block = move |x: Expr| (0..8).fold(x, |x, _| layer(x));
    let plain = jit(grad(move |x: Expr| sum((0..4).fold(x, |x, _| block(x)), ..)));
    let again = jit(grad(move |x: Expr| sum((0..4).fold(x, |x, _| checkpoint_at(block, x)), ..)));
    let nested = jit(grad(move |x: Expr| {
        let half = move |x: Expr| checkpoint_at(block, checkpoint_at(block, x));
        sum(checkpoint_at(half, checkpoint_at(half, x)), ..)
    }));
    let x = ndjit::linspace(-1.0..=1.0, 128 * 128).reshape([128, 128]).cast(ndjit::DType::F64);
    let expected = plain(&x);
    assert_eq!(f64s(&again(&x)), f64s(&expected));
    assert_eq!(f64s(&nested(&x)), f64s(&expected));
    let bytes = 128 * 128 * 8;
    let peaks =
        [plain.memory_plan(), again.memory_plan(), nested.memory_plan()].map(|plan| plan.unwrap().peak_bytes / bytes);
    assert!(peaks[0] >= 32 && peaks[1] <= 16 && peaks[2] <= 20, "{peaks:?} arrays");
    // The derivative of a gradient recomputes it too, and sums in another order.
    fn second(f: impl Fn(Expr) -> Expr + Copy + Send + Sync + 'static) -> Array {
        let slope = move |x: Expr| grad(move |x: Expr| sum(f(x) * x, ..))(x);
        jit(grad(move |x: Expr| sum(slope(x), ..)))(&array([0.3, -0.7]))
    }
    let inner = |x: Expr| tanh(cumulative_sum(x * 0.5, 0));
    let [found, expected] = [f64s(&second(move |x| checkpoint_at(inner, x))), f64s(&second(inner))];
    assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() <= f64::EPSILON * y.abs()), "{found:?}");
}

#[test]
fn rules_that_do_not_fit_are_errors() {
    let x = array([1.0, 2.0]);
    let shape = jit(grad(|x: Expr| sum(custom_jvp_at(|x: Expr| x * 2, |_, _, _| arange(3).into(), x), ..)));
    let error = shape.call((&x,)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Shape);
    assert!(error.to_string().contains("custom_jvp_at: tangent 0 has shape [3]"), "{error:#}");
    let arity = jit(|x: Expr| custom_vjp_at(|x: Expr| (vec![x * 2], ()), |(), g| g[0], x));
    arity.call((&x,)).unwrap();
    let arity = jit(|x: Expr| custom_jvp_at(|x: Expr| vec![x * 2, x], |_, _, t| vec![t], x));
    let error = arity.call((&x,)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Arity);
    let complex = jit(|x: Expr| custom_jvp_at(|x: Expr| log(x), |_, _, t| t.cast(ndjit::DType::C128), x));
    assert_eq!(complex.call((&x,)).unwrap_err().code(), ErrorCode::DType);
    // Integers have neither tangents nor cotangents.
    let powers = jit(grad(|x: Expr, n: Expr| {
        let own = custom_jvp(|x, n| ndjit::pow(x, n), |[x, n], _, [t, _]| t * n * ndjit::pow(x, n - 1));
        sum(own(x, n), ..)
    }));
    assert_eq!(f64s(&powers(&x, &Array::from([3, 2]))), [3.0, 4.0]);
    let back = jit(|x: Expr| vjp(|x: Expr| custom_vjp_at(|x: Expr| (x * 2, ()), |(), g| g * 3, x), x).1(x));
    assert_eq!(f64s(&back(&x)), [3.0, 6.0]);
}

/// Gradients with respect to the initial state and the slices of a scan with stacked results.
fn scanned(reverse: bool) -> impl Fn(&Array, &Array) -> (Array, Array) {
    let f = jit(wrt((0, 1)).grad(move |x: Expr, steps: Expr| {
        let body = |x: Expr, n: Expr| {
            let next = tanh(x * n) + x * 0.5;
            (next, (next * n, sum(x, ..)))
        };
        let (last, (all, sums)) = if reverse { scan_reversed(body, x, steps) } else { scan(body, x, steps) };
        sum(last, ..) + sum(all * all, ..) + sum(sums * arange(sums.shape().extents()[0]), ..)
    }));
    move |x, steps| f(x, steps)
}

#[test]
fn budgets_change_no_bit() {
    let x = array([0.3, -0.7, 1.1]);
    for length in [9, 10, 50, 67] {
        let steps = ndjit::linspace(0.5..=1.5, length).cast(ndjit::DType::F64);
        for reverse in [false, true] {
            let f = scanned(reverse);
            let (by_x, by_steps) = f(&x, &steps);
            for bytes in [0, 100, 24 * length - 1] {
                let (own_x, own_steps) = with_state_budget(bytes, || f(&x, &steps));
                assert_eq!(f64s(&by_x), f64s(&own_x), "{length} {reverse} {bytes}");
                assert_eq!(f64s(&by_steps), f64s(&own_steps), "{length} {reverse} {bytes}");
            }
        }
    }
    // Cotangents of captured values are added in one order, in nested loops too.
    let captured = |length: i32| {
        jit(grad(move |a: Expr| {
            let step = move |x: Expr, n: Expr| {
                let y = while_loop(x, |x| x.lt(a), |x| x * 1.5 + a * 0.25);
                (sin(y) * a + a * n * 0.125, y * a)
            };
            let (x, all) = scan(step, a, Expr::from(arange(length)));
            x * a + sum(all, ..) * a + fori_loop(0, length, a, |i, x| sin(x) * a + a * i)
        }))
    };
    for length in [9, 21, 100] {
        let (f, a) = (captured(length), Array::from(0.3f64));
        let all = f(&a).item::<f64>().unwrap();
        for bytes in [0, 1, 64, 160, 400] {
            let own = with_state_budget(bytes, || f(&a).item::<f64>().unwrap());
            assert_eq!(own.to_bits(), all.to_bits(), "{length} {bytes}: {own}, not {all}");
        }
    }
    let counted = jit(grad(|x: Expr, n: Expr| sum(fori_loop(0, n, x, |i, x| tanh(x * 1.1) + i * 0.01), ..)));
    let doubled = jit(grad(|x: Expr| {
        let goes_on = |x: Expr| sum(x * x, ..).lt(1e6);
        sum(while_loop(x, goes_on, |x| x * 1.03 + tanh(x) * 0.01), ..)
    }));
    let n = Array::from(300);
    let (by_count, by_value) = (f64s(&counted(&x, &n)), f64s(&doubled(&x)));
    for bytes in [0, 24 * 8, 24 * 100] {
        let own = with_state_budget(bytes, || (f64s(&counted(&x, &n)), f64s(&doubled(&x))));
        assert_eq!((&own.0, &own.1), (&by_count, &by_value), "{bytes}");
    }
}

#[test]
fn loops_that_count_so_often_as_is_known_are_scans_to_their_derivatives() {
    let walk = |length: i32| move |x: Expr| fori_loop(3, 3 + length, x, |i, x| x + sin(x) * 0.001 + i * 1e-6);
    for length in [-1, 0, 1, 5, 5000] {
        let x = Array::from(0.5f64);
        let by_x = jit(grad(walk(length)))(&x).item::<f64>().unwrap();
        let as_scan = jit(grad(move |x: Expr| {
            let indices = Expr::from(arange(length.max(0))) + 3;
            scan(|x: Expr, i: Expr| (x + sin(x) * 0.001 + i * 1e-6, ()), x, indices).0
        }));
        assert_eq!(by_x.to_bits(), as_scan(&x).item::<f64>().unwrap().to_bits(), "{length}");
        let (_, tangent) = jit(move |x: Expr| jvp(walk(length), x, ones_like(x)))(&x);
        let tangent = tangent.item::<f64>().unwrap();
        assert!((tangent - by_x).abs() <= 1e-11 * by_x.abs(), "{length}: {tangent}, {by_x}");
        let second = jit(grad(grad(walk(length))))(&x).item::<f64>().unwrap();
        let (_, slope) = jit(move |x: Expr| jvp(grad(walk(length)), x, ones_like(x)))(&x);
        let slope = slope.item::<f64>().unwrap();
        assert!((second - slope).abs() <= 1e-9 * slope.abs().max(1.0), "{length}: {second}, {slope}");
    }
    // The states are within the budget.
    let text = with_state_budget(100, || {
        let f = jit(grad(walk(1000)));
        f.call((&Array::from(0.5f64),)).unwrap();
        f.explain(Stage::Graph)
    });
    assert!(text.contains("f64[8]") && !text.contains("f64[1000]"), "{text}");
}
