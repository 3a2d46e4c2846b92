//! Splitting a kernel's iteration space over threads.
//!
//! Results never depend on the split: indices are independent. A panic in a chunk is an error.
//!
//! Chunks go to a [`Team`], which begins sooner than rayon's workers do. Where that is at work for somebody else, or the calling
//! thread is one of rayon's, they go to rayon: threads that are there share all work.

use crate::helper::panic_message;
use crate::team::Team;
use ndjit_ir::lock::Mutex;
use ndjit_ir::{Error, ErrorCode, Result};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// Below this estimate a kernel runs on the calling thread, ns.
const SERIAL: f64 = 8_000.0;
/// A chunk takes at least this long by estimate, ns, or has at least [`CHUNK_ELEMENTS`] elements.
const CHUNK: f64 = 4_000.0;
/// Below this estimate a kernel is not worth waking threads for, ns. A polynomial of 100,000 `f32` took 14.5 us on one thread, 7.3 on two that were awake,
/// 27 where one had to be woken; of 200,000 27, 21 and 35.
const SHORT: f64 = 60_000.0;
/// See [`CHUNK`].
const CHUNK_ELEMENTS: usize = 16 << 10;
/// Chunks per thread, so that a thread that is late can be helped.
pub const CHUNKS_PER_THREAD: usize = 4;
/// Chunks of the innermost loop are multiples of this many elements: whole vectors, whole cache lines.
const GRAIN: usize = 64;

/// The threads a program may use.
#[derive(Clone, Debug)]
pub enum Threads {
    /// The calling thread.
    Serial,
    /// More than one.
    Several(Arc<Several>),
}

/// Threads, the calling one among them.
#[derive(Debug)]
pub struct Several {
    count: usize,
    /// `None` where the system refused threads.
    team: Option<Team>,
    pool: Pool,
}

/// Rayon's threads.
#[derive(Debug)]
enum Pool {
    Global,
    /// Those of a pool that is made when it is needed; `None` where the system refused threads.
    Own(OnceLock<Option<ThreadPool>>),
}

impl Threads {
    /// `None`: as many threads as rayon's global pool has; `Some(n)`: `n` threads (0 counts as 1). Shared by all who ask for that number.
    ///
    /// # Errors
    /// `Backend` if `n` threads cannot be started.
    pub fn new(count: Option<usize>) -> Result<Threads> {
        static GLOBAL: OnceLock<Threads> = OnceLock::new();
        static OTHERS: Mutex<Vec<Arc<Several>>> = Mutex::new(Vec::new());
        let count = match count {
            None => return Ok(GLOBAL.get_or_init(Threads::global).clone()),
            Some(0 | 1) => return Ok(Threads::Serial),
            Some(count) => count,
        };
        let mut others = OTHERS.lock();
        if let Some(several) = others.iter().find(|several| several.count == count) {
            return Ok(Threads::Several(Arc::clone(several)));
        }
        let team = Team::new(count - 1).map_err(|error| {
            Error::new(ErrorCode::Backend, "threads: the system refused threads")
                .fact(error)
                .fact(format_args!("{count} threads"))
        })?;
        let several = Arc::new(Several { count, team: Some(team), pool: Pool::Own(OnceLock::new()) });
        others.push(Arc::clone(&several));
        Ok(Threads::Several(several))
    }

    fn global() -> Threads {
        // The first call starts the pool, which panics where the system refuses threads.
        match catch(|| Ok(rayon::current_num_threads())).unwrap_or(1) {
            0 | 1 => Threads::Serial,
            count => Threads::Several(Arc::new(Several { count, team: Team::new(count - 1).ok(), pool: Pool::Global })),
        }
    }

    /// The number of threads.
    pub fn count(&self) -> usize {
        match self {
            Threads::Serial => 1,
            Threads::Several(several) => several.count,
        }
    }

    /// Runs `work` once per chunk, in any order, and waits for all.
    ///
    /// # Errors
    /// One that `work` returned; `Panic` if it panicked.
    pub fn run(&self, split: &Split, work: impl Fn(Chunk) -> Result<()> + Sync) -> Result<()> {
        self.each(split.count, split.time, |i| work(split.chunk(i)))
    }

    /// Runs `work` once for each number below `count`, in any order, and waits for all; `time` is what that takes one thread by estimate, ns.
    ///
    /// # Errors
    /// One that `work` returned; `Panic` if it panicked.
    pub fn each(&self, count: usize, time: f64, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
        match self {
            Threads::Several(several) if count > 1 => several.each(count, time < SHORT, &work),
            _ => catch(|| (0..count).try_for_each(work)),
        }
    }

    /// Into how many pieces `size` elements are worth cutting, at an estimated cost per element in ns: 1 where the calling
    /// thread alone is as fast.
    pub fn pieces(&self, size: usize, cost: f64) -> usize {
        let total = size as f64 * cost;
        if total < SERIAL || matches!(self, Threads::Serial) {
            return 1;
        }
        let most = self.count().saturating_mul(CHUNKS_PER_THREAD);
        ((total / CHUNK) as usize).max(size / CHUNK_ELEMENTS).clamp(1, most)
    }
}

