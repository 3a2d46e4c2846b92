//! A thread pool: workers that help the threads that submit jobs.
//!
//! A worker spins for a while before it sleeps, so frequent jobs start within a microsecond or two; a sleeping worker takes ten to twenty.
//! The submitting thread does its share and does not wait for late workers.
//!
//! Waking a worker takes ten to twenty microseconds, measured in a virtual machine. The submitting thread does short work without workers,
//! unless jobs are frequent enough to keep them awake.
//!
//! Work items are numbered. An idle thread takes the next number, so nobody waits for a descheduled worker, unless it has begun an item.
//!
//! Several threads may submit jobs at once, each in its own slot; workers go to open slots. A submitting thread occupies a processor, so
//! workers use only the remaining processors.
//!
//! A waiting thread does no other work, unlike in work-stealing pools: its locks, values under computation and scoped settings are never
//! visible to another task. So waits follow calls and cannot form a cycle.

use crate::sync::Ordering::{Acquire, Relaxed, SeqCst};
use crate::sync::thread::{self, Thread};
use crate::sync::{Arc, AtomicBool, AtomicU64, AtomicUsize, spin_loop};
use std::cell::UnsafeCell;
use std::time::{Duration, Instant};

/// The time for which a worker spins before it sleeps.
const AWAKE: Duration = Duration::from_micros(100);
/// Spins between two clock reads.
const LOOKS: u32 = 64;
/// The maximum number of threads that submit jobs at once; others run theirs without workers.
const SLOTS: usize = 64;

/// In [`JobSlot::state`]: whether workers may begin. The lower bits are how many more may.
const OPEN: usize = 1 << (usize::BITS - 1);
const ROOM: usize = OPEN - 1;

/// Waiting threads. They end soon after the pool is dropped, without a join.
#[derive(Debug)]
pub struct ThreadPool {
    shared: Arc<PoolState>,
    workers: Vec<Thread>,
}

/// The work per number. It must not unwind: that would end a worker.
type WorkFn<'a> = dyn Fn(usize) + Sync + 'a;

struct PoolState {
    slots: Box<[JobSlot]>,
    /// A bit for each slot in use.
    taken: AtomicU64,
    /// A bit for each slot with untaken numbers.
    open: AtomicU64,
    /// The last submission of short work while workers slept, ns after `begun`.
    last: AtomicU64,
    begun: Instant,
    ended: AtomicBool,
    /// Whether each worker sleeps, is about to, or has not begun.
    asleep: Box<[AtomicBool]>,
    /// The time for which workers spin.
    awake: Duration,
}

/// The job of one thread. Slots are padded against false sharing.
#[repr(align(128))]
struct JobSlot {
    /// Whether workers may begin the job, and how many more.
    state: AtomicUsize,
    /// Written while no worker is inside and none may enter; read by workers inside.
    job: UnsafeCell<Option<Job>>,
    /// The next untaken number.
    next: AtomicUsize,
}

#[derive(Clone, Copy)]
struct Job {
    work: *const WorkFn<'static>,
    count: usize,
}

// SAFETY: `job` is written only by the owner of the slot's bit of `taken`, before `OPEN` is set and after the last worker has left, and
// read only by workers inside, between the two: `state` orders them. Its pointee is `Sync`, and lives while workers are inside.
unsafe impl Sync for JobSlot {}
// SAFETY: as above; nothing in it is bound to a thread.
unsafe impl Send for JobSlot {}

impl std::fmt::Debug for PoolState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PoolState({} workers)", self.asleep.len())
    }
}

impl ThreadPool {
    /// A pool of `workers` threads beside the submitting ones, or fewer if the system refuses them.
    pub fn new(workers: usize) -> ThreadPool {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let slot = |_| JobSlot { state: AtomicUsize::new(0), job: UnsafeCell::new(None), next: AtomicUsize::new(0) };
        let shared = Arc::new(PoolState {
            slots: (0..SLOTS.min(workers + 1)).map(slot).collect(),
            taken: AtomicU64::new(0),
            open: AtomicU64::new(0),
            last: AtomicU64::new(u64::MAX),
            begun: Instant::now(),
            ended: AtomicBool::new(false),
            asleep: (0..workers).map(|_| AtomicBool::new(true)).collect(),
            // Spinning workers without their own processor would slow down others.
            awake: if workers < processors { AWAKE } else { Duration::ZERO },
        });
        let mut pool = ThreadPool { shared, workers: Vec::with_capacity(workers) };
        for number in 0..workers {
            let shared = Arc::clone(&pool.shared);
            let builder = thread::Builder::new().name(format!("ndjit-worker-{number}"));
            let Ok(worker) = builder.spawn(move || shared.worker(number)) else { break };
            pool.workers.push(worker.thread().clone());
        }
        pool
    }

