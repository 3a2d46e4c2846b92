//! The linear maps of nodes: for each operand the maps from its tangent to the result's.

use super::maps::{LinearMap, inside, shifted};
use super::products::others;
use super::slopes::{Path, Paths, slope};
use crate::append::ops::*;
use crate::append::{Appender, SlopeTerm, linear};
use crate::starts::appended_positions;
use ndjit_ir::graph::{Identity, NodeId, NodeKind, Scatter};
use ndjit_ir::infer::Operation;
use ndjit_ir::reduction::{AxisSet, Reduce, Reduction, Scan, Sort};
use ndjit_ir::view::{View, gathered, scattered};
use ndjit_ir::{DType, Op, Policy, Shape};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// A node, for its rule.
struct NodeRule<'a> {
    to: &'a Appender,
    operands: SmallVec<[SlopeTerm<'a>; 4]>,
    result: SlopeTerm<'a>,
    /// The dtype of the result's tangents.
    dtype: DType,
    shape: Shape,
}

/// Returns the maps of operand `n` of a node, except control flow and calls. It is empty if the result does not depend
/// on it continuously, or has no tangents.
pub(super) fn paths(to: &Appender, id: NodeId, n: usize) -> Paths {
    let (kind, operands, value) =
        to.read(|graph| (graph.node(id).kind, graph.operands(id).to_vec(), graph.node(id).first()));
    let result = to.term(value);
    let (Some(dtype), Some(from)) = (linear(result.dtype()), to.space(operands[n])) else { return Paths::new() };
    let rule = NodeRule {
        to,
        operands: operands.iter().map(|&value| to.term(value)).collect(),
        result,
        dtype,
        shape: result.shape(),
    };
    // A real result of complex numbers takes the real part after the products.
    let complex = from.dtype.is_complex() && matches!(kind, NodeKind::Reduce(_));
    let taken = if complex { dtype.complex() } else { dtype };
    let mut cast = Path::new();
    if from.dtype != taken {
        cast.push(LinearMap::Cast(taken));
    }
    let along = match kind {
        NodeKind::Op(op, policy) => return rule.op(id, op, policy, n),
        NodeKind::Cast(_) | NodeKind::Identity(Identity::Variable(_)) => smallvec![Path::new()],
        // A rule is not a map of one operand.
        NodeKind::Identity(Identity::StopGradient | Identity::Ruled(_)) => Paths::new(),
        NodeKind::Reduce(reduce) if n == 0 => rule.reduction(reduce),
        NodeKind::Scan(scan, axis, _) => rule.scan(scan, axis as usize),
        NodeKind::Sort(Sort::Sort, axis, _) => {
            let indices = rule.operands[0].argsort(axis as usize).value;
            one(LinearMap::Along { indices, axis: axis as usize, permutes: true })
        }
        NodeKind::View(view) => {
            let view = to.read(|graph| Arc::clone(&graph.views()[view.index()]));
            one(LinearMap::View(view, rule.shape.clone()))
        }
        NodeKind::Reshape => one(LinearMap::Reshape(rule.shape.clone())),
        NodeKind::Concat(axis, _) => {
            let axis = axis as usize;
            let start = rule.operands[..n].iter().map(|part| part.shape().extents()[axis]).sum();
            one(LinearMap::SourceLoc { axis, start, whole: rule.shape.clone() })
        }
        NodeKind::Gather if n == 0 => one(LinearMap::Rows(rule.operands[1].value)),
        NodeKind::Slice(view) if n == 0 => {
            let view = to.read(|graph| Arc::clone(&graph.views()[view.index()]));
            one(LinearMap::Slice(view, operands[1..].into(), rule.shape.clone()))
        }
        NodeKind::Scatter(how) => rule.scatter(how, n),
        NodeKind::Insert(view) => {
            let view = to.read(|graph| Arc::clone(&graph.views()[view.index()]));
            match (n, &rule.operands[2..]) {
                (0, []) => one(LinearMap::Outside(view, rule.operands[1].shape())),
                (1, []) => one(LinearMap::Inserted(view, rule.shape.clone())),
                (_, starts) => rule.inserted(&view, starts, n),
            }
        }
        NodeKind::Param(..)
        | NodeKind::Literal(_)
        | NodeKind::Iota(_)
        | NodeKind::Reduce(_)
        | NodeKind::Gather
        | NodeKind::Slice(_)
        | NodeKind::Sort(Sort::ArgSort, ..)
        | NodeKind::Control(..)
        | NodeKind::Call(_) => Paths::new(),
    };
    along.into_iter().map(|path| cast.iter().cloned().chain(path).collect()).collect()
}

