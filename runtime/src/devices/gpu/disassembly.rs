//! The SPIR-V of a module, as text.

use super::registry::opened;
use super::spirv::{as_written, compile};
use ndjit_ir::support::Device;
use ndjit_ir::{Error, ErrorCode, Result};
use rspirv::binary::Disassemble;

/// A module as SPIR-V assembly, in the specification's syntax; with the changes for a device, if given.
///
/// # Errors
/// Those of compiling a module; `Device` if the device cannot be opened.
pub fn disassembled(text: &str, device: Option<Device>) -> Result<String> {
    let mut words = compile(text)?;
    if let Some(number) = device.and_then(Device::gpu_number)
        && let Some(controls) = opened(number)?.controls
    {
        words = as_written(&words, controls)?;
    }
    let mut loader = rspirv::dr::Loader::new();
    rspirv::binary::parse_words(&words, &mut loader)
        .map_err(|e| Error::new(ErrorCode::Backend, "gpu: not a SPIR-V module").fact(e))?;
    Ok(loader.module().disassemble())
}
