//! Random branches and loops. A loop counts to three at most, often fewer depending on its state, and keeps the types of its state.

use crate::graph::Builder;
use ndjit_ir::dtype::{DType, DTypeSet};
use ndjit_ir::graph::{Control, ControlKind, ForArity, Inner, NodeKind, ScanArity, Scatter, Slot, Value};
use ndjit_ir::literal::{Literal, LiteralValue};
use ndjit_ir::op::Op;
use ndjit_ir::reduction::{AxisSet, Reduce, Reduction, TypeRequest};
use ndjit_ir::shape::Shape;
use ndjit_ir::value_type::{ValueType, Weak};
use ndjit_ir::view;
use std::sync::Arc;

/// The maximum depth of nested control flow.
const DEEPEST: usize = 3;
/// The maximum number of steps of a loop.
const MOST: i128 = 3;
/// The same of loops whose steps read and store single elements: enough for loops that check rows once.
const MOST_OF_ELEMENTS: i128 = 20;

/// A graph of control flow under construction.
struct Made<'a> {
    builder: Builder<'a>,
    operands: Vec<u32>,
}

impl<'a> Builder<'a> {
    /// Branches or a loop, of existing values.
    pub(super) fn control(&mut self) {
        if self.depth >= DEEPEST || self.graph.value_count() == 0 {
            return;
        }
        match self.rng.below(4) {
            0 => self.cond(),
            1 => self.scan(),
            2 => self.counting(),
            _ => self.counted(),
        };
    }

    /// A scan, mostly of slices of existing arrays.
    fn scan(&mut self) -> Option<()> {
        let (mut operands, alike) = (Vec::new(), self.rng.one_in(2));
        for _ in 0..self.rng.below(3) {
            let begins = self.begins(&operands, alike)?;
            operands.push(self.promoted(begins));
        }
        let carried = operands.len();
        let first = (0..3).find_map(|_| self.operand().filter(|&x| self.graph.shape(x).rank() > 0));
        let length = first.map_or(MOST as usize, |x| self.graph.shape(x).extents()[0]);
        operands.extend(first);
        for _ in 0..self.rng.below(3) {
            let x = self.operand()?;
            if first.is_some() && self.graph.shape(x).extents().first() == Some(&length) {
                operands.push(x);
            }
        }
        let sliced = operands.len() - carried;
        for _ in 0..self.rng.below(3) {
            operands.push(self.operand()?);
        }
        let reverse = self.rng.one_in(3);
        let steps = ScanArity { length, carried: carried as u32, sliced: sliced as u32, reverse };
        let mut types: Vec<(ValueType, Shape)> =
            operands[..carried].iter().map(|&x| (self.graph.ty(x), self.graph.shape(x).clone())).collect();
        let mut body = self.inner_of(&operands, 0, &[], ControlKind::Scan(steps));
        body.nodes(5, alike);
        let mut outputs = Vec::new();
        for (leaf, (ty, shape)) in types.iter().enumerate() {
            let own = body.last_param(leaf);
            outputs.push(body.builder.stepped(own, *ty, shape));
        }
        for _ in 0..self.rng.below(3) {
            // A state is often stacked.
            let state = outputs.last().copied().filter(|_| self.rng.one_in(3));
            let Some(slice) = state.or_else(|| body.builder.operand()) else { continue };
            let shape = body.builder.graph.shape(slice);
            let all = [length].into_iter().chain(shape.extents().iter().copied()).collect::<Vec<usize>>();
            // As many elements as other arrays have, at most.
            if all.iter().product::<usize>() > 4 * self.limits.elements {
                continue;
            }
            types.push((body.builder.graph.ty(slice), Shape::from(&all[..])));
            outputs.push(slice);
        }
        body.builder.graph.set_outputs(outputs);
        self.controlled(ControlKind::Scan(steps), &operands, vec![body], &types);
        Some(())
    }

