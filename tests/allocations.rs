//! What a call allocates: nothing but its results.

use ndjit::{Array, CountingAllocator, assert_no_alloc, jit};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_call_into_memory_of_the_caller_allocates_nothing() {
    let f = jit(|x, y| x + y * 2);
    let (x, y) = (vec![1.0f32; 8], Array::from([2.0f32; 8]));
    let mut out = [0.0f32; 8];
    f.call_into((&x, &y), &mut out[..]).expect("runs");
    assert_no_alloc!({
        for _ in 0..100 {
            f.call_into((&x, &y), &mut out[..]).expect("runs");
        }
    });
    assert_eq!(out, [5.0; 8]);
}

#[test]
fn a_first_call_is_seen_to_allocate() {
    let f = jit(|x| x + 1);
    let first = AssertUnwindSafe(|| assert_no_alloc!(f.call_into((&[1.0f32],), &mut [0.0f32])));
    let message = *catch_unwind(first).expect_err("panics").downcast::<String>().expect("a text");
    assert!(message.starts_with("assert_no_alloc: ") && message.ends_with("call once before)"), "{message}");
    // One allocation is enough, and that it is freed is no excuse.
    let one = || assert_no_alloc!(drop(std::hint::black_box(Box::new(1))));
    let message = *catch_unwind(one).expect_err("panics").downcast::<String>().expect("a text");
    assert!(message.contains(": 1 allocations"), "{message}");
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

#[test]
fn a_fresh_result_allocates_its_own_parts_alone() {
    let f = jit(|x, y| x + y * 2);
    let (x, y) = (Array::from([1.0f32; 8]), Array::from([2.0f32; 8]));
    drop(f.call((&x, &y)).expect("runs"));
    let before = CountingAllocator::counts();
    drop(f.call((&x, &y)).expect("runs"));
    let after = CountingAllocator::counts();
    // The buffer's and the array's shared counts, and the list of results; elements come from the pool.
    let allocated = after.allocated - before.allocated;
    assert!(allocated <= 4, "{allocated} allocations");
    assert_eq!(after.freed - before.freed, allocated, "all are freed with the result");
}
