//! Steps of loops that read and store single elements of their state at indices, in and out of bounds, and compute with scalars.

use crate::graph::Builder;
use ndjit_ir::dtype::DType;
use ndjit_ir::graph::{NodeKind, Scatter, Slot, Value};
use ndjit_ir::literal::{Literal, LiteralValue};
use ndjit_ir::op::Op;
use ndjit_ir::shape::Shape;
use ndjit_ir::value_type::ValueType;

impl Builder<'_> {
    /// The next values of these arrays: each some stores later. `counter` is an index that changes from step to step.
    pub(super) fn element_steps(&mut self, arrays: &[Value], counter: Value) -> Option<Vec<Value>> {
        let mut scalars = vec![counter];
        let mut versions: Vec<Vec<Value>> = Vec::new();
        for &array in arrays {
            let elements = Shape::from(&[self.graph.shape(array).size().ok()?][..]);
            versions.push(vec![self.reshaped(array, &elements)]);
        }
        for _ in 0..2 + self.rng.below(5) {
            let own = self.rng.below(versions.len());
            match self.rng.below(6) {
                0 => {
                    let pair = [self.rng.pick(&scalars), self.rng.pick(&scalars)];
                    let op = self.rng.pick(&[Op::Add, Op::Subtract, Op::Multiply, Op::Maximum, Op::Less]);
                    let Some(result) = self.result_type(op, &pair) else { continue };
                    scalars.push(self.add(op, &pair, result));
                }
                1 | 2 => {
                    let from = self.rng.pick(&versions[own]);
                    let index = self.element_index(&scalars)?;
                    scalars.push(self.row(from, index)?);
                }
                3 => {
                    let into = *versions[own].last()?;
                    let ValueType::Strong(dtype) = self.graph.ty(into) else { return None };
                    let scatter = self.rng.pick(&Scatter::ALL);
                    let update = self.rng.pick(&scalars);
                    if scatter.takes(dtype) {
                        let (index, update) = (self.element_index(&scalars)?, self.cast(update, dtype));
                        let result = (dtype.into(), self.graph.shape_id(into));
                        let kind = NodeKind::Scatter(scatter);
                        versions[own].push(self.graph.add(kind, &[into, index, update], &[result]));
                    }
                }
                4 => {
                    let (condition, into) = (self.rng.pick(&scalars), *versions[own].last()?);
                    let (condition, index) = (self.cast(condition, DType::Bool), self.element_index(&scalars)?);
                    versions[own].push(self.element_branches(condition, into, index)?);
                }
                _ => {
                    let condition = self.rng.pick(&scalars);
                    let condition = self.cast(condition, DType::Bool);
                    let all = [condition, self.rng.pick(&versions[own]), *versions[own].last()?];
                    let result = self.result_type(Op::Where, &all)?;
                    if result == self.graph.ty(all[1]) {
                        versions[own].push(self.add(Op::Where, &all, result));
                    }
                }
            }
        }
        let last = arrays.iter().zip(versions);
        last.map(|(&array, versions)| {
            let shape = self.graph.shape(array).clone();
            Some(self.reshaped(*versions.last()?, &shape))
        })
        .collect()
    }

    /// An index: of an existing scalar, some elements beside it, or backward from an element.
    fn element_index(&mut self, scalars: &[Value]) -> Option<Value> {
        let from = self.rng.pick(scalars);
        let from = if self.rng.one_in(3) { from } else { scalars[0] };
        let index = self.cast(from, DType::I64);
        let beside = self.rng.pick(&[-2, -1, 0, 1, 3]);
        if beside == 0 {
            return Some(index);
        }
        let backward = self.rng.one_in(4);
        let beside =
            Literal::strong(LiteralValue::Int(if backward { 18 + beside } else { beside }), DType::I64).ok()?;
        let pair = [self.graph.literal(Slot::Value(beside), DType::I64.into()), index];
        let op = if backward { Op::Subtract } else { Op::Add };
        let result = self.result_type(op, &pair)?;
        let sum = self.add(op, &pair, result);
        Some(if result == DType::I64.into() { sum } else { self.cast(sum, DType::I64) })
    }

    fn reshaped(&mut self, x: Value, shape: &Shape) -> Value {
        if self.graph.shape(x) == shape {
            return x;
        }
        let (ty, shape) = (self.graph.ty(x), self.graph.intern(shape));
        self.graph.add(NodeKind::Reshape, &[x], &[(ty, shape)])
    }
}
