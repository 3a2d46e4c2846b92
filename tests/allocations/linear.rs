//! Twice as many nodes take twice the work: blocks and bytes allocated, and visits of graph nodes, from the closure to the first result.
//! Counted, not timed.

use super::growing::{ELEMENTS, SORTS, Sort};
use ndjit::{Array, CountingAllocator, jit};
use ndjit_ir::graph::reads;

const NODES: usize = 48_000;
/// Lists grow by doubling, so that twice the nodes may take a little more than twice the bytes.
const MOST: f64 = 2.1;

/// Counts of the first call of a program of about so many nodes: name and number.
fn counts(sort: &Sort, nodes: usize) -> [(&'static str, u64); 3] {
    let function = (sort.make)(nodes);
    let f = jit(function).fuse(sort.fuse).threads(1);
    let (x, y) = (Array::from([1f32; ELEMENTS]), Array::from([0.25f32; ELEMENTS]));
    let (before, looked) = (CountingAllocator::counts(), reads());
    drop(f.call((&x, &y)).expect("runs"));
    let (after, looks) = (CountingAllocator::counts(), reads());
    [
        ("blocks", after.allocated - before.allocated),
        ("bytes", after.bytes - before.bytes),
        ("looks at nodes", looks - looked),
    ]
}

#[test]
fn twice_the_nodes_take_twice_as_much() {
    for sort in SORTS {
        // Kernels are compiled once, for any number of launches: here.
        for nodes in [NODES, 2 * NODES] {
            counts(sort, nodes);
        }
        let (once, twice) = (counts(sort, NODES), counts(sort, 2 * NODES));
        for ((what, once), (_, twice)) in once.into_iter().zip(twice) {
            let factor = twice as f64 / once as f64;
            println!("{}: {what} {once}, {twice}: {factor:.2}", sort.name);
            // Release builds do not count visits.
            let counted = once > 0 || what == "looks at nodes" && !cfg!(debug_assertions);
            assert!(counted, "{}: {what} are not counted", sort.name);
            assert!(once == 0 || factor <= MOST, "{}: {what} {once}, of twice the nodes {twice}", sort.name);
        }
    }
}
