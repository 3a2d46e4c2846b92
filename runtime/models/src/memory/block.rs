//! Blocks without memory: numbers, which tests follow.

use std::ptr::NonNull;

/// A block, which is a number.
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
    /// None is needed here; blocks with memory ask for it.
    pub unsafe fn from_raw(ptr: NonNull<u8>, _class: usize) -> Block {
        Block(ptr.addr().get())
    }
}
