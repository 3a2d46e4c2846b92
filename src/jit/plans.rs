//! The plans of one function: a bounded set in which calls look without taking a lock.

use crate::config::Settings;
use crate::jit::input::Arg;
use crate::jit::plan::{Plan, Signature};
use arc_swap::{ArcSwap, Guard};
use ndjit_ir::lock::Mutex;
use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The plans of one function. A snapshot, replaced as a whole when a plan is added, so that finding one neither waits nor changes memory
/// that other threads look at; the plan found last is compared first. When full, the plan not used for the longest time goes.
pub(crate) struct Plans {
    kept: ArcSwap<Vec<Arc<Plan>>>,
    /// The signatures of plans that went, the latest last. Locked while the snapshot is replaced.
    dropped: Mutex<VecDeque<Signature>>,
    latest: AtomicUsize,
    clock: AtomicU64,
}

/// A plan, with the snapshot it was found in.
pub(crate) struct Found {
    plans: Guard<Arc<Vec<Arc<Plan>>>>,
    at: usize,
}

/// What became of a plan that was to be kept.
pub(crate) enum Inserted {
    /// Another thread made one of its signature.
    Known(Found),
    /// It is kept. With the snapshot before, which may be the last to hold what went: that is let go of where no lock is held.
    New { _before: Arc<Vec<Arc<Plan>>> },
}

impl Deref for Found {
    type Target = Arc<Plan>;

    fn deref(&self) -> &Arc<Plan> {
        &self.plans[self.at]
    }
}

impl From<Arc<Plan>> for Found {
    fn from(plan: Arc<Plan>) -> Found {
        Found { plans: Guard::from_inner(Arc::new(vec![plan])), at: 0 }
    }
}

impl Plans {
    /// The number of plans kept per function.
    pub const LIMIT: usize = 64;

    pub fn new() -> Plans {
        Plans {
            kept: ArcSwap::default(),
            dropped: Mutex::default(),
            latest: AtomicUsize::new(0),
            clock: AtomicU64::new(0),
        }
    }

    pub fn find(&self, settings: &Settings, args: &[Arg<'_>]) -> Option<Found> {
        let plans = self.kept.load();
        // Of another snapshot it may be another plan, or none.
        let latest = self.latest.load(Relaxed);
        if plans.get(latest).is_some_and(|plan| plan.accepts(settings, args)) {
            return Some(Found { plans, at: latest });
        }
        let at = plans.iter().position(|plan| plan.accepts(settings, args))?;
        plans[at].last_use.store(self.clock.fetch_add(1, Relaxed), Relaxed);
        self.latest.store(at, Relaxed);
        Some(Found { plans, at })
    }

    /// Keeps a plan, unless there is one of its signature.
    pub fn insert(&self, plan: &Arc<Plan>) -> Inserted {
        let mut dropped = self.dropped.lock();
        let before = self.kept.load_full();
        let same = |known: &Arc<Plan>| {
            known.settings == plan.settings && known.arguments == plan.arguments && known.is_alive()
        };
        if let Some(known) = before.iter().find(|known| same(known)) {
            return Inserted::Known(Arc::clone(known).into());
        }
        let mut plans = Vec::clone(&before);
        if plans.len() >= Plans::LIMIT
            && let Some(at) = (0..plans.len()).min_by_key(|&i| plans[i].last_use.load(Relaxed))
        {
            let plan = plans.swap_remove(at);
            if dropped.len() >= Plans::LIMIT {
                dropped.pop_front();
            }
            dropped.push_back(Signature { settings: plan.settings, arguments: plan.arguments.clone() });
        }
        plan.last_use.store(self.clock.fetch_add(1, Relaxed), Relaxed);
        let latest = plans.len();
        plans.push(Arc::clone(plan));
        self.kept.store(Arc::new(plans));
        self.latest.store(latest, Relaxed);
        Inserted::New { _before: before }
    }

    /// The plans that are kept.
    pub fn all(&self) -> Arc<Vec<Arc<Plan>>> {
        self.kept.load_full()
    }

    /// Whether a plan of this signature went, as far as that is remembered.
    pub fn was_dropped(&self, signature: &Signature) -> bool {
        self.dropped.lock().contains(signature)
    }

    /// The plan used or made last.
    pub fn last(&self) -> Option<Arc<Plan>> {
        let plans = self.kept.load();
        plans.get(self.latest.load(Relaxed)).or(plans.last()).cloned()
    }
}
