//! An allocator that counts what each thread asks the system for, and refuses large blocks where a test says so. A program that installs it can
//! test that its calls ask for nothing, and that they end in errors where memory is refused.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// The system's allocator, counting for each thread by itself.
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

/// What a thread has done since it began, while [`CountingAllocator`] is the global allocator; zeros otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// Blocks asked for and given, larger and smaller ones in the place of others among them.
    pub allocated: u64,
    /// Blocks given back, those that others took the place of among them.
    pub freed: u64,
    /// Bytes of the blocks asked for and given.
    pub bytes: u64,
}

/// What all threads have done with large blocks since [`CountingAllocator::refuse`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LargeBlocks {
    /// Large blocks asked for.
    pub asked: u64,
    /// Those of them that were refused.
    pub refused: u64,
    /// Bytes of large blocks given and not given back, since the first call of `refuse`.
    pub held: i64,
}

/// Which large blocks [`CountingAllocator::refuse`] refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Those with these numbers, counted from 0.
    Numbers(Range<u64>),
    /// Those with which more than so many bytes of large blocks would be held.
    Above(i64),
}

/// Blocks of so many bytes are large. No block is before [`CountingAllocator::refuse`], so that an allocation costs one load more.
static LARGE: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The numbers of the large blocks that are refused: from the first to before the second.
static NUMBERS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
static MOST: AtomicI64 = AtomicI64::new(i64::MAX);
static ASKED: AtomicU64 = AtomicU64::new(0);
static REFUSALS: AtomicU64 = AtomicU64::new(0);
static HELD: AtomicI64 = AtomicI64::new(0);

thread_local! {
    // Without a destructor and without a first use that allocates, as what an allocator touches must be.
    static COUNTS: Cell<Allocations> = const { Cell::new(Allocations { allocated: 0, freed: 0, bytes: 0 }) };
}

impl CountingAllocator {
    /// What the calling thread has done.
    pub fn counts() -> Allocations {
        COUNTS.get()
    }

    /// Counts blocks of at least `large` bytes from 0, on all threads, and refuses some of them, as the system does when it has no memory. Of one
    /// `large` in a process: bytes held are those of blocks that were large when they were given.
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

    /// What was done with large blocks since [`refuse`](CountingAllocator::refuse).
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

/// Whether a block is refused that is asked for in the place of one of so many bytes.
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

/// Counts bytes of a block, if it is large: those given, or, negative, those given back.
fn hold(bytes: usize, sign: i64) {
    if is_large(bytes) {
        HELD.fetch_add(sign * bytes as i64, Relaxed);
    }
}

/// Counts a block that was asked for, in the place of so many others, unless it was refused.
fn count(block: *mut u8, freed: u64, bytes: usize) -> *mut u8 {
    if !block.is_null() {
        let counts = COUNTS.get();
        let (allocated, freed) = (counts.allocated + 1, counts.freed + freed);
        COUNTS.set(Allocations { allocated, freed, bytes: counts.bytes.wrapping_add(bytes as u64) });
        hold(bytes, 1);
    }
    block
}

// SAFETY: every call is handed to `System` as it came, or refused, which a null pointer says; counting neither allocates nor panics.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if refuses(layout.size(), 0) {
            return null_mut();
        }
        // SAFETY: the caller's promises are those that `System` asks for.
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
        // SAFETY: as above; the block is from `System`, which made all of them.
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