    /// A counting loop, with literal or computed bounds.
    fn counting(&mut self) -> Option<()> {
        let index = self.dtype_in(DTypeSet::INT)?;
        let (mut operands, alike) = (Vec::new(), self.rng.one_in(2));
        for _ in 0..1 + self.rng.below(3) {
            let begins = self.begins(&operands, alike)?;
            operands.push(if self.rng.one_in(2) { self.promoted(begins) } else { begins });
        }
        let carried = operands.len();
        // Steps of single elements: the arrays, and the index.
        let arrays = self.element_arrays(&operands, 0..carried);
        let start = self.rng.below(2) as i128;
        let end = self.bound(index, if arrays.is_empty() { MOST } else { MOST_OF_ELEMENTS })?;
        // Some policies have narrower types.
        let end = if self.graph.ty(end) == index.into() { end } else { self.cast(end, index) };
        operands.extend([self.strong(start, index)?, end]);
        for _ in 0..self.rng.below(3) {
            operands.push(self.operand()?);
        }
        let types: Vec<(ValueType, Shape)> =
            operands[..carried].iter().map(|&x| (self.graph.ty(x), self.graph.shape(x).clone())).collect();
        let kind = ControlKind::For(ForArity { carried: carried as u32, index });
        let needed: Vec<usize> = arrays.iter().copied().chain((!arrays.is_empty()).then_some(carried)).collect();
        let mut body = self.inner_of(&operands, 0, &needed, kind);
        if let Some(outputs) = body.element_outputs(&arrays, carried, &types) {
            body.builder.graph.set_outputs(outputs);
            self.controlled(kind, &operands, vec![body], &types);
            return Some(());
        }
        let rows = self.limits.dtypes.contains(DType::I64).then(|| body.param(carried)).flatten();
        let rows = rows.map(|index| body.builder.cast(index, DType::I64));
        if let (Some(index), Some(x)) = (rows, body.builder.operand()) {
            body.builder.row(x, index);
        }
        body.nodes(5, alike);
        let mut outputs = Vec::new();
        for (leaf, (ty, shape)) in types.iter().enumerate() {
            let put = match (rows, body.param(leaf)) {
                (Some(index), Some(into)) if !alike && self.rng.one_in(2) => body.builder.put(into, index),
                _ => None,
            };
            let own = body.last_param(leaf);
            outputs.push(put.unwrap_or_else(|| body.builder.stepped(own, *ty, shape)));
        }
        body.builder.graph.set_outputs(outputs);
        self.controlled(kind, &operands, vec![body], &types);
        Some(())
    }

    fn cond(&mut self) -> Option<()> {
        let from = self.operand()?;
        let mut operands = vec![self.truth(from)?];
        for _ in 0..self.rng.below(4) {
            operands.push(self.operand()?);
        }
        let mut first = self.inner(&operands, 1, &[]);
        first.nodes(5, false);
        let mut results = Vec::new();
        for _ in 0..1 + self.rng.below(2) {
            results.push(first.builder.operand()?);
        }
        first.builder.graph.set_outputs(results.clone());
        let mut second = self.inner(&operands, 1, &[]);
        second.nodes(5, false);
        let types: Vec<(ValueType, Shape)> = results
            .iter()
            .map(|&result| (first.builder.graph.ty(result), first.builder.graph.shape(result).clone()))
            .collect();
        let outputs = types.iter().map(|(ty, shape)| second.builder.like(*ty, shape)).collect();
        second.builder.graph.set_outputs(outputs);
        self.controlled(ControlKind::Cond, &operands, vec![first, second], &types);
        Some(())
    }

