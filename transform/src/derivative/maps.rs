//! Linear maps of tangents, and their adjoints: a closed set. Forward mode applies maps, reverse mode their adjoints,
//! under the inner product `sum of real(conj(a) b)`.

use super::tangent::Tangent;
use crate::append::ops::clipped;
use crate::append::{Appender, SlopeTerm, TangentSpace};
use ndjit_ir::graph::{NodeKind, Scatter, Value};
use ndjit_ir::reduction::{AxisSet, Reduce, Reduction, Scan};
use ndjit_ir::view::{View, ViewStart, gathered};
use ndjit_ir::{DType, Op, Shape};
use smallvec::SmallVec;
use std::sync::Arc;

/// A linear map. Values in it are constants.
#[derive(Clone, Debug)]
pub(crate) enum LinearMap {
    /// The negative.
    Negate,
    /// The product with a value; zero wins over infinities and NaN.
    Scale(Value),
    /// The quotient by a nonzero number.
    Quotient(Value),
    /// The elements where a condition has a value; zeros elsewhere.
    Pick {
        /// The condition.
        condition: Value,
        /// The value of the condition.
        when: bool,
    },
    /// A cast, also from real to complex.
    Cast(DType),
    /// The conjugate.
    Conj,
    /// The real part.
    Real,
    /// The imaginary part.
    Imag,
    /// Broadcast to a shape.
    Broadcast(Shape),
    /// The sum along axes.
    Sum(Reduce),
    /// A view of a shape.
    View(Arc<View>, Shape),
    /// The elements in another shape.
    Reshape(Shape),
    /// The elements in an array of this shape, from an index along an axis on; zeros elsewhere.
    SourceLoc {
        /// The axis.
        axis: usize,
        /// The start index.
        start: usize,
        /// The shape of the whole array.
        whole: Shape,
    },
    /// The cumulative sums along an axis, forwards or in reverse.
    Cumulative {
        /// The axis.
        axis: usize,
        /// True for the reverse order.
        reverse: bool,
    },
    /// `h[i] = a[i] h[i - 1] + t[i]` along an axis, or in reverse `h[i] = a[i] h[i + 1] + t[i]`.
    Recurrence {
        /// The factors.
        factors: Value,
        /// The axis.
        axis: usize,
        /// True for the reverse order.
        reverse: bool,
    },
    /// Rows at clamped indices.
    Rows(Value),
    /// The elements that a view selects from clamped starts, in this shape.
    Slice(Arc<View>, SmallVec<[Value; 2]>, Shape),
    /// At each index along an axis the element at an index.
    Along {
        /// The indices.
        indices: Value,
        /// The axis.
        axis: usize,
        /// True if the indices are a permutation.
        permutes: bool,
    },
    /// Zeros at the rows of these indices.
    Without(Value),
    /// Sums at the rows of these indices, of an array of this shape; out-of-bounds rows are dropped.
    AddRows(Value, Shape),
    /// The elements at the selected ones of a view; zeros elsewhere.
    Inserted(Arc<View>, Shape),
    /// Zeros at the elements that a view selects.
    Outside(Arc<View>, Shape),
}

impl LinearMap {
    /// Returns the space of the map's results.
    pub fn target(&self, to: &Appender, from: &TangentSpace) -> TangentSpace {
        let shaped = |shape: &Shape| TangentSpace { shape: shape.clone(), ..from.clone() };
        match self {
            LinearMap::Negate
            | LinearMap::Scale(_)
            | LinearMap::Quotient(_)
            | LinearMap::Pick { .. }
            | LinearMap::Conj
            | LinearMap::Cumulative { .. }
            | LinearMap::Recurrence { .. }
            | LinearMap::Without(_)
            | LinearMap::Outside(..) => from.clone(),
            LinearMap::Cast(dtype) => TangentSpace { dtype: *dtype, shape: from.shape.clone() },
            LinearMap::Real | LinearMap::Imag => TangentSpace { dtype: from.dtype.real(), shape: from.shape.clone() },
            LinearMap::Sum(reduce) => shaped(&reduce.axes.reduced(&from.shape, reduce.keepdims)),
            LinearMap::Broadcast(shape)
            | LinearMap::View(_, shape)
            | LinearMap::Reshape(shape)
            | LinearMap::SourceLoc { whole: shape, .. }
            | LinearMap::AddRows(_, shape)
            | LinearMap::Slice(_, _, shape)
            | LinearMap::Inserted(_, shape) => shaped(shape),
            LinearMap::Rows(index) => {
                let shape = gathered(&from.shape, &to.shape(*index));
                shaped(&shape.unwrap_or_else(|_| from.shape.clone()))
            }
            LinearMap::Along { indices, .. } => shaped(&to.shape(*indices)),
        }
    }

