//! Values and lanes of control flow: cases of `tests/lax_control_flow_test.py` of jax-ml/jax (Apache License 2.0).

use super::{Case, Why, all_lanes, array, data, differs, drawn, f64s, is, near, number, refused, same};
use ndjit::{
    Array, DType, ErrorCode, Expr, Same, arange, cond, cos, cumulative_sum, fori_loop, jit, matmul, minimum, ones,
    scan, scan_reversed, sign, sin, stack, sum, take, tril, vmap, while_loop, zeros_like,
};

/// `lax.switch`: an index out of bounds selects the nearest branch.
pub fn switch(index: Expr, [a, b, c]: [fn(Expr) -> Expr; 3], x: Expr) -> Expr {
    cond(index.le(0), a, |x| cond(index.eq(1), b, c, x), x)
}

/// The body of the scans of `testScanImpl`.
pub fn step(c: Expr, a: Expr) -> (Expr, Expr) {
    let b = cos(sum(sin(a), ..) + sum(cos(c), ..) + 0.7);
    (sin(c * b), b)
}

/// An unrolled scan.
pub fn written(c: Expr, xs: Expr) -> (Expr, Expr) {
    let (mut c, mut all) = (c, Vec::new());
    for n in 0..xs.shape().extents()[0] {
        let (next, y) = step(c, xs.slice((n as isize,)));
        c = next;
        all.push(y);
    }
    (c, stack(&all, 0))
}

/// The sum of the first elements, in a loop.
fn first(x: Expr, n: Expr) -> Expr {
    let most = minimum(n, 10);
    fori_loop(0, most, (x, x.slice((0,)) * 0.0, ()), |i, (x, total, ())| (x, total + take(x, i, 0), ())).1
}

fn doubled(x: Expr) -> (Expr, Expr) {
    cond(x.lt(3), |x: Expr| (x, x), |x: Expr| (x * 2, x * 4), x)
}

fn counted(x: Expr, by: Expr) -> Expr {
    while_loop(x, |x| x.lt(3), move |x| x + by)
}

const INTS: [DType; 8] = [DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64];

