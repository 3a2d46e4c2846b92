//! Branches and loops in traced functions: results, single compilation, and errors.

use ndjit::{Array, DType, ErrorCode, Expr, arange, cond, fori_loop, jit, scan, sum, while_loop, zeros_like};
use std::cell::Cell;

#[test]
fn a_loop_repeats_while_its_condition_holds() {
    // Collatz: the number of steps to 1.
    let steps = jit(|n: Expr| {
        let (_, steps) = while_loop(
            (n, zeros_like(n)),
            |(n, _)| n.ne(1),
            |(n, steps)| (ndjit::where_((n % 2).eq(0), n / 2, n * 3 + 1), steps + 1),
        );
        steps
    });
    assert_eq!(steps(&Array::from(27.0)).item::<f64>().unwrap(), 111.0);
    assert_eq!(steps(&Array::from(1.0)).item::<f64>().unwrap(), 0.0);
}

#[test]
fn bodies_use_what_is_around_them() {
    let k = Array::from([10.0f32, 20.0]);
    let f = jit(move |x: Expr, n: Expr| {
        let twice = x * 2;
        fori_loop(0, n, zeros_like(x), |i, sum| sum + twice + &k * ndjit::cast(i, DType::F32))
    });
    let y = f(&Array::from([1.0f32, 2.0]), &Array::from(3));
    assert_eq!(y.to_vec::<f32>().unwrap(), [36.0, 72.0]);
    assert_eq!(f(&Array::from([1.0f32, 2.0]), &Array::from(0)).to_vec::<f32>().unwrap(), [0.0, 0.0]);
}

#[test]
fn loops_stand_in_loops() {
    let f = jit(|x: Expr| fori_loop(0, 3, x, |i, x| fori_loop(0, i, x, |j, x| x + i * 10 + j)));
    let mut expected = 1;
    for i in 0..3 {
        for j in 0..i {
            expected += i * 10 + j;
        }
    }
    assert_eq!(f(&Array::from(1)).item::<i32>().unwrap(), expected);
}

#[test]
fn a_branch_is_taken() {
    let f = jit(|x: Expr, y: Expr| {
        cond(sum(x, ..).gt(y), |(x, y)| (x + y, y), |(x, y): (Expr, Expr)| (zeros_like(x), y - 1), (x, y))
    });
    let x = Array::from([1, 2, 3]);
    let (a, b) = f(&x, &Array::from(5));
    assert_eq!((a.to_vec::<i32>().unwrap(), b.item::<i32>().unwrap()), (vec![6, 7, 8], 5));
    let (a, b) = f(&x, &Array::from(6));
    assert_eq!((a.to_vec::<i32>().unwrap(), b.item::<i32>().unwrap()), (vec![0, 0, 0], 5));
    let by_number = jit(|n: Expr| cond(n, |n| n + 10, |n| n - 10, n));
    assert_eq!(by_number(&Array::from(2)).item::<i32>().unwrap(), 12);
    assert_eq!(by_number(&Array::from(0)).item::<i32>().unwrap(), -10);
}

#[test]
fn a_scan_stacks() {
    let f = jit(|x: Expr, k: Expr| {
        scan(|carry: Expr, row: Expr| (carry + sum(row, ..), row * k + carry), Expr::from(0), x)
    });
    let x = arange(6).reshape([3, 2]);
    let (last, all) = f(&x, &Array::from(10));
    assert_eq!(last.item::<i32>().unwrap(), 15);
    assert_eq!(all.to_string(), "[[ 0 10]\n [21 31]\n [46 56]]");
    let (last, all) = f(&x.slice(..0), &Array::from(10));
    assert_eq!((last.item::<i32>().unwrap(), all.shape().extents()), (0, &[0, 2][..]));
    // A scatter into an array without rows.
    let put = jit(|x: Expr, n: Expr| x.at(n).add(1));
    assert_eq!(put(&x.slice(..0), &Array::from(0)).shape().extents(), [0, 2]);
}

