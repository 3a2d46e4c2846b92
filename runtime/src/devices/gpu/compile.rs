//! Compilation of nests' steps to pipelines, which the device caches.

use super::device::Gpu;
use super::faults::Fault;
use super::pipeline::Pipeline;
use super::spirv;
use crate::execution::{kernels, lowering};
use ndjit_codegen::wgsl::{self, DispatchKind, Pieces, WORKGROUP};
use ndjit_ir::Result;
use ndjit_ir::loops::LoopNest;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// A valid module on which naga's writer panics.
const PANICS: &str = "@group(0) @binding(0) var<storage, read_write> x: i64;
@compute @workgroup_size(1) fn main() { x = firstLeadingBit(x); }";

impl Gpu {
    /// The pipeline of a step, compiled on a miss.
    ///
    /// # Errors
    /// `Backend` if the module cannot be emitted or the driver refuses it; `Device` if the device is lost.
    pub(super) fn pipeline(&self, nest: &LoopNest, step: DispatchKind, pieces: &Pieces) -> Result<Arc<Pipeline>> {
        self.alive()?;
        self.pipelines.get((nest.clone(), step, self.features(), pieces.clone()), |key| {
            let (nest, step, features, pieces) = &**key;
            let kernel = lowering::kernel(nest, &features.target())?;
            let mut module = wgsl::emit((nest, &kernel), *step, features, pieces)?;
            if self.fault(Fault::Compile) {
                module.text.insert(0, '}');
            }
            if self.fault(Fault::Translate) {
                module.text = PANICS.to_owned();
            }
            let weight = module.text.len();
            let pipeline = self.scoped("a kernel", || self.build(module))?;
            self.noticed()?;
            // Probes do not count.
            if self.is_probed() {
                kernels::count_compiled();
                kernels::count_elsewhere(pipeline.time);
            }
            Ok((Arc::new(pipeline), weight))
        })
    }

    fn build(&self, module: wgsl::WgslModule) -> Result<Pipeline> {
        let (start, bytes) = (Instant::now(), module.text.len());
        let shader = match self.controls {
            Some(controls) => {
                let words = spirv::as_written(&spirv::compile(&module.text)?, controls)?;
                let entry =
                    wgpu::PassthroughShaderEntryPoint { name: "main".into(), workgroup_size: (WORKGROUP, 1, 1) };
                let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
                    entry_points: Cow::Owned(vec![entry]),
                    spirv: Some(Cow::Owned(words)),
                    ..wgpu::ShaderModuleDescriptorPassthrough::default()
                };
                // SAFETY: naga has validated the module and written the words; the changes are modes, decorations and an opcode of the
                // same form. naga has bounds-checked each buffer access, all loops end, and the bindings are those of the layout below.
                unsafe { self.device.create_shader_module_passthrough(descriptor) }
            }
            None => {
                let source = wgpu::ShaderSource::Wgsl(Cow::Owned(module.text));
                self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source })
            }
        };
        let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
        let entry = |binding: usize, ty| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        };
        let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform)];
        if self.fault(Fault::Pipeline) {
            let most = self.limits.max_storage_buffers_per_shader_stage as usize;
            entries.extend((0..most).map(|n| entry(1000 + n, storage(true))));
        }
        entries.extend(module.bindings.iter().enumerate().map(|(n, binding)| entry(1 + n, storage(!binding.writes()))));
        let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
        let layout = self.device.create_bind_group_layout(&descriptor);
        let whole = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&whole),
            module: &shader,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let time = start.elapsed();
        Ok(Pipeline {
            pipeline: pipeline.into(),
            layout: layout.into(),
            bindings: module.bindings,
            elements: module.elements,
            bytes,
            time,
        })
    }
}
