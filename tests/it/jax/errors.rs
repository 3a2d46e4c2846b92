//! Errors of transforms and control flow: cases of `tests/api_test.py` and `tests/lax_control_flow_test.py` of jax-ml/jax (Apache License
//! 2.0).

use super::{Case, Why, array, differs, is, number, refused, same};
use ndjit::{
    Array, Complex, DType, ErrorCode, Expr, Same, cond, fori_loop, grad, jacfwd, jacrev, jit, jvp, linearize, matmul,
    ones, reshape, scan, sin, sum, vjp, vmap, while_loop, wrt, zeros,
};

pub const API: &[Case] = &[
    same("test_grad_nonscalar_output", || {
        refused(jit(grad(|x: Expr| x)).call((&zeros([3]),)), ErrorCode::Shape, "gives an array of shape [3]");
    }),
    same("test_grad_nonscalar_output_hint", || {
        let f = jit(grad(|x: Expr| reshape(x * x, [1])));
        refused(f.call((&number(1.0),)), ErrorCode::Shape, "sum(y, ..)");
        refused(jit(grad(|x: Expr| x)).call((&zeros([3]),)), ErrorCode::Shape, "jacrev");
    }),
    same("test_binop_mismatch", || {
        let f = |x: Expr, y: Expr| sum(x + y, ..);
        refused(jit(f).call((&zeros([3]), &zeros([4]))), ErrorCode::Shape, "[3]");
        refused(jit(grad(f)).call((&zeros([3]), &zeros([4]))), ErrorCode::Shape, "[4]");
    }),
    same("test_dot_mismatch", || {
        let f = jit(grad(|x: Expr, y: Expr| matmul(x, y)));
        refused(f.call((&zeros([3]), &zeros([4]))), ErrorCode::Shape, "[4]");
    }),
    same("test_vmap_inconsistent_sizes_constructs_proper_error_message", || {
        let f = jit(vmap(|x: Expr, y: Expr| x + y, 0));
        refused(f.call((&ones([2]), &ones([3]))), ErrorCode::Shape, "2 lanes and 3");
    }),
    differs("test_jvp_mismatched_arguments", Why::Types, || {
        let f = jit(|x: Expr, t: Expr| jvp(|x: Expr| x + 1, x, t).1);
        refused(f.call((&ones([3]), &ones([4]))), ErrorCode::Shape, "[4]");
        refused(f.call((&number(10.0), &ones([3]))), ErrorCode::Shape, "[3]");
        // One scalar is a tangent of each element, with the dtype of the value.
        is(&f(&ones([3]), &number(20.0)), &[20.0; 3]);
    }),
    same("test_vjp_bad_cotangent_shape", || {
        let f = jit(|x: Expr, y: Expr, g: Expr| vjp(|(x, y)| matmul(x, y), (x, y)).1(g));
        refused(f.call((&ones([2, 5]), &ones([5, 3]), &ones([2, 4]))), ErrorCode::Shape, "[2, 4]");
    }),
    same("test_issue_871", || {
        let f = jit(|x: Expr, t: Expr| linearize(|x: Expr| sum(x, ..), x).1(t));
        refused(f.call((&ones([3]), &ones([3, 2]))), ErrorCode::Shape, "[3, 2]");
    }),
    same("test_grad_of_int_errors", || {
        refused(jit(grad(|x: Expr| x * x)).call((&Array::from(3),)), ErrorCode::DType, "variable 0 is i32");
    }),
    same("test_grad_complex_result_errors", || {
        let f = jit(grad(|x: Expr| x * x + Complex::new(0.0, 1.0)));
        refused(f.call((&number(3.0),)), ErrorCode::DType, "c128");
    }),
    same("test_complex_grad_raises_error", || {
        let z = Array::from(Complex::new(1.0, 2.0));
        refused(jit(grad(|z: Expr| sin(z))).call((&z,)), ErrorCode::DType, "c128");
    }),
    same("test_complex_output_jacrev_raises_error", || {
        let z = Array::from(Complex::new(1.0, 2.0));
        refused(jit(jacrev(|z: Expr| sin(z))).call((&z,)), ErrorCode::DType, "c128");
    }),
    same("test_complex_input_jacfwd_raises_error", || {
        let z = Array::from(Complex::new(1.0, 2.0));
        refused(jit(jacfwd(|z: Expr| sin(z))).call((&z,)), ErrorCode::DType, "c128");
    }),
    same("test_vmap_mismatched_axis_sizes_error_message_issue_705", || {
        let (x, u) = (ones([10, 4]), ones([10, 2]));
        let f = |a: Expr, b: Expr| sum(a, ..) + sum(b, ..);
        refused(jit(vmap(f, (0, 1))).call((&x, &u)), ErrorCode::Shape, "argument 1: 2 along axis 1 of [10, 2]");
        refused(jit(vmap(|x: Expr| x, 0)).call((&number(1.0),)), ErrorCode::Shape, "no axis 0");
        refused(jit(vmap(|x: Expr| x, (Same,))).call((&x,)), ErrorCode::Shape, "no argument has lanes");
        refused(jit(vmap(|x: Expr| x, 1)).call((&ones([2]),)), ErrorCode::Shape, "argument 0 has shape [2]");
    }),
    same("test_vmap_scalar", || {
        refused(jit(vmap(|x: Expr| x, 1)).call((&number(1.0),)), ErrorCode::Shape, "no axis 1");
    }),
    differs("test_grad_negative_argnums", Why::Types, || {
        let f = |x: Expr, y: Expr| sum(x, ..) * sum(y, ..);
        is(&jit(wrt(1).grad(f))(&ones([2]), &ones([3])), &[2.0; 3]);
        refused(jit(wrt(2).grad(f)).call((&ones([2]), &ones([3]))), ErrorCode::Arity, "no parameter 2");
    }),
    differs("test_linearize_aval_error", Why::Integers, || {
        let f = jit(|x: Expr, t: Expr| linearize(|x: Expr| x, x).1(t));
        is(&f(&number(1.0), &number(1.0)), &[1.0]);
        // A tangent of another dtype is cast, if that is lossless.
        is(&f(&number(1.0), &Array::from(1)), &[1.0]);
    }),
];

