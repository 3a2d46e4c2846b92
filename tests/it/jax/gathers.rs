//! Derivatives of slices, lookups and scatters: cases of `tests/lax_autodiff_test.py` and `tests/lax_numpy_indexing_test.py` of jax-ml/jax (Apache
//! License 2.0).

use super::{Case, Why, array, check, data, differs, drawn, f64s, is, near, number, same};
use ndjit::{
    Array, DType, Expr, Same, arange, dynamic_range, grad, grad_at, jacfwd, jacrev, jit, jvp, ones, ones_like, sin,
    slice_dynamic, sum, take, take_along_axis, value_and_grad, vmap, wrt, zeros_like,
};

/// The row at a runtime index.
fn row(x: Expr, i: Expr) -> Expr {
    slice_dynamic(x, i, 1)
}

/// Indices, and updates of three rows.
fn places() -> [(Array, &'static [usize], &'static [usize]); 3] {
    [
        (Array::from([0, 2]), &[5], &[2]),
        (Array::from([3, 0, 4]), &[10], &[3]),
        (Array::from([0, 2, 1]), &[10, 5], &[3, 5]),
    ]
}

/// A scatter with this method, of an array and updates.
macro_rules! scatter {
    ($method:ident, $places:expr) => {
        for (places, shape, updates) in $places {
            check(move |x| x[0].at(places.clone()).$method(x[1]), &[drawn(shape, 1), drawn(updates, 2)]);
        }
    };
}

