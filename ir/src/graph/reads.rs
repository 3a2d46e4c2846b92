//! A count of node reads in debug builds, for tests of linear complexity.

use std::cell::Cell;

thread_local! {
    static READS: Cell<u64> = const { Cell::new(0) };
}

/// The number of nodes that the calling thread has read; 0 in release builds.
///
/// ```
/// use ndjit_ir::graph::{Graph, reads};
/// use ndjit_ir::{DType, Shape};
///
/// let mut graph: Graph<DType> = Graph::new();
/// let x = graph.param(DType::F32, &Shape::scalar());
/// let before = reads();
/// graph.node(graph.producer(x));
/// assert_eq!(reads() - before, if cfg!(debug_assertions) { 2 } else { 0 });
/// ```
pub fn reads() -> u64 {
    READS.get()
}

/// Counts a read.
#[inline(always)]
pub(super) fn count() {
    if cfg!(debug_assertions) {
        READS.set(READS.get() + 1);
    }
}
