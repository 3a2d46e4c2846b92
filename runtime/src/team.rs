//! A team: threads that wait for work beside the thread that gives it.
//!
//! A member looks for work for a while before it sleeps, so that work given again and again is begun within a microsecond or two; rayon's
//! workers, which sleep in between, take ten to twenty. The one who gives work does its share, and members that come too late for
//! it are not waited for.
//!
//! To wake a member takes ten to twenty microseconds, measured in a virtual machine: what is short is done by the one who gives it, unless work comes so
//! often that members would be awake the next time.
//!
//! Work is numbered. Whoever is free takes the next number, so nobody waits for a member that the system has put aside, unless
//! it has begun.

use ndjit_ir::reserve::{collect, reserve};
use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a member looks for work before it sleeps.
const AWAKE: Duration = Duration::from_micros(100);
/// Looks between two of the clock.
const LOOKS: u32 = 64;

/// In [`Shared::state`]: the number of members inside is below; above is the number of the job.
const OPEN: u64 = 1 << 31;
const INSIDE: u64 = OPEN - 1;
const NEXT: u64 = 1 << 32;

/// Threads that wait for work. They end when it is dropped.
#[derive(Debug)]
pub struct Team {
    shared: Arc<Shared>,
    members: Vec<JoinHandle<()>>,
}

/// What is done with each number. It is not to unwind: a member would end.
type Work<'a> = dyn Fn(usize) + Sync + 'a;

struct Shared {
    /// The number of the job, whether members may begin with it, and how many have and are not done.
    state: AtomicU64,
    /// Written while no member is inside and none may begin; read by members inside.
    job: UnsafeCell<Option<Job>>,
    /// The next number that nobody has taken.
    next: AtomicUsize,
    /// Whether somebody gives work.
    taken: AtomicBool,
    /// When short work was last given while members slept, ns after `begun`.
    last: AtomicU64,
    begun: Instant,
    ended: AtomicBool,
    /// For each member whether it sleeps, or is about to.
    asleep: Box<[AtomicBool]>,
    /// How long members look for work.
    awake: Duration,
}

#[derive(Clone, Copy)]
struct Job {
    work: *const Work<'static>,
    count: usize,
}

// SAFETY: `job` is written only by the one who has set `taken`, before `OPEN` is set and after the last member has left, and read only by
// members inside, between the two: `state` orders them. What it points to is `Sync`, and lives while members are inside.
unsafe impl Sync for Shared {}
// SAFETY: as above; nothing in it belongs to a thread.
unsafe impl Send for Shared {}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shared({} members)", self.asleep.len())
    }
}

