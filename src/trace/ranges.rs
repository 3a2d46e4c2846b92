//! Integer ranges known at trace time: of loop counters, indices along axes, numbers, and values computed from them. A
//! nonnegative index is not counted from the end, and an index within bounds is not clamped.

use super::int_ranges::IntRange;
use super::recorder::{TRACES, Trace, literal};
use crate::api::config;
use crate::trace::expr::{Expr, ExprValue};
use crate::trace::operand::AnyOperand;
use ndjit_ir::graph::{NodeKind, Value};
use ndjit_ir::{LiteralValue, Op};

impl Trace {
    /// Computes the range of each value of the graph.
    pub(super) fn find_ranges(&mut self) {
        for n in self.ranges.known.len()..self.graph.value_count() {
            let range = self.found_range(Value::from_index(n));
            self.ranges.known.push(range);
        }
    }

    /// Computes the range of a value from those of its operands.
    fn found_range(&self, value: Value) -> Option<IntRange> {
        let graph = &self.graph;
        if let Some(&given) = self.ranges.given.get(&value) {
            return Some(given);
        }
        let (least, most) = graph.storage_dtype(value, config::policy()).int_range()?;
        let id = graph.producer(value);
        let operand = |n: usize| {
            let &operand = graph.operands(id).get(n)?;
            let (from, to) = (*self.ranges.known.get(operand.index())?)?;
            Some((i128::from(from), i128::from(to)))
        };
        let (from, to) = match graph.node(id).kind {
            NodeKind::Literal(_) => match literal(graph, value)?.value() {
                LiteralValue::Int(n) => (n, n),
                LiteralValue::Bool(_) | LiteralValue::Float(_) | LiteralValue::Complex(..) => return None,
            },
            NodeKind::Iota(along) => {
                let extents = graph.shape(value).extents().iter().enumerate().filter(|&(axis, _)| along.contains(axis));
                (0, extents.fold(1, |n, (_, &extent)| (extent as i128).saturating_mul(n)).max(1) - 1)
            }
            NodeKind::Cast(_) | NodeKind::Identity(_) => operand(0)?,
            kind if kind.row().is_view => operand(0)?,
            NodeKind::Op(op, _) => {
                let ((a, b), (c, d)) = (operand(0)?, operand(1)?);
                match op {
                    Op::Add => (a + c, b + d),
                    Op::Subtract => (a - d, b - c),
                    Op::Multiply => {
                        let all = [a * c, a * d, b * c, b * d];
                        all.iter().fold((all[0], all[0]), |(from, to), &x| (from.min(x), to.max(x)))
                    }
                    Op::Minimum => (a.min(c), b.min(d)),
                    Op::Maximum => (a.max(c), b.max(d)),
                    Op::FloorDivide if c > 0 => {
                        ((a.div_euclid(c)).min(a.div_euclid(d)), b.div_euclid(c).max(b.div_euclid(d)))
                    }
                    Op::Remainder if c > 0 => (0, d - 1),
                    _ => return None,
                }
            }
            _ => return None,
        };
        // A result that overflows its dtype may have any value.
        if from < least || to > most {
            return None;
        }
        Some((i64::try_from(from).ok()?, i64::try_from(to).ok()?))
    }
}

/// Returns the range of an operand of the current trace; `None` for an array.
pub(crate) fn known(operand: &AnyOperand) -> Option<IntRange> {
    match operand {
        AnyOperand::Expr(x) => of(*x),
        AnyOperand::Scalar(_) | AnyOperand::Array(_) => None,
    }
}

/// Returns the range of a value of the current trace.
pub(crate) fn of(x: Expr) -> Option<IntRange> {
    let ExprValue::Value(value) = x.node else { return None };
    TRACES.with_borrow_mut(|traces| {
        let trace = traces.iter_mut().rev().find(|trace| trace.id == x.trace)?;
        trace.find_ranges();
        trace.ranges.known.get(value.index()).copied().flatten()
    })
}

/// Sets the range of a parameter of the current trace.
pub(crate) fn give(x: Expr, range: IntRange) {
    let ExprValue::Value(value) = x.node else { return };
    TRACES.with_borrow_mut(|traces| {
        if let Some(trace) = traces.last_mut().filter(|trace| trace.id == x.trace) {
            trace.ranges.give(value, range);
        }
    });
}
