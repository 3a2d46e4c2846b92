//! Invariants in any order of threads. `NDJIT_MODEL_RUNS` is the number of orders drawn for each; a failure prints its order.

use ndjit_ir::{Error, ErrorCode};
use ndjit_models::cache::{Bounds, Cache};
use ndjit_models::free_list::{FreeList, PLACES};
use ndjit_models::recent::{Inserted, LastUse, Recent};
use ndjit_models::thread_pool::ThreadPool;
use ndjit_models::{Block, set_processors};
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use shuttle::thread;

/// Runs `model` in many orders: drawn uniformly, and with few switches of threads.
fn check(model: impl Fn() + Send + Sync + Clone + 'static) {
    let runs = std::env::var("NDJIT_MODEL_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(300);
    shuttle::check_random(model.clone(), runs);
    shuttle::check_pct(model, runs, 3);
}

/// Each number is processed once, before the call returns, on a pool of two workers that sleep or spin.
fn works(processors: usize) {
    set_processors(processors);
    check(|| {
        let pool = Arc::new(ThreadPool::new(2));
        let give = |pool: &ThreadPool, count: usize| {
            let done: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            pool.run(count, 3, false, &|number| {
                done[number].fetch_add(1, SeqCst);
            });
            assert!(done.iter().all(|done| done.load(SeqCst) == 1));
        };
        let other = Arc::clone(&pool);
        let second = thread::spawn(move || {
            give(&other, 3);
            give(&other, 2);
        });
        give(&pool, 4);
        second.join().unwrap();
        drop(pool);
    });
}

#[test]
fn numbers_of_a_team_that_sleeps_are_done_once() {
    works(1);
}

#[test]
fn numbers_of_a_team_that_looks_for_work_are_done_once() {
    works(8);
}

#[test]
fn work_within_work_is_done() {
    set_processors(1);
    check(|| {
        let pool = ThreadPool::new(1);
        let done = AtomicUsize::new(0);
        pool.run(2, 2, false, &|_| {
            pool.run(2, 2, false, &|_| {
                done.fetch_add(1, SeqCst);
            });
        });
        assert_eq!(done.load(SeqCst), 4);
    });
}

#[test]
fn a_block_has_one_owner() {
    check(|| {
        let free_list = Arc::new(FreeList::new());
        let owned: Arc<Vec<AtomicUsize>> = Arc::new((0..4).map(|_| AtomicUsize::new(0)).collect());
        for number in 1..=2 {
            assert!(free_list.put(Block(number)).is_none());
        }
        let threads = (0..3).map(|_| {
            let (free_list, owned) = (Arc::clone(&free_list), Arc::clone(&owned));
            thread::spawn(move || {
                for _ in 0..2 {
                    let Some(block) = free_list.take(0) else { continue };
                    assert_eq!(owned[block.0].fetch_add(1, SeqCst), 0, "it has another owner");
                    assert_eq!(owned[block.0].fetch_sub(1, SeqCst), 1);
                    assert!(free_list.put(block).is_none());
                }
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let mut left: Vec<usize> = (0..PLACES).filter_map(|_| free_list.take(0)).map(|block| block.0).collect();
        left.sort_unstable();
        assert_eq!(left, [1, 2]);
    });
}

#[test]
fn a_value_is_made_once_and_reaches_all() {
    check(|| {
        let cache = Arc::new(Cache::<usize, usize>::new(Bounds { count: 1, weight: 10 }));
        let made = Arc::new(AtomicUsize::new(0));
        let threads = (0..3).map(|_| {
            let (cache, made) = (Arc::clone(&cache), Arc::clone(&made));
            thread::spawn(move || {
                let make = |key: &Arc<usize>| {
                    made.fetch_add(1, SeqCst);
                    Ok((Arc::new(**key * 2), 1))
                };
                assert_eq!(*cache.get(21, make).unwrap(), 42);
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!((made.load(SeqCst), cache.stats().count), (1, 1));
    });
}

#[test]
fn failures_reach_who_waits_and_are_not_kept() {
    check(|| {
        let cache = Arc::new(Cache::<usize, usize>::new(Bounds { count: 2, weight: 10 }));
        let other = Arc::clone(&cache);
        let failing =
            thread::spawn(move || other.get(1, |_| Err(Error::new(ErrorCode::Backend, "no"))).map(|value| *value));
        let got = cache.get(1, |_| Ok((Arc::new(5), 1))).map(|value| *value);
        let failed = failing.join().unwrap();
        // Each one computed it, or waited for the other: both have the same value.
        for result in [got, failed] {
            assert!(matches!(result, Ok(5)) || result.is_err_and(|error| error.headline() == "no"));
        }
        assert_eq!(*cache.get(1, |_| Ok((Arc::new(5), 1))).unwrap(), 5);
    });
}

#[test]
fn what_is_evicted_lives_on_with_its_users() {
    check(|| {
        let cache = Arc::new(Cache::<usize, usize>::new(Bounds { count: 1, weight: 1 }));
        let threads = (0..3usize).map(|n| {
            let cache = Arc::clone(&cache);
            thread::spawn(move || {
                for key in [n % 2, 1 - n % 2] {
                    let value = cache.get(key, |key| Ok((Arc::new(**key + 7), 1))).unwrap();
                    assert_eq!(*value, key + 7);
                }
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let stats = cache.stats();
        assert_eq!((stats.count, stats.weight), (1, 1));
        assert_eq!(stats.misses, stats.evictions + 1);
    });
}

/// A value with a key, as a plan with its signature.
struct Keyed {
    key: usize,
    last_use: AtomicU64,
}

impl Keyed {
    fn new(key: usize) -> Arc<Keyed> {
        Arc::new(Keyed { key, last_use: AtomicU64::new(0) })
    }
}

impl LastUse for Keyed {
    fn last_use(&self) -> &AtomicU64 {
        &self.last_use
    }
}

/// Threads look up keys and insert a value on a miss. Each gets a value of its key, and the set has each key once and stays within its
/// limit, whatever was evicted.
#[test]
fn a_key_is_found_or_kept_once() {
    check(|| {
        let recent = Arc::new(Recent::<Keyed>::new(2));
        let kept = Arc::new(AtomicUsize::new(0));
        let evicted = Arc::new(AtomicUsize::new(0));
        let threads = (0..3usize).map(|n| {
            let (recent, kept, evicted) = (Arc::clone(&recent), Arc::clone(&kept), Arc::clone(&evicted));
            thread::spawn(move || {
                for key in [n % 2, 2, n % 2] {
                    if let Some(found) = recent.find(|value| value.key == key) {
                        assert_eq!(found.key, key);
                        continue;
                    }
                    match recent.insert(&Keyed::new(key), |value| value.key == key) {
                        Inserted::Known(known) => assert_eq!(known.key, key),
                        Inserted::New { evicted: gone } => {
                            kept.fetch_add(1, SeqCst);
                            evicted.fetch_add(usize::from(gone.is_some()), SeqCst);
                        }
                    }
                }
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let mut keys: Vec<usize> = recent.all().iter().map(|value| value.key).collect();
        keys.sort_unstable();
        assert!(keys.len() == 2 && keys[0] < keys[1], "{keys:?}");
        assert_eq!(kept.load(SeqCst), keys.len() + evicted.load(SeqCst));
        assert!(recent.last().is_some_and(|last| keys.contains(&last.key)));
    });
}

/// The last value used stays; an evicted value that was found lives on.
#[test]
fn what_is_in_use_stays_or_lives_on() {
    check(|| {
        let recent = Arc::new(Recent::<Keyed>::new(1));
        let other = Arc::clone(&recent);
        recent.insert(&Keyed::new(0), |value| value.key == 0);
        let second = thread::spawn(move || {
            other.insert(&Keyed::new(1), |value| value.key == 1);
        });
        if let Some(found) = recent.find(|value| value.key == 0) {
            thread::yield_now();
            assert_eq!(found.key, 0);
        }
        second.join().unwrap();
        assert!(recent.find(|value| value.key == 0).is_none());
        assert_eq!(recent.find(|value| value.key == 1).map(|found| found.key), Some(1));
    });
}
