//! Recursive functions, directly or mutually, on one thread or over several: an error that names them, and never a deadlock.

use crate::{Closure, Function, in_time, pool};
use ndjit::dlpack::ManagedTensor;
use ndjit::{Array, DType, Error, ErrorCode, Expr, cond, exp, fori_loop, from_dlpack, jit};
use rayon::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, LazyLock, Mutex, OnceLock};
use std::thread;

fn x() -> Array {
    Array::from([1.0f32, 2.0])
}

fn facts(error: &Error) -> String {
    error.facts().join("\n")
}

#[test]
fn a_function_that_calls_itself_is_an_error() {
    static INLINED: LazyLock<Function> = LazyLock::new(|| jit(|x| INLINED.inline((x,)) + 1));
    let line = line!() - 1;
    let error = in_time(|| INLINED.call((&x(),)).unwrap_err());
    assert_eq!((error.code(), error.headline()), (ErrorCode::Traced, "call: a traced function calls itself"));
    assert_eq!(error.place().map(|place| place.line), Some(line));
    assert_eq!(facts(&error).matches(&format!("circles.rs:{line}:")).count(), 2, "{error}");

    static CALLED: LazyLock<Function> = LazyLock::new(|| jit(|y| CALLED(&x()) + y));
    let error = in_time(|| CALLED.call((&x(),)).unwrap_err());
    assert_eq!(error.headline(), "call: a traced function calls itself");
    assert!(error.to_string().len() < 2000, "{error}");
}

/// With other parameters a function may call itself, up to a limit of nested traces.
#[test]
fn a_function_may_call_itself_on_smaller_shapes() {
    static SUM: LazyLock<Function> = LazyLock::new(|| {
        jit(|x| match x.shape().size() {
            Ok(1) => x,
            Ok(n) => SUM.inline((x.slice(..(n / 2) as isize) + x.slice((n / 2) as isize..),)),
            Err(error) => panic!("{error}"),
        })
    });
    let ones = |n: usize| ndjit::dtype(DType::F32).ones([n]);
    assert_eq!(in_time(move || SUM.call((&ones(1 << 20),)).unwrap().to_vec::<f32>().unwrap()), [1048576.0]);
    static LONGER: LazyLock<Function> =
        LazyLock::new(|| jit(|x| LONGER.inline((ndjit::concat([x, Expr::from(&ndjit::zeros([1]))], 0),))));
    let error = in_time(|| LONGER.call((&x(),)).unwrap_err());
    assert_eq!(error.headline(), "call: a traced function calls itself");
    assert!(error.to_string().len() < 2000, "{error}");
}

/// A closure that calls its function several times ends as soon as one that does so once.
#[test]
fn a_function_that_calls_itself_often_is_an_error_at_once() {
    static SAME: LazyLock<Function> =
        LazyLock::new(|| jit(|x| (0..10).fold(x, |sum, _| sum + SAME.inline((x,)) * SAME.inline((x + 1,)))));
    static SMALLER: LazyLock<Function> =
        LazyLock::new(|| jit(|x| SMALLER.inline((x.slice(1..),)) + SMALLER.inline((x.slice(2..),))));
    static CALLED: LazyLock<Function> = LazyLock::new(|| {
        jit(|y| {
            let calls = (0..10).filter(|_| CALLED.call((&x(),)).is_err());
            y + calls.count() as i64
        })
    });
    static CALLED_SMALLER: LazyLock<Function> = LazyLock::new(|| {
        jit(|x| {
            let rows = x.shape().extents()[0];
            let calls = (1..10).filter(|n| CALLED_SMALLER.call((&ndjit::zeros([rows - n]),)).is_err());
            x + calls.count() as i64
        })
    });
    let large = ndjit::zeros([1000]);
    for error in in_time(move || [&SAME, &SMALLER].map(|f| f.call((&large,)).unwrap_err())) {
        assert_eq!(error.headline(), "call: a traced function calls itself");
    }
    let large = ndjit::zeros([1000]);
    in_time(move || [&CALLED, &CALLED_SMALLER].map(|f| drop(f.call((&large,)))));
}