#[test]
fn arguments_may_lie_in_any_order() {
    let f = jit(|x: Expr, y: Expr| fori_loop(0, 2, x, |_, x| x + y));
    let x = arange(6).reshape([2, 3]);
    let y = arange(6).reshape([3, 2]);
    let sum = f(&x.matrix_transpose(), &y);
    assert_eq!(sum.to_vec::<i32>().unwrap(), [0, 5, 5, 10, 10, 15]);
    let g = jit(|x: Expr| fori_loop(0, 2, x.matrix_transpose(), |_, x| x * 2));
    assert_eq!(g(&x).to_vec::<i32>().unwrap(), [0, 12, 4, 16, 8, 20]);
    let h = jit(|n: Expr| fori_loop(0, n, arange(3) + zeros_like(n), |_, x| x + 1));
    assert_eq!(h(&Array::from(4)).to_vec::<i32>().unwrap(), [4, 5, 6]);
}

#[test]
fn a_loop_keeps_the_types_of_its_state() {
    let refused = |f: fn(Expr) -> Expr| jit(f).call((&Array::from([1, 2]),)).unwrap_err();
    let error = refused(|x| fori_loop(0, 3, (x, x), |_, (a, b)| (a, b * 0.5)).0);
    assert_eq!(
        (error.code(), error.headline()),
        (ErrorCode::DType, "fori_loop: leaf 1 of the state is i32, the body gives f*")
    );
    assert!(error.place().is_some() && error.help_text().is_some());
    assert_eq!(
        error.help_text(),
        Some(
            "a loop keeps the dtypes of its state: begin with a leaf of the body's, as in `cast(x, DType::F32)`, or cast what the body gives, as in `cast(y, DType::I32)`"
        )
    );
    let error = refused(|_| fori_loop(0, 3, Expr::from(0), |_, s| s * 0.5));
    assert_eq!(
        error.help_text(),
        Some(
            "a loop keeps the dtypes of its state; begin with a float, `Expr::from(0.0)`, in place of `Expr::from(0)`"
        )
    );
    let error = refused(|x| while_loop(x, |x| sum(x, ..).lt(9), |x| sum(x, ..)));
    assert_eq!(error.headline(), "while_loop: leaf 0 of the state is shape [2], the body gives shape []");
    let error = refused(|x| while_loop(x, |x| x.lt(9), |x| x + 1));
    assert_eq!(error.headline(), "while_loop: a condition of shape [2]");
    let error = refused(|x| while_loop(x, |x| sum(x, ..), |x| x - 1));
    assert_eq!((error.code(), error.headline()), (ErrorCode::DType, "while_loop: a condition of type i32"));
    let error = refused(|x| cond(x.gt(0), |x| x, |x| x, x));
    assert_eq!(error.headline(), "cond: a condition of shape [2]");
    let error = refused(|x| cond(sum(x, ..).gt(0), |x| x, |x| x * 0.5, x));
    assert_eq!(error.headline(), "cond: leaf 0 is i32 if true, f* if false");
    let error = refused(|x| fori_loop(0, 1.5, x, |_, x| x));
    assert_eq!(error.headline(), "fori_loop: `end` is of type f*");
    // A body's variables end with it.
    let error = refused(|x| {
        let mut kept = None;
        let y = fori_loop(0, 3, x, |i, x| x + i);
        let stolen = Cell::new(None);
        let z = fori_loop(0, 3, x, |i, x| {
            stolen.set(Some(i));
            x
        });
        kept = kept.or(stolen.get());
        y + z + kept.unwrap()
    });
    assert_eq!(error.code(), ErrorCode::Traced);
}

#[test]
fn weak_numbers_take_the_type_of_the_body() {
    let f = jit(|x: Expr| fori_loop(0, 3, Expr::from(0.0), |_, total| total + sum(x, ..)));
    let y = f(&Array::from([1.0f64, 2.0]));
    assert_eq!((y.dtype(), y.item::<f64>().unwrap()), (DType::F64, 9.0));
}

