//! Adjoints of views: each element of the operand gets the sum of the result's elements that view it.

use super::maps::summed_to;
use crate::append::{SlopeTerm, TangentSpace};
use ndjit_ir::graph::{NodeKind, Scatter};
use ndjit_ir::reduction::{AxisSet, Reduce, Reduction};
use ndjit_ir::view::{AxisIndex, View};
use ndjit_ir::{DType, Shape};
use smallvec::SmallVec;

/// Computes the adjoint of a view of an operand of this shape. The adjoint of a product is a contraction.
pub(super) fn adjoint<'a>(g: SlopeTerm<'a>, view: &View, operand: &Shape, contracts: bool) -> SlopeTerm<'a> {
    let result = g.shape();
    let zeros = || g.to.full(0.0, &TangentSpace { dtype: g.dtype(), shape: operand.clone() });
    if result.extents().contains(&0) || operand.extents().contains(&0) {
        return zeros();
    }
    let (g, view) = without_free_axes(g, view, contracts);
    if let Some(inverse) = inverse(&view, operand, &g.shape()) {
        return g.view((inverse, operand.clone()));
    }
    if view.region(operand, &g.shape()).is_some() {
        return zeros().insert(view, g, &[]);
    }
    let shape = g.shape();
    let (one, turned) = without_repeated(g, view.clone());
    windows(one, &turned, operand, &shape).unwrap_or_else(|| scattered(g, &view, operand))
}

/// Sums over the axes of the result that no index depends on, and removes these from the view.
fn without_free_axes<'a>(g: SlopeTerm<'a>, view: &View, contracts: bool) -> (SlopeTerm<'a>, View) {
    let shape = g.shape();
    let mut used = vec![false; shape.rank()];
    view.axes.iter().flat_map(|index| &index.terms).for_each(|term| used[term.axis as usize] = true);
    let summed = |axis: &usize| !used[*axis] && shape.extents()[*axis] != 1;
    let axes = (0..shape.rank()).filter(summed).fold(AxisSet::NONE, |all, axis| all.with(axis));
    let kept: Vec<usize> = (0..shape.rank()).filter(|&axis| used[axis]).collect();
    let extents: Vec<usize> = kept.iter().map(|&axis| shape.extents()[axis]).collect();
    let g = g.summed(Reduce { contracts, ..Reduce::new(Reduction::Sum, axes, true) }).reshape(&Shape::from(extents));
    let renumbered = |index: &AxisIndex| {
        let mut own = AxisIndex::fixed(index.start);
        for term in &index.terms {
            own.add(kept.partition_point(|&axis| axis < term.axis as usize) as u32, term.step);
        }
        own
    };
    (g, View { rank: kept.len(), axes: view.axes.iter().map(renumbered).collect() })
}

/// Replaces an axis along which the cotangent is constant, like that of a sum, by one element, and reverses the axis if
/// the step then becomes positive, as in sums of windows.
fn without_repeated<'a>(g: SlopeTerm<'a>, mut view: View) -> (SlopeTerm<'a>, View) {
    let shape = g.shape();
    let repeated = |axis: usize| {
        g.to.read(|graph| {
            let NodeKind::View(view) = graph.node(graph.producer(g.value)).kind else { return false };
            shape.extents()[axis] > 1
                && graph.view_of(view).axes.iter().all(|index| index.terms.iter().all(|t| t.axis as usize != axis))
        })
    };
    // Each axis of the operand is solved for the longest of its axes.
    let mut others = Vec::new();
    for index in view.axes.iter().filter(|index| index.terms.len() > 1) {
        let units = index.terms.iter().filter(|term| term.step.abs() == 1);
        let longest = units.max_by_key(|term| shape.extents()[term.axis as usize]).map(|term| term.axis);
        others.extend(index.terms.iter().map(|term| term.axis).filter(|&axis| Some(axis) != longest));
    }
    let mut one = g;
    for axis in others.into_iter().filter(|&axis| repeated(axis as usize)) {
        one = one.slice(axis as usize, 0, 1);
        for term in view.axes.iter_mut().filter(|index| index.terms.len() > 1) {
            let (start, terms) = (&mut term.start, &mut term.terms);
            for term in terms.iter_mut().filter(|term| term.axis == axis && term.step > 0) {
                *start += term.step * (shape.extents()[axis as usize] as isize - 1);
                term.step = -term.step;
            }
        }
    }
    (one, view)
}

/// Returns the inverse of a view that permutes and flips whole axes.
fn inverse(view: &View, operand: &Shape, result: &Shape) -> Option<View> {
    let mut axes: SmallVec<[AxisIndex; 4]> = SmallVec::from_elem(AxisIndex::default(), view.rank);
    let mut found = 0;
    for (axis, (index, &extent)) in view.axes.iter().zip(operand.extents()).enumerate() {
        match index.terms[..] {
            [] if extent == 1 => {}
            [term] if result.extents()[term.axis as usize] != extent => return None,
            [term] if (index.start, term.step) == (0, 1) => {
                axes[term.axis as usize] = AxisIndex::along(axis, 0, 1);
                found += 1;
            }
            [term] if (index.start, term.step) == (extent as isize - 1, -1) => {
                axes[term.axis as usize] = AxisIndex::along(axis, extent as isize - 1, -1);
                found += 1;
            }
            _ => return None,
        }
    }
    let inverse = View { rank: operand.rank(), axes }.canonical(operand);
    let whole = operand.extents().iter().filter(|&&extent| extent != 1).count() == found && found == view.rank;
    whole.then_some(inverse)
}

