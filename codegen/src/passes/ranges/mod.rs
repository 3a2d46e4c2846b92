//! Ranges: loops of which only some indices, between integers in memory, have an effect.
//!
//! - *Partial reductions.* If a mask excludes all elements from an index on, as in `sum(where(iota < n, x, 0))`, the reduced
//!   loop ends there. The excluded elements change no bit of the result; the mask remains.
//! - *Demand.* If the readers of an array use only some of its rows, as `where(iota >= k, x, 0)` or the row at an index do,
//!   the kernel that makes it computes these alone. The others keep what their memory had: masks drop it, and no value of
//!   an array makes a kernel fail.

mod masks;

use crate::lower::{LoweredKernel, LoweredStep};
use crate::scheduled::{LoopRange, RangeEnd, Scheduled};
use masks::Masks;
use ndjit_ir::graph::{Graph, NodeKind, Slot, Value};
use ndjit_ir::kernel::{FusedKernel, KernelKind, KernelReduce, Reads, ScalarId, StmtKind};
use ndjit_ir::loops::{Layout, NestKind};
use ndjit_ir::reduction::Reduction;
use ndjit_ir::{DType, Op};
use ndjit_transform::access::{Accesses, TracedIndex, TracedRow};
use rustc_hash::FxHashMap;

/// Finds the ranges of each kernel's loops.
pub(crate) fn ranges(steps: &mut [LoweredStep], graph: &Graph<DType>, accesses: &Accesses) {
    let mut made: FxHashMap<Value, usize> = FxHashMap::default();
    for (n, step) in steps.iter().enumerate() {
        step.makes().for_each(|value| {
            made.insert(value, n);
        });
    }
    let mut demands = Demands { graph, accesses, made, of: FxHashMap::default() };
    for &output in graph.outputs() {
        demands.add(accesses.base(accesses.result(graph, output)), UsedRows::All);
    }
    // Readers come after the kernels that make what they read.
    for (n, step) in steps.iter_mut().enumerate().rev() {
        match step {
            LoweredStep::Kernel(LoweredKernel { fused, scheduled }) => {
                scheduled.ranges.extend(demands.output(fused, scheduled, n));
                demands.inputs(fused, scheduled);
                if let KernelKind::Reduce(reduce) = &fused.kind {
                    let masks = Masks { kernel: fused, domain: &scheduled.domain, graph, accesses };
                    scheduled.ranges.extend(reduced(masks, reduce, scheduled.nest.parallel_rank()));
                }
            }
            LoweredStep::Control(control) => {
                control.fused.operands.iter().for_each(|&operand| demands.add(accesses.base(operand), UsedRows::All));
            }
        }
    }
}

/// Returns the end of a kernel's only reduced loop, if an integer in memory determines it. `parallel_rank` loops are not reduced.
fn reduced(masks: Masks<'_>, reduce: &KernelReduce, parallel_rank: usize) -> Option<LoopRange> {
    let mut axes = reduce.axes.iter();
    let axis = axes.next().filter(|_| axes.next().is_none())?;
    let extents = &masks.domain.extents;
    if extents.len() != parallel_rank + 1 || extents[parallel_rank] != masks.kernel.shape.extents()[axis] {
        return None;
    }
    let mut found: Option<RangeEnd> = None;
    for (&output, &reduction) in masks.body().outputs.iter().zip(&reduce.outputs) {
        let own = end(masks, output, reduction, parallel_rank)?;
        let more = match found {
            Some(found) if found.count != own.count => return None,
            Some(found) => found.more.max(own.more),
            None => own.more,
        };
        found = Some(RangeEnd { count: own.count, more });
    }
    found.map(|to| LoopRange { index: parallel_rank, step: 1, from: None, to: Some(to) })
}

/// Returns the end of a masked value's reduction along a loop.
fn end(masks: Masks<'_>, output: ScalarId, reduction: Reduction, index: usize) -> Option<RangeEnd> {
    let stmt = &masks.body().stmts[output.index()];
    let (StmtKind::Op(Op::Where), &[mask, _, fill]) = (stmt.kind, &stmt.args[..]) else { return None };
    let left_out = left_out(masks, fill, stmt.dtype, reduction)?;
    let RangeEnd { count, more } = masks.range(mask, true).filter(|range| range.index == index)?.to?;
    Some(RangeEnd { count, more: more.checked_add(left_out)? })
}