/// A scan with a weak initial state gives the results of the unrolled steps, for every dtype that the scalar meets.
#[test]
fn a_scan_that_begins_with_a_number_is_its_steps() {
    let looped = jit(|x: Expr| scan(|s: Expr, e: Expr| (s + e, (s, s * e)), Expr::from(0), x));
    let written = jit(|x: Expr| {
        let first = ndjit::zeros_like(x.slice(0));
        let second = first + x.slice(0);
        let third = second + x.slice(1);
        let before = [first, second, third];
        let times: Vec<Expr> = (0..3).map(|n| before[n as usize] * x.slice(n)).collect();
        (third + x.slice(2), (ndjit::stack(before, 0), ndjit::stack(times, 0)))
    });
    let x = Array::from([0.5f64, 1.5, 2.0f64.sqrt()]);
    for dtype in DType::ALL.into_iter().filter(|&dtype| dtype != DType::Bool) {
        let x = match dtype.is_complex() {
            true => ndjit::cast(&x, dtype) * ndjit::Complex::new(0.3, 0.7),
            false => ndjit::cast(&x * 2, dtype),
        };
        let ((last, (before, times)), (own, (own_before, own_times))) = (looped(&x), written(&x));
        for (scanned, own) in [(last, own), (before, own_before), (times, own_times)] {
            assert_eq!((scanned.dtype(), scanned.to_string()), (dtype, own.to_string()));
        }
    }
    // One leaf makes another strong.
    let f =
        jit(|x: Expr| scan(|(a, b): (Expr, Expr), e: Expr| ((a + e, b + a), b), (Expr::from(0.0), Expr::from(0)), x).1);
    assert_eq!(f(&Array::from([0.1f64, 0.2, 0.3])).to_vec::<f64>().unwrap(), [0.0, 0.0, 0.1]);
}

/// A scalar that is an initial state or a loop bound fits or is an error, at trace time or call time.
#[test]
fn numbers_that_do_not_fit_a_state_or_an_index_are_errors() {
    let x = Array::from([1u8, 2]);
    let traced: [fn(Expr) -> Expr; 5] = [
        |x| fori_loop(0, 2, Expr::from(300), |_, s| s + x.slice(0)),
        |x| while_loop((Expr::from(300), x), |(s, _)| s.gt(0), |(s, x)| (s + x.slice(0), x)).0,
        |x| scan(|s: Expr, e: Expr| (s + e, s), Expr::from(300), x).0,
        |x| fori_loop(x.slice(0), 300, x, |_, x| x),
        |x| fori_loop(300, x.slice(0), x, |_, x| x),
    ];
    for f in traced {
        let error = jit(f).call((&x,)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Literal, "{error}");
        assert!(error.headline().ends_with("literal 300 does not fit u8"), "{error}");
        assert!(error.place().is_some_and(|place| place.file.ends_with("tests/it/control.rs")), "{error}");
        assert!(error.facts().len() > 1 && error.help_text().is_some(), "{error}");
    }
    let f = jit(|x: Expr, k: Expr| fori_loop(0, 2, k, |_, s| s + x.slice(0)));
    assert_eq!(f.call((&x, 254)).unwrap().item::<u8>().unwrap(), 0);
    let (line, error) = (line!() - 2, f.call((&x, 300)).unwrap_err());
    assert_eq!((error.code(), error.place().unwrap().line), (ErrorCode::Literal, line), "{error}");
    assert!(error.to_string().contains("300 from argument 1"), "{error}");
    assert_eq!(
        error.help_text(),
        Some(
            "pass a number that u8 holds, or give the array, what the body gives, or the other bound a wider dtype, as i16"
        )
    );
    let alone = jit(|k: Expr| fori_loop(0, 3, k, |_, k| k + 1));
    let error = alone.call((3_000_000_000i64,)).unwrap_err();
    assert!(error.help_text().is_some_and(|help| help.contains("no array gives it a dtype")), "{error}");
    let error = jit(|x: Expr| fori_loop(0, 2_147_483_650i64, x, |_, x| x)).call((&x,)).unwrap_err();
    assert_eq!(error.headline(), "fori_loop: literal 2147483650 does not fit i32");
    let count = jit(|x: Expr, n: Expr| fori_loop(0, n, x, |_, x| x + 1));
    assert_eq!(count.call((&x, 3)).unwrap().to_vec::<u8>().unwrap(), [4, 5]);
    let inner = jit(|x: Expr, n: Expr| fori_loop(0, n, x, |_, x| x + 1));
    let called = jit(move |x: Expr, n: Expr| inner.inline((x, n)));
    for count in [count.call((&x, 2_147_483_650i64)), called.call((&x, 2_147_483_650i64))] {
        let error = count.unwrap_err();
        assert_eq!(error.headline(), "call: literal 2147483650 does not fit i32");
        assert!(error.facts().iter().any(|fact| fact.contains("it becomes i32 there")), "{error}");
    }
    // An explicit cast wraps, as anywhere.
    let f = jit(|x: Expr| fori_loop(0, 2, ndjit::cast(Expr::from(300), DType::U8), |_, s| s + x.slice(0)));
    assert_eq!(f(&x).item::<u8>().unwrap(), 46);
}

