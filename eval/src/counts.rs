//! Counters of traces, plans and runs.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Functions and lazy arrays traced.
pub static TRACES: AtomicU64 = AtomicU64::new(0);
/// Plans created.
pub static PLANS: AtomicU64 = AtomicU64::new(0);
/// Calls and evaluations with an existing plan.
pub static PLAN_HITS: AtomicU64 = AtomicU64::new(0);
/// Runs of lazy operations.
pub static OPERATIONS: AtomicU64 = AtomicU64::new(0);
/// Repeated runs of lazy operations.
pub static REPEATED_OPERATIONS: AtomicU64 = AtomicU64::new(0);

/// Counters of a thread, independent of other threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    traces: u64,
    plans: u64,
    /// Kernels compiled.
    pub kernels: u64,
}

thread_local! {
    static HERE: Cell<Made> = const { Cell::new(Made { traces: 0, plans: 0, kernels: 0 }) };
}

/// Counts a trace.
pub fn count_trace() {
    TRACES.fetch_add(1, Relaxed);
    HERE.set(Made { traces: HERE.get().traces + 1, ..HERE.get() });
}

/// Counts a new plan.
pub fn count_plan() {
    PLANS.fetch_add(1, Relaxed);
    HERE.set(Made { plans: HERE.get().plans + 1, ..HERE.get() });
}

/// Counts runs of lazy operations, and the repeated ones among them.
pub fn count_operations(all: usize, again: usize) {
    OPERATIONS.fetch_add(all as u64, Relaxed);
    REPEATED_OPERATIONS.fetch_add(again as u64, Relaxed);
}

impl Made {
    /// The counters of the calling thread.
    pub fn here() -> Made {
        Made { kernels: ndjit_runtime::kernels::compiled_here(), ..HERE.get() }
    }

    /// The difference from an earlier reading.
    pub fn since(self, before: Made) -> Made {
        Made {
            traces: self.traces - before.traces,
            plans: self.plans - before.plans,
            kernels: self.kernels - before.kernels,
        }
    }
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "traces: {}, plans: {}, kernels: {}", self.traces, self.plans, self.kernels)
    }
}
