//! Device memory of arrays, and copies from and to the host.
//!
//! Copies use memory visible to both. Writes wait in the queue for the next submission; reads use staging buffers, which are kept.

use super::device::Gpu;
use super::faults::Fault;
use super::pool::{Held, lock};
use crate::memory::device::{DeviceMemory, Reading};
use ndjit_ir::support::Device;
use ndjit_ir::{Error, ErrorCode, Result};
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Bytes per copy between host and device.
const PIECE: u64 = 32 << 20;
/// Usages of arrays, including copies.
const ARRAY: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::UNIFORM)
    .union(wgpu::BufferUsages::COPY_DST)
    .union(wgpu::BufferUsages::COPY_SRC);
/// Usages of staging buffers.
const STAGING: wgpu::BufferUsages = wgpu::BufferUsages::MAP_READ.union(wgpu::BufferUsages::COPY_DST);

/// Elements of an array on a device. `Send + Sync`; only kernels change them.
pub struct GpuMemory {
    gpu: Arc<Gpu>,
    held: Option<Held>,
    bytes: usize,
}

impl fmt::Debug for GpuMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GpuMemory({} bytes on {})", self.bytes, self.gpu.info().name)
    }
}

impl Drop for GpuMemory {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            self.gpu.keep(held);
        }
    }
}

impl GpuMemory {
    /// Memory of so many bytes, whose contents are unspecified.
    ///
    /// # Errors
    /// `Allocation` if the device has no such memory; `Device` if it is lost.
    pub fn new(gpu: &Arc<Gpu>, bytes: usize) -> Result<GpuMemory> {
        let held = gpu.buffer(bytes, ARRAY)?;
        Ok(GpuMemory { gpu: Arc::clone(gpu), held: Some(held), bytes })
    }

    /// Memory with a copy of the host's bytes.
    ///
    /// # Errors
    /// As [`new`](GpuMemory::new).
    pub fn upload(gpu: &Arc<Gpu>, bytes: &[u8]) -> Result<GpuMemory> {
        let memory = GpuMemory::new(gpu, bytes.len())?;
        memory.write(bytes)?;
        Ok(memory)
    }

    /// The device.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(super) fn buffer(&self) -> &wgpu::Buffer {
        let held = self.held.as_ref();
        &held.unwrap_or_else(|| unreachable!("the buffer is there until the memory is dropped")).buffer
    }

    /// Writes at most as many bytes as the memory has.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<()> {
        for (n, piece) in bytes.chunks(PIECE as usize).enumerate() {
            self.gpu.write(self.buffer(), n as u64 * PIECE, piece)?;
        }
        Ok(())
    }

    /// Fills the memory with an element.
    pub(super) fn fill(&self, element: &[u8]) -> Result<()> {
        // A power of two divides a piece.
        let piece = element.repeat(self.bytes.min(PIECE as usize) / element.len().max(1));
        for at in (0..self.bytes).step_by(PIECE as usize) {
            self.gpu.write(self.buffer(), at as u64, &piece[..piece.len().min(self.bytes - at)])?;
        }
        Ok(())
    }
}

impl DeviceMemory for GpuMemory {
    fn len(&self) -> usize {
        self.bytes
    }

    fn device(&self) -> Device {
        self.gpu.device()
    }

    fn wait(&self) -> Result<()> {
        // A submission after all previous work.
        let last = self.gpu.scoped("waiting", || Ok(self.gpu.queue.submit([])))?;
        self.gpu.wait(&last)
    }

    fn download(&self, into: &mut [u8]) -> Result<()> {
        if into.len() != self.bytes {
            return Err(Error::new(ErrorCode::Argument, "memory and destination differ in size")
                .of("download")
                .fact(format_args!("{} bytes of memory, {} to be filled", self.bytes, into.len())));
        }
        let mut asked: Option<(PendingCopy, &mut [u8])> = None;
        // While one piece is copied, the next is in flight.
        for (n, piece) in into.chunks_mut(PIECE as usize).enumerate() {
            let next = self.gpu.ask(self.buffer(), n as u64 * PIECE, piece.len())?;
            if let Some((before, into)) = asked.replace((next, piece)) {
                self.gpu.answer(before, into)?;
            }
        }
        asked.map_or_else(|| self.gpu.alive(), |(last, into)| self.gpu.answer(last, into))
    }

    fn reading(self: Arc<Self>) -> Result<Box<dyn Reading>> {
        let mut pieces = Vec::new();
        for at in (0..self.bytes).step_by(PIECE as usize) {
            pieces.push(self.gpu.ask(self.buffer(), at as u64, (self.bytes - at).min(PIECE as usize))?);
        }
        Ok(Box::new(PendingReadback { memory: self, pieces }))
    }
}

/// A copy to the host in progress.
struct PendingReadback {
    memory: Arc<GpuMemory>,
    pieces: Vec<PendingCopy>,
}