thread_local! {
    /// The number of traces of innermost bodies.
    static TRACED: Cell<usize> = const { Cell::new(0) };
}

/// `depth` nested loops, each with a scalar as initial state, which use the state of the enclosing one.
fn nest(depth: usize, x: Expr, around: Expr) -> Expr {
    if depth == 0 {
        TRACED.set(TRACED.get() + 1);
        return x + around;
    }
    fori_loop(0, 1, Expr::from(0.0), |_, s| s + sum(nest(depth - 1, x, s), ..))
}

/// The same with a branch in each body, and loops in the conditions.
fn mixed(depth: usize, x: Expr) -> Expr {
    if depth == 0 {
        TRACED.set(TRACED.get() + 1);
        return x;
    }
    match depth % 3 {
        0 => scan(|s: Expr, e: Expr| (s + sum(mixed(depth - 1, e), ..), e), Expr::from(0.0), x.reshape([1, -1])).0,
        1 => cond(sum(x, ..).gt(0), |x| sum(mixed(depth - 1, x), ..), |x| sum(x, ..), x),
        _ => while_loop(Expr::from(0.0), |s| s.lt(sum(mixed(depth - 1, x), ..)), |s| s + sum(x, ..)),
    }
}

/// Bodies are retraced for states with scalar initial values, also nested ones: each starts with its previous types.
#[test]
fn loops_within_loops_that_begin_with_numbers_are_traced_in_a_polynomial_of_their_depth() {
    let x = Array::from([1.0f64]);
    let traced = |f: fn(Expr) -> Expr| {
        TRACED.set(0);
        let y = jit(f).call((&x,)).unwrap();
        assert_eq!((y.dtype(), y.item::<f64>().unwrap()), (DType::F64, 1.0));
        TRACED.get()
    };
    // The innermost has the type of `x` at once, and each enclosing one is traced twice.
    assert!(traced(|x| nest(6, x, Expr::from(0.0))) <= 7);
    assert!(traced(|x| nest(30, x, Expr::from(0.0))) <= 31);
    assert!(traced(|x| mixed(30, x)) <= 31);
    // Types widened by another leaf of the enclosing loop are found.
    let f = jit(|y: Expr| {
        let inner = |s: Expr| fori_loop(0, 2, Expr::from(0), |_, t| t + s + sum(y, ..));
        fori_loop(0, 2, Expr::from(0), |_, s| inner(s).cast(DType::I64) + s)
    });
    let y = f(&Array::from([3i8]));
    assert_eq!((y.dtype(), y.item::<i64>().unwrap()), (DType::I64, 24));
    // A body may change its result type in each trace: an error ends that.
    let fickle = jit(|x: Expr| {
        fn fickle(depth: usize, x: Expr) -> Expr {
            TRACED.set(TRACED.get() + 1);
            match (depth, TRACED.get() % 2) {
                (0, _) => x,
                (_, 0) => fori_loop(0, 1, Expr::from(0.0), |_, s| s + sum(fickle(depth - 1, x), ..)),
                _ => fori_loop(0, 1, Expr::from(0.0), |_, s| s + sum(fickle(depth - 1, x), ..)),
            }
        }
        fickle(30, x)
    });
    let error = fickle.call((&x,)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Size, "{error}");
    assert!(error.help_text().is_some(), "{error}");
    // Loops in sequence are not nested loops.
    let f = jit(|x: Expr| (0..500).fold(x, |x, _| x + fori_loop(0, 0, Expr::from(0.0), |_, s| s + sum(x, ..))));
    assert_eq!(f(&x).item::<f64>().unwrap(), 1.0);
}

