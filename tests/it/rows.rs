//! Rows at traced indices: read and stored in place, against the interpreter, for indices in and out of bounds.

use ndjit::{Array, DType, Expr, NewAxis, Stage, arange, fori_loop, jit, sum, take, where_, while_loop, zeros_like};

fn matrix(n: usize, m: usize) -> Array {
    let element = |i: usize| ((i * 7919 % 1013) as f64) / 1000.0 - 0.4;
    Array::from((0..n * m).map(element).collect::<Vec<f64>>()).reshape([n, m])
}

fn bits(x: &Array) -> Vec<u64> {
    x.to_vec::<f64>().unwrap().iter().map(|x| x.to_bits()).collect()
}

/// The results of a function of two matrices and an index: the interpreter's, fused and not, on one thread and two.
fn checked(f: fn(Expr, Expr, Expr) -> Expr, x: &Array, y: &Array, index: &Array) -> Array {
    let expected = jit(f).interpreted(true).call((x, y, index)).unwrap();
    for threads in [1, 2] {
        for fuse in [true, false] {
            let f = jit(f).threads(threads).fuse(fuse);
            assert_eq!(bits(&f.call((x, y, index)).unwrap()), bits(&expected), "{index} {threads} {fuse}");
        }
    }
    expected
}

const FUNCTIONS: [fn(Expr, Expr, Expr) -> Expr; 9] = [
    |x, y, i| take(x, i, 0) * take(y, i, 0) + 1,
    |x, _, i| take(x, i, 1) * 2,
    |x, y, i| sum(take(x, i, 0) * y, 1),
    // A row of a row, of a view, and of a computed array.
    |x, y, i| take(take(x, i, 0), i, 0) + y,
    |x, _, i| {
        take(x.slice((.., ndjit::step(-2))), i, 0).slice(1..) + take(x * x, i, 0).slice(ndjit::step(2)).slice(1..)
    },
    |x, y, i| x.at(i).set(take(y, i, 0) - 1),
    |x, y, i| x.at(i).add(take(y, 0, 0)) * x,
    // The updates read the updated row, and others.
    |x, _, i| x.at(i).set(take(x, i, 0) * 3 + take(x, 0, 0)),
    |x, _, i| x.at((i, i)).set(7).at((0, i)).add(0.25),
];

#[test]
fn rows_are_those_of_the_interpreter_at_every_index() {
    for (n, m) in [(1, 1), (3, 4), (5, 40), (40, 5), (130, 257)] {
        let (x, y) = (matrix(n, m), matrix(n, m) * 0.5);
        for f in FUNCTIONS {
            // The function of a square, with an index for both axes.
            for i in [0, 1, n as i64 - 1, n as i64, -1, -(n as i64), -(n as i64) - 1, 1000, i64::MAX, i64::MIN] {
                checked(f, &x, &y, &Array::from(i));
            }
        }
        for dtype in [DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32, DType::U64] {
            for i in [0, 1, 2, 127] {
                checked(FUNCTIONS[0], &x, &y, &Array::from(i).cast(dtype));
                checked(FUNCTIONS[5], &x, &y, &Array::from(i).cast(dtype));
            }
        }
        checked(FUNCTIONS[5], &x, &y, &Array::from(u64::MAX));
    }
}

#[test]
fn a_row_of_a_strided_argument_is_read_where_it_lies() {
    let whole = matrix(60, 80);
    let x = whole.slice((ndjit::step(-3), 5..45));
    let index = arange(10).cast(DType::I64).slice(3);
    for f in FUNCTIONS {
        checked(f, &x, &matrix(20, 40), &index);
    }
}

#[test]
fn an_index_that_is_computed_is_one_too() {
    checked(
        |x, y, i| take(x, ndjit::argmax(sum(y * y, 1), 0) + i, 0) * 2,
        &matrix(30, 50),
        &matrix(30, 50),
        &Array::from(-1),
    );
    checked(|x, y, i| y.at(i * i).set(take(x, i * 2, 0)), &matrix(30, 50), &matrix(30, 50), &Array::from(3));
    // An index from an array of indices.
    let order = |x: Expr, y: Expr, i: Expr| {
        let order = ndjit::argsort(x.slice((.., 0)), 0);
        take(y, take(order, i, 0), 0) + take(x, order.slice(2), 0)
    };
    checked(order, &matrix(30, 50), &matrix(30, 50), &Array::from(4));
}

/// Forward substitution: two kernels per step, which read rows of both sides in place, and store the unknown.
fn substituted(l: Expr, b: Expr) -> Expr {
    let step = |i: Expr, x: Expr| {
        let row = take(l, i, 0);
        x.at(i).set((take(b, i, 0) - sum(row * x, ..)) / take(row, i, 0))
    };
    fori_loop(0, 40, zeros_like(b), step)
}

