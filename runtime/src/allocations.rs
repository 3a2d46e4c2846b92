//! An allocator that counts what each thread asks the system for. A program that installs it can test that its calls ask
//! for nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

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

thread_local! {
    // Without a destructor and without a first use that allocates, as what an allocator touches must be.
    static COUNTS: Cell<Allocations> = const { Cell::new(Allocations { allocated: 0, freed: 0, bytes: 0 }) };
}

impl CountingAllocator {
    /// What the calling thread has done.
    pub fn counts() -> Allocations {
        COUNTS.get()
    }

    /// Whether the program's global allocator is this one.
    pub fn is_installed() -> bool {
        let before = COUNTS.get();
        drop(black_box(Box::new(0u8)));
        COUNTS.get() != before
    }
}

/// Counts a block that was asked for, in the place of so many others, unless it was refused.
fn count(block: *mut u8, freed: u64, bytes: usize) -> *mut u8 {
    if !block.is_null() {
        let counts = COUNTS.get();
        let (allocated, freed) = (counts.allocated + 1, counts.freed + freed);
        COUNTS.set(Allocations { allocated, freed, bytes: counts.bytes.wrapping_add(bytes as u64) });
    }
    block
}

// SAFETY: every call is handed to `System` as it came; counting neither allocates nor panics.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that `System` asks for.
        count(unsafe { System.alloc(layout) }, 0, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        count(unsafe { System.alloc_zeroed(layout) }, 0, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above; the block is from `System`, which made all of them.
        count(unsafe { System.realloc(block, layout, bytes) }, 1, bytes)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let counts = COUNTS.get();
        COUNTS.set(Allocations { freed: counts.freed + 1, ..counts });
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
