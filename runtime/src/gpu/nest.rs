//! One nest by itself, on the host's bytes: what probes and tests of primitives run.

use super::device::Gpu;
use super::dispatch::{Dispatches, Place};
use super::memory::Memory;
use super::recording::Recording;
use ndjit_ir::loops::{Geometry, LoopNest};
use ndjit_ir::{Error, ErrorCode, Result};
use std::sync::Arc;

impl Gpu {
    /// Runs a nest without literals on copies of the inputs' memory; `outputs` are the bytes of each output's memory, which is returned.
    ///
    /// # Errors
    /// `Verify` if the nest would leave that memory; `Backend` if it cannot be compiled; `Allocation` if the device has no
    /// memory; `Device` if it is lost or does not answer.
    pub fn run_nest(
        self: &Arc<Gpu>,
        nest: &LoopNest,
        geometry: &Geometry,
        inputs: &[Vec<u8>],
        outputs: &[usize],
    ) -> Result<Vec<Vec<u8>>> {
        let sizes: Vec<usize> = inputs.iter().map(Vec::len).collect();
        geometry.verify(nest, &sizes, outputs)?;
        let inputs: Vec<Memory> = inputs.iter().map(|bytes| Memory::upload(self, bytes)).collect::<Result<_>>()?;
        let outputs: Vec<Memory> = outputs.iter().map(|&bytes| Memory::new(self, bytes)).collect::<Result<_>>()?;
        let sizes: Vec<usize> = outputs.iter().map(Memory::len).collect();
        let dispatches = Dispatches::new(self, nest, geometry, &sizes)?;
        let mut recording = Recording::new(self);
        recording.add(nest, &dispatches, &[], |place| match place {
            Place::Input(n) => Ok(&inputs[n]),
            Place::Output(n) => Ok(&outputs[n]),
            Place::Partial(_) => Err(Error::new(ErrorCode::Verify, "gpu: partial results have memory of their own")),
        })?;
        recording.submit()?;
        let read = |memory: &Memory| {
            let mut bytes = vec![0; memory.len()];
            memory.download(&mut bytes)?;
            Ok(bytes)
        };
        outputs.iter().map(read).collect()
    }
}