    /// The requested number of threads, including a submitting one.
    pub fn size(&self) -> usize {
        self.shared.asleep.len() + 1
    }

    /// Calls `work` once with each number below `count`, here and on fewer than `most` workers, and returns when all are done. `short` work
    /// does not wake workers.
    pub fn run(&self, count: usize, most: usize, short: bool, work: &WorkFn<'_>) {
        let shared = &*self.shared;
        let alone = || (0..count).for_each(work);
        let Some(taken) = Taken::of(shared) else { return alone() };
        let left = (self.workers.len() + 1).saturating_sub(taken.givers);
        let room = count.min(most).saturating_sub(1).min(left);
        let asleep = |asleep: &AtomicBool| asleep.load(Relaxed);
        let wake = !short || shared.asleep.iter().any(asleep) && shared.comes_often();
        if room == 0 || !wake && shared.asleep.iter().all(asleep) {
            return alone();
        }
        let slot = &shared.slots[taken.slot];
        let work: *const WorkFn<'_> = work;
        // SAFETY: only lifetimes change. Workers inside use the pointer; `JobGuard` waits for them before this returns or unwinds.
        let lasting = unsafe { std::mem::transmute::<*const WorkFn<'_>, *const WorkFn<'static>>(work) };
        // SAFETY: the slot is ours and has no open job, so nobody accesses the job.
        unsafe { *slot.job.get() = Some(Job { work: lasting, count }) };
        slot.next.store(0, Relaxed);
        let guard = JobGuard { shared, slot: taken.slot, room };
        slot.state.store(OPEN | room, SeqCst);
        shared.open.fetch_or(bit(taken.slot), SeqCst);
        if wake {
            // A worker woken by one thread is not counted by another.
            let asleep = self.workers.iter().zip(&shared.asleep).filter(|(_, asleep)| asleep.swap(false, SeqCst));
            asleep.take(room).for_each(|(worker, _)| worker.unpark());
        }
        // SAFETY: the caller's reference.
        shared.take_part(taken.slot, unsafe { &*work }, count);
        drop(guard);
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.ended.store(true, SeqCst);
        self.workers.iter().for_each(Thread::unpark);
    }
}

fn bit(slot: usize) -> u64 {
    1 << slot
}

/// A slot in use. Released on drop.
struct Taken<'a> {
    shared: &'a PoolState,
    slot: usize,
    /// The number of submitting threads, including this one.
    givers: usize,
}

impl<'a> Taken<'a> {
    /// The first free slot.
    fn of(shared: &'a PoolState) -> Option<Taken<'a>> {
        let free = |taken: u64| Some(taken.trailing_ones() as usize).filter(|&slot| slot < shared.slots.len());
        let take = |taken: u64| Some(taken | bit(free(taken)?));
        let before = shared.taken.fetch_update(Acquire, Relaxed, take).ok()?;
        Some(Taken { shared, slot: free(before)?, givers: before.count_ones() as usize + 1 })
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.shared.taken.fetch_and(!bit(self.slot), SeqCst);
    }
}

/// An open job. Closed on drop: workers no longer enter, and those inside are waited for.
struct JobGuard<'a> {
    shared: &'a PoolState,
    slot: usize,
    room: usize,
}

impl Drop for JobGuard<'_> {
    fn drop(&mut self) {
        let slot = &self.shared.slots[self.slot];
        self.shared.open.fetch_and(!bit(self.slot), SeqCst);
        let mut state = slot.state.fetch_and(ROOM, SeqCst);
        let mut looks = 0u32;
        while state & ROOM != self.room {
            // The system may have descheduled a worker for a spinning thread.
            if looks < LOOKS * LOOKS {
                spin_loop()
            } else {
                thread::yield_now()
            }
            looks = looks.saturating_add(1);
            state = slot.state.load(Acquire);
        }
    }
}

