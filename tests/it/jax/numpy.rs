//! Derivatives of functions of numpy, scipy and networks: cases of `tests/lax_numpy_test.py`, `tests/lax_numpy_reducers_test.py`,
//! `tests/nn_test.py` and `tests/lax_scipy_test.py` of jax-ml/jax (Apache License 2.0).

use super::{Case, Why, array, check, check_to, data, differs, drawn, f64s, is, near, number, same};
use ndjit::{
    DType, Expr, abs, clip, complex, exp, exp2, expm1, frexp, grad, imag, interp, isnan, jacfwd, jacrev, jit, jvp,
    ldexp, linspace, log, log_softmax, log1p, logaddexp, logsumexp, maximum, ones_like, real, relu, sinc, softmax,
    softplus, sqrt, stack, std, sum, take_along_axis, tanh, var, where_, wrt, zeros_like,
};

const INFINITY: f64 = f64::INFINITY;

fn slope(f: impl Fn(Expr) -> Expr + Send + Sync + 'static, x: f64) -> f64 {
    f64s(&jit(grad(f))(&number(x)))[0]
}

fn mish(x: Expr) -> Expr {
    x * tanh(softplus(x))
}

fn squareplus(x: Expr) -> Expr {
    (x + sqrt(x * x + 4)) / 2
}

/// A line above 1, 0 below -1, and a parabola between.
fn sparse_plus(x: Expr) -> Expr {
    where_(x.ge(1), x, where_(x.le(-1), 0.0, (x + 1) * (x + 1) * 0.25))
}

fn elu(x: Expr) -> Expr {
    where_(x.gt(0), x, expm1(where_(x.gt(0), 0.0, x)))
}

fn log1mexp(x: Expr) -> Expr {
    log(-expm1(-x))
}

/// The logarithm of a sum of exponentials of complex numbers, and its base 2.
fn log_of_sum(x: &[Expr], base: f64) -> Expr {
    let (a, b) = (complex(x[0], x[1]), complex(x[2], x[3]));
    let power = |z: Expr| if base == 2.0 { exp(z * std::f64::consts::LN_2) } else { exp(z) };
    let z = log(power(a) + power(b));
    stack(&[real(z), imag(z)], 0)
}