impl Several {
    fn each(&self, count: usize, short: bool, work: &(impl Fn(usize) -> Result<()> + Sync)) -> Result<()> {
        // A thread of rayon's that waits for the team would keep other work of rayon's waiting.
        let team = self.team.as_ref().filter(|_| rayon::current_thread_index().is_none());
        let failed = OnceLock::new();
        let one = |number| {
            if failed.get().is_none()
                && let Err(error) = catch(|| work(number))
            {
                // The first error is told.
                let _ = failed.set(error);
            }
        };
        if team.is_some_and(|team| team.run(count, short, &one)) {
            return failed.into_inner().map_or(Ok(()), Err);
        }
        let all = || (0..count).into_par_iter().try_for_each(work);
        catch(|| match &self.pool {
            Pool::Global => all(),
            Pool::Own(pool) => match pool.get_or_init(|| self.own_pool()) {
                Some(pool) => pool.install(all),
                None => (0..count).try_for_each(work),
            },
        })
    }

    fn own_pool(&self) -> Option<ThreadPool> {
        ThreadPoolBuilder::new().num_threads(self.count).thread_name(|i| format!("ndjit-{i}")).build().ok()
    }
}

/// Runs `work`; a panic in it is an error.
///
/// # Errors
/// What `work` returns; `Panic` if it panicked.
pub fn catch<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        Err(Error::new(ErrorCode::Panic, "run: a worker thread panicked").fact(panic_message(&*payload)))
    })
}

/// A run of indices of one loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The loop.
    pub axis: usize,
    /// First index.
    pub start: usize,
    /// Number of indices.
    pub len: usize,
}

/// How a kernel's iteration space is cut: one loop, into runs of equal length except the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    axis: usize,
    extent: usize,
    len: usize,
    count: usize,
    /// What all of it takes one thread by estimate, ns.
    time: f64,
}

impl Split {
    /// The split of a space with these `extents`, outermost first, at an estimated cost per element in ns. `None` where the
    /// calling thread alone is as fast.
    pub fn new(extents: &[usize], cost: f64, threads: &Threads) -> Option<Split> {
        let size = extents.iter().fold(1usize, |n, &e| n.saturating_mul(e));
        let pieces = threads.pieces(size, cost);
        if pieces == 1 {
            return None;
        }
        // The outermost loop with enough indices: its chunks are contiguous. Otherwise the longest.
        let longest = (0..extents.len()).rev().max_by_key(|&axis| extents[axis])?;
        let axis = extents.iter().position(|&e| e >= pieces).unwrap_or(longest);
        let extent = extents[axis];
        let mut len = extent.div_ceil(pieces);
        if axis + 1 == extents.len() {
            len = len.next_multiple_of(GRAIN);
        }
        let count = extent.div_ceil(len.max(1));
        (count > 1).then_some(Split { axis, extent, len, count, time: size as f64 * cost })
    }

    fn chunk(&self, index: usize) -> Chunk {
        let start = index * self.len;
        Chunk { axis: self.axis, start, len: self.len.min(self.extent - start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_space_once() {
        let threads = Threads::new(Some(3)).unwrap();
        for extents in [&[1_000_001][..], &[7, 100_003], &[100_003, 7], &[2, 3, 99_999], &[64, 64, 64]] {
            let split = Split::new(extents, 1.0, &threads).unwrap();
            let chunks = Mutex::new(Vec::new());
            let note = |chunk| {
                chunks.lock().push(chunk);
                Ok(())
            };
            threads.run(&split, note).unwrap();
            let mut chunks = std::mem::take(&mut *chunks.lock());
            chunks.sort_by_key(|c| c.start);
            let mut next = 0;
            for chunk in &chunks {
                assert_eq!((chunk.axis, chunk.start), (split.axis, next));
                assert!(chunk.len > 0);
                next += chunk.len;
            }
            assert_eq!(next, extents[split.axis], "{extents:?}");
            assert!(chunks.len() > 1 && chunks.len() <= 12);
        }
    }

    #[test]
    fn little_work_stays_on_the_calling_thread() {
        let threads = Threads::new(Some(2)).unwrap();
        assert_eq!(Split::new(&[7_000], 1.0, &threads), None);
        assert_eq!(Split::new(&[1 << 30], 1.0, &Threads::Serial), None);
        assert_eq!(Split::new(&[0, 1 << 30], 1.0, &threads), None);
        assert!(Split::new(&[9_000], 1.0, &threads).is_some());
        assert!(Split::new(&[2_000], 100.0, &threads).is_some());
        assert!(Split::new(&[usize::MAX, usize::MAX], 1.0, &threads).is_some());
    }

    #[test]
    fn a_panic_in_a_worker_is_an_error_and_the_pool_lives_on() {
        for threads in [Threads::Serial, Threads::new(None).unwrap(), Threads::new(Some(2)).unwrap()] {
            let split = Split { axis: 0, extent: 8, len: 1, count: 8, time: 1e6 };
            let work = |chunk: Chunk| {
                assert_ne!(chunk.start, 5, "chunk five");
                Ok(())
            };
            let error = threads.run(&split, work).unwrap_err();
            assert_eq!(error.code(), ErrorCode::Panic);
            assert!(error.facts()[0].contains("chunk five"));
            threads.run(&split, |_| Ok(())).unwrap();
        }
    }
}