/// No value outside of traced functions carries the error, so it is printed: the output of the test below.
#[test]
fn control_flow_outside_of_functions_says_so() {
    let test = std::process::Command::new(std::env::current_exe().unwrap());
    let printed = { test }.args(["--exact", "control::outside_of_functions", "--nocapture"]).output().unwrap().stderr;
    let printed = String::from_utf8(printed).unwrap();
    let said = |part: &str| printed.matches(part).count();
    assert_eq!(said("error[traced]: control flow outside of a traced function"), 4, "{printed}");
    assert!(said("control.rs:") >= 4 && said("jit(|x: Expr| fori_loop(") == 4, "{printed}");
}

#[test]
fn outside_of_functions() {
    let x = Expr::from(&Array::from(1));
    let _ = fori_loop(0, 3, x, |_, x| x + 1);
    let _ = while_loop(x, |x| x.lt(3), |x| x + 1);
    let _ = cond(x.gt(0), |x| x + 1, |x| x - 1, x);
    let _ = scan(|sum: Expr, x: Expr| (sum + x, sum), x, Expr::from(&arange(3)));
}

/// A scan may stack nothing, and a state have no leaves.
#[test]
fn nothing_is_stacked() {
    let f = jit(|x: Expr| scan(|s: Expr, e: Expr| (s + e, ()), Expr::from(0), x).0);
    assert_eq!(f(&Array::from([1.5f64, 2.0])).item::<f64>().unwrap(), 3.5);
    let f = jit(|x: Expr| scan(|(), e: Expr| ((), e * 2), (), x).1);
    assert_eq!(f(&arange(3)).to_vec::<i32>().unwrap(), [0, 2, 4]);
    jit(|_: Expr| ()).call((&arange(3),)).unwrap();
}

/// A shift register of scalars makes one leaf strong with each trace of its body: an error beyond a limit.
#[test]
fn leaves_that_take_their_types_one_after_the_other_end() {
    let shifted = |leaves: usize| {
        jit(move |x: Expr| {
            fori_loop(0, 3, vec![Expr::from(0.0); leaves], |_, mut all: Vec<Expr>| {
                all.rotate_right(1);
                all[0] = x;
                all
            })
        })
    };
    let x = Array::from(0.1f64);
    let all = shifted(50).call((&x,)).unwrap();
    assert!(all.iter().take(3).all(|leaf| leaf.item::<f64>().unwrap() == 0.1) && all[3].item::<f64>().unwrap() == 0.0);
    let error = shifted(5000).call((&x,)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Size, "{error}");
    assert!(error.help_text().is_some(), "{error}");
}

/// Lists of a state and of branches have fixed lengths: leaves do not move between them.
#[test]
fn lists_keep_their_lengths() {
    type Lists = (Vec<Expr>, Vec<Expr>);
    let x = Array::from(1.0f32);
    let traced: [fn(Expr) -> Lists; 4] = [
        |x| cond(x.gt(0), |x| (vec![x], vec![x + 1, x + 2]), |x| (vec![x, x + 1], vec![x + 2]), x),
        |x| while_loop((vec![x], vec![x, x]), |_| Expr::from(false).cast(DType::Bool), |(a, b): Lists| (b, a)),
        |x| fori_loop(0, 2, (vec![x], vec![x, x]), |_, (a, b): Lists| (b, a)),
        |x| scan(|(a, b): Lists, _: Expr| ((b, a), x), (vec![x], vec![x, x]), x.reshape([1])).0,
    ];
    for f in traced {
        let error = jit(f).call((&x,)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Arity, "{error}");
        assert!(error.headline().contains("lists of other lengths"), "{error}");
    }
}

