//! An open device, its properties, and the options of opening it.

use super::caught::caught;
use super::faults::Faults;
use super::pipeline::{Pipeline, PipelineKey};
use super::pool::GpuPool;
use super::shared::Shared;
use super::spirv::FloatControls;
use crate::cache::{Bounds, Cache};
use ndjit_codegen::wgsl;
use ndjit_ir::support::Device;
use ndjit_ir::support::device::GPUS;
use ndjit_ir::{Error, ErrorCode, Result};
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Duration;

/// Kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GpuKind {
    /// A card with its own memory.
    Discrete,
    /// A part of the processor.
    Integrated,
    /// A device of a virtual machine.
    Virtual,
    /// No GPU: software on the processor, such as Mesa's lavapipe.
    Software,
    /// Something else.
    Other,
}

impl fmt::Display for GpuKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GpuKind::Discrete => "discrete GPU",
            GpuKind::Integrated => "integrated GPU",
            GpuKind::Virtual => "virtual GPU",
            GpuKind::Software => "software, no GPU",
            GpuKind::Other => "other device",
        })
    }
}

/// Identity of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuInfo {
    /// The device's name, as its driver gives it.
    pub name: String,
    /// Its kind.
    pub kind: GpuKind,
    /// Vulkan, Metal or DX12.
    pub api: String,
    /// The driver and its version.
    pub driver: String,
}

impl fmt::Display for GpuInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {}, {})", self.name, self.kind, self.api, self.driver)
    }
}

/// Limits of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuLimits {
    /// Arrays per kernel.
    pub arrays: usize,
    /// Bytes per array.
    pub array_bytes: u64,
    /// Bytes per binding; loops over more are cut.
    pub bound_bytes: u64,
    /// Bytes of memory to take at most, if known.
    pub budget: Option<u64>,
}

/// Options of opening a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuOptions {
    /// Index of the adapter, the most suitable first.
    pub index: usize,
    /// The allowed features: others of the device are unused.
    pub at_most: wgsl::Features,
    /// Tests the device's IEEE-754 conformance; otherwise its claims are trusted.
    pub probe: bool,
    /// The maximum number of bytes per binding, at least [`LEAST_BINDING`](GpuOptions::LEAST_BINDING); `None` for the device's limit.
    pub max_binding: Option<u64>,
    /// The maximum number of arrays per kernel, at least [`LEAST_ARRAYS`](GpuOptions::LEAST_ARRAYS); `None` for the device's limit.
    pub max_arrays: Option<usize>,
    /// The maximum number of bytes of device memory; `None` for a share of it, if known.
    pub budget: Option<u64>,
    /// Timeout of the device.
    pub patience: Duration,
}

impl GpuOptions {
    /// The minimum number of arrays to which every kernel can be split: three operands of an operation, and its result.
    pub const LEAST_ARRAYS: usize = 4;
    /// The minimum number of bytes per binding.
    pub const LEAST_BINDING: u64 = 1024;

    pub(super) fn check(&self) -> Result<()> {
        let refused = |what: &str, given: u64, least: u64| {
            Err(Error::new(ErrorCode::Argument, format!("`{what}` of {given} is too little"))
                .of("gpu")
                .fact(format_args!("kernels need at least {least}"))
                .help(format!("ask for `Some({least})` or more, or for `None`: as many as the device takes")))
        };
        match (self.max_arrays, self.max_binding) {
            (Some(arrays), _) if arrays < Self::LEAST_ARRAYS => {
                refused("max_arrays", arrays as u64, Self::LEAST_ARRAYS as u64)
            }
            (_, Some(bytes)) if bytes < Self::LEAST_BINDING => refused("max_binding", bytes, Self::LEAST_BINDING),
            _ => Ok(()),
        }
    }
}

impl Default for GpuOptions {
    fn default() -> GpuOptions {
        GpuOptions {
            index: 0,
            at_most: wgsl::Features::ALL,
            probe: true,
            max_binding: None,
            max_arrays: None,
            budget: None,
            patience: Duration::from_secs(120),
        }
    }
}

