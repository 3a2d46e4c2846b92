//! Symbolic constants, programs that compute new arrays: kernels compute the elements from their indices, with the bits of the arrays.

use ndjit_ir::axes::AxisSet;
use ndjit_ir::graph::{Graph, NodeKind, Slot, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::support::CastReason;
use ndjit_ir::view::broadcast_to;
use ndjit_ir::{DType, LiteralValue, Op, Policy, Shape, ValueType};
use ndjit_math::progression::{Progression, ProgressionRule};

/// A program under construction. All operands of an operation have one type.
#[derive(Default)]
struct SymbolicConstant(Graph<ValueType>);

/// The same value everywhere.
pub fn filled((ty, dtype): (ValueType, DType), fill: Literal, shape: &Shape) -> Option<Graph<ValueType>> {
    let number = Literal::from_repr(dtype, &fill.to_repr(dtype).ok()?);
    let mut symbolic = SymbolicConstant::default();
    let number = match ty {
        ValueType::Weak(_) => symbolic.number(Literal::weak(number.value())),
        ValueType::Strong(_) => symbolic.number(number),
    };
    let (view, shape) = broadcast_to(&Shape::scalar(), shape).ok()?;
    let filled = symbolic.0.view(number, view, &shape);
    Some(symbolic.of(filled))
}

/// Ones on a diagonal.
pub fn diagonal(dtype: DType, [rows, columns]: [usize; 2], diagonal: isize) -> Option<Graph<ValueType>> {
    let mut symbolic = SymbolicConstant::default();
    let (down, along) = (Shape::from([rows, 1]), Shape::from([1, columns]));
    let [row, column] = [symbolic.indices(&down)?, symbolic.indices(&along)?];
    // An offset beyond all indices is equivalent.
    let most = i64::try_from(rows.max(columns)).unwrap_or(i64::MAX / 2).min(i64::MAX / 2);
    let offset = i64::try_from(diagonal).ok()?.clamp(-most, most);
    let offset = symbolic.number(Literal::strong(offset, DType::I64).ok()?);
    let shape = Shape::from([rows, columns]);
    let reached = symbolic.op(Op::Add, &[row, offset], DType::I64, &down);
    let on = symbolic.op(Op::Equal, &[reached, column], DType::Bool, &shape);
    let ones = symbolic.cast(on, dtype);
    Some(symbolic.of(ones))
}

/// A sequence.
pub fn progression(dtype: DType, terms: &Progression) -> Option<Graph<ValueType>> {
    let mut symbolic = SymbolicConstant::default();
    let shape = Shape::from(terms.len());
    let position = symbolic.indices(&shape)?;
    let value = match terms.rule()? {
        ProgressionRule::Int { start, step } => {
            let last = step.checked_mul(terms.len() as i128)?.checked_add(start)?;
            // Values that wrap are right only as integers.
            let exact = [start, step, last].iter().all(|&n| i64::try_from(n).is_ok());
            if !exact && !dtype.is_int() {
                return None;
            }
            let mut number = position;
            for (op, by, none) in [(Op::Multiply, step, 1), (Op::Add, start, 0)] {
                if by != none {
                    let by = symbolic.number(Literal::strong(by as i64, DType::I64).ok()?);
                    number = symbolic.op(op, &[number, by], DType::I64, &shape);
                }
            }
            symbolic.cast(number, dtype)
        }
        ProgressionRule::Float { first, last, start, shift, step, scale } => {
            let [start, step, scale] = [start, step, scale].map(|x| Literal::strong(x, DType::F64).ok());
            let (start, step, scale) = (symbolic.number(start?), symbolic.number(step?), symbolic.number(scale?));
            let mut wide = symbolic.cast(position, DType::F64);
            if shift != 0.0 {
                let shift = symbolic.number(Literal::strong(shift, DType::F64).ok()?);
                wide = symbolic.op(Op::Subtract, &[wide, shift], DType::F64, &shape);
            }
            let steps = symbolic.op(Op::Multiply, &[wide, step], DType::F64, &shape);
            let sum = symbolic.op(Op::Add, &[start, steps], DType::F64, &shape);
            let scaled = symbolic.op(Op::Multiply, &[sum, scale], DType::F64, &shape);
            let mut number = symbolic.cast(scaled, dtype);
            let ends = [(0, Some(first)), (terms.len().saturating_sub(1), last)];
            for (at, end) in ends.into_iter().filter_map(|(at, end)| Some((at, end?))) {
                number = symbolic.end(dtype, position, at, end, number, &shape)?;
            }
            number
        }
        _ => return None,
    };
    Some(symbolic.of(value))
}

impl SymbolicConstant {
    fn number(&mut self, number: Literal) -> Value {
        self.0.literal(Slot::Value(number), number.ty())
    }

    /// Indices along all axes.
    fn indices(&mut self, shape: &Shape) -> Option<Value> {
        let kind = NodeKind::Iota(AxisSet::all(shape.rank()).ok()?);
        let shape = self.0.intern(shape);
        Some(self.0.add(kind, &[], &[(DType::I64.into(), shape)]))
    }

    fn op(&mut self, op: Op, operands: &[Value], dtype: DType, shape: &Shape) -> Value {
        let shape = self.0.intern(shape);
        self.0.add(NodeKind::Op(op, Policy::default()), operands, &[(dtype.into(), shape)])
    }

    fn cast(&mut self, value: Value, dtype: DType) -> Value {
        if self.0.ty(value) == dtype.into() {
            return value;
        }
        let shape = self.0.shape_id(value);
        self.0.add(NodeKind::Cast(CastReason::Explicit), &[value], &[(dtype.into(), shape)])
    }

    /// The value `end` at an index, others elsewhere.
    fn end(
        &mut self,
        dtype: DType,
        position: Value,
        at: usize,
        end: LiteralValue,
        others: Value,
        shape: &Shape,
    ) -> Option<Value> {
        let end = Literal::from_repr(dtype, &Literal::weak(end).to_repr(dtype).ok()?);
        let (at, end) = (self.number(Literal::strong(at as i64, DType::I64).ok()?), self.number(end));
        let here = self.op(Op::Equal, &[position, at], DType::Bool, shape);
        Some(self.op(Op::Where, &[here, end, others], dtype, shape))
    }

    fn of(self, result: Value) -> Graph<ValueType> {
        let SymbolicConstant(mut graph) = self;
        graph.set_outputs(vec![result]);
        graph
    }
}
