//! Random views, reshapes, joins and gathers of a random graph's values.

use crate::graph::Builder;
use ndjit_ir::axes::AxisSet;
use ndjit_ir::dtype::DType;
use ndjit_ir::graph::{NodeKind, Scatter, Slot, Value};
use ndjit_ir::literal::Literal;
use ndjit_ir::op::{Op, TypeRule};
use ndjit_ir::reduction::{AxisFunction, Sort, TypeRequest};
use ndjit_ir::shape::Shape;
use ndjit_ir::support::CastReason;
use ndjit_ir::value_type::ValueType;
use ndjit_ir::view::{self, Slice, View};

impl Builder<'_> {
    /// A view, a reshape or a join of existing values.
    pub(super) fn movement(&mut self) {
        if self.rng.one_in(12) && self.limits.dtypes.contains(DType::I64) {
            return self.positions();
        }
        let Some(operand) = self.operand() else { return };
        if self.rng.one_in(5) && self.limits.dtypes.contains(DType::I64) && self.used_rows(operand).is_some() {
            return;
        }
        if self.rng.one_in(5) {
            let others = 1 + self.rng.below(3);
            return self.concat(operand, others);
        }
        if self.rng.one_in(8) {
            return self.sliced(operand);
        }
        if self.rng.one_in(3) {
            return self.insert(operand);
        }
        if self.rng.one_in(3) && self.limits.dtypes.contains(DType::I64) {
            return self.gather(operand);
        }
        if self.rng.one_in(3) {
            // Elements in another order are copied.
            let operand = if self.rng.one_in(3) { operand } else { self.seen(operand) };
            let shape = self.graph.shape(operand).clone();
            let Some(to) = self.factored(&shape) else { return };
            self.graph.reshape(operand, &to);
            return;
        }
        self.seen(operand);
    }

    /// A view of a value, unless it is too large.
    pub(super) fn seen(&mut self, operand: Value) -> Value {
        let shape = self.graph.shape(operand).clone();
        match self.view_of(&shape) {
            Some((view, to)) if to.size().is_ok_and(|size| size <= self.limits.elements) => {
                self.graph.view(operand, view, &to)
            }
            _ => operand,
        }
    }

    /// Indices along some axes.
    fn positions(&mut self) {
        let shape = self.shape();
        let chosen: Vec<isize> = (0..shape.rank() as isize).filter(|_| self.rng.one_in(2)).collect();
        let Ok(axes) = AxisSet::new(&chosen, shape.rank()) else { return };
        let shape = self.graph.intern(&shape);
        self.graph.add(NodeKind::Iota(axes), &[], &[(DType::I64.into(), shape)]);
    }

    fn view_of(&mut self, shape: &Shape) -> Option<(View, Shape)> {
        let rank = shape.rank();
        let axis = |this: &mut Self| this.rng.below(rank.max(1)) as isize;
        let made = match self.rng.below(9) {
            0 => {
                let mut order: Vec<isize> = (0..rank as isize).collect();
                for last in (1..rank).rev() {
                    order.swap(last, self.rng.below(last + 1));
                }
                view::permute_dims(shape, &order)
            }
            1 => view::flip(shape, &[axis(self)]),
            2 => view::broadcast_to(shape, &self.base),
            3 => view::expand_dims(shape, &[self.rng.below(rank + 1) as isize]),
            4 => view::diagonal(shape, self.rng.below(5) as isize - 2, [axis(self), axis(self)]),
            5 => {
                let axis = axis(self);
                let extent = shape.extents().get(axis as usize).copied().unwrap_or(0);
                view::sliding_window(shape, &[1 + self.rng.below(extent.max(1)) as isize], &[axis])
            }
            6 => {
                let ones: Vec<isize> = (0..rank as isize).filter(|&axis| shape.extents()[axis as usize] == 1).collect();
                view::squeeze(shape, &ones)
            }
            _ => {
                let parts: Vec<Slice> = shape.extents().iter().map(|&extent| self.slice(extent)).collect();
                view::slice(shape, &parts)
            }
        };
        made.ok()
    }

    /// A combination of two places of an array sorted along an axis, as in medians.
    pub(super) fn places(&mut self, operand: Value) {
        let operand = if self.rng.one_in(2) { operand } else { self.seen(operand) };
        let shape = self.graph.shape(operand).clone();
        let several: Vec<usize> = (0..shape.rank()).filter(|&axis| shape.extents()[axis] > 1).collect();
        if several.is_empty() {
            return;
        }
        let axis = self.rng.pick(&several);
        let extent = shape.extents()[axis];
        let (sort, ty) = (AxisFunction::Sort(Sort::Sort), self.graph.ty(operand));
        let Ok(types) = self.policy.resolve_reduction(sort, None, ty) else { return };
        if !self.limits.dtypes.contains(types.result) || self.integers.contains_key(&operand) {
            return;
        }
        let request = TypeRequest { dtype: None, policy: self.policy };
        let (kind, own) = (NodeKind::Sort(Sort::Sort, axis as u32, request), self.graph.intern(&shape));
        let sorted = self.graph.add(kind, &[operand], &[(types.result.into(), own)]);
        let places: Vec<Value> = (0..2)
            .filter_map(|_| {
                let at = self.rng.below(extent) as isize;
                let mut parts = vec![Slice::ALL; shape.rank()];
                parts[axis] = Slice::Range { start: Some(at), end: Some(at + 1), step: 1 };
                let (view, shape) = view::slice(&shape, &parts).ok()?;
                Some(self.graph.view(sorted, view, &shape))
            })
            .collect();
        let op = self.rng.pick(&[Op::Add, Op::Subtract, Op::Maximum, Op::Less]);
        if let Some(result) = self.result_type(op, &places) {
            self.add(op, &places, result);
        }
    }

    fn slice(&mut self, extent: usize) -> Slice {
        match self.rng.below(6) {
            0 if extent > 0 => Slice::Index(self.rng.below(extent) as isize),
            1 | 2 => {
                let (a, b) = (self.rng.below(extent + 1) as isize, self.rng.below(extent + 1) as isize);
                let step = self.rng.pick(&[1, 1, 2, 3, -1, -2]);
                Slice::Range { start: Some(a.min(b)), end: Some(a.max(b)), step }
            }
            3 => Slice::Range { start: None, end: None, step: self.rng.pick(&[2, -1, -3]) },
            _ => Slice::ALL,
        }
    }

    /// Another shape of as many elements: adjacent axes are joined, an axis is split.
    fn factored(&mut self, shape: &Shape) -> Option<Shape> {
        let mut extents = shape.extents().to_vec();
        if extents.len() > 1 && !self.rng.one_in(4) {
            let at = self.rng.below(extents.len() - 1);
            let joined = extents.remove(at);
            extents[at] *= joined;
        }
        if !extents.is_empty() && self.rng.one_in(2) {
            let at = self.rng.below(extents.len());
            let factor = self.rng.pick(&[1, 2, 3, 4]);
            if extents[at].is_multiple_of(factor) {
                extents[at] /= factor;
                extents.insert(at + self.rng.below(2), factor);
            }
        }
        (extents.len() < 8).then(|| Shape::from(extents))
    }

    /// An elementwise function of a value.
    fn computed(&mut self, x: Value) -> Value {
        let op = self.rng.pick(&[Op::Negative, Op::Abs, Op::Exp, Op::Square]);
        match self.result_type(op, &[x]) {
            Some(result) => self.add(op, &[x], result),
            None => x,
        }
    }

    /// Up to two elements of a value.
    fn few(&mut self, x: Value) -> Value {
        let shape = self.graph.shape(x).clone();
        let first = |(axis, &extent): (usize, &usize)| match (axis, extent) {
            (0, _) => Slice::Range { start: None, end: Some(2), step: 1 },
            (_, 0) => Slice::ALL,
            _ => Slice::Index(0),
        };
        let parts: Vec<Slice> = shape.extents().iter().enumerate().map(first).collect();
        match view::slice(&shape, &parts) {
            Ok((view, to)) => self.graph.view(x, view, &to),
            Err(_) => x,
        }
    }

    /// Rows of a value, at computed indices: many of them out of bounds.
    pub(super) fn gather(&mut self, x: Value) {
        let x = if self.rng.one_in(3) { self.seen(x) } else { x };
        let Some(index) = self.operand() else { return };
        // Few rows if computed from rows.
        let (x, index) = if self.rng.one_in(2) { (self.computed(x), self.few(index)) } else { (x, index) };
        let rows = self.graph.shape(x).clone();
        let Ok(shape) = view::gathered(&rows, self.graph.shape(index)) else { return };
        if shape.size().map_or(true, |size| size > self.limits.elements) {
            return;
        }
        let (of, ty) = (self.graph.shape_id(index), self.graph.ty(x));
        if let ValueType::Weak(_) = ty {
            return;
        }
        let index = self.graph.add(NodeKind::Cast(CastReason::Explicit), &[index], &[(DType::I64.into(), of)]);
        if self.rng.one_in(2) {
            return self.scatter(x, index, &shape);
        }
        let shape = self.graph.intern(&shape);
        self.graph.add(NodeKind::Gather, &[x, index], &[(ty, shape)]);
    }

    /// A scatter of elements into rows of another value.
    fn scatter(&mut self, x: Value, index: Value, space: &Shape) {
        let ValueType::Strong(dtype) = self.graph.ty(x) else { return };
        let scatter = self.rng.pick(&Scatter::ALL);
        let Some(updates) = self.operand() else { return };
        let shape = self.graph.shape(updates).clone();
        if !scatter.takes(dtype) || shape.broadcast(space).as_ref() != Some(space) {
            return;
        }
        let of = self.graph.intern(&shape);
        let updates = self.graph.add(NodeKind::Cast(CastReason::Explicit), &[updates], &[(dtype.into(), of)]);
        let result = (dtype.into(), self.graph.shape_id(x));
        self.graph.add(NodeKind::Scatter(scatter), &[x, index, updates], &[result]);
    }

    /// A value with some elements replaced: often by its own, from elsewhere.
    pub(super) fn insert(&mut self, x: Value) {
        // A scalar has one part.
        let others = [self.operand(), self.operand()].into_iter().flatten();
        let x = [x].into_iter().chain(others).find(|&x| self.graph.shape(x).rank() > 0).unwrap_or(x);
        let ValueType::Strong(dtype) = self.graph.ty(x) else { return };
        let shape = self.graph.shape(x).clone();
        let parts: Vec<Slice> = shape.extents().iter().map(|&extent| self.slice(extent)).collect();
        let Ok((view, taken)) = view::slice(&shape, &parts) else { return };
        let turned = view::flip(&taken, &[0]).ok().filter(|_| self.rng.one_in(4));
        let (view, taken) = turned.map_or((view.clone(), taken), |(turn, to)| (turn.of(&view).canonical(&to), to));
        let updates = match self.rng.one_in(2) {
            true => {
                let mut from = view.clone();
                for (index, &extent) in from.axes.iter_mut().zip(shape.extents()) {
                    index.start = index.start.saturating_add_unsigned(self.rng.below(3)).saturating_sub(1);
                    index.start = index.start.min(extent as isize - 1).max(0);
                }
                if from.check(&shape, &taken).is_err() {
                    return;
                }
                let own = self.graph.view(x, from, &taken);
                let squared = self.rng.one_in(2).then(|| self.result_type(Op::Multiply, &[own, own])).flatten();
                match squared.filter(|&result| result == dtype.into()) {
                    Some(result) => self.add(Op::Multiply, &[own, own], result),
                    None => own,
                }
            }
            false => {
                let Some(updates) = self.operand() else { return };
                let Ok((wide, _)) = view::broadcast_to(self.graph.shape(updates), &taken) else { return };
                let updates = self.graph.view(updates, wide, &taken);
                let taken = self.graph.intern(&taken);
                self.graph.add(NodeKind::Cast(CastReason::Explicit), &[updates], &[(dtype.into(), taken)])
            }
        };
        let result = (dtype.into(), self.graph.shape_id(x));
        let (view, starts) = if self.rng.one_in(4) { (view, Vec::new()) } else { self.started(view, &shape, &taken) };
        let view = self.graph.intern_view(view);
        let operands: Vec<Value> = [x, updates].into_iter().chain(starts).collect();
        self.graph.add(NodeKind::Insert(view), &operands, &[result]);
    }

    /// A slice of a value from a start.
    pub(super) fn sliced(&mut self, x: Value) {
        let shape = self.graph.shape(x).clone();
        let parts: Vec<Slice> = shape.extents().iter().map(|&extent| self.slice(extent)).collect();
        let Ok((view, taken)) = view::slice(&shape, &parts) else { return };
        let (view, starts) = self.started(view, &shape, &taken);
        if starts.is_empty() {
            return;
        }
        let ValueType::Strong(dtype) = self.graph.ty(x) else { return };
        let result = (dtype.into(), self.graph.intern(&taken));
        let view = self.graph.intern_view(view);
        let operands: Vec<Value> = [x].into_iter().chain(starts).collect();
        self.graph.add(NodeKind::Slice(view), &operands, &[result]);
    }

    /// A view with starts along some axes of the operand, and these: some of them out of bounds.
    fn started(&mut self, view: View, operand: &Shape, taken: &Shape) -> (View, Vec<Value>) {
        let (mut along, mut starts) = (Vec::new(), Vec::new());
        for (axis, &extent) in operand.extents().iter().enumerate() {
            if extent > 0
                && !self.rng.one_in(3)
                && let Some(start) = self.start(extent)
            {
                along.push((axis, self.rng.pick(&[1, 1, 2])));
                starts.push(start);
            }
        }
        let from = view.with_starts(&along);
        match from.starts(operand, taken, starts.len()) {
            Some(_) => (from, starts),
            None => (view, Vec::new()),
        }
    }

    /// An integer: a literal, or an element of another value.
    fn start(&mut self, extent: usize) -> Option<Value> {
        if self.rng.one_in(3) {
            let n = self.rng.below(extent + 2) as i64 - 1;
            return Some(self.graph.literal(Slot::Value(Literal::strong(n, DType::I64).ok()?), DType::I64.into()));
        }
        let from = self.operand()?;
        let shape = self.graph.shape(from).clone();
        if shape.extents().contains(&0) {
            return None;
        }
        let (view, one) = view::slice(&shape, &vec![Slice::Index(0); shape.rank()]).ok()?;
        let element = self.graph.view(from, view, &one);
        let of = self.graph.intern(&one);
        Some(self.graph.add(NodeKind::Cast(CastReason::Explicit), &[element], &[(DType::I64.into(), of)]))
    }

    /// A value joined with others that differ from it along one axis at most.
    pub(super) fn concat(&mut self, first: Value, others: usize) {
        let shape = self.graph.shape(first).clone();
        if shape.rank() == 0 {
            return;
        }
        let axis = self.rng.below(shape.rank());
        let mut operands = vec![first];
        for _ in 0..others {
            let Some(other) = self.operand() else { return };
            let shapes = [&shape, self.graph.shape(other)];
            if view::concat_shape(&shapes, axis).is_ok() {
                operands.push(other);
            } else if self.rng.one_in(2) {
                operands.push(first);
            }
        }
        let shapes: Vec<&Shape> = operands.iter().map(|&o| self.graph.shape(o)).collect();
        let Ok(joined) = view::concat_shape(&shapes, axis) else { return };
        if joined.size().map_or(true, |size| size > self.limits.elements) {
            return;
        }
        let types: Vec<ValueType> = operands.iter().map(|&o| self.graph.ty(o)).collect();
        let Ok(types) = self.policy.resolve(TypeRule::Join, &types) else { return };
        let dtype = self.policy.commit(types.compute);
        if !self.allows(dtype) || !operands.iter().all(|operand| self.fits(*operand, dtype)) {
            return;
        }
        let shape = self.graph.intern(&joined);
        self.graph.add(NodeKind::Concat(axis as u32, self.policy), &operands, &[(types.compute, shape)]);
    }
}
