//! Ranges of masks: the indices of a loop at which a comparison of positions with an integer in memory is true, or false.

use crate::scheduled::{LoopRange, RangeEnd};
use ndjit_ir::graph::{Graph, Slot};
use ndjit_ir::kernel::{FusedKernel, OpBody, Reads, ScalarId, Stmt, StmtKind};
use ndjit_ir::loops::IterationDomain;
use ndjit_ir::{DType, LiteralValue, Op};
use ndjit_transform::access::{Accesses, TracedIndex, keeps};

use crate::passes::schedule::is_position;

/// A kernel whose masks are examined.
#[derive(Clone, Copy)]
pub(super) struct Masks<'a> {
    pub kernel: &'a FusedKernel,
    pub domain: &'a IterationDomain,
    pub graph: &'a Graph<DType>,
    pub accesses: &'a Accesses,
}

/// Consecutive integers: the index of a loop, plus a start.
#[derive(Clone, Copy)]
struct LoopPositions {
    index: usize,
    start: i64,
}

impl<'a> Masks<'a> {
    pub fn body(&self) -> &'a OpBody {
        &self.kernel.body
    }

    fn stmt(&self, scalar: ScalarId) -> &'a Stmt {
        &self.body().stmts[scalar.index()]
    }

    /// The indices at which a mask has this truth, at most; `None` if they may be all.
    pub fn range(&self, mask: ScalarId, truth: bool) -> Option<LoopRange> {
        let stmt = self.stmt(mask);
        let StmtKind::Op(op) = stmt.kind else { return None };
        match (op, &stmt.args[..], truth) {
            (Op::LogicalNot, &[a], _) => self.range(a, !truth),
            (Op::LogicalAnd, &[a, b], true) | (Op::LogicalOr, &[a, b], false) => {
                match (self.range(a, truth), self.range(b, truth)) {
                    (Some(a), Some(b)) => Some(a.meet(b)),
                    (a, b) => a.or(b),
                }
            }
            (_, &[a, b], _) => {
                let (op, positions, number) = match (self.positions(a), self.positions(b)) {
                    (Some(positions), None) => (op, positions, self.number(b)?),
                    (None, Some(positions)) => (swapped(op)?, positions, self.number(a)?),
                    _ => return None,
                };
                positions.compared(op, number, truth)
            }
            _ => None,
        }
    }

    /// The positions that a scalar is.
    fn positions(&self, scalar: ScalarId) -> Option<LoopPositions> {
        let stmt = self.stmt(scalar);
        match (stmt.kind, &stmt.args[..]) {
            (StmtKind::Load(n), _) => {
                let base = self.accesses.base(self.kernel.inputs.get(n as usize)?.value);
                let layout = self.domain.inputs.get(n as usize).filter(|_| is_position(self.graph, base))?;
                let mut moving = layout.strides.iter().enumerate().filter(|(_, stride)| **stride != 0);
                let (index, _) = moving.next().filter(|(_, stride)| **stride == 1)?;
                let positions = LoopPositions { index, start: i64::try_from(layout.offset).ok()? };
                moving.next().is_none().then_some(positions)
            }
            (StmtKind::Cast, &[from]) => self.positions(from).filter(|positions| self.fits(*positions, stmt.dtype)),
            (StmtKind::Op(Op::Add), &[a, b]) => {
                let (positions, by) = match self.positions(a) {
                    Some(positions) => (positions, self.literal(b)?),
                    None => (self.positions(b)?, self.literal(a)?),
                };
                self.moved(positions, Some(by), stmt.dtype)
            }
            (StmtKind::Op(Op::Subtract), &[a, b]) => {
                self.moved(self.positions(a)?, self.literal(b)?.checked_neg(), stmt.dtype)
            }
            _ => None,
        }
    }

    fn moved(
        &self,
        LoopPositions { index, start }: LoopPositions,
        by: Option<i64>,
        dtype: DType,
    ) -> Option<LoopPositions> {
        let positions = LoopPositions { index, start: start.checked_add(by?)? };
        self.fits(positions, dtype).then_some(positions)
    }

    /// True if an integer dtype holds all of them.
    fn fits(&self, LoopPositions { index, start }: LoopPositions, dtype: DType) -> bool {
        let last = i64::try_from(self.domain.extents[index]).ok().and_then(|extent| start.checked_add(extent));
        let range = dtype.int_range().filter(|_| dtype.is_int());
        range.zip(last).is_some_and(|((least, most), last)| least <= i128::from(start) && i128::from(last) <= most)
    }

    fn literal(&self, scalar: ScalarId) -> Option<i64> {
        let StmtKind::Literal(n) = self.stmt(scalar).kind else { return None };
        let Slot::Value(literal) = self.graph.slots().get(self.kernel.literals.get(n as usize)?.index())? else {
            return None;
        };
        match literal.value() {
            LiteralValue::Int(n) => i64::try_from(n).ok(),
            _ => None,
        }
    }

    /// The location of an integer that is the same at each index, before casts that change no value.
    fn number(&self, mut scalar: ScalarId) -> Option<TracedIndex> {
        loop {
            let stmt = self.stmt(scalar);
            match (stmt.kind, &stmt.args[..]) {
                (StmtKind::Cast, &[from]) if keeps(self.body().dtype(from), stmt.dtype) => scalar = from,
                (StmtKind::Load(n), _) => {
                    let input = self.kernel.inputs.get(n as usize).filter(|input| input.reads == Reads::Elements)?;
                    return self.accesses.number(self.graph, input.value);
                }
                _ => return None,
            }
        }
    }
}

/// The comparison with swapped operands.
fn swapped(op: Op) -> Option<Op> {
    Some(match op {
        Op::Less => Op::Greater,
        Op::LessEqual => Op::GreaterEqual,
        Op::Greater => Op::Less,
        Op::GreaterEqual => Op::LessEqual,
        Op::Equal => Op::Equal,
        _ => return None,
    })
}

impl LoopPositions {
    /// The indices at which a comparison with a number has this truth.
    fn compared(self, op: Op, count: TracedIndex, truth: bool) -> Option<LoopRange> {
        let end = |more: i64| {
            let more = isize::try_from(more.checked_sub(self.start)?).ok()?;
            Some(RangeEnd { count, more })
        };
        let (from, to) = match (op, truth) {
            (Op::Less, true) | (Op::GreaterEqual, false) => (None, end(0)),
            (Op::LessEqual, true) | (Op::Greater, false) => (None, end(1)),
            (Op::Greater, true) | (Op::LessEqual, false) => (end(1), None),
            (Op::GreaterEqual, true) | (Op::Less, false) => (end(0), None),
            (Op::Equal, true) => (end(0), end(1)),
            _ => return None,
        };
        Some(LoopRange { index: self.index, step: 1, from, to })
    }
}
