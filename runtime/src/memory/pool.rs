//! The process-wide pool of blocks: released memory is kept, by size class, up to a bound in bytes. Reuse avoids the page faults of fresh
//! memory, which cost more than most kernels.
//!
//! Small blocks use a bounded cache of the thread first; others use a `FreeList` per class. Neither takes a lock; only the overflow of a
//! free list goes to a locked list. Blocks keep their old bytes: only [`Buffer`](crate::Buffer) decides when bytes may be read.

use crate::memory::block::{Block, CLASSES, class_bytes, class_of};
use crate::memory::free_list::FreeList;
use ndjit_ir::lock::Mutex;
use ndjit_ir::{Error, ErrorCode, Result, reserve};
use std::cell::RefCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The default bound in bytes.
pub const DEFAULT_LIMIT: usize = if usize::BITS >= 64 { 1 << 30 } else { 64 << 20 };
/// Classes below this one (blocks of up to 8 KiB) are cached per thread.
const LOCAL_CLASSES: usize = 29;
/// The number of blocks per class that a thread caches.
const LOCAL_BLOCKS: usize = 4;

/// Counters and contents of the pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Blocks allocated from the system.
    pub allocations: u64,
    /// Blocks reused.
    pub reuses: u64,
    /// Bytes held for reuse, without the caches of threads.
    pub pooled_bytes: usize,
}

struct Pool {
    free_lists: [FreeList; CLASSES],
    /// The overflow of the free lists.
    rest: [Mutex<Vec<Block>>; CLASSES],
    /// Their lengths: empty ones are not locked.
    rests: [AtomicUsize; CLASSES],
    bytes: AtomicUsize,
    limit: AtomicUsize,
    allocations: AtomicU64,
    reuses: AtomicU64,
}

static POOL: Pool = Pool {
    free_lists: [const { FreeList::new() }; CLASSES],
    rest: [const { Mutex::new(Vec::new()) }; CLASSES],
    rests: [const { AtomicUsize::new(0) }; CLASSES],
    bytes: AtomicUsize::new(0),
    limit: AtomicUsize::new(DEFAULT_LIMIT),
    allocations: AtomicU64::new(0),
    reuses: AtomicU64::new(0),
};

/// A block of at least `bytes` bytes, zeroed on request.
///
/// # Errors
/// `Allocation` if the size exceeds the address space, or the system refuses it even after the pool and caches of results were emptied.
pub fn take(bytes: usize, zeroed: bool) -> Result<Block> {
    let class = class_of(bytes).filter(|_| bytes <= isize::MAX as usize).ok_or_else(|| {
        Error::new(ErrorCode::Allocation, "larger than memory can address")
            .of("buffer")
            .fact(format_args!("{bytes} bytes were requested; limit: {} bytes", isize::MAX))
    })?;
    if let Some(block) = local_pop(class).or_else(|| POOL.pop(class)) {
        POOL.reuses.fetch_add(1, Relaxed);
        if zeroed {
            // SAFETY: the block is ours and has at least `bytes` bytes.
            unsafe { block.ptr().as_ptr().write_bytes(0, bytes) };
        }
        return Ok(block);
    }
    let again = || {
        trim(0);
        Block::new(class, zeroed)
    };
    let block = Block::new(class, zeroed).or_else(|_| again()).or_else(|_| {
        give_back();
        again()
    })?;
    POOL.allocations.fetch_add(1, Relaxed);
    Ok(block)
}

/// An empty list with this capacity. If the system refuses it, the pool is emptied, then caches of results.
///
/// # Errors
/// `Allocation` if it is still refused.
pub fn reserve<T>(what: &str, count: usize) -> Result<Vec<T>> {
    let again = || {
        trim(0);
        reserve::reserve(what, count)
    };
    reserve::reserve(what, count).or_else(|_| again()).or_else(|_| {
        give_back();
        again()
    })
}

static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

/// Registers a callback that frees memory with recomputable contents, for refused allocations. The first call counts.
pub fn on_refusal(give_back: fn()) {
    let _ = GIVE_BACK.set(give_back);
}