    /// Applies the map to a tangent.
    pub fn apply(&self, to: &Appender, t: Tangent, from: &TangentSpace) -> Tangent {
        match self {
            LinearMap::Negate => return t.negated(),
            LinearMap::Scale(by) => return scaled(to, t, from, to.term(*by)),
            LinearMap::Broadcast(_) if matches!(t, Tangent::Unit { .. }) => return t,
            LinearMap::Reshape(_) | LinearMap::View(..) if matches!(t, Tangent::Unit { .. }) => return t,
            LinearMap::Cast(_) | LinearMap::Conj | LinearMap::Real if matches!(t, Tangent::Unit { .. }) => return t,
            _ => {}
        }
        let full = |t: SlopeTerm<'_>| if t.shape() == from.shape { t.value } else { t.broadcast(&from.shape).value };
        t.map(to, from, |term| {
            let whole = || to.term(full(term));
            match self {
                LinearMap::Negate | LinearMap::Scale(_) => term,
                LinearMap::Quotient(by) => term / to.term(*by),
                LinearMap::Pick { condition, when } => pick(to.term(*condition), *when, term),
                LinearMap::Cast(dtype) => term.cast(*dtype),
                LinearMap::Conj => term.conj(),
                LinearMap::Real => SlopeTerm::op(Op::Real, &[term]),
                LinearMap::Imag => SlopeTerm::op(Op::Imag, &[term]),
                LinearMap::Broadcast(shape) => term.broadcast(shape),
                LinearMap::Sum(reduce) => whole().summed(*reduce),
                LinearMap::View(view, shape) => whole().view(((**view).clone(), shape.clone())),
                LinearMap::Reshape(shape) => whole().reshape(shape),
                LinearMap::SourceLoc { axis, start, whole: shape } => {
                    let after = shape.extents()[*axis] - start - from.shape.extents()[*axis];
                    super::views::between_zeros(whole(), *axis, *start, after)
                }
                LinearMap::Cumulative { axis, reverse } => cumulative(whole(), *axis, *reverse),
                LinearMap::Recurrence { factors, axis, reverse } => {
                    super::recurrence::recurrence(to.term(*factors), whole(), *axis, *reverse)
                }
                LinearMap::Rows(index) => whole().gather(to.term(*index)),
                LinearMap::Slice(view, starts, shape) => whole().sliced(((**view).clone(), shape.clone()), starts),
                LinearMap::Along { indices, axis, .. } => along(whole(), to.term(*indices), *axis),
                LinearMap::Without(index) => whole().scatter(Scatter::Set, to.term(*index), term.number(0.0)),
                LinearMap::AddRows(index, shape) => {
                    let zeros = to.full(0.0, &TangentSpace { shape: shape.clone(), dtype: from.dtype });
                    zeros.scatter(Scatter::Add, to.term(*index), whole())
                }
                LinearMap::Inserted(view, shape) => {
                    let zeros = to.full(0.0, &TangentSpace { shape: shape.clone(), dtype: from.dtype });
                    zeros.insert((**view).clone(), whole(), &[])
                }
                LinearMap::Outside(view, shape) => {
                    let zeros = to.full(0.0, &TangentSpace { shape: shape.clone(), dtype: from.dtype });
                    whole().insert((**view).clone(), zeros, &[])
                }
            }
        })
    }