/// A worker inside a job. Leaves it on drop.
struct Inside<'a> {
    shared: &'a PoolState,
    slot: usize,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.shared.slots[self.slot].state.fetch_add(1, SeqCst);
    }
}

impl PoolState {
    /// Whether work was submitted within the spinning time; called with new work.
    fn comes_often(&self) -> bool {
        let now = self.begun.elapsed().as_nanos() as u64;
        let last = self.last.swap(now, Relaxed);
        now.checked_sub(last).is_some_and(|between| u128::from(between) < self.awake.as_nanos())
    }

    /// Takes numbers until there are none. The caller is inside or owns the slot, so it clears this job's bit.
    fn take_part(&self, slot: usize, work: &WorkFn<'_>, count: usize) {
        loop {
            let number = self.slots[slot].next.fetch_add(1, Relaxed);
            if number >= count {
                self.open.fetch_and(!bit(slot), SeqCst);
                return;
            }
            work(number);
        }
    }

    /// The worker loop: finds jobs, takes part in each, and sleeps after a while without one.
    fn worker(&self, number: usize) {
        self.asleep[number].store(false, SeqCst);
        while let Some(inside) = self.wait(number) {
            // SAFETY: inside, the job exists and does not change.
            if let Some(Job { work, count }) = unsafe { *self.slots[inside.slot].job.get() } {
                // SAFETY: the pointee lives while a worker is inside: `JobGuard` waits.
                self.take_part(inside.slot, unsafe { &*work }, count);
            }
            drop(inside);
        }
    }