pub const NUMPY: &[Case] = &[
    same("testInterpGradNan", || {
        let x = exp(linspace(-90.0..=-20.0, 1000).cast(DType::F64));
        let slopes = jit(grad(|x: Expr| sum(interp(x, x, ones_like(x)), ..)));
        assert!(f64s(&slopes(&x)).iter().all(|x| x.is_finite()));
    }),
    same("testArrayCopyAutodiff", || is(&jit(grad(|x: Expr| sum(x + 0.0, ..)))(&data(&[3])), &[1.0; 3])),
    same("testReluGradientConstants", || {
        // One half at 0, as in JAX; and 0 for `relu`.
        is(&jit(grad(|x: Expr| sum(maximum(x, 0.0), ..)))(&array([-1.0, 0.0, 1.0])), &[0.0, 0.5, 1.0]);
        is(&jit(grad(|x: Expr| sum(relu(x), ..)))(&array([-1.0, 0.0, 1.0])), &[0.0, 0.0, 1.0]);
    }),
    same("testGradient", || {
        let f = |x: &[Expr]| {
            let inner = (x[0].slice((2..,)) - x[0].slice((..-2,))) / 2;
            ndjit::concat(&[ndjit::diff(x[0].slice((..2,)), 1, 0), inner, ndjit::diff(x[0].slice((-2..,)), 1, 0)], 0)
        };
        check(f, &[data(&[5])]);
        check(|x| ndjit::diff(x[0], 2, 1), &[data(&[3, 5])]);
        check(|x| ndjit::trapezoid(x[0], 0.5, 0), &[data(&[5])]);
    }),
    same("testOpGrad", || {
        for shape in [&[][..], &[3], &[2, 3]] {
            let x = (data(shape) + 2.0) * 0.2;
            check(|x| ndjit::asinh(x[0]), std::slice::from_ref(&x));
            check_to(1, |x| ndjit::acosh(x[0] + 1.1), std::slice::from_ref(&x));
            check(|x| ndjit::atanh(x[0]), &[data(shape) * 0.4]);
            check(|x| logaddexp(x[0], x[1]), &[x.clone(), drawn(shape, 1)]);
            check(|x| ndjit::logaddexp2(x[0], x[1]), &[x, drawn(shape, 1)]);
        }
    }),
    same("testOpGradSpecialValue", || {
        check(|x| ndjit::asinh(x[0]), &[number(0.0)]);
        check(|x| ndjit::asinh(x[0]), &[number(1000.0)]);
        check(|x| ndjit::acosh(x[0]), &[number(1000.0)]);
        check(|x| ndjit::atanh(x[0]), &[number(0.0)]);
        check_to(1, |x| sinc(x[0]), &[number(0.0)]);
    }),
    same("testSincAtZero", || {
        let tangent = |f: fn(Expr) -> Expr| move |x: Expr| jvp(f, x, ones_like(x)).1;
        let pi = std::f64::consts::PI;
        let first = |x: Expr| jvp(|x: Expr| sinc(x), x, ones_like(x)).1;
        let second = move |x: Expr| jvp(first, x, ones_like(x)).1;
        near(&jit(grad(sinc::<Expr>))(&number(0.0)), &[0.0]);
        near(&jit(first)(&number(0.0)), &[0.0]);
        near(&jit(grad(grad(sinc::<Expr>)))(&number(0.0)), &[-pi * pi / 3.0]);
        near(&jit(second)(&number(0.0)), &[-pi * pi / 3.0]);
        near(&jit(grad(first))(&number(0.0)), &[-pi * pi / 3.0]);
        near(&jit(tangent(|x| jvp(|x: Expr| sinc(x), x, ones_like(x)).1))(&number(0.0)), &[-pi * pi / 3.0]);
        near(&jit(grad(grad(grad(sinc::<Expr>))))(&number(0.0)), &[0.0]);
        near(&jit(grad(grad(grad(grad(sinc::<Expr>)))))(&number(0.0)), &[pi.powi(4) / 5.0]);
        near(&jit(grad(grad(second)))(&number(0.0)), &[pi.powi(4) / 5.0]);
    }),
    same("testSincGradArrayInput", || {
        let found = f64s(&jit(grad(|x: Expr| sum(sinc(x), ..)))(&ndjit::arange(10.0).cast(DType::F64)));
        // (-1)^n / n.
        let expected: Vec<f64> =
            (0..10).map(|n| if n == 0 { 0.0 } else { f64::from(1 - n % 2 * 2) / f64::from(n) }).collect();
        super::within(&found, &expected, 1e-9);
    }),
    same("testTakeAlongAxisIssue1521", || {
        let f = |x: &[Expr]| {
            let places = ndjit::repeat(ndjit::arange(3), 10, 0).reshape([30, 1]);
            let y = ndjit::broadcast_to(x[0] * ndjit::arange(3.0).reshape([1, 3]), [30, 3]);
            sum(take_along_axis(y, places, -1), ..)
        };
        check(f, &[number(1.0)]);
    }),
    same("testGradLogaddexpComplex", || {
        check_to(1, |x| log_of_sum(x, 1.0), &[drawn(&[3], 1), drawn(&[3], 2), drawn(&[3], 3), drawn(&[3], 4)]);
    }),
    same("testGradLogaddexp2Complex", || {
        check_to(1, |x| log_of_sum(x, 2.0), &[drawn(&[3], 1), drawn(&[3], 2), drawn(&[3], 3), drawn(&[3], 4)]);
    }),
    same("testGradLdexp", || {
        for n in -4..5 {
            check(move |x| ldexp(x[0], n), &[data(&[10])]);
        }
    }),
    same("testGradFrexp", || {
        for n in -4..5 {
            // Steps at powers of two.
            let x = (drawn(&[10], 1) * 0.1 + 0.75) * 2f64.powi(n);
            near(&jit(grad(|x: Expr| sum(frexp(x).0, ..)))(&x), &f64s(&(1.0 / exp2(frexp(&x).1.cast(DType::F64)))));
        }
    }),
];

pub const REDUCERS: &[Case] = &[same("testNanStdGrad", || {
    // The values that are not NaN: their count is 4.
    let nanvar = |x: Expr| {
        let (good, count) = (where_(isnan(x), 0.0, x), sum(where_(isnan(x), 0.0, ones_like(x)), ..));
        let apart = where_(isnan(x), 0.0, good - sum(good, ..) / count);
        sum(apart * apart, ..) / count
    };
    let x = array([f64::NAN, 1.0, 2.0, 3.0, 4.0]);
    is(&jit(grad(nanvar))(&x), &[0.0, -0.75, -0.25, 0.25, 0.75]);
    assert!(f64s(&jit(grad(move |x: Expr| sqrt(nanvar(x))))(&x)).iter().all(|x| !x.is_nan()));
    check(|x| stack(&[std(x[0], ..), var(x[0], ..)], 0), &[data(&[5])]);
})];

