//! The plans of one function, and the signatures of evicted ones.

use crate::argument::{CallArgument, Signature};
use crate::plan::compiled::Plan;
use crate::settings::Settings;
use ndjit_ir::lock::Mutex;
use ndjit_runtime::recent::{self, LastUse, Recent};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A plan, with its snapshot.
pub type FoundPlan = recent::Found<Plan>;
/// The outcome of inserting a plan.
pub type InsertedPlan = recent::Inserted<Plan>;

/// The plans of one function.
pub struct Plans {
    recent: Recent<Plan>,
    /// The signatures of evicted plans, the latest last.
    dropped: Mutex<VecDeque<Signature>>,
}

impl Default for Plans {
    /// An empty set.
    fn default() -> Plans {
        Plans { recent: Recent::new(Plans::LIMIT), dropped: Mutex::default() }
    }
}

impl LastUse for Plan {
    fn last_use(&self) -> &AtomicU64 {
        &self.last_use
    }
}

impl Plans {
    /// The number of cached plans of a function.
    pub const LIMIT: usize = 64;

    /// The plan for these arguments.
    #[inline]
    pub fn find<'a, 'b: 'a>(
        &self,
        settings: &Settings,
        structure: &[usize],
        args: impl ExactSizeIterator<Item = &'a CallArgument<'b>> + Clone,
    ) -> Option<FoundPlan> {
        self.recent.find(|plan| plan.accepts(settings, structure, args.clone()))
    }

    /// Inserts a plan, unless one has its signature.
    pub fn insert(&self, plan: &Arc<Plan>) -> InsertedPlan {
        let same = |known: &Plan| {
            known.settings == plan.settings
                && known.structure == plan.structure
                && known.arguments == plan.arguments
                && known.is_alive()
        };
        let inserted = self.recent.insert(plan, same);
        if let InsertedPlan::New { evicted: Some(plan) } = &inserted {
            let mut dropped = self.dropped.lock();
            if dropped.len() >= Plans::LIMIT {
                dropped.pop_front();
            }
            dropped.push_back(plan.signature());
        }
        inserted
    }

    /// All plans.
    pub fn all(&self) -> Arc<Vec<Arc<Plan>>> {
        self.recent.all()
    }

    /// Whether a plan of this signature was evicted, among those remembered.
    pub fn was_dropped(&self, signature: &Signature) -> bool {
        self.dropped.lock().contains(signature)
    }

    /// The plan last used or inserted.
    pub fn last(&self) -> Option<Arc<Plan>> {
        self.recent.last()
    }
}
