//! Checks of the layouts of a kernel's operands: agreement with its code, the end of each operand in memory, whether an output is filled,
//! and the operands whose memory it may take.

use crate::programs::regions::{read_region, stored_region};
use crate::programs::step_plan::{StepPlan, wrong};
use ndjit_codegen::{Scheduled, TracedRow};
use ndjit_ir::graph::Graph;
use ndjit_ir::kernel::StmtKind;
use ndjit_ir::loops::{Access, IterationDomain, Layout, LoopBody, LoopNest, NestKind, Role, Stride};
use ndjit_ir::{DType, Result};
use smallvec::SmallVec;

/// Checks that the layouts of a nest's operands agree with its code.
pub fn check_form(scheduled: &Scheduled, index: usize) -> Result<()> {
    let Scheduled { nest, domain, inputs, outputs, rest: _, rows, ranges, literals, tile: _ } = scheduled;
    let own = rows.iter().all(|(operand, _)| *operand < inputs.len() + outputs.len())
        && ranges.iter().enumerate().all(|(n, range)| {
            // A reduced loop ends early at most: its blocks begin at its first index.
            let reduced = nest.kind.reduction().is_some() && range.from.is_none() && range.step == 1;
            let extent =
                domain.extents.get(range.index).is_some_and(|extent| extent.checked_rem(range.step) == Some(0));
            let once = ranges[..n].iter().all(|other| other.index != range.index);
            extent && once && (range.index < nest.parallel_rank() || range.index < nest.rank && reduced)
        });
    let counts = nest.rank >= 1
        && nest.rank == domain.extents.len()
        && nest.inputs.len() == inputs.len()
        && nest.inputs.len() == domain.inputs.len()
        && nest.outputs.len() == outputs.len()
        && nest.outputs.len() == domain.outputs.len()
        && nest.literals.iter().eq(literals.iter().map(|(_, dtype)| dtype));
    if !counts || !own {
        return Err(wrong(index, format_args!("its operands and their layouts differ in number")));
    }
    let fits = |(access, layout): (&Access, &Layout)| {
        let step = match access.inner {
            Stride::Contiguous => Some(access.dtype.bytes() as isize),
            Stride::Broadcast => Some(0),
            Stride::Strided => None,
        };
        layout.strides.len() == nest.rank && (step.is_none() || step == layout.strides.get(nest.vector_loop()).copied())
    };
    // Results of reductions are stored element by element, whatever their strides.
    let stored = |(access, layout): (&Access, &Layout)| match nest.kind.reduction().is_some() {
        true => layout.strides.len() == nest.rank,
        false => fits((access, layout)),
    };
    if !nest.inputs.iter().zip(&domain.inputs).all(fits) || !nest.outputs.iter().zip(&domain.outputs).all(stored) {
        return Err(wrong(index, format_args!("a layout is not of the class its operand is compiled for")));
    }
    Ok(())
}

/// The end of an operand, one past its last byte. No index lies before its buffer.
pub fn end_of(layout: &Layout, extents: &[usize], element: usize, index: usize) -> Result<usize> {
    let (mut low, mut high) = (layout.offset as i128, layout.offset as i128);
    for (&extent, &stride) in extents.iter().zip(&layout.strides) {
        let span = (extent as i128 - 1).checked_mul(stride as i128).unwrap_or(i128::MAX / 4);
        low = low.saturating_add(span.min(0));
        high = high.saturating_add(span.max(0));
    }
    let end = high.saturating_add(element as i128);
    if low < 0 || end > isize::MAX as i128 {
        return Err(wrong(index, format_args!("a layout leaves its buffer: bytes {low}..{end}")));
    }
    Ok(end as usize)
}

/// The size of a dense C-order output, `None` for another layout. The innermost loop of a scan may be any axis: there the order is that of
/// the strides. So each index has its own element, and all elements lie in the output's memory, including those that a scan reads again.
pub fn dense_bytes(nest: &LoopNest, layout: &Layout, extents: &[usize], dtype: DType) -> Option<usize> {
    if extents.contains(&0) {
        return Some(0);
    }
    let mut loops: SmallVec<[(usize, isize); 4]> =
        extents.iter().copied().zip(layout.strides.iter().copied()).collect();
    if nest.kind.loops() > nest.kind.reduction_loops() {
        loops.sort_by_key(|&(_, stride)| std::cmp::Reverse(stride));
    }
    let mut step = dtype.bytes();
    for (extent, stride) in loops.into_iter().rev() {
        if extent != 1 && usize::try_from(stride) != Ok(step) {
            return None;
        }
        step = step.checked_mul(extent).filter(|&s| s <= isize::MAX as usize)?;
    }
    (layout.offset == 0).then_some(step)
}

