//! A bounded cache with single flight: of many threads that request a key, one computes its value, and the others wait
//! without a lock. The least recently used values are evicted by count and by weight; users keep an evicted value alive.

use crate::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use ndjit_ir::{Error, ErrorCode, Result};
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// The bounds of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most values kept.
    pub count: usize,
    /// The most weight kept, in the unit of the values' weights.
    pub weight: usize,
}

/// Counters and contents of a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Values computed.
    pub misses: u64,
    /// Values found, or computed by another thread meanwhile.
    pub hits: u64,
    /// Values evicted by the bounds.
    pub evictions: u64,
    /// Time spent computing values, summed over threads.
    pub time: Duration,
    /// Values held.
    pub count: usize,
    /// Their weight.
    pub weight: usize,
}

/// A bounded cache of shared values.
#[derive(Debug)]
pub struct Cache<K, V> {
    state: Mutex<State<K, V>>,
}

#[derive(Debug)]
struct State<K, V> {
    entries: FxHashMap<Arc<K>, Entry<V>>,
    bounds: Bounds,
    clock: u64,
    stats: CacheStats,
}

#[derive(Debug)]
enum Entry<V> {
    Ready { value: Arc<V>, weight: usize, used: u64 },
    Pending(Arc<InFlight<V>>),
}

/// A value under computation, with its waiters.
#[derive(Debug)]
struct InFlight<V> {
    result: Mutex<Option<Result<Arc<V>>>>,
    published: Condvar,
    /// A forked child inherits the entry, but not the computing thread.
    process: u32,
}

impl<K: Hash + Eq, V> Cache<K, V> {
    /// An empty cache.
    pub fn new(bounds: Bounds) -> Cache<K, V> {
        let (entries, stats) = (FxHashMap::default(), CacheStats::default());
        Cache { state: Mutex::new(State { entries, bounds, clock: 0, stats }) }
    }

    /// The value of `key`; on a miss `make` returns it with its weight. A failure is not cached: current waiters receive
    /// it, later callers try again.
    ///
    /// # Errors
    /// Those of `make`; `Backend` for waiters if it panicked.
    pub fn get(&self, key: K, make: impl FnOnce(&Arc<K>) -> Result<(Arc<V>, usize)>) -> Result<Arc<V>> {
        let mut state = self.lock();
        state.clock += 1;
        let now = state.clock;
        let found = match state.entries.get_mut(&key) {
            Some(Entry::Ready { value, used, .. }) => {
                *used = now;
                Some(Ok(Arc::clone(value)))
            }
            Some(Entry::Pending(in_flight)) if in_flight.process == std::process::id() => {
                Some(Err(Arc::clone(in_flight)))
            }
            Some(Entry::Pending(_)) | None => None,
        };
        match found {
            Some(Ok(value)) => {
                state.stats.hits += 1;
                Ok(value)
            }
            Some(Err(in_flight)) => {
                state.stats.hits += 1;
                drop(state);
                in_flight.wait()
            }
            None => {
                let key = Arc::new(key);
                let in_flight = Arc::new(InFlight {
                    result: Mutex::new(None),
                    published: Condvar::new(),
                    process: std::process::id(),
                });
                state.entries.insert(Arc::clone(&key), Entry::Pending(Arc::clone(&in_flight)));
                drop(state);
                let leader = Leader { cache: self, key, in_flight, start: Instant::now() };
                let result = make(&leader.key);
                leader.publish(result)
            }
        }
    }

    /// Whether the cache contains a complete value.
    pub fn holds(&self, key: &K) -> bool {
        matches!(self.lock().entries.get(key), Some(Entry::Ready { .. }))
    }

    /// Counters.
    pub fn stats(&self) -> CacheStats {
        self.lock().stats
    }

    /// Changes the bounds and evicts down to them.
    pub fn set_bounds(&self, bounds: Bounds) {
        let evicted = {
            let mut state = self.lock();
            state.bounds = bounds;
            state.evict()
        };
        drop(evicted);
    }

    fn lock(&self) -> MutexGuard<'_, State<K, V>> {
        self.state.lock()
    }
}

impl<K: Hash + Eq, V> State<K, V> {
    /// Removes the least recently used values until the bounds hold. They are returned to be dropped outside the lock.
    fn evict(&mut self) -> Vec<Arc<V>> {
        let mut evicted = Vec::new();
        while self.stats.count > self.bounds.count || self.stats.weight > self.bounds.weight {
            let oldest = self.entries.iter().filter_map(|(key, entry)| match entry {
                Entry::Ready { used, .. } => Some((*used, key)),
                Entry::Pending(_) => None,
            });
            let Some(key) = oldest.min_by_key(|o| o.0).map(|o| Arc::clone(o.1)) else { break };
            if let Some(Entry::Ready { value, weight, .. }) = self.entries.remove(&key) {
                self.stats.count -= 1;
                self.stats.weight -= weight;
                self.stats.evictions += 1;
                evicted.push(value);
            }
        }
        evicted
    }
}