/// Computes the adjoint of windows. Along each axis of the operand one axis of the result has a step of 1. Its index
/// follows from the operand's and those of the other axes, over which the elements are summed: a sum of windows of a
/// zero-padded array. The cotangent, of this shape, may have one element along an axis in place of many equal ones.
fn windows<'a>(g: SlopeTerm<'a>, view: &View, operand: &Shape, shape: &Shape) -> Option<SlopeTerm<'a>> {
    let has_one = |axis: usize| g.shape().extents()[axis] == 1;
    let mut named = vec![false; shape.rank()];
    // For each axis of the operand the solved axis, and its step.
    let mut solved: Vec<Option<(usize, isize)>> = Vec::new();
    for index in &view.axes {
        for term in &index.terms {
            if std::mem::replace(&mut named[term.axis as usize], true) {
                return None;
            }
        }
        let longest = index.terms.iter().filter(|term| term.step.abs() == 1 && !has_one(term.axis as usize));
        let longest = longest.max_by_key(|term| shape.extents()[term.axis as usize]);
        match (longest, index.terms.is_empty()) {
            (Some(term), _) => solved.push(Some((term.axis as usize, term.step))),
            (None, true) => solved.push(None),
            (None, false) => return None,
        }
    }
    let others: Vec<usize> =
        (0..shape.rank()).filter(|axis| !solved.iter().flatten().any(|(own, _)| own == axis)).collect();
    let new_axis = |axis: usize| operand.rank() + others.partition_point(|&other| other < axis);
    // Along axes without a term there is one index.
    let inner: Vec<usize> =
        operand.extents().iter().zip(&solved).map(|(&extent, solved)| solved.map_or(1, |_| extent)).collect();
    let mut padded = g;
    let mut axes: SmallVec<[AxisIndex; 4]> =
        (0..shape.rank()).map(|axis| AxisIndex::along(new_axis(axis), 0, isize::from(!has_one(axis)))).collect();
    for (k, (index, own)) in view.axes.iter().zip(&solved).enumerate() {
        let Some((axis, step)) = *own else { continue };
        // d = step * (i - start - sum of the others).
        let mut found = AxisIndex::along(k, -step * index.start, step);
        let last = step * (inner[k] as isize - 1);
        let (mut low, mut high) = (found.start + last.min(0), found.start + last.max(0));
        for term in index.terms.iter().filter(|term| term.axis as usize != axis) {
            let factor = -step * term.step;
            let span = factor * (shape.extents()[term.axis as usize] as isize - 1);
            (low, high) = (low + span.min(0), high + span.max(0));
            found.add(new_axis(term.axis as usize) as u32, factor);
        }
        let extent = shape.extents()[axis] as isize;
        let (before, after) = ((-low).max(0) as usize, (high - extent + 1).max(0) as usize);
        found.start += before as isize;
        axes[axis] = found;
        padded = between_zeros(padded, axis, before, after);
    }
    let extents: Vec<usize> = inner.iter().copied().chain(others.iter().map(|&axis| shape.extents()[axis])).collect();
    let whole = Shape::from(extents);
    let view_of = View { rank: whole.rank(), axes }.canonical(&whole);
    let over = (operand.rank()..whole.rank()).fold(AxisSet::NONE, |all, axis| all.with(axis));
    let mut sum = padded.view((view_of, whole)).summed(Reduce::new(Reduction::Sum, over, false));
    // Elsewhere along an axis of one index there are zeros.
    for (axis, &extent) in operand.extents().iter().enumerate().filter(|&(axis, _)| solved[axis].is_none()) {
        let before = view.axes[axis].start as usize;
        sum = between_zeros(sum, axis, before, extent - before - 1);
    }
    Some(sum)
}

/// Pads an array with zeros along an axis.
pub(super) fn between_zeros<'a>(term: SlopeTerm<'a>, axis: usize, before: usize, after: usize) -> SlopeTerm<'a> {
    let shape = term.shape();
    let zeros = |count: usize| {
        let mut extents = shape.extents().to_vec();
        extents[axis] = count;
        (count > 0).then(|| term.number(0.0).broadcast(&Shape::from(extents)))
    };
    let parts: Vec<SlopeTerm<'a>> = [zeros(before), Some(term), zeros(after)].into_iter().flatten().collect();
    term.to.concat(axis, &parts)
}

/// Computes the adjoint of any view: adds each element at its place in the operand.
fn scattered<'a>(g: SlopeTerm<'a>, view: &View, operand: &Shape) -> SlopeTerm<'a> {
    let (to, shape) = (g.to, g.shape());
    let mut position = to.number(0.0, DType::I64).broadcast(&shape);
    for (index, &stride) in view.axes.iter().zip(&operand.contiguous_strides()) {
        position = position + (index.start * stride) as f64;
        for term in &index.terms {
            position = position + to.iota(term.axis as usize, &shape) * (term.step * stride) as f64;
        }
    }
    let Ok(size) = operand.size() else { return summed_to(g, operand, false) };
    let flat = to.full(0.0, &TangentSpace { dtype: g.dtype(), shape: Shape::from(size) });
    flat.scatter(Scatter::Add, position, g).reshape(operand)
}
