//! Devices of programs and arrays: the processor and GPUs. The GPUs of the process are opened here, each at its first use, and again
//! after a loss.

pub mod backend;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod memory;
pub mod on_gpu;

use crate::devices::backend::{Backend, Cpu};
use crate::devices::memory::Memory;
use ndjit_codegen::Options;
use ndjit_ir::lines::TextLine;
use ndjit_ir::support::Device;
use ndjit_ir::{Error, ErrorCode, Result};
use std::sync::{Arc, OnceLock};

impl Memory {
    /// The elements on a device, copied if necessary.
    ///
    /// # Errors
    /// Those of [`host`](Memory::host); `Device` if the device cannot be opened; `Allocation` if it has no memory.
    pub fn on(&self, device: Device) -> Result<Memory> {
        if self.device() == device {
            return Ok(self.clone());
        }
        if device == Device::CPU {
            return self.host().map(Memory::Host);
        }
        open(device)?.upload(self.host()?.as_bytes())
    }
}

/// The pipeline options for a device, with its limit of arrays per kernel.
///
/// # Errors
/// Those of [`open`].
pub fn options(device: Device, options: Options) -> Result<Options> {
    Ok(Options { device_arrays: open(device)?.max_arrays(), ..options })
}

/// Opens a device.
///
/// # Errors
/// `Device` if a GPU cannot be opened, the program was built without GPUs, or the device is only described.
pub fn open(device: Device) -> Result<Arc<dyn Backend>> {
    static CPU: OnceLock<Arc<dyn Backend>> = OnceLock::new();
    match device.gpu_number() {
        #[cfg(feature = "gpu")]
        Some(number) => Ok(crate::devices::gpu::opened(number)?),
        #[cfg(not(feature = "gpu"))]
        Some(_) => Err(Error::new(ErrorCode::Device, "this program was built without GPUs").of("gpu")
            .help("enable the feature: `ndjit = { features = [\"gpu\"] }`")),
        None if device == Device::CPU => Ok(Arc::clone(CPU.get_or_init(|| Arc::new(Cpu)))),
        None => Err(Error::new(ErrorCode::Device, format!("`{device}` is described, and nothing runs there")).of("device")
            .help("`with_device(device, || …)` makes operations with its dtypes; run them on `Device::CPU` or `Device::gpu()`")),
    }
}

/// The SPIR-V of a module, as text.
///
/// # Errors
/// `Backend` if the text is not valid WGSL; those of [`open`] for a GPU, if this program was built without GPUs.
pub fn spirv(text: &str, device: Option<Device>) -> Result<Vec<TextLine<()>>> {
    #[cfg(feature = "gpu")]
    return crate::devices::gpu::spirv(text, device);
    #[cfg(not(feature = "gpu"))]
    {
        let _ = text;
        open(device.unwrap_or_else(Device::gpu)).map(|_| Vec::new())
    }
}
