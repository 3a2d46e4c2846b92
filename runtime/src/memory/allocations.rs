//! An allocator that counts allocations per thread, and refuses large blocks on request. A program that installs it can test that its calls
//! allocate nothing, and that refused memory is an error.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The system's allocator with counters per thread.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: ndjit_runtime::CountingAllocator = ndjit_runtime::CountingAllocator;
///
/// # fn main() {
/// let before = ndjit_runtime::CountingAllocator::counts();
/// drop(std::hint::black_box(vec![1, 2, 3]));
/// let after = ndjit_runtime::CountingAllocator::counts();
/// assert_eq!((after.allocated - before.allocated, after.freed - before.freed), (1, 1));
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

/// Counters of a thread since it began, with [`CountingAllocator`] as the global allocator; zeros otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// Blocks allocated, including reallocations.
    pub allocated: u64,
    /// Blocks freed, including reallocations.
    pub freed: u64,
    /// Bytes of allocated blocks.
    pub bytes: u64,
}

/// Counters of large blocks over all threads since [`CountingAllocator::refuse`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LargeBlocks {
    /// Large blocks requested.
    pub asked: u64,
    /// Large blocks refused.
    pub refused: u64,
    /// Bytes of live large blocks, since the first call of `refuse`.
    pub held: i64,
}

/// The large blocks that [`CountingAllocator::refuse`] refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Blocks with these numbers, counted from 0.
    Numbers(Range<u64>),
    /// Blocks that would raise the live bytes of large blocks above this.
    Above(i64),
}

/// The minimum size of large blocks. Before [`CountingAllocator::refuse`] no block is large, which costs one load per allocation.
static LARGE: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The numbers of the refused large blocks: from the first to before the second.
static NUMBERS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
static MOST: AtomicI64 = AtomicI64::new(i64::MAX);
static ASKED: AtomicU64 = AtomicU64::new(0);
static REFUSALS: AtomicU64 = AtomicU64::new(0);
static HELD: AtomicI64 = AtomicI64::new(0);

thread_local! {
    // An allocator's thread local: without a destructor, and without an allocating initializer.
    static COUNTS: Cell<Allocations> = const { Cell::new(Allocations { allocated: 0, freed: 0, bytes: 0 }) };
}

impl CountingAllocator {
    /// The calling thread's counters.
    pub fn counts() -> Allocations {
        COUNTS.get()
    }

    /// Counts blocks of at least `large` bytes from 0, on all threads, and refuses some of them, as the system does without memory. A
    /// process uses one `large`: live bytes are those of blocks that were large when allocated.
    pub fn refuse(large: usize, refused: Refused) {
        let (numbers, most) = match refused {
            Refused::Numbers(numbers) => (numbers, i64::MAX),
            Refused::Above(most) => (0..0, most),
        };
        NUMBERS[0].store(numbers.start, Relaxed);
        NUMBERS[1].store(numbers.end, Relaxed);
        MOST.store(most, Relaxed);
        ASKED.store(0, Relaxed);
        REFUSALS.store(0, Relaxed);
        LARGE.store(large, Relaxed);
    }

    /// Counters of large blocks since [`refuse`](CountingAllocator::refuse).
    pub fn large_blocks() -> LargeBlocks {
        LargeBlocks { asked: ASKED.load(Relaxed), refused: REFUSALS.load(Relaxed), held: HELD.load(Relaxed) }
    }

    /// Whether the program's global allocator is this one.
    pub fn is_installed() -> bool {
        let before = COUNTS.get();
        drop(black_box(Box::new(0u8)));
        COUNTS.get() != before
    }
}

/// Whether a block, requested instead of one of `old` bytes, is refused.
fn refuses(bytes: usize, old: usize) -> bool {
    #[cold]
    fn refuses_large(bytes: usize, old: usize) -> bool {
        let number = ASKED.fetch_add(1, Relaxed);
        let held = HELD.load(Relaxed) - if is_large(old) { old as i64 } else { 0 };
        let numbered = NUMBERS[0].load(Relaxed) <= number && number < NUMBERS[1].load(Relaxed);
        let refused = numbered || held.saturating_add_unsigned(bytes as u64) > MOST.load(Relaxed);
        REFUSALS.fetch_add(u64::from(refused), Relaxed);
        refused
    }
    is_large(bytes) && refuses_large(bytes, old)
}

fn is_large(bytes: usize) -> bool {
    bytes >= LARGE.load(Relaxed)
}

/// Adds the bytes of a large block to the live bytes; negative when freed.
fn hold(bytes: usize, sign: i64) {
    if is_large(bytes) {
        HELD.fetch_add(sign * bytes as i64, Relaxed);
    }
}

/// Counts an allocation that replaces so many blocks, unless it was refused.
fn count(block: *mut u8, freed: u64, bytes: usize) -> *mut u8 {
    if !block.is_null() {
        let counts = COUNTS.get();
        let (allocated, freed) = (counts.allocated + 1, counts.freed + freed);
        COUNTS.set(Allocations { allocated, freed, bytes: counts.bytes.wrapping_add(bytes as u64) });
        hold(bytes, 1);
    }
    block
}

// SAFETY: every call is forwarded to `System`, or refused with a null pointer; counting neither allocates nor panics.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refuses(layout.size(), 0) {
            return null_mut();
        }
        // SAFETY: the caller's promises are those of `System`.
        count(unsafe { System.alloc(layout) }, 0, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if refuses(layout.size(), 0) {
            return null_mut();
        }
        // SAFETY: as above.
        count(unsafe { System.alloc_zeroed(layout) }, 0, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        if refuses(bytes, layout.size()) {
            return null_mut();
        }
        // SAFETY: as above; all blocks come from `System`.
        let block = count(unsafe { System.realloc(block, layout, bytes) }, 1, bytes);
        if !block.is_null() {
            hold(layout.size(), -1);
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let counts = COUNTS.get();
        COUNTS.set(Allocations { freed: counts.freed + 1, ..counts });
        hold(layout.size(), -1);
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