    /// Applies the adjoint to a cotangent of the target, which gives one of `from`.
    pub fn adjoint(&self, to: &Appender, g: Tangent, from: &TangentSpace) -> Tangent {
        let target = self.target(to, from);
        match self {
            LinearMap::Negate => return g.negated(),
            LinearMap::Scale(by) => return scaled(to, g, &target, to.term(*by).conj()),
            LinearMap::Reshape(_) | LinearMap::Sum(_) if matches!(g, Tangent::Unit { .. }) => return g,
            LinearMap::Cast(dtype) if matches!(g, Tangent::Unit { .. }) && !dtype.is_complex() => return g,
            LinearMap::Conj | LinearMap::Real if matches!(g, Tangent::Unit { .. }) => return g,
            _ => {}
        }
        g.map(to, &target, |term| {
            let whole = || if term.shape() == target.shape { term } else { term.broadcast(&target.shape) };
            match self {
                LinearMap::Negate | LinearMap::Scale(_) => term,
                LinearMap::Quotient(by) => term / to.term(*by).conj(),
                LinearMap::Pick { condition, when } => pick(to.term(*condition), *when, term),
                LinearMap::Cast(_) => term.cast(from.dtype),
                LinearMap::Conj => term.conj(),
                LinearMap::Real => term.cast(from.dtype),
                LinearMap::Imag => SlopeTerm::op(Op::Complex, &[term.number(0.0), term]),
                LinearMap::Broadcast(_) => summed_to(whole(), &from.shape, false),
                LinearMap::Sum(reduce) => {
                    let kept = reduce.axes.reduced(&from.shape, true);
                    whole().reshape(&kept).broadcast(&from.shape)
                }
                LinearMap::View(view, _) => super::views::adjoint(whole(), view, &from.shape, false),
                LinearMap::Reshape(_) => whole().reshape(&from.shape),
                LinearMap::SourceLoc { axis, start, .. } => {
                    whole().slice(*axis, *start, start + from.shape.extents()[*axis])
                }
                LinearMap::Cumulative { axis, reverse } => cumulative(whole(), *axis, !reverse),
                LinearMap::Recurrence { factors, axis, reverse } => {
                    let shifted = shifted(to.term(*factors), *axis, !reverse, 0.0);
                    super::recurrence::recurrence(shifted, whole(), *axis, !reverse)
                }
                LinearMap::Rows(index) => {
                    let rows = from.shape.extents().first().copied().unwrap_or(0);
                    let index = clipped(to.term(*index), rows);
                    // If each index selects one row, a comparison replaces the scatter: its value is not stored.
                    if from.shape.extents().get(1..) == Some(target.shape.extents()) {
                        let own = SlopeTerm::op(Op::Equal, &[to.iota(0, &from.shape), index]);
                        return pick(own, true, whole());
                    }
                    to.full(0.0, from).scatter(Scatter::Add, index, whole())
                }
                LinearMap::Slice(view, starts, shape) => {
                    let found = view.starts(&from.shape, shape, starts.len()).unwrap_or_default();
                    let clamped = |(&start, of): (&Value, &ViewStart)| clipped(to.term(start), of.count).value;
                    let starts: Vec<Value> = starts.iter().zip(&found).map(clamped).collect();
                    to.full(0.0, from).insert((**view).clone(), whole(), &starts)
                }
                LinearMap::Along { indices, axis, permutes } => {
                    let indices = to.term(*indices);
                    match permutes {
                        true => along(whole(), indices.argsort(*axis), *axis),
                        false => {
                            let zeros = to.full(0.0, from).moveaxis(*axis, 0);
                            let [index, updates] = [indices, whole()].map(|term| term.moveaxis(*axis, 0));
                            zeros.scatter(Scatter::Add, index, updates).moveaxis(0, *axis)
                        }
                    }
                }
                LinearMap::Without(index) => whole().scatter(Scatter::Set, to.term(*index), term.number(0.0)),
                LinearMap::AddRows(index, shape) => {
                    let rows = shape.extents().first().copied().unwrap_or(0);
                    let taken = inside(whole().gather(to.term(*index)), to.term(*index), rows);
                    summed_to(taken, &from.shape, false)
                }
                LinearMap::Inserted(view, _) => whole().view(((**view).clone(), from.shape.clone())),
                LinearMap::Outside(view, shape) => {
                    let zeros = to.full(0.0, &TangentSpace { shape: shape.clone(), dtype: from.dtype });
                    whole().insert((**view).clone(), zeros, &[])
                }
            }
        })
    }
}

/// Applies a path of maps.
pub(super) fn apply(to: &Appender, path: &[LinearMap], mut t: Tangent, from: &TangentSpace) -> Tangent {
    let mut space = from.clone();
    for map in path {
        if t.is_zero() {
            break;
        }
        let next = map.target(to, &space);
        t = map.apply(to, t, &space);
        space = next;
    }
    t
}

