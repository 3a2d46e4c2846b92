//! Schedule: one kernel becomes one loop nest and its run-time arguments.
//!
//! Axes of extent 1 are dropped and adjacent axes that are contiguous in every operand are joined, so a contiguous
//! array of any rank is one loop. Of the shapes only the rank and the operands' strides along the innermost loop remain
//! in the nest. Reduced axes become the innermost loops, in their order, and are joined only with each other. A scanned
//! or sorted axis becomes the innermost loop.

use crate::scheduled::{Scheduled, TileLoop};
use ndjit_ir::graph::{Graph, NodeKind, Value};
use ndjit_ir::kernel::{FusedKernel, KernelKind, KernelReduce, KernelScan, Part, Reads};
use ndjit_ir::loops::{
    Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, NestReduce, NestScan, Role, Stride, VectorLoop,
};
use ndjit_ir::reduction::{LANES, Reduction};
use ndjit_ir::{DType, Result, Shape};
use ndjit_transform::access::{Accesses, TracedRow, contiguous, layout_of};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Schedules one kernel of `graph`. `params` are the layouts of the parameters, `accesses` those of views; other values
/// are C-contiguous. A loop begins at the axis `tile`, for tiles along it.
///
/// # Errors
/// `Size` if an array cannot exist.
pub fn schedule(
    kernel: &FusedKernel,
    graph: &Graph<DType>,
    params: &[Layout],
    accesses: &Accesses,
    tile: Option<usize>,
) -> Result<Scheduled> {
    let space = &kernel.shape;
    let axes = kernel.kind.axes();
    let scatters = matches!(kernel.kind, KernelKind::Scatter(_));
    let mut inputs: Vec<Layout> = Vec::with_capacity(kernel.inputs.len());
    let mut roles = Vec::with_capacity(kernel.inputs.len());
    let mut read = Vec::with_capacity(kernel.inputs.len());
    for input in &kernel.inputs {
        let stored = match input.reads {
            Reads::Elements => accesses.base(input.value),
            Reads::GatherSource | Reads::GatherBound | Reads::GatherStride => accesses.in_memory(graph, input.value),
        };
        let layout = match accesses.view(input.value) {
            _ if stored == input.value && input.reads != Reads::Elements => own_layout(graph, stored, params)?,
            Some((_, layout)) => layout.clone(),
            None => layout_of(graph, input.value, params)?,
        };
        let number = |number: isize| Layout { offset: number as usize, strides: smallvec![0; space.rank()] };
        let rows = input.shape.extents().first().map_or(0, |&rows| rows as isize);
        let (role, layout) = match input.reads {
            Reads::Elements if is_position(graph, stored) => (Role::Index, layout.broadcast(&input.shape, space)),
            Reads::Elements => (Role::Memory, layout.broadcast(&input.shape, space)),
            Reads::GatherSource => {
                let strides = layout.strides.iter().skip(1).copied().collect();
                let row = Layout { offset: layout.offset, strides };
                (Role::Rows, row.broadcast(&input.seen(), space))
            }
            Reads::GatherBound => (Role::Index, number(rows - 1)),
            Reads::GatherStride => (Role::Index, number(layout.strides.first().copied().unwrap_or(0))),
        };
        roles.push(role);
        inputs.push(layout);
        read.push(stored);
    }
    let mut outputs: Vec<Layout> = Vec::with_capacity(kernel.outputs.len());
    for &output in &kernel.outputs {
        let dtype = graph.ty(output);
        if scatters {
            let shape = graph.shape(output);
            let mut rows = contiguous(shape, dtype)?;
            rows.strides.remove(0);
            outputs.push(rows.broadcast(&Shape::from(&shape.extents()[1..]), space));
            continue;
        }
        outputs.push(match kernel.kind.part() {
            Some(part) => part.view.without_starts(part.starts.len()).layout(&contiguous(graph.shape(output), dtype)?),
            None => {
                let with_dims = kernel.kind.reduced().reduced(space, true);
                contiguous(&with_dims, dtype)?.broadcast(&with_dims, space)
            }
        });
    }
    let mut rows: Vec<(usize, TracedRow)> = Vec::new();
    let in_memory = |reads: Reads| matches!(reads, Reads::Elements | Reads::GatherSource);
    for (n, input) in kernel.inputs.iter().enumerate().filter(|(_, input)| in_memory(input.reads)) {
        rows.extend(accesses.rows(input.value).iter().map(|&row| (n, row)));
    }
    if let (Some(Part { view, starts, .. }), Some(&output)) = (kernel.kind.part(), kernel.outputs.first()) {
        let shape = graph.shape(output);
        let strides = contiguous(shape, graph.ty(output))?.strides;
        for (&index, start) in starts.iter().zip(view.starts(shape, space, starts.len()).unwrap_or_default()) {
            let index = accesses.start(graph, index);
            let stride = strides[start.axis].saturating_mul(start.step as isize);
            rows.push((kernel.inputs.len(), TracedRow { index, last: start.count.saturating_sub(1), stride }));
        }
    }
    let mut domain = IterationDomain { extents: SmallVec::from_slice(space.extents()), inputs, outputs };
    let output_dtypes: Vec<DType> = kernel.outputs.iter().map(|&v| graph.ty(v)).collect();
    let (parallel, reduced): (Loops, Loops) = (0..space.rank()).partition(|&axis| !axes.contains(axis));
    let parallel = coalesce(&domain, &parallel, tile);
    let mut reduced = coalesce(&domain, &reduced, None);
    let meets = kernel.kind.function(0).is_some();
    if meets && reduced.is_empty() {
        // There is no axis to reduce or to scan: one trip without a step.
        reduced.push((1, None));
    }
    let tile = tile.and_then(|axis| {
        let at = parallel.iter().position(|(_, last)| last.is_some_and(|last| last >= axis))?;
        Some(TileLoop { index: at, step: parallel[at].0 / domain.extents[axis].max(1) })
    });
    let loops: SmallVec<[(usize, Option<usize>); 4]> = parallel.iter().chain(&reduced).copied().collect();
    select(&mut domain, &loops, &kernel.body.inputs, &output_dtypes);
    for (layout, input) in domain.inputs.iter_mut().zip(&kernel.inputs) {
        if matches!(input.reads, Reads::GatherBound | Reads::GatherStride) {
            layout.strides.fill(0);
        }
    }
    let reduce = |outputs: &SmallVec<[Reduction; 1]>| NestReduce {
        loops: reduced.len(),
        outputs: outputs.clone(),
        along: along(&domain, parallel.len(), &kernel.body.inputs),
    };
    let kind = match &kernel.kind {
        KernelKind::Map | KernelKind::Part(_) => NestKind::Map,
        KernelKind::Reduce(KernelReduce { outputs, .. }) => NestKind::Reduce(reduce(outputs)),
        KernelKind::Contract(KernelReduce { outputs, .. }) => NestKind::Contract(reduce(outputs)),
        KernelKind::Scan(KernelScan { outputs, .. }) => NestKind::Scan(NestScan {
            outputs: outputs.clone(),
            along: along_scan(&domain, parallel.len(), &output_dtypes),
        }),
        KernelKind::Sort(KernelScan { outputs, .. }) => NestKind::Sort(outputs.clone()),
        KernelKind::Scatter(scatter) => NestKind::Scatter(*scatter),
    };
    let mut nest = LoopNest {
        rank: domain.extents.len(),
        inputs: Vec::new(),
        literals: kernel.body.literals.clone(),
        outputs: Vec::new(),
        body: LoopBody::Ops(Arc::clone(&kernel.body)),
        kind,
    };
    let at = nest.vector_loop();
    for ((layout, &dtype), &role) in domain.inputs.iter().zip(&kernel.body.inputs).zip(&roles) {
        let inner = match stride_class(layout, at, dtype) {
            Stride::Contiguous if role == Role::Index => Stride::Strided,
            class => class,
        };
        nest.inputs.push(Access { dtype, inner, role });
    }
    for (layout, &dtype) in domain.outputs.iter().zip(&output_dtypes) {
        let inner = match stride_class(layout, at, dtype) {
            _ if nest.kind.reduction().is_some() => Stride::Contiguous,
            // A scan of one element has one trip.
            Stride::Broadcast if meets => Stride::Strided,
            class => class,
        };
        let role = if scatters { Role::Rows } else { Role::Memory };
        nest.outputs.push(Access { dtype, inner, role });
    }
    Ok(Scheduled {
        nest,
        domain,
        inputs: read,
        outputs: kernel.outputs.clone(),
        rest: kernel.kind.part().and_then(|part| part.into),
        rows,
        ranges: SmallVec::new(),
        literals: kernel.literals.iter().copied().zip(kernel.body.literals.iter().copied()).collect(),
        tile,
    })
}

