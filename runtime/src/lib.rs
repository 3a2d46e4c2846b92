//! The devices of ndjit: buffers and their pool, executable memory, the calling convention, threads and the kernel cache.
//! All `unsafe` code of the project is in this crate.
//!
//! It has three storeys, each of which uses only those before it:
//!
//! - `memory`: [`buffer`]s, whose blocks come from the [`pool`] (`free_list`: without a lock), parts of files (`mapping`), memory of other
//!   libraries, which is only read ([`dlpack`]), and the trait of memory of devices (`device`);
//! - `execution`: compiled kernels ([`code`]) in executable memory ([`code_memory`]) and the process's cache of them ([`kernels`]), threads
//!   (`threads`, and a `thread_pool` without work stealing), and the [`drivers`] of nests that are not maps (`reduce`, `scan`, `sort`,
//!   `scatter`, `contract`);
//! - `programs`: memory plans (`step_plan`, `plan`, `assignment`, `storage`, and the per-thread lists of `scratch`), tiled launches
//!   (`tiles`), runs ([`executable`]), and control flow, whose graphs are programs (`control`).
//!
//! Above them, [`devices`] run programs and store arrays, behind the trait [`Backend`]; `gpu` is one kind of device, with the feature of
//! that name. Only [`environment`] reads environment variables. Shared state uses the primitives of `sync`, which lets `runtime/models/`
//! run it in the orders that a scheduler draws.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod cache;
mod cancellation;
pub mod chosen;
pub mod devices;
pub mod environment;
mod execution;
mod memory;
pub mod panics;
mod programs;
pub mod recent;
pub mod spans;
pub mod stderr;
mod sync;
pub mod system;

#[cfg(feature = "gpu")]
pub use devices::gpu;
pub use devices::memory::Memory;
pub use devices::{backend, on_gpu};
#[cfg(feature = "emulated")]
pub use execution::emulated;
pub use execution::{code, code_memory, drivers, helper, kernels, lowering};
pub use memory::device::{DeviceMemory, Reading};
pub use memory::{allocations, buffer, dlpack, element, pod, pool};
pub use programs::call::{Argument, Donations, Output, RunOptions, Timed};
pub use programs::{executable, planned};

pub use allocations::{Allocations, CountingAllocator, LargeBlocks, Refused};
pub use backend::{Backend, Cpu, DeviceProgram, Fallback};
pub use buffer::Buffer;
pub use cancellation::{Cancellation, check_cancelled, with_cancellation};
pub use code::{Execution, Kernel, KernelCode};
pub use element::{Element, bytes_of};
pub use executable::Executable;
