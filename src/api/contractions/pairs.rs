//! Evaluation of a contraction: arrays two by two, in the order of [`order`]. Each pair is aligned along all its labels,
//! multiplied, and summed over labels without another use.

use crate::api::config::{settings, with_parts};
use crate::api::manipulation::{refused, seen};
use crate::api::reductions::{self, IntoAxes};
use crate::trace::operand::{AnyOperand, ArrayLike};
use crate::trace::scalar::Scalar;
use ndjit_eval::request::Request;
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::{DType, Error, Op, Reduction, Result, Shape, SourceLoc, ValueType, view};
use ndjit_transform::contraction::order::order;
use ndjit_transform::contraction::{Contraction, DotDimensions, ExtentMismatch, Label, LabelSet, Labels};

/// The contraction of arrays with matching labels. `worded` words the error of mismatched axes.
pub(super) fn contracted<R: ArrayLike>(
    what: &'static str,
    operands: &[AnyOperand],
    contraction: &Contraction,
    worded: &dyn Fn(&ExtentMismatch) -> Error,
    place: SourceLoc,
) -> R {
    let mut types: Vec<ValueType> = Vec::with_capacity(operands.len());
    let mut shapes: Vec<Shape> = Vec::with_capacity(operands.len());
    for operand in operands {
        match operand.describe(what) {
            Ok((ty, _, shape)) => {
                types.push(ty);
                shapes.push(shape);
            }
            Err(error) => return R::failed(error.at(place)),
        }
    }
    let found = contraction.extents(&shapes).map_err(|mismatch| worded(&mismatch));
    let (extents, dtype) = match found.and_then(|extents| Ok((extents, common(&types)?))) {
        Ok(found) => found,
        Err(error) => return refused(what, operands, place, &error),
    };
    let order = order(contraction, &extents);
    let making = Making { what, place, compute: if dtype.is_half() { DType::F32 } else { dtype } };
    let result: R = with_parts(|| {
        let parts = operands.iter().zip(&types).zip(&contraction.operands);
        let parts = parts.map(|((x, &ty), labels)| (making.cast::<R>(x.clone(), ty), labels.clone()));
        let result = making.product::<R>(parts.collect(), &order, &contraction.result);
        let result = if making.compute == dtype { result } else { R::convert(&result, dtype, place).operand() };
        // A single operand is returned unchanged.
        seen(what, result, place, |shape| view::placed(shape, shape.rank(), &(0..shape.rank()).collect::<Vec<_>>()))
    });
    result.part_of(what, operands, place)
}

/// Returns the common dtype of the operands.
fn common(types: &[ValueType]) -> Result<DType> {
    let settings = settings();
    let bool = ValueType::Strong(DType::Bool);
    let mut types = types.iter().copied();
    let mut common = types.next().unwrap_or(bool);
    for ty in types {
        if [common, ty] != [bool; 2] {
            let resolved = settings.support.resolve(&Operation::op(Op::Multiply, settings.policy), &[common, ty]);
            common = resolved.map_err(Error::unnamed)?.types.result;
        }
    }
    Ok(settings.policy.commit(common))
}

/// An operand with the labels of its axes.
type LabelledOperand = (AnyOperand, Labels);

/// The subject of a contraction, and its computing dtype.
struct Making {
    what: &'static str,
    place: SourceLoc,
    compute: DType,
}

impl Making {
    fn cast<R: ArrayLike>(&self, x: AnyOperand, ty: ValueType) -> AnyOperand {
        if ty == ValueType::Strong(self.compute) { x } else { R::convert(&x, self.compute, self.place).operand() }
    }