fn one(map: LinearMap) -> Paths {
    one_path([map])
}

fn one_path(maps: impl IntoIterator<Item = LinearMap>) -> Paths {
    smallvec![maps.into_iter().collect()]
}

impl<'a> NodeRule<'a> {
    /// Returns the maps of an op: the operand's cast, its broadcast, and the [slope].
    fn op(&self, id: NodeId, op: Op, policy: Policy, n: usize) -> Paths {
        let types: SmallVec<[_; 4]> =
            self.to.read(|graph| graph.operands(id).iter().map(|&value| graph.ty(value)).collect());
        let compute = match Operation::op(op, policy).types(&types) {
            Ok(types) => policy.commit(types.compute),
            Err(_) => return Paths::new(),
        };
        let Some(compute) = linear(compute) else { return Paths::new() };
        let joined = op.joined();
        if !joined.contains(&n) {
            return Paths::new();
        }
        let taken = |(at, term): (usize, &SlopeTerm<'a>)| if joined.contains(&at) { term.cast(compute) } else { *term };
        let operands: SmallVec<[SlopeTerm<'a>; 4]> = self.operands.iter().enumerate().map(taken).collect();
        let mut first = Path::new();
        if self.to.space(self.operands[n].value).is_some_and(|space| space.dtype != compute) {
            first.push(LinearMap::Cast(compute));
        }
        if self.operands[n].shape() != self.shape {
            first.push(LinearMap::Broadcast(self.shape.clone()));
        }
        let slopes = slope(op, n, &operands, self.result.cast(self.dtype));
        slopes.into_iter().map(|path| first.iter().cloned().chain(path).collect()).collect()
    }

    /// Returns the first operand in the result's dtype; a complex operand of a real result keeps its dtype.
    fn x(&self) -> SlopeTerm<'a> {
        let x = self.operands[0];
        x.cast(if x.is_complex() { self.dtype.complex() } else { self.dtype })
    }

    fn reduction(&self, reduce: Reduce) -> Paths {
        let sum =
            || LinearMap::Sum(Reduce { contracts: false, ..Reduce::new(Reduction::Sum, reduce.axes, reduce.keepdims) });
        let x = self.x();
        let number = |value: f64| self.to.number(value, self.dtype);
        let kept = reduce.axes.reduced(&x.shape(), true);
        // The result beside each of its elements.
        let r = self.result.cast(self.dtype).reshape(&kept);
        let elements = reduce.axes.count(&x.shape());
        if elements == 0 {
            return Paths::new();
        }
        let count = elements as f64;
        let weighted = |weights: SlopeTerm<'a>| match x.is_complex() && !self.dtype.is_complex() {
            true => smallvec![smallvec![LinearMap::Scale(weights.conj().value), LinearMap::Real, sum()]],
            false => smallvec![smallvec![LinearMap::Scale(weights.value), sum()]],
        };
        match reduce.reduction {
            Reduction::Sum => smallvec![smallvec![LinearMap::Sum(Reduce { request: Default::default(), ..reduce })]],
            Reduction::Mean => smallvec![smallvec![sum(), LinearMap::Quotient(number(count).value)]],
            Reduction::Var | Reduction::Std => {
                let mean = x.reduce(Reduction::Mean, reduce.axes, true);
                let correction = self.operands.get(1).map(|correction| correction.cast(self.dtype.real()));
                let less = correction.map_or_else(|| number(count), |c| self.to.number(count, self.dtype.real()) - c);
                let divisor = SlopeTerm::op(Op::Maximum, &[less, less.number(0.0)]);
                let distance = x - mean;
                let (distance, divisor) = match reduce.reduction {
                    Reduction::Std => (part(distance, r), divisor),
                    _ => (distance, divisor * 0.5),
                };
                let mut paths: Paths = weighted(distance);
                paths[0].push(LinearMap::Quotient(divisor.value));
                paths
            }
            Reduction::Max | Reduction::Min => weighted(shared(x, r, reduce.axes)),
            Reduction::Ptp => {
                let [max, min] = [Reduction::Max, Reduction::Min]
                    .map(|extreme| shared(x, x.reduce(extreme, reduce.axes, true), reduce.axes));
                let mut paths: Paths = weighted(max);
                paths.extend(weighted(-min));
                paths
            }
            Reduction::LogSumExp if x.is_complex() => weighted(exp(x - r)),
            Reduction::LogSumExp => {
                // The terms of the function as commit makes them: `exp(x - r)` includes the rounding error of `r`.
                let largest = x.reduce(Reduction::Max, reduce.axes, true);
                let shift = isfinite(largest).cast(x.dtype()).scaled(largest).constant();
                let term = exp(x - shift);
                let share = term / term.reduce(Reduction::Sum, reduce.axes, true);
                // Infinities have share 1, all others 0; so have the zeros of a sum of zeros. Counting them would take
                // another pass.
                let infinite = equal(x, abs(r)).cast(x.dtype());
                weighted(where_(isinf(r), infinite, share))
            }
            Reduction::Norm => weighted(part(x, r)),
            Reduction::Prod => self.product(reduce, x),
            Reduction::Any | Reduction::All | Reduction::ArgMax | Reduction::ArgMin | Reduction::CountNonzero => {
                Paths::new()
            }
        }
    }

