//! Distribution of a kernel's iteration space over threads.
//!
//! Results never depend on the split: indices are independent. A panic in a chunk is an error.
//!
//! The process has one [`ThreadPool`] with a thread per processor; calls with a lower limit use part of it. Calls with a higher limit share
//! larger pools, which end with their last user.

use crate::cancellation::{RunScopes, UNWATCHED};
use crate::environment;
use crate::execution::thread_pool::ThreadPool;
use crate::panics::{discard, panic_message};
use ndjit_ir::lock::Mutex;
use ndjit_ir::{Error, ErrorCode, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, Weak};
use std::thread;

/// Kernels with a smaller estimate run on the calling thread, ns.
const SERIAL: f64 = 8_000.0;
/// The minimum estimated time of a chunk, ns, unless it has [`CHUNK_ELEMENTS`] elements.
const CHUNK: f64 = 4_000.0;
/// Kernels with a smaller estimate do not wake threads, ns. A polynomial of 100,000 `f32` took 14.5 us on one thread, 7.3 on two that were
/// awake, 27 where one had to be woken; of 200,000 27, 21 and 35.
const SHORT: f64 = 60_000.0;
/// See [`CHUNK`].
const CHUNK_ELEMENTS: usize = 16 << 10;
/// Chunks per thread, which balances load.
pub const CHUNKS_PER_THREAD: usize = 4;
/// Chunks of the innermost loop are multiples of this many elements: whole vectors, whole cache lines.
const GRAIN: usize = 64;

/// The maximum number of threads of a program, or the number of processors if larger.
const MOST: usize = 64;

/// The threads a program may use.
#[derive(Clone, Debug)]
pub enum Threads {
    /// The calling thread.
    Serial,
    /// More than one.
    Several {
        /// Their number, including the calling thread.
        count: usize,
        /// Their pool.
        pool: Arc<ThreadPool>,
    },
}

/// The processors available to this process, read once: on Linux that reads three files, a twentieth of the time of compiling a small
/// program.
fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

impl Threads {
    /// `None`: one per processor, or as many as `NDJIT_NUM_THREADS` says; `Some(n)`: at most `n` threads (0 counts as 1).
    pub fn new(count: Option<usize>) -> Threads {
        static PROCESS: OnceLock<Arc<ThreadPool>> = OnceLock::new();
        static LARGER: Mutex<Vec<Weak<ThreadPool>>> = Mutex::new(Vec::new());
        let processors = processors();
        let most = MOST.max(processors);
        let own = || {
            let named = environment::read("NDJIT_NUM_THREADS", environment::threads);
            Arc::new(ThreadPool::new(named.unwrap_or(processors).clamp(1, most) - 1))
        };
        let own = PROCESS.get_or_init(own);
        let count = count.map_or(own.size(), |count| count.min(most));
        if count <= 1 {
            return Threads::Serial;
        }
        if count <= own.size() {
            return Threads::Several { count, pool: Arc::clone(own) };
        }
        let mut larger = LARGER.lock();
        larger.retain(|pool| pool.strong_count() > 0);
        let known = larger.iter().filter_map(Weak::upgrade).find(|pool| pool.size() >= count);
        let pool = known.unwrap_or_else(|| {
            // Few sizes, so there are few pools.
            let pool = Arc::new(ThreadPool::new(count.next_power_of_two().min(most) - 1));
            larger.push(Arc::downgrade(&pool));
            pool
        });
        Threads::Several { count, pool }
    }

    /// The number of threads.
    pub fn count(&self) -> usize {
        match self {
            Threads::Serial => 1,
            Threads::Several { count, .. } => *count,
        }
    }

    /// Runs `work` once per chunk, in any order, and waits for all.
    ///
    /// # Errors
    /// An error of `work`; `Panic` if it panicked.
    pub fn run(&self, split: &Split, work: impl Fn(Chunk) -> Result<()> + Sync) -> Result<()> {
        self.each(split.count, split.time, |i| work(split.chunk(i)))
    }

