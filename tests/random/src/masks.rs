//! Random masks: comparisons of positions with an integer, for reductions that end early and arrays of which some rows are used.

use crate::graph::Builder;
use ndjit_ir::dtype::DType;
use ndjit_ir::graph::{Graph, NodeKind, Slot, Value};
use ndjit_ir::literal::{Literal, LiteralValue};
use ndjit_ir::op::Op;
use ndjit_ir::reduction::{AxisSet, Reduce, Reduction, TypeRequest};
use ndjit_ir::shape::Shape;
use ndjit_ir::value_type::ValueType;

impl Builder<'_> {
    /// The number of elements of a value that are not zero: an integer in memory.
    fn count(&mut self) -> Option<Value> {
        let x = self.operand()?;
        let reduction = Reduction::CountNonzero;
        let dtype = self.policy.resolve_reduction(reduction, None, self.graph.ty(x)).ok()?.result;
        let request = TypeRequest { dtype: None, policy: self.policy };
        let axes = AxisSet::all(self.graph.shape(x).rank()).ok()?;
        let reduce = Reduce { request, ..Reduce::new(reduction, axes, false) };
        let scalar = self.graph.intern(&Shape::scalar());
        let whole = self.limits.dtypes.contains(dtype);
        whole.then(|| self.graph.add(NodeKind::Reduce(reduce), &[x], &[(dtype.into(), scalar)]))
    }

    /// A comparison of the positions along an axis of a shape with an integer: a literal, or a scalar.
    fn mask(&mut self, shape: &Shape, axis: usize) -> Option<(Value, Value)> {
        let extents: Vec<usize> =
            shape.extents()[axis..].iter().enumerate().map(|(n, &e)| if n == 0 { e } else { 1 }).collect();
        let along = self.graph.intern(&Shape::from(&extents[..]));
        let mut index = self.graph.add(NodeKind::Iota(AxisSet::one(0)), &[], &[(DType::I64.into(), along)]);
        let scalar = |graph: &Graph<ValueType>, x: Value| graph.shape(x).rank() == 0;
        let number = match self.rng.below(3) {
            0 => (0..3).find_map(|_| self.operand().filter(|&x| scalar(&self.graph, x))),
            1 => self.count(),
            // The counter of a loop.
            _ => self.graph.params().get(1).copied().filter(|&x| scalar(&self.graph, x)).or_else(|| self.count()),
        };
        let bound = match number.filter(|_| !self.rng.one_in(8)) {
            Some(number) => self.cast(number, DType::I64),
            None => {
                let number = LiteralValue::Int(self.rng.below(extents[0] + 2) as i128);
                let literal = Literal::strong(number, DType::I64).ok()?;
                self.graph.literal(Slot::Value(literal), DType::I64.into())
            }
        };
        if self.rng.one_in(4) && self.allows(DType::I32) {
            let narrow = self.cast(index, DType::I32);
            index = self.cast(narrow, DType::I64);
        }
        let (op, pair) = self.rng.pick(&[
            (Op::Less, [index, bound]),
            (Op::LessEqual, [index, bound]),
            (Op::Greater, [bound, index]),
            (Op::GreaterEqual, [bound, index]),
            (Op::GreaterEqual, [index, bound]),
            (Op::Greater, [index, bound]),
            (Op::Equal, [index, bound]),
        ]);
        let result = self.result_type(op, &pair)?;
        Some((self.add(op, &pair, result), bound))
    }

    /// A value whose elements up to an index count in a reduction along an axis, followed by the identity, or a zero.
    pub(super) fn masked(&mut self, operand: Value, reduction: Reduction, axis: usize) -> Option<Value> {
        let ValueType::Strong(dtype) = self.graph.ty(operand) else { return None };
        let shape = self.graph.shape(operand).clone();
        let (mask, _) = self.mask(&shape, axis)?;
        let fill = if self.rng.one_in(3) { vec![0, 0] } else { reduction.identity(dtype)? };
        let fill = self.graph.literal(Slot::Value(Literal::from_repr(dtype, &fill)), dtype.into());
        let chosen = [mask, operand, fill];
        let result = self.result_type(Op::Where, &chosen)?;
        Some(self.add(Op::Where, &chosen, result))
    }

    /// A reduction of which some rows are used: those on one side of an index, and at times the row at that index.
    pub(super) fn used_rows(&mut self, operand: Value) -> Option<()> {
        let last = self.graph.shape(operand).rank().checked_sub(1).filter(|&last| last > 0)?;
        let dtype = self.policy.resolve_reduction(Reduction::Sum, None, self.graph.ty(operand)).ok()?.result;
        let axes = AxisSet::one(last);
        let shape = self.graph.intern(&axes.reduced(self.graph.shape(operand), true));
        let request = TypeRequest { dtype: None, policy: self.policy };
        let reduce = Reduce { request, ..Reduce::new(Reduction::Sum, axes, true) };
        if !self.limits.dtypes.contains(dtype) {
            return None;
        }
        let sums = self.graph.add(NodeKind::Reduce(reduce), &[operand], &[(dtype.into(), shape)]);
        let shape = self.graph.shape(sums).clone();
        let (mask, index) = self.mask(&shape, 0)?;
        if self.rng.one_in(2) {
            self.row(sums, index);
        }
        let zero = self.graph.literal(Slot::Value(Literal::from_repr(dtype, &[0, 0])), dtype.into());
        let chosen = if self.rng.one_in(2) { [mask, sums, zero] } else { [mask, zero, sums] };
        let result = self.result_type(Op::Where, &chosen)?;
        self.add(Op::Where, &chosen, result);
        Some(())
    }
}