/// Whether a scatter's output consists of its rows, one after the other, each filled by its loops.
pub fn fills_rows(nest: &LoopNest, domain: &IterationDomain, into: u32, bytes: usize) -> bool {
    let (layout, dtype) = (&domain.outputs[0], nest.outputs[0].dtype);
    let moving = domain.extents.iter().copied().zip(layout.strides.iter().copied()).filter(|(_, s)| *s != 0);
    let (extents, strides): (SmallVec<[usize; 4]>, SmallVec<[isize; 4]>) = moving.unzip();
    let row = dense_bytes(nest, &Layout { offset: layout.offset, strides }, &extents, dtype);
    let rows = domain.inputs.get(into as usize + 1).map(|last| (last.offset as isize).saturating_add(1));
    let rows = rows.and_then(|rows| usize::try_from(rows).ok());
    row.zip(rows).and_then(|(row, rows)| row.checked_mul(rows)) == Some(bytes)
}

/// The layout of an operand, and the extents, with the rows of possible starts.
pub fn with_rows(
    scheduled: &Scheduled,
    operand: usize,
    layout: &Layout,
    extents: &[usize],
) -> (Layout, SmallVec<[usize; 4]>) {
    let (mut layout, mut extents) = (layout.clone(), SmallVec::from_slice(extents));
    for (_, row) in scheduled.rows.iter().filter(|(of, _)| *of == operand) {
        layout.strides.push(row.stride);
        extents.push(row.last.saturating_add(1));
    }
    (layout, extents)
}

/// Whether inserted rows lie where the output's rows would.
fn same_rows(nest: &LoopNest, domain: &IterationDomain, into: u32) -> bool {
    let (own, to) = (&domain.inputs[into as usize], &domain.outputs[0]);
    let moving = domain.extents.iter().zip(&to.strides).filter(|(_, stride)| **stride != 0);
    let row = moving.fold(nest.outputs[0].dtype.bytes(), |bytes, (extent, _)| bytes.saturating_mul(*extent));
    own == to && domain.inputs.get(into as usize + 2).is_some_and(|step| step.offset == row)
}

/// Finds inputs whose memory an output may take if they die here. All inputs at such a location are read at the addresses that are written,
/// index by index. If the output takes the rest of another array, that array does not overlap the written part.
pub fn reusable(step: &mut StepPlan, scheduled: &Scheduled, graph: &Graph<DType>) {
    let Scheduled { nest, domain, .. } = scheduled;
    if let Some(location) = step.rest.as_ref().map(|rest| rest.location) {
        let (layout, dtype) = (&domain.outputs[0], nest.outputs[0].dtype);
        let shape = graph.shape(scheduled.outputs[0]);
        let written = stored_region(layout, &domain.extents, shape, dtype);
        let of = |operand: usize| {
            scheduled
                .rows
                .iter()
                .filter(move |(of, _)| *of == operand)
                .map(|(_, row)| *row)
                .collect::<SmallVec<[TracedRow; 1]>>()
        };
        let stored = of(nest.inputs.len());
        let apart = |n: usize| {
            let Access { dtype: own, role, .. } = nest.inputs[n];
            role == Role::Memory
                && own.bytes() == dtype.bytes()
                && of(n) == stored
                && (domain.inputs[n] == *layout
                    || stored.is_empty()
                        && read_region(&domain.inputs[n], &domain.extents, shape, dtype)
                            .zip(written.as_ref())
                            .is_some_and(|(read, written)| !read.meets(written)))
        };
        if step.inputs.iter().enumerate().filter(|(_, input)| input.0 == Some(location)).all(|(n, _)| apart(n)) {
            step.outputs[0].reuse.push(location);
        }
        return;
    }
    if step.empty || nest.kind.loops() > 0 {
        return;
    }
    if let NestKind::Scatter(scatter) = &nest.kind {
        let into = scatter.into as usize;
        let location = step.inputs[into].0;
        // A later block of updates would be gathered from rows with earlier ones; one update is computed before it is applied.
        let gathered = match &nest.body {
            _ if domain.size() == 1 => false,
            LoopBody::Ops(body) => body.stmts.iter().any(|stmt| stmt.kind == StmtKind::Gather(scatter.into)),
            LoopBody::Prims { .. } => true,
        };
        let alone = !gathered && step.inputs.iter().filter(|input| input.0 == location).count() == 1;
        let moved = scheduled.rows.iter().any(|(operand, _)| *operand == into);
        if let Some(location) = location.filter(|_| alone && !moved && same_rows(nest, domain, scatter.into)) {
            step.outputs[0].reuse.push(location);
        }
        return;
    }
    let IterationDomain { inputs, outputs, .. } = domain;
    for (output, (layout, access)) in step.outputs.iter_mut().zip(outputs.iter().zip(&nest.outputs)) {
        let same = |n: usize| {
            let Access { dtype, role, .. } = nest.inputs[n];
            let moved = scheduled.rows.iter().any(|(operand, _)| *operand == n);
            role == Role::Memory && !moved && inputs[n] == *layout && dtype.bytes() == access.dtype.bytes()
        };
        for location in step.inputs.iter().filter_map(|input| input.0) {
            let all = step.inputs.iter().enumerate().filter(|(_, i)| i.0 == Some(location)).all(|(n, _)| same(n));
            if all && !output.reuse.contains(&location) {
                output.reuse.push(location);
            }
        }
    }
}