    /// Runs `work` once for each number below `count`, in any order, and waits for all; `time` is the estimated time on one thread, ns.
    ///
    /// # Errors
    /// An error of `work`; `Panic` if it panicked; `Cancelled` if a scope of the calling thread is.
    pub fn each(&self, count: usize, time: f64, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
        let (most, pool) = match self {
            Threads::Several { count: most, pool } if count > 1 => (*most, pool),
            _ => return one_by_one(count, work),
        };
        let (failed, scopes) = (OnceLock::new(), RunScopes::of_thread());
        let one = |number| {
            if failed.get().is_none()
                && let Err(error) = catch(|| scopes.run(|| work(number)))
            {
                // The first error is reported.
                let _ = failed.set(error);
            }
        };
        pool.run(count, most, time < SHORT, &one);
        failed.into_inner().map_or(Ok(()), Err)
    }

    /// The number of pieces into which `size` elements are worth cutting, at an estimated cost per element in ns: 1 if the calling thread
    /// is as fast.
    pub fn pieces(&self, size: usize, cost: f64) -> usize {
        let total = size as f64 * cost;
        if total < SERIAL || matches!(self, Threads::Serial) {
            return 1;
        }
        let most = self.count().saturating_mul(CHUNKS_PER_THREAD);
        let pieces = ((total / CHUNK) as usize).max(size / CHUNK_ELEMENTS).clamp(1, most);
        // Of seven equal pieces one of two threads would take four.
        if pieces < self.count() { pieces } else { pieces.next_multiple_of(self.count()) }
    }
}

/// Runs `work` once for each number below `count`, in order, on the calling thread.
///
/// # Errors
/// An error of `work`; `Panic` if it panicked; `Cancelled` if a scope of the thread is.
pub fn one_by_one(count: usize, work: impl Fn(usize) -> Result<()>) -> Result<()> {
    let scopes = RunScopes::of_thread();
    catch(|| {
        (0..count).try_for_each(|number| {
            scopes.look()?;
            work(number)
        })
    })
}

/// Runs `work`; a panic becomes an error.
///
/// # Errors
/// Those of `work`; `Panic` if it panicked.
pub fn catch<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let error = Error::new(ErrorCode::Panic, "run: a worker thread panicked").fact(panic_message(&*payload));
        discard(payload);
        Err(error)
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

/// A cut of a kernel's iteration space: one loop, into runs of equal length except the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    axis: usize,
    extent: usize,
    len: usize,
    count: usize,
    /// Estimated time on one thread, ns.
    time: f64,
}

impl Split {
    /// The split of a space with these `extents`, outermost first, at an estimated cost per element in ns. `None` if the calling thread is
    /// as fast, and the work too short for a look whether it is cancelled.
    pub fn new(extents: &[usize], cost: f64, threads: &Threads) -> Option<Split> {
        let size = extents.iter().fold(1usize, |n, &e| n.saturating_mul(e));
        let pieces = threads.pieces(size, cost).max((size as f64 * cost / UNWATCHED) as usize);
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

    /// The number of chunks.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// A chunk by its number.
    pub(crate) fn chunk(&self, index: usize) -> Chunk {
        let start = index * self.len;
        Chunk { axis: self.axis, start, len: self.len.min(self.extent - start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_space_once() {
        let threads = Threads::new(Some(3));
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
        let threads = Threads::new(Some(2));
        assert_eq!(Split::new(&[7_000], 1.0, &threads), None);
        assert_eq!(Split::new(&[1 << 22], 1.0, &Threads::Serial), None);
        // Long work is cut for looks whether it is cancelled.
        assert!(Split::new(&[1 << 30], 1.0, &Threads::Serial).unwrap().count > 10);
        assert_eq!(Split::new(&[0, 1 << 30], 1.0, &threads), None);
        assert!(Split::new(&[9_000], 1.0, &threads).is_some());
        assert!(Split::new(&[2_000], 100.0, &threads).is_some());
        assert!(Split::new(&[usize::MAX, usize::MAX], 1.0, &threads).is_some());
    }

    #[test]
    fn a_panic_in_a_worker_is_an_error_and_the_pool_lives_on() {
        for threads in [Threads::Serial, Threads::new(None), Threads::new(Some(2))] {
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