pub(in crate::passes) fn is_position(graph: &Graph<DType>, value: Value) -> bool {
    matches!(graph.node(graph.producer(value)).kind, NodeKind::Iota(_))
}

/// Returns the layout of a stored value, or of a parameter.
fn own_layout(graph: &Graph<DType>, value: Value, params: &[Layout]) -> Result<Layout> {
    match graph.node(graph.producer(value)).kind {
        NodeKind::Param(..) => layout_of(graph, value, params),
        _ => contiguous(graph.shape(value), graph.ty(value)),
    }
}

type Loops = SmallVec<[usize; 4]>;

/// Computes the loops over axes: those of extent 1 are dropped, and adjacent ones that are contiguous in every operand
/// are joined. Each loop has its extent and the axis of its strides. A loop begins with the axis `begins`.
pub(super) fn coalesce(
    domain: &IterationDomain,
    axes: &[usize],
    begins: Option<usize>,
) -> SmallVec<[(usize, Option<usize>); 4]> {
    let layouts = || domain.inputs.iter().chain(&domain.outputs);
    let mut merged: SmallVec<[(usize, Option<usize>); 4]> = smallvec![];
    for &axis in axes {
        let extent = domain.extents[axis];
        if extent == 1 {
            continue;
        }
        if let Some((outer_extent, Some(outer))) = merged.last_mut().filter(|_| begins != Some(axis)) {
            // Strides of empty arrays are those of extent 1.
            let step = extent.max(1) as isize;
            let joins = |l: &Layout| l.strides[axis].checked_mul(step) == Some(l.strides[*outer]);
            if layouts().all(joins) {
                (*outer_extent, *outer) = (outer_extent.saturating_mul(extent), axis);
                continue;
            }
        }
        merged.push((extent, Some(axis)));
    }
    merged
}

