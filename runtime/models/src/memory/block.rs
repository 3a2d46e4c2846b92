//! Blocks without memory: numbers that tests track.

use std::ptr::NonNull;

/// A numbered block.
#[derive(Debug, PartialEq, Eq)]
pub struct Block(pub usize);

impl Block {
    /// The number, as an address.
    pub fn into_raw(self) -> NonNull<u8> {
        NonNull::without_provenance(std::num::NonZero::new(self.0).expect("a number above 0"))
    }

    /// The block of an address.
    ///
    /// # Safety
    /// No condition here, unlike for blocks with memory.
    pub unsafe fn from_raw(ptr: NonNull<u8>, _class: usize) -> Block {
        Block(ptr.addr().get())
    }
}
