//! The cost of a call on cached code: it allocates only its results, and takes no lock.

use ndjit::{Array, CountingAllocator, Expr, assert_no_alloc, jit, keepdims};
use ndjit_ir::lock;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Whether a warm call allocates or takes locks.
fn none(what: &str, mut call: impl FnMut()) -> Result<(), String> {
    // The first call compiles, the second fills the thread's caches.
    call();
    call();
    let before = (CountingAllocator::counts().allocated, lock::taken());
    for _ in 0..100 {
        call();
    }
    match (CountingAllocator::counts().allocated - before.0, lock::taken() - before.1) {
        (0, 0) => Ok(()),
        (blocks, locks) => Err(format!("{what}: {blocks} allocations and {locks} locks in 100 calls")),
    }
}

fn assert_none(cases: impl IntoIterator<Item = Result<(), String>>) {
    let some: Vec<String> = cases.into_iter().filter_map(Result::err).collect();
    assert!(some.is_empty(), "{}", some.join("\n"));
}

fn array() -> Array {
    Array::from([1.0f32; 8])
}

#[test]
fn a_call_into_memory_of_the_caller_takes_nothing_whatever_its_arguments() {
    let (x, mut out) = (array(), [0.0f32; 8]);
    let slice = [2.0f32; 8];
    let (row, column) = (array().reshape([1, 8]), array().reshape([8, 1]));
    let mut table = [0.0f32; 64];
    let flipped = x.flip(0);
    let captured = array();
    macro_rules! into {
        ($what:literal, $out:expr, $function:expr, $($argument:expr),*) => {{
            let f = jit($function).threads(1);
            none($what, || f.call_into(($($argument,)*), &mut $out[..]).expect($what))
        }};
    }
    assert_none([
        into!("1", out, |a| a + 1, &x),
        into!("2", out, |a, b| a + b * 2, &x, &slice),
        into!("3", out, |a, b, c| a + b + c, &x, &slice, &x),
        into!("4", out, |a, b, c, d| a + b + c + d, &x, &slice, &x, &x),
        into!("5", out, |a, b, c, d, e| a + b + c + d + e, &x, &slice, &x, &x, &x),
        into!("6", out, |a, b, c, d, e, f| a + b + c + d + e + f, &x, &slice, &x, &x, &x, &x),
        into!("7", out, |a, b, c, d, e, f, g| a + b + c + d + e + f + g, &x, &slice, &x, &x, &x, &x, &x),
        into!("8", out, |a, b, c, d, e, f, g, h| a + b + c + d + e + f + g + h, &x, &slice, &x, &x, &x, &x, &x, &x),
        into!("numbers", out, |a, b, c| a * b + c, &x, 2, 0.5f64),
        into!("eight numbers", out, |a, b, c, d, e, f, g, h| a + b + c + d + e + f + g + h, &x, 1, 2, 3, 4, 5, 6, 0.5),
        into!("broadcast", table, |a, b| a + b, &row, &column),
        into!("strides", out, |a, b| a + b, &flipped, &x),
        into!(
            "a captured array",
            out,
            {
                let captured = captured.clone();
                move |a| a + &captured
            },
            &x
        ),
        into!("a sum", out[..1], |a: Expr| a.sum(..), &x),
        into!("sums of rows", out, |a: Expr| a.sum(1), &column),
        into!("two kernels", out, |a: Expr| a / a.sum(..), &x),
        into!(
            "a softmax",
            table,
            |a: Expr, b| {
                let e = ((a + b) - (a + b).max(..)).exp();
                e / e.sum(1).reshape([8, 1])
            },
            &row,
            &column
        ),
        into!("a scan", out, |a: Expr| a.cumulative_sum(0), &x),
    ]);
}

