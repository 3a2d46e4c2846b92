//! Gradients, Jacobians, products with them, rematerialization: cases of `tests/api_test.py` of jax-ml/jax (Apache License 2.0).

use super::{Case, Why, array, check, data, differs, drawn, f64s, is, near, number, refused, same};
use ndjit::{
    Array, Complex, DType, ErrorCode, Expr, Same, abs, arange, concat, cond, cos, exp, grad, grad_at, grad_aux,
    hessian, jacfwd, jacrev, jit, jvp, linearize, matmul, norm, ones, ones_like, outer, real, sin, square,
    stop_gradient, sum, take, tanh, vecdot, vjp, vmap, vmap_at, where_, while_loop, wrt, zeros, zeros_like,
};

fn weighted(x: Expr, y: Expr, z: Expr) -> Expr {
    x * 1.0 + y * 2.0 + z * 3.0
}

fn sine_of_sine(x: Expr) -> Expr {
    sin(sin(x))
}

fn cube(x: Expr) -> Expr {
    x * x * x
}

fn quadratic(x: Expr, u: Expr) -> Expr {
    vecdot(x, x, -1) + vecdot(u, u, -1) + sum(x, ..) * sum(u, ..)
}

fn complexes(x: &Array) -> Vec<Complex<f64>> {
    x.to_vec().unwrap()
}

/// 0, 1 + i/2 and so on.
fn half_steep() -> Array {
    Array::from([0.0, 1.0, 2.0, 3.0, 4.0].map(|n| Complex::new(n, n * 0.5)))
}

/// The gradient of the sum of cosines of moduli according to JAX's tests; the adjoint is its conjugate.
const BY_MODULI: [[f64; 2]; 5] = [
    [0.0, 0.0],
    [-0.80430663, 0.40215331],
    [-0.70368982, 0.35184491],
    [0.1886467, -0.09432335],
    [0.86873727, -0.43436864],
];

