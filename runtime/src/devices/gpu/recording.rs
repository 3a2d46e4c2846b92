//! The submission of a call: dispatches, with all their parameters in one buffer.

use super::device::Gpu;
use super::dispatch::{BoundMemory, Dispatch, Dispatches};
use super::faults::Fault;
use super::memory::GpuMemory;
use ndjit_ir::Result;
use ndjit_ir::loops::LoopNest;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Alignment of a dispatch's parameters in bytes.
const ALIGNMENT: usize = 256;

/// Dispatches to be submitted.
pub struct CommandRecorder<'a> {
    gpu: &'a Arc<Gpu>,
    params: Vec<u8>,
    ready: Vec<DeviceCommand<'a>>,
    /// Partial results, kept until submission.
    partials: Vec<GpuMemory>,
}

enum DeviceCommand<'a> {
    Dispatch(ReadyDispatch<'a>),
    /// A copy of so many bytes.
    Copy {
        from: wgpu::Buffer,
        to: wgpu::Buffer,
        bytes: u64,
    },
}

struct ReadyDispatch<'a> {
    dispatch: &'a Dispatch,
    /// Bytes of the parameters.
    params: Range<usize>,
    /// The memory of each binding.
    bound: Vec<wgpu::Buffer>,
}

impl<'a> CommandRecorder<'a> {
    pub fn new(gpu: &'a Arc<Gpu>) -> CommandRecorder<'a> {
        CommandRecorder { gpu, params: Vec::new(), ready: Vec::new(), partials: Vec::new() }
    }

    /// Adds the dispatches of a kernel. `operand` returns the memory of inputs and outputs, `literals` are the bits of
    /// registers.
    pub fn add<'m>(
        &mut self,
        nest: &LoopNest,
        dispatches: &'a Dispatches,
        literals: &[u64],
        operand: impl Fn(BoundMemory) -> Result<&'m GpuMemory>,
    ) -> Result<()> {
        let first = self.partials.len();
        for &bytes in &dispatches.partials {
            self.partials.push(GpuMemory::new(self.gpu, bytes)?);
        }
        for dispatch in &dispatches.all {
            let start = self.params.len().next_multiple_of(ALIGNMENT);
            self.params.resize(start, 0);
            let words = dispatch.params(nest, literals)?;
            self.params.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            let mut bound = Vec::with_capacity(dispatch.bound.len());
            for (place, _) in &dispatch.bound {
                bound.push(match *place {
                    BoundMemory::Partial(n) => self.partials[first + n].buffer().clone(),
                    place => operand(place)?.buffer().clone(),
                });
            }
            self.ready.push(DeviceCommand::Dispatch(ReadyDispatch {
                dispatch,
                params: start..self.params.len(),
                bound,
            }));
        }
        Ok(())
    }

    /// Adds a copy between two arrays of so many bytes.
    pub fn copy(&mut self, from: &GpuMemory, to: &GpuMemory, bytes: usize) {
        // Buffer sizes are multiples of four bytes, as copies require.
        let bytes = (bytes as u64).next_multiple_of(4);
        self.ready.push(DeviceCommand::Copy { from: from.buffer().clone(), to: to.buffer().clone(), bytes });
    }

    /// Submits everything, in order; does not wait.
    pub fn submit(self) -> Result<()> {
        if self.ready.is_empty() {
            return self.gpu.alive();
        }
        let params = GpuMemory::upload(self.gpu, &self.params)?;
        let binding = |buffer, start: usize, size: usize| {
            wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer,
                offset: start as u64,
                size: wgpu::BufferSize::new(size as u64),
            })
        };
        self.gpu.scoped("a call", || {
            let device = &self.gpu.device;
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let begin = |encoder: &mut wgpu::CommandEncoder| {
                encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()).forget_lifetime()
            };
            let mut pass = begin(&mut encoder);
            for recorded in &self.ready {
                let ReadyDispatch { dispatch, params: range, bound } = match recorded {
                    DeviceCommand::Dispatch(dispatch) => dispatch,
                    DeviceCommand::Copy { from, to, bytes } => {
                        drop(pass);
                        encoder.copy_buffer_to_buffer(from, 0, to, 0, *bytes);
                        pass = begin(&mut encoder);
                        continue;
                    }
                };
                let start = if self.gpu.fault(Fault::Bind) { 4 } else { range.start };
                let own = binding(params.buffer(), start, range.len());
                let others = bound.iter().zip(&dispatch.bound);
                let others = others.map(|(buffer, (_, window))| binding(buffer, window.start, window.size));
                let entries: Vec<wgpu::BindGroupEntry<'_>> = [own]
                    .into_iter()
                    .chain(others)
                    .zip(0..)
                    .map(|(resource, binding)| wgpu::BindGroupEntry { binding, resource })
                    .collect();
                let layout = &dispatch.pipeline.layout;
                let descriptor = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
                let group = device.create_bind_group(&descriptor);
                pass.set_pipeline(&dispatch.pipeline.pipeline);
                pass.set_bind_group(0, &group, &[]);
                let z = if self.gpu.fault(Fault::Dispatch) { u32::MAX } else { 1 };
                pass.dispatch_workgroups(dispatch.groups.0, dispatch.groups.1, z);
            }
            drop(pass);
            if self.gpu.fault(Fault::Submit) {
                let usage = wgpu::BufferUsages::COPY_DST;
                let descriptor = wgpu::BufferDescriptor { label: None, size: 4, usage, mapped_at_creation: false };
                let gone = device.create_buffer(&descriptor);
                encoder.clear_buffer(&gone, 0, None);
                gone.destroy();
            }
            self.gpu.queue.submit([encoder.finish()]);
            Ok(())
        })?;
        self.gpu.pool.unsent.store(0, Relaxed);
        self.gpu.noticed()
    }
}
