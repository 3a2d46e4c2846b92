//! Memory: buffers, the blocks that they are of, and memory of others.

pub mod allocations;
pub(crate) mod block;
pub mod buffer;
pub mod dlpack;
pub mod element;
pub(crate) mod free_list;
#[cfg(feature = "mapped")]
mod mapping;
pub mod pod;
pub mod pool;
