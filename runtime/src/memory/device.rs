//! Elements in the own memory of a device, behind a trait: arrays refer to them on any device.

use ndjit_ir::Result;
use ndjit_ir::support::Device;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Elements of an array in a device's own memory; only kernels change them.
pub trait DeviceMemory: Any + Debug + Send + Sync {
    /// The length in bytes.
    fn len(&self) -> usize;

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device.
    fn device(&self) -> Device;

    /// Waits until the device has computed the elements.
    ///
    /// # Errors
    /// `Device` if the device is lost or does not answer.
    fn wait(&self) -> Result<()>;

    /// Copies the elements to the host, into memory of the same length. Waits for kernels that write them.
    ///
    /// # Errors
    /// `Argument` if the lengths differ; `Device` if the device is lost or does not answer; `Allocation` if it has no memory for the copy;
    /// `Backend` if it cannot be read.
    fn download(&self, into: &mut [u8]) -> Result<()>;

    /// Starts a copy to the host without waiting.
    ///
    /// # Errors
    /// As [`download`](DeviceMemory::download).
    fn reading(self: Arc<Self>) -> Result<Box<dyn Reading>>;
}

/// A copy to the host in progress.
pub trait Reading: Debug + Send {
    /// Waits for the elements, and copies them into memory of the same length.
    ///
    /// # Errors
    /// As [`DeviceMemory::download`].
    fn finish(self: Box<Self>, into: &mut [u8]) -> Result<()>;
}
