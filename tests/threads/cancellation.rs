//! Cancelled runs end soon, with an error of their own, and nothing is the worse for it.

use super::{in_time, pool};
use ndjit::{
    Array, Cancellation, ErrorCode, Expr, arange, fori_loop, full, jit, matmul, scan, sort, strong, sum, while_loop,
    with_cancellation,
};
use std::thread;
use std::time::{Duration, Instant};

/// The time from a cancellation to the end of the run. The least of a few counts: others use this machine, too.
const SOON: Duration = Duration::from_millis(300);
const ATTEMPTS: usize = 5;

/// Begins `run`, which takes long, cancels it after a while, and returns the time until it ended.
fn cancelled(run: &(impl Fn() -> ndjit::Result<()> + Sync)) -> Duration {
    let cancellation = Cancellation::new();
    let (result, ended, asked) = thread::scope(|threads| {
        let asked = threads.spawn(|| {
            thread::sleep(Duration::from_millis(100));
            let asked = Instant::now();
            cancellation.cancel();
            asked
        });
        let result = with_cancellation(&cancellation, run);
        (result, Instant::now(), asked.join().unwrap())
    });
    let error = result.expect_err("it takes longer");
    assert_eq!(error.code(), ErrorCode::Cancelled, "{error}");
    ended.saturating_duration_since(asked)
}

#[track_caller]
fn ends_soon(what: &str, run: impl Fn() -> ndjit::Result<()> + Sync) {
    let mut least = Duration::MAX;
    for _ in 0..ATTEMPTS {
        least = least.min(cancelled(&run));
        if least < SOON {
            return;
        }
    }
    panic!("{what}: {least:?} after it was cancelled");
}

/// The steps of loops that take hours.
const STEPS: i64 = 1 << 40;

/// Takes tens of seconds with these elements.
fn heavy(x: Expr) -> Expr {
    (0..40).fold(x, |x, _| (x.sin() + 1.5).lgamma())
}

#[test]
fn long_kernels_end() {
    in_time(|| {
        let x = full([1 << 22], 0.5f64).eval().unwrap().clone();
        for threads in [1, 2] {
            let f = jit(heavy).threads(threads);
            f.call((&full([8], 0.5f64),)).unwrap();
            ends_soon(&format!("a map on {threads} threads"), || f.call((&x,)).map(drop));
            let g = jit(|x: Expr| sum(heavy(x.expand_dims(1) + Expr::from(arange(512)) * 0.001), ..)).threads(threads);
            ends_soon(&format!("a reduction on {threads} threads"), || g.call((&x,)).map(drop));
        }
    });
}

#[test]
fn long_loops_end() {
    in_time(|| {
        let (one, row) = (full([], 0.5f64), full([1000], 0.5f64));
        let compiled = jit(|x: Expr| fori_loop(strong(0i64), strong(STEPS), x, |i, x: Expr| x * 0.5 + i * 1e-9));
        ends_soon("a compiled loop of a scalar", || compiled.call((&one,)).map(drop));
        ends_soon("a compiled loop of an array", || compiled.call((&row,)).map(drop));
        let prepared = jit(|x: Expr| fori_loop(strong(0i64), strong(STEPS), x, |_, x: Expr| x / sum(x, ..)));
        ends_soon("a loop of kernels", || prepared.call((&row,)).map(drop));
        let endless = jit(|x: Expr| while_loop(x, |x: Expr| x.ge(0.0), |x: Expr| x * 0.5 + 1.0));
        ends_soon("a compiled loop with a condition", || endless.call((&one,)).map(drop));
        let calls = jit(|x: Expr| while_loop(x, |x: Expr| sum(x, ..).gt(0.0), |x: Expr| matmul(x, x) * 0.0 + 1.0));
        let square = full([100, 100], 1.0f64);
        ends_soon("a loop with a condition", || calls.call((&square,)).map(drop));
        let stacked = jit(|x: Expr| {
            scan(
                |x: Expr, i: Expr| (fori_loop(strong(0i64), strong(STEPS), x, |_, x: Expr| x * 0.5 + i), x),
                x,
                Expr::from(arange(3)),
            )
        });
        ends_soon("a loop in a scan", || stacked.call((&one,)).map(drop));
    });
}

#[test]
fn long_evaluations_of_arrays_end_and_can_be_repeated() {
    in_time(|| {
        let x = full([1 << 20], 0.5f64).eval().unwrap().clone();
        let pending = || (0..200).fold(x.clone(), |x, _| sort((&x * 1.01).sin() + sum(&x, ..) * 1e-9, 0));
        ends_soon("lazy operations", || pending().eval().map(drop));
        // The same array, later.
        let few = || (0..3).fold(x.clone(), |x, _| (x * 1.01).sin());
        let (interrupted, cancellation) = (few(), Cancellation::new());
        cancellation.cancel();
        let read = with_cancellation(&cancellation, || interrupted.eval().map(drop));
        assert_eq!(read.unwrap_err().code(), ErrorCode::Cancelled);
        assert_eq!(interrupted.to_vec::<f32>(), few().to_vec::<f32>());
    });
}

#[test]
fn functions_and_arrays_are_as_before() {
    in_time(|| {
        let x: Array = (arange(1 << 20) * 1e-6).eval().unwrap().clone();
        let f = jit(|x: Expr| fori_loop(0, 200, x, |_, x: Expr| (x * 1.7).sin() + sum(x, ..) * 1e-9));
        let expected = f.call((&x,)).unwrap().to_vec::<f32>().unwrap();
        let mut out = vec![0.0f32; 1 << 20];
        for _ in 0..5 {
            let cancellation = Cancellation::new();
            let into = thread::scope(|threads| {
                threads.spawn(|| {
                    thread::sleep(Duration::from_millis(10));
                    cancellation.cancel();
                });
                with_cancellation(&cancellation, || f.call_into((&x,), &mut out))
            });
            assert!(into.is_err_and(|error| error.code() == ErrorCode::Cancelled));
            f.call_into((&x,), &mut out).unwrap();
            assert_eq!(out, expected);
        }
    });
}

/// Each thread's runs belong to its own scopes, also where they share the pool.
#[test]
fn others_go_on() {
    in_time(|| {
        let f = jit(|x: Expr| sum((x * 1.7).sin(), ..));
        let x = (arange(1 << 18) * 1e-5).eval().unwrap().clone();
        let expected = f.call((&x,)).unwrap().item::<f32>().unwrap();
        let cancellation = Cancellation::new();
        pool(4).scope(|scope| {
            for n in 0..40 {
                let (f, x, cancellation) = (&f, &x, &cancellation);
                scope.spawn(move |_| {
                    if n == 20 {
                        cancellation.cancel();
                    }
                    match n % 2 {
                        0 => assert_eq!(f.call((x,)).unwrap().item::<f32>(), Ok(expected)),
                        _ => match with_cancellation(cancellation, || f.call((x,))) {
                            Ok(made) => assert_eq!(made.item::<f32>(), Ok(expected)),
                            Err(error) => assert_eq!(error.code(), ErrorCode::Cancelled, "{error}"),
                        },
                    }
                });
            }
        });
    });
}