pub const CASES: &[Case] = &[
    same("testWhileWithTuple", || {
        let next = |(at, n): (Expr, Expr)| (at + 1, n + 1);
        let f = jit(move |init: Expr| while_loop((init, Expr::from(0)), |(at, _)| at.lt(10), next).1);
        for init in [2, 3, 12] {
            is(&f(&Array::from(init)), &[f64::from((10 - init).max(0))]);
        }
    }),
    same("testWhileWithManyArgs", || {
        let next = |state: Vec<Expr>| state.into_iter().map(|x| x + 1).collect();
        let f = jit(move |x: Expr| while_loop(vec![x; 256], |state| state[0].lt(2), next)[255]);
        is(&f(&Array::from(0)), &[2.0]);
    }),
    same("testNestedWhile", || {
        let inner = |i: Expr, n: Expr| while_loop((Expr::from(0), n), |(j, _)| j.le(i), |(j, n)| (j + 1, n + 1)).1;
        let f = jit(move |most: Expr| {
            while_loop((Expr::from(0), Expr::from(0)), |(i, _)| i.lt(most), |(i, n)| (i + 1, inner(i, n)))
        });
        for (most, expected) in [(3, 6.0), (2, 3.0), (4, 10.0)] {
            let (i, n) = f(&Array::from(most));
            is(&i, &[f64::from(most)]);
            is(&n, &[expected]);
        }
    }),
    same("testWhileWithClosure", || {
        let f = jit(|init: Expr, limit: Expr, by: Expr| {
            while_loop((init, Expr::from(0)), |(at, _)| at.lt(limit), |(at, n)| (at + 1, n + by)).1
        });
        for (init, by, expected) in [(2, 1, 8.0), (3, 1, 7.0), (3, 2, 14.0)] {
            is(&f(&Array::from(init), &Array::from(10), &Array::from(by)), &[expected]);
        }
        assert_eq!(f.compile_count(), {
            f.call((&Array::from(5), &Array::from(9), &Array::from(1))).unwrap();
            f.compile_count()
        });
    }),
    same("testNestedWhileWithDynamicUpdateSlice", || {
        let f = jit(|x: Expr| {
            fori_loop(0, 5, zeros_like(x), |i, out| {
                let put = |(j, out): (Expr, Expr)| (j + 1, out.at((i, j)).set(take(take(x, i, 0), j, 0)));
                while_loop((Expr::from(0), out), |(j, _)| j.le(i), put).1
            })
        });
        let x = data(&[5, 5]);
        is(&f(&x), &f64s(&tril(&x, 0)));
    }),
    same("testLoopWithConjunctionCondition", || {
        let f = jit(|x: Expr, most: Expr| {
            let goes_on = |(i, _): (Expr, Expr)| i.lt(most) & i.lt(10);
            while_loop((Expr::from(0), Expr::from(0.0)), goes_on, |(i, total)| (i + 1, total + take(x, i, 0))).1
        });
        let x = data(&[10]);
        for most in [0, 5, 10, 15] {
            near(&f(&x, &Array::from(most)), &[f64s(&x)[..most.min(10) as usize].iter().sum()]);
        }
    }),
    same("testWhileLoopBatched", || {
        let f = jit(vmap(|x: Expr| counted(x, Expr::from(2)), 0));
        is(&f(&Array::from([0, 1, 2, 3])), &[4.0, 3.0, 4.0, 3.0]);
    }),
    same("testWhileLoopBatchedWithConstBody", || {
        let f = jit(vmap(|x: Expr| while_loop(x, |_| Expr::from(false), |_| Expr::from(0.0)), 0));
        is(&f(&ndjit::arange(5.0)), &[0.0, 1.0, 2.0, 3.0, 4.0]);
    }),
    same("testWhileLoopCondConstsBatched", || {
        let f = jit(vmap(|x: Expr, y: Expr| while_loop(x, |x| x.lt(y), |x| x + 2), (Same, 0)));
        is(&f(&Array::from(0), &Array::from([2, 3])), &[2.0, 4.0]);
    }),
    same("testWhileLoopBodyConstsBatched", || {
        is(&jit(vmap(counted, (Same, 0)))(&Array::from(0), &Array::from([2, 3])), &[4.0, 3.0]);
    }),
    same("testWhileLoopTupleBatched", || {
        let f = |x: Expr, y: Expr| while_loop((x, y), |(x, y)| (x + y).lt(5), |(x, y)| (x + 1, y));
        let (x, y) = jit(vmap(f, 0))(&Array::from([0, 0]), &Array::from([1, 2]));
        is(&x, &[4.0, 3.0]);
        is(&y, &[1.0, 2.0]);
    }),
    same("test_issue_3204", || {
        let f = |a: Expr, b: Expr| {
            let inner = |value: Expr, i: Expr| {
                while_loop((value, Expr::from(0)), |(_, j)| j.lt(b + 1), |(value, j)| (value + i + j, j + 1)).0
            };
            let next = |(value, i): (Expr, Expr)| (inner(value, i), i + 1);
            while_loop((Expr::from(0), Expr::from(0)), |(_, i)| i.lt(a + 1), next).0
        };
        let x = arange(5);
        let expected = |n: i64| (0..=n).flat_map(|i| (0..=n).map(move |j| i + j)).sum::<i64>() as f64;
        is(&jit(vmap(f, 0))(&x, &x), &[0, 1, 2, 3, 4].map(expected));
    }),
    same("testForiLoopScalarLimits", || {
        let f = jit(|n: Expr, x: Expr| fori_loop(n, 10, x, |_, x| x + 1));
        is(&f(&Array::from(0i16), &Array::from(10.0f32)), &[20.0]);
    }),
    same("test_fori_loop_returns_init_with_nonpositive_length", || {
        for most in [0, -1] {
            is(&jit(move |x: Expr| fori_loop(0, most, x, |_, x| x + 1))(&Array::from(10.0f32)), &[10.0]);
        }
    }),
    same("testForiLoopBatched", || {
        let f = |x: Expr| fori_loop(0, 10, (x, Expr::from(0)), |_, (x, y)| (x + 1, y + 2));
        let (x, y) = jit(vmap(f, 0))(&Array::from([0, 1]));
        is(&x, &[10.0, 11.0]);
        is(&y, &[20.0, 20.0]);
    }),
    same("testForiLoopBasic", || {
        let f = jit(|n: Expr| fori_loop(0, n, Expr::from(0), |i, total| total + i));
        for (n, expected) in [(2, 1.0), (3, 3.0), (4, 6.0)] {
            is(&f(&Array::from(n)), &[expected]);
        }
    }),
    same("testForiLoopClosure", || {
        let f = jit(|n: Expr| fori_loop(0, n, Expr::from(0), |i, total| n + total + i));
        for (n, expected) in [(2, 5.0), (3, 12.0), (4, 22.0)] {
            is(&f(&Array::from(n)), &[expected]);
        }
    }),
    same("testForiLoopTupleState", || {
        let x = data(&[10]);
        for n in [0, 5, 10, 15] {
            near(&jit(first)(&x, &Array::from(n)), &[f64s(&x)[..n.min(10) as usize].iter().sum()]);
        }
    }),
    same("testForiLoopEmptyTupleInState", || {
        let f = jit(|x: Expr| fori_loop(0, 3, (x, ((), x)), |i, (x, ((), y))| (y, ((), x + i))).0);
        is(&f(&Array::from(1)), &[2.0]);
    }),
    same("testForiLoopIssue8152", || {
        is(&jit(|x: Expr| fori_loop(0, 0, x, |i, x| x + i))(&number(1.0)), &[1.0]);
        let f = jit(|xs: Expr| scan(|c: Expr, x: Expr| (c + x, c + x), Expr::from(0.0), xs));
        let (last, all) = f(&Array::from(Vec::<f64>::new()));
        is(&last, &[0.0]);
        is(&all, &[]);
    }),
    same("testCond", || {
        for x in 0..5 {
            let (a, b) = jit(doubled)(&Array::from(x));
            let expected = if x < 3 { [x, x] } else { [2 * x, 4 * x] }.map(f64::from);
            is(&a, &expected[..1]);
            is(&b, &expected[1..]);
        }
    }),
    same("testCondTwoOperands", || {
        let f = jit(|x: Expr| cond(x.eq(0), |(x, y)| x + y, |(x, y): (Expr, Expr)| x * y, (x, x)));
        is(&f(&Array::from(0)), &[0.0]);
        is(&f(&Array::from(3)), &[9.0]);
    }),
    same("testCondThreeOperands", || {
        let all = |(x, y, z): (Expr, Expr, Expr)| x * y * z;
        let f = jit(move |x: Expr| cond(x.eq(0), |(x, y, z)| x + y + z, all, (x, x, x)));
        is(&f(&Array::from(0)), &[0.0]);
        is(&f(&Array::from(3)), &[27.0]);
    }),
    same("testSwitch", || {
        let f = jit(|x: Expr| switch(x, [|x| x, |x| x * 2, |x| -x], x));
        for (x, expected) in [(-1, -1.0), (0, 0.0), (1, 2.0), (2, -2.0), (3, -3.0)] {
            is(&f(&Array::from(x)), &[expected]);
        }
    }),
    same("testIssue1379", || {
        let f = |p: Expr| cond(p, |x| (Expr::from(true), x), |x| (Expr::from(false), x), p);
        for (number, expected) in [(Array::from(0), 0.0), (number(0.0), 0.0), (Array::from(1), 1.0), (number(1.0), 1.0)]
        {
            let (truth, x) = jit(f)(&number);
            assert_eq!(truth.dtype(), DType::Bool);
            is(&truth, &[expected]);
            is(&x, &[expected]);
        }
        refused(jit(f).call((&Array::from([1, 2]),)), ErrorCode::Shape, "a condition of shape [2]");
    }),
    same("testNestedCond", || {
        let f = jit(|x: Expr| {
            cond(
                x.lt(2),
                |x| x * 2,
                |x| cond(x.lt(5), |(x, _)| x * 3, |(x, y): (Expr, Expr)| x * y, (x, Expr::from(4))),
                x,
            )
        });
        for (x, expected) in [(1, 2.0), (3, 9.0), (6, 24.0)] {
            is(&f(&Array::from(x)), &[expected]);
        }
    }),
    differs("testCondOneBranchConstant", Why::Types, || {
        let f = jit(|x: Expr| cond(x.lt(3), |_: Expr| Expr::from(5), |x| x, x));
        refused(f.call((&Array::from(0),)), ErrorCode::DType, "branches give the same dtypes");
        let f = jit(|x: Expr| cond(x.lt(3), |x: Expr| zeros_like(x) + 5, |x| x, x));
        is(&f(&Array::from(0)), &[5.0]);
        is(&f(&Array::from(4)), &[4.0]);
    }),
    differs("testCondOneBranchConstantTuple", Why::Types, || {
        let constants = |x: Expr| (zeros_like(x) + 1, Expr::from(2.0), Expr::from(3.0));
        let f = jit(move |x: Expr| cond(x.lt(3), constants, |x| (x, Expr::from(2.0), Expr::from(4.0)), x));
        for (x, [a, c]) in [(0, [1.0, 3.0]), (4, [4.0, 4.0])] {
            let found = f(&Array::from(x));
            is(&found.0, &[a]);
            is(&found.1, &[2.0]);
            is(&found.2, &[c]);
        }
    }),
    same("testCondBatched", || {
        let f = |x: Expr, y: Expr, z: Expr| cond(x.lt(3), |(y, _)| y, |(_, z): (Expr, Expr)| -z, (y, z));
        let (y, z, five) = (Array::from([1, 2]), Array::from([3, 4]), Array::from(5));
        is(&jit(vmap(f, (Same, 0, 0)))(&Array::from(2), &y, &z), &[1.0, 2.0]);
        is(&jit(vmap(f, (Same, 0, 0)))(&Array::from(4), &y, &z), &[-3.0, -4.0]);
        is(&jit(vmap(f, (Same, 0, Same)))(&Array::from(4), &y, &five), &[-5.0, -5.0]);
        is(&jit(vmap(f, (0, 0, Same)))(&Array::from([2, 4]), &y, &five), &[1.0, -5.0]);
        is(&jit(vmap(f, 0))(&Array::from([2, 4]), &y, &z), &[1.0, -4.0]);
    }),
    same("testSwitchBatched", || {
        let f = |i: Expr, y: Expr, z: Expr| {
            let last = |(y, z): (Expr, Expr)| {
                cond(i.eq(1), |(_, z): (Expr, Expr)| -z, |_| sign(Expr::from(9)) + z - z, (y, z))
            };
            cond(i.le(0), |(y, _)| y, last, (y, z))
        };
        let (y, z) = (Array::from([1, 2]), Array::from([3, 4]));
        is(&jit(vmap(f, (Same, 0, 0)))(&Array::from(0), &y, &z), &[1.0, 2.0]);
        is(&jit(vmap(f, (Same, 0, 0)))(&Array::from(1), &y, &z), &[-3.0, -4.0]);
        is(&jit(vmap(f, (0, 0, Same)))(&Array::from([0, 1]), &y, &Array::from(5)), &[1.0, -5.0]);
        is(&jit(vmap(f, 0))(&Array::from([0, 2]), &y, &z), &[1.0, 1.0]);
    }),
    same("testCondJit", || {
        let f = jit(|x: Expr| cond(x.lt(2), |x| x * 3, |x| sin(x), x));
        near(&f(&number(1.0)), &[3.0]);
        near(&f(&number(4.0)), &[4f64.sin()]);
    }),
    same("testCondWithConsts", || {
        let f = jit(|x: Expr| cond(x.lt(2), |x| x * array([1.0, 2.0]), |x| sin(x) * array([3.0, 4.0]), x));
        near(&f(&number(1.0)), &[1.0, 2.0]);
        near(&f(&number(4.0)), &[3.0 * 4f64.sin(), 4.0 * 4f64.sin()]);
    }),
    same("testIssue514", || {
        let f = jit(|x: Expr| cond(x.eq(x), |(x, _)| x, |(_, y): (Expr, Expr)| y, (x, x + 1)));
        is(&f(&Array::from(0)), &[0.0]);
    }),
    same("testIssue649", || {
        let f = jit(|a: Expr, b: Expr| while_loop((a, b), |(_, b)| b.lt(10), |(a, b)| (zeros_like(a) + 7, b + 1)));
        let (a, b) = f(&Array::from(33), &Array::from(4));
        is(&a, &[7.0]);
        is(&b, &[10.0]);
    }),
    same("testScanImpl", || {
        let (c, xs) = (data(&[4]), drawn(&[5, 3], 1));
        let (last, all) = jit(|c: Expr, xs: Expr| scan(step, c, xs))(&c, &xs);
        let (by_hand, all_by_hand) = jit(written)(&c, &xs);
        near(&last, &f64s(&by_hand));
        near(&all, &f64s(&all_by_hand));
    }),
    same("testScanVmap", || {
        all_lanes(|c, xs| scan(step, c, xs).0, &[4], &[5, 3]);
        all_lanes(|c, xs| scan(step, c, xs).1, &[4], &[5, 3]);
    }),
    same("testScanVmapTuples", || {
        let body = |(c, d): (Expr, Expr), (a, b): (Expr, Expr)| {
            ((c * sin(sum(a * b, ..)), d * cos(sum(a, ..))), sum(cos(a), ..) * sum(d * b, ..))
        };
        all_lanes(move |c, xs| scan(body, (c, sum(c, ..)), (xs.slice((.., 0)), xs)).1, &[2], &[3, 4]);
    }),
    same("testScanVmapFixpoint", || {
        let f = |last: Expr| {
            let shifted = |c: [Expr; 4], _: Expr| ([c[1], c[2], c[3], zeros_like(c[3])], ());
            let number = |x: f64| zeros_like(last) + x;
            scan(shifted, [number(0.0), number(1.0), number(2.0), last], Expr::from(&ndjit::zeros([2]))).0
        };
        let found = jit(vmap(f, 0))(&array([3.0, 4.0, 5.0]));
        for (found, expected) in found.iter().zip([[2.0; 3], [3.0, 4.0, 5.0], [0.0; 3], [0.0; 3]]) {
            is(found, &expected);
        }
    }),
    same("testMap", || {
        let f = jit(|xs: Expr| scan(|(), x: Expr| ((), x * x), (), xs).1);
        is(&f(&arange(10)), &[0.0, 1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0, 81.0]);
    }),
    same("testMapEmpty", || {
        let f = jit(|xs: Expr| scan(|(), x: Expr| ((), x * x), (), xs).1);
        is(&f(&Array::from(Vec::<f64>::new())), &[]);
    }),
    differs("testScanLengthArg", Why::Slices, || {
        let f = jit(|n: Expr| scan(|c: Expr, ()| (c + 1, c), n, ()).1);
        refused(f.call((&Array::from(0),)), ErrorCode::Shape, "`fori_loop` repeats without slices");
    }),
    differs("test_scan_xs_none", Why::Slices, || {
        is(&jit(|x: Expr| fori_loop(0, 20, x, |_, x| x + 1))(&Array::from(0)), &[20.0]);
    }),
    same("test_scan_reverse", || {
        let x = Array::from([3, 1, 4, 1, 5, 9]);
        let body = |c: Expr, x: Expr| (c + x, c + x);
        is(&jit(move |x: Expr| scan(body, Expr::from(0), x).1)(&x), &f64s(&cumulative_sum(&x, 0)));
        is(&jit(move |x: Expr| scan_reversed(body, Expr::from(0), x).1)(&x), &[23.0, 20.0, 19.0, 15.0, 14.0, 9.0]);
    }),
    same("test_vmaps_of_while_loop", || {
        let f = |x: Expr, n: Expr| fori_loop(0, n, x, |_, x| x + 1);
        let found = jit(vmap(vmap(f, (Same, 0)), (0, Same)))(&arange(3), &arange(4));
        is(&found, &[0.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0, 2.0, 3.0, 4.0, 5.0]);
    }),
    same("test_disable_jit_while_loop_with_mutation", || {
        let f = jit(|x: Expr| while_loop((x, x), |(x, _)| x.lt(10), |(x, y)| (x + 1, y + x + 1)).1);
        is(&f(&number(1.0)), &[55.0]);
    }),
    same("test_scan_init_weak_type", || {
        for dtype in INTS {
            let x = ones([5]).cast(dtype);
            let (last, all) = jit(|xs: Expr| scan(|c: Expr, x: Expr| (c + x, x), Expr::from(0), xs))(&x);
            assert_eq!((last.dtype(), all.dtype()), (dtype, dtype));
            is(&last, &[5.0]);
        }
    }),
    same("test_while_loop_init_weak_type", || {
        for dtype in INTS {
            let f = jit(|by: Expr| while_loop(Expr::from(0), |x| x.lt(2), |x| x + by));
            let found = f(&Array::from(1).cast(dtype));
            assert_eq!(found.dtype(), dtype);
            is(&found, &[2.0]);
        }
    }),
    same("test_while_loop_fixed_point_with_batched_pred_and_consts", || {
        let f = |i: Expr, x: Expr| while_loop((i, x * 0.0 + 1.0), |(i, _)| i.lt(5), |(i, z)| (i + 1, z + x)).1;
        let found = jit(vmap(f, (0, 1)))(&arange(4), &ones([3, 4]));
        is(&found, &[6.0, 6.0, 6.0, 5.0, 5.0, 5.0, 4.0, 4.0, 4.0, 3.0, 3.0, 3.0]);
    }),
    differs("test_cond_vmap_forwarding_doesnt_promote", Why::Lanes, || {
        let f = |x: Expr, y: Expr| cond(x.lt(3), |(x, y)| (x * 2, y), |(x, y): (Expr, Expr)| (x * 3, y), (x, y));
        let (x, y) = jit(vmap(f, (0, Same)))(&arange(4), &number(3.0));
        is(&x, &[0.0, 2.0, 4.0, 9.0]);
        is(&y, &[3.0; 4]);
    }),
    differs("test_while_readonly_carry_optimization", Why::Lanes, || {
        let f = |w: Expr, x: Expr, most: Expr| {
            let next = |(c, x, w): (Expr, Expr, Expr)| (c + 1, matmul(x, w), w);
            while_loop((Expr::from(0), x, w), |(c, _, _)| c.lt(most), next)
        };
        let (_, x, w) = jit(vmap(f, (Same, 0, 0)))(&ones([2, 2]), &ones([4, 2]), &arange(4));
        is(&x, &[1.0, 1.0, 2.0, 2.0, 4.0, 4.0, 8.0, 8.0]);
        is(&w, &[1.0; 16]);
    }),
    same("test_cond_casting", || {
        let found = jit(|x: Expr| cond(x.eq(x), |x| x, |x| x, x)).call((1.0,)).unwrap();
        is(&found, &[1.0]);
    }),
];

#[test]
fn loops_and_branches_are_those_of_jax() {
    super::run(CASES);
}
