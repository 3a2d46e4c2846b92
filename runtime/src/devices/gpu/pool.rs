//! The buffers of a device: the memory in use, and buffers kept for reuse.

use super::device::Gpu;
use super::faults::Fault;
use super::shared::Shared;
use ndjit_ir::{Error, ErrorCode, Result};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum number of bytes kept without a budget; with a budget half of it.
const KEPT: u64 = 1 << 30;

/// The free buffers, and the memory budget.
pub struct GpuPool {
    kept: Mutex<FreeBuffers>,
    taken: Arc<AtomicU64>,
    budget: Option<u64>,
    /// Bytes of copies to the device that are not submitted yet.
    pub unsent: AtomicU64,
    /// The last submission of copies only.
    pub sent: Mutex<Option<wgpu::SubmissionIndex>>,
}

#[derive(Default)]
struct FreeBuffers {
    /// The oldest comes first.
    buffers: Vec<Held>,
    bytes: u64,
}

/// A buffer. Its bytes count as taken until it is dropped.
pub struct Held {
    pub buffer: Shared<wgpu::Buffer>,
    _counted: Counted,
}

/// Bytes counted as taken.
struct Counted {
    taken: Arc<AtomicU64>,
    bytes: u64,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.taken.fetch_sub(self.bytes, Relaxed);
    }
}

impl GpuPool {
    pub fn new(budget: Option<u64>) -> GpuPool {
        let (kept, taken, unsent, sent) = Default::default();
        GpuPool { kept, taken, budget, unsent, sent }
    }

    pub fn budget(&self) -> Option<u64> {
        self.budget
    }

    pub fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    /// Frees kept buffers.
    pub fn trim(&self) {
        // Dropped outside the lock.
        let _ = std::mem::take(&mut *lock(&self.kept));
    }

    /// A kept buffer of at least this size, and little more.
    fn take(&self, size: u64, usage: wgpu::BufferUsages) -> Option<Held> {
        let mut kept = lock(&self.kept);
        let most = size.saturating_mul(2).max(4096);
        let fits = |(n, held): (usize, &Held)| {
            let fits = (size..=most).contains(&held.buffer.size()) && held.buffer.usage() == usage;
            fits.then_some((held.buffer.size(), n))
        };
        let (bytes, n) = kept.buffers.iter().enumerate().filter_map(fits).min()?;
        kept.bytes -= bytes;
        Some(kept.buffers.remove(n))
    }

    /// Keeps a buffer, and frees others beyond the limit.
    fn keep(&self, held: Held) {
        let most = self.budget.map_or(KEPT, |budget| budget / 2);
        let mut kept = lock(&self.kept);
        kept.bytes += held.buffer.size();
        kept.buffers.push(held);
        let (mut surplus, mut bytes) = (0, kept.bytes);
        while bytes > most {
            bytes -= kept.buffers[surplus].buffer.size();
            surplus += 1;
        }
        kept.bytes = bytes;
        let surplus: Vec<Held> = kept.buffers.drain(..surplus).collect();
        drop(kept);
        drop(surplus);
    }

    /// Counts bytes as taken, if the budget allows.
    fn count(&self, bytes: u64, asked: u64) -> Option<Counted> {
        let fits = |taken: u64| {
            let within = taken.saturating_add(asked) <= self.budget.unwrap_or(u64::MAX);
            within.then(|| taken.saturating_add(bytes))
        };
        self.taken.fetch_update(Relaxed, Relaxed, fits).ok()?;
        Some(Counted { taken: Arc::clone(&self.taken), bytes })
    }
}

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
            let (taken, budget) = (self.pool.taken(), self.pool.budget.unwrap_or(u64::MAX));
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

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
