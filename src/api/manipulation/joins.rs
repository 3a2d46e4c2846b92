//! Joins of arrays, and functions built on them. Only the result is stored: each part is computed in place.

use super::views::{no_matrix, refused, seen};
use crate::api::config::{self, with_parts};
use crate::api::integers::Integers;
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand, UnaryOperand};
use crate::trace::scalar::Scalar;
use ndjit_eval::request::Movement;
use ndjit_ir::axes::{AxisSet, position};
use ndjit_ir::infer::Operation;
use ndjit_ir::literal::Literal;
use ndjit_ir::view::{self, Slice, View};
use ndjit_ir::{DType, Error, ErrorCode, LiteralValue, Op, Result, Shape, SourceLoc, ValueType, Weak};
use std::slice;

/// Joins arrays along an axis, in their common dtype.
///
/// ```
/// use ndjit::{Array, concat};
/// let (x, y) = (Array::from([1.0f32, 2.0]), Array::from([3.0f32]));
/// assert_eq!(concat([&x, &y], 0).to_vec::<f32>()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.concat.html).
///
/// # Errors
/// Poisoned with `Shape` for no arrays, for an axis out of range, or if shapes differ in more than that axis; with
/// `Promotion` without a common dtype.
#[doc(alias = "concatenate")]
#[doc(alias = "cat")]
#[doc(alias = "hstack")]
#[doc(alias = "vstack")]
#[doc(alias = "append")]
#[track_caller]
pub fn concat<X: UnaryOperand>(arrays: impl IntoIterator<Item = X>, axis: isize) -> X::Out {
    joined("concat", arrays.into_iter().map(Operand::operand).collect(), axis, SourceLoc::caller())
}

pub(crate) fn joined<R: ArrayLike>(what: &'static str, arrays: Vec<AnyOperand>, axis: isize, place: SourceLoc) -> R {
    let of = |shapes: &[&Shape]| {
        let first = shapes
            .first()
            .ok_or_else(|| Error::new(ErrorCode::Shape, "there are no arrays to join").help("give at least one"))?;
        let axis = position(axis, first.rank())?;
        Ok(Operation::concat(axis as u32, config::policy()))
    };
    R::movement(&Movement { function: what.into(), of: &of }, &arrays, place)
}

/// Stacks arrays of one shape along a new axis.
///
/// ```
/// use ndjit::{Array, stack};
/// let (x, y) = (Array::from([1, 2]), Array::from([3, 4]));
/// assert_eq!(stack([&x, &y], 0).to_string(), "[[1 2]\n [3 4]]");
/// assert_eq!(stack([&x, &y], -1).to_string(), "[[1 3]\n [2 4]]");
/// ```
///
/// # Errors
/// As [`concat`](fn@concat).
#[doc(alias = "dstack")]
#[doc(alias = "column_stack")]
#[track_caller]
pub fn stack<X: UnaryOperand>(arrays: impl IntoIterator<Item = X>, axis: isize) -> X::Out {
    let place = SourceLoc::caller();
    let operands: Vec<AnyOperand> = arrays.into_iter().map(Operand::operand).collect();
    let shapes = operands.iter().filter_map(|x| x.describe("stack").ok()).map(|(_, _, shape)| shape);
    let shapes: Vec<Shape> = shapes.collect();
    if let Some(other) = shapes.iter().find(|shape| **shape != shapes[0]) {
        let error = Error::new(ErrorCode::Shape, format!("shapes {} and {other} differ", shapes[0]))
            .help("arrays beside each other have one shape; `concat` joins along an axis that they have");
        return refused("stack", &operands, place, &error);
    }
    let apart = |x: AnyOperand| {
        let x: X::Out = seen("stack", x, place, |shape| view::expand_dims(shape, &[axis]));
        x.operand()
    };
    let stacked: X::Out = joined("stack", operands.iter().cloned().map(apart).collect(), axis, place);
    stacked.part_of("stack", &operands, place)
}

/// Returns the part of an axis from `start` to `end`.
pub(crate) fn part(shape: &Shape, axis: usize, start: usize, end: usize, step: isize) -> Result<(View, Shape)> {
    let mut parts = vec![Slice::ALL; axis];
    parts.push(Slice::Range { start: Some(start as isize), end: Some(end as isize), step });
    view::slice(shape, &parts)
}

/// Rolls the elements along axes, by `shifts[n]` along `axes[n]`, or by one shift along each; elements shifted past the end
/// reappear at the start.
///
/// ```
/// use ndjit::{arange, roll};
/// assert_eq!(roll(arange(5), 2, 0).to_vec::<i32>()?, [3, 4, 0, 1, 2]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.roll.html).
///
/// # Errors
/// Poisoned with `Shape` for axes out of range, and for another number of shifts than 1 or the number of axes.
#[doc(alias = "rotate")]
#[track_caller]
pub fn roll<X: UnaryOperand>(x: X, shifts: impl Integers, axes: impl Integers) -> X::Out {
    let (mut shifts, axes, place) = (shifts.integers(), axes.integers(), SourceLoc::caller());
    let x = x.operand();
    let shape = match x.describe("roll") {
        Ok((_, _, shape)) => shape,
        Err(error) => return X::Out::failed(error.at(place)),
    };
    if let [shift] = shifts[..] {
        shifts.resize(axes.len(), shift);
    }
    if shifts.len() != axes.len() {
        let error = Error::new(ErrorCode::Shape, format!("{} shifts for {} axes", shifts.len(), axes.len()))
            .fact(format_args!("shifts: {shifts:?}, axes: {axes:?}"))
            .help("give one shift for each axis, or one for all");
        return refused("roll", &[x], place, &error);
    }
    let mut rolled: X::Out =
        seen("roll", x.clone(), place, |shape| Ok((View::identity(shape.rank()).canonical(shape), shape.clone())));
    for (&shift, &axis) in shifts.iter().zip(&axes) {
        let axis = match position(axis, shape.rank()) {
            Ok(axis) => axis,
            Err(error) => return refused("roll", &[x], place, &error),
        };
        let extent = shape.extents()[axis];
        let Some(by) = shift.checked_rem_euclid(extent as isize).filter(|&by| by != 0) else { continue };
        let at = extent - by.unsigned_abs();
        let before = rolled.operand();
        let parts = [(at, extent), (0, at)].map(|(start, end)| {
            let part: X::Out = seen("roll", before.clone(), place, |shape| part(shape, axis, start, end, 1));
            part.operand()
        });
        rolled = with_parts(|| joined("roll", parts.to_vec(), axis as isize, place));
    }
    rolled.part_of("roll", &[x], place)
}