#[test]
fn many_kernels_many_results_and_large_arrays_take_nothing_either() {
    let x = array();
    let chain = jit(|a: Expr| (0..40).fold(a, |a, i| a * (i + 1) - a)).fuse(false).threads(1);
    let mut out = [0.0f32; 8];
    let many = jit(|a: Expr| (a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8)).threads(1);
    let mut outs = [[0.0f32; 8]; 8];
    let large = Array::from(vec![1.0f32; 1 << 16]);
    let normed = jit(|a: Expr| (a - a.mean(..)).exp() / a.exp().sum(..)).fuse(false).threads(1);
    let mut large_out = vec![0.0f32; 1 << 16];
    let rows = Array::from(vec![1.0f32; 1 << 16]).reshape([1024, 64]);
    let tiled = jit(|a: Expr| {
        let e = (a - a.max(keepdims(1))).exp();
        (e / e.sum(keepdims(1)), e * 2)
    });
    let tiled = tiled.threads(1);
    let mut tiled_outs = [vec![0.0f32; 1 << 16], vec![0.0f32; 1 << 16]];
    let positive = jit(|a: Expr| a.gt(0)).threads(1);
    let mut truths = [false; 8];
    let held: Vec<Array> = (0..20).map(|_| array()).collect();
    let captures = jit(move |a: Expr| held.iter().fold(a, |sum, held| sum + held)).threads(1);
    assert_none([
        none("80 kernels", || chain.call_into((&x,), &mut out).expect("runs")),
        none("eight results", || {
            let [a, b, c, d, e, f, g, h] = &mut outs;
            many.call_into((&x,), (a, b, c, d, e, f, g, h)).expect("runs");
        }),
        none("arrays of 256 KiB between kernels", || normed.call_into((&large,), &mut large_out).expect("runs")),
        none("tiles with memory of their own", || {
            let [a, b] = &mut tiled_outs;
            tiled.call_into((&rows,), (a, b)).expect("runs");
        }),
        none("truth values", || positive.call_into((&x,), &mut truths).expect("runs")),
        none("twenty captured arrays", || captures.call_into((&x,), &mut out).expect("runs")),
    ]);
}

#[test]
fn a_first_call_is_seen_to_allocate() {
    let f = jit(|x| x + 1);
    let first = AssertUnwindSafe(|| assert_no_alloc!(f.call_into((&[1.0f32],), &mut [0.0f32])));
    let message = *catch_unwind(first).expect_err("panics").downcast::<String>().expect("a text");
    assert!(message.starts_with("assert_no_alloc: ") && message.ends_with("call once before)"), "{message}");
    // One allocation suffices, even if it is freed.
    let one = || assert_no_alloc!(drop(std::hint::black_box(Box::new(1))));
    let message = *catch_unwind(one).expect_err("panics").downcast::<String>().expect("a text");
    assert!(message.contains(": 1 allocations"), "{message}");
    assert!(none("a box", || drop(std::hint::black_box(Box::new(1)))).is_err());
    assert!(none("a lock", || drop(lock::Mutex::new(1).lock())).is_err());
    let before = lock::taken();
    jit(|x| x + 2).call((&[1.0f32],)).expect("runs");
    assert!(lock::taken() > before, "plans are made under locks");
}

#[test]
fn other_threads_are_not_counted() {
    let (started, start) = std::sync::mpsc::channel();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                drop(std::hint::black_box(vec![0u8; 100]));
                let _ = started.send(());
            }
        });
        start.recv().expect("the other thread allocates");
        assert_no_alloc!(std::thread::sleep(std::time::Duration::from_millis(5)));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// A result consists of two reference counts, of its elements and of the array; the elements come from the pool.
#[test]
fn a_fresh_result_allocates_its_own_parts_alone() {
    let (x, y) = (array(), array());
    let fresh = |what: &str, results: u64, call: &dyn Fn()| {
        call();
        call();
        let (before, locks) = (CountingAllocator::counts(), lock::taken());
        call();
        let after = CountingAllocator::counts();
        assert_eq!(lock::taken(), locks, "{what}: no lock");
        assert_eq!(after.allocated - before.allocated, 2 * results, "{what}");
        assert_eq!(after.freed - before.freed, 2 * results, "{what}: all are freed with the result");
    };
    let one = jit(|x, y| x + y * 2).threads(1);
    fresh("call", 1, &|| drop(one.call((&x, &y)).expect("runs")));
    fresh("as a function", 1, &|| drop(one(&x, &y)));
    let two = jit(|x: Expr, y| (x / x.sum(..), x + y)).threads(1);
    fresh("two kernels, two results", 2, &|| drop(two.call((&x, &y)).expect("runs")));
}
