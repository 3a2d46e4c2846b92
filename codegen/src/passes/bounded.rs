//! Trips: partial reductions. If a mask excludes all elements from an index on, as in `sum(where(iota < n, x, 0))`, the
//! reduced loop ends there. The excluded elements change no bit of the result; the mask remains.

use crate::lower::{LoweredKernel, LoweredStep};
use crate::scheduled::TracedTrips;
use ndjit_ir::graph::{Graph, NodeKind, Slot};
use ndjit_ir::kernel::{FusedKernel, KernelKind, KernelReduce, OpBody, Reads, ScalarId, StmtKind};
use ndjit_ir::loops::IterationDomain;
use ndjit_ir::reduction::Reduction;
use ndjit_ir::{DType, Op};
use ndjit_transform::access::{Accesses, TracedIndex, keeps};

/// Finds the number of trips with an effect of each reduction that an integer in memory bounds.
pub(crate) fn trips(steps: &mut [LoweredStep], graph: &Graph<DType>, accesses: &Accesses) {
    for step in steps {
        let LoweredStep::Kernel(LoweredKernel { fused, scheduled }) = step else { continue };
        if let KernelKind::Reduce(reduce) = &fused.kind {
            let parallel_rank = scheduled.nest.parallel_rank();
            scheduled.trips = kernel_trips(fused, reduce, graph, accesses, (&scheduled.domain, parallel_rank));
        }
    }
}

/// Returns the number of trips with an effect of a kernel's only reduced loop, if an integer in memory determines it.
/// `parallel_rank` loops are not reduced.
fn kernel_trips(
    kernel: &FusedKernel,
    reduce: &KernelReduce,
    graph: &Graph<DType>,
    accesses: &Accesses,
    (domain, parallel_rank): (&IterationDomain, usize),
) -> Option<TracedTrips> {
    let mut axes = reduce.axes.iter();
    let axis = axes.next().filter(|_| axes.next().is_none())?;
    if domain.extents.len() != parallel_rank + 1 || domain.extents[parallel_rank] != kernel.shape.extents()[axis] {
        return None;
    }
    let bounded = Bounded { kernel, graph, accesses, domain, parallel_rank };
    let mut found: Option<(TracedIndex, isize)> = None;
    for (&output, &reduction) in kernel.body.outputs.iter().zip(&reduce.outputs) {
        let own = bounded.output(output, reduction)?;
        if found.is_some_and(|found| found.0 != own.0) {
            return None;
        }
        found = Some((own.0, found.map_or(own.1, |found| found.1.max(own.1))));
    }
    found.map(|(count, more)| TracedTrips { index: parallel_rank, count, more })
}

struct Bounded<'a> {
    kernel: &'a FusedKernel,
    graph: &'a Graph<DType>,
    accesses: &'a Accesses,
    domain: &'a IterationDomain,
    parallel_rank: usize,
}

impl Bounded<'_> {
    fn body(&self) -> &OpBody {
        &self.kernel.body
    }

    /// Returns the end of a masked value's reduction: an integer, and a number of further trips.
    fn output(&self, output: ScalarId, reduction: Reduction) -> Option<(TracedIndex, isize)> {
        let stmt = &self.body().stmts[output.index()];
        let (StmtKind::Op(Op::Where), &[mask, _, fill]) = (stmt.kind, &stmt.args[..]) else { return None };
        let left_out = self.left_out(fill, stmt.dtype, reduction)?;
        let (count, more) = self.mask(mask)?;
        Some((count, more.checked_add(left_out)?))
    }

    /// Returns the number of excluded elements that the reduction must still include: a positive zero makes a sum of
    /// negative zeros positive, so one remains. It is `None` if they have any other effect.
    fn left_out(&self, fill: ScalarId, dtype: DType, reduction: Reduction) -> Option<isize> {
        let StmtKind::Literal(n) = self.body().stmts[fill.index()].kind else { return None };
        let slot = self.kernel.literals.get(n as usize)?;
        let Slot::Value(literal) = self.graph.slots().get(slot.index())? else { return None };
        let repr = literal.to_repr(dtype).ok()?;
        if reduction.identity(dtype)?[..] == repr[..] {
            return Some(0);
        }
        let zero = repr.iter().all(|&word| word == 0);
        (zero && reduction == Reduction::Sum && dtype.is_float()).then_some(1)
    }

    /// Returns the bound of the loop's index below which a mask is true, and an offset.
    fn mask(&self, mask: ScalarId) -> Option<(TracedIndex, isize)> {
        let stmt = &self.body().stmts[mask.index()];
        let (StmtKind::Op(op), &[a, b]) = (stmt.kind, &stmt.args[..]) else { return None };
        let (index, bound, more) = match op {
            Op::Less => (a, b, 0),
            Op::LessEqual => (a, b, 1),
            Op::Greater => (b, a, 0),
            Op::GreaterEqual => (b, a, 1),
            _ => return None,
        };
        let start = self.index(index)?;
        Some((self.number(bound)?, (more as isize).checked_sub(start)?))
    }

    /// Skips lossless casts between integers.
    fn uncast(&self, mut scalar: ScalarId) -> ScalarId {
        loop {
            let stmt = &self.body().stmts[scalar.index()];
            match (stmt.kind, &stmt.args[..]) {
                (StmtKind::Cast, &[from]) if keeps(self.body().dtype(from), stmt.dtype) => scalar = from,
                _ => return scalar,
            }
        }
    }

    /// Returns the start of an index along the loop, if the scalar is an index.
    fn index(&self, scalar: ScalarId) -> Option<isize> {
        let StmtKind::Load(n) = self.body().stmts[self.uncast(scalar).index()].kind else { return None };
        let value = self.kernel.inputs.get(n as usize)?.value;
        let base = self.accesses.base(value);
        let layout = self.domain.inputs.get(n as usize)?;
        let along =
            layout.strides.iter().enumerate().all(|(at, &stride)| stride == isize::from(at == self.parallel_rank));
        let position = matches!(self.graph.node(self.graph.producer(base)).kind, NodeKind::Iota(_));
        isize::try_from(layout.offset).ok().filter(|_| along && position)
    }

    /// Returns the location of an integer that is the same at each index.
    fn number(&self, scalar: ScalarId) -> Option<TracedIndex> {
        let StmtKind::Load(n) = self.body().stmts[self.uncast(scalar).index()].kind else { return None };
        let input = self.kernel.inputs.get(n as usize).filter(|input| input.reads == Reads::Elements)?;
        self.accesses.number(self.graph, input.value)
    }
}