/// For a weak array without rows only the row types matter, which are weak.
#[test]
fn a_scan_of_no_weak_rows_has_the_types_of_one_of_some() {
    let f = jit(|s: Expr, n: Expr| scan(|s: Expr, e: Expr| (s + e, s), s, n));
    let s = Array::from(ndjit::f16::from_f32(1.0));
    for rows in [0, 1, 2] {
        let n = ndjit::broadcast_to(ndjit::asarray(1.5), [rows]);
        assert!(n.is_weak());
        let (last, all) = f.call((&s, &n)).unwrap();
        assert_eq!((last.dtype(), all.dtype(), all.len()), (DType::F16, DType::F16, rows));
    }
}

/// A state of many leaves is checked and stored once, not once per leaf.
#[test]
fn a_state_has_many_leaves() {
    let f = jit(|x: Expr| fori_loop(0, 2, vec![x; 2000], |i, all: Vec<Expr>| all.into_iter().map(|x| x + i).collect()));
    let all: Vec<Array> = f.call((&Array::from(1.0f32),)).unwrap();
    assert!(all.len() == 2000 && all.iter().all(|x| x.item::<f32>().unwrap() == 2.0));
}

/// Stacked results are weak like those of a step.
#[test]
fn a_scan_stacks_weak_values_as_such() {
    let f = jit(|x: Expr| scan(|s: Expr, _: Expr| (s * 2.0 + 0.5, s), Expr::from(0.5), x));
    let (last, all) = f(&arange(3));
    assert_eq!((last.is_weak(), all.is_weak(), all.to_vec::<f32>().unwrap()), (true, true, vec![0.5, 1.5, 3.5]));
    let half = Array::from(ndjit::f16::ONE);
    assert_eq!(((last + &half).dtype(), (all + &half).dtype()), (DType::F16, DType::F16));
}

/// Errors and explanations of a body refer to its parameters as such, not as arguments of the function.
#[test]
fn what_a_body_is_given_is_no_argument() {
    let f = jit(|x: Expr, y: Expr| fori_loop(0, 2, x, move |_, a| a + y));
    let error = f.call((&Array::from([1.0f32; 3]), &Array::from([1.0f32; 2]))).unwrap_err().to_string();
    assert!(error.contains("f32[2] from around the body"), "{error}");
    let f = jit(|x: Expr, y: Expr| fori_loop(0, 3, y, |_, y| y + ndjit::concat([x, x, x], 0)));
    let error = f.call((&Array::from([1.0f32]), &Array::from([1i32, 2]))).unwrap_err().to_string();
    assert!(error.contains("i32[2] from a parameter of the body") && !error.contains("from argument"), "{error}");
}

/// The index has the common dtype of the bounds, so it reaches the end.
#[test]
fn an_index_reaches_the_end() {
    let large = i64::from(i32::MAX) + 2;
    let count = jit(|from: Expr, to: Expr| fori_loop(from, to, Expr::from(0), |_, n| n + 1));
    for (from, to) in [
        (Array::from(i32::MAX), Array::from(large)),
        (Array::from(large - 2), Array::from(large)),
        (Array::from(250u8), Array::from(252u32)),
        (Array::from(-2i8), Array::from(0u8)),
    ] {
        assert_eq!(count(&from, &to).item::<i32>().unwrap(), 2);
    }
    let to = jit(|to: Expr| fori_loop(-1, to, Expr::from(0), |i, n| n + i));
    assert_eq!((to(&Array::from(3i64)).dtype(), to(&Array::from(3i8)).item::<i8>().unwrap()), (DType::I64, 2));
    let error = count.call((&Array::from(0u64), &Array::from(3i64))).unwrap_err();
    assert_eq!(
        (error.code(), error.headline()),
        (ErrorCode::DType, "fori_loop: no integer dtype counts from u64 to i64")
    );
}

