//! The work of a lowered program: bytes moved, elements, operations. It depends only on the program, not on the device.
//!
//! Elements of a broadcast operand count once, and values passed between kernels of one launch are not read from memory: the bytes are
//! the minimum. A floating-point operation is an op of a kernel with a float result, at each index: one for every op, two for complex
//! numbers, six for a complex multiplication; a reduced or scanned element is one more. Selections, comparisons and casts count zero.
//! A compiled loop with a run-time trip count has the work of one step.

use crate::lower::{Lowered, LoweredKernel, LoweredStep};
use crate::passes::loops::LoopKernel;
use crate::passes::tile::Launch;
use crate::scheduled::Scheduled;
use ndjit_ir::graph::Value;
use ndjit_ir::kernel::{FusedKernel, KernelKind, OpBody, StmtKind};
use ndjit_ir::loops::{Access, Layout, LoopBody};
use ndjit_ir::{DType, Kind, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// The work of a launch in a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Indices of the loops, of all nests.
    pub elements: u64,
    /// Bytes read from memory, at least.
    pub read: u64,
    /// Bytes written to memory.
    pub written: u64,
    /// Floating-point operations.
    pub flops: u64,
}

impl Lowered {
    /// The work of a launch.
    pub fn work(&self, launch: &Launch) -> Work {
        let mut work = Work::default();
        let mut read: FxHashMap<Value, u64> = FxHashMap::default();
        let mut written: FxHashSet<Value> = FxHashSet::default();
        for LoweredKernel { fused, scheduled } in
            self.steps[launch.steps.clone()].iter().filter_map(LoweredStep::kernel)
        {
            let Scheduled { nest, domain, .. } = scheduled;
            let elements = domain.extents.iter().fold(1u64, |n, &extent| n.saturating_mul(extent as u64));
            work.elements = work.elements.saturating_add(elements);
            work.flops = work.flops.saturating_add(flops(fused).saturating_mul(elements));
            for ((&value, layout), access) in scheduled.inputs.iter().zip(&domain.inputs).zip(&nest.inputs) {
                if !access.is_index() && !written.contains(&value) {
                    let bytes = touched(layout, &domain.extents, access.dtype);
                    let known = read.entry(value).or_default();
                    *known = bytes.max(*known);
                }
            }
            let stored = &domain.extents[..nest.output_rank()];
            for ((&value, layout), access) in scheduled.outputs.iter().zip(&domain.outputs).zip(&nest.outputs) {
                work.written = work.written.saturating_add(touched(layout, stored, access.dtype));
                written.insert(value);
            }
        }
        work.read = read.values().fold(0, |all, &bytes| all.saturating_add(bytes));
        let controls = self.steps[launch.steps.clone()].iter().filter_map(LoweredStep::control);
        for LoopKernel { nest, domain, .. } in controls.filter_map(|control| control.compiled.as_ref()) {
            let LoopBody::Ops(body) = &nest.body else { continue };
            let elements = domain.extents.iter().fold(1u64, |n, &extent| n.saturating_mul(extent as u64));
            let bytes = |layouts: &[Layout], accesses: &[Access]| {
                let memory = layouts.iter().zip(accesses).filter(|(_, access)| !access.is_index());
                let touched = memory.map(|(layout, access)| touched(layout, &domain.extents, access.dtype));
                touched.fold(0u64, u64::saturating_add)
            };
            work.elements = work.elements.saturating_add(elements);
            work.flops = work.flops.saturating_add(of_ops(body).saturating_mul(elements));
            work.read = work.read.saturating_add(bytes(&domain.inputs, &nest.inputs));
            work.written = work.written.saturating_add(bytes(&domain.outputs, &nest.outputs));
        }
        work
    }
}

/// An upper bound of the bytes of an operand's distinct elements: at most the span from the first to the last.
fn touched(layout: &Layout, extents: &[usize], dtype: DType) -> u64 {
    if extents.contains(&0) {
        return 0;
    }
    let moving = || extents.iter().zip(&layout.strides).filter(|(_, stride)| **stride != 0);
    let elements = moving().fold(1u64, |n, (&extent, _)| n.saturating_mul(extent as u64));
    let size = dtype.bytes() as u64;
    let span = moving().fold(size, |span, (&extent, &stride)| {
        span.saturating_add((extent as u64 - 1).saturating_mul(stride.unsigned_abs() as u64))
    });
    elements.saturating_mul(size).min(span)
}

/// Floating-point operations of a kernel at one index.
fn flops(kernel: &FusedKernel) -> u64 {
    let combines = match &kernel.kind {
        KernelKind::Reduce(_) | KernelKind::Contract(_) | KernelKind::Scan(_) => &kernel.body.outputs[..],
        KernelKind::Map | KernelKind::Part(_) | KernelKind::Sort(_) | KernelKind::Scatter(_) => &[],
    };
    of_ops(&kernel.body) + combines.iter().map(|&scalar| of_op(Op::Add, kernel.body.dtype(scalar))).sum::<u64>()
}

/// Floating-point operations of a body.
fn of_ops(body: &OpBody) -> u64 {
    let ops = body.stmts.iter().map(|stmt| match stmt.kind {
        StmtKind::Op(Op::Where)
        | StmtKind::Load(_)
        | StmtKind::Gather(_)
        | StmtKind::Address(_)
        | StmtKind::Literal(_)
        | StmtKind::Cast => 0,
        StmtKind::Op(op) => of_op(op, stmt.dtype),
    });
    ops.sum()
}

fn of_op(op: Op, result: DType) -> u64 {
    match (result.kind(), op) {
        (Kind::Float, _) => 1,
        (Kind::Complex, Op::Multiply) => 6,
        (Kind::Complex, _) => 2,
        (Kind::Bool | Kind::UInt | Kind::Int, _) => 0,
    }
}
