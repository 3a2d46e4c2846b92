//! Building blocks of functions that consist of several operations. Each part has the function's name and the user's line.
//! It is computed in the dtypes of the function, so promotion happens once per function.

use crate::api::config::{settings, with_parts};
use crate::api::indexing::{INDEXED_UPDATES, rows};
use crate::api::manipulation::{reshaped, seen};
use crate::api::reductions::{self, IntoAxes};
use crate::array::node::Array;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand};
use crate::trace::scalar::Scalar;
use ndjit_eval::request::{Movement, NamedFunction, Request};
use ndjit_eval::settings::Settings;
use ndjit_ir::axes::AxisSet;
use ndjit_ir::graph::{NodeKind, Scatter};
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::reduction::{AxisFunction, TypeRequest};
use ndjit_ir::support::Adapted;
use ndjit_ir::view::{self, View};
use ndjit_ir::{Code, DType, Error, ErrorCode, Help, Op, Reduction, Result, Shape, SourceLoc, ValueType};
use std::marker::PhantomData;
use std::slice;

/// The parts of a function that gives an `R`.
pub(crate) struct FunctionParts<R> {
    pub what: &'static str,
    pub place: SourceLoc,
    gives: PhantomData<R>,
}

impl<R: ArrayLike> FunctionParts<R> {
    pub(crate) fn new(what: &'static str, place: SourceLoc) -> FunctionParts<R> {
        FunctionParts { what, place, gives: PhantomData }
    }

    pub(crate) fn op(&self, op: Op, operands: &[&AnyOperand]) -> AnyOperand {
        let operands: Vec<AnyOperand> = operands.iter().map(|&operand| operand.clone()).collect();
        with_parts(|| R::compute(op, &operands, self.place)).operand()
    }

    /// An integer of the dtype of the other operand.
    pub(crate) fn number(&self, n: i64) -> AnyOperand {
        AnyOperand::Scalar(Scalar(n.into(), None))
    }

    /// A scalar of a float or complex dtype.
    pub(crate) fn float(&self, n: f64, dtype: DType) -> AnyOperand {
        AnyOperand::Scalar(Scalar(Literal::strong(n, dtype).unwrap_or(Literal::weak(n)), None))
    }

    pub(crate) fn cast(&self, x: &AnyOperand, dtype: DType) -> AnyOperand {
        if matches!(x.describe(self.what), Ok((ValueType::Strong(own), ..)) if own == dtype) {
            return x.clone();
        }
        R::convert(x, dtype, self.place).operand()
    }

    pub(crate) fn seen(&self, x: &AnyOperand, of: impl Fn(&Shape) -> Result<(View, Shape)>) -> AnyOperand {
        let seen: R = seen(self.what, x.clone(), self.place, of);
        seen.operand()
    }

    /// The operand as a value.
    pub(crate) fn value(&self, x: &AnyOperand) -> R {
        let all = |shape: &Shape| {
            let axes: Vec<usize> = (0..shape.rank()).collect();
            view::placed(shape, axes.len(), &axes)
        };
        seen(self.what, x.clone(), self.place, all)
    }

    pub(crate) fn reshaped(&self, x: &AnyOperand, extents: &[isize]) -> AnyOperand {
        let reshaped: R = reshaped(self.what, x.clone(), extents, self.place);
        reshaped.operand()
    }

    /// Reduces along one axis, or along all.
    pub(crate) fn reduced(
        &self,
        reduction: Reduction,
        dtype: Option<DType>,
        x: &AnyOperand,
        axes: impl IntoAxes,
    ) -> AnyOperand {
        let reduced: R = with_parts(|| reductions::reduce(reduction, dtype, x.clone(), axes.axes(), self.place));
        reduced.operand()
    }

    /// Scans or sorts along the first axis.
    pub(crate) fn along(&self, function: impl Into<AxisFunction>, dtype: Option<DType>, x: &AnyOperand) -> AnyOperand {
        let request = Request::along(function, dtype, 0);
        with_parts(|| R::reduce(&request, slice::from_ref(x), self.place)).operand()
    }

    /// The indices along an axis of this extent, as `i64`, on the device of `x`.
    pub(crate) fn iota(&self, x: &AnyOperand, extent: usize) -> AnyOperand {
        let of = |_: &[&Shape]| Ok(Operation::iota(AxisSet::all(1)?, Shape::from(extent)));
        R::movement(&Movement { function: self.what.into(), of: &of }, slice::from_ref(x), self.place).operand()
    }

