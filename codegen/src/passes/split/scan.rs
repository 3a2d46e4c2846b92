//! Split: the parts of a nest that scans, in the order of [`scan`](ndjit_ir::reduction::scan).
//!
//! The driver has the local value of the current block for each row, and calls *step* for the elements of a block, in
//! order: `local = combine(local, element)`, `result = combine(carry, local)`. The carry of a block is the last result
//! of the previous block. In the first block it is the [identity](ndjit_ir::reduction::Reduction::identity), with which
//! local values begin too. Without an identity two bools replace it: whether this is a block's first element, and
//! whether the block is the first. *Carry* combines carries with results of blocks scanned without them:
//! `result = combine(carry, result)`. *Step jammed* does the steps of several blocks or rows side by
//! side. *Rows* does those of a whole block in registers, where any order of combination gives the same bits.
//!
//! Local values are the first inputs and outputs, in the same memory. They do not move along the steps, so
//! [`IterationDomain::verify`](ndjit_ir::loops::IterationDomain::verify) does not apply to them, and the steps are taken in order.

use super::SHORT;
use super::part::{NestPart, append, combining, loading};
use crate::clif::AccumulatorLayout;
use crate::x64::Pairs;
use ndjit_ir::kernel::{OpBody, ScalarId, StmtKind};
use ndjit_ir::loops::{Access, LoopNest, NestScan, Role, Stride, VectorLoop};
use ndjit_ir::{DType, Op, Scan, StatementOrigin};
use smallvec::SmallVec;
use std::fmt;

/// Loops of the parts of a scan.
pub const SCAN_LOOPS: usize = 3;

/// Blocks or rows of [`ScanParts::step_jammed`]. A running sum of `f32` took 1.1 ns an element alone, and 0.4 beside three others.
pub const JAM: usize = 4;

/// A loop of [`ScanParts::step`]. The caller determines the loops of [`ScanParts::carry`], except the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanLoop {
    /// The last but one of the parallel loops.
    Outer,
    /// The last of the parallel loops.
    Parallel,
    /// The scanned elements.
    Step,
}

impl fmt::Display for ScanLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScanLoop::Outer => "outer",
            ScanLoop::Parallel => "parallel",
            ScanLoop::Step => "step",
        })
    }
}

/// The nests of a nest that scans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanParts {
    /// The scan of each output.
    pub outputs: SmallVec<[Scan; 1]>,
    /// Inputs: local values, carries, the two bools if [`flags`](ScanParts::flags), then the nest's. Outputs: local
    /// values, results.
    pub step: NestPart,
    /// The same for [`JAM`] blocks or rows side by side, without carries: each combination waits for the previous one, and there is no other
    /// work meanwhile. Inputs: the local values of each, then the nest's inputs of each; outputs: local values of each, results of each.
    pub step_jammed: Option<NestPart>,
    /// Inputs: carries, results; outputs: results.
    pub carry: NestPart,
    /// Like `step` for whole blocks, with elements combined in registers: of one output, along contiguous rows, if any order gives the same
    /// bits. Inputs: the identity, the carry, then the nest's; output: the elements, of which the code makes the results.
    pub rows: Option<NestPart>,
    /// True if bools mark the start of a block and of the first block.
    pub flags: bool,
}

impl ScanParts {
    /// Returns the order of the loops, outermost first. The innermost is vectorized, if any is.
    pub const fn order(along: VectorLoop) -> [ScanLoop; SCAN_LOOPS] {
        match along {
            VectorLoop::Reduction => [ScanLoop::Outer, ScanLoop::Parallel, ScanLoop::Step],
            VectorLoop::Parallel => [ScanLoop::Outer, ScanLoop::Step, ScanLoop::Parallel],
        }
    }
}