/// The same for recursion, or errors, within branches and loops.
#[test]
fn control_flow_of_failing_functions_ends_at_once() {
    fn both(x: Expr, f: impl Fn(Expr) -> Expr) -> Expr {
        cond(ndjit::any(x, ..), &f, |x| x, x) + fori_loop(0, 2, x, |_, x| f(x))
    }
    let error = in_time(|| {
        let failing: Closure = Box::new(|x| ndjit::reshape(x, [7, 11]));
        let f = (0..26)
            .fold(jit(failing), |below, _| jit(Box::new(move |x: Expr| both(x, |x| below.inline((x,)))) as Closure));
        f.call((&x(),)).unwrap_err()
    });
    assert_eq!(error.code(), ErrorCode::Shape, "{error}");
    static SMALLER: LazyLock<Function> = LazyLock::new(|| {
        jit(|x| both(x, |x| SMALLER.inline((x.slice(1..),))) + both(x, |x| SMALLER.inline((x.slice(2..),))))
    });
    static EAGER: LazyLock<Function> = LazyLock::new(|| {
        jit(|x| {
            let rows = x.shape().extents()[0];
            both(x, move |x| x + [1, 2].map(|n| i64::from(EAGER.call((&ndjit::zeros([rows - n]),)).is_err()))[0])
        })
    });
    let error = in_time(|| SMALLER.call((&ndjit::zeros([1000]),)).unwrap_err());
    assert_eq!(error.headline(), "call: a traced function calls itself");
    in_time(|| drop(EAGER.call((&ndjit::zeros([1000]),))));
}

/// A panic's payload may panic on drop: the error is that of the first panic.
#[test]
fn a_panic_that_carries_a_panic_is_an_error() {
    struct Again;
    impl Drop for Again {
        fn drop(&mut self) {
            panic!("again")
        }
    }
    let error = jit(|_: Expr| -> Expr { std::panic::panic_any(Again) }).call((&x(),)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Panic);
}

/// A cycle over threads is reported with both functions, even if each starts two threads and ignores their results.
#[test]
fn circles_over_threads_end_and_name_both() {
    static SEEN: Mutex<Option<Error>> = Mutex::new(None);
    fn two(f: &'static LazyLock<Function>) -> i64 {
        for _ in 0..2 {
            // The system may also refuse threads.
            let Ok(thread) = thread::Builder::new().stack_size(1 << 20).spawn(|| f.call((&x(),)).map(drop)) else {
                continue;
            };
            let error = thread.join().unwrap().err();
            SEEN.lock()
                .unwrap()
                .get_or_insert_with(|| error.clone().unwrap_or_else(|| Error::new(ErrorCode::Io, "none")));
        }
        1
    }
    static F: LazyLock<Function> = LazyLock::new(|| jit(|y| y + two(&G)));
    static G: LazyLock<Function> = LazyLock::new(|| jit(|y| y * two(&F)));
    in_time(|| F.call((&x(),)).unwrap());
    let error = SEEN.lock().unwrap().clone().unwrap();
    assert_eq!(error.code(), ErrorCode::Traced);
    let lines: Vec<&str> = error.facts().iter().filter_map(|fact| fact.split("circles.rs:").nth(1)).collect();
    assert!(lines.len() > 1 && lines.iter().any(|line| *line != lines[0]), "{error}");
}

/// A closure that ignores the error of its call has the error of its own panic.
#[test]
fn a_panic_after_a_circle_is_its_own_error() {
    static F: LazyLock<Function> = LazyLock::new(|| {
        jit(|y| {
            assert!(F.call((&x(),)).is_ok(), "it gave none");
            y
        })
    });
    let error = in_time(|| F.call((&x(),)).unwrap_err());
    assert_eq!((error.code(), facts(&error).contains("it gave none")), (ErrorCode::Panic, true), "{error}");
}

/// Each of two threads is in one of the closures when it calls the other function.
#[test]
fn two_functions_that_call_each_other_on_two_threads() {
    thread_local! {
        static MET: Cell<bool> = const { Cell::new(false) };
    }
    static BOTH: Barrier = Barrier::new(2);
    fn meet() {
        if !MET.replace(true) {
            BOTH.wait();
        }
    }
    static F: LazyLock<Function> = LazyLock::new(|| {
        jit(|y| {
            meet();
            y + G.call((&x(),)).unwrap_or_else(|error| panic!("{error}"))
        })
    });
    static G: LazyLock<Function> = LazyLock::new(|| {
        jit(|y| {
            meet();
            y * F.call((&x(),)).unwrap_or_else(|error| panic!("{error}"))
        })
    });
    let (f, g) = in_time(|| {
        let f = thread::spawn(|| F.call((&x(),)).unwrap_err());
        let g = thread::spawn(|| G.call((&x(),)).unwrap_err());
        (f.join().unwrap(), g.join().unwrap())
    });
    for error in [f, g] {
        assert_eq!(error.headline(), "call: a traced function calls itself");
        let lines: Vec<&str> = error.facts().iter().filter_map(|fact| fact.split("circles.rs:").nth(1)).collect();
        assert!(lines.len() >= 3 && lines[0] != lines[1] && lines[0] == lines[2], "both are named: {error}");
    }
}