    /// Enters a job with room, if there is one. Workers start at different slots.
    fn enter(&self, number: usize) -> Option<Inside<'_>> {
        let first = number % SLOTS;
        let mut open = self.open.load(SeqCst).rotate_right(first as u32);
        while open != 0 {
            let slot = (open.trailing_zeros() as usize + first) % SLOTS;
            open &= open - 1;
            let room = |state: usize| (state > OPEN).then(|| state - 1);
            if self.slots[slot].state.fetch_update(SeqCst, Relaxed, room).is_ok() {
                return Some(Inside { shared: self, slot });
            }
        }
        None
    }

    /// Waits for a job and enters it. `None` when the pool ends.
    fn wait(&self, number: usize) -> Option<Inside<'_>> {
        let mut begun: Option<Instant> = None;
        let mut looks = 0u32;
        loop {
            if let Some(inside) = self.enter(number) {
                return Some(inside);
            }
            if self.ended.load(SeqCst) {
                return None;
            }
            looks = looks.wrapping_add(1);
            if !looks.is_multiple_of(LOOKS) && !self.awake.is_zero() {
                spin_loop();
                continue;
            }
            if begun.get_or_insert_with(Instant::now).elapsed() < self.awake {
                continue;
            }
            if let Some(inside) = self.sleep(number) {
                return Some(inside);
            }
            begun = None;
        }
    }

    /// Sleeps, unless there is a job. A submitting thread opens the job before it reads `asleep`; here the order is reversed, so one of
    /// them sees the other.
    fn sleep(&self, number: usize) -> Option<Inside<'_>> {
        self.asleep[number].store(true, SeqCst);
        let inside = self.enter(number);
        if inside.is_none() && !self.ended.load(SeqCst) {
            thread::park();
        }
        self.asleep[number].store(false, SeqCst);
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(pool: &ThreadPool, count: usize) -> usize {
        let sum = AtomicUsize::new(0);
        pool.run(count, usize::MAX, false, &|number| {
            sum.fetch_add(number + 1, Relaxed);
        });
        sum.into_inner()
    }

    fn sleeps(pool: &ThreadPool) {
        while !pool.shared.asleep[0].load(SeqCst) {
            thread::yield_now();
        }
    }

    #[test]
    fn each_number_is_done_once() {
        for workers in [0, 1, 3, 100] {
            let pool = ThreadPool::new(workers);
            for count in (0..200).chain([10_000]) {
                assert_eq!(sum(&pool, count), count * (count + 1) / 2, "{count} with {workers}");
            }
        }
    }

    /// Each of two items waits until the other has begun: two threads run them concurrently.
    #[test]
    fn members_take_part_asleep_or_awake() {
        let pool = ThreadPool::new(1);
        for round in 0..200 {
            if round % 10 == 0 {
                sleeps(&pool);
            }
            let begun = AtomicUsize::new(0);
            pool.run(2, 2, false, &|_| {
                begun.fetch_add(1, SeqCst);
                while begun.load(SeqCst) < 2 {
                    thread::yield_now();
                }
            });
        }
    }

    /// The submitting thread runs short work while workers sleep; workers help when it is frequent.
    #[test]
    fn short_work_wakes_members_if_it_comes_often() {
        let pool = ThreadPool::new(1);
        let here = thread::current().id();
        sleeps(&pool);
        let alone = || {
            let alone = AtomicBool::new(true);
            pool.run(64, 64, true, &|_| {
                alone.fetch_and(thread::current().id() == here, SeqCst);
                thread::yield_now();
            });
            alone.into_inner()
        };
        assert!(alone());
        // Until the worker takes part: on a slow system it sleeps again.
        while alone() {}
    }

    /// A thread runs only its own items while it waits.
    #[test]
    fn whoever_waits_does_its_own_work_alone() {
        thread_local! {
            static WITHIN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
        }
        let pool = ThreadPool::new(3);
        let strange = AtomicUsize::new(0);
        thread::scope(|scope| {
            for giver in 1..=8 {
                let (pool, strange) = (&pool, &strange);
                scope.spawn(move || {
                    WITHIN.set(giver);
                    for count in 0..300 {
                        pool.run(count % 9, 4, count % 2 == 0, &|number| {
                            let foreign = ![0, giver].contains(&WITHIN.get());
                            strange.fetch_add(usize::from(foreign), Relaxed);
                            if number == 3 {
                                assert_eq!(sum(pool, 5), 15);
                            }
                        });
                    }
                });
            }
        });
        assert_eq!(strange.into_inner(), 0);
    }

    /// Two threads submit jobs for two threads each: workers go to both.
    #[test]
    fn several_may_give_work_at_once() {
        let pool = ThreadPool::new(3);
        let begun = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let wait = |_: usize| {
                        begun.fetch_add(1, SeqCst);
                        while begun.load(SeqCst) < 4 {
                            thread::yield_now();
                        }
                    };
                    pool.run(2, 2, false, &wait);
                });
            }
        });
        assert_eq!(begun.into_inner(), 4);
    }

    /// At most the requested number of threads run, and all of them with enough work.
    #[test]
    fn no_more_threads_work_than_may() {
        let pool = ThreadPool::new(7);
        for most in 1..8 {
            let (at_work, highest) = (AtomicUsize::new(0), AtomicUsize::new(0));
            pool.run(most * 20, most, false, &|_| {
                highest.fetch_max(at_work.fetch_add(1, SeqCst) + 1, SeqCst);
                let begun = Instant::now();
                while highest.load(SeqCst) < most && begun.elapsed() < Duration::from_secs(10) {
                    thread::yield_now();
                }
                at_work.fetch_sub(1, SeqCst);
            });
            assert_eq!(highest.into_inner(), most);
        }
    }

    #[test]
    fn members_end_with_the_team() {
        let pool = ThreadPool::new(5);
        let shared = Arc::downgrade(&pool.shared);
        assert_eq!(sum(&pool, 3), 6);
        drop(pool);
        while shared.strong_count() > 0 {
            thread::yield_now();
        }
    }

    /// The submitting thread unwinds, after all workers have left the job.
    #[test]
    fn unwinding_ends_the_job() {
        let pool = ThreadPool::new(1);
        let here = thread::current().id();
        let work = |_: usize| assert_ne!(thread::current().id(), here, "here");
        // The worker may be faster.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.run(2, 2, false, &work)));
        assert_eq!((pool.shared.taken.load(SeqCst), pool.shared.open.load(SeqCst)), (0, 0));
        assert_eq!(sum(&pool, 3), 6);
    }
}
