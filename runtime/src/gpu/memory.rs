//! Memory of a device: a pool of buffers, and copies from and to the host.
//!
//! Fresh buffers are slow (the device fills them with zeros at their first use), so that buffers are kept when arrays go. Work is done
//! in the order it was submitted in, so a buffer that is still in use may be handed out again. Reading goes through staging buffers
//! that are kept mapped to the host's memory.

use super::device::Gpu;
use super::shared::Shared;
use ndjit_ir::{Error, ErrorCode, Result};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes copied at once between host and device.
const PIECE: u64 = 32 << 20;

/// The buffers that nobody uses, and how much memory there is.
pub struct Pool {
    free: Mutex<Vec<Shared<wgpu::Buffer>>>,
    staging: Mutex<Vec<Shared<wgpu::Buffer>>>,
    taken: AtomicU64,
    budget: Option<u64>,
}

impl Pool {
    pub fn new(budget: Option<u64>) -> Pool {
        Pool { free: Mutex::default(), staging: Mutex::default(), taken: AtomicU64::new(0), budget }
    }

    pub fn budget(&self) -> Option<u64> {
        self.budget
    }

    pub fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }
}

/// Elements of an array on a device. `Send + Sync`; only kernels change them.
pub struct Memory {
    gpu: Arc<Gpu>,
    buffer: Option<Shared<wgpu::Buffer>>,
    bytes: usize,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({} bytes on {})", self.bytes, self.gpu.info().name)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            lock(&self.gpu.pool.free).push(buffer);
        }
    }
}

impl Memory {
    /// Memory of so many bytes, whose contents are unspecified.
    ///
    /// # Errors
    /// `Allocation` if the device has no such memory; `Device` if it is lost.
    pub fn new(gpu: &Arc<Gpu>, bytes: usize) -> Result<Memory> {
        let size = capacity(bytes);
        let buffer = match take(&gpu.pool.free, size) {
            Some(buffer) => buffer,
            None => gpu.fresh(size, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC)?,
        };
        Ok(Memory { gpu: Arc::clone(gpu), buffer: Some(buffer), bytes })
    }