    /// An array filled with a scalar of a dtype, on the device of `x`.
    pub(crate) fn filled(&self, x: &AnyOperand, number: &AnyOperand, dtype: DType, shape: &Shape) -> AnyOperand {
        let mut one = self.cast(number, dtype);
        if let (AnyOperand::Array(x), AnyOperand::Array(array)) = (x, &one) {
            one = array.on(x.device()).operand();
        }
        self.seen(&one, |own| view::broadcast_to(own, shape))
    }

    /// Gathers one element of each row of `x` at an index, clamped to the row.
    pub(crate) fn gathered(&self, x: &AnyOperand, index: &AnyOperand) -> AnyOperand {
        let gathered: R = rows(self.what, x.clone(), index.clone(), self.place);
        gathered.operand()
    }

    /// Scatters elements to `i64` indices of an array of one axis; indices out of range are dropped.
    pub(crate) fn scattered(
        &self,
        scatter: Scatter,
        into: &AnyOperand,
        extent: usize,
        index: &AnyOperand,
        updates: &AnyOperand,
    ) -> Result<AnyOperand> {
        let rank = index.describe(self.what)?.2.rank();
        let extent = signed(extent);
        let rows: Vec<isize> = [extent].into_iter().chain(vec![1; rank]).collect();
        let rows = self.reshaped(into, &rows);
        let of = |_: &[&Shape]| Ok(NodeKind::Scatter(scatter).into());
        let function = NamedFunction::new(self.what, INDEXED_UPDATES);
        let movement = Movement { function, of: &of };
        let put = R::movement(&movement, &[rows, index.clone(), updates.clone()], self.place).operand();
        Ok(self.reshaped(&put, &[extent]))
    }
}

/// An extent as an integer of a requested shape.
pub(crate) fn signed(extent: usize) -> isize {
    isize::try_from(extent).unwrap_or(isize::MAX)
}

/// Returns the extent of an operand's only axis.
///
/// # Errors
/// `Shape` for another rank; that of the operand.
pub(crate) fn only_axis(what: &'static str, named: &str, x: &AnyOperand) -> Result<usize> {
    let (.., shape) = x.describe(what)?;
    match shape.extents() {
        &[extent] => Ok(extent),
        _ => Err(Error::new(ErrorCode::Shape, format!("{named} of shape {shape} has not one axis")).help(
            Help::default()
                .code(Code::Reshape(&[-1]))
                .text(" makes one axis of several, ")
                .code(Code::Reshape(&[1]))
                .text(" of a number"),
        )),
    }
}

/// Returns the array of an evaluated operand.
pub(crate) fn held(x: &AnyOperand) -> Option<&Array> {
    match x {
        AnyOperand::Array(array) => Some(array),
        AnyOperand::Expr(_) | AnyOperand::Scalar(_) => None,
    }
}

/// Returns the result dtype of an op on operands of these types, folded from the left.
///
/// # Errors
/// That of the policy or of a declaration, without a name.
pub(crate) fn meeting(op: Op, types: &[ValueType]) -> Result<DType> {
    let settings = settings();
    let first = types.first().copied().unwrap_or(ValueType::Strong(DType::Bool));
    let others = if types.len() > 1 { &types[1..] } else { std::slice::from_ref(&first) };
    let mut common = first;
    for &ty in others {
        let resolved = settings.support.resolve(&Operation::op(op, settings.policy), &[common, ty]);
        common = resolved.map_err(Error::unnamed)?.types.result;
    }
    Ok(settings.policy.commit(common))
}

/// Returns the computing dtype of a reduction, `f32` for halves, and that of its result.
///
/// # Errors
/// As [`meeting`].
pub(crate) fn reducing(reduction: Reduction, dtype: Option<DType>, ty: ValueType) -> Result<[DType; 2]> {
    let types = reduction_types(reduction, dtype, ty).map_err(Error::unnamed)?;
    Ok([if types.compute.is_half() { DType::F32 } else { types.compute }, types.result])
}

/// The dtypes of a function that computes as a reduction does.
pub(crate) struct ReductionDTypes {
    /// The operand's dtype after a casting mode.
    pub before: Option<DType>,
    /// The computing dtype.
    pub compute: DType,
    /// The result's dtype.
    pub result: DType,
}

/// Returns the dtypes of a reduction of an operand of this type.
///
/// # Errors
/// That of the policy or of a declaration.
pub(crate) fn reduction_types(reduction: Reduction, dtype: Option<DType>, ty: ValueType) -> Result<ReductionDTypes> {
    let Settings { policy, support, .. } = settings();
    let operation = Operation::along(reduction, AxisSet::one(0), TypeRequest { dtype, policy });
    let Adapted { types, casts } = support.resolve(&operation, &[ty])?;
    let before = casts.first().copied().flatten().map(|(dtype, _)| dtype);
    Ok(ReductionDTypes { before, compute: policy.commit(types.compute), result: policy.commit(types.result) })
}
