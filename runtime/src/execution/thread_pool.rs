//! A thread pool: workers that wait for jobs beside those that give it.
//!
//! A worker looks for work for a while before it sleeps, so that work given again and again is begun within a microsecond or two; threads
//! that sleep in between take ten to twenty. The one who gives work does its share, and workers that come too late for
//! it are not waited for.
//!
//! To wake a worker takes ten to twenty microseconds, measured in a virtual machine: what is short is done by the one who gives it, unless work comes so
//! often that workers would be awake the next time.
//!
//! Work is numbered. Whoever is free takes the next number, so nobody waits for a worker that the system has put aside, unless
//! it has begun.
//!
//! Several threads may give work at once, each in a slot of its own; workers go where there is some. One that gives work keeps a
//! processor busy, so workers help only those processors that are left.
//!
//! Whoever waits here does no other work meanwhile, unlike in pools whose threads steal: what a thread holds while it waits (locks, values that
//! are being made, the settings of its scopes) is met by nobody else's task. So waits follow calls and never go round in a circle.

use crate::sync::Ordering::{Acquire, Relaxed, SeqCst};
use crate::sync::thread::{self, Thread};
use crate::sync::{Arc, AtomicBool, AtomicU64, AtomicUsize, spin_loop};
use std::cell::UnsafeCell;
use std::time::{Duration, Instant};

/// How long a worker looks for work before it sleeps.
const AWAKE: Duration = Duration::from_micros(100);
/// Looks between two of the clock.
const LOOKS: u32 = 64;
/// Threads that give work at once, at most; others do theirs alone.
const SLOTS: usize = 64;

/// In [`JobSlot::state`]: whether workers may begin. Below is how many more may.
const OPEN: usize = 1 << (usize::BITS - 1);
const ROOM: usize = OPEN - 1;

/// Threads that wait for work. They end when it is dropped, each as soon as it sees that; nobody waits for them.
#[derive(Debug)]
pub struct ThreadPool {
    shared: Arc<PoolState>,
    workers: Vec<Thread>,
}

/// What is done with each number. It is not to unwind: a worker would end.
type WorkFn<'a> = dyn Fn(usize) + Sync + 'a;

struct PoolState {
    slots: Box<[JobSlot]>,
    /// A bit for each slot in which somebody gives work.
    taken: AtomicU64,
    /// A bit for each slot with numbers that nobody has taken.
    open: AtomicU64,
    /// When short work was last given while workers slept, ns after `begun`.
    last: AtomicU64,
    begun: Instant,
    ended: AtomicBool,
    /// For each worker whether it sleeps, is about to, or has not begun.
    asleep: Box<[AtomicBool]>,
    /// How long workers look for work.
    awake: Duration,
}

/// The work of one thread. Slots lie apart, so that those of others do not slow it down.
#[repr(align(128))]
struct JobSlot {
    /// Whether workers may begin with the job, and how many more.
    state: AtomicUsize,
    /// Written while no worker is inside and none may begin; read by workers inside.
    job: UnsafeCell<Option<Job>>,
    /// The next number that nobody has taken.
    next: AtomicUsize,
}

#[derive(Clone, Copy)]
struct Job {
    work: *const WorkFn<'static>,
    count: usize,
}

// SAFETY: `job` is written only by the one who has the slot's bit of `taken`, before `OPEN` is set and after the last worker has left, and
// read only by workers inside, between the two: `state` orders them. What it points to is `Sync`, and lives while workers are inside.
unsafe impl Sync for JobSlot {}
// SAFETY: as above; nothing in it belongs to a thread.
unsafe impl Send for JobSlot {}

impl std::fmt::Debug for PoolState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PoolState({} workers)", self.asleep.len())
    }
}

impl ThreadPool {
    /// A pool that has `workers` threads beside those that give work, or fewer where the system refuses them.
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
            // Workers without a processor of their own would keep the others from working.
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

    /// The threads that were asked for, one that gives work among them.
    pub fn size(&self) -> usize {
        self.shared.asleep.len() + 1
    }

    /// Does `work` once with each number below `count`, here and by fewer than `most` workers, and returns when all is done. Work that is
    /// `short` is not worth waking workers for.
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
        // SAFETY: lifetimes alone change. The pointer is used by workers inside; `JobGuard` waits for them before this returns or unwinds.
        let lasting = unsafe { std::mem::transmute::<*const WorkFn<'_>, *const WorkFn<'static>>(work) };
        // SAFETY: the slot is ours and no job of it is open, so nobody reads or writes the job.
        unsafe { *slot.job.get() = Some(Job { work: lasting, count }) };
        slot.next.store(0, Relaxed);
        let guard = JobGuard { shared, slot: taken.slot, room };
        slot.state.store(OPEN | room, SeqCst);
        shared.open.fetch_or(bit(taken.slot), SeqCst);
        if wake {
            // Whom one thread wakes, another that gives work does not count on.
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

/// A slot that a thread has. Given back when dropped.
struct Taken<'a> {
    shared: &'a PoolState,
    slot: usize,
    /// How many threads give work, this one among them.
    givers: usize,
}

impl<'a> Taken<'a> {
    /// The first that is free.
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

/// A job that workers may begin with. Ends it when dropped: none begins any more, and all that have are done.
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
            // The system may have put a worker aside for a thread like this one.
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

/// A worker that takes part in a job. Leaves it when dropped.
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
    /// Whether work was given within the time that workers look for it; the one who asks has some.
    fn comes_often(&self) -> bool {
        let now = self.begun.elapsed().as_nanos() as u64;
        let last = self.last.swap(now, Relaxed);
        now.checked_sub(last).is_some_and(|between| u128::from(between) < self.awake.as_nanos())
    }

    /// Takes numbers until there are none. Whoever does is inside or has the slot, so that the bit it clears is that of this job.
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

    /// What a worker does: looks for jobs, takes part in each, sleeps if there are none for long.
    fn worker(&self, number: usize) {
        self.asleep[number].store(false, SeqCst);
        while let Some(inside) = self.wait(number) {
            // SAFETY: inside, the job is there and does not change.
            if let Some(Job { work, count }) = unsafe { *self.slots[inside.slot].job.get() } {
                // SAFETY: what it points to lives while a worker is inside: `JobGuard` waits.
                self.take_part(inside.slot, unsafe { &*work }, count);
            }
            drop(inside);
        }
    }

    /// Enters a job that has room, if there is one. Workers look at different slots first.
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

    /// Sleeps, unless there is a job. Who gives one opens it before he looks at `asleep`; here it is the other way round: one of both sees the
    /// other.
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

    /// Each of two numbers waits until the other is begun: they are done at the same time, by two threads.
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

    /// Short work is done by the one who gives it while workers sleep, and by all when it comes often.
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
        // Until the worker is seen at work: it sleeps again where the system is slow.
        while alone() {}
    }

    /// The work of a thread that has given none is done by itself: nobody else's number is ever done where one waits.
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

    /// Two give work at once, each of which takes two threads: workers go to both.
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

    /// No more threads than were asked for are at work, and all are when there is work for them.
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

    /// The one who gives work unwinds, and nobody is left with it.
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