    /// A loop whose state begins with a counter.
    fn counted(&mut self) -> Option<()> {
        let dtype = self.dtype_in(DTypeSet::INT)?;
        let (mut operands, alike) = (vec![self.strong(0, dtype)?], self.rng.one_in(2));
        for _ in 0..self.rng.below(4) {
            let begins = self.begins(&operands, alike)?;
            operands.push(if self.rng.one_in(2) { self.promoted(begins) } else { begins });
        }
        let count = operands.len();
        let bound = operands.len();
        let arrays = self.element_arrays(&operands, 1..count);
        let last = self.bound(dtype, if arrays.is_empty() { MOST } else { MOST_OF_ELEMENTS })?;
        operands.push(last);
        for _ in 0..self.rng.below(3) {
            operands.push(self.operand()?);
        }
        let types: Vec<(ValueType, Shape)> =
            operands[..count].iter().map(|&x| (self.graph.ty(x), self.graph.shape(x).clone())).collect();

        let mut condition = self.inner(&operands, 0, &[0, bound]);
        let pair = [condition.param(0)?, condition.param(bound)?];
        let result = condition.builder.result_type(Op::Less, &pair)?;
        let mut goes_on = condition.builder.add(Op::Less, &pair, result);
        if self.rng.one_in(2) {
            // Values decide as well.
            condition.nodes(2, alike);
            let from = condition.builder.operand()?;
            let pair = [goes_on, condition.builder.truth(from)?];
            let result = condition.builder.result_type(Op::LogicalOr, &pair)?;
            let any = condition.builder.add(Op::LogicalOr, &pair, result);
            let pair = [goes_on, if self.rng.one_in(2) { pair[1] } else { any }];
            let result = condition.builder.result_type(Op::LogicalAnd, &pair)?;
            goes_on = condition.builder.add(Op::LogicalAnd, &pair, result);
        }
        condition.builder.graph.set_outputs(vec![goes_on]);

        let needed: Vec<usize> = [0].into_iter().chain(arrays.iter().copied()).collect();
        let mut body = self.inner(&operands, 0, &needed);
        let counter = body.param(0)?;
        let pair = [counter, body.builder.strong(1, dtype)?];
        let result = body.builder.result_type(Op::Add, &pair)?;
        let mut next = body.builder.add(Op::Add, &pair, result);
        if result != dtype.into() {
            // Some policies have narrower types.
            next = body.builder.cast(next, dtype);
        }
        if let Some(mut outputs) = body.element_outputs(&arrays, 0, &types) {
            outputs[0] = next;
            body.builder.graph.set_outputs(outputs);
            self.controlled(ControlKind::While, &operands, vec![condition, body], &types);
            return Some(());
        }
        let mut outputs = vec![next];
        let index = self.limits.dtypes.contains(DType::I64).then(|| body.builder.cast(counter, DType::I64));
        if let (Some(index), Some(x)) = (index, body.builder.operand()) {
            body.builder.row(x, index);
        }
        body.nodes(5, alike);
        for (leaf, (ty, shape)) in types.iter().enumerate().skip(1) {
            let put = match (index, body.param(leaf)) {
                (Some(index), Some(into)) if !alike && self.rng.one_in(2) => body.builder.put(into, index),
                _ => None,
            };
            let own = body.last_param(leaf);
            outputs.push(put.unwrap_or_else(|| body.builder.stepped(own, *ty, shape)));
        }
        body.builder.graph.set_outputs(outputs);
        self.controlled(ControlKind::While, &operands, vec![condition, body], &types);
        Some(())
    }

    /// An array after one of two branches, each of which may store an element at an index.
    pub(super) fn element_branches(&mut self, condition: Value, into: Value, index: Value) -> Option<Value> {
        let (ty, shape) = (self.graph.ty(into), self.graph.shape(into).clone());
        let operands = [condition, into, index];
        let mut branches = Vec::new();
        for _ in 0..2 {
            let mut branch = self.inner(&operands, 1, &[1, 2]);
            let (own, index) = (branch.param(1)?, branch.param(2)?);
            branch.builder.row(own, index);
            let put = if branch.builder.rng.one_in(4) { None } else { branch.builder.put(own, index) };
            branch.builder.graph.set_outputs(vec![put.unwrap_or(own)]);
            branches.push(branch);
        }
        self.controlled(ControlKind::Cond, &operands, branches, &[(ty, shape)]);
        Some(Value::from_index(self.graph.value_count() - 1))
    }

    /// The arrays of a state whose steps read and store single elements: mostly none.
    fn element_arrays(&mut self, operands: &[Value], state: std::ops::Range<usize>) -> Vec<usize> {
        if !self.limits.dtypes.contains(DType::I64) || !self.rng.one_in(2) {
            return Vec::new();
        }
        let fits = |&n: &usize| {
            let (ty, shape) = (self.graph.ty(operands[n]), self.graph.shape(operands[n]));
            !ty.is_weak() && shape.size().is_ok_and(|size| size > 1)
        };
        state.filter(fits).collect()
    }

