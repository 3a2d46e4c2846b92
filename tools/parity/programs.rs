//! Programs, most of one op, cast, reduction or scan, on the device, in compiled code and in the interpreter.

use ndjit::{DType, Policy, Result, Shape, ValueType};
use ndjit_codegen::{Lowered, Options, lower};
use ndjit_ir::graph::{Graph, NodeKind, SourceLocs};
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::reduction::{AxisFunction, AxisSet, Reduce, TypeRequest};
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_runtime::gpu::{self, Gpu};
use ndjit_runtime::{Argument, DeviceProgram as _, Executable, Fallback, Output, RunOptions};
use ndjit_transform::access::contiguous;
use std::sync::Arc;

/// A program, lowered.
pub struct Program {
    lowered: Lowered,
    scalars: Vec<(usize, Literal)>,
}

/// Pipeline options for any device.
fn on_device() -> Options {
    Options { device_arrays: Some(usize::MAX), ..Options::default() }
}

impl Program {
    /// An op or a cast of contiguous arrays of one length.
    ///
    /// # Errors
    /// Those of the compiler.
    pub fn elementwise(kind: NodeKind, operands: &[DType], result: DType, length: usize) -> Result<Program> {
        let shape = Shape::from([length]);
        let dense = |dtype: DType| Layout { offset: 0, strides: [dtype.bytes() as isize].into_iter().collect() };
        let layouts: Vec<Layout> = operands.iter().copied().map(dense).collect();
        Program::new(kind, operands, &shape, result, &shape, &layouts)
    }

    /// A reduction, a scan or a sort of an array with this layout. Scans and sorts are along the first of the axes.
    ///
    /// # Errors
    /// Those of the compiler.
    pub fn reduction(
        function: AxisFunction,
        dtype: DType,
        shape: &Shape,
        axes: &[isize],
        layout: &Layout,
    ) -> Result<Program> {
        let result = Policy::default().resolve_reduction(function, None, dtype.into())?.result;
        let all = AxisSet::new(axes, shape.rank())?;
        let axis = axes.first().copied().unwrap_or(0) as u32;
        let (kind, reduced) = match function {
            AxisFunction::Scan(scan) => (NodeKind::Scan(scan, axis, TypeRequest::default()), shape.clone()),
            AxisFunction::Sort(sort) => (NodeKind::Sort(sort, axis, TypeRequest::default()), shape.clone()),
            AxisFunction::Reduction(reduction) => {
                (NodeKind::Reduce(Reduce::new(reduction, all, false)), all.reduced(shape, false))
            }
        };
        Program::new(kind, &[dtype], shape, result, &reduced, std::slice::from_ref(layout))
    }

    fn new(
        kind: NodeKind,
        operands: &[DType],
        shape: &Shape,
        result: DType,
        of_result: &Shape,
        layouts: &[Layout],
    ) -> Result<Program> {
        let mut graph: Graph<ValueType> = Graph::new();
        let params: Vec<_> = operands.iter().map(|&dtype| graph.param(dtype.into(), shape)).collect();
        let id = graph.intern(of_result);
        let value = graph.add(kind, &params, &[(result.into(), id)]);
        graph.set_outputs(vec![value]);
        Ok(Program { lowered: lower(&graph, &SourceLocs::default(), layouts, &on_device())?, scalars: Vec::new() })
    }

    /// A random program of dense arrays.
    ///
    /// # Errors
    /// Those of the compiler.
    pub fn of_graph(random: &ndjit_random::Program) -> Result<Program> {
        let layouts =
            random.params.iter().map(|param| contiguous(&param.shape, param.dtype)).collect::<Result<Vec<_>>>()?;
        let lowered = lower(&random.graph, &SourceLocs::default(), &layouts, &on_device())?;
        Ok(Program { lowered, scalars: random.scalars.clone() })
    }

    /// The dtype of the first result.
    pub fn dtype(&self) -> DType {
        let graph = &self.lowered.simplified;
        graph.outputs().first().map_or(DType::Bool, |&value| graph.ty(value))
    }

    /// Memory for the results.
    fn results(&self) -> Result<Vec<Vec<u8>>> {
        let graph = &self.lowered.simplified;
        let bytes = |&value| Ok(vec![0; graph.shape(value).bytes(graph.ty(value).bytes())?]);
        graph.outputs().iter().map(bytes).collect()
    }

    /// The results on the device; `None` if the device lacks a dtype.
    ///
    /// # Errors
    /// Those of the device.
    pub fn on_device(&self, gpu: &Arc<Gpu>, memory: &[Vec<u8>]) -> Result<Option<Vec<Vec<u8>>>> {
        let program = match gpu::GpuProgram::new(gpu, &self.lowered, Fallback::Error, &RunOptions::default()) {
            Err(error) if !gpu.features().float64 && error.to_string().contains("has no f64") => {
                return Ok(None);
            }
            program => program?,
        };
        let arguments: Vec<Argument<'_>> = memory.iter().map(|bytes| Argument::Borrowed(bytes)).collect();
        let mut results = self.results()?;
        let mut outputs: Vec<Output<'_>> = results.iter_mut().map(|bytes| Output::Into(bytes)).collect();
        program.run(&mut arguments.into_iter(), &self.scalars, &mut outputs, None)?;
        Ok(Some(results))
    }

    /// The results of compiled code.
    ///
    /// # Errors
    /// Those of the runtime.
    pub fn compiled(&self, memory: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let executable = Executable::new(&self.lowered, &RunOptions::default())?;
        let arguments: Vec<Argument<'_>> = memory.iter().map(|bytes| Argument::Borrowed(bytes)).collect();
        let mut results = self.results()?;
        let mut outputs: Vec<Output<'_>> = results.iter_mut().map(|bytes| Output::Into(bytes)).collect();
        executable.run(arguments, &self.scalars, &mut outputs)?;
        Ok(results)
    }

    /// The results of the reference interpreter.
    ///
    /// # Errors
    /// Those of the interpreter.
    pub fn interpreted(&self, params: &[Tensor]) -> Result<Vec<Tensor>> {
        eval_graph(&self.lowered.typed, params, &self.scalars)
    }
}
