//! Execution: kernels, their threads, and the drivers of nests that are not maps, with common [tiles](tiling).

pub(crate) mod calls;
pub mod code;
pub mod code_memory;
mod contract;
pub(crate) mod cost;
pub mod drivers;
#[cfg(feature = "emulated")]
pub mod emulated;
pub mod helper;
mod interpret;
pub mod kernels;
pub mod lowering;
pub(crate) mod reduce;
mod scan;
mod scatter;
mod sort;
mod thread_pool;
pub(crate) mod threads;
pub(crate) mod tiling;