/// Returns the number of excluded elements that the reduction must still include: a positive zero makes a sum of negative
/// zeros positive, so one remains. It is `None` if they have any other effect.
fn left_out(masks: Masks<'_>, fill: ScalarId, dtype: DType, reduction: Reduction) -> Option<isize> {
    let StmtKind::Literal(n) = masks.body().stmts[fill.index()].kind else { return None };
    let slot = masks.kernel.literals.get(n as usize)?;
    let Slot::Value(literal) = masks.graph.slots().get(slot.index())? else { return None };
    let repr = literal.to_repr(dtype).ok()?;
    if reduction.identity(dtype)?[..] == repr[..] {
        return Some(0);
    }
    let zero = repr.iter().all(|&word| word == 0);
    (zero && reduction == Reduction::Sum && dtype.is_float()).then_some(1)
}

/// The rows of an array that its readers use: indices of its first axis.
#[derive(Clone, Copy)]
enum UsedRows {
    All,
    Some(LoopRange),
}

impl UsedRows {
    fn join(self, other: UsedRows) -> UsedRows {
        match (self, other) {
            (UsedRows::Some(a), UsedRows::Some(b)) => a.join(b).map_or(UsedRows::All, UsedRows::Some),
            _ => UsedRows::All,
        }
    }
}

/// The rows of each array that its readers use, while steps are examined from the last to the first.
struct Demands<'a> {
    graph: &'a Graph<DType>,
    accesses: &'a Accesses,
    /// The step that makes a value, in whole or in part.
    made: FxHashMap<Value, usize>,
    of: FxHashMap<Value, UsedRows>,
}

impl Demands<'_> {
    fn add(&mut self, value: Value, rows: UsedRows) {
        self.of.entry(value).and_modify(|known| *known = known.join(rows)).or_insert(rows);
    }

    /// Bytes of a row of an array in row-major order, and the number of rows.
    fn rows(&self, value: Value) -> Option<(usize, usize)> {
        let (&count, row) = self.graph.shape(value).extents().split_first()?;
        let bytes = row.iter().try_fold(self.graph.ty(value).bytes(), |bytes, &extent| bytes.checked_mul(extent))?;
        (count > 0 && bytes > 0).then_some((bytes, count))
    }

    /// The range of step `n` that makes the used rows of its only output.
    fn output(&self, fused: &FusedKernel, scheduled: &Scheduled, n: usize) -> Option<LoopRange> {
        let stores_all =
            matches!(scheduled.nest.kind, NestKind::Map | NestKind::Reduce(_)) && fused.kind.part().is_none();
        let (true, &[value], [layout]) = (stores_all, &scheduled.outputs[..], &scheduled.domain.outputs[..]) else {
            return None;
        };
        let UsedRows::Some(range) = self.of.get(&value)? else { return None };
        let (bytes, count) = self.rows(value)?;
        // The loop of the rows, perhaps joined with the loops within them.
        let per_row = |index: usize| {
            let stride = usize::try_from(layout.strides[index]).ok().filter(|&stride| stride > 0)?;
            let step = (bytes % stride == 0).then_some(bytes / stride)?;
            (count.checked_mul(step) == Some(scheduled.domain.extents[index])).then_some(LoopRange {
                index,
                step,
                ..*range
            })
        };
        let known = |end: Option<RangeEnd>| end.is_none_or(|end| self.is_known(end.count, n));
        let range = (0..scheduled.nest.parallel_rank()).find_map(per_row)?;
        (known(range.from) && known(range.to)).then_some(range)
    }

    /// True if an integer is in memory before step `n`.
    fn is_known(&self, index: TracedIndex, n: usize) -> bool {
        match self.made.get(&index.value) {
            Some(&by) => by < n,
            None => matches!(self.graph.node(self.graph.producer(index.value)).kind, NodeKind::Param(..)),
        }
    }

    /// Adds what a kernel reads.
    fn inputs(&mut self, fused: &FusedKernel, scheduled: &Scheduled) {
        let accesses = self.accesses;
        let whole = scheduled.rest.into_iter().chain(scheduled.rows.iter().map(|(_, row)| row.index.value));
        whole.for_each(|value| self.add(accesses.base(value), UsedRows::All));
        for end in scheduled.ranges.iter().flat_map(|range| [range.from, range.to]).flatten() {
            self.add(accesses.base(end.count.value), UsedRows::All);
        }
        let masks = Masks { kernel: fused, domain: &scheduled.domain, graph: self.graph, accesses };
        for (n, (input, used)) in fused.inputs.iter().zip(used(masks, scheduled.ranges.first().copied())).enumerate() {
            let base = scheduled.inputs[n];
            let rows = match input.reads {
                Reads::Elements => self.read(scheduled, n, base, used),
                Reads::GatherSource | Reads::GatherBound | Reads::GatherStride => UsedRows::All,
            };
            self.add(base, rows);
        }
    }

    /// The rows of `base` that a kernel reads in its input `n`, of which it uses the elements at some indices.
    fn read(&self, scheduled: &Scheduled, n: usize, base: Value, used: UsedIndices) -> UsedRows {
        self.rows_read(scheduled, n, base, used).map_or(UsedRows::All, UsedRows::Some)
    }

    fn rows_read(&self, scheduled: &Scheduled, n: usize, base: Value, used: UsedIndices) -> Option<LoopRange> {
        let (bytes, count) = self.rows(base)?;
        let layout = scheduled.domain.inputs.get(n)?;
        let mut own = scheduled.rows.iter().filter(|(operand, _)| *operand == n);
        if let Some(&(_, TracedRow { index, last, stride })) = own.next() {
            let one = own.next().is_none() && stride == bytes as isize && last + 1 == count;
            let within = one && layout.offset < bytes && stays_within(scheduled, layout, bytes, None);
            let [from, to] = [0, 1].map(|more| Some(RangeEnd { count: index, more }));
            return within.then_some(LoopRange { index: 0, step: 1, from, to });
        }
        let UsedIndices::Some(range) = used else { return None };
        let at = range.index;
        if layout.strides[at].checked_mul(range.step as isize) != Some(bytes as isize)
            || !stays_within(scheduled, layout, bytes, Some((at, range.step)))
        {
            return None;
        }
        let first = isize::try_from(layout.offset / bytes).ok()?;
        let moved = |end: Option<RangeEnd>| match end {
            Some(RangeEnd { count, more }) => more.checked_add(first).map(|more| Some(RangeEnd { count, more })),
            None => Some(None),
        };
        Some(LoopRange { index: 0, step: 1, from: moved(range.from)?, to: moved(range.to)? })
    }
}

