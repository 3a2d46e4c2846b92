//! Counters of the process: what was traced, planned and compiled.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// What this process has done since it began. Differences between two readings tell what a piece of code did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Functions and lazy arrays traced.
    pub traces: u64,
    /// Plans made: one per traced signature.
    pub plans: u64,
    /// Calls and evaluations that found their plan.
    pub plan_hits: u64,
    /// Kernels compiled. Not when only sizes or numbers change.
    pub kernels_compiled: u64,
    /// Time spent on that.
    pub compile_time: Duration,
    /// Blocks of memory the system was asked for.
    pub allocations: u64,
    /// Blocks of memory that were used again instead.
    pub reuses: u64,
}

/// One kernel of a compiled function: a loop nest, or several of which each computes a tile of its results after the other, while
/// what they share is in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelStats {
    /// Loop nests.
    pub nests: usize,
    /// Bytes of machine code; 0 where the loop interpreter runs instead.
    pub code_bytes: usize,
    /// From loops to machine code. Spent once: later users find the kernel in the process's cache.
    pub compile_time: Duration,
}

pub(crate) static TRACES: AtomicU64 = AtomicU64::new(0);
pub(crate) static PLANS: AtomicU64 = AtomicU64::new(0);
pub(crate) static PLAN_HITS: AtomicU64 = AtomicU64::new(0);

/// Counters of the process.
pub fn stats() -> Stats {
    let (kernels, pool) = (ndjit_runtime::kernels::stats(), ndjit_runtime::pool::stats());
    Stats {
        traces: TRACES.load(Relaxed),
        plans: PLANS.load(Relaxed),
        plan_hits: PLAN_HITS.load(Relaxed),
        kernels_compiled: kernels.misses,
        compile_time: kernels.time,
        allocations: pool.allocations,
        reuses: pool.reuses,
    }
}
