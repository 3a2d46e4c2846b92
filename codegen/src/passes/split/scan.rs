//! Split: the parts of a nest that scans, in the order of [`scan`](ndjit_ir::reduction::scan).
//!
//! Who runs them holds for each row the local value of the block being scanned, and calls *step* for the elements of a block,
//! in order: `local = combine(local, element)`, `result = combine(carry, local)`. The carry of a block is the last result of
//! the block before. In the first block it is the [identity](ndjit_ir::reduction::Reduction::identity), with which local
//! values begin too. Where there is none two bools say so: whether this is a block's first element, whether it is of the
//! first block. *Carry* combines carries with results of blocks that were scanned without: `result = combine(carry, result)`.
//!
//! Local values are the first inputs and outputs, in the same memory. Along the steps they stay where they are, so
//! [`Geometry::verify`](ndjit_ir::loops::Geometry::verify) does not hold of them, and the steps are taken in order.

use super::{NestPart, append, combining, loading};
use crate::clif::AccumulatorLayout;
use ndjit_ir::kernel::{OpBody, Scalar, StmtKind};
use ndjit_ir::loops::{Access, LoopNest, NestScan, Stride, VectorLoop};
use ndjit_ir::{DType, Op, Scan, StatementOrigin};
use smallvec::SmallVec;
use std::fmt;

/// Loops of the parts of a scan.
pub const SCAN_LOOPS: usize = 3;

/// What the loops of [`ScanParts::step`] run over. Those of [`ScanParts::carry`] are for who calls it, but for the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanLoop {
    /// The last but one of the parallel loops.
    Outer,
    /// The last of the parallel loops.
    Kept,
    /// The elements that are scanned.
    Step,
}

impl fmt::Display for ScanLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScanLoop::Outer => "outer",
            ScanLoop::Kept => "kept",
            ScanLoop::Step => "step",
        })
    }
}

/// The nests that a nest becomes that scans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanParts {
    /// The scan of each output.
    pub outputs: SmallVec<[Scan; 1]>,
    /// Inputs: local values, carries, the two bools if [`flags`](ScanParts::flags), then the nest's. Outputs: local values,
    /// results.
    pub step: NestPart,
    /// Inputs: carries, results; outputs: results.
    pub carry: NestPart,
    /// True if bools say where a block and the first block begin.
    pub flags: bool,
}

impl ScanParts {
    /// The order of the loops, outermost first. The innermost is the one that vectors lie along, if they do along one.
    pub const fn order(along: VectorLoop) -> [ScanLoop; SCAN_LOOPS] {
        match along {
            VectorLoop::Reduction => [ScanLoop::Outer, ScanLoop::Kept, ScanLoop::Step],
            VectorLoop::Parallel => [ScanLoop::Outer, ScanLoop::Step, ScanLoop::Kept],
        }
    }
}

pub(super) fn split(nest: &LoopNest, scan: &NestScan, body: &OpBody, dtypes: &[DType], ops: &[Op]) -> ScanParts {
    let flags = !scan.outputs.iter().zip(dtypes).all(|(scan, &dtype)| scan.identity(dtype).is_some());
    // Along the steps local values and carries stay.
    let (local, carry, form) = match scan.along {
        VectorLoop::Reduction => {
            (Stride::Strided, Stride::Broadcast, AccumulatorLayout::Steps { accumulators: dtypes.len() })
        }
        VectorLoop::Parallel => (Stride::Contiguous, Stride::Contiguous, AccumulatorLayout::Plain),
    };
    let all = |inner: Stride| dtypes.iter().map(move |&dtype| Access::memory(dtype, inner));
    let truths = [Access::memory(DType::Bool, Stride::Broadcast); 2].into_iter().take(if flags { 2 } else { 0 });
    let nest_of = |inputs: Vec<Access>, literals: &[DType], outputs: Vec<Access>, body: OpBody| {
        LoopNest::map(SCAN_LOOPS, inputs, literals, outputs, body)
    };
    let inputs = all(local).chain(all(carry)).chain(truths).chain(nest.inputs.iter().copied()).collect();
    let outputs = all(local).chain(nest.outputs.iter().copied()).collect();
    let step = nest_of(inputs, &nest.literals, outputs, stepping(body, dtypes, ops, flags));
    let inputs = all(carry).chain(nest.outputs.iter().copied()).collect();
    let carried = nest_of(inputs, &[], nest.outputs.clone(), combining(dtypes, ops));
    ScanParts {
        outputs: scan.outputs.clone(),
        step: NestPart::new("step", step, form),
        carry: NestPart::new("carry", carried, AccumulatorLayout::Plain),
        flags,
    }
}

/// The body with local values, carries and bools before its inputs.
fn stepping(body: &OpBody, dtypes: &[DType], ops: &[Op], flags: bool) -> OpBody {
    let count = dtypes.len();
    let truths = [DType::Bool; 2];
    let mut out = loading(&[dtypes, dtypes, if flags { &truths } else { &[] }].concat());
    let [begins, first] = [2 * count, 2 * count + 1].map(Scalar::from_index);
    let elements = append(&mut out, body);
    let mut results = Vec::with_capacity(count);
    for (n, (&op, &dtype)) in ops.iter().zip(dtypes).enumerate() {
        // Where a bool holds there is nothing on the left yet.
        let mut meet = |left: usize, right: Scalar, nothing: Scalar| {
            let met = out.push_from(
                StatementOrigin::Result(n as u32),
                StmtKind::Op(op),
                &[Scalar::from_index(left), right],
                dtype,
            );
            if flags {
                out.push_from(StatementOrigin::Result(n as u32), StmtKind::Op(Op::Where), &[nothing, right, met], dtype)
            } else {
                met
            }
        };
        let local = meet(n, elements[n], begins);
        let result = meet(count + n, local, first);
        out.outputs.push(local);
        results.push(result);
    }
    out.outputs.extend(results);
    out
}
