//! Elements of an array in the memory of any device.

use crate::memory::buffer::Buffer;
use crate::memory::device::{DeviceMemory, Reading};
use crate::programs::call::{Argument, Output};
use ndjit_ir::support::Device;
use ndjit_ir::{Error, ErrorCode, Result};
use std::sync::Arc;

/// Elements in the memory of a device. `Clone` shares them.
#[derive(Clone, Debug)]
pub enum Memory {
    /// In the host's memory.
    Host(Arc<Buffer>),
    /// In device memory.
    Device(Arc<dyn DeviceMemory>),
}

impl Memory {
    /// The length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Memory::Host(buffer) => buffer.len(),
            Memory::Device(memory) => memory.len(),
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device.
    pub fn device(&self) -> Device {
        match self {
            Memory::Host(_) => Device::CPU,
            Memory::Device(memory) => memory.device(),
        }
    }

    /// The elements in host memory, copied if necessary. Waits for kernels that write them.
    ///
    /// # Errors
    /// `Device` if the device is lost or does not answer; `Allocation` if memory is refused.
    pub fn host(&self) -> Result<Arc<Buffer>> {
        match self {
            Memory::Host(buffer) => Ok(Arc::clone(buffer)),
            Memory::Device(memory) => {
                let mut buffer = Buffer::zeroed(memory.len())?;
                memory.download(buffer.as_bytes_mut()?)?;
                Ok(Arc::new(buffer))
            }
        }
    }

    /// Waits until the elements are computed.
    ///
    /// # Errors
    /// `Device` if the device is lost or does not answer.
    pub fn wait(&self) -> Result<()> {
        match self {
            Memory::Host(_) => Ok(()),
            Memory::Device(memory) => memory.wait(),
        }
    }

    /// Starts a copy to the host without waiting; `None` for host memory.
    ///
    /// # Errors
    /// `Device` if the device is lost; `Allocation` if memory for the copy is refused.
    pub fn reading(&self) -> Result<Option<Box<dyn Reading>>> {
        match self {
            Memory::Host(_) => Ok(None),
            Memory::Device(memory) => Arc::clone(memory).reading().map(Some),
        }
    }

    /// The memory as an argument.
    pub fn argument(&self) -> Argument<'_> {
        match self {
            Memory::Host(buffer) => Argument::Shared(buffer),
            Memory::Device(memory) => Argument::Device(memory),
        }
    }

    /// The memory as a result of a call.
    pub fn result<'a>(&self) -> Output<'a> {
        match self {
            Memory::Host(buffer) => Output::Fresh(Some(Arc::clone(buffer))),
            Memory::Device(memory) => Output::Device(Some(Arc::clone(memory))),
        }
    }
}

/// The memory of a result after a call.
///
/// # Errors
/// `Verify` if the call did not set it.
pub fn result_memory(output: Output<'_>) -> Result<Memory> {
    match output {
        Output::Fresh(Some(buffer)) => Ok(Memory::Host(buffer)),
        Output::Device(Some(memory)) => Ok(Memory::Device(memory)),
        Output::Fresh(None) | Output::Device(None) | Output::Into(_) => {
            Err(Error::new(ErrorCode::Verify, "the program gave no elements").of("run"))
        }
    }
}
