//! Reads of arrays, which evaluate pending operations.

use crate::array::node::{ArrayRef, Elements};
use crate::lazy::evaluate;
use ndjit_ir::{Error, ErrorCode, Result};
use ndjit_runtime::{Buffer, Memory};
use std::sync::Arc;

impl ArrayRef {
    /// The elements; computed if necessary.
    ///
    /// # Errors
    /// The array's error; `Allocation` if memory is refused.
    #[inline]
    pub fn elements(&self) -> Result<&Elements> {
        match self.0.state.get() {
            Some(Ok(elements)) => Ok(elements),
            Some(Err(_)) | None => self.computed(),
        }
    }

    fn computed(&self) -> Result<&Elements> {
        if self.0.state.get().is_none() {
            evaluate::evaluate(self)?;
        }
        match self.0.state.get() {
            Some(Ok(elements)) => Ok(elements),
            Some(Err(error)) => Err(error.clone()),
            None => Err(Error::new(ErrorCode::Verify, "evaluated, but without elements").of("array")),
        }
    }

    /// The elements in row-major order, on the array's device; copied once, if necessary.
    ///
    /// # Errors
    /// Those of [`elements`](ArrayRef::elements).
    pub fn memory(&self) -> Result<&Memory> {
        let elements = self.elements()?;
        if elements.layout.is_none() {
            return Ok(&elements.memory);
        }
        if let Some(dense) = elements.dense.get() {
            return Ok(dense);
        }
        let dense = evaluate::copy(self)?;
        Ok(elements.dense.get_or_init(|| dense))
    }

    /// The elements in row-major order in host memory.
    ///
    /// # Errors
    /// Those of [`elements`](ArrayRef::elements); `Device` if the device is lost.
    pub fn buffer(&self) -> Result<Arc<Buffer>> {
        let memory = self.memory()?;
        let coming = self.elements()?.coming.lock().take();
        let Some(reading) = coming else { return memory.host() };
        let mut buffer = Buffer::zeroed(memory.len())?;
        reading.finish(buffer.as_bytes_mut()?)?;
        Ok(Arc::new(buffer))
    }
}