/// Sets the domain to these loops: at least one, of one trip.
fn select(domain: &mut IterationDomain, loops: &[(usize, Option<usize>)], inputs: &[DType], outputs: &[DType]) {
    domain.extents = loops.iter().map(|(extent, _)| *extent).collect();
    for layout in domain.inputs.iter_mut().chain(&mut domain.outputs) {
        layout.strides = loops.iter().map(|(_, axis)| axis.map_or(0, |axis| layout.strides[axis])).collect();
    }
    if domain.extents.is_empty() {
        domain.extents.push(1);
        let dtypes = inputs.iter().chain(outputs);
        for (layout, dtype) in domain.inputs.iter_mut().chain(&mut domain.outputs).zip(dtypes) {
            layout.strides.push(dtype.bytes() as isize);
        }
    }
}

/// Selects the loop to vectorize: one that fills at least half a vector, else the one along which fewer inputs are
/// strided. In a tie the reduced loop: whole rows are read one after the other.
fn along(domain: &IterationDomain, parallel_rank: usize, inputs: &[DType]) -> VectorLoop {
    let strided = |at: usize| {
        let classes = domain.inputs.iter().zip(inputs).map(|(layout, &dtype)| stride_class(layout, at, dtype));
        classes.filter(|&class| class == Stride::Strided).count()
    };
    // Sums of `f32[1000, 25, 10]` along the first axis took 1.4 ms vectorized along it, 0.5 ms along the last.
    let expense = |at: usize| (domain.extents[at] < LANES / 2, strided(at));
    match parallel_rank.checked_sub(1) {
        Some(last) if expense(last) < expense(domain.extents.len() - 1) => VectorLoop::Parallel,
        _ => VectorLoop::Reduction,
    }
}

/// Selects the loop to vectorize in a scan: the last parallel loop, if it fills vectors and the results are contiguous
/// along it.
fn along_scan(domain: &IterationDomain, parallel_rank: usize, outputs: &[DType]) -> VectorLoop {
    let beside = |at: usize| {
        let mut classes = domain.outputs.iter().zip(outputs).map(|(layout, &dtype)| stride_class(layout, at, dtype));
        classes.all(|class| class == Stride::Contiguous)
    };
    match parallel_rank.checked_sub(1) {
        Some(last) if domain.extents[last] >= LANES && beside(last) => VectorLoop::Parallel,
        _ => VectorLoop::Reduction,
    }
}

pub(super) fn stride_class(layout: &Layout, at: usize, dtype: DType) -> Stride {
    match layout.strides.get(at) {
        Some(0) => Stride::Broadcast,
        Some(&s) if s == dtype.bytes() as isize => Stride::Contiguous,
        Some(_) => Stride::Strided,
        None => Stride::Contiguous,
    }
}