    /// A graph of some operands from `first` on, in any order, some repeated, and always of the needed ones.
    fn inner(&mut self, operands: &[Value], first: usize, needed: &[usize]) -> Made<'a> {
        self.inner_of(operands, first, needed, ControlKind::While)
    }

    /// The same for control flow of a kind: a scan's takes slices, and that of a counting loop does not take the second bound.
    fn inner_of(&mut self, operands: &[Value], first: usize, needed: &[usize], kind: ControlKind) -> Made<'a> {
        let mut made = Made { builder: self.child(), operands: Vec::new() };
        made.builder.depth += 1;
        let mut taken: Vec<usize> =
            (first..operands.len()).filter(|n| needed.contains(n) || !self.rng.one_in(5)).collect();
        taken.extend((first..operands.len()).filter(|_| self.rng.one_in(5)));
        for last in (1..taken.len()).rev() {
            taken.swap(last, self.rng.below(last + 1));
        }
        taken.retain(|&n| !matches!(kind, ControlKind::For(counts) if n > 0 && counts.is_index(n - 1)));
        for operand in taken {
            let value = operands[operand];
            let (ty, stored) = (self.graph.ty(value), self.graph.storage_dtype(value, self.policy));
            let shape = self.graph.shape(value);
            let shape = match kind {
                ControlKind::Scan(steps) if steps.slices(operand) => Shape::from(&shape.extents()[1..]),
                _ => shape.clone(),
            };
            let param = made.builder.graph.param_stored(ty, stored, &shape);
            // A scalar is the same inside, and must fit its uses.
            if let Some(&n) = self.integers.get(&value) {
                made.builder.integers.insert(param, n);
            }
            made.operands.push(operand as u32);
        }
        made
    }

    fn controlled(
        &mut self,
        kind: ControlKind,
        operands: &[Value],
        graphs: Vec<Made<'a>>,
        types: &[(ValueType, Shape)],
    ) {
        let graphs = graphs.into_iter();
        let graphs = graphs.map(|Made { builder, operands }| Inner { graph: Arc::new(builder.graph), operands });
        let graphs = graphs.collect();
        let number = self.graph.control(Arc::new(Control { kind, graphs }));
        let types: Vec<_> = types.iter().map(|(ty, shape)| (*ty, self.graph.intern(shape))).collect();
        // Control flow without results is no node.
        if !types.is_empty() {
            self.graph.add(NodeKind::Control(number), operands, &types);
        }
    }

    /// The initial value of a state array, of the same shape as the others if states are `alike`: steps of such loops may be one nest.
    fn begins(&mut self, others: &[Value], alike: bool) -> Option<Value> {
        for _ in 0..6 {
            let value = self.operand()?;
            let fits = others.first().is_none_or(|&first| self.graph.shape_id(first) == self.graph.shape_id(value));
            if fits || !alike {
                return Some(value);
            }
        }
        others.first().copied()
    }

    /// One bool from any value.
    fn truth(&mut self, value: Value) -> Option<Value> {
        let shape = self.graph.shape(value).clone();
        if shape.rank() == 0 {
            return Some(self.cast(value, DType::Bool));
        }
        let reduction = self.rng.pick(&[Reduction::Any, Reduction::All]);
        let axes: Vec<isize> = (0..shape.rank() as isize).collect();
        let axes = AxisSet::new(&axes, shape.rank()).ok()?;
        let policy = self.policy;
        let types = policy.resolve_reduction(reduction, None, self.graph.ty(value)).ok()?;
        let request = TypeRequest { dtype: None, policy };
        let reduce = Reduce { request, ..Reduce::new(reduction, axes, false) };
        let scalar = self.graph.intern(&Shape::scalar());
        Some(self.graph.add(NodeKind::Reduce(reduce), &[value], &[(types.result.into(), scalar)]))
    }

    /// The number of steps of a loop: a literal, or computed, possibly negative.
    fn bound(&mut self, dtype: DType, most: i128) -> Option<Value> {
        let most = self.rng.pick(&[0, 1, 2, most, most, most]);
        let most = self.strong(most, dtype)?;
        let computed = (0..3).find_map(|_| self.operand().filter(|&x| self.graph.shape(x).rank() == 0));
        let Some(computed) = computed.filter(|_| self.rng.one_in(2)) else { return Some(most) };
        let pair = [self.cast(computed, dtype), most];
        let result = self.result_type(Op::Minimum, &pair)?;
        Some(self.add(Op::Minimum, &pair, result))
    }

    fn strong(&mut self, number: i128, dtype: DType) -> Option<Value> {
        let literal = Literal::strong(LiteralValue::Int(number), dtype).ok()?;
        Some(self.graph.literal(Slot::Value(literal), dtype.into()))
    }

    /// The row of an array at an index.
    pub(super) fn row(&mut self, x: Value, index: Value) -> Option<Value> {
        let ty = self.graph.ty(x);
        let shape = view::gathered(self.graph.shape(x), self.graph.shape(index)).ok()?;
        let shape = self.graph.intern(&shape);
        (!ty.is_weak()).then(|| self.graph.add(NodeKind::Gather, &[x, index], &[(ty, shape)]))
    }

    /// An update of a row of an array, as in a scan.
    fn put(&mut self, into: Value, index: Value) -> Option<Value> {
        let ValueType::Strong(dtype) = self.graph.ty(into) else { return None };
        let scatter = self.rng.pick(&Scatter::ALL);
        let space = view::scattered(self.graph.shape(into), self.graph.shape(index)).ok()?;
        let row = scatter.takes(dtype).then(|| self.like(dtype.into(), &space))?;
        let result = (dtype.into(), self.graph.shape_id(into));
        Some(self.graph.add(NodeKind::Scatter(scatter), &[into, index, row], &[result]))
    }

    /// The next value of a state: mostly dependent on the current one.
    fn stepped(&mut self, own: Option<Value>, ty: ValueType, shape: &Shape) -> Value {
        let other = self.like(ty, shape);
        let Some(own) = own.filter(|_| !self.rng.one_in(3)) else { return other };
        let (pair, op) = ([own, other], self.rng.pick(&[Op::Add, Op::Subtract, Op::Maximum, Op::NotEqual]));
        let Some(result) = self.result_type(op, &pair) else { return other };
        let value = self.add(op, &pair, result);
        match ty {
            _ if result == ty => value,
            ValueType::Strong(dtype) => self.cast(value, dtype),
            ValueType::Weak(_) => other,
        }
    }

    /// A value of this type and shape: an existing one, if it can be cast and broadcast to it, or ones.
    fn like(&mut self, ty: ValueType, shape: &Shape) -> Value {
        let found = (0..6).find_map(|_| {
            let value = self.operand()?;
            let fits = self.graph.shape(value).broadcast(shape).as_ref() == Some(shape);
            let same = self.graph.ty(value) == ty || !ty.is_weak();
            (fits && same).then_some(value)
        });
        let value = match (found, ty) {
            (Some(value), ValueType::Strong(dtype)) if self.graph.ty(value) != ty => self.cast(value, dtype),
            (Some(value), _) => value,
            (None, ValueType::Strong(dtype)) => {
                let one = self.graph.literal(Slot::Value(Literal::weak(1)), Weak::Int.into());
                self.cast(one, dtype)
            }
            (None, ValueType::Weak(weak)) => {
                let one = match weak {
                    Weak::Int => LiteralValue::Int(1),
                    Weak::Float => LiteralValue::Float(1.0),
                    Weak::Complex => LiteralValue::Complex(1.0, 0.0),
                };
                self.graph.literal(Slot::Value(Literal::weak(one)), ty)
            }
        };
        match view::broadcast_to(self.graph.shape(value), shape) {
            Ok((view, shape)) => self.graph.view(value, view, &shape),
            Err(_) => value,
        }
    }
}

