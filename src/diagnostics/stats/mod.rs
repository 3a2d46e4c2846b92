//! Counters of the process and of threads: what was traced, planned and compiled. Of one function: `function`, its
//! memory: `memory`, and measured: `profile`.

mod function;
mod memory;
mod profile;

pub use function::{FunctionStats, KernelStats};
pub use memory::{ArrayPlace, ArrayPlan, MemoryPlan};
pub use profile::{LaunchProfile, Profile};

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
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

static TRACES: AtomicU64 = AtomicU64::new(0);
static PLANS: AtomicU64 = AtomicU64::new(0);
pub(crate) static PLAN_HITS: AtomicU64 = AtomicU64::new(0);
static OPERATIONS: AtomicU64 = AtomicU64::new(0);
static AGAIN: AtomicU64 = AtomicU64::new(0);

/// What was made for one thread since it began, which other threads do not disturb.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    traces: u64,
    plans: u64,
    /// Kernels compiled.
    pub(crate) kernels: u64,
}

thread_local! {
    static HERE: Cell<Made> = const { Cell::new(Made { traces: 0, plans: 0, kernels: 0 }) };
}

pub(crate) fn count_trace() {
    TRACES.fetch_add(1, Relaxed);
    HERE.set(Made { traces: HERE.get().traces + 1, ..HERE.get() });
}

pub(crate) fn count_plan() {
    PLANS.fetch_add(1, Relaxed);
    HERE.set(Made { plans: HERE.get().plans + 1, ..HERE.get() });
}

/// Counts operations of lazy arrays that ran: so many, of which so many had run before.
pub(crate) fn count_operations(all: usize, again: usize) {
    OPERATIONS.fetch_add(all as u64, Relaxed);
    AGAIN.fetch_add(again as u64, Relaxed);
}

impl Made {
    /// What was made for the calling thread.
    pub(crate) fn here() -> Made {
        Made { kernels: ndjit_runtime::kernels::compiled_here(), ..HERE.get() }
    }

    pub(crate) fn since(self, before: Made) -> Made {
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
        kept_bytes: crate::array::lazy::kept_bytes() as u64,
    }
}
