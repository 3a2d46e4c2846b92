//! What a call allocates: nothing but its results.

use allocation_counter::measure;
use ndjit::{Array, jit};

#[test]
fn a_call_into_memory_of_the_caller_allocates_nothing() {
    let f = jit(|x, y| x + y * 2);
    let (x, y) = (vec![1.0f32; 8], Array::from([2.0f32; 8]));
    let mut out = [0.0f32; 8];
    f.call_into((&x, &y), &mut out[..]).expect("runs");
    let counted = measure(|| {
        for _ in 0..100 {
            f.call_into((&x, &y), &mut out[..]).expect("runs");
        }
    });
    assert_eq!(counted.count_total, 0);
    assert_eq!(out, [5.0; 8]);
}

#[test]
fn a_fresh_result_allocates_its_own_parts_alone() {
    let f = jit(|x, y| x + y * 2);
    let (x, y) = (Array::from([1.0f32; 8]), Array::from([2.0f32; 8]));
    drop(f.call((&x, &y)).expect("runs"));
    let counted = measure(|| drop(f.call((&x, &y)).expect("runs")));
    // The buffer's and the array's shared counts, and the list of results; elements come from the pool.
    assert!(counted.count_total <= 4, "{} allocations", counted.count_total);
    assert_eq!(counted.count_current, 0, "all are freed with the result");
}
