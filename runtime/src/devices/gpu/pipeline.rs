//! Pipelines: the compiled modules of nests' steps, cached by the device.

use super::shared::Shared;
use crate::execution::code::KernelCode;
use ndjit_codegen::wgsl::{Binding, DispatchKind, Features, Pieces};
use ndjit_ir::loops::LoopNest;
use std::time::Duration;

/// The cache key of a pipeline.
pub type PipelineKey = (LoopNest, DispatchKind, Features, Pieces);

/// A compiled module.
#[derive(Debug)]
pub struct Pipeline {
    pub pipeline: Shared<wgpu::ComputePipeline>,
    pub layout: Shared<wgpu::BindGroupLayout>,
    /// The bindings 1, 2, ….
    pub bindings: Vec<Binding>,
    /// Elements per invocation.
    pub elements: u32,
    /// Bytes of the module's text.
    pub(super) bytes: usize,
    pub(super) time: Duration,
}

impl KernelCode for Pipeline {
    fn code_bytes(&self) -> usize {
        self.bytes
    }

    fn compile_time(&self) -> Duration {
        self.time
    }
}
