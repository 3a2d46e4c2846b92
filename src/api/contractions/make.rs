//! The contraction of each function of two arrays: the axes in common, and the axes of the result.

use super::argument::IntoPairs;
use super::pairs::contracted;
use crate::api::manipulation::{refused, reshaped};
use crate::trace::operand::{AnyOperand, ArrayLike};
use ndjit_ir::axes::{AxisSet, check_rank, position};
use ndjit_ir::{Error, ErrorCode, Kind, Op, Result, Shape, SourceLoc};
use ndjit_transform::contraction::{Contraction, ExtentMismatch, Label, LabelSet, Labels};
use smallvec::smallvec;

pub(crate) fn matmul<R: ArrayLike>(x: AnyOperand, y: AnyOperand, place: SourceLoc) -> R {
    let help = "the last axis of x0 meets the last but one of x1, or its only one; other axes have equal extents or 1";
    pairwise("matmul", [x, y], help, place, |[x, y]: [usize; 2]| {
        if x == 0 || y == 0 {
            return Err(Error::new(ErrorCode::Shape, "a number is not a matrix")
                .help("`x * y` multiplies by a number; a matrix has two axes, a vector one"));
        }
        let (rows, columns, summed, first) = (0, 1, 2, 3);
        // Broadcast axes are counted from the last.
        let batch = |rank: usize| (0..rank.saturating_sub(2) as Label).rev().map(|n| n + first).collect::<Labels>();
        let (mut left, mut right, mut result) = (batch(x), batch(y), batch(x.max(y)));
        if x > 1 {
            left.push(rows);
            result.push(rows);
        }
        left.push(summed);
        right.push(summed);
        if y > 1 {
            right.push(columns);
            result.push(columns);
        }
        Ok(Contraction { operands: vec![left, right], result, exact: LabelSet::of(&[summed]) })
    })
}

pub(super) fn vecdot<R: ArrayLike>(mut x: AnyOperand, y: AnyOperand, axis: isize, place: SourceLoc) -> R {
    let what = "vecdot";
    let help = "vectors have one length; other axes are matched from the last, with equal extents or 1";
    if x.describe(what).is_ok_and(|(ty, ..)| ty.kind() == Kind::Complex) {
        let own = [x];
        let conjugate: R = ArrayLike::compute(Op::Conj, &own, place);
        x = conjugate.part_of(what, &own, place).operand();
    }
    pairwise(what, [x, y], help, place, |ranks| {
        let (summed, first) = (0, 1);
        let labels = |rank: usize| -> Result<Labels> {
            let at = position(axis, rank)?;
            let mut labels: Labels = (0..rank as Label - 1).rev().map(|n| n + first).collect();
            labels.insert(at, summed);
            Ok(labels)
        };
        let most = ranks[0].max(ranks[1]) as Label;
        let result = (0..most.saturating_sub(1)).rev().map(|n| n + first).collect();
        Ok(Contraction { operands: vec![labels(ranks[0])?, labels(ranks[1])?], result, exact: LabelSet::of(&[summed]) })
    })
}

pub(super) fn tensordot<R: ArrayLike>(x: AnyOperand, y: AnyOperand, axes: impl IntoPairs, place: SourceLoc) -> R {
    let help =
        "the two axes of a pair have one length; `([1], [0])` pairs axis 1 of the first with axis 0 of the second";
    pairwise("tensordot", [x, y], help, place, |ranks| {
        let [left, right] = axes.pairs(ranks);
        if left.len() != right.len() {
            let what = format!("{} axes of x0 are paired with {} of x1", left.len(), right.len());
            return Err(Error::new(ErrorCode::Shape, what)
                .fact(format_args!("the axes: {left:?} and {right:?}"))
                .help("name as many axes of each"));
        }
        AxisSet::new(&left, ranks[0])?;
        AxisSet::new(&right, ranks[1])?;
        let (first, second): (Labels, Labels) =
            ((0..ranks[0] as Label).collect(), (0..ranks[1] as Label).map(|n| n + ranks[0] as Label).collect());
        let mut operands = vec![first, second];
        for (&a, &b) in left.iter().zip(&right) {
            operands[1][position(b, ranks[1])?] = operands[0][position(a, ranks[0])?];
        }
        let shared = LabelSet::of(&operands[0]).intersection(LabelSet::of(&operands[1]));
        let result = operands.iter().flatten().copied().filter(|&label| !shared.contains(label)).collect();
        Ok(Contraction { operands, result, exact: shared })
    })
}

pub(super) fn outer<R: ArrayLike>(x: AnyOperand, y: AnyOperand, place: SourceLoc) -> R {
    let what = "outer";
    let flat = |x: AnyOperand| -> AnyOperand {
        if matches!(x.describe(what), Ok((.., shape)) if shape.rank() == 1) {
            return x;
        }
        let flat: R = reshaped(what, x, &[-1], place);
        flat.operand()
    };
    pairwise(what, [flat(x), flat(y)], "", place, |_| {
        Ok(Contraction {
            operands: vec![smallvec![0], smallvec![1]],
            result: smallvec![0, 1],
            exact: LabelSet::default(),
        })
    })
}

pub(super) fn kron<R: ArrayLike>(x: AnyOperand, y: AnyOperand, place: SourceLoc) -> R {
    let what = "kron";
    let operands = [x, y];
    let shapes: Vec<Shape> = operands.iter().filter_map(|x| x.describe(what).ok()).map(|(.., shape)| shape).collect();
    let apart: R = pairwise(what, operands.clone(), "", place, |ranks| {
        let most = ranks[0].max(ranks[1]) as Label;
        // Axis `n` of the result is labels `2 n` of `x` and `2 n + 1` of `y`.
        let labels = |rank: usize, of: Label| (most - rank as Label..most).map(|n| 2 * n + of).collect::<Labels>();
        let operands = vec![labels(ranks[0], 0), labels(ranks[1], 1)];
        let result = LabelSet::of(&operands[0]).union(LabelSet::of(&operands[1])).iter().collect();
        Ok(Contraction { operands, result, exact: LabelSet::default() })
    });
    let most = shapes.iter().map(Shape::rank).max().unwrap_or(0);
    let extent = |shape: &Shape, n: usize| (n + shape.rank()).checked_sub(most).map_or(1, |axis| shape.extents()[axis]);
    let extents = (0..most).map(|n| shapes.iter().map(|shape| extent(shape, n)).fold(1, usize::saturating_mul));
    let extents: Vec<isize> = extents.map(|extent| isize::try_from(extent).unwrap_or(isize::MAX)).collect();
    reshaped::<R>(what, apart.operand(), &extents, place).part_of(what, &operands, place)
}

/// The contraction of two arrays, which `of` builds for their ranks.
fn pairwise<R: ArrayLike>(
    what: &'static str,
    operands: [AnyOperand; 2],
    help: &'static str,
    place: SourceLoc,
    of: impl FnOnce([usize; 2]) -> Result<Contraction>,
) -> R {
    let ranks = || -> Result<[usize; 2]> {
        let ranks = [operands[0].describe(what)?.2.rank(), operands[1].describe(what)?.2.rank()];
        ranks.into_iter().try_for_each(check_rank)?;
        Ok(ranks)
    };
    match ranks() {
        Err(error) => R::failed(error.at(place)),
        Ok(ranks) => match of(ranks) {
            Err(error) => refused(what, &operands, place, &error),
            Ok(contraction) => {
                let worded = |mismatch: &ExtentMismatch| Error::new(ErrorCode::Shape, mismatch.to_string()).help(help);
                contracted(what, &operands, &contraction, &worded, place)
            }
        },
    }
}
