//! GPUs, through wgpu: the same lowered programs as on the CPU, with the same results.
//!
//! A [`Gpu`] is one open device. It makes [pipelines](pipeline) of the WGSL of a nest's steps; on Vulkan the SPIR-V is ours
//! ([`spirv`]), so that arithmetic is done as written. [`Memory`] is an array's elements there. A [`Program`] is a lowered program,
//! whose kernels are cut to what the device can [bind at once](chunks); a call records all of them into one submission.
//!
//! Everything can fail, and nothing panics: what wgpu reports is caught in scopes around its calls, a lost device is noticed and
//! stays an error, and waiting has an end.

mod chunks;
mod device;
mod dispatch;
mod memory;
mod nest;
mod pipeline;
mod probe;
mod program;
mod recording;
mod spirv;

pub use device::{Gpu, GpuInfo, GpuKind, GpuOptions};
pub use memory::Memory;
pub use program::{Argument, Output, Program};
