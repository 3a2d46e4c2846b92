//! The devices of ndjit: buffers and their pool, executable memory, the calling convention, threads and the kernel cache.
//! All `unsafe` code of the project is in this crate.
//!
//! It has three layers:
//!
//! - *memory*: [`buffer`]s, whose blocks come from the [`pool`] (`free_list`: without a lock), executable memory ([`code_memory`]), parts of files
//!   (`mapping`), memory of other libraries, which is only read ([`dlpack`]);
//! - *execution*: compiled kernels ([`code`]) and the process's cache of them ([`kernels`]), threads (`threads`, a `thread_pool` of them in which
//!   whoever waits does its own work alone), and the drivers of nests that are not maps (`reduce`, `scan`, `sort`, `scatter`, `contract`);
//! - *programs*: where arrays lie in a run (`plan`, `assignment`, `storage`; its lists are kept by threads: `scratch`), which kernels run tile by
//!   tile (`tiles`), runs ([`executable`]), and control flow, whose graphs are programs (`control`).
//!
//! [`devices`] says where programs run and arrays are; `gpu` is one kind of device, with the feature of that name. Environment variables are
//! read in [`environment`] alone. What threads share uses the primitives of `sync`, so that `runtime/models/` can run it in the orders that a
//! scheduler draws.

pub mod allocations;
mod assignment;
pub mod backend;
mod block;
mod bound;
pub mod buffer;
pub mod cache;
pub mod chosen;
pub mod code;
pub mod code_memory;
mod contract;
mod control;
mod cost;
pub mod devices;
pub mod dlpack;
pub mod element;
#[cfg(feature = "emulated")]
pub mod emulated;
pub mod environment;
pub mod executable;
mod free_list;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod helper;
mod interpret;
pub mod kernels;
mod literals;
#[cfg(feature = "mapped")]
mod mapping;
mod plan;
pub mod planned;
pub mod pod;
pub mod pool;
pub mod recent;
mod reduce;
mod run;
mod scan;
mod scatter;
mod scratch;
mod sort;
pub mod spans;
pub mod stderr;
mod storage;
mod sync;
pub mod system;
mod thread_pool;
mod threads;
mod tiles;

pub use allocations::{Allocations, CountingAllocator, LargeBlocks, Refused};
pub use backend::{Backend, Cpu, DeviceMemory, DeviceProgram, Reading};
pub use buffer::Buffer;
pub use code::{Execution, Kernel};
pub use devices::{Fallback, KernelCode, Memory};
pub use element::{Element, bytes_of};
pub use executable::{Argument, Donations, Executable, Output, RunOptions, Timed};
