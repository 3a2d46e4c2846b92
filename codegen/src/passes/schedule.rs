//! Schedule: one kernel becomes one loop nest and its run-time arguments.
//!
//! Axes of extent 1 are dropped and neighbouring axes that every operand walks in one step are joined, so that a
//! contiguous array of any rank is one loop. What remains of shapes in the nest is its rank and how each operand moves
//! along the innermost loop.

use crate::lower::Scheduled;
use ndjit_ir::graph::{Graph, NodeKind};
use ndjit_ir::kernel::FusedKernel;
use ndjit_ir::loops::{Access, Geometry, Layout, LoopBody, LoopNest, Stride};
use ndjit_ir::{DType, Result, Shape};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The layout of a C-contiguous array.
///
/// # Errors
/// `Size` if the array cannot exist.
pub fn contiguous(shape: &Shape, dtype: DType) -> Result<Layout> {
    shape.bytes(dtype.bytes())?;
    let strides = shape.contiguous_strides().iter().map(|s| s.saturating_mul(dtype.bytes() as isize)).collect();
    Ok(Layout { offset: 0, strides })
}

/// Schedules one kernel of `graph`. `params` gives the layout of each parameter; other values are C-contiguous.
///
/// # Errors
/// `Size` if an array cannot exist.
pub fn schedule(kernel: &FusedKernel, graph: &Graph<DType>, params: &[Layout]) -> Result<Scheduled> {
    let space = &kernel.shape;
    let mut inputs: Vec<Layout> = Vec::with_capacity(kernel.inputs.len());
    for (input, &dtype) in kernel.inputs.iter().zip(&kernel.body.inputs) {
        let layout = match graph.node(graph.producer(input.value)).kind {
            NodeKind::Param(n, _) => params[n as usize].clone(),
            NodeKind::Literal(_) | NodeKind::Op(..) | NodeKind::Cast(_) | NodeKind::Call(_) => {
                contiguous(&input.shape, dtype)?
            }
        };
        inputs.push(broadcast(&layout, &input.shape, space));
    }
    let mut outputs: Vec<Layout> = Vec::with_capacity(kernel.outputs.len());
    for &output in &kernel.outputs {
        outputs.push(contiguous(space, graph.ty(output))?);
    }
    let mut geometry = Geometry { extents: SmallVec::from_slice(space.extents()), inputs, outputs };
    let output_dtypes: Vec<DType> = kernel.outputs.iter().map(|&v| graph.ty(v)).collect();
    coalesce(&mut geometry, &kernel.body.inputs, &output_dtypes);
    let access = |(layout, &dtype): (&Layout, &DType)| Access { dtype, inner: inner_stride(layout, dtype) };
    let nest = LoopNest {
        rank: geometry.extents.len(),
        inputs: geometry.inputs.iter().zip(&kernel.body.inputs).map(access).collect(),
        literals: kernel.body.literals.clone(),
        outputs: geometry.outputs.iter().zip(&output_dtypes).map(access).collect(),
        body: LoopBody::Ops(Arc::clone(&kernel.body)),
    };
    Ok(Scheduled {
        nest,
        geometry,
        inputs: kernel.inputs.iter().map(|i| i.value).collect(),
        outputs: kernel.outputs.clone(),
        literals: kernel.literals.iter().copied().zip(kernel.body.literals.iter().copied()).collect(),
    })
}

/// The layout of an array of `shape` seen as one of `space`: no step along axes it does not have or that are 1.
fn broadcast(layout: &Layout, shape: &Shape, space: &Shape) -> Layout {
    let missing = space.rank() - shape.rank();
    let strides = (0..space.rank())
        .map(|axis| match axis.checked_sub(missing) {
            Some(own) if shape.extents()[own] == space.extents()[axis] => layout.strides[own],
            _ => 0,
        })
        .collect();
    Layout { offset: layout.offset, strides }
}

/// Drops axes of extent 1 and joins axes; leaves at least one.
fn coalesce(geometry: &mut Geometry, inputs: &[DType], outputs: &[DType]) {
    let rank = geometry.extents.len();
    let layouts = || geometry.inputs.iter().chain(&geometry.outputs);
    // Each kept loop: its extent, and the axis whose strides it has.
    let mut kept: SmallVec<[(usize, usize); 4]> = smallvec![];
    for axis in 0..rank {
        let extent = geometry.extents[axis];
        if extent == 1 {
            continue;
        }
        if let Some((outer_extent, outer)) = kept.last_mut() {
            // Strides of empty arrays are those of extent 1.
            let step = extent.max(1) as isize;
            let joins = |l: &Layout| l.strides[axis].checked_mul(step) == Some(l.strides[*outer]);
            if layouts().all(joins) {
                (*outer_extent, *outer) = (outer_extent.saturating_mul(extent), axis);
                continue;
            }
        }
        kept.push((extent, axis));
    }
    geometry.extents = kept.iter().map(|k| k.0).collect();
    let select = |layouts: &mut [Layout]| {
        for layout in layouts {
            layout.strides = kept.iter().map(|&(_, axis)| layout.strides[axis]).collect();
        }
    };
    select(&mut geometry.inputs);
    select(&mut geometry.outputs);
    if geometry.extents.is_empty() {
        geometry.extents.push(1);
        let dtypes = inputs.iter().chain(outputs);
        for (layout, dtype) in geometry.inputs.iter_mut().chain(&mut geometry.outputs).zip(dtypes) {
            layout.strides.push(dtype.bytes() as isize);
        }
    }
}

fn inner_stride(layout: &Layout, dtype: DType) -> Stride {
    match layout.strides.last() {
        Some(0) => Stride::Broadcast,
        Some(&s) if s == dtype.bytes() as isize => Stride::Contiguous,
        Some(_) => Stride::Strided,
        None => Stride::Contiguous,
    }
}
