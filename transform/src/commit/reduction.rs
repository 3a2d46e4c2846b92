//! Reductions of a traced graph as elementary ones: means, variances and indices of extremes become ops and elementary
//! reductions. Sums and products of halves, also in scans, are accumulated in `f32` and rounded once.

mod variance;

use super::Commit;
use crate::conversions::Reason;
use ndjit_ir::graph::{NodeId, NodeKind, Rewriter, Slot, Type, Value};
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::promotion::{ReductionTypes, Types};
use ndjit_ir::reduction::{AxisSet, Reduce, Reduction, Scan, Sort, TypeRequest};
use ndjit_ir::view::squeeze;
use ndjit_ir::{DType, Op, Result, Shape};

/// A reduction being built.
struct Building<'a, 'g> {
    commit: &'a mut Commit<'g>,
    /// The node of the traced graph, and its reduction.
    id: NodeId,
    reduction: Reduction,
    axes: AxisSet,
    keepdims: bool,
    contracts: bool,
}

impl Commit<'_> {
    /// Commits a reduction of the traced graph.
    pub(super) fn reduce(&mut self, id: NodeId, reduce: Reduce) -> Result<Value> {
        let operands = self.graph.operands(id).to_vec();
        let types = self.reduction_types(id, &NodeKind::Reduce(reduce).into())?;
        let reason = Reason::Operand(id, 0);
        let x = match reduce.request.dtype {
            // A mean of integers is computed in a float, but of operands in the requested dtype.
            Some(_) if matches!(reduce.reduction, Reduction::Mean | Reduction::LogSumExp) => {
                self.cast(operands[0], types.result, reason)?
            }
            Some(_) => self.cast(operands[0], types.compute, reason)?,
            None => self.coerce(operands[0], types.compute, reason)?,
        };
        let correction = match operands.get(1) {
            Some(&correction) => {
                let real = accumulated(types.compute).real();
                Some(self.cast(correction, real, Reason::Operand(id, 1))?)
            }
            None => None,
        };
        let Reduce { axes, keepdims, contracts, .. } = reduce;
        let mut building = Building { commit: self, id, reduction: reduce.reduction, axes, keepdims, contracts };
        let value = match reduce.reduction {
            Reduction::Mean => {
                let x = building.cast(x, types.compute);
                building.mean(x)
            }
            Reduction::Var => building.variance(x, correction)?,
            Reduction::Std => {
                let variance = building.variance(x, correction)?;
                building.op(Op::Sqrt, &[variance])
            }
            Reduction::Ptp => {
                let [max, min] = [Reduction::Max, Reduction::Min].map(|r| building.elementary(r, x, keepdims));
                let op = if building.ty(x) == DType::Bool { Op::LogicalXor } else { Op::Subtract };
                building.op(op, &[max, min])
            }
            Reduction::LogSumExp => {
                let x = building.cast(x, types.compute);
                building.logsumexp(x)
            }
            Reduction::Norm => building.norm(x),
            Reduction::ArgMax => building.position(Reduction::Max, x)?,
            Reduction::ArgMin => building.position(Reduction::Min, x)?,
            Reduction::CountNonzero => {
                let numbers = building.cast(x, types.result);
                building.fold(Reduction::Sum, numbers)
            }
            elementary @ (Reduction::Sum
            | Reduction::Prod
            | Reduction::Max
            | Reduction::Min
            | Reduction::Any
            | Reduction::All) => building.fold(elementary, x),
        };
        Ok(building.cast(value, types.result))
    }
}

impl Commit<'_> {
    /// Returns the dtypes of a reduction or a scan, never weak.
    fn reduction_types(&self, id: NodeId, operation: &Operation<'_>) -> Result<ReductionTypes> {
        let Types { compute, result } = self.types(id, operation)?;
        Ok(ReductionTypes { compute: compute.storage_dtype(), result: result.storage_dtype() })
    }

    /// Casts the operand of a scan or a sort to its computing dtype, and returns it with its types.
    fn operand(
        &mut self,
        id: NodeId,
        operation: &Operation<'_>,
        dtype: Option<DType>,
    ) -> Result<(Value, ReductionTypes)> {
        let (operand, reason) = (self.graph.operands(id)[0], Reason::Operand(id, 0));
        let types = self.reduction_types(id, operation)?;
        let x = match dtype {
            Some(_) => self.cast(operand, types.compute, reason)?,
            None => self.coerce(operand, types.compute, reason)?,
        };
        Ok((x, types))
    }

    /// Casts a value as part of a traced node.
    fn cast_part(&mut self, id: NodeId, value: Value, dtype: DType) -> Value {
        self.convert(value, dtype, Reason::Part(id))
    }

    /// Commits a scan of the traced graph.
    pub(super) fn scan(&mut self, id: NodeId, scan: Scan, axis: u32, request: TypeRequest) -> Result<Value> {
        let (x, types) = self.operand(id, &NodeKind::Scan(scan, axis, request).into(), request.dtype)?;
        let wide = if scan.accumulates(types.compute) { types.compute } else { accumulated(types.compute) };
        let x = self.cast_part(id, x, wide);
        let result = (wide, self.rewriter.new.shape_id(x));
        let scanned = self.rewriter.new.add(NodeKind::Scan(scan, axis, ()), &[x], &[result]);
        Ok(self.cast_part(id, scanned, types.result))
    }

    /// Commits a sort of the traced graph.
    pub(super) fn sort(&mut self, id: NodeId, sort: Sort, axis: u32, request: TypeRequest) -> Result<Value> {
        let (x, types) = self.operand(id, &NodeKind::Sort(sort, axis, request).into(), request.dtype)?;
        let dtype = match sort {
            // Indices are computed in the requested dtype, or in the narrower of two that suffice.
            Sort::ArgSort => {
                let narrow = i32::try_from(self.rewriter.new.shape(x).extents()[axis as usize]).is_ok();
                if narrow && types.result != DType::I64 { DType::I32 } else { DType::I64 }
            }
            Sort::Sort => self.rewriter.new.ty(x),
        };
        let result = (dtype, self.rewriter.new.shape_id(x));
        let sorted = self.rewriter.new.add(NodeKind::Sort(sort, axis, ()), &[x], &[result]);
        Ok(self.cast_part(id, sorted, types.result))
    }
}

