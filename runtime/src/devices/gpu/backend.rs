//! GPUs as a [`Backend`].

use super::device::Gpu;
use super::dispatch::{BoundMemory, Dispatches};
use super::memory::GpuMemory;
use super::program::GpuProgram;
use super::recording::CommandRecorder;
use crate::devices::backend::{Backend, DeviceProgram, Fallback};
use crate::devices::memory::Memory;
use crate::execution::lowering;
use crate::memory::device::DeviceMemory;
use crate::programs::call::RunOptions;
use ndjit_codegen::Lowered;
use ndjit_codegen::target::Target;
use ndjit_ir::loops::{IterationDomain, LoopNest};
use ndjit_ir::reserve::filled;
use ndjit_ir::support::Device;
use ndjit_ir::{Error, ErrorCode, Result};
use std::sync::Arc;

impl Backend for Gpu {
    fn device(&self) -> Device {
        Gpu::device(self)
    }

    fn target(&self) -> Result<Target> {
        Ok(self.features().target())
    }

    fn max_arrays(&self) -> Option<usize> {
        Some(Gpu::max_arrays(self))
    }

    fn upload(self: Arc<Self>, bytes: &[u8]) -> Result<Memory> {
        Ok(Memory::Device(Arc::new(GpuMemory::upload(&self, bytes)?)))
    }

    fn compile(
        self: Arc<Self>,
        lowered: &Lowered,
        fallback: Fallback,
        options: &RunOptions,
    ) -> Result<Box<dyn DeviceProgram>> {
        Ok(Box::new(GpuProgram::new(&self, lowered, fallback, options)?))
    }

    fn run_nest(
        self: Arc<Self>,
        nest: &LoopNest,
        domain: &IterationDomain,
        literals: &[u64],
        inputs: &[Vec<u8>],
        outputs: &[usize],
    ) -> Result<Vec<Vec<u8>>> {
        lowering::kernel(nest, &self.features().target())?;
        let inputs = inputs.iter().map(|bytes| GpuMemory::upload(&self, bytes)).collect::<Result<Vec<_>>>()?;
        let zeros = |&bytes: &usize| GpuMemory::upload(&self, &filled("backend", 0, bytes)?);
        let memory = outputs.iter().map(zeros).collect::<Result<Vec<_>>>()?;
        let sizes = inputs.iter().map(DeviceMemory::len).collect::<Vec<usize>>();
        domain.verify(nest, &sizes, outputs)?;
        let dispatches = Dispatches::new(&self, nest, domain, outputs)?;
        let mut recording = CommandRecorder::new(&self);
        recording.add(nest, &dispatches, literals, |place| match place {
            BoundMemory::Input(n) => Ok(&inputs[n]),
            BoundMemory::Output(n) => Ok(&memory[n]),
            BoundMemory::Partial(_) => {
                Err(Error::new(ErrorCode::Verify, "gpu: partial results have memory of their own"))
            }
        })?;
        recording.submit()?;
        let read = |(memory, &bytes): (&GpuMemory, &usize)| {
            let mut bytes = filled("backend", 0, bytes)?;
            memory.download(&mut bytes)?;
            Ok(bytes)
        };
        memory.iter().zip(outputs).map(read).collect()
    }
}