pub const CONTROL: &[Case] = &[
    same("testCallableErrors", || {
        // An array is not a function: a compiler error. An invalid condition is an error.
        let f = jit(|x: Expr| while_loop(x, |x| x * 1, |x| x));
        refused(f.call((&Array::from(3),)), ErrorCode::DType, "a condition of type i32");
    }),
    same("testWhileTypeErrors", || {
        let f = jit(|x: Expr| while_loop(x, |x| x + 1, |x| x));
        refused(f.call((&Array::from(0.0f32),)), ErrorCode::DType, "while_loop: a condition of type f32");
        let lists = jit(|x: Expr| while_loop(vec![x], |_| Expr::from(true), |x| vec![x[0], x[0]])[0]);
        refused(lists.call((&number(0.0),)), ErrorCode::Arity, "while_loop");
        let types = jit(|a: Expr, b: Expr| while_loop((a, b), |_| Expr::from(true), |(a, _)| (a, a)).1);
        refused(
            types.call((&Array::from(true), &Array::from(0.0f32))),
            ErrorCode::DType,
            "leaf 1 of the state is f32, the body gives bool",
        );
    }),
    same("testForiLoopErrors", || {
        let f = jit(|n: Expr, x: Expr| fori_loop(n, 10, x, |_, x| x));
        refused(f.call((&number(0.0), &number(1.0))), ErrorCode::DType, "`start` is of type f64");
        refused(f.call((&Array::from([0, 1]), &number(1.0))), ErrorCode::Shape, "`start` has shape [2]");
        let wide = jit(|n: Expr, m: Expr, x: Expr| fori_loop(n, m, x, |_, x| x));
        refused(wide.call((&Array::from(0i64), &Array::from(1u64), &number(1.0))), ErrorCode::DType, "fori_loop");
    }),
    same("testCondTypeErrors", || {
        let f = jit(|x: Expr| cond(x, |x| x, |x| x, x));
        refused(f.call((&array([1.0, 2.0]),)), ErrorCode::Shape, "a condition of shape [2]");
        let dtypes = jit(|x: Expr| cond(x.gt(0), |x| x, |x: Expr| x.gt(0), x));
        refused(dtypes.call((&number(1.0),)), ErrorCode::DType, "leaf 0 is f64 if true, bool if false");
        let shapes = jit(|x: Expr| cond(x.gt(0), |x| x, |x| reshape(x, [1]), x));
        refused(shapes.call((&number(1.0),)), ErrorCode::Shape, "leaf 0 has shape [] if true, [1] if false");
        let lists = jit(|x: Expr| cond(x.gt(0), |x| vec![x], |x| vec![x, x], x)[0]);
        refused(lists.call((&number(1.0),)), ErrorCode::Arity, "one branch gives 1 leaves, the other 2");
    }),
    same("testIssue744", || {
        let f = jit(|x: Expr, i: Expr| scan(|p: (Expr, Expr), i: Expr| ((p.0 + 1, p.1 + 1), i), (x, x), i).1);
        refused(f.call((&Array::from(1), &Array::from(5))), ErrorCode::Shape, "is a scalar");
    }),
    same("testScanBodyCarryPytreeMismatchErrors", || {
        let f = jit(|x: Expr, xs: Expr| scan(|c: Vec<Expr>, x: Expr| (vec![c[0], x], x), vec![x], xs).1);
        refused(f.call((&number(1.0), &ones([3]))), ErrorCode::Arity, "scan");
    }),
    same("testScanBodyCarryTypeMismatchErrors", || {
        let f = jit(|x: Expr, xs: Expr| scan(|c: Expr, x: Expr| (c.cast(DType::F32), x), x, xs).1);
        refused(f.call((&number(1.0), &ones([3]))), ErrorCode::DType, "leaf 0 of the state is f64, the body gives f32");
        let shapes = jit(|x: Expr, xs: Expr| scan(|c: Expr, x: Expr| (reshape(c, [1]), x), x, xs).1);
        refused(shapes.call((&number(1.0), &ones([3]))), ErrorCode::Shape, "leaf 0 of the state");
    }),
    same("testScanLengthError", || {
        let f = jit(|x: Expr, xs: Expr, ys: Expr| scan(|c: Expr, (x, _): (Expr, Expr)| (c, x), x, (xs, ys)).1);
        refused(
            f.call((&number(1.0), &ones([10]), &ones([5]))),
            ErrorCode::Shape,
            "leaf 1 of what is scanned has 5 slices",
        );
    }),
];

#[test]
fn errors_are_those_of_jax() {
    super::run(API);
    super::run(CONTROL);
}