/// True if loops read within one row: each of them, or each but one, of so many indices per row.
fn stays_within(scheduled: &Scheduled, layout: &Layout, bytes: usize, but: Option<(usize, usize)>) -> bool {
    let mut end = Some(layout.offset % bytes);
    for (index, (&stride, &extent)) in layout.strides.iter().zip(&scheduled.domain.extents).enumerate() {
        let extent = but.filter(|(but, _)| *but == index).map_or(extent, |(_, step)| step);
        let span = usize::try_from(stride).ok().and_then(|stride| stride.checked_mul(extent.saturating_sub(1)));
        end = end.zip(span).and_then(|(end, span)| end.checked_add(span));
    }
    end.is_some_and(|end| end < bytes)
}

/// The indices at which the results depend on a scalar.
#[derive(Clone, Copy)]
enum UsedIndices {
    Nowhere,
    Some(LoopRange),
    Everywhere,
}

impl UsedIndices {
    fn join(self, other: UsedIndices) -> UsedIndices {
        match (self, other) {
            (UsedIndices::Nowhere, used) | (used, UsedIndices::Nowhere) => used,
            (UsedIndices::Some(a), UsedIndices::Some(b)) => {
                a.join(b).map_or(UsedIndices::Everywhere, UsedIndices::Some)
            }
            _ => UsedIndices::Everywhere,
        }
    }

    fn within(self, range: Option<LoopRange>) -> UsedIndices {
        match (self, range) {
            (UsedIndices::Everywhere, Some(range)) => UsedIndices::Some(range),
            (UsedIndices::Some(own), Some(range)) => UsedIndices::Some(own.meet(range)),
            (used, _) => used,
        }
    }
}

/// The indices at which the results depend on the elements of each input, of a kernel that computes some indices of a loop.
fn used(masks: Masks<'_>, computed: Option<LoopRange>) -> Vec<UsedIndices> {
    let body = masks.body();
    let mut of = vec![UsedIndices::Nowhere; body.stmts.len()];
    let mut inputs = vec![UsedIndices::Nowhere; body.inputs.len()];
    for output in &body.outputs {
        of[output.index()] = UsedIndices::Everywhere.within(computed);
    }
    for (n, stmt) in body.stmts.iter().enumerate().rev() {
        let own = of[n];
        if let StmtKind::Load(input) | StmtKind::Gather(input) | StmtKind::Address(input) = stmt.kind {
            inputs[input as usize] = inputs[input as usize].join(own);
        }
        for (at, arg) in stmt.args.iter().enumerate() {
            let chosen = match (stmt.kind, at) {
                (StmtKind::Op(Op::Where), 1 | 2) => own.within(masks.range(stmt.args[0], at == 1)),
                _ => own,
            };
            of[arg.index()] = of[arg.index()].join(chosen);
        }
    }
    inputs
}
