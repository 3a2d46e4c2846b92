//! Buffers of a device: from its pool, or new, within its budget.

use super::device::Gpu;
use super::faults::Fault;
use super::pool::Held;
use ndjit_ir::{Error, ErrorCode, Result};
use std::fmt;

impl Gpu {
    /// A buffer of at least so many bytes with unspecified contents. Work runs in submission order, so a buffer still in use may be
    /// reused.
    pub(super) fn buffer(&self, bytes: usize, usage: wgpu::BufferUsages) -> Result<Held> {
        let size = capacity(bytes)?;
        match self.pool.take(size, usage) {
            Some(held) => Ok(held),
            None => self.fresh(bytes, size, usage),
        }
    }

    /// Keeps a buffer for reuse, unless the device is lost.
    pub(super) fn keep(&self, held: Held) {
        if self.alive().is_ok() {
            self.pool.keep(held);
        } else {
            self.pool.trim();
        }
    }

    /// A new buffer of `size` bytes, for a request of `bytes`.
    fn fresh(&self, bytes: usize, size: u64, usage: wgpu::BufferUsages) -> Result<Held> {
        self.alive()?;
        let refused = |why: &dyn fmt::Display| {
            Error::new(ErrorCode::Allocation, format!("no memory for an array of {bytes} bytes"))
                .of("gpu")
                .fact(format_args!("{}: {why}", self.info().name))
        };
        if size > self.limits.max_buffer_size {
            return Err(refused(&format_args!("the largest array has {} bytes", self.limits.max_buffer_size))
                .help("work on parts of it, or on the processor: `x.on(Device::CPU)`"));
        }
        let count = || {
            let asked = if self.fault(Fault::Budget) { u64::MAX } else { size };
            self.pool.count(size, asked)
        };
        let again = || {
            self.trim();
            count()
        };
        let Some(counted) = count().or_else(again).or_else(|| {
            crate::memory::pool::give_back();
            again()
        }) else {
            let (taken, budget) = (self.pool.taken(), self.pool.budget().unwrap_or(u64::MAX));
            return Err(refused(&format_args!("{taken} bytes of a budget of {budget} are in use"))
                .help("drop arrays that are on it, or open it with more, `GpuOptions { budget: Some(bytes), .. }`"));
        };
        let create = || {
            self.scoped("memory", || {
                let size = if self.fault(Fault::Size) { !3 } else { size };
                let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
                Ok(self.device.create_buffer(&descriptor))
            })
        };
        let buffer = create().or_else(|error| match error.code() {
            ErrorCode::Device => Err(error),
            // Kept or unfreed memory may have caused the failure.
            _ => {
                crate::memory::pool::give_back();
                self.pool.trim();
                let _ = self.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(self.patience) })?;
                create()
            }
        });
        let buffer = buffer.map_err(|error| match error.code() {
            ErrorCode::Device => error,
            _ => error
                .facts()
                .iter()
                .fold(refused(&error.headline()), |refused, fact| refused.fact(fact))
                .help("drop arrays that are on it, or work on parts"),
        })?;
        self.noticed()?;
        Ok(Held { buffer: buffer.into(), _counted: counted })
    }
}

/// The size of a buffer for so many bytes: a power of two, or three quarters of one, for reuse.
fn capacity(bytes: usize) -> Result<u64> {
    let bytes = (bytes as u64).max(256);
    if bytes > 1 << 24 {
        return bytes.checked_next_multiple_of(1 << 20).ok_or_else(|| {
            Error::new(ErrorCode::Allocation, format!("no memory for an array of {bytes} bytes")).of("gpu")
        });
    }
    let power = bytes.next_power_of_two();
    Ok(if bytes <= power / 4 * 3 { power / 4 * 3 } else { power })
}