#[test]
fn a_body_is_compiled_once_and_puts_in_place() {
    let f = jit(|x: Expr, n: Expr| fori_loop(0, n, x, |i, x| x.at(i % 1000).add(1)));
    let x = ndjit::dtype(DType::I32).zeros(1_000_000);
    f.call((&x, &Array::from(2))).unwrap();
    let y = ndjit::no_recompile(|| f.call((&x, &Array::from(5000)))).unwrap();
    assert_eq!(sum(&y, ..).item::<i32>().unwrap(), 5000);
    assert_eq!(sum(&x, ..).item::<i32>().unwrap(), 0);
}

#[test]
fn a_new_size_compiles_no_kernel_of_the_function() {
    let f = jit(|x: Expr| fori_loop(0, 3, x * 2, |_, x| x + 1) * 3);
    f(&arange(3));
    let before = f.compile_count();
    assert_eq!(f(&arange(4)).to_vec::<i32>().unwrap(), [9, 15, 21, 27]);
    // Before and after the loop, the bounds, and the body.
    assert!((3..7).contains(&before), "{before}");
    assert_eq!(f.compile_count(), before);
}

#[test]
fn notes_of_the_typed_stage_say_something() {
    let f = jit(|x: Expr| while_loop((x, Expr::from(0)), |(_, n)| n.lt(3), |(x, n)| (x + 1, n + 1)));
    f(&arange(3));
    let text = f.explain(ndjit::Stage::Typed);
    assert!(text.contains("while") && !text.contains(";  "), "{text}");
    assert!(text.lines().all(|line| !line.trim_end().ends_with([';', '|'])), "{text}");
}

#[test]
fn engines_agree() {
    let f = jit(|x: Expr, n: Expr| {
        let (a, b) =
            fori_loop(0, n, (x, x * 0.5f32), |i, (a, b)| (ndjit::sin(a) + b, ndjit::cast(i, DType::F32) * a - b));
        (a * b, cond(sum(a, ..).gt(0), |a| ndjit::exp(a), |a| a * 2, a))
    });
    let x = ndjit::cast(arange(100), DType::F32) * 0.1f32;
    let n = Array::from(7);
    let expected = f(&x, &n);
    for options in 0..4 {
        let g = jit(|x: Expr, n: Expr| {
            let (a, b) =
                fori_loop(0, n, (x, x * 0.5f32), |i, (a, b)| (ndjit::sin(a) + b, ndjit::cast(i, DType::F32) * a - b));
            (a * b, cond(sum(a, ..).gt(0), |a| ndjit::exp(a), |a| a * 2, a))
        });
        let g = match options {
            0 => g.fuse(false),
            1 => g.threads(1),
            2 => g.vector(false),
            _ => g.interpreted(true),
        };
        let found = g(&x, &n);
        assert_eq!(found.0.to_vec::<f32>().unwrap(), expected.0.to_vec::<f32>().unwrap(), "{options}");
        assert_eq!(found.1.to_vec::<f32>().unwrap(), expected.1.to_vec::<f32>().unwrap(), "{options}");
    }
}

