//! GPUs as a [`Backend`]: one nest by itself, which is what probes and tests of primitives run.

use super::device::Gpu;
use super::dispatch::{Dispatches, Place};
use super::memory::Memory;
use super::recording::Recording;
use crate::backend::Backend;
use crate::code::CodeOptions;
use ndjit_codegen::pipeline::lower_for;
use ndjit_codegen::target::Target;
use ndjit_ir::loops::{Geometry, LoopNest};
use ndjit_ir::reserve::filled;
use ndjit_ir::{Error, ErrorCode, Result};
use std::sync::Arc;

impl Backend for Arc<Gpu> {
    /// Which steps a nest takes depends on its geometry, so that pipelines are made when it is known.
    type Kernel = LoopNest;
    type Memory = Memory;

    fn target(&self) -> Result<Target> {
        Ok(self.features().target())
    }

    /// There is one form of code, whatever the options.
    fn compile(&self, nest: &LoopNest, _: CodeOptions) -> Result<Arc<LoopNest>> {
        lower_for(nest, &self.features().target())?;
        Ok(Arc::new(nest.clone()))
    }

    fn allocate(&self, bytes: usize) -> Result<Memory> {
        Memory::upload(self, &filled("backend", 0, bytes)?)
    }

    fn upload(&self, bytes: &[u8]) -> Result<Memory> {
        Memory::upload(self, bytes)
    }

    fn download(&self, memory: &Memory, bytes: &mut [u8]) -> Result<()> {
        memory.download(bytes)
    }

    fn run(
        &self,
        nest: &LoopNest,
        geometry: &Geometry,
        literals: &[u64],
        inputs: &[&Memory],
        outputs: &mut [Memory],
    ) -> Result<()> {
        let sizes = |memory: &mut dyn Iterator<Item = &Memory>| memory.map(Memory::len).collect::<Vec<usize>>();
        let output_bytes = sizes(&mut outputs.iter());
        geometry.verify(nest, &sizes(&mut inputs.iter().copied()), &output_bytes)?;
        let dispatches = Dispatches::new(self, nest, geometry, &output_bytes)?;
        let mut recording = Recording::new(self);
        recording.add(nest, &dispatches, literals, |place| match place {
            Place::Input(n) => Ok(inputs[n]),
            Place::Output(n) => Ok(&outputs[n]),
            Place::Partial(_) => Err(Error::new(ErrorCode::Verify, "gpu: partial results have memory of their own")),
        })?;
        recording.submit()
    }
}