pub(super) fn split(nest: &LoopNest, scan: &NestScan, body: &OpBody, dtypes: &[DType], ops: &[Op]) -> ScanParts {
    let flags = !scan.outputs.iter().zip(dtypes).all(|(scan, &dtype)| scan.identity(dtype).is_some());
    // Local values and carries do not move along the steps.
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
    let exact = |op: Op, dtype: DType| match op {
        Op::Maximum | Op::Minimum => dtype.is_int() || dtype.is_float(),
        _ => dtype.is_int(),
    };
    let beside = nest.inputs.iter().all(|access| match access.role {
        Role::Memory => access.inner != Stride::Strided,
        Role::Index => true,
        Role::Rows => false,
    });
    let contiguous = nest.outputs.iter().all(|access| access.inner == Stride::Contiguous);
    let rows = match (dtypes, ops, scan.along) {
        (&[dtype], &[op], VectorLoop::Reduction) if !flags && exact(op, dtype) && beside && contiguous => {
            let before = [Access::memory(dtype, Stride::Broadcast); 2].into_iter();
            let inputs = before.chain(nest.inputs.iter().copied()).collect();
            let mut elements = loading(&[dtype; 2]);
            elements.outputs = append(&mut elements, body);
            let rows = nest_of(inputs, &nest.literals, nest.outputs.clone(), elements);
            let part = NestPart::new("rows", rows, AccumulatorLayout::Plain);
            Some(NestPart { wide: true, pairs: Some(Pairs::Prefixes), ..part })
        }
        _ => None,
    };
    let jams = scan.along == VectorLoop::Reduction && !flags && rows.is_none() && body.stmts.len() <= SHORT;
    let step_jammed = jams.then(|| {
        let locals: Vec<Access> = all(local).collect::<Vec<_>>().repeat(JAM);
        let inputs = [locals.clone(), nest.inputs.repeat(JAM)].concat();
        let outputs = [locals, nest.outputs.repeat(JAM)].concat();
        let jammed = nest_of(inputs, &nest.literals, outputs, jamming(body, dtypes, ops));
        NestPart::new("step jammed", jammed, AccumulatorLayout::Steps { accumulators: JAM * dtypes.len() })
    });
    ScanParts {
        rows,
        step_jammed,
        outputs: scan.outputs.clone(),
        step: NestPart::new("step", step, form),
        carry: NestPart::new("carry", carried, AccumulatorLayout::Plain),
        flags,
    }
}

/// Returns the body several times side by side, each with local values of its own.
fn jamming(body: &OpBody, dtypes: &[DType], ops: &[Op]) -> OpBody {
    let count = dtypes.len();
    let mut out = loading(&dtypes.repeat(JAM));
    for number in 0..JAM {
        let elements = append(&mut out, body);
        for (n, (&op, &dtype)) in ops.iter().zip(dtypes).enumerate() {
            let args = [ScalarId::from_index(number * count + n), elements[n]];
            let local = out.push_from(StatementOrigin::Result(n as u32), StmtKind::Op(op), &args, dtype);
            out.outputs.push(local);
        }
    }
    // Local values are the results.
    out.outputs = out.outputs.repeat(2);
    out
}

/// Returns the body with local values, carries and bools before its inputs.
fn stepping(body: &OpBody, dtypes: &[DType], ops: &[Op], flags: bool) -> OpBody {
    let count = dtypes.len();
    let truths = [DType::Bool; 2];
    let mut out = loading(&[dtypes, dtypes, if flags { &truths } else { &[] }].concat());
    let [begins, first] = [2 * count, 2 * count + 1].map(ScalarId::from_index);
    let elements = append(&mut out, body);
    let mut results = Vec::with_capacity(count);
    for (n, (&op, &dtype)) in ops.iter().zip(dtypes).enumerate() {
        // Where a bool is true, there is no left operand yet.
        let mut meet = |left: usize, right: ScalarId, nothing: ScalarId| {
            let met = out.push_from(
                StatementOrigin::Result(n as u32),
                StmtKind::Op(op),
                &[ScalarId::from_index(left), right],
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