/// Scalars in a body behave as outside: exact until they meet an array.
#[test]
fn numbers_stay_exact_in_bodies() {
    let (x, k) = (Array::from(1.0f64), 0.15);
    let f = jit(|x: Expr, k: Expr| fori_loop(0, 1, x, |_, x| x * k));
    assert_eq!(f.call((&x, k)).unwrap().item::<f64>().unwrap(), 0.15);
    let f = jit(|x: Expr, k: Expr| {
        while_loop((x, Expr::from(0)), |(x, _)| x.ge(k + x * 0.0 + 0.5), |(x, n)| (x * k, n + 1)).0
    });
    assert_eq!(f.call((&x, k)).unwrap().item::<f64>().unwrap(), 0.15);
    let f = jit(|x: Expr, k: Expr| cond(x.gt(0), |x| x * k, |x| x - k, x));
    assert_eq!(
        (
            f.call((&x, k)).unwrap().item::<f64>().unwrap(),
            f.call((&Array::from(-1.0), k)).unwrap().item::<f64>().unwrap()
        ),
        (0.15, -1.15)
    );
    // As an operand of the branches, and as a scalar argument of the function.
    let f = jit(|x: Expr, k: Expr| cond(x.gt(0), |(x, k)| x * k, |(x, k): (Expr, Expr)| x - k, (x, k)));
    assert_eq!(f.call((&x, k)).unwrap().item::<f64>().unwrap(), 0.15);
    let f = jit(|x: Expr| cond(x.gt(0), |(x, k)| x * k, |(x, k): (Expr, Expr)| x - k, (x, Expr::from(0.15))));
    assert_eq!(f(&x).item::<f64>().unwrap(), 0.15);
    // As a state too, in a function called by another.
    let powers = jit(|x: Expr, k: Expr| x + fori_loop(0, 3, k, |_, c| c * k));
    let f = jit(move |x: Expr| powers.inline((x, Expr::from(3))));
    assert_eq!(f(&x).item::<f64>().unwrap(), 1.0 + 81.0);
    // In loops in branches in loops.
    let f = jit(|x: Expr, k: Expr| {
        fori_loop(0, 1, x, |_, x| cond(x.gt(0), |x| fori_loop(0, 1, x, |_, x| x * k), |x| x, x))
    });
    assert_eq!(f.call((&x, k)).unwrap().item::<f64>().unwrap(), 0.15);
    // In functions called by bodies, and in their own bodies.
    let scale = jit(|x: Expr, k: Expr| fori_loop(0, 1, x, |_, x| x * k));
    let f = jit(move |x: Expr, k: Expr| fori_loop(0, 1, x, |_, x| scale.inline((x, k))));
    assert_eq!(f.call((&x, k)).unwrap().item::<f64>().unwrap(), 0.15);
    let f = jit(|x: Expr, k: Expr| scan(|sum: Expr, x: Expr| (sum + x * k, (x * k, x + k)), Expr::from(0.0), x));
    let (sum, (scaled, moved)) = f.call((&Array::from([1.0f64]), k)).unwrap();
    assert_eq!((sum.item::<f64>().unwrap(), scaled.to_vec::<f64>().unwrap()), (0.15, vec![0.15]));
    assert_eq!(moved.to_vec::<f64>().unwrap(), [1.15]);
    // The same function for each scalar: no compilation.
    let f = jit(|x: Expr, k: Expr| fori_loop(0, 2, x, |_, x| x * k));
    f.call((&x, 0.5)).unwrap();
    let (before, traces) = (f.compile_count(), f.trace_count());
    assert_eq!(f.call((&x, 0.1)).unwrap().item::<f64>().unwrap(), 0.1 * 0.1);
    assert_eq!((f.compile_count(), f.trace_count()), (before, traces));
}

#[test]
fn numbers_of_each_kind_stay_exact_in_bodies() {
    let large = 1_i64 << 40;
    let x = Array::from(1i64);
    let f = jit(|x: Expr, k: Expr| fori_loop(0, 1, x, |_, x| x + k));
    assert_eq!(f.call((&x, large)).unwrap().item::<i64>().unwrap(), large + 1);
    let f = jit(move |x: Expr| fori_loop(0, 1, x, |_, x| x + large));
    assert_eq!(f(&x).item::<i64>().unwrap(), large + 1);
    // Bounds are scalars too.
    let f = jit(|from: Expr, n: Expr| fori_loop(from, n, Expr::from(0), |_, sum| sum + 1));
    assert_eq!(f.call((&Array::from(large - 3), large)).unwrap().item::<i32>().unwrap(), 3);
    let z = ndjit::Complex::new(0.1, 0.2);
    let f = jit(|x: Expr, k: Expr| cond(ndjit::real(x).gt(0), |x| x * k, |x| x, x));
    assert_eq!(
        f.call((&Array::from(ndjit::Complex::new(1.0f64, 0.0)), z)).unwrap().item::<ndjit::Complex<f64>>().unwrap(),
        z
    );
    // A scalar that does not fit is an error, as outside.
    let f = jit(|x: Expr, k: Expr| fori_loop(0, 1, x, |_, x| x + k));
    let error = f.call((&Array::from(1i8), 300)).unwrap_err();
    assert_eq!((error.code(), error.headline()), (ErrorCode::Literal, "add: literal 300 does not fit i8"));
    assert_eq!(error.place().map(|place| place.line), Some(line!() - 3));
}
