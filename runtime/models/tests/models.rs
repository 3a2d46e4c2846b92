//! What must hold in whatever order threads run. `NDJIT_MODEL_RUNS` is how many orders are drawn of each; a failure prints the one that it was in.

use ndjit_ir::{Error, ErrorCode};
use ndjit_models::cache::{Bounds, Cache};
use ndjit_models::shelf::{PLACES, Shelf};
use ndjit_models::team::Team;
use ndjit_models::{Block, set_processors};
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::thread;

/// Runs `model` in many orders: drawn evenly, and with few changes of threads.
fn check(model: impl Fn() + Send + Sync + Clone + 'static) {
    let runs = std::env::var("NDJIT_MODEL_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(300);
    shuttle::check_random(model.clone(), runs);
    shuttle::check_pct(model, runs, 3);
}

/// Each number is done once, and all of them are done when the call returns; of a team of two members that sleep or look for work.
fn works(processors: usize) {
    set_processors(processors);
    check(|| {
        let team = Arc::new(Team::new(2));
        let give = |team: &Team, count: usize| {
            let done: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            team.run(count, 3, false, &|number| {
                done[number].fetch_add(1, SeqCst);
            });
            assert!(done.iter().all(|done| done.load(SeqCst) == 1));
        };
        let other = Arc::clone(&team);
        let second = thread::spawn(move || {
            give(&other, 3);
            give(&other, 2);
        });
        give(&team, 4);
        second.join().unwrap();
        drop(team);
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
        let team = Team::new(1);
        let done = AtomicUsize::new(0);
        team.run(2, 2, false, &|_| {
            team.run(2, 2, false, &|_| {
                done.fetch_add(1, SeqCst);
            });
        });
        assert_eq!(done.load(SeqCst), 4);
    });
}

#[test]
fn a_block_has_one_owner() {
    check(|| {
        let shelf = Arc::new(Shelf::new());
        let owned: Arc<Vec<AtomicUsize>> = Arc::new((0..4).map(|_| AtomicUsize::new(0)).collect());
        for number in 1..=2 {
            assert!(shelf.put(Block(number)).is_none());
        }
        let threads = (0..3).map(|_| {
            let (shelf, owned) = (Arc::clone(&shelf), Arc::clone(&owned));
            thread::spawn(move || {
                for _ in 0..2 {
                    let Some(block) = shelf.take(0) else { continue };
                    assert_eq!(owned[block.0].fetch_add(1, SeqCst), 0, "it has another owner");
                    assert_eq!(owned[block.0].fetch_sub(1, SeqCst), 1);
                    assert!(shelf.put(block).is_none());
                }
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let mut left: Vec<usize> = (0..PLACES).filter_map(|_| shelf.take(0)).map(|block| block.0).collect();
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
        // Either made it alone, or waited for the other: both have what one of them made.
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