impl Team {
    /// A team that has `members` threads beside the one that gives work.
    ///
    /// # Errors
    /// If the system refuses threads.
    pub fn new(members: usize) -> io::Result<Team> {
        let refused = |_| io::Error::from(io::ErrorKind::OutOfMemory);
        let asleep = collect("threads", (0..members).map(|_| AtomicBool::new(false))).map_err(refused)?;
        let threads = reserve("threads", members).map_err(refused)?;
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            state: AtomicU64::new(0),
            job: UnsafeCell::new(None),
            next: AtomicUsize::new(0),
            taken: AtomicBool::new(false),
            last: AtomicU64::new(u64::MAX),
            begun: Instant::now(),
            ended: AtomicBool::new(false),
            asleep: asleep.into(),
            // Members without a processor of their own would keep the others from working.
            awake: if members < processors { AWAKE } else { Duration::ZERO },
        });
        let mut team = Team { shared, members: threads };
        for number in 0..members {
            let shared = Arc::clone(&team.shared);
            let builder = thread::Builder::new().name(format!("ndjit-team-{number}"));
            team.members.push(builder.spawn(move || shared.member(number))?);
        }
        Ok(team)
    }

    /// Does `work` once with each number below `count`, here and in the team, and returns when all is done; `false` at once, with nothing
    /// done, if somebody else has the team. Work that is `short` is not worth waking members for.
    pub fn run(&self, count: usize, short: bool, work: &Work<'_>) -> bool {
        let shared = &*self.shared;
        if shared.taken.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            return false;
        }
        let asleep = |asleep: &AtomicBool| asleep.load(Relaxed);
        let wake = !short || shared.asleep.iter().any(asleep) && shared.comes_often();
        if !wake && shared.asleep.iter().all(asleep) {
            shared.taken.store(false, SeqCst);
            (0..count).for_each(work);
            return true;
        }
        let work: *const Work<'_> = work;
        // SAFETY: lifetimes alone change. The pointer is used by members inside; `Given` waits for them before this returns or unwinds.
        let lasting = unsafe { std::mem::transmute::<*const Work<'_>, *const Work<'static>>(work) };
        // SAFETY: `taken` is ours and no job is open, so nobody reads or writes the job.
        unsafe { *shared.job.get() = Some(Job { work: lasting, count }) };
        shared.next.store(0, Relaxed);
        let given = Given { shared };
        let state = shared.state.load(Relaxed);
        shared.state.store((state & !(NEXT - 1)).wrapping_add(NEXT) | OPEN, SeqCst);
        if wake {
            for (member, asleep) in self.members.iter().zip(&shared.asleep).take(count.saturating_sub(1)) {
                if asleep.load(SeqCst) {
                    member.thread().unpark();
                }
            }
        }
        // SAFETY: the caller's reference.
        shared.take_part(unsafe { &*work }, count);
        drop(given);
        true
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.ended.store(true, SeqCst);
        for member in self.members.drain(..) {
            member.thread().unpark();
            // A member that unwound has told so where it was.
            let _ = member.join();
        }
    }
}

/// A job that members may begin with. Ends it when dropped: none begins any more, and all that have are done.
struct Given<'a> {
    shared: &'a Shared,
}

impl Drop for Given<'_> {
    fn drop(&mut self) {
        let shared = self.shared;
        let mut state = shared.state.fetch_and(!OPEN, SeqCst);
        let mut looks = 0u32;
        while state & INSIDE != 0 {
            // The system may have put a member aside for a thread like this one.
            if looks < LOOKS * LOOKS {
                spin_loop()
            } else {
                thread::yield_now()
            }
            looks = looks.saturating_add(1);
            state = shared.state.load(Acquire);
        }
        shared.taken.store(false, SeqCst);
    }
}

/// A member that takes part in a job. Leaves it when dropped.
struct Inside<'a> {
    shared: &'a Shared,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.shared.state.fetch_sub(1, SeqCst);
    }
}

impl Shared {
    /// Whether work was given within the time that members look for it; the one who asks has some.
    fn comes_often(&self) -> bool {
        let now = self.begun.elapsed().as_nanos() as u64;
        let last = self.last.swap(now, Relaxed);
        now.checked_sub(last).is_some_and(|between| u128::from(between) < self.awake.as_nanos())
    }

