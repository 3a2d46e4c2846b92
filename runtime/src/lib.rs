//! The devices of ndjit: buffers and their pool, executable memory, the calling convention, threads and the kernel cache.
//! All `unsafe` code of the project is in this crate.

pub mod buffer;
pub mod executable;

pub use buffer::Buffer;
pub use executable::{Argument, Executable, Output};