pub const CASES: &[Case] = &[
    differs("test_grad_item", Why::Types, || {
        is(&jit(grad(|x: Expr| cond(x.ne(0), |x| x * x, |x| x, x)))(&number(2.0)), &[4.0]);
    }),
    same("test_grad_wrap", || {
        let f = |flag: bool| move |x: Expr| if flag { x } else { zeros_like(x) };
        for (flag, expected) in [(false, 0.0), (true, 1.0)] {
            is(&jit(grad(f(flag)))(&number(1.0)), &[expected]);
            is(&jit(jacfwd(f(flag)))(&number(1.0)), &[expected]);
            is(&jit(jacrev(f(flag)))(&number(1.0)), &[expected]);
        }
    }),
    same("test_grad_argnums", || {
        let one = number(1.0);
        is(&jit(grad(weighted))(&one, &one, &one), &[1.0]);
        is(&jit(wrt(1).grad(weighted))(&one, &one, &one), &[2.0]);
        let (by_z, by_x) = jit(wrt((2, 0)).grad(weighted))(&one, &one, &one);
        is(&by_z, &[3.0]);
        is(&by_x, &[1.0]);
    }),
    same("test_value_and_grad_argnums", || {
        let one = number(1.0);
        let (value, (by_z, by_x)) = jit(wrt((2, 0)).value_and_grad(weighted))(&one, &one, &one);
        is(&value, &[6.0]);
        is(&by_z, &[3.0]);
        is(&by_x, &[1.0]);
        let (value, by_y) = jit(wrt(1).value_and_grad(weighted))(&one, &one, &one);
        is(&value, &[6.0]);
        is(&by_y, &[2.0]);
    }),
    same("test_grad_of_jit", || {
        let f = jit(grad(jit(|x: Expr| x * x)));
        is(&f(&number(1.0)), &[2.0]);
        is(&f(&number(2.0)), &[4.0]);
    }),
    same("test_jit_of_grad", || {
        let f = jit(grad(|x: Expr| x * x));
        is(&f(&number(1.0)), &[2.0]);
        let compiled = f.compile_count();
        is(&f(&number(2.0)), &[4.0]);
        assert_eq!(f.compile_count(), compiled);
    }),
    same("test_fwd_and_bwd", || {
        let f = jit(|x: Expr, w: Expr, g: Expr| {
            let (y, back) = vjp(|(x, w)| matmul(x, w), (x, w));
            (y, back(g))
        });
        let (y, (by_x, by_w)) = f(&ones([4, 4]), &ones([4, 4]), &ones([4, 4]));
        for found in [y, by_x, by_w] {
            is(&found, &[4.0; 16]);
        }
    }),
    differs("test_ad_weak_types", Why::Types, || {
        // A scalar has the default dtype, as does its gradient.
        for f in [jit(grad(|x: Expr| x)), jit(jacfwd(|x: Expr| x)), jit(jacrev(|x: Expr| x))] {
            assert_eq!(f.call((1.0,)).unwrap().dtype(), DType::F32);
        }
    }),
    differs("test_switch_value_jit", Why::Types, || {
        let f = jit(grad(|x: Expr| where_(x.gt(0), x, -x)));
        is(&f(&number(1.0)), &[1.0]);
        is(&f(&number(-1.0)), &[-1.0]);
    }),
    same("test_jacobian", || {
        let (a, x) = (drawn(&[4, 3], 1), data(&[3]));
        let f = |x: Expr| matmul(drawn(&[4, 3], 1), x);
        near(&jit(jacfwd(f))(&x), &f64s(&a));
        near(&jit(jacrev(f))(&x), &f64s(&a));
        near(&jit(jacfwd(move |x: Expr| tanh(f(x))))(&x), &f64s(&jit(jacrev(move |x: Expr| tanh(f(x))))(&x)));
    }),
    same("test_hessian", || {
        let a = drawn(&[4, 4], 1);
        let f = |x: Expr| vecdot(x, matmul(drawn(&[4, 4], 1), x), -1);
        near(&jit(hessian(f))(&data(&[4])), &f64s(&(&a + a.mt())));
    }),
    same("test_hessian_aux", || {
        let (slope, (value, x)) = jit(grad_aux(|x: Expr| (sum(cube(x), ..), (sum(x, ..), x))))(&array([1.0, 2.0]));
        is(&slope, &[3.0, 12.0]);
        is(&value, &[3.0]);
        is(&x, &[1.0, 2.0]);
    }),
    same("test_jacobian_on_pytrees", || {
        let f = |x: Expr, y: Expr| outer(x, y);
        let (x, y) = (array([2.0, 3.0]), array([5.0, 7.0, 11.0]));
        let expected = [5., 0., 7., 0., 11., 0., 0., 5., 0., 7., 0., 11.];
        is(&jit(jacfwd(f))(&x, &y), &expected);
        is(&jit(jacrev(f))(&x, &y), &expected);
        is(&jit(jacrev(|x: Expr| x.slice((..2,))))(&array([1.0, 2.0, 3.0])), &[1., 0., 0., 0., 1., 0.]);
    }),
    same("test_hessian_on_pytrees", || {
        is(&jit(hessian(|x: Expr| sum(square(x), ..)))(&array([1.0, 2.0])), &[2.0, 0.0, 0.0, 2.0]);
        is(&jit(jacrev(jacrev(|x: Expr| square(x))))(&array([1.0, 2.0])), &[2., 0., 0., 0., 0., 0., 0., 2.]);
    }),
    same("test_issue1372", || {
        let (x, u) = (ones([5]), ones([2]));
        for found in [
            jit(jacrev(jacrev(quadratic)))(&x, &u),
            jit(jacrev(jacfwd(quadratic)))(&x, &u),
            jit(jacfwd(jacrev(quadratic)))(&x, &u),
            jit(jacfwd(jacfwd(quadratic)))(&x, &u),
        ] {
            is(&found, &f64s(&(ndjit::eye(5) * 2)));
        }
        let swapped = |u: Expr, x: Expr| quadratic(x, u);
        // With respect to one, then the other.
        for found in [
            jit(jacrev(move |u: Expr, x: Expr| grad_at(|x: Expr| swapped(u, x), x)))(&u, &x),
            jit(jacfwd(move |u: Expr, x: Expr| jacrev(move |x: Expr, u: Expr| swapped(u, x))(x, u)))(&u, &x),
        ] {
            assert_eq!(found.shape().extents(), [5, 2]);
            is(&found, &[1.0; 10]);
        }
    }),
    same("test_grad_and_aux_basic", || {
        let (slope, besides) = jit(grad_aux(|x: Expr| (cube(x), vec![x * x])))(&number(3.0));
        is(&slope, &[27.0]);
        is(&besides[0], &[9.0]);
    }),
    same("test_grad_and_aux_nested", || {
        let f = |x: Expr| grad_aux(|x: Expr| (cube(x), cube(x) * sin(x)))(x).1;
        let expected = 48.0 * 4f64.sin() + 64.0 * 4f64.cos();
        near(&jit(grad(f))(&number(4.0)), &[expected]);
        near(&jit(grad(jit(f)))(&number(4.0)), &[expected]);
    }),
    same("test_grad_and_aux_constant", || {
        let (slope, besides) = jit(grad_aux(|x: Expr| (cube(x), [x * x, Expr::from(4.0)])))(&number(4.0));
        is(&slope, &[48.0]);
        is(&besides[0], &[16.0]);
        is(&besides[1], &[4.0]);
    }),
    same("test_jvp_and_aux_basic", || {
        let f = jit(|x: Expr, t: Expr| jvp(|x: Expr| (cube(x), x * x), x, t));
        let ((value, besides), (tangent, _)) = f(&number(3.0), &number(4.0));
        is(&value, &[27.0]);
        is(&tangent, &[108.0]);
        is(&besides, &[9.0]);
    }),
    same("test_jvp_jit_cached", || {
        let f = |x: Expr| {
            let inner = |y: f64| x * y;
            inner(4.0) + inner(5.0)
        };
        let (value, tangent) = jit(move |x: Expr| jvp(f, x, ones_like(x)))(&number(5.0));
        is(&value, &[45.0]);
        is(&tangent, &[9.0]);
    }),
    same("test_linear_transpose_abstract", || {
        is(&jit(|x: Expr, y: Expr| vjp(|x: Expr| x * 2, x).1(y))(&zeros([3]), &arange(3.0)), &[0.0, 2.0, 4.0]);
    }),
    differs("test_linear_transpose_integer", Why::Integers, || {
        let back = jit(|x: Expr, g: Expr| vjp(|x: Expr| x * 2, x).1(g));
        is(&back(&Array::from(1), &Array::from(3)), &[0.0]);
    }),
    same("test_linear_transpose_dce", || {
        let f = |x: Expr| (x * 2, x.gt(0)).0;
        is(&jit(move |x: Expr| vjp(f, x).1(x))(&number(1.0)), &[2.0]);
    }),
    differs("test_linear_transpose_complex", Why::Conjugate, || {
        let f = jit(|z: Expr, g: Expr| vjp(|z: Expr| z * Complex::new(1.0, 2.0), z).1(g));
        let found = f(&Array::from([Complex::new(0.0, 1.0)]), &Array::from([Complex::new(3.0, 4.0)]));
        // (3 + 4i) times the conjugate of 1 + 2i.
        assert_eq!(complexes(&found), [Complex::new(11.0, -2.0)]);
    }),
    same("test_linear_transpose_zeros", || {
        let back = jit(|x: Expr, y: Expr, g: Expr| vjp(|x: [Expr; 2]| x[0], [x, y]).1(g));
        let [by_x, by_y] = back(&number(1.0), &number(2.0), &number(3.0));
        is(&by_x, &[3.0]);
        is(&by_y, &[0.0]);
    }),
    differs("test_holomorphic_grad", Why::Conjugate, || {
        let z = Array::from([Complex::new(1.0, 2.0)]);
        let found = jit(|z: Expr| jvp(|z: Expr| sin(z), z, ones_like(z)).1)(&z);
        let expected = Complex::new(2.0327230070196656, -3.0518977991518);
        assert!((complexes(&found)[0] - expected).norm() < 1e-12);
        let adjoint = jit(|z: Expr| vjp(|z: Expr| sin(z), z).1(ones_like(z)))(&z);
        assert!((complexes(&adjoint)[0] - expected.conj()).norm() < 1e-12);
    }),
    differs("test_nonholomorphic_grad", Why::Conjugate, || {
        let found = complexes(&jit(grad(|z: Expr| sum(cos(abs(z)), ..)))(&half_steep()));
        for (found, [re, im]) in found.into_iter().zip(BY_MODULI) {
            assert!((found - Complex::new(re, -im)).norm() < 1e-7, "{found}");
        }
    }),
    differs("test_nonholomorphic_jacrev", Why::Conjugate, || {
        let f = |z: Expr| cos(norm(z * 2, ..));
        let (rows, slope) = (jit(jacrev(f))(&half_steep()), jit(grad(f))(&half_steep()));
        assert_eq!(complexes(&rows), complexes(&slope));
    }),
    differs("test_heterogeneous_grad", Why::Conjugate, || {
        let f = jit(|x: Expr, y: Expr| grad_at(|(x, y): (Expr, Expr)| square(abs(x)) + y, (x, y)));
        let (by_x, by_y) = f(&Array::from(Complex::new(1.0, 1.0)), &number(2.0));
        assert_eq!(complexes(&by_x), [Complex::new(2.0, 2.0)]);
        is(&by_y, &[1.0]);
    }),
    same("test_heterogeneous_jacrev", || {
        let f = jit(|x: Expr, y: Expr| grad_at(|(x, y): (Expr, Expr)| sum(x + y, ..), (x, y)));
        let (by_x, by_y) = f(&ones([1]).cast(DType::F16), &ones([1]).cast(DType::F32));
        assert_eq!((by_x.dtype(), by_y.dtype()), (DType::F16, DType::F32));
        is(&by_x, &[1.0]);
        is(&by_y, &[1.0]);
    }),
    same("test_linearize_instantiates_zero_outputs", || {
        let (a, b) = jit(|x: Expr| linearize(|x: Expr| (x, Expr::from(1.0)), x).1(x))(&number(1.0));
        is(&a, &[1.0]);
        is(&b, &[0.0]);
    }),
    differs("test_jvp_of_int_add", Why::Integers, || {
        let f = jit(|x: Expr, t: Expr| jvp(|x: Expr| x + 1, x, t));
        let (value, tangent) = f(&Array::from(2), &Array::from(0));
        is(&value, &[3.0]);
        is(&tangent, &[0.0]);
    }),
    differs("test_jvp_of_convert_element_type", Why::Integers, || {
        let (value, tangent) =
            jit(|x: Expr, t: Expr| jvp(|x: Expr| x.cast(DType::I32) + 1, x, t))(&number(2.0), &number(1.0));
        is(&value, &[3.0]);
        is(&tangent, &[0.0]);
    }),
    differs("test_vjp_of_int_index", Why::Integers, || {
        let back = jit(|x: Expr, i: Expr, g: Expr| vjp(|(x, i): (Expr, Expr)| take(x, i, 0), (x, i)).1(g));
        let (by_x, by_i) = back(&ones([2]), &Array::from(1), &Array::from(1.0f32));
        is(&by_x, &[0.0, 1.0]);
        is(&by_i, &[0.0]);
    }),
    differs("test_grad_of_int_index", Why::Integers, || {
        let f = jit(|x: Expr, i: Expr| grad_at(|(x, i): (Expr, Expr)| take(x, i, 0), (x, i)));
        let (by_x, by_i) = f(&ones([2]), &Array::from(1));
        is(&by_x, &[0.0, 1.0]);
        is(&by_i, &[0.0]);
        refused(
            jit(wrt(1).grad(|x: Expr, i: Expr| take(x, i, 0))).call((&ones([2]), &Array::from(1))),
            ErrorCode::DType,
            "is i32",
        );
    }),
    same("test_vmap_in_axes_list", || {
        let f = |a: Expr, b: Expr, x: Expr, y: Expr| a + b + x + y;
        let found = jit(vmap(f, (Same, Same, 0, 0)))(&number(5.0), &ones([2]), &zeros([3]), &arange(3.0));
        is(&found, &[6.0, 6.0, 7.0, 7.0, 8.0, 8.0]);
    }),
    same("test_vmap_structured_in_axes", || {
        let (x, y, z) = (ones([6, 2, 3]), ones([3, 6, 4]), ones([4, 5, 6]));
        let f = |x: Expr, y: Expr, z: Expr| matmul(x, matmul(y, z));
        let found = jit(vmap(f, (0, 1, 2)))(&x, &y, &z);
        assert_eq!(found.shape().extents(), [6, 2, 5]);
        is(&found, &[12.0; 60]);
    }),
    same("test_vmap_unmapped_last", || is(&jit(vmap(|_: Expr| Expr::from(&zeros([2])), 0))(&zeros([5])), &[0.0; 10])),
    same("test_linearize_aux", || {
        let f = jit(|x: Expr, t: Expr| {
            let ((y, positive), linear) = linearize(|x: Expr| (x * 2 - 3, x.gt(0)), x);
            (y, positive, linear(t).0)
        });
        let (y, positive, tangent) = f(&number(3.4), &number(5.0));
        near(&y, &[3.8]);
        is(&positive, &[1.0]);
        is(&tangent, &[10.0]);
    }),
    same("test_lax_empty_batching_bug", || {
        let f = |x: Expr| {
            let out = (zeros_like(x).slice((0..2,)) + 0.0).at(0).set(1.0);
            out.at(1).set(out.slice((0,)) * x.slice((0,)))
        };
        is(&jit(jacfwd(jacrev(f)))(&arange(3.0)), &[0.0; 18]);
    }),
    same("test_grad_conj_symbolic_zeros", || {
        is(&jit(grad(|x: Expr| (x, ndjit::conj(x)).0))(&number(3.0)), &[1.0]);
    }),
    same("test_forwarding_bug", || is(&jit(grad(|x: Expr| (zeros_like(x), exp(x)).0))(&number(1.0)), &[0.0])),
    same("test_jit_forwarding_correctness", || {
        check(|x| concat(&[x[2], exp(x[0]), x[1], sin(x[2])], 0), &[drawn(&[2], 1), drawn(&[2], 2), drawn(&[2], 3)]);
    }),
    same("test_use_direct_linearize", || {
        near(&jit(grad(jit(sine_of_sine)))(&number(1.0)), &[1f64.sin().cos() * 1f64.cos()]);
    }),
    same("test_vjp3_dont_want_bilinear", || {
        let f = jit(|x: Expr, y: Expr| vjp(|y: Expr| x * y, y).1(ones_like(y)));
        is(&f(&arange(3.0), &arange(3.0)), &[0.0, 1.0, 2.0]);
    }),
    same("test_basic_vjp3", || {
        let back = jit(|x: Expr| vjp(|x: Expr| sin(sin(x)), x).1(ones_like(x)));
        near(&back(&number(3.0)), &[3f64.sin().cos() * 3f64.cos()]);
    }),
    same("test_sum_of_closed_over_bools", || {
        let truths = Array::from([true, false, true]);
        is(&jit(move |x: Expr| sum(&truths, ..) * x)(&Array::from(1)), &[2.0]);
    }),
    same("test_vmap_make_jaxpr_close_over_tracer", || {
        let f = |x: Expr| vmap_at(|y: Expr| x + y, Expr::from(&array([1.0, 2.0])));
        is(&jit(vmap(f, 0))(&arange(2.0)), &[1.0, 2.0, 2.0, 3.0]);
    }),
    same("test_lax_empty_vmap", || {
        let found = jit(vmap(|x: Expr| ndjit::empty_like(x), 0))(&arange(8).reshape([4, 2]));
        assert_eq!(found.shape().extents(), [4, 2]);
    }),
    same("test_jvp_asarray_returns_array", || {
        let (value, tangent) = jit(|x: Expr| jvp(|x: Expr| real(x), x, ones_like(x)))(&number(0.1));
        is(&value, &[0.1]);
        is(&tangent, &[1.0]);
    }),
    same("test_while_jvp_debug_info_crash", || {
        let looped = |p: Expr| {
            let next = |(i, x): (Expr, Expr)| (i + 1, x * p);
            stop_gradient(while_loop((Expr::from(0), ones_like(p)), |(i, _)| i.lt(3), next).1)
        };
        let f = move |p: Expr| sum(vmap_at(|p: Expr| grad_at(looped, p), p), ..);
        is(&jit(grad(f))(&array([2.0, 3.0])), &[0.0, 0.0]);
    }),
];

#[test]
fn transforms_are_those_of_jax() {
    super::run(CASES);
}