    /// Memory with a copy of the host's bytes.
    ///
    /// # Errors
    /// As [`new`](Memory::new).
    pub fn upload(gpu: &Arc<Gpu>, bytes: &[u8]) -> Result<Memory> {
        let memory = Memory::new(gpu, bytes.len())?;
        memory.write(bytes)?;
        Ok(memory)
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The device.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(super) fn buffer(&self) -> &wgpu::Buffer {
        self.buffer.as_ref().unwrap_or_else(|| unreachable!("the buffer is there until the memory is dropped"))
    }

    /// Fills the memory, whose length `bytes` has.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<()> {
        for (n, piece) in bytes.chunks(PIECE as usize).enumerate() {
            self.gpu.scoped("a copy to the device", || {
                let at = n as u64 * PIECE;
                let size = (piece.len() as u64).next_multiple_of(4);
                let Some(size) = wgpu::BufferSize::new(size) else { return Ok(()) };
                let Some(mut view) = self.gpu.queue.write_buffer_with(self.buffer(), at, size) else {
                    return Err(Error::new(ErrorCode::Allocation, "gpu: no memory for a copy to the device"));
                };
                let whole = piece.len() & !3;
                view.slice(..whole).copy_from_slice(&piece[..whole]);
                if whole < piece.len() {
                    let mut last = [0; 4];
                    last[..piece.len() - whole].copy_from_slice(&piece[whole..]);
                    view.slice(whole..).copy_from_slice(&last);
                }
                drop(view);
                if bytes.len() as u64 > PIECE {
                    self.gpu.queue.submit([]);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Copies the elements to the host, into memory of the same length. Waits for kernels that write them.
    ///
    /// # Errors
    /// `Argument` if the lengths differ; `Device` if the device is lost or does not answer.
    pub fn download(&self, into: &mut [u8]) -> Result<()> {
        if into.len() != self.bytes {
            return Err(Error::new(ErrorCode::Argument, "download: memory and destination differ in size")
                .fact(format_args!("{} bytes of memory, {} to be filled", self.bytes, into.len())));
        }
        let pieces = into.chunks_mut(PIECE as usize).enumerate();
        for (n, piece) in pieces {
            self.gpu.read(self.buffer(), n as u64 * PIECE, piece)?;
        }
        Ok(())
    }
}

impl Gpu {
    /// A new buffer.
    pub(super) fn fresh(&self, size: u64, usage: wgpu::BufferUsages) -> Result<Shared<wgpu::Buffer>> {
        let refused = |why: &str| {
            Error::new(ErrorCode::Allocation, format!("gpu: no memory for an array of {size} bytes"))
                .fact(format_args!("{}: {why}", self.info().name))
        };
        if size > self.limits.max_buffer_size {
            return Err(refused(&format!("the largest array has {} bytes", self.limits.max_buffer_size)));
        }
        let pool = &self.pool;
        if let Some(budget) = pool.budget
            && pool.taken.load(Relaxed).saturating_add(size) > budget
        {
            // What is kept for later goes first.
            let unused: u64 = lock(&pool.free).drain(..).map(|buffer| self.let_go(&buffer)).sum();
            let _ = self.device.poll(wgpu::PollType::Poll);
            if pool.taken.load(Relaxed).saturating_add(size) > budget {
                let taken = pool.taken.load(Relaxed);
                return Err(refused(&format!("{taken} bytes of a budget of {budget} are in use, {unused} were freed")));
            }
        }
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let buffer = self.scoped("memory", || Ok(self.device.create_buffer(&descriptor)))?;
        pool.taken.fetch_add(size, Relaxed);
        Ok(buffer.into())
    }

    fn let_go(&self, buffer: &wgpu::Buffer) -> u64 {
        buffer.destroy();
        self.pool.taken.fetch_sub(buffer.size(), Relaxed);
        buffer.size()
    }

    /// Reads at most [`PIECE`] bytes from a multiple of 4 on.
    fn read(&self, buffer: &wgpu::Buffer, at: u64, into: &mut [u8]) -> Result<()> {
        if into.is_empty() {
            return self.alive();
        }
        let size = (into.len() as u64).next_multiple_of(4);
        let staging = match take(&self.pool.staging, size) {
            Some(staging) => staging,
            None => self.fresh(capacity(size as usize), wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)?,
        };
        let submission = self.scoped("a copy from the device", || {
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(buffer, at, &staging, 0, size);
            Ok(self.queue.submit([encoder.finish()]))
        })?;
        let mapped: Arc<Mutex<Option<std::result::Result<(), wgpu::BufferAsyncError>>>> = Arc::default();
        let noted = Arc::clone(&mapped);
        staging.map_async(wgpu::MapMode::Read, 0..size, move |result| *lock(&noted) = Some(result));
        self.wait(submission)?;
        let failed = |why: &dyn fmt::Display| {
            Error::new(ErrorCode::Device, "gpu: memory of the device cannot be read").fact(format_args!("{why}"))
        };
        match lock(&mapped).take() {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(failed(&error)),
            None => return Err(failed(&"it was not mapped")),
        }
        let view = staging.get_mapped_range(0..size).map_err(|e| failed(&e))?;
        into.copy_from_slice(&view[..into.len()]);
        drop(view);
        staging.unmap();
        lock(&self.pool.staging).push(staging);
        Ok(())
    }
}

/// A kept buffer of at least this size, and not much more.
fn take(kept: &Mutex<Vec<Shared<wgpu::Buffer>>>, size: u64) -> Option<Shared<wgpu::Buffer>> {
    let mut kept = lock(kept);
    let fits = |(n, buffer): (usize, &Shared<wgpu::Buffer>)| {
        (buffer.size() >= size && buffer.size() <= size.saturating_mul(2).max(4096)).then_some((buffer.size(), n))
    };
    let (_, n) = kept.iter().enumerate().filter_map(fits).min()?;
    Some(kept.swap_remove(n))
}

/// The size of the buffer for so many bytes: a power of two, or three quarters of one, so that sizes meet again.
fn capacity(bytes: usize) -> u64 {
    let bytes = (bytes as u64).max(256);
    if bytes > 1 << 24 {
        return bytes.next_multiple_of(1 << 20);
    }
    let power = bytes.next_power_of_two();
    if bytes <= power / 4 * 3 { power / 4 * 3 } else { power }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