/// Returns the dtype in which values are summed.
fn accumulated(dtype: DType) -> DType {
    if dtype.is_half() { DType::F32 } else { dtype }
}

impl Building<'_, '_> {
    fn ty(&self, value: Value) -> DType {
        self.commit.rewriter.new.ty(value)
    }

    fn cast(&mut self, value: Value, dtype: DType) -> Value {
        self.commit.cast_part(self.id, value, dtype)
    }

    /// Records a value as part of the reduction.
    fn part(&mut self, value: Value) -> Value {
        self.commit.reasons.push((self.commit.rewriter.new.producer(value), Reason::Part(self.id)));
        value
    }

    /// Adds an op on operands of its computing dtype.
    fn op(&mut self, op: Op, operands: &[Value]) -> Value {
        let out = &mut self.commit.rewriter.new;
        let compute = out.ty(operands[op.joined().start]);
        let shape = operands.iter().fold(Shape::scalar(), |shape, &operand| {
            // Operands have the array's shape, that of a reduction of it with its axes kept, or none.
            shape.broadcast(out.shape(operand)).unwrap_or(shape)
        });
        let shape = out.intern(&shape);
        let value = out.add(NodeKind::Op(op, ()), operands, &[(op.result_dtype(compute), shape)]);
        self.part(value)
    }

    /// Adds a literal integer that depends only on the shape, rounded to the dtype. Equal integers share a slot, and so
    /// their uses are shared.
    fn number(&mut self, number: usize, dtype: DType) -> Value {
        let Commit { rewriter: Rewriter { new: out, .. }, numbers, .. } = &mut *self.commit;
        let make = || out.slot(Slot::Value(Literal::weak(number as u64)));
        let slot = *numbers.entry((number, dtype)).or_insert_with(make);
        let value = out.slot_value(slot, dtype);
        self.part(value)
    }

    /// Returns the number of elements reduced to one.
    fn count(&self, x: Value) -> usize {
        self.axes.count(self.commit.rewriter.new.shape(x))
    }

    /// Adds an elementary reduction, in the dtype of its operand, or in `f32` for sums of halves.
    fn fold(&mut self, reduction: Reduction, x: Value) -> Value {
        let dtype = self.ty(x);
        let wide = if reduction.accumulates(dtype) { x } else { self.cast(x, accumulated(dtype)) };
        let reduced = self.elementary(reduction, wide, self.keepdims);
        self.cast(reduced, dtype)
    }

    fn elementary(&mut self, reduction: Reduction, x: Value, keepdims: bool) -> Value {
        let out = &mut self.commit.rewriter.new;
        let dtype = out.ty(x);
        let shape = out.intern(&self.axes.reduced(out.shape(x), keepdims));
        let reduce = Reduce { contracts: self.contracts, ..Reduce::new(reduction, self.axes, keepdims) };
        let kind = NodeKind::Reduce(reduce);
        let value = out.add(kind, &[x], &[(dtype, shape)]);
        // A sum as part of a sum needs no note.
        if reduction == self.reduction { value } else { self.part(value) }
    }

    /// Computes the mean in the dtype in which `x` is summed.
    fn mean(&mut self, x: Value) -> Value {
        let wide = self.cast(x, accumulated(self.ty(x)));
        self.mean_of(wide, self.keepdims)
    }

    fn mean_of(&mut self, wide: Value, keepdims: bool) -> Value {
        let count = self.number(self.count(wide), self.ty(wide));
        let sum = self.elementary(Reduction::Sum, wide, keepdims);
        self.op(Op::Divide, &[sum, count])
    }

