//! Memory: buffers, their blocks, and memory of other libraries.

pub mod allocations;
pub(crate) mod block;
pub mod buffer;
pub(crate) mod device;
pub mod dlpack;
pub mod element;
pub(crate) mod free_list;
#[cfg(feature = "mapped")]
mod mapping;
pub mod pod;
pub mod pool;
