//! Lanes of ops: cases of `tests/lax_vmap_test.py` and `tests/batching_test.py` of jax-ml/jax (Apache License 2.0).

use super::{Case, all_lanes, array, data, drawn, f64s, is, lanes, near, number, refused, same};
use ndjit::{
    Array, DType, ErrorCode, Expr, Overlap, Same, any, arange, argsort, broadcast_to, clip, concat, convolve,
    cumulative_prod, dynamic_range, einsum, expand_dims, flip, grad, hessian, in_axes, jacfwd, jacrev, jit, jvp,
    keepdims, matmul, max, maximum, moveaxis, norm, ones, ones_like, pad, permute_dims, pow, reshape, sin,
    slice_dynamic, sliding_window, sort, squeeze, stack, step, step_by, sum, take, take_along_axis, tanh, tile, topk,
    unstack, vecdot, vjp, vmap, vmap_at, where_, wrt, zeros, zeros_like,
};

/// Lanes along each axis of one argument; the other is a shared scalar.
fn each(f: impl Fn(Expr) -> Expr + Copy + Send + Sync + 'static, shape: &[usize]) {
    for axis in -1..=shape.len() as i32 {
        let mut own = shape.to_vec();
        own.insert(if axis < 0 { shape.len() } else { axis as usize }, 3);
        lanes(move |x, _| f(x), [Some(axis), None], &drawn(&own, 1), &number(0.0));
    }
}

fn ints(shape: &[usize], seed: usize) -> Array {
    ndjit::floor(drawn(shape, seed) * 2.5 + 5.0).cast(DType::I32)
}

/// The elements at indices, and gradients of the sum of their sines.
fn looked_up(x: Expr, i: Expr) -> Expr {
    take(x, i, 0)
}

fn slopes_of_lookups(x: Expr, i: Expr) -> Expr {
    ndjit::grad_at(|x: Expr| sum(sin(take(x, i, 0)), ..), x)
}