#[test]
fn loops_read_and_store_rows_in_place() {
    let (l, b) = (matrix(40, 40) + 2.0, matrix(1, 40).reshape([40]));
    let expected = jit(substituted).interpreted(true).call((&l, &b)).unwrap();
    let f = jit(substituted);
    assert_eq!(bits(&f.call((&l, &b)).unwrap()), bits(&expected));
    let kernels = f.explain(Stage::Kernels).to_string();
    let body = kernels.split("for body").nth(1).unwrap();
    assert_eq!(body.matches("kernel [").count(), 2, "{kernels}");
    assert!(!body.contains("gather") && !body.contains("scatter"), "{kernels}");

    // An unused loop counter, a nested loop, and a row out of bounds.
    let powers = |x: Expr| {
        let next = |(i, x): (Expr, Expr)| (i + 1, x.at(i + 1).set(take(x, i, 0) * 1.5));
        while_loop((Expr::from(ndjit::strong(0i32)), x), |(i, _)| i.lt(45), next).1
    };
    let nested = |x: Expr| {
        fori_loop(0, 40, x, |i, x| fori_loop(0, i, x, |j, x| x.at(i).set(take(x, i, 0) - take(x, j, 0) * 0.5)))
    };
    let swapped = |x: Expr| {
        let step = |i: Expr, (x, y): (Expr, Expr)| (y.at(i).set(take(x, i + 1, 0)), x);
        let (x, y) = fori_loop(0, 39, (x, x * 2), step);
        x - y
    };
    for f in [powers as fn(Expr) -> Expr, nested, swapped] {
        let x = matrix(40, 33);
        let expected = jit(f).interpreted(true).call((&x,)).unwrap();
        assert_eq!(bits(&jit(f).call((&x,)).unwrap()), bits(&expected));
    }
}

#[test]
fn an_index_that_is_known_not_to_be_negative_is_not_counted_from_the_end() {
    let wraps = |f: fn(Expr) -> Expr| {
        let f = jit(f);
        f.call((&matrix(9, 9),)).unwrap();
        f.explain(Stage::Graph).to_string().matches("less").count()
    };
    assert_eq!(wraps(|x| fori_loop(0, 9, x, |i, x| x.at(i).set(take(x, i, 0)))), 0);
    assert_eq!(wraps(|x| fori_loop(1, 9, x, |i, x| x.at(i).set(take(x, i - 1, 0)))), 0);
    assert_eq!(wraps(|x| fori_loop(0, 9, x, |i, x| fori_loop(0, i, x, |j, x| x.at((i, j)).set(0)))), 0);
    assert_eq!(wraps(|x| fori_loop(0, 9, x, |i, x| take(x, i - 1, 0) + x)), 1);
    let last = jit(|x: Expr| fori_loop(0, 1, x, |i, x| take(x, i - 1, 0) + zeros_like(x)));
    assert_eq!(bits(&last.call((&matrix(3, 2),)).unwrap())[..2], bits(&matrix(3, 2))[4..]);
}

#[test]
fn reductions_of_prefixes_end_with_them_and_change_no_bit() {
    let reductions: [fn(Expr, Expr) -> Expr; 9] = [
        |x, n| x.prefix(n, 1, 0).sum(1),
        |x, n| x.prefix(n, 1, -0.0).sum(1),
        |x, n| (x * -0.0).prefix(n, 1, 0).sum(1),
        |x, n| x.prefix(n, 0, 1).prod(0),
        |x, n| x.prefix(n, 1, f64::NEG_INFINITY).max(1),
        |x, n| x.prefix(n, 0, f64::INFINITY).min(0),
        |x, n| x.prefix(n, 1, 3).sum(1),
        |x, n| (x * x).prefix(n, 1, 0).sum(..) + (x * 2).prefix(n + 1, 0, 0).sum(0),
        |x, n| (1 / x).prefix(n, -1, 0).sum(ndjit::keepdims(1)) + (1 / x).prefix(n, -1, 0).max(ndjit::keepdims(1)),
    ];
    for (rows, columns) in [(1, 1), (3, 5), (7, 400), (300, 33), (2, 9000)] {
        let x = matrix(rows, columns);
        for f in reductions {
            let of_index = move |x: Expr, _: Expr, n: Expr| f(x, n);
            for n in [i64::MIN, -1, 0, 1, 2, 16, 17, 128, 129, columns as i64, columns as i64 + 1, i64::MAX] {
                let n = Array::from(n);
                let expected = jit(of_index).interpreted(true).call((&x, &x, &n)).unwrap();
                for threads in [1, 2] {
                    let made = jit(of_index).threads(threads).call((&x, &x, &n)).unwrap();
                    assert_eq!(bits(&made), bits(&expected), "{rows} {columns} {n}");
                }
            }
        }
    }
    // Indices of other dtypes, and lengths of other dtypes.
    let f = jit(|x: Expr, n: Expr| x.prefix(n, 0, 0).sum(..));
    for dtype in [DType::I8, DType::U16, DType::I64, DType::F16, DType::F32, DType::C128] {
        for count in [DType::I8, DType::U8, DType::U64] {
            let sum = f.call((&arange(50).cast(dtype), &Array::from(10).cast(count))).unwrap();
            assert_eq!(sum.cast(DType::F64).item::<f64>().unwrap(), 45.0, "{dtype} {count}");
        }
    }
}

