//! Execution in the reference interpreter instead of compiled code: the same bits, slowly.

use ndjit_ir::graph::Graph;
use ndjit_ir::literal::Literal;
use ndjit_ir::loops::Layout;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape};
use ndjit_math::interp::{Tensor, eval_graph};
use ndjit_runtime::{Argument, Buffer, Output};
use std::sync::Arc;

/// Runs a typed program on arrays with these layouts.
pub fn run<'a>(
    graph: &Graph<DType>,
    layouts: &[Layout],
    arguments: impl IntoIterator<Item = Argument<'a>>,
    scalars: &[(usize, Literal)],
    outputs: &mut [Output<'_>],
) -> Result<()> {
    let mut params = Vec::with_capacity(layouts.len());
    for ((&param, layout), argument) in graph.params().iter().zip(layouts).zip(arguments) {
        let (dtype, shape) = (graph.ty(param), graph.shape(param));
        params.push(match argument {
            Argument::Borrowed(bytes) => gather(dtype, shape, layout, bytes)?,
            Argument::Shared(buffer) => gather(dtype, shape, layout, buffer.as_bytes())?,
            Argument::Donated(buffer) => gather(dtype, shape, layout, buffer.as_bytes())?,
            Argument::Device(memory) => {
                let mut buffer = Buffer::zeroed(memory.len())?;
                memory.download(buffer.as_bytes_mut()?)?;
                gather(dtype, shape, layout, buffer.as_bytes())?
            }
        });
    }
    let results = eval_graph(graph, &params, scalars)?;
    for (index, (output, result)) in outputs.iter_mut().zip(results).enumerate() {
        match output {
            Output::Fresh(into) => *into = Some(Arc::new(Buffer::from_bytes(&result.bytes)?)),
            Output::Into(into) if into.len() == result.bytes.len() => into.copy_from_slice(&result.bytes),
            Output::Into(into) => {
                return Err(Error::new(ErrorCode::Argument, format!("run: output {index} has the wrong size"))
                    .fact(format_args!("{} bytes given, {} needed", into.len(), result.bytes.len())));
            }
            Output::Device(_) => return Err(Error::new(ErrorCode::Device, "interpreter: its results are on the host")),
        }
    }
    Ok(())
}

/// The elements of an array with this layout, in row-major order.
pub fn gather(dtype: DType, shape: &Shape, layout: &Layout, bytes: &[u8]) -> Result<Tensor> {
    let mut tensor = Tensor::zeros(dtype, shape.clone())?;
    let (size, extents) = (dtype.bytes(), shape.extents());
    let mut index = vec![0usize; extents.len()];
    for element in tensor.bytes.chunks_exact_mut(size) {
        let moved = index
            .iter()
            .zip(&layout.strides)
            .fold(layout.offset as i128, |at, (&index, &stride)| at + index as i128 * stride as i128);
        let from = usize::try_from(moved).ok().and_then(|at| bytes.get(at..at.checked_add(size)?));
        let from = from.ok_or_else(|| {
            Error::new(ErrorCode::Argument, "interpreter: an argument is smaller than its layout")
                .fact(format_args!("{} bytes given, an element at byte {moved}", bytes.len()))
        })?;
        element.copy_from_slice(from);
        for (index, &extent) in index.iter_mut().zip(extents).rev() {
            *index += 1;
            if *index < extent {
                break;
            }
            *index = 0;
        }
    }
    Ok(tensor)
}
