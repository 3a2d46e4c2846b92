//! A free list: a few blocks of one size class, pushed and popped without a lock.
//!
//! A place is claimed by one thread, filled, marked full, emptied by one thread, and released. The thread that changes a place's bit owns
//! its content, and no thread waits.

use crate::memory::block::Block;
use crate::sync::{AtomicPtr, AtomicU64, Ordering};
use std::ptr::{NonNull, null_mut};

/// The number of places of a free list.
pub const PLACES: usize = u64::BITS as usize;

/// Blocks of one class. All zeros is an empty list.
#[derive(Debug)]
pub struct FreeList {
    /// Places that are full, in filling or in emptying.
    claimed: AtomicU64,
    /// Places that are full.
    full: AtomicU64,
    blocks: [AtomicPtr<u8>; PLACES],
}

impl FreeList {
    /// An empty list.
    pub const fn new() -> FreeList {
        FreeList {
            claimed: AtomicU64::new(0),
            full: AtomicU64::new(0),
            blocks: [const { AtomicPtr::new(null_mut()) }; PLACES],
        }
    }

    /// Stores a block, or returns it if all places are taken. All blocks of a free list are of one class.
    pub fn put(&self, block: Block) -> Option<Block> {
        let mut claimed = self.claimed.load(Ordering::Relaxed);
        loop {
            let place = claimed.trailing_ones();
            if place as usize >= PLACES {
                return Some(block);
            }
            // Acquire: the releasing thread has read the place's pointer.
            claimed = self.claimed.fetch_or(1 << place, Ordering::Acquire);
            if claimed >> place & 1 == 0 {
                self.blocks[place as usize].store(block.into_raw().as_ptr(), Ordering::Relaxed);
                self.full.fetch_or(1 << place, Ordering::Release);
                return None;
            }
        }
    }

    /// Takes a block of this class from the last full place: usually the last one stored.
    pub fn take(&self, class: usize) -> Option<Block> {
        let mut full = self.full.load(Ordering::Relaxed);
        loop {
            let place = full.checked_ilog2()?;
            // Acquire: the filling thread has written the place's pointer, and does not use the block.
            full = self.full.fetch_and(!(1 << place), Ordering::Acquire);
            if full >> place & 1 == 1 {
                let block = self.blocks[place as usize].load(Ordering::Relaxed);
                self.claimed.fetch_and(!(1 << place), Ordering::Release);
                // SAFETY: `put` took the block of this class apart once, and its pointer was taken once: by the thread that changed the
                // place's bit in `full`.
                return NonNull::new(block).map(|block| unsafe { Block::from_raw(block, class) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::block::class_of;

    #[test]
    fn what_was_put_down_last_is_taken_up_first_and_what_finds_no_place_is_given_back() {
        let free_list = FreeList::new();
        let class = class_of(100).unwrap();
        assert!(free_list.take(class).is_none());
        let blocks: Vec<Block> = (0..PLACES).map(|_| Block::new(class, false).unwrap()).collect();
        let addresses: Vec<_> = blocks.iter().map(Block::ptr).collect();
        assert!(blocks.into_iter().all(|block| free_list.put(block).is_none()));
        assert!(free_list.put(Block::new(class, false).unwrap()).is_some());
        let taken: Vec<Block> = std::iter::from_fn(|| free_list.take(class)).collect();
        let mut expected = addresses;
        expected.reverse();
        assert_eq!(taken.iter().map(Block::ptr).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_block_has_one_owner_at_a_time() {
        let free_list = FreeList::new();
        let class = class_of(64).unwrap();
        for _ in 0..3 {
            assert!(free_list.put(Block::new(class, true).unwrap()).is_none());
        }
        std::thread::scope(|scope| {
            for thread in 1..=4u64 {
                let free_list = &free_list;
                scope.spawn(move || {
                    for _ in 0..20_000 {
                        let Some(block) = free_list.take(class) else { continue };
                        let owner = block.ptr().cast::<u64>().as_ptr();
                        // SAFETY: the block is this thread's, aligned, initialised, and of 64 bytes at least.
                        unsafe {
                            assert_eq!(owner.read(), 0);
                            owner.write(thread);
                            std::hint::spin_loop();
                            assert_eq!(owner.read(), thread);
                            owner.write(0);
                        }
                        assert!(free_list.put(block).is_none());
                    }
                });
            }
        });
        assert_eq!(std::iter::from_fn(|| free_list.take(class)).count(), 3);
    }
}