#[test]
fn rows_that_nothing_uses_are_not_computed_and_change_no_bit() {
    let rows = |x: Expr| Expr::from(arange(x.shape().extents()[0]));
    // Each with the range of the rows.
    type Use = (fn(Expr, Expr, Expr) -> Expr, &'static str);
    let uses: [Use; 8] = [
        (|x, r, k| where_(r.ge(k), (x * x).sum(1), 0), "; i0 from %1\n"),
        (|x, r, k| where_(r.le(k), 0, (x * x).sum(1)), "; i0 from %1 + 1"),
        (|x, r, k| where_(k.gt(r + 2), (x * x).sum(1) * 2 + 1, r), "; i0 to %1 + -2"),
        // An index that may count from the end: any row.
        (|x, _, k| take((x * x).sum(1), k, 0), ""),
        (|x, r, k| (x.sum(1) / take(x.sum(1), k, 0)).at(r).set(0) + where_(r.lt(k), x.sum(1), 0), ""),
        (
            |x, r, k| {
                let column = (x * x).sum(1);
                where_(r.ge(k), column / take(column, k, 0), 0)
            },
            "",
        ),
        (
            |x, r, k| {
                where_(r.ge(k).logical_and(r.lt(k + 3)).at((.., NewAxis)).get(), x.cumulative_sum(1).sort(0), 0).sum(1)
            },
            "",
        ),
        (
            |x, r, k| where_(r.ge(k).at((.., NewAxis)).get(), x * x.sum(1).at((.., NewAxis)).get(), 0).sum(1),
            "; i0 from %1\n",
        ),
    ];
    for (f, range) in uses {
        let whole = move |x: Expr, k: Expr| f(x, rows(x), k);
        for (rows, columns) in [(1, 1), (3, 5), (40, 33), (700, 900), (5, 2000)] {
            let x = matrix(rows, columns);
            for k in [i64::MIN, -1, 0, 1, 2, rows as i64 - 1, rows as i64, i64::MAX] {
                let k = Array::from(k);
                let expected = jit(whole).interpreted(true).call((&x, &k)).unwrap();
                for threads in [1, 2] {
                    let made = jit(whole).threads(threads);
                    assert_eq!(bits(&made.call((&x, &k)).unwrap()), bits(&expected), "{rows} {columns} {k}");
                    let text = made.explain(Stage::Loops).to_string();
                    assert!(rows < 3 || text.contains(range), "{range}: {text}");
                }
            }
        }
    }
    // In the steps of a loop: a factorisation, and a substitution from below.
    let eliminated = |x: Expr| {
        let rows = Expr::from(arange(40));
        let step = |k: Expr, l: Expr| {
            let column = take(l, k, 1) - (l * take(l, k, 0)).prefix(k, 1, 0).sum(1);
            l.at((.., k)).set(where_(rows.ge(k), column / (take(column, k, 0).abs() + 1), 0))
        };
        fori_loop(0, 40, x, step)
    };
    let substituted = |x: Expr| {
        let rows = Expr::from(arange(40));
        let step = |i: Expr, y: Expr| {
            let k = 39 - i;
            let rest = where_(rows.gt(k), y * take(x, k, 0), 0).sum(..);
            y.at(k).set((take(y, k, 0) - rest) / 2)
        };
        fori_loop(0, 40, take(x, 0, 1), step)
    };
    for f in [eliminated as fn(Expr) -> Expr, substituted] {
        let x = matrix(40, 40);
        let expected = jit(f).interpreted(true).call((&x,)).unwrap();
        assert_eq!(bits(&jit(f).call((&x,)).unwrap()), bits(&expected));
    }
    let f = jit(eliminated);
    f.call((&matrix(40, 40),)).unwrap();
    let text = f.explain(Stage::Loops).to_string();
    assert!(text.contains("; i0 from %"), "{text}");
}

#[test]
fn a_prefix_that_is_none_is_an_error_that_says_so() {
    let x = matrix(2, 3);
    let message = |made: Array| made.eval().unwrap_err().to_string();
    assert!(message(x.prefix(1.5, 0, 0)).contains("a length is an integer"), "{}", message(x.prefix(1.5, 0, 0)));
    assert!(message(x.prefix(Array::from([1, 2]), 0, 0)).contains("a length of shape [2]"));
    assert!(message(x.prefix(1, 2, 0)).contains("axis"));
    assert!(message(Array::from(1.0).prefix(1, 0, 0)).contains("axis"));
}