/// Applies the adjoint of a path of maps.
pub(super) fn adjoint(to: &Appender, path: &[LinearMap], mut g: Tangent, from: &TangentSpace) -> Tangent {
    let mut spaces = vec![from.clone()];
    for map in path {
        let next = map.target(to, &spaces[spaces.len() - 1]);
        spaces.push(next);
    }
    for (map, from) in path.iter().zip(&spaces).rev() {
        if g.is_zero() {
            break;
        }
        g = map.adjoint(to, g, from);
    }
    g
}

/// Multiplies a tangent by a slope. The product of ones is the slope itself.
fn scaled(to: &Appender, t: Tangent, space: &TangentSpace, by: SlopeTerm<'_>) -> Tangent {
    match t {
        Tangent::Zero => t,
        Tangent::Unit { negative } => {
            let by = if by.shape() == space.shape { by } else { by.broadcast(&space.shape) };
            Tangent::of(by.cast(space.dtype)).signed(negative)
        }
        Tangent::Of { value, negative } => {
            let is_number = to.read(|graph| matches!(graph.node(graph.producer(by.value)).kind, NodeKind::Literal(_)));
            let (t, finite) = (to.term(value), is_number);
            Tangent::of(if finite { t * by } else { t.scaled(by) }).signed(negative)
        }
    }
}

fn pick<'a>(condition: SlopeTerm<'a>, when: bool, term: SlopeTerm<'a>) -> SlopeTerm<'a> {
    let zero = term.number(0.0);
    SlopeTerm::op(Op::Where, &if when { [condition, term, zero] } else { [condition, zero, term] })
}

/// Sums a term to a shape that broadcasts to its own. The sum of a product is a contraction.
pub(super) fn summed_to<'a>(term: SlopeTerm<'a>, shape: &Shape, contracts: bool) -> SlopeTerm<'a> {
    let own = term.shape();
    if own == *shape {
        return term;
    }
    let missing = own.rank() - shape.rank();
    let sums = |axis: usize| match axis.checked_sub(missing) {
        None => true,
        Some(at) => shape.extents()[at] == 1 && own.extents()[axis] != 1,
    };
    let axes: Vec<isize> = (0..own.rank()).filter(|&axis| sums(axis)).map(|axis| axis as isize).collect();
    let axes = match AxisSet::new(&axes, own.rank()) {
        Ok(axes) => axes,
        Err(error) => {
            term.to.fail(error);
            return term;
        }
    };
    term.summed(Reduce { contracts, ..Reduce::new(Reduction::Sum, axes, false) }).reshape(shape)
}

fn cumulative<'a>(term: SlopeTerm<'a>, axis: usize, reverse: bool) -> SlopeTerm<'a> {
    match reverse {
        true => term.flip(axis).scan(Scan::CumulativeSum, axis).flip(axis),
        false => term.scan(Scan::CumulativeSum, axis),
    }
}

/// Shifts the elements by one along an axis, forwards or backwards; a number fills the first or the last.
pub(super) fn shifted<'a>(term: SlopeTerm<'a>, axis: usize, further: bool, first: f64) -> SlopeTerm<'a> {
    let shape = term.shape();
    let extent = shape.extents()[axis];
    if extent == 0 {
        return term;
    }
    let mut extents = shape.extents().to_vec();
    extents[axis] = 1;
    let edge = term.number(first).broadcast(&Shape::from(extents));
    match further {
        true => term.to.concat(axis, &[term.slice(axis, 1, extent), edge]),
        false => term.to.concat(axis, &[edge, term.slice(axis, 0, extent - 1)]),
    }
}

/// Selects, at each index along an axis, the element at the given index.
pub(super) fn along<'a>(term: SlopeTerm<'a>, indices: SlopeTerm<'a>, axis: usize) -> SlopeTerm<'a> {
    term.moveaxis(axis, 0).gather(indices.moveaxis(axis, 0)).moveaxis(0, axis)
}

/// Replaces elements at out-of-bounds indices by zeros.
pub(super) fn inside<'a>(term: SlopeTerm<'a>, index: SlopeTerm<'a>, rows: usize) -> SlopeTerm<'a> {
    let from = SlopeTerm::op(Op::GreaterEqual, &[index, index.number(0.0)]);
    let before = SlopeTerm::op(Op::Less, &[index, index.number(rows as f64)]);
    pick(SlopeTerm::op(Op::LogicalAnd, &[from, before]), true, term)
}