/// The lower triangle of each matrix, the last two axes: the elements on and below the diagonal `k`, zero elsewhere. The
/// main diagonal is 0, diagonals above it are positive.
///
/// ```
/// use ndjit::{Array, tril};
/// let x = Array::from_rows(&[[1, 2], [3, 4]]);
/// assert_eq!(tril(&x, 0).to_string(), "[[1 0]\n [3 4]]");
/// ```
///
/// # Errors
/// Poisoned with `Shape` for less than two axes.
#[doc(alias = "lower_triangle")]
#[track_caller]
pub fn tril<X: UnaryOperand>(x: X, k: isize) -> X::Out {
    triangle("tril", x.operand(), k, Op::GreaterEqual, SourceLoc::caller())
}

/// The upper triangle of each matrix, the last two axes: the elements on and above the diagonal `k`, zero elsewhere: see [`tril`].
///
/// ```
/// use ndjit::{Array, triu};
///
/// let x = Array::from_rows(&[[1, 2], [3, 4]]);
/// assert_eq!(triu(&x, 0).to_string(), "[[1 2]\n [0 4]]");
/// ```
///
/// # Errors
/// As [`tril`].
#[doc(alias = "upper_triangle")]
#[track_caller]
pub fn triu<X: UnaryOperand>(x: X, k: isize) -> X::Out {
    triangle("triu", x.operand(), k, Op::LessEqual, SourceLoc::caller())
}

fn triangle<R: ArrayLike>(what: &'static str, x: AnyOperand, k: isize, op: Op, place: SourceLoc) -> R {
    let (ty, shape) = match x.describe(what) {
        Ok((ty, _, shape)) => (ty, shape),
        Err(error) => return R::failed(error.at(place)),
    };
    let [.., rows, columns] = *shape.extents() else {
        return refused(what, &[x], place, &no_matrix());
    };
    // Beyond the corners `k` has no further effect, and no sum wraps.
    let k = k.clamp(-isize::try_from(rows).unwrap_or(isize::MAX), isize::try_from(columns).unwrap_or(isize::MAX));
    let indices = |extents: [usize; 2]| -> R {
        let of = |_: &[&Shape]| Ok(Operation::iota(AxisSet::all(2)?, Shape::from(extents)));
        R::movement(&Movement { function: what.into(), of: &of }, slice::from_ref(&x), place)
    };
    let number = |literal| AnyOperand::Scalar(Scalar(literal, None));
    let zero = match ty {
        ValueType::Strong(dtype) => Literal::strong(false, dtype),
        ValueType::Weak(Weak::Int) => Ok(Literal::weak(0)),
        ValueType::Weak(Weak::Float) => Ok(Literal::weak(0.0)),
        ValueType::Weak(Weak::Complex) => Ok(Literal::weak(LiteralValue::Complex(0.0, 0.0))),
    };
    let [zero, k] = match [zero, Literal::strong(k as i64, DType::I64)] {
        [Ok(zero), Ok(k)] => [zero, k].map(number),
        [Err(error), _] | [_, Err(error)] => return refused(what, &[x], place, &error),
    };
    with_parts(|| {
        let (row, column): (R, R) = (indices([rows, 1]), indices([1, columns]));
        let shifted: R = R::compute(Op::Add, &[row.operand(), k], place);
        let kept: R = R::compute(op, &[shifted.operand(), column.operand()], place);
        R::compute(Op::Where, &[kept.operand(), x.clone(), zero], place)
    })
    .part_of(what, slice::from_ref(&x), place)
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Joins as methods: see the free functions.
        impl $of {
            /// [`roll`](fn@crate::roll) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// assert_eq!(Array::from([1, 2, 3]).roll(1, 0).to_string(), "[3 1 2]");
            /// ```
            #[doc(alias = "rotate")]
            #[track_caller]
            pub fn roll($self: $receiver, shifts: impl Integers, axes: impl Integers) -> $of {
                roll($self, shifts, axes)
            }

            /// [`tril`](fn@crate::tril) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// let x = Array::from_rows(&[[1, 2], [3, 4]]);
            /// assert_eq!(x.tril(0).to_string(), "[[1 0]\n [3 4]]");
            /// ```
            #[doc(alias = "lower_triangle")]
            #[track_caller]
            pub fn tril($self: $receiver, k: isize) -> $of {
                tril($self, k)
            }

            /// [`triu`](fn@crate::triu) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// let x = Array::from_rows(&[[1, 2], [3, 4]]);
            /// assert_eq!(x.triu(1).to_string(), "[[0 2]\n [0 0]]");
            /// ```
            #[doc(alias = "upper_triangle")]
            #[track_caller]
            pub fn triu($self: $receiver, k: isize) -> $of {
                triu($self, k)
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