impl fmt::Debug for PendingReadback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reading({:?})", self.memory)
    }
}

impl Reading for PendingReadback {
    fn finish(self: Box<Self>, into: &mut [u8]) -> Result<()> {
        if into.len() != self.memory.bytes {
            return Err(Error::new(ErrorCode::Argument, "memory and destination differ in size").of("reading"));
        }
        for (piece, into) in self.pieces.into_iter().zip(into.chunks_mut(PIECE as usize)) {
            self.memory.gpu.answer(piece, into)?;
        }
        self.memory.gpu.alive()
    }
}

/// A copy of a piece in progress.
struct PendingCopy {
    staging: Held,
    size: u64,
    submission: wgpu::SubmissionIndex,
    receiver: Receiver<std::result::Result<(), wgpu::BufferAsyncError>>,
}

impl Gpu {
    /// Writes at most [`PIECE`] bytes at a multiple of 4, padded with zeros to the next multiple.
    fn write(&self, buffer: &wgpu::Buffer, at: u64, bytes: &[u8]) -> Result<()> {
        let Some(size) = wgpu::BufferSize::new((bytes.len() as u64).next_multiple_of(4)) else { return self.alive() };
        let view = self.scoped("a copy to the device", || {
            let at = if self.fault(Fault::Write) { buffer.size() } else { at };
            let Some(mut view) = self.queue.write_buffer_with(buffer, at, size) else { return Ok(None) };
            let whole = bytes.len() & !3;
            view.slice(..whole).copy_from_slice(&bytes[..whole]);
            if whole < bytes.len() {
                let mut last = [0; 4];
                last[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
                view.slice(whole..).copy_from_slice(&last);
            }
            Ok(Some(()))
        })?;
        // Refused without an error.
        view.ok_or_else(|| self.lose("it no longer answers to calls"))?;
        // Copies in flight take memory, so their number is limited.
        if self.pool.unsent.fetch_add(size.get(), Relaxed) + size.get() < PIECE {
            return Ok(());
        }
        self.pool.unsent.store(0, Relaxed);
        let sent = self.scoped("a copy to the device", || Ok(self.queue.submit([])))?;
        let before = lock(&self.pool.sent).replace(sent);
        before.map_or(Ok(()), |before| self.wait(&before))
    }

    /// Starts a copy of at most [`PIECE`] bytes from a multiple of 4 on.
    fn ask(&self, buffer: &wgpu::Buffer, at: u64, len: usize) -> Result<PendingCopy> {
        let size = (len as u64).next_multiple_of(4);
        let staging = self.buffer(len, STAGING)?;
        let submission = self.scoped("a copy from the device", || {
            let at = if self.fault(Fault::Read) { buffer.size() } else { at };
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(buffer, at, &staging.buffer, 0, size);
            Ok(self.queue.submit([encoder.finish()]))
        })?;
        let (sender, receiver) = sync_channel(1);
        self.scoped("reading memory", || {
            if self.fault(Fault::Map) {
                staging.buffer.destroy();
            }
            staging.buffer.map_async(wgpu::MapMode::Read, 0..size, move |answer| drop(sender.send(answer)));
            Ok(())
        })?;
        Ok(PendingCopy { staging, size, submission, receiver })
    }

    /// Waits for a copy.
    fn answer(&self, asked: PendingCopy, into: &mut [u8]) -> Result<()> {
        let PendingCopy { staging, size, submission, receiver } = asked;
        self.wait(&submission)?;
        let failed = |why: &dyn fmt::Display| {
            Error::new(ErrorCode::Backend, "memory of the device cannot be read").of("gpu").fact(format_args!("{why}"))
        };
        // Another polling thread may have taken the callback, without having run it yet.
        let start = Instant::now();
        loop {
            match receiver.recv_timeout(Duration::from_millis(10)) {
                Ok(Ok(())) => break,
                Ok(Err(error)) => return Err(self.noticed().err().unwrap_or_else(|| failed(&error))),
                Err(RecvTimeoutError::Timeout) if start.elapsed() < self.patience => {
                    self.alive()?;
                    let _ = self.poll(wgpu::PollType::Poll)?;
                }
                Err(error) => return Err(failed(&error)),
            }
        }
        self.scoped("reading memory", || {
            if self.fault(Fault::Unmap) {
                staging.buffer.unmap();
            }
            // The device was not destroyed before, and will not be while this lock is held.
            let _reading = self.reading.read().unwrap_or_else(PoisonError::into_inner);
            self.noticed()?;
            let view = staging.buffer.get_mapped_range(0..size).map_err(|e| failed(&e))?;
            into.copy_from_slice(&view[..into.len()]);
            drop(view);
            staging.buffer.unmap();
            Ok(())
        })?;
        self.keep(staging);
        Ok(())
    }
}
