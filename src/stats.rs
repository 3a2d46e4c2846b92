//! Counters of the process: what was traced, planned and compiled.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

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
}

pub(crate) static TRACES: AtomicU64 = AtomicU64::new(0);
pub(crate) static PLANS: AtomicU64 = AtomicU64::new(0);
pub(crate) static PLAN_HITS: AtomicU64 = AtomicU64::new(0);

/// Counters of the process.
pub fn stats() -> Stats {
    Stats { traces: TRACES.load(Relaxed), plans: PLANS.load(Relaxed), plan_hits: PLAN_HITS.load(Relaxed) }
}
