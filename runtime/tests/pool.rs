//! The pool's counters and bounds. One test, because the process has one pool.

use ndjit_runtime::{Buffer, pool};

#[test]
fn memory_is_reused_bounded_and_trimmed() {
    let step = |bytes: usize| drop(Buffer::zeroed(bytes).unwrap());
    step(100_000);
    let before = pool::stats();
    for _ in 0..10 {
        step(100_000);
        step(110_000);
    }
    let after = pool::stats();
    assert_eq!(after.allocations, before.allocations);
    assert_eq!(after.reuses, before.reuses + 20);

    // Small blocks are reused from the same thread and from one that ended.
    let held: Vec<Buffer> = (0..100).map(|_| Buffer::zeroed(1000).unwrap()).collect();
    std::thread::spawn(move || drop(held)).join().unwrap();
    let before = pool::stats();
    let held: Vec<Buffer> = (0..100).map(|_| Buffer::zeroed(1000).unwrap()).collect();
    assert_eq!(pool::stats().allocations, before.allocations);
    drop(held);

    pool::set_limit(1 << 20);
    for bytes in [300_000, 400_000, 500_000, 600_000] {
        let held: Vec<Buffer> = (0..4).map(|_| Buffer::zeroed(bytes).unwrap()).collect();
        drop(held);
        assert!(pool::stats().pooled_bytes <= 1 << 20);
    }
    // The latest size displaced the others.
    let before = pool::stats();
    step(600_000);
    assert_eq!(pool::stats().allocations, before.allocations);
    pool::trim(0);
    assert_eq!(pool::stats().pooled_bytes, 0);
    step(600_000);
    assert_eq!(pool::stats().allocations, before.allocations + 1);
    pool::set_limit(0);
    step(600_000);
    step(100);
    assert_eq!(pool::stats().pooled_bytes, 0);
}