pub const AUTODIFF: &[Case] = &[
    same("testDynamicSliceGrad", || {
        for (shape, starts, lengths) in
            [(&[3][..], &[1][..], &[1][..]), (&[5, 3], &[1, 1], &[3, 1]), (&[7, 5, 3], &[4, 1, 0], &[2, 0, 1])]
        {
            let (starts, lengths) = (starts.to_vec(), lengths.iter().map(|&n| n as isize).collect::<Vec<isize>>());
            let f = move |x: &[Expr]| match starts[..] {
                [a] => slice_dynamic(x[0], Expr::from(&Array::from(a)), lengths.clone()),
                [a, b] => slice_dynamic(x[0], (Expr::from(&Array::from(a)), b), lengths.clone()),
                _ => slice_dynamic(x[0], (starts[0], Expr::from(&Array::from(starts[1])), starts[2]), lengths.clone()),
            };
            check(f, &[data(shape)]);
        }
    }),
    same("testDynamicUpdateSliceGrad", || {
        let f = |x: &[Expr]| {
            let i = Expr::from(&Array::from(1));
            x[0].at((dynamic_range(i, 3), dynamic_range(i, 1))).set(x[1])
        };
        check(f, &[drawn(&[5, 3], 1), drawn(&[3, 1], 2)]);
        check(
            |x| x[0].at((dynamic_range(Expr::from(&Array::from(9)), 2),)).set(x[1]),
            &[drawn(&[5], 1), drawn(&[2], 2)],
        );
    }),
    same("testDynamicSliceValueAndGrad", || {
        let (x, i) = (data(&[5, 5]), Array::from(-8));
        let f = |x: Expr, i: Expr| sum(row(x, i), ..);
        let value = jit(f)(&x, &i);
        let (again, slope) = jit(value_and_grad(f))(&x, &i);
        assert_eq!(f64s(&value), f64s(&again));
        assert_eq!(f64s(&slope)[..6], [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
    }),
    same("testDynamicUpdateSliceValueAndGrad", || {
        let f = |x: Expr, y: Expr, i: Expr| sum(x.at((dynamic_range(i, 1),)).set(y), ..);
        let (x, y, i) = (data(&[5, 5]), ones([1, 5]), Array::from(-8));
        let (value, slope) = jit(value_and_grad(f))(&x, &y, &i);
        assert_eq!(f64s(&value), f64s(&jit(f)(&x, &y, &i)));
        assert_eq!(f64s(&slope)[..6], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    }),
    same("testGradOfVmapOfDynamicSlice", || {
        let (x, i) = (array([1.0]), Array::from([1]));
        is(&jit(jacrev(row))(&x, &Array::from(1)), &[1.0]);
        let found = jit(jacrev(vmap(row, (Same, 0))))(&x, &i);
        assert_eq!(found.shape().extents(), [1, 1, 1]);
        is(&found, &[1.0]);
    }),
    same("testIndexTakeGrad", || {
        check(|x| take(x[0], Array::from([0, 2, 2]), 0), &[data(&[3])]);
        check(|x| take(x[0], Array::from([-1, 0]), 1), &[data(&[3, 4])]);
        check(|x| x[0].at((.., Array::from([1, 1]), Array::from([0, 2]))).get(), &[data(&[2, 3, 4])]);
    }),
    same("testGatherGrad", || {
        check(
            |x| x[0].at((Array::from([0, 2]), dynamic_range(Expr::from(&Array::from(1)), 2))).get(),
            &[data(&[3, 5])],
        );
        check(|x| x[0].at((Array::from([0, 2, 1]), ..3)).get(), &[data(&[10, 5])]);
        check(|x| x[0].at((Array::from_rows(&[[0, 2], [1, 0]]),)).get(), &[data(&[4, 2])]);
        let along = |x: &[Expr]| take_along_axis(x[0], Array::from([2, 0, 1, 1]).reshape([2, 2]), 1);
        check(along, &[data(&[2, 3])]);
    }),
    same("testGatherTransposeCotangentDtype", || {
        let f = jit(grad(|x: Expr, i: Expr| sum(take(x, i, 0).cast(DType::F32), ..)));
        let slope = f(&ones([3]).cast(DType::Bf16), &Array::from([0, 0, 2]));
        assert_eq!(slope.dtype(), DType::Bf16);
        is(&slope, &[2.0, 0.0, 1.0]);
    }),
    same("testScatterAddGrad", || {
        scatter!(add, places());
        scatter!(add, [(Array::from([0, 0, 0]), &[10][..], &[3][..]), (Array::from([1, 1]), &[3, 2], &[2, 2])]);
        scatter!(subtract, places());
    }),
    same("testScatterGrad", || {
        scatter!(set, places());
    }),
    same("testScatterGradSymbolicZeroUpdate", || {
        let f = |x: &[Expr]| x[0].at((arange(5), arange(5))).set(arange(5.0));
        check(f, &[data(&[5, 5])]);
    }),
    same("testScatterMax", || {
        scatter!(max, places());
        scatter!(max, [(Array::from([0, 0, 0]), &[10][..], &[3][..])]);
    }),
    same("testScatterMin", || {
        scatter!(min, places());
        scatter!(min, [(Array::from([0, 0, 0]), &[10][..], &[3][..])]);
    }),
    differs("test_scatter_apply_jvp", Why::Modes, || {
        let f = |x: Expr| x.at(1).set(sin(x.at(1).get()));
        near(&jit(jacfwd(f))(&array([1.0, 2.0])), &[1.0, 0.0, 0.0, 2f64.cos()]);
    }),
    differs("test_scatter_apply_vjp", Why::Modes, || {
        let f = |x: Expr| x.at(1).set(sin(x.at(1).get()));
        near(&jit(jacrev(f))(&array([1.0, 2.0])), &[1.0, 0.0, 0.0, 2f64.cos()]);
    }),
];

pub const INDEXING: &[Case] = &[
    same("testStaticIndexingGrads", || {
        check(
            |x| {
                let y = x[0].slice((1,));
                y * y
            },
            &[data(&[3, 4])],
        );
        check(
            |x| {
                let y = x[0].slice((ndjit::step(-1), ndjit::NewAxis, 1..3));
                y * y
            },
            &[data(&[3, 4])],
        );
        check(
            |x| {
                let y = x[0].slice((ndjit::Ellipsis, -1));
                y * y
            },
            &[data(&[2, 3, 4])],
        );
    }),
    same("testDynamicIndexingWithIntegersGrads", || {
        let f = |x: &[Expr]| {
            let y = take(x[0], Expr::from(&Array::from(-2)), 0);
            y * y
        };
        check(f, &[data(&[5, 3])]);
        let both = |x: &[Expr]| {
            let i = Expr::from(&Array::from(1));
            let y = x[0].at((i, i + 1)).get();
            y * y
        };
        check(both, &[data(&[3, 4, 5])]);
    }),
    same("testAdvancedIntegerIndexingGrads", || {
        check(
            |x| {
                let y = x[0].at((Array::from([0, 2, 1, 0]),)).get();
                y * y
            },
            &[data(&[3, 2])],
        );
        check(
            |x| {
                let y = x[0].at((Array::from([0, -1]), .., Array::from([1, 1]))).get();
                y * y
            },
            &[data(&[3, 2, 4])],
        );
        check(
            |x| {
                let y = x[0].at((.., Array::from_rows(&[[1, 0], [1, 1]]))).get();
                y * y
            },
            &[data(&[3, 2])],
        );
    }),
    same("testJVPOfGradOfIndexing", || {
        let slope = |x: Expr, i: Expr| grad_at(|x: Expr| sum(take(x, i, 0), ..), x);
        let f = jit(move |x: Expr, i: Expr| jvp(|x: Expr| slope(x, i), x, x));
        let (value, tangent) = f(&ones([3, 4]), &Array::from([1, 1, 1]));
        is(&value, &[0., 0., 0., 0., 3., 3., 3., 3., 0., 0., 0., 0.]);
        is(&tangent, &[0.0; 12]);
    }),
    same("testAdvancedIndexingGrads", || {
        let f = |x: &[Expr]| {
            let y = x[0].at(Array::from([0, 1, 1])).get();
            y * y
        };
        check(f, &[data(&[3])]);
        let masked = |x: &[Expr]| x[0].at(x[0].gt(0.5)).set(zeros_like(x[0])) * x[0];
        check(masked, &[data(&[7])]);
    }),
    differs("testIndexMulGradFailsIfNotUnique", Why::Modes, || {
        let f = |x: &[Expr]| x[0].at(Array::from([1, 1, 1])).multiply(x[1]);
        check(f, &[data(&[4]), drawn(&[3], 1)]);
        let places = Array::from([1; 10]);
        let tangent =
            jit(move |x: Expr, z: Expr| jvp(|(x, z): (Expr, Expr)| x.at(&places).multiply(z), (x, z), (x, z)).1);
        is(&tangent(&ones([3]), &ones([10])), &[1.0, 11.0, 1.0]);
    }),
    same("testGradOfVmapOfScatter", || {
        let at = |x: Expr, i: Expr| slice_dynamic(x, i, 1).slice((0,));
        is(&jit(jacrev(at))(&array([1.0]), &Array::from(1)), &[1.0]);
        is(&jit(jacrev(vmap(at, (Same, 0))))(&array([1.0]), &Array::from([1])), &[1.0]);
    }),
    same("testSegmentSumBehavior", || {
        let data = array([5.0, 1.0, 7.0, 2.0, 3.0, 4.0, 1.0, 3.0]);
        let f = |x: Expr| {
            (sum(x, ..) * 0.0 + Expr::from(&ndjit::zeros([4]))).at(Array::from([0, 0, 0, 1, 2, 2, 3, 3])).add(x)
        };
        is(&jit(f)(&data), &[13.0, 2.0, 7.0, 4.0]);
        let weighted = jit(wrt(0).grad(move |x: Expr| sum(f(x) * array([1.0, 2.0, 3.0, 4.0]), ..)));
        is(&weighted(&data), &[1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
        is(&jit(grad(move |x: Expr| sum(f(x), ..)))(&ones([8])), &[1.0; 8]);
        is(&jit(grad(|x: Expr| take(x, 0, 0) * ones_like(x).slice((0,))))(&number(1.0).reshape([1])), &[1.0]);
    }),
];

#[test]
fn derivatives_of_lookups_are_those_of_jax() {
    super::run(AUTODIFF);
    super::run(INDEXING);
}
