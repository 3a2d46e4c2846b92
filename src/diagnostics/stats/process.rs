//! [`stats`]: what this process has done.

use ndjit_eval::array::node::kept_bytes;
use ndjit_eval::counts::{AGAIN, OPERATIONS, PLAN_HITS, PLANS, TRACES};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// What this process has done since it began. Differences between two readings tell what a piece of code did.
///
/// ```
/// use ndjit::{Array, stats};
///
/// let before = stats();
/// let x = (Array::from([1.0f32]) + 1).item::<f32>()?;
/// assert!(stats().traces > before.traces);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Functions and lazy arrays traced.
    pub traces: u64,
    /// Plans made: one per traced signature.
    pub plans: u64,
    /// Calls and evaluations that found their plan.
    pub plan_hits: u64,
    /// Kernels compiled, for the processor and for GPUs. Not when only sizes or numbers change, and without those that find out what a
    /// GPU does.
    pub kernels_compiled: u64,
    /// Time spent on that.
    pub compile_time: Duration,
    /// Blocks of memory the system was asked for.
    pub allocations: u64,
    /// Blocks of memory that were used again instead.
    pub reuses: u64,
    /// Operations of lazy arrays that ran, each as often as it did.
    pub operations: u64,
    /// Of these, those that had run before: what an operation gives is kept when it runs again, not at once.
    pub operations_again: u64,
    /// Bytes that arrays hold because what is read of them was computed again, now.
    pub kept_bytes: u64,
}

/// Counters of the process.
///
/// ```
/// use ndjit::stats;
///
/// println!("kernels compiled by this process: {}", stats().kernels_compiled);
/// ```
pub fn stats() -> Stats {
    let (kernels, pool) = (ndjit_runtime::kernels::stats(), ndjit_runtime::pool::stats());
    let (elsewhere, time) = ndjit_runtime::kernels::elsewhere();
    Stats {
        traces: TRACES.load(Relaxed),
        plans: PLANS.load(Relaxed),
        plan_hits: PLAN_HITS.load(Relaxed),
        kernels_compiled: kernels.misses + elsewhere,
        compile_time: kernels.time + time,
        allocations: pool.allocations,
        reuses: pool.reuses,
        operations: OPERATIONS.load(Relaxed),
        operations_again: AGAIN.load(Relaxed),
        kept_bytes: kept_bytes() as u64,
    }
}
