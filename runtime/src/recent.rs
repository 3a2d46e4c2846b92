//! A bounded set of shared values, such as the plans of a function, with lock-free lookup.
//!
//! The set is an immutable snapshot, replaced when a value is added, so a lookup neither waits nor writes shared memory. The last value
//! found is tried first. When full, the least recently used value is evicted.

use crate::sync::{Arc, ArcSwap, AtomicU64, AtomicUsize, Guard, Mutex, Ordering::Relaxed};
use std::ops::Deref;

/// A value with the time of its last use, on the clock of its set.
pub trait LastUse {
    /// The time of the last use.
    fn last_use(&self) -> &AtomicU64;
}

/// A bounded set of values.
#[derive(Debug)]
pub struct Recent<T> {
    snapshot: ArcSwap<Vec<Arc<T>>>,
    /// Held while the snapshot is replaced.
    replacing: Mutex<()>,
    latest: AtomicUsize,
    clock: AtomicU64,
    limit: usize,
}

/// A value, with its snapshot.
#[derive(Debug)]
pub struct Found<T> {
    snapshot: Guard<Arc<Vec<Arc<T>>>>,
    at: usize,
}

/// The outcome of an insertion.
#[derive(Debug)]
pub enum Inserted<T> {
    /// An equal value of another thread exists.
    Known(Arc<T>),
    /// The value was inserted.
    New {
        /// The evicted value. This may be its last owner: drop it outside of locks.
        evicted: Option<Arc<T>>,
    },
}

impl<T> Deref for Found<T> {
    type Target = Arc<T>;

    fn deref(&self) -> &Arc<T> {
        &self.snapshot[self.at]
    }
}

impl<T> From<Arc<T>> for Found<T> {
    fn from(value: Arc<T>) -> Found<T> {
        Found { snapshot: Guard::from_inner(Arc::new(vec![value])), at: 0 }
    }
}

impl<T: LastUse> Recent<T> {
    /// An empty set of at most so many values.
    pub fn new(limit: usize) -> Recent<T> {
        Recent {
            snapshot: ArcSwap::from_pointee(Vec::new()),
            replacing: Mutex::new(()),
            latest: AtomicUsize::new(0),
            clock: AtomicU64::new(0),
            limit,
        }
    }

    /// A value that is accepted.
    pub fn find(&self, accepts: impl Fn(&T) -> bool) -> Option<Found<T>> {
        let snapshot = self.snapshot.load();
        // In another snapshot this index may be another value, or none.
        let latest = self.latest.load(Relaxed);
        if snapshot.get(latest).is_some_and(|value| accepts(value)) {
            return Some(Found { snapshot, at: latest });
        }
        let at = snapshot.iter().position(|value| accepts(value))?;
        self.touch(&snapshot[at]);
        self.latest.store(at, Relaxed);
        Some(Found { snapshot, at })
    }

    /// Inserts a value, unless one is `like` it.
    pub fn insert(&self, value: &Arc<T>, like: impl Fn(&T) -> bool) -> Inserted<T> {
        let replacing = self.replacing.lock();
        let before = self.snapshot.load_full();
        if let Some(known) = before.iter().find(|known| like(known)) {
            return Inserted::Known(Arc::clone(known));
        }
        let mut values = Vec::clone(&before);
        let oldest = (0..values.len()).min_by_key(|&at| values[at].last_use().load(Relaxed));
        let evicted = oldest.filter(|_| values.len() >= self.limit).map(|at| values.swap_remove(at));
        self.touch(value);
        let latest = values.len();
        values.push(Arc::clone(value));
        self.snapshot.store(Arc::new(values));
        self.latest.store(latest, Relaxed);
        drop(replacing);
        Inserted::New { evicted }
    }

    /// All values.
    pub fn all(&self) -> Arc<Vec<Arc<T>>> {
        self.snapshot.load_full()
    }

    /// The value last used or inserted.
    pub fn last(&self) -> Option<Arc<T>> {
        let values = self.snapshot.load();
        values.get(self.latest.load(Relaxed)).or(values.last()).cloned()
    }

    fn touch(&self, value: &T) {
        value.last_use().store(self.clock.fetch_add(1, Relaxed), Relaxed);
    }
}