/// Calls of one function on a thread that waits for the next, indistinguishable from threads that call it concurrently.
#[test]
fn a_closure_that_starts_a_thread_that_calls_its_function() {
    static SEEN: Mutex<Vec<Error>> = Mutex::new(Vec::new());
    static F: LazyLock<Function> = LazyLock::new(|| {
        jit(|y| {
            let called = thread::spawn(|| F.call((&x(),)).map(drop)).join().unwrap();
            SEEN.lock().unwrap().extend(called.err());
            y + 1
        })
    });
    let result = in_time(|| F.call((&x(),)).unwrap().to_vec::<f32>().unwrap());
    assert_eq!(result, [2.0, 3.0]);
    let seen = SEEN.lock().unwrap();
    assert_eq!((seen.len(), seen[0].code()), (1, ErrorCode::Traced));
    assert!(facts(&seen[0]).contains("circles.rs:") && seen[0].help_text().is_some(), "{}", seen[0]);
    // One of all the traces without a plan was used.
    assert_eq!((F.trace_count(), F.compile_count()), (1, 1));
}

/// The closure evaluates an array on all threads: it neither waits in its own trace for another's, nor counts as a cycle.
#[test]
fn a_closure_that_evaluates_arrays_is_called_in_tasks() {
    for _ in 0..10 {
        let (results, counts) = in_time(|| {
            let f = jit(|y| {
                let table = exp(Array::from(vec![0.0f32; 1 << 17])).eval().unwrap().clone();
                y + table.to_vec::<f32>().unwrap().iter().sum::<f32>()
            });
            let call = |n: usize| {
                // Tasks reach the call one after the other, and find others in it.
                exp(Array::from(vec![0.0f32; (n % 8) << 15])).eval()?;
                f.call((&x(),)).map(|z| z.to_vec::<f32>().unwrap())
            };
            let results: Vec<_> = pool(8).install(|| (0..64).into_par_iter().map(call).collect());
            (results, (f.trace_count(), f.compile_count()))
        });
        for result in results {
            assert_eq!(result.unwrap(), [131_073.0, 131_074.0]);
        }
        assert_eq!(counts, (1, 1));
    }
}

/// A closure that waits in rayon may be below a task that calls the same function.
#[test]
fn a_closure_that_waits_in_rayon_is_no_circle() {
    let done = in_time(|| {
        let f = Arc::new(jit(|y| {
            rayon::yield_now();
            y * 2
        }));
        let done = Arc::new(AtomicUsize::new(0));
        pool(1).scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|_| {
                    assert_eq!(f.call((&x(),)).unwrap().to_vec::<f32>().unwrap(), [2.0, 4.0]);
                    done.fetch_add(1, SeqCst);
                });
            }
        });
        assert_eq!((f.trace_count(), f.compile_count()), (1, 1));
        done.load(SeqCst)
    });
    assert_eq!(done, 6);
}

/// Functions that inline the next one, to this depth.
fn chain(depth: usize) -> Closure {
    if depth == 0 {
        return Box::new(|y| y + 1);
    }
    let inner = jit(chain(depth - 1));
    Box::new(move |y| inner.inline((y,)))
}

#[test]
fn traces_within_each_other_are_bounded() {
    let deep = |depth| in_time(move || jit(chain(depth)).call((&x(),)).map(|z| z.to_vec::<f32>().unwrap()));
    assert_eq!(deep(63).unwrap(), [2.0, 3.0]);
    let error = deep(64).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Size);
    // A function that creates another of itself each time is not a cycle, and ends as well.
    fn remade(y: Expr) -> Expr {
        jit(remade).inline((y,))
    }
    assert_eq!(in_time(|| jit(remade).call((&x(),)).unwrap_err()).code(), ErrorCode::Size);
}

/// Foreign memory in a plan is released by foreign code, which calls the function of that plan.
#[test]
fn memory_that_calls_functions_when_it_is_dropped() {
    static F: OnceLock<Function> = OnceLock::new();
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Owner([f32; 1]);
    impl AsRef<[f32]> for Owner {
        fn as_ref(&self) -> &[f32] {
            &self.0
        }
    }
    impl Drop for Owner {
        fn drop(&mut self) {
            let number = DROPPED.fetch_add(1, SeqCst);
            // A new signature, one of few.
            if number < 10 {
                F.get().unwrap().call((&vec![1.0f32; 1000 + number],)).unwrap();
            }
        }
    }
    in_time(|| {
        fn captured() -> Array {
            from_dlpack(ManagedTensor::from_owner(Owner([0.5]), [1]).unwrap(), None, None).unwrap()
        }
        let f = F.get_or_init(|| jit(|y| y + captured()));
        for n in 1..200 {
            assert_eq!(f.call((&vec![1.0f32; n],)).unwrap().to_vec::<f32>().unwrap(), vec![1.5; n]);
        }
    });
    assert!(DROPPED.load(SeqCst) > 100);
}