pub const LAX: &[Case] = &[
    same("testConvGeneralDilatedBatching", || {
        for overlap in [Overlap::Full, Overlap::Same, Overlap::Valid] {
            all_lanes(move |x, y| convolve(x, y, overlap), &[9], &[4]);
        }
        all_lanes(|x, y| sum(sliding_window(x, [2, 3], [0, 1]).slice((step(2), ..)) * y, [2, 3]), &[5, 4], &[2, 3]);
    }),
    same("testConvertElementType", || {
        for dtype in [DType::I32, DType::F32, DType::Bool, DType::C64, DType::F16] {
            each(move |x| x.cast(dtype), &[2, 3]);
        }
    }),
    same("testClamp", || {
        all_lanes(|x, low| clip(x, low, 1.5), &[2, 3], &[2, 3]);
        all_lanes(|x, high| clip(x, -0.5, high), &[2, 3], &[]);
    }),
    same("testDot", || {
        for [x, y] in [[&[2][..], &[2]], [&[2], &[2, 3]], [&[3, 2], &[2]], [&[3, 2], &[2, 3]]] {
            all_lanes(|x, y| matmul(x, y), x, y);
        }
    }),
    same("testDotGeneralContractOnly", || {
        all_lanes(|x, y| einsum("ij,ik->jk", [x, y]), &[2, 3], &[2, 4]);
        all_lanes(|x, y| einsum("ijk,jil->kl", [x, y]), &[2, 3, 2], &[3, 2, 2]);
    }),
    same("testDotGeneralContractAndBatch", || {
        all_lanes(|x, y| einsum("bij,bjk->bik", [x, y]), &[2, 3, 2], &[2, 2, 3]);
        all_lanes(|x, y| einsum("bi,bi->b", [x, y]), &[2, 3], &[2, 3]);
    }),
    same("testBroadcast", || each(|x| broadcast_to(x, [2, 4, 3]), &[4, 3])),
    same("testBroadcastInDim", || {
        each(|x| broadcast_to(reshape(x, [2, 1]), [2, 3]), &[2]);
        each(|x| broadcast_to(x, [2, 2]), &[]);
    }),
    same("testSqueeze", || {
        each(|x| squeeze(x, 0), &[1]);
        each(|x| squeeze(x, [0, 2]), &[1, 3, 1]);
    }),
    same("testReshape", || {
        each(|x| reshape(x, [12]), &[3, 4]);
        each(|x| reshape(permute_dims(x, [2, 0, 1]), [6, 2]), &[2, 3, 2]);
    }),
    same("testPad", || {
        each(|x| pad(x, [(1, 2), (0, 1)], 0.5), &[2, 3]);
        for with in [ndjit::Pad::Edge, ndjit::Pad::Reflect, ndjit::Pad::Wrap] {
            each(move |x| pad(x, (1, 2), with), &[4]);
        }
    }),
    same("testSelect", || {
        all_lanes(|x, y| where_(x.gt(0), x, y), &[2, 3], &[2, 3]);
        all_lanes(|p, x| where_(p.gt(0), x, 0.0), &[], &[2, 3]);
    }),
    same("testSlice", || {
        each(|x| x.slice((1..3,)), &[5]);
        each(|x| x.slice((step_by(1..6, 2),)), &[8]);
        each(|x| x.slice((step(-1), 0..2)), &[5, 3]);
        each(|x| x.slice((.., 2..2)), &[3, 3]);
    }),
    same("testSplit", || {
        each(
            |x| {
                let parts = unstack(x, 0).unwrap();
                concat(&[parts[2], parts[0]], 0)
            },
            &[3, 4],
        );
    }),
    same("testStack", || {
        all_lanes(|x, y| stack(&[x, y, x], 1), &[2, 3], &[2, 3]);
    }),
    same("testUnstack", || {
        let (a, b) = jit(vmap(
            |x: Expr| {
                let all = unstack(x, -1).unwrap();
                (all[0], all[1])
            },
            1,
        ))(&data(&[3, 4, 2]));
        is(&stack(&[a, b], -1), &f64s(&ndjit::swapaxes(data(&[3, 4, 2]), 0, 1)));
    }),
    same("testTranspose", || {
        each(|x| permute_dims(x, [1, 0]), &[3, 4]);
        each(|x| permute_dims(x, [2, 1, 0]), &[3, 4, 5]);
    }),
    same("testReduce", || {
        each(|x| sum(x, 0), &[3, 4, 5]);
        each(|x| max(x, [0, 2]), &[3, 4, 5]);
        each(|x| ndjit::min(x, keepdims(1)), &[3, 4]);
        each(|x| ndjit::prod(x, ..), &[3, 4]);
        each(|x| ndjit::all(x.gt(-1.5), 0), &[3, 4]);
        each(|x| ndjit::mean(x, 1) + ndjit::var(x, 1) + ndjit::logsumexp(x, 1), &[3, 4]);
    }),
    same("testArgminmax", || {
        each(|x| ndjit::argmax(x, 0), &[3, 4]);
        each(|x| ndjit::argmin(x, -1), &[3, 4]);
        each(|x| ndjit::argmin(x, ..), &[3, 4]);
    }),
    same("testReduceWindow", || {
        each(|x| sum(sliding_window(x, [2, 2], [0, 1]), [2, 3]), &[4, 6]);
        each(|x| max(sliding_window(x, 3, 1).slice((.., step(2))), 2), &[3, 9]);
    }),
    same("testCumulativeReduce", || {
        each(|x| ndjit::cumulative_sum(x, 0), &[4, 3]);
        each(|x| cumulative_prod(x, 1), &[4, 3]);
        each(|x| flip(ndjit::cummax(flip(x, 0), 0), 0), &[5]);
        each(|x| ndjit::cummin(x, 1), &[4, 3]);
    }),
    same("testSelectAndGatherAdd", || {
        // The tangent of the maxima of windows.
        all_lanes(|x, t| jvp(|x: Expr| max(sliding_window(x, 2, 0), 1), x, t).1, &[6], &[6]);
    }),
    same("testSelectAndScatterAdd", || {
        all_lanes(|x, g| vjp(|x: Expr| max(sliding_window(x, 2, 0), 1), x).1(g), &[6], &[5]);
    }),
    same("testGather", || {
        all_lanes(|x, i| take(x, i.cast(DType::I64) + 2, 0), &[5, 2], &[3]);
        all_lanes(|x, i| x.at((.., i.cast(DType::I64) + 2)).get(), &[2, 5], &[3]);
        all_lanes(|x, i| slice_dynamic(x, (i.cast(DType::I64), 1), [2, 2]), &[5, 4], &[]);
    }),
    same("testScatterAdd", || {
        all_lanes(|x, y| x.at(Array::from([0, 2, 2])).add(y), &[5, 2], &[3, 2]);
        all_lanes(|x, i| x.at(i.cast(DType::I64) + 2).add(1.5), &[5], &[3]);
        all_lanes(|x, i| x.at(i.cast(DType::I64) + 2).max(0.5), &[5], &[3]);
    }),
    same("testScatterApply", || {
        all_lanes(
            |x, i| {
                let i = i.cast(DType::I64) + 2;
                x.at(i).set(sin(x.at(i).get()))
            },
            &[5],
            &[3],
        );
    }),
    same("testTopK", || {
        each(|x| topk(x, 3, 0).0, &[5]);
        each(|x| topk(x, 2, -1).1, &[3, 5]);
    }),
    same("testSort", || {
        each(|x| sort(x, 0), &[3, 4]);
        each(|x| sort(x, ndjit::descending(1)), &[3, 4]);
        all_lanes(|k, v| take_along_axis(v, argsort(k, 1), 1), &[2, 3], &[2, 3]);
    }),
    same("test_variadic_reduce_window", || {
        let pooled = |x: Expr| {
            let norms = sliding_window(norm(x, 1), 2, 0).slice((step(2),));
            let first = arange(2) * 2;
            take(x, ndjit::argmax(norms, 1).cast(DType::I64) + first.cast(DType::I64), 0)
        };
        let rows = array([1.0, 0.0, 1.0, 2.0, 2.0, 0.0, 3.0, 0.0, 1.0, 0.0, 1.0, 1.0]).reshape([1, 4, 3]);
        is(&jit(vmap(pooled, 0))(&rows), &[2.0, 2.0, 0.0, 3.0, 0.0, 1.0]);
    }),
    same("testTileBatching", || {
        each(|x| tile(x, 2), &[3]);
        each(|x| tile(x, [1, 2]), &[2, 3]);
        each(|x| tile(x, [1, 2, 3]), &[2, 1, 3]);
    }),
];

