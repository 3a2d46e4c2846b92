//! GPUs, through wgpu: the same lowered programs as on the CPU, with the same results.
//!
//! A [`Gpu`] is one open device. It makes pipelines of the WGSL of a nest's steps; on Vulkan the SPIR-V is ours
//! (`spirv`), so that arithmetic is done as written. [`GpuMemory`] is an array's elements there. A [`GpuProgram`] is a lowered program,
//! whose kernels are cut to what the device can bind at once; a call records all of them into one submission.
//!
//! Everything can fail, and nothing panics: what wgpu reports is caught around its calls, a lost device is noticed and
//! stays an error, and waiting has an end. [`Faults`] make things fail, to test that.

mod backend;
mod calls;
mod chunks;
mod device;
mod dispatch;
mod faults;
mod memory;
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
pub use faults::{Fault, Faults};
pub use memory::GpuMemory;
pub use placement::Placement;
pub use program::GpuProgram;
pub use registry::{opened, with_options};
pub use spirv::disassembled as spirv;