    /// Computes the logarithm of the sum of exponentials. The largest element, or 0 if there are none, is subtracted
    /// first and added last.
    fn logsumexp(&mut self, x: Value) -> Value {
        let wide = self.cast(x, accumulated(self.ty(x)));
        let real = if self.ty(wide).is_complex() { self.op(Op::Real, &[wide]) } else { wide };
        let largest = self.largest(real, Op::IsFinite);
        let shift = self.cast(largest, self.ty(wide));
        let distance = self.op(Op::Subtract, &[wide, shift]);
        let exp = self.op(Op::Exp, &[distance]);
        let sum = self.elementary(Reduction::Sum, exp, true);
        let log = self.op(Op::Log, &[sum]);
        let total = self.op(Op::Add, &[log, shift]);
        self.reduced(total)
    }

    /// Computes the norm. Elements are scaled by a power of two near the largest modulus, which is exact, and the root
    /// is scaled back.
    fn norm(&mut self, x: Value) -> Value {
        let wide = self.cast(x, accumulated(self.ty(x)));
        let parts = self.parts(wide);
        let moduli: Vec<Value> = parts.iter().map(|&part| self.op(Op::Abs, &[part])).collect();
        let most = moduli.iter().copied().reduce(|a, b| self.op(Op::Maximum, &[a, b])).unwrap_or(wide);
        let largest = self.largest(most, Op::IsFinite);
        let exponent = self.op(Op::FrexpExponent, &[largest]);
        // `ldexp` takes a number of its own dtype.
        let exponent = self.cast(exponent, self.ty(most));
        let back = self.op(Op::Negative, &[exponent]);
        let squares: Vec<Value> = parts
            .iter()
            .map(|&part| {
                let scaled = self.op(Op::Ldexp, &[part, back]);
                self.op(Op::Square, &[scaled])
            })
            .collect();
        let square = self.total(&squares);
        let sum = self.elementary(Reduction::Sum, square, true);
        let root = self.op(Op::Sqrt, &[sum]);
        let norm = self.op(Op::Ldexp, &[root, exponent]);
        self.reduced(norm)
    }

    /// Returns the real and the imaginary part; of a real value itself.
    fn parts(&mut self, value: Value) -> Vec<Value> {
        if !self.ty(value).is_complex() {
            return vec![value];
        }
        [Op::Real, Op::Imag].map(|part| self.op(part, &[value])).to_vec()
    }

    /// Adds one value or more, from the left.
    fn total(&mut self, values: &[Value]) -> Value {
        values[1..].iter().fold(values[0], |sum, &value| self.op(Op::Add, &[sum, value]))
    }

    /// Computes the largest element, with the axes kept; 0 if there are no elements or if `fit` is false for it.
    fn largest(&mut self, x: Value, fit: Op) -> Value {
        if self.count(x) == 0 {
            return self.number(0, self.ty(x));
        }
        let largest = self.elementary(Reduction::Max, x, true);
        let fits = self.op(fit, &[largest]);
        let fits = self.cast(fits, self.ty(x));
        self.op(Op::MultiplyNoNan, &[fits, largest])
    }

    /// Returns a value with the reduced axes kept, in the form of the result.
    fn reduced(&mut self, value: Value) -> Value {
        let out = &mut self.commit.rewriter.new;
        if self.keepdims {
            return value;
        }
        let axes: Vec<isize> = self.axes.iter().map(|axis| axis as isize).collect();
        match squeeze(out.shape(value), &axes) {
            Ok((view, shape)) => {
                let view = out.view(value, view, &shape);
                self.part(view)
            }
            // Every reduced axis has extent 1.
            Err(_) => value,
        }
    }

    /// Computes the first index of the extreme element: the least index of the elements that equal it, or are NaN.
    fn position(&mut self, extreme: Reduction, x: Value) -> Result<Value> {
        let dtype = self.ty(x);
        let found = self.elementary(extreme, x, true);
        let mut is_it = self.op(Op::Equal, &[x, found]);
        if dtype.is_float() || dtype.is_complex() {
            let nan = self.op(Op::IsNan, &[x]);
            is_it = self.op(Op::LogicalOr, &[is_it, nan]);
        }
        let shape = self.commit.rewriter.new.shape_id(x);
        let indices = self.commit.rewriter.new.add(NodeKind::Iota(self.axes), &[], &[(DType::I64, shape)]);
        let indices = self.part(indices);
        // Narrow indices have half as many bytes: a register then holds as many indices as elements of most dtypes.
        let narrow = i32::try_from(self.count(x)).is_ok();
        let indices = if narrow { self.cast(indices, DType::I32) } else { indices };
        let beyond = self.number(self.count(x), self.ty(indices));
        let candidates = self.op(Op::Where, &[is_it, indices, beyond]);
        Ok(self.elementary(Reduction::Min, candidates, self.keepdims))
    }
}