impl<V> InFlight<V> {
    fn wait(&self) -> Result<Arc<V>> {
        let mut result = self.result.lock();
        loop {
            match &*result {
                Some(result) => return result.clone(),
                None => result = self.published.wait(result).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// The thread that computes a value. Dropped without a value (`make` panicked), it wakes the waiters.
struct Leader<'a, K: Hash + Eq, V> {
    cache: &'a Cache<K, V>,
    key: Arc<K>,
    in_flight: Arc<InFlight<V>>,
    start: Instant,
}

impl<K: Hash + Eq, V> Leader<'_, K, V> {
    /// Stores the value or removes the key, and wakes the waiters.
    fn publish(&self, made: Result<(Arc<V>, usize)>) -> Result<Arc<V>> {
        let time = self.start.elapsed();
        let evicted = {
            let mut state = self.cache.lock();
            state.clock += 1;
            state.stats.misses += 1;
            state.stats.time += time;
            let used = state.clock;
            match &made {
                Ok((value, weight)) => {
                    let ready = Entry::Ready { value: Arc::clone(value), weight: *weight, used };
                    state.entries.insert(Arc::clone(&self.key), ready);
                    state.stats.count += 1;
                    state.stats.weight += weight;
                }
                Err(_) => drop(state.entries.remove(&self.key)),
            }
            state.evict()
        };
        drop(evicted);
        let result = made.map(|(value, _)| value);
        *self.in_flight.result.lock() = Some(result.clone());
        self.in_flight.published.notify_all();
        result
    }
}

impl<K: Hash + Eq, V> Drop for Leader<'_, K, V> {
    fn drop(&mut self) {
        let published = self.in_flight.result.lock().is_some();
        if !published {
            let _ = self.publish(Err(Error::new(ErrorCode::Backend, "compile: the thread that compiled it panicked")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    fn cache(count: usize, weight: usize) -> Cache<usize, usize> {
        Cache::new(Bounds { count, weight })
    }

    #[test]
    fn one_thread_makes_a_value_for_all() {
        let (cache, made, barrier) = (cache(8, 8), AtomicUsize::new(0), Barrier::new(64));
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    barrier.wait();
                    let make = |key: &Arc<usize>| {
                        made.fetch_add(1, SeqCst);
                        std::thread::yield_now();
                        Ok((Arc::new(**key * 2), 1))
                    };
                    assert_eq!(*cache.get(21, make).unwrap(), 42);
                });
            }
        });
        assert_eq!(made.load(SeqCst), 1);
        assert_eq!((cache.stats().misses, cache.stats().hits), (1, 63));
    }

    #[test]
    fn the_least_recently_used_goes_first_and_lives_on_with_its_user() {
        let cache = cache(3, 100);
        let get = |key: usize| cache.get(key, |key| Ok((Arc::new(**key), 10))).unwrap();
        let held = get(1);
        get(2);
        get(3);
        get(1);
        get(4);
        assert_eq!((cache.stats().misses, cache.stats().evictions), (4, 1));
        get(1);
        assert_eq!(cache.stats().misses, 4);
        get(2);
        assert_eq!(cache.stats().misses, 5);
        cache.set_bounds(Bounds { count: 9, weight: 10 });
        assert_eq!((cache.stats().count, cache.stats().weight), (1, 10));
        cache.set_bounds(Bounds { count: 0, weight: 0 });
        assert_eq!((cache.stats().count, Arc::strong_count(&held)), (0, 1));
    }

    #[test]
    fn failures_and_panics_reach_who_waits_and_are_not_kept() {
        let cache = cache(8, 8);
        let failed = cache.get(1, |_| Err(Error::new(ErrorCode::Backend, "no")));
        assert_eq!(failed.unwrap_err().headline(), "no");
        assert_eq!(*cache.get(1, |_| Ok((Arc::new(5), 1))).unwrap(), 5);
        let (started, waiting) = (Barrier::new(2), Barrier::new(2));
        std::thread::scope(|scope| {
            let panicking = scope.spawn(|| {
                cache.get(2, |_| {
                    started.wait();
                    waiting.wait();
                    panic!("maker")
                })
            });
            started.wait();
            let waiter = scope.spawn(|| {
                waiting.wait();
                cache.get(2, |_| Ok((Arc::new(6), 1)))
            });
            assert!(panicking.join().is_err());
            // A waiter and a late caller both get an answer.
            match waiter.join().unwrap() {
                Ok(value) => assert_eq!(*value, 6),
                Err(error) => assert_eq!(error.code(), ErrorCode::Backend),
            }
        });
        assert!([6, 7].contains(&*cache.get(2, |_| Ok((Arc::new(7), 1))).unwrap()));
    }
}