    fn take_part(&self, work: &Work<'_>, count: usize) {
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            if number >= count {
                return;
            }
            work(number);
        }
    }

    /// What a member does: looks for jobs, takes part in each once, sleeps if there are none for long.
    fn member(&self, number: usize) {
        let mut last = 0;
        while let Some(job) = self.wait(number, last) {
            last = job;
            let inside = Inside { shared: self };
            // SAFETY: inside, the job is there and does not change.
            if let Some(Job { work, count }) = unsafe { *self.job.get() } {
                // SAFETY: what it points to lives while a member is inside: `Given` waits.
                self.take_part(unsafe { &*work }, count);
            }
            drop(inside);
        }
    }

    /// Waits for an open job other than the `last` and enters; its number. `None` when the team ends.
    fn wait(&self, number: usize, last: u64) -> Option<u64> {
        let mut begun: Option<Instant> = None;
        let mut looks = 0u32;
        loop {
            let state = self.state.load(SeqCst);
            let job = state / NEXT;
            if state & OPEN != 0 && job != last {
                if self.state.compare_exchange(state, state + 1, SeqCst, Relaxed).is_ok() {
                    return Some(job);
                }
                continue;
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
            self.sleep(number, last);
            begun = None;
        }
    }

    /// Sleeps, unless there is a job. Who gives one sets `state` before he looks at `asleep`; here it is the other way round: one of both sees the
    /// other.
    fn sleep(&self, number: usize, last: u64) {
        self.asleep[number].store(true, SeqCst);
        let state = self.state.load(SeqCst);
        let idle = state & OPEN == 0 || state / NEXT == last;
        if idle && !self.ended.load(SeqCst) {
            thread::park();
        }
        self.asleep[number].store(false, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(team: &Team, count: usize) -> Option<usize> {
        let sum = AtomicUsize::new(0);
        let done = team.run(count, false, &|number| {
            sum.fetch_add(number + 1, Relaxed);
        });
        done.then(|| sum.into_inner())
    }

    #[test]
    fn each_number_is_done_once() {
        for members in [0, 1, 3] {
            let team = Team::new(members).unwrap();
            for count in (0..200).chain([10_000]) {
                assert_eq!(sum(&team, count), Some(count * (count + 1) / 2), "{count} with {members}");
            }
        }
    }

    /// Each of two numbers waits until the other is begun: they are done at the same time, by two threads.
    #[test]
    fn members_take_part_asleep_or_awake() {
        let team = Team::new(1).unwrap();
        for round in 0..200 {
            if round % 10 == 0 {
                while !team.shared.asleep[0].load(SeqCst) {
                    thread::yield_now();
                }
            }
            let begun = AtomicUsize::new(0);
            team.run(2, false, &|_| {
                begun.fetch_add(1, SeqCst);
                while begun.load(SeqCst) < 2 {
                    thread::yield_now();
                }
            });
        }
    }

    /// Short work is done by the one who gives it while members sleep, and by all when it comes often.
    #[test]
    fn short_work_wakes_members_if_it_comes_often() {
        let team = Team::new(1).unwrap();
        let here = thread::current().id();
        let asleep = || {
            while !team.shared.asleep[0].load(SeqCst) {
                thread::yield_now();
            }
        };
        asleep();
        let alone = || {
            let alone = AtomicBool::new(true);
            team.run(64, true, &|_| {
                alone.fetch_and(thread::current().id() == here, SeqCst);
                thread::yield_now();
            });
            alone.into_inner()
        };
        assert!(alone());
        // Until the member is seen at work: it sleeps again where the system is slow.
        while alone() {}
    }

    #[test]
    fn who_comes_second_is_told_at_once() {
        let team = Team::new(1).unwrap();
        let refused = AtomicUsize::new(0);
        assert!(team.run(4, false, &|_| {
            refused.fetch_add(usize::from(sum(&team, 3).is_none()), Relaxed);
        }));
        assert_eq!(refused.into_inner(), 4);
        assert_eq!(sum(&team, 3), Some(6));
    }

    #[test]
    fn several_may_ask() {
        let team = Team::new(2).unwrap();
        let done = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for count in 0..2000 {
                        if let Some(sum) = sum(&team, count % 7) {
                            assert_eq!(sum, (count % 7) * (count % 7 + 1) / 2);
                            done.fetch_add(1, Relaxed);
                        }
                    }
                });
            }
        });
        assert!(done.into_inner() > 0);
    }

    /// The one who gives work unwinds, and nobody is left with it.
    #[test]
    fn unwinding_ends_the_job() {
        let team = Team::new(1).unwrap();
        let here = thread::current().id();
        let work = |_: usize| assert_ne!(thread::current().id(), here, "here");
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| team.run(1, false, &work)));
        // The member may have been faster.
        assert!(unwound.is_err() || unwound.is_ok_and(|done| done));
        assert_eq!(sum(&team, 3), Some(6));
    }
}