impl Made<'_> {
    /// The parameter of an operand.
    fn param(&self, operand: usize) -> Option<Value> {
        let at = self.operands.iter().position(|&own| own as usize == operand)?;
        self.builder.graph.params().get(at).copied()
    }

    /// The last parameter of an operand, if there are several.
    fn last_param(&self, operand: usize) -> Option<Value> {
        let at = self.operands.iter().rposition(|&own| own as usize == operand)?;
        self.builder.graph.params().get(at).copied()
    }

    /// The outputs of a body that changes single elements of these arrays, at indices from operand `counter`; `None` without arrays.
    fn element_outputs(
        &mut self,
        arrays: &[usize],
        counter: usize,
        types: &[(ValueType, Shape)],
    ) -> Option<Vec<Value>> {
        let params: Vec<Value> = arrays.iter().map(|&n| self.param(n)).collect::<Option<_>>()?;
        if params.is_empty() {
            return None;
        }
        let counter = self.param(counter)?;
        let counter = self.builder.cast(counter, DType::I64);
        let changed = self.builder.element_steps(&params, counter)?;
        let output = |(n, (ty, shape)): (usize, &(ValueType, Shape))| {
            if let Some(at) = arrays.iter().position(|&array| array == n) {
                return changed[at];
            }
            let own = self.param(n);
            // Only scalars are computed from others.
            match own {
                Some(own) if shape.size() != Ok(1) => own,
                own => self.builder.stepped(own, *ty, shape),
            }
        };
        Some(types.iter().enumerate().map(output).collect())
    }

    /// Some nodes, or only elementwise ones.
    fn nodes(&mut self, most: usize, elementwise: bool) {
        for _ in 0..self.builder.rng.below(most + 1) {
            if elementwise { self.builder.op() } else { self.builder.node(true) }
        }
    }
}