pub const NN: &[Case] = &[
    same("testSoftplusGrad", || {
        check(|x| softplus(x[0]), &[number(1e-8)]);
        let third = |x: Expr| grad(grad(softplus::<Expr>))(x);
        check(move |x| third(x[0]), &[number(1e-8)]);
    }),
    same("testSoftplusGradZero", || assert_eq!(slope(softplus, 0.0), 0.5)),
    same("testSoftplusGradInf", || assert_eq!(slope(softplus, INFINITY), 1.0)),
    same("testSoftplusGradNegInf", || assert_eq!(slope(softplus, -INFINITY), 0.0)),
    same("testSoftplusGradNan", || assert!(slope(softplus, f64::NAN).is_nan())),
    same("testSparseplusGradZero", || assert_eq!(slope(sparse_plus, -2.0), 0.0)),
    same("testSparseplusGrad", || check(|x| sparse_plus(x[0]), &[number(0.0)])),
    same("testSparseplusAndSparseSigmoid", || {
        for (x, expected) in [(0.0, 0.5), (2.0, 1.0), (-2.0, 0.0)] {
            assert_eq!(slope(sparse_plus, x), expected);
        }
    }),
    same("testSquareplusGrad", || check(|x| squareplus(x[0]), &[number(1e-8)])),
    same("testSquareplusGradZero", || assert_eq!(slope(squareplus, 0.0), 0.5)),
    same("testSquareplusGradNan", || assert!(slope(squareplus, f64::NAN).is_nan())),
    same("testMishGrad", || check(|x| mish(x[0]), &[number(1e-8)])),
    same("testMishGradZero", || near(&number(slope(mish, 0.0)), &[0.6])),
    differs("testMishGradNegInf", Why::ZeroWins, || assert_eq!(slope(mish, -INFINITY), 0.0)),
    same("testMishGradNan", || assert!(slope(mish, f64::NAN).is_nan())),
    same("testReluGrad", || {
        for (x, expected) in [(1.0, 1.0), (-1.0, 0.0)] {
            assert_eq!(slope(relu, x), expected);
            assert_eq!(slope(|x: Expr| grad(relu::<Expr>)(x), x), 0.0);
        }
    }),
    same("testReluGradAtZero", || assert_eq!(slope(relu, 0.0), 0.0)),
    same("testRelu6Grad", || {
        let f = |x: Expr| clip(x, 0.0, 6.0);
        for (x, expected) in [(1.0, 1.0), (-1.0, 0.0), (7.0, 0.0), (0.0, 0.0), (6.0, 0.0)] {
            assert_eq!(slope(f, x), expected);
        }
    }),
    same("testEluGrad", || {
        assert_eq!(slope(elu, 1e4), 1.0);
        assert_eq!(slope(elu, -1e4), 0.0);
        check(|x| elu(x[0]), &[array([0.5, -0.5])]);
    }),
    same("testSoftmaxWhereGrad", || {
        let masked = |x: Expr| where_(x.lt(1000), x, -INFINITY);
        for f in [|x: Expr| softmax(x, 0), |x: Expr| log_softmax(x, 0)] as [fn(Expr) -> Expr; 2] {
            let slope = jit(grad(move |x: Expr| f(masked(x)).slice((0,))));
            is(&slope(&array([36.0, 10000.0])), &[0.0, 0.0]);
        }
    }),
    same("testSoftmaxGrad", || {
        check(|x| softmax(x[0], 0), &[array([5.5, 1.3, -4.2, 0.9])]);
        check(|x| log_softmax(x[0], 0), &[array([5.5, 1.3, -4.2, 0.9])]);
    }),
    same("testLog1mExpGrad", || check(|x| log1mexp(x[0]), &[array([1e-2, 0.3, 2.0, 10.0])])),
];

pub const SCIPY: &[Case] = &[
    same("testLogSumExpWhereGrad", || {
        let f = |x: Expr| logsumexp(where_(ndjit::arange(5).lt(4), x, -INFINITY), ..);
        is(&jit(grad(f))(&array([0.0, 0.0, 0.0, 0.0, 100.0])), &[0.25, 0.25, 0.25, 0.25, 0.0]);
    }),
    same("testGradOfXlogyAtZero", || {
        let (by_x, by_y) = jit(wrt((0, 1)).grad(|x: Expr, y: Expr| x * log(y)))(&number(0.0), &number(3.0));
        near(&by_x, &[3f64.ln()]);
        is(&by_y, &[0.0]);
        check(|x| x[0] * log(x[1]), &[number(0.0), number(3.0)]);
    }),
    same("testGradOfXlog1pyAtZero", || {
        let (by_x, by_y) = jit(wrt((0, 1)).grad(|x: Expr, y: Expr| x * log1p(y)))(&number(0.0), &number(3.0));
        near(&by_x, &[4f64.ln()]);
        is(&by_y, &[0.0]);
    }),
    same("testGradOfEntrAtZero", || {
        let entropy = |x: Expr| -(x * log(x));
        assert_eq!(f64s(&jit(jacfwd(entropy))(&number(0.0))), [INFINITY]);
        assert_eq!(f64s(&jit(jacrev(entropy))(&number(0.0))), [INFINITY]);
    }),
    same("testXLogX", || check(|x| x[0] * log(abs(x[0]) + zeros_like(x[0])), &[data(&[2, 3])])),
];

#[test]
fn derivatives_of_functions_are_those_of_jax() {
    super::run(NUMPY);
    super::run(REDUCERS);
    super::run(NN);
    super::run(SCIPY);
}