/// An open device.
pub struct Gpu {
    /// Its number in the process.
    pub(super) number: usize,
    pub(super) device: Shared<wgpu::Device>,
    /// Dropping it waits until all work is done.
    pub(super) queue: ManuallyDrop<Shared<wgpu::Queue>>,
    pub(super) info: GpuInfo,
    pub(super) limits: wgpu::Limits,
    /// The maximum number of bytes per binding.
    pub(super) max_binding: u64,
    pub(super) max_arrays: Option<usize>,
    /// Its claimed features.
    pub(super) claimed: wgsl::Features,
    /// The features confirmed by probes.
    pub(super) probed: OnceLock<wgsl::Features>,
    /// Float controls of SPIR-V kernels, if loaded as such.
    pub(super) controls: Option<FloatControls>,
    pub(super) pool: GpuPool,
    pub(super) pipelines: Cache<PipelineKey, Pipeline>,
    /// The reason of its loss, if lost.
    pub(super) lost: Arc<OnceLock<String>>,
    /// The last error outside of scopes.
    pub(super) stray: Arc<Mutex<Option<String>>>,
    /// Held while mapped memory is read.
    pub(super) reading: RwLock<()>,
    pub(super) patience: Duration,
    pub(super) faults: Option<Arc<Faults>>,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gpu").field("info", &self.info).field("features", &self.features()).finish_non_exhaustive()
    }
}

/// The bounds of a device's pipelines.
pub(super) const PIPELINES: Bounds = Bounds { count: 4096, weight: 64 << 20 };

impl Gpu {
    /// The device, with its dtypes.
    pub fn device(&self) -> Device {
        device(self.number).unwrap_or(Device::gpu())
    }

    /// Identity of the device.
    pub fn info(&self) -> &GpuInfo {
        &self.info
    }

    /// The features used by kernels.
    pub fn features(&self) -> wgsl::Features {
        self.probed.get().copied().unwrap_or(self.claimed)
    }

    /// Whether its features have been probed: pipelines compiled before serve only the probes.
    pub(super) fn is_probed(&self) -> bool {
        self.probed.get().is_some()
    }

    /// Maximum number of arrays per kernel.
    pub fn max_arrays(&self) -> usize {
        let most = self.limits.max_storage_buffers_per_shader_stage as usize;
        most.min(self.max_arrays.unwrap_or(most))
    }

    /// The device's limits.
    pub fn limits(&self) -> GpuLimits {
        GpuLimits {
            arrays: self.max_arrays(),
            array_bytes: self.limits.max_buffer_size,
            bound_bytes: self.max_binding,
            budget: self.pool.budget(),
        }
    }

    /// Bytes of device memory in use or kept for reuse.
    pub fn memory_taken(&self) -> u64 {
        self.pool.taken()
    }

    /// Frees memory kept for reuse.
    pub fn trim(&self) {
        self.pool.trim();
        // This also frees memory that waits for it.
        let _ = self.poll(wgpu::PollType::Poll);
    }

    /// Drops kernels that no program uses.
    pub fn forget_kernels(&self) {
        self.pipelines.set_bounds(Bounds { count: 0, weight: 0 });
        self.pipelines.set_bounds(PIPELINES);
    }

    /// Destroys the device: later calls are errors.
    pub fn destroy(&self) {
        // First: silently failing calls must not count as done.
        let _ = self.lose("it was given up");
        self.end();
    }

    /// Waits for all submitted work; returns whether it is done, or the device still answers.
    pub(super) fn idle(&self) -> bool {
        let patience = self.patience.max(Duration::from_secs(10));
        let idle = wgpu::PollType::Wait { submission_index: None, timeout: Some(patience) };
        !matches!(self.poll(idle), Ok(Err(wgpu::PollError::Timeout)))
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if !self.idle() {
            // Dropping the queue would wait forever; it leaks, with the device.
            return;
        }
        // SAFETY: the queue is dropped only here, and nothing uses it afterwards.
        let _ = caught(|| unsafe { ManuallyDrop::drop(&mut self.queue) });
    }
}

/// The device of a number.
pub(super) fn device(number: usize) -> Option<Device> {
    number.checked_sub(GPUS).map_or_else(|| Device::gpus(number), Device::with_options)
}
