//! The test assertions: each passes and fails as documented, with its message.

use ndjit::{Array, DType, assert_in_place, assert_kernels, assert_no_alloc, assert_no_recompile, jit};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The panic message of `work`.
fn message<T>(work: impl FnOnce() -> T) -> String {
    let payload = catch_unwind(AssertUnwindSafe(work)).err().expect("a panic");
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).expect("a text")
}

fn ones(n: usize) -> Array {
    Array::from(vec![1.0f32; n])
}

#[test]
fn kernels_are_counted_for_the_arguments() {
    let f = jit(|x, y| x + y * 2);
    let x = ones(3);
    assert_kernels!(f, (&x, &x), 1);
    // A signature unlike that of the last call, which takes no cast.
    let unfused = jit(|x, y| x + y * 2).fuse(false);
    unfused.call((&x, &x)).expect("runs");
    assert_kernels!(unfused, (&x, &[1i8, 2, 3]), 3);
    assert_kernels!(unfused, (&x, &x), 2);
    assert_kernels!(jit(|x| ndjit::sum(x, ..) + 1), (&x,), 2);
    assert_kernels!(std::sync::Arc::new(f), (&x, 1.5), 1);
}

#[test]
fn other_kernels_are_shown() {
    let f = jit(|x| x + 1).fuse(false);
    let shown = message(|| assert_kernels!(f, (&ones(3),), 2));
    assert!(shown.starts_with("assert_kernels: 1 kernels, not 2\n"), "{shown}");
    assert!(shown.contains(" add "), "{shown}");
    let shown = message(|| assert_kernels!(jit(|x, y| x + y), (&ones(2), &ones(3)), 1));
    assert!(shown.starts_with("assert_kernels: error[shape]: add"), "{shown}");
}

#[test]
fn known_signatures_compile_nothing() {
    let f = jit(|x, k| x * k + 3);
    let x = ones(5);
    f(&x, &x);
    assert_no_recompile!({
        f(&x, &x);
    });
    f.call((&x, 2.0)).expect("runs");
    let z = assert_no_recompile!(f.call((&x, 7.5))).expect("runs");
    assert_eq!(z.to_vec::<f32>().expect("floats"), [10.5; 5]);
    let lazy = || ones(5) * 9 + 3;
    assert_eq!(lazy().to_vec::<f32>().expect("floats"), [12.0; 5]);
    // Temporaries of the value live as long as without the macro.
    assert_eq!(assert_no_recompile!(lazy().eval()).expect("runs").len(), 5);
    let z = assert_no_recompile!(kernels, f.call((&ones(6), 7.5))).expect("runs");
    assert_eq!(z.len(), 6);
}

#[test]
fn what_is_compiled_is_counted() {
    // Unique among tests: the process caches kernels.
    let f = jit(|x| ((x * 5) % 7) - 0.25);
    let first = message(|| assert_no_recompile!(f(&ones(2))));
    let known = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    assert_eq!(known(&first), "assert_no_recompile: traces: 1, plans: 1, kernels: 1");
    let sizes = message(|| assert_no_recompile!(f(&ones(3))));
    assert_eq!(known(&sizes), "assert_no_recompile: traces: 1, plans: 1, kernels: 0");
    assert!(sizes.contains("\n  argument 0: f32[3], known f32[2]\n"), "{sizes}");
    let doubles = message(|| assert_no_recompile!(kernels, f(&ones(3).cast(DType::F64))));
    assert!(doubles.starts_with("assert_no_recompile: ") && !known(&doubles).ends_with("kernels: 0"), "{doubles}");
    let lazy = message(|| assert_no_recompile!(((ones(2) % 3) - 0.125).eval().is_ok()));
    assert_eq!(lazy, "assert_no_recompile: traces: 1, plans: 1, kernels: 1");
}

#[test]
fn what_other_threads_compile_is_not_counted() {
    let f = jit(|x| x - 11);
    f(&ones(4));
    assert_no_recompile!({
        let other = std::thread::spawn(|| jit(|x| ((x % 11) * 5) - 0.75)(&ones(4)));
        f(&ones(4));
        other.join().expect("runs");
    });
}

#[test]
fn allocations_are_not_taken_for_none_where_nothing_counts() {
    let shown = message(|| assert_no_alloc!(1 + 1));
    assert!(shown.contains("ndjit::CountingAllocator"), "{shown}");
}

#[test]
fn donated_memory_is_found_again() {
    let f = jit(|x, y| [x + y, x * y]);
    let [sum, product] = assert_in_place!(f, (ones(4).donate(), ones(4)));
    assert_eq!(sum.to_vec::<f32>().expect("floats"), [2.0; 4]);
    assert_eq!(product.to_vec::<f32>().expect("floats"), [1.0; 4]);
    assert_in_place!(f, (ones(4), &ones(4)));
    // A clone exists, the result is wider, another array has taken the memory.
    let held = ones(4);
    assert_in_place!(f, (held.clone(), &ones(4)), 0);
    assert_in_place!(jit(|x: ndjit::Expr| x.cast(DType::F64)), (ones(4),), 0);
    assert_in_place!(jit(|x, y| x + y), (ones(4), ones(4)), 1);
}

#[test]
fn memory_that_is_not_taken_is_told() {
    let f = jit(|x| x + 1);
    let held = ones(4);
    let shown = message(|| assert_in_place!(f, (held.clone().donate(),)));
    assert_eq!(shown, "assert_in_place: results took the memory of 0 donated arguments out of 1, not of 1");
    let shown = message(|| assert_in_place!(f, (ones(4),), 0));
    assert_eq!(shown, "assert_in_place: results took the memory of 1 donated arguments out of 1, not of 0");
    let shown = message(|| assert_in_place!(f, (&held,)));
    assert_eq!(shown, "assert_in_place: no argument is donated; pass `x.donate()`");
    let shown = message(|| assert_in_place!(jit(|x, y| x + y), (ones(2), &ones(3))));
    assert!(shown.starts_with("assert_in_place: error[shape]"), "{shown}");
}