    /// The product of all parts, along the labels of the result in order.
    fn product<R: ArrayLike>(
        &self,
        mut parts: Vec<LabelledOperand>,
        order: &[[usize; 2]],
        result: &[Label],
    ) -> AnyOperand {
        // Labels of the remaining parts or the result.
        let mut left = vec![true; parts.len()];
        let in_result = LabelSet::of(result);
        let wanted = |parts: &[LabelledOperand], left: &[bool], but: &[usize]| {
            let others = parts.iter().zip(left).enumerate().filter(|(n, (_, left))| **left && !but.contains(n));
            others.fold(in_result, |all, (_, ((_, labels), _))| all.union(LabelSet::of(labels)))
        };
        for n in 0..parts.len() {
            let kept = wanted(&parts, &left, &[n]);
            parts[n] = self.reduced::<R>(parts[n].clone(), kept);
        }
        for &[a, b] in order {
            let kept = wanted(&parts, &left, &[a, b]);
            (left[a], left[b]) = (false, false);
            let both = self.pair::<R>(&parts[a], &parts[b], kept, result);
            parts.push(both);
            left.push(true);
        }
        let Some((x, labels)) = parts.pop() else { return AnyOperand::Scalar(Scalar(Literal::weak(1), None)) };
        self.placed::<R>(x, &labels, result)
    }

    /// A part with each label once, summed over labels that are not kept.
    fn reduced<R: ArrayLike>(&self, (x, labels): LabelledOperand, kept: LabelSet) -> LabelledOperand {
        let mut own = Labels::new();
        labels.iter().for_each(|label| {
            if !own.contains(label) {
                own.push(*label)
            }
        });
        let x = self.placed::<R>(x, &labels, &own);
        let gone: Vec<usize> = (0..own.len()).filter(|&axis| !kept.contains(own[axis])).collect();
        own.retain(|label| kept.contains(*label));
        (self.summed::<R>(x, gone), own)
    }

    /// The product of two parts, summed over labels that are not kept.
    fn pair<R: ArrayLike>(
        &self,
        left: &LabelledOperand,
        right: &LabelledOperand,
        kept: LabelSet,
        result: &[Label],
    ) -> LabelledOperand {
        // In the order of the result, then in that of the two.
        let all = result.iter().chain(&left.1).chain(&right.1).copied();
        let mut own = Labels::new();
        for label in all.filter(|&label| kept.contains(label) && (left.1.contains(&label) || right.1.contains(&label)))
        {
            if !own.contains(&label) {
                own.push(label);
            }
        }
        let pair = DotDimensions::new(&left.1, &right.1, &own);
        let places: Labels = own.iter().chain(&pair.summed).copied().collect();
        let [left, right] = [left, right].map(|(x, labels)| self.placed::<R>(x.clone(), labels, &places));
        let op = if self.compute == DType::Bool { Op::LogicalAnd } else { Op::Multiply };
        let product = R::compute(op, &[left, right], self.place).operand();
        let axes: Vec<usize> = (own.len()..places.len()).collect();
        if axes.is_empty() || self.compute == DType::Bool {
            return (self.summed::<R>(product, axes), own);
        }
        (R::reduce(&Request::contracting(self.compute, axes.axes().requested()), &[product], self.place).operand(), own)
    }

    /// A part with its axes at the indices of their labels in `places`.
    fn placed<R: ArrayLike>(&self, x: AnyOperand, labels: &[Label], places: &[Label]) -> AnyOperand {
        if labels == places {
            return x;
        }
        let at = |label: &Label| places.iter().position(|place| place == label).unwrap_or(places.len());
        let at: Vec<usize> = labels.iter().map(at).collect();
        let placed: R = seen(self.what, x, self.place, |shape| view::placed(shape, places.len(), &at));
        placed.operand()
    }

    fn summed<R: ArrayLike>(&self, x: AnyOperand, axes: Vec<usize>) -> AnyOperand {
        if axes.is_empty() {
            return x;
        }
        let (reduction, dtype) = match self.compute {
            DType::Bool => (Reduction::Any, None),
            dtype => (Reduction::Sum, Some(dtype)),
        };
        let summed: R = reductions::reduce(reduction, dtype, x, axes.axes(), self.place);
        summed.operand()
    }
}
