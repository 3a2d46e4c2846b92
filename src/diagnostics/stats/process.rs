//! [`stats`]: counters of the process.

use ndjit_eval::array::node::retained_bytes;
use ndjit_eval::counts::{OPERATIONS, PLAN_HITS, PLANS, REPEATED_OPERATIONS, TRACES};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Counters since the start of the process. Subtract two readings to measure a piece of code.
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
    /// The number of traced functions and lazy arrays.
    pub traces: u64,
    /// The number of plans: one per traced signature.
    pub plans: u64,
    /// The number of calls and evaluations with a cached plan.
    pub plan_hits: u64,
    /// The number of kernels compiled for the processor and for GPUs, except those that test GPU features. New sizes
    /// and numbers compile no kernels.
    pub kernels_compiled: u64,
    /// The compile time of these kernels.
    pub compile_time: Duration,
    /// The number of memory blocks requested from the system.
    pub allocations: u64,
    /// The number of memory blocks reused instead.
    pub reuses: u64,
    /// The number of executed operations of lazy arrays, including repeated runs.
    pub operations: u64,
    /// The number of repeated runs among these. A result is cached at the second run of its operation, not at the
    /// first.
    pub operations_again: u64,
    /// The size in bytes of the results of lazy arrays that are cached now, after a repeated run.
    pub kept_bytes: u64,
}

/// Returns the counters of the process.
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
        operations_again: REPEATED_OPERATIONS.load(Relaxed),
        kept_bytes: retained_bytes() as u64,
    }
}
