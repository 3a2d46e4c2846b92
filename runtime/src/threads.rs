//! Splitting a kernel's iteration space over threads.
//!
//! Results never depend on the split: indices are independent. A panic in a chunk is an error.

use crate::helper::panic_message;
use ndjit_ir::lock::Mutex;
use ndjit_ir::{Error, ErrorCode, Result};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Below this estimate a kernel runs on the calling thread, ns: handing over costs ten to twenty microseconds. With 30,000 two threads took 1.8
/// times as long as one for `x * 2 + y` on 100,000 `f32`.
const SERIAL: f64 = 40_000.0;
/// A chunk takes at least this long by estimate, ns, or has at least [`CHUNK_ELEMENTS`] elements.
const CHUNK: f64 = 15_000.0;
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
    /// Rayon's global pool.
    Global,
    /// A pool of a certain size.
    Pool(Arc<ThreadPool>),
}

impl Threads {
    /// `None`: the global pool; `Some(n)`: `n` threads (0 counts as 1). Pools are shared by all who ask for their size.
    ///
    /// # Errors
    /// `Backend` if threads cannot be started.
    pub fn new(count: Option<usize>) -> Result<Threads> {
        static POOLS: Mutex<Vec<Arc<ThreadPool>>> = Mutex::new(Vec::new());
        let count = match count {
            None => return Ok(Threads::Global),
            Some(0 | 1) => return Ok(Threads::Serial),
            Some(count) => count,
        };
        let mut pools = POOLS.lock();
        if let Some(pool) = pools.iter().find(|p| p.current_num_threads() == count) {
            return Ok(Threads::Pool(Arc::clone(pool)));
        }
        let name = |i| format!("ndjit-{i}");
        let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(name).build().map_err(|error| {
            Error::new(ErrorCode::Backend, "threads: the system refused threads")
                .fact(error)
                .fact(format_args!("{count} threads"))
        })?;
        let pool = Arc::new(pool);
        pools.push(Arc::clone(&pool));
        Ok(Threads::Pool(pool))
    }

    /// The number of threads.
    pub fn count(&self) -> usize {
        match self {
            Threads::Serial => 1,
            // The first call starts the pool, which panics where the system refuses threads.
            Threads::Global => catch(|| Ok(rayon::current_num_threads())).unwrap_or(1),
            Threads::Pool(pool) => pool.current_num_threads(),
        }
    }

    /// Runs `work` once per chunk, in any order, and waits for all.
    ///
    /// # Errors
    /// One that `work` returned; `Panic` if it panicked.
    pub fn run(&self, split: &Split, work: impl Fn(Chunk) -> Result<()> + Sync) -> Result<()> {
        self.each(split.count, |i| work(split.chunk(i)))
    }

    /// Runs `work` once for each number below `count`, in any order, and waits for all.
    ///
    /// # Errors
    /// One that `work` returned; `Panic` if it panicked.
    pub fn each(&self, count: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
        let all = || (0..count).into_par_iter().try_for_each(&work);
        catch(|| match self {
            Threads::Serial => (0..count).try_for_each(&work),
            Threads::Global => all(),
            Threads::Pool(pool) => pool.install(all),
        })
    }

    /// Into how many pieces `size` elements are worth cutting, at an estimated cost per element in ns: 1 where the calling
    /// thread alone is as fast.
    pub fn pieces(&self, size: usize, cost: f64) -> usize {
        let total = size as f64 * cost;
        if total < SERIAL || matches!(self, Threads::Serial) {
            return 1;
        }
        let count = self.count();
        let most = if count > 1 { count * CHUNKS_PER_THREAD } else { 1 };
        ((total / CHUNK) as usize).max(size / CHUNK_ELEMENTS).clamp(1, most)
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    axis: usize,
    extent: usize,
    len: usize,
    count: usize,
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
        (count > 1).then_some(Split { axis, extent, len, count })
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
        assert_eq!(Split::new(&[20_000], 1.0, &threads), None);
        assert_eq!(Split::new(&[1 << 30], 1.0, &Threads::Serial), None);
        assert_eq!(Split::new(&[0, 1 << 30], 1.0, &threads), None);
        assert!(Split::new(&[40_000], 1.0, &threads).is_some());
        assert!(Split::new(&[2_000], 100.0, &threads).is_some());
        assert!(Split::new(&[usize::MAX, usize::MAX], 1.0, &threads).is_some());
    }

    #[test]
    fn a_panic_in_a_worker_is_an_error_and_the_pool_lives_on() {
        for threads in [Threads::Serial, Threads::Global, Threads::new(Some(2)).unwrap()] {
            let split = Split { axis: 0, extent: 8, len: 1, count: 8 };
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
