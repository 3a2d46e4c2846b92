//! Binary search in a sorted array, in one kernel: one gather per binary digit of the length. The number of steps is rounded
//! up, so few lengths need different code.

use super::checked::index_dtype;
use super::rows::rows;
use crate::api::config::{self, with_parts};
use crate::api::differences::typed;
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, ArrayOperand, BinaryOperand, Operand};
use crate::trace::scalar::Scalar;
use ndjit_ir::{Code, DType, Error, ErrorCode, Help, Kind, Op, Result, SourceLoc};

/// The side of equal elements in [`searchsorted`].
///
/// ```
/// use ndjit::{Array, Side, searchsorted};
///
/// let x = Array::from([1, 2, 2, 3]);
/// assert_eq!(searchsorted(&x, 2, Side::Left).item::<i32>()?, 1);
/// assert_eq!(searchsorted(&x, 2, Side::Right).item::<i32>()?, 3);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Side {
    /// Before them.
    #[default]
    Left,
    /// After them.
    Right,
}

/// The indices where elements of `values` would be inserted into the sorted `x` to keep it sorted: the number of elements of
/// `x` less than the value ([`Side::Left`]), or not greater ([`Side::Right`]).
///
/// ```
/// use ndjit::{Array, Side, jit, searchsorted};
///
/// let edges = Array::from([0.0f32, 1.0, 10.0]);
/// let bins = jit(|edges, values| searchsorted(edges, values, Side::Right) - 1);
/// assert_eq!(bins.call((&edges, &[0.0f32, 0.5, 5.0, 20.0]))?.to_vec::<i32>()?, [0, 0, 1, 2]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Result: the dtype of indices, as in [`argsort`](fn@crate::argsort), of the shape of `values`. Elements and values are
///   cast to their common dtype.
/// - NaN is greater than everything else and equal to itself, as in sorts; -0 equals 0.
/// - The order of `x` is not checked. If it is not sorted, the result is some index from 0 to its length.
/// - The code depends on the number of steps: it is recompiled where the length of `x` exceeds 15, 255, 4095, and so on by
///   factors of sixteen.
/// - With a separate sorter, search in `take(x, sorter, 0)`.
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.searchsorted.html).
///
/// # Errors
/// Poisoned with `Shape` unless `x` has one axis; with `DType` for complex numbers, which are not ordered; with `Promotion`
/// without a common dtype.
#[doc(alias = "bisect")]
#[doc(alias = "bucketize")]
#[track_caller]
pub fn searchsorted<X: Operand + BinaryOperand<V>, V: Operand>(x: X, values: V, side: Side) -> X::Out {
    let place = SourceLoc::caller();
    let operands = [x.operand(), values.operand()];
    let [x, values] = operands.clone();
    let what = "searchsorted";
    match searched::<X::Out>(what, x, values, side, place) {
        Ok(found) => found.part_of(what, &operands, place),
        Err(error) => X::Out::failed(error.at(place)),
    }
}

/// Like [`searchsorted`]; its own errors have no place.
pub(crate) fn searched<R: ArrayLike>(
    what: &'static str,
    x: AnyOperand,
    values: AnyOperand,
    side: Side,
    place: SourceLoc,
) -> Result<R> {
    let (ty, dtype, shape) = x.describe(what)?;
    let (own, of, _) = values.describe(what)?;
    // A number is compared with itself too, which some policies refuse of weak ones.
    let values = typed::<R>(values, own, config::policy().join(ty, own).unwrap_or(own), place)?;
    let &[len] = shape.extents() else {
        return Err(Error::new(ErrorCode::Shape, format!("an array of shape {shape} is searched"))
            .of(what)
            .help(Help::from("it has one axis; ").code(Code::Reshape(&[-1])).text(" makes one of several")));
    };
    let index = index_dtype(len)?;
    if let Some(dtype) = [dtype, of].into_iter().find(|dtype| dtype.kind() == Kind::Complex) {
        return Err(Error::new(ErrorCode::DType, format!("{dtype} is not ordered"))
            .of(what)
            .help("search by `abs(x)` or `real(x)`"));
    }
    let number = |n: usize| AnyOperand::Scalar(Scalar((n as i64).into(), None));
    let compute = |op: Op, operands: &[&AnyOperand]| {
        let operands: Vec<AnyOperand> = operands.iter().map(|&operand| operand.clone()).collect();
        R::compute(op, &operands, place).operand()
    };
    let is_nan = |x: &AnyOperand| compute(Op::NotEqual, &[x, x]);
    // Compares two elements; NaN comes last.
    let before = |a: &AnyOperand, b: &AnyOperand| {
        let (less, b_nan, a_nan) = (compute(Op::Less, &[a, b]), is_nan(b), is_nan(a));
        let last = compute(Op::Greater, &[&b_nan, &a_nan]);
        compute(Op::LogicalOr, &[&less, &last])
    };
    let counted = |op: Op, operands: &[&AnyOperand]| with_parts(|| compute(op, operands));
    // Zeros of the values' shape.
    let same = compute(Op::NotEqual, &[&values, &values]);
    let none = compute(Op::LogicalAnd, &[&same, &AnyOperand::Scalar(Scalar(false.into(), None))]);
    let mut found: R = R::convert(&none, DType::I64, place);
    // The code contains each step. A step beyond the end has no effect.
    let steps = len.checked_ilog2().map_or(0, |digits| (digits + 1).next_multiple_of(4).min(63));
    let mut step = (1usize << steps) / 2;
    while step > 0 {
        let start = found.operand();
        let end = counted(Op::Add, &[&start, &number(step)]);
        let last = counted(Op::Subtract, &[&end, &number(1)]);
        let element: R = rows(what, x.clone(), last, place);
        let element = element.operand();
        let passed = match side {
            Side::Left => before(&element, &values),
            Side::Right => compute(Op::LogicalNot, &[&before(&values, &element)]),
        };
        let inside = counted(Op::LessEqual, &[&end, &number(len)]);
        let moves = compute(Op::LogicalAnd, &[&passed, &inside]);
        found = with_parts(|| R::compute(Op::Where, &[moves, end, start], place));
        step /= 2;
    }
    Ok(R::convert(&found.operand(), index, place))
}

/// Searching as a method: see the free function.
impl Expr {
    /// [`searchsorted`](fn@crate::searchsorted) as a method.
    ///
    /// ```
    /// use ndjit::{Array, Expr, Side, jit};
    ///
    /// let f = jit(|x: Expr, v: Expr| x.searchsorted(v, Side::Left));
    /// assert_eq!(f(&Array::from([1, 3]), &Array::from([2])).to_vec::<i32>()?, [1]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn searchsorted(self, values: impl Operand, side: Side) -> Expr {
        searchsorted(self, values, side)
    }
}

/// Searching as a method: see the free function.
impl Array {
    /// [`searchsorted`](fn@crate::searchsorted) as a method.
    ///
    /// ```
    /// use ndjit::{Array, Side};
    ///
    /// assert_eq!(Array::from([1, 3]).searchsorted(2, Side::Left).item::<i32>()?, 1);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn searchsorted(&self, values: impl ArrayOperand, side: Side) -> Array {
        searchsorted(self, values, side)
    }
}