    /// Computes the products of the other elements.
    fn product(&self, reduce: Reduce, x: SlopeTerm<'a>) -> Paths {
        let shape = x.shape();
        let order: Vec<usize> = (0..shape.rank())
            .filter(|&axis| !reduce.axes.contains(axis))
            .chain(reduce.axes.iter().take_while(|&axis| axis < shape.rank()))
            .collect();
        let moved = x.permute(&order);
        let kept = shape.rank() - reduce.axes.iter().take_while(|&axis| axis < shape.rank()).count();
        let mut extents = moved.shape().extents()[..kept].to_vec();
        extents.push(reduce.axes.count(&shape));
        let flat = moved.reshape(&Shape::from(extents));
        let others = others(flat);
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &axis)| back[axis] = at);
        let others = others.reshape(&moved.shape()).permute(&back);
        let sum = Reduce::new(Reduction::Sum, reduce.axes, reduce.keepdims);
        smallvec![smallvec![LinearMap::Scale(others.value), LinearMap::Sum(sum)]]
    }

    fn scan(&self, scan: Scan, axis: usize) -> Paths {
        let (x, r) = (self.x(), self.result.cast(self.dtype));
        match scan {
            Scan::CumulativeSum => one(LinearMap::Cumulative { axis, reverse: false }),
            Scan::CumulativeProd => smallvec![smallvec![
                LinearMap::Scale(shifted(r, axis, false, 1.0).value),
                LinearMap::Recurrence { factors: x.value, axis, reverse: false },
            ]],
            Scan::CumMax | Scan::CumMin => {
                let before = shifted(r, axis, false, 0.0);
                let is_new = match scan {
                    Scan::CumMax => greater(x, before),
                    _ => less(x, before),
                };
                let first_nan = logical_and(isnan(x), logical_not(isnan(before)));
                let index = self.to.iota(axis, &self.shape);
                let from = where_(logical_or(is_new, first_nan), index, index.number(0.0));
                let indices = from.scan(Scan::CumMax, axis).value;
                one(LinearMap::Along { indices, axis, permutes: false })
            }
        }
    }

    /// Returns the maps of an insertion from starts: those of a scatter of single elements.
    fn inserted(&self, view: &View, starts: &[SlopeTerm<'a>], n: usize) -> Paths {
        let (updates, size) = (self.operands[1].shape(), self.shape.size().unwrap_or(0));
        let index = appended_positions(self.to, view, [&self.shape, &updates], starts).value;
        let (flat, whole) = (Shape::from(size), LinearMap::Reshape(self.shape.clone()));
        match n {
            0 => one_path([LinearMap::Reshape(flat), LinearMap::Without(index), whole]),
            1 => one_path([LinearMap::AddRows(index, flat), whole]),
            _ => Paths::new(),
        }
    }

    fn scatter(&self, how: Scatter, n: usize) -> Paths {
        let (x, index) = (self.x(), self.operands[1]);
        let updates = self.operands[2].cast(self.dtype);
        let rows = self.shape.extents().first().copied().unwrap_or(0);
        if rows == 0 {
            return Paths::new();
        }
        let space = scattered(&self.shape, &index.shape()).unwrap_or_else(|_| self.shape.clone());
        let each = LinearMap::Broadcast(space.clone());
        let added = LinearMap::AddRows(index.value, self.shape.clone());
        let taken = |of: SlopeTerm<'a>| match gathered(&self.shape, &index.shape()) {
            Ok(_) => of.gather(clipped(index, rows)),
            Err(_) => of.number(0.0).broadcast(&space),
        };
        let ones = || x.number(1.0).broadcast(&self.shape);
        match (how, n) {
            (Scatter::Add | Scatter::Subtract, 0) => smallvec![Path::new()],
            (Scatter::Add, 2) => smallvec![smallvec![each, added]],
            (Scatter::Subtract, 2) => smallvec![smallvec![each, added, LinearMap::Negate]],
            (Scatter::Set, 0) => one(LinearMap::Without(index.value)),
            (Scatter::Set, 2) => {
                // The update that is left at its place: each update scatters its number.
                let all: usize = space.size().unwrap_or(0);
                let numbers = self.to.iota(0, &Shape::from(all)).reshape(&space);
                let none = index.number(-1.0).broadcast(&self.shape);
                let last = taken(none.scatter(Scatter::Set, index, numbers));
                let condition = equal(last, numbers).value;
                smallvec![smallvec![each, LinearMap::Pick { condition, when: true }, added]]
            }
            (Scatter::Multiply | Scatter::Divide, 0) => {
                one(LinearMap::Scale(ones().scatter(how, index, updates).value))
            }
            (Scatter::Divide, 2) => {
                let slope = -taken(self.result.cast(self.dtype)) / updates;
                smallvec![smallvec![each, LinearMap::Scale(slope.value), added]]
            }
            (Scatter::Multiply, 2) => {
                // The product of the others: of the nonzero ones, unless the element itself is 0.
                let zero = equal(updates, updates.number(0.0));
                let some = where_(zero, updates.number(1.0), updates);
                let product = taken(ones().scatter(Scatter::Multiply, index, some));
                let none = x.number(0.0).broadcast(&self.shape);
                let zeros = taken(none.scatter(Scatter::Add, index, zero.cast(self.dtype)));
                let others = zeros - zero.cast(self.dtype);
                let is_product = equal(others, others.number(0.0));
                let others = where_(is_product, product / some, product.number(0.0));
                let slope = others.scaled(taken(x));
                smallvec![smallvec![each, LinearMap::Scale(slope.value), added]]
            }
            (Scatter::Min | Scatter::Max, _) => {
                let r = self.result.cast(self.dtype);
                let own = equal(x, r).cast(self.dtype);
                let is = equal(taken(r), updates).cast(self.dtype);
                let is = inside(is, index, rows);
                let count = own.scatter(Scatter::Add, index, is);
                match n {
                    0 => one(LinearMap::Scale(part(own, count).value)),
                    _ => smallvec![smallvec![each, LinearMap::Scale(part(is, taken(count)).value), added]],
                }
            }
            _ => Paths::new(),
        }
    }
}

/// Computes `x / r`, or 0 if `r` is 0.
fn part<'a>(x: SlopeTerm<'a>, r: SlopeTerm<'a>) -> SlopeTerm<'a> {
    let zero = equal(r, r.number(0.0));
    where_(zero, x.number(0.0), x / r)
}

/// Computes the share of each element in the extreme value beside it. Elements equal to the extreme share equally.
fn shared<'a>(x: SlopeTerm<'a>, r: SlopeTerm<'a>, axes: AxisSet) -> SlopeTerm<'a> {
    let extreme = equal(x, r);
    let count = extreme.cast(DType::I64).reduce(Reduction::Sum, axes, true).cast(x.dtype());
    where_(extreme, 1.0 / count, x.number(0.0))
}
