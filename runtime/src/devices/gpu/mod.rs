//! GPUs, through wgpu: the same lowered programs as on the CPU, with the same results.
//!
//! A [`Gpu`] is an open device. It compiles the WGSL of a nest's steps to pipelines; on Vulkan via our SPIR-V (`spirv`), whose
//! arithmetic is exact as written. [`GpuMemory`] contains an array's elements. A [`GpuProgram`] is a lowered program with kernels cut
//! to the device's binding limit; a call records them into one submission.
//!
//! Nothing panics: errors of wgpu are caught around its calls, a lost device stays an error, and waits have timeouts. [`Faults`] inject
//! failures to test that.

mod backend;
mod buffers;
mod calls;
mod caught;
mod chunks;
mod compile;
mod device;
mod disassembly;
mod dispatch;
mod faults;
mod memory;
mod opening;
mod pipeline;
mod placement;
mod pool;
mod probe;
mod program;
mod recording;
mod registry;
mod shared;
mod spirv;

pub use device::{Gpu, GpuInfo, GpuKind, GpuLimits, GpuOptions};
pub use disassembly::disassembled as spirv;
pub use faults::{Fault, Faults};
pub use memory::GpuMemory;
pub use placement::Placement;
pub use program::GpuProgram;
pub use registry::{opened, with_options};
