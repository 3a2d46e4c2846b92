//! The buffers of a device: the memory in use, and buffers kept for reuse.

use super::shared::Shared;
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
    pub(super) _counted: Counted,
}

/// Bytes counted as taken.
pub(super) struct Counted {
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
    pub(super) fn take(&self, size: u64, usage: wgpu::BufferUsages) -> Option<Held> {
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
    pub(super) fn keep(&self, held: Held) {
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
    pub(super) fn count(&self, bytes: u64, asked: u64) -> Option<Counted> {
        let fits = |taken: u64| {
            let within = taken.saturating_add(asked) <= self.budget.unwrap_or(u64::MAX);
            within.then(|| taken.saturating_add(bytes))
        };
        self.taken.fetch_update(Relaxed, Relaxed, fits).ok()?;
        Some(Counted { taken: Arc::clone(&self.taken), bytes })
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