pub const BATCHING: &[Case] = &[
    same("testConstantFunction", || is(&jit(vmap(|_: Expr| Expr::from(3), 0))(&ones([4])), &[3.0; 4])),
    same("testNestedBatchingMatMat", || {
        let of_vectors = vmap(|x: Expr, y: Expr| vecdot(x, y, -1), (0, Same));
        let (a, b) = (drawn(&[4, 3], 1), drawn(&[3, 2], 2));
        // The lanes are first: JAX puts them last here.
        near(&jit(vmap(of_vectors, (Same, 1)))(&a, &b).mt(), &f64s(&matmul(&a, &b)));
    }),
    same("testPerExampleGradients", || {
        let loss = |w: Expr, b: Expr, x: Expr, y: Expr| {
            let apart = tanh(matmul(w, x) + b) - y;
            sum(apart * apart, ..)
        };
        let f = wrt((0, 1)).grad(loss);
        let (w, b, x, y) = (drawn(&[4, 3], 1), drawn(&[4], 2), drawn(&[5, 3], 3), drawn(&[5, 4], 4));
        let (by_w, by_b) = jit(vmap(f, (Same, Same, 0, 0)))(&w, &b, &x, &y);
        assert_eq!((by_w.shape().extents(), by_b.shape().extents()), (&[5, 4, 3][..], &[5, 4][..]));
        let (one, _) = jit(wrt((0, 1)).grad(loss))(&w, &b, &x.slice((2,)), &y.slice((2,)));
        near(&by_w.slice((2,)), &f64s(&one));
    }),
    same("testJacobians", || {
        let f = |x: Expr| tanh(matmul(drawn(&[4, 3], 1), x) + drawn(&[4], 2));
        near(&jit(jacfwd(f))(&data(&[3])), &f64s(&jit(jacrev(f))(&data(&[3]))));
    }),
    same("testBatchOfCompile", || {
        let f = jit(vmap(jit(|x: Expr| x + x), 0));
        is(&f(&arange(3)), &[0.0, 2.0, 4.0]);
    }),
    same("testSliceLax", || each(|x| x.slice((step_by(.., 2),)), &[4])),
    same("testRevLax", || each(|x| flip(x, 0), &[4])),
    same("testNpMaximum", || {
        all_lanes(|x, y| maximum(x, y), &[4], &[4]);
        is(&jit(vmap(|x: Expr| maximum(x, 0), 0))(&Array::from([-1, 2])), &[0.0, 2.0]);
    }),
    same("testNpGtrThan", || is(&jit(vmap(|x: Expr| x.gt(1), 0))(&arange(3)), &[0.0, 0.0, 1.0])),
    same("testNpMaximumPerExampleGrad", || {
        let f = |w: Expr, x: Expr| sum(pow(maximum(matmul(x, w), 0.0), 2), ..);
        let (w, x) = (drawn(&[5, 5], 1), drawn(&[10, 5], 2));
        let all = jit(vmap(grad(f), (Same, 0)))(&w, &x);
        for n in 0..10 {
            let own = x.slice((n,));
            let expected = ndjit::outer(&own, maximum(matmul(&own, &w), 0.0)) * 2.0;
            near(&all.slice((n,)), &f64s(&expected));
        }
    }),
    same("testConcatenate", || {
        all_lanes(|x, y| concat(&[x, y], 0), &[2, 3], &[3, 3]);
        all_lanes(|x, y| concat(&[x, y * 2.0, x], 1), &[2, 3], &[2, 1]);
    }),
    same("testJacobianIssue54", || {
        let f = |x: Expr| stack(unstack(x, 0).unwrap(), 0);
        for found in [jit(jacrev(f))(&ones([5, 1])), jit(jacfwd(f))(&ones([5, 1]))] {
            is(&found, &f64s(&ndjit::eye(5)));
        }
    }),
    same("testAny", || {
        let x = Array::from([true, false, false, false]).reshape([2, 2]);
        is(&jit(vmap(|x: Expr| any(x, ..), 0))(&x), &[1.0, 0.0]);
    }),
    same("testHessian", || {
        let f = |x: Expr| sum(pow(maximum(x, 0.0), 2), ..);
        let found = f64s(&jit(hessian(f))(&array([-1.0, -0.5, 0.0, 0.5, 1.0])));
        for (n, &found) in found.iter().enumerate() {
            assert_eq!(found, if n % 6 == 0 { [0.0, 0.0, 0.5, 2.0, 2.0][n / 6] } else { 0.0 });
        }
    }),
    same("testDynamicSlice", || {
        let (x, i) = (arange(30).reshape([10, 3]), Array::from([0, 1, 2, 1, 0, 0, 1, 2, 1, 0]));
        let f = |x: Expr, i: Expr| take(x, i, 0);
        is(&jit(vmap(f, (0, Same)))(&x, &Array::from(1)), &f64s(&x.slice((.., 1))));
        is(&jit(vmap(f, 0))(&x, &i), &[0., 4., 8., 10., 12., 15., 19., 23., 25., 27.]);
        is(&jit(vmap(f, (Same, 0)))(&arange(3), &i), &f64s(&i));
    }),
    same("testDynamicUpdateSlice", || {
        let f = |x: Expr, y: Expr, i: Expr| x.at((dynamic_range(i, 1),)).set(expand_dims(y, 0));
        let (x, y) = (zeros([4, 3]), array([1.0, 2.0, 3.0, 4.0]));
        let one = jit(vmap(f, (0, 0, Same)))(&x, &y, &Array::from(1));
        is(&one, &[0., 1., 0., 0., 2., 0., 0., 3., 0., 0., 4., 0.]);
        let own = jit(vmap(f, (Same, 0, 0)))(&zeros([3]), &y, &Array::from([0, 1, 2, 1]));
        is(&own, &[1., 0., 0., 0., 2., 0., 0., 0., 3., 0., 4., 0.]);
    }),
    same("testSort", || {
        let x = flip(arange(12), 0).reshape([3, 4]);
        is(&jit(vmap(|x: Expr| sort(x, 0), 0))(&x), &f64s(&flip(&x, 1)));
        is(&jit(vmap(|x: Expr| sort(x, -1), 1))(&x), &f64s(&flip(&x, 0).mt()));
    }),
    same("testSortKeyVal", || {
        for axes in [[Some(0), Some(0)], [Some(1), Some(1)], [Some(0), Some(1)]] {
            lanes(|k, v| take(v, argsort(k, 0), 0), axes, &drawn(&[4, 4], 1), &drawn(&[4, 4], 2));
        }
        lanes(|k, v| take(v, argsort(k, 0), 0), [None, Some(0)], &drawn(&[4], 1), &drawn(&[3, 4], 2));
    }),
    same("testMinMaxPool", || each(|x| max(sliding_window(x, [2, 2], [0, 1]), [2, 3]), &[3, 4])),
    same("testSumPool", || each(|x| sum(sliding_window(x, [2, 2], [0, 1]), [2, 3]), &[3, 4])),
    same("testCumProd", || {
        let x = arange(9).reshape([3, 3]) + 1;
        is(&jit(vmap(|x: Expr| cumulative_prod(x, -1), 0))(&x), &f64s(&cumulative_prod(&x, 1)));
    }),
    same("testSelect", || {
        let f = |p: Expr, a: Expr, b: Expr| where_(p, a, b);
        let (p, a, b) = (Array::from([true, false]), Array::from([0, 1]), Array::from([2, 3]));
        is(&jit(vmap(f, 0))(&p, &a, &b), &[0.0, 3.0]);
        is(&jit(vmap(f, (0, Same, Same)))(&!&p, &a, &b), &[2.0, 3.0, 0.0, 1.0]);
        is(&jit(vmap(f, (Same, 0, Same)))(&Array::from(true), &a, &Array::from(3)), &[0.0, 1.0]);
        is(&jit(vmap(f, (0, 0, Same)))(&!&p, &a, &Array::from(3)), &[3.0, 1.0]);
    }),
    same("testGatherBatchedOperand", || {
        for axis in 0..2 {
            lanes(looked_up, [Some(axis), None], &drawn(&[6, 5], 1), &Array::from([0, 2, 2]));
        }
    }),
    same("testGatherGradBatchedOperand", || {
        for axis in 0..2 {
            lanes(slopes_of_lookups, [Some(axis), None], &drawn(&[6, 5], 1), &Array::from([0, 2, 2]));
        }
    }),
    same("testGatherBatchedIndices", || {
        for axis in 0..2 {
            lanes(looked_up, [None, Some(axis)], &drawn(&[12, 2], 1), &ints(&[3, 4], 2));
        }
    }),
    same("testGatherGradBatchedIndices", || {
        for axis in 0..2 {
            lanes(slopes_of_lookups, [None, Some(axis)], &drawn(&[12, 2], 1), &ints(&[3, 4], 2));
        }
    }),
    same("testGatherBatchedBoth", || {
        lanes(looked_up, [Some(1), Some(0)], &drawn(&[12, 3], 1), &ints(&[3, 4], 2));
        lanes(looked_up, [Some(0), Some(1)], &drawn(&[3, 12, 2], 1), &ints(&[4, 3], 2));
    }),
    same("testGatherGradBatchedBoth", || {
        lanes(slopes_of_lookups, [Some(1), Some(0)], &drawn(&[12, 3], 1), &ints(&[3, 4], 2));
        lanes(slopes_of_lookups, [Some(0), Some(1)], &drawn(&[3, 12, 2], 1), &ints(&[4, 3], 2));
    }),
    same("testNumpyIndexing1", || {
        lanes(|x, i| x.at((.., i)).get(), [None, Some(0)], &data(&[2, 3, 4]), &Array::from_rows(&[[0, 1], [2, 0]]));
    }),
    same("testNumpyIndexing2", || each(|x| x.at((.., Array::from([0, 2]))).get(), &[2, 3])),
    same("testTransposePermutation", || {
        for axes in [[1, 0, 2], [1, 2, 0]] {
            each(move |x| permute_dims(x, axes), &[3, 4, 5]);
        }
    }),
    same("testEmptyTuples", || {
        let (x, ()) = jit(vmap(|x: Expr| (x + 1, ()), 0))(&Array::from([0, 1]));
        is(&x, &[1.0, 2.0]);
        is(&jit(|x: Expr| vmap_at(|(x, ())| x + 1, (x, ())))(&Array::from([0, 1])), &[1.0, 2.0]);
    }),
    same("testIndexAddBatchedIndexesOnly", || {
        let f = |x: Expr, i: Expr, y: Expr| x.at(i).add(y);
        is(&jit(vmap(f, (Same, 0, Same)))(&zeros([10]), &arange(10), &number(1.0)), &f64s(&ndjit::eye(10)));
    }),
    same("testNegativeAxes", || {
        let x = arange(60).reshape([3, 4, 5]);
        for (axis, others) in [(-3, [1, 2]), (-2, [0, 2]), (-1, [0, 1])] {
            is(&jit(vmap(|x: Expr| sum(x, ..), axis))(&x), &f64s(&sum(&x, others)));
        }
        refused(jit(vmap(|x: Expr| sum(x, ..), -4)).call((&x,)), ErrorCode::Shape, "no axis -4");
        let turned = jit(vmap(|x: Expr| x, in_axes(0).out_axis(-1)))(&x);
        is(&turned, &f64s(&moveaxis(&x, [0], [-1])));
        let middle = jit(vmap(|x: Expr| x, in_axes(-1).out_axis(-2)))(&x);
        assert_eq!(middle.shape().extents(), [3, 5, 4]);
        refused(jit(vmap(|x: Expr| x, in_axes(0).out_axis(-4))).call((&x,)), ErrorCode::Shape, "no axis -4");
    }),
    same("testBatchingPreservesWeakType", || {
        // With a wider array, a scalar stays a scalar within lanes.
        let f = |x: Expr| x * 0.1 + zeros_like(x) * ones_like(x);
        assert_eq!(jit(vmap(f, 0))(&ones([2]).cast(DType::F32)).dtype(), DType::F32);
    }),
];

#[test]
fn lanes_are_those_of_jax() {
    super::run(LAX);
    super::run(BATCHING);
}