/// Frees memory with recomputable contents.
pub(crate) fn give_back() {
    if let Some(give_back) = GIVE_BACK.get() {
        give_back();
    }
}

/// Returns a block for reuse, or to the system if the pool is full.
pub fn give(block: Block) {
    if let Some(block) = local_push(block) {
        POOL.push(block);
    }
}

/// Frees held blocks, largest first, until at most `bytes` bytes are held. Also empties the calling thread's cache.
pub fn trim(bytes: usize) {
    let _ = LOCAL.try_with(|local| local.borrow_mut().clear());
    POOL.shrink(bytes);
}

/// Sets the bound on held bytes and trims to it; 0 switches the pool off.
pub fn set_limit(bytes: usize) {
    POOL.limit.store(bytes, Relaxed);
    trim(bytes);
}

/// The bound on held bytes.
pub fn limit() -> usize {
    POOL.limit.load(Relaxed)
}

/// Counters.
pub fn stats() -> PoolStats {
    PoolStats {
        allocations: POOL.allocations.load(Relaxed),
        reuses: POOL.reuses.load(Relaxed),
        pooled_bytes: POOL.bytes.load(Relaxed),
    }
}

impl Pool {
    fn pop(&self, class: usize) -> Option<Block> {
        let block = self.free_lists[class].take(class).or_else(|| self.pop_rest(class))?;
        self.bytes.fetch_sub(block.bytes(), Relaxed);
        Some(block)
    }

    fn pop_rest(&self, class: usize) -> Option<Block> {
        if self.rests[class].load(Relaxed) == 0 {
            return None;
        }
        let block = self.rest[class].lock().pop()?;
        self.rests[class].fetch_sub(1, Relaxed);
        Some(block)
    }

    fn push(&self, block: Block) {
        let (size, limit) = (block.bytes(), self.limit.load(Relaxed));
        if size > limit {
            return;
        }
        // Reserve first: concurrent pushes must not exceed the bound together.
        if self.bytes.fetch_add(size, Relaxed) + size > limit {
            self.bytes.fetch_sub(size, Relaxed);
            self.shrink(limit - size);
            if self.bytes.fetch_add(size, Relaxed) + size > limit {
                self.bytes.fetch_sub(size, Relaxed);
                return;
            }
        }
        let class = block.class();
        if let Some(block) = self.free_lists[class].put(block) {
            let mut rest = self.rest[class].lock();
            self.rests[class].fetch_add(1, Relaxed);
            rest.push(block);
        }
    }

    fn shrink(&self, bytes: usize) {
        for class in (0..CLASSES).rev() {
            while self.bytes.load(Relaxed) > bytes {
                // The block is freed here, outside the lock.
                if self.pop(class).is_none() {
                    break;
                }
            }
        }
    }
}

struct ThreadCache([Vec<Block>; LOCAL_CLASSES]);

thread_local! {
    static LOCAL: RefCell<ThreadCache> = const { RefCell::new(ThreadCache([const { Vec::new() }; LOCAL_CLASSES])) };
}

impl ThreadCache {
    fn clear(&mut self) {
        for block in self.0.iter_mut().flat_map(|blocks| blocks.drain(..)) {
            POOL.push(block);
        }
    }
}

impl Drop for ThreadCache {
    fn drop(&mut self) {
        self.clear();
    }
}

fn local_pop(class: usize) -> Option<Block> {
    if class >= LOCAL_CLASSES {
        return None;
    }
    LOCAL.try_with(|local| local.borrow_mut().0[class].pop()).ok().flatten()
}

/// Caches the block, or returns it if the thread's cache is full or gone.
fn local_push(block: Block) -> Option<Block> {
    if block.class() >= LOCAL_CLASSES || POOL.limit.load(Relaxed) < class_bytes(LOCAL_CLASSES) {
        return Some(block);
    }
    let mut block = Some(block);
    let _ = LOCAL.try_with(|local| {
        let mut local = local.borrow_mut();
        let blocks = &mut local.0[block.as_ref().map_or(0, Block::class)];
        if blocks.len() < LOCAL_BLOCKS {
            blocks.extend(block.take());
        }
    });
    block
}
