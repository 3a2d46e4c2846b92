//! Joining: arrays one after the other, and what is made of that. Nothing is stored but the result: each array that is joined is
//! computed into its place.

use super::views::{no_matrix, refused, seen};
use crate::array::Array;
use crate::config::with_parts;
use crate::expr::Expr;
use crate::integers::Integers;
use crate::manipulation::{Move, Movement};
use crate::operand::{AnyOperand, Computed, Math, Operand, Scalar};
use ndjit_ir::axes::{Axes, position};
use ndjit_ir::literal::Literal;
use ndjit_ir::view::{self, Slice, View, concat_shape};
use ndjit_ir::{DType, Error, ErrorCode, LiteralValue, Op, Place, Result, Shape, ValueType, Weak};

/// Arrays one after the other along an axis, in their common dtype.
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
/// Poisoned with `Shape` if there are no arrays, if there is no such axis, or if shapes differ in more than that axis; with
/// `Promotion` if the dtypes have no common one.
#[doc(alias = "concatenate")]
#[doc(alias = "cat")]
#[doc(alias = "hstack")]
#[doc(alias = "vstack")]
#[doc(alias = "append")]
#[track_caller]
pub fn concat<X: Math>(arrays: impl IntoIterator<Item = X>, axis: isize) -> X::Out {
    joined("concat", arrays.into_iter().map(Operand::operand).collect(), axis, Place::caller())
}

pub(crate) fn joined<R: Computed>(what: &'static str, arrays: Vec<AnyOperand>, axis: isize, place: Place) -> R {
    let of = |shapes: &[&Shape]| {
        let first = shapes
            .first()
            .ok_or_else(|| Error::new(ErrorCode::Shape, "there are no arrays to join").help("give at least one"))?;
        let axis = position(axis, first.rank())?;
        let shape = concat_shape(shapes, axis).map_err(|what| {
            Error::new(ErrorCode::Shape, what).help(format!(
                "arrays joined along axis {axis} have the same number of axes, and the same extents along all others"
            ))
        })?;
        Ok((Move::Concat(axis as u32), shape))
    };
    R::movement(&Movement { what, of: &of }, &arrays, place)
}

/// Arrays of one shape beside each other, along a new axis.
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
pub fn stack<X: Math>(arrays: impl IntoIterator<Item = X>, axis: isize) -> X::Out {
    let place = Place::caller();
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
    joined("stack", operands.into_iter().map(apart).collect(), axis, place)
}

/// The array repeated as a whole: `repetitions[n]` times along axis `n`. Where they are fewer than axes they are those of the last ones,
/// where they are more the array gets axes before its first.
///
/// ```
/// use ndjit::{Array, tile};
/// assert_eq!(tile(Array::from([1, 2]), [2, 2]).to_string(), "[[1 2 1 2]\n [1 2 1 2]]");
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.tile.html).
///
/// # Errors
/// Poisoned with `Shape` for a negative number of repetitions, with `Size` if the result is larger than memory can address.
#[doc(alias = "repmat")]
#[track_caller]
pub fn tile<X: Math>(x: X, repetitions: impl Integers) -> X::Out {
    let (repetitions, place) = (repetitions.integers(), Place::caller());
    let x = x.operand();
    let described = x.describe("tile").map_err(|error| error.at(place));
    let (_, dtype, shape) = match described {
        Ok(described) => described,
        Err(error) => return X::Out::failed(error),
    };
    let tiled = counts(&repetitions).and_then(|times| {
        let rank = shape.rank().max(times.len());
        let times_along = |axis: usize| (axis + times.len()).checked_sub(rank).map_or(1, |n| times[n]);
        let extent = |axis: usize| (axis + shape.rank()).checked_sub(rank).map_or(1, |n| shape.extents()[n]);
        let pairs: Vec<(usize, usize)> = (0..rank).map(|axis| (times_along(axis), extent(axis))).collect();
        let product = |&(times, extent): &(usize, usize)| times.checked_mul(extent);
        let extents: Option<Vec<usize>> = pairs.iter().map(product).collect();
        let fits = extents.is_some_and(|extents| Shape::from(extents).bytes(dtype.bytes()).is_ok());
        let too_large = Error::new(ErrorCode::Size, "the result has more elements than memory can address")
            .fact(format_args!("the shape: {shape}, repeated {repetitions:?} times"))
            .help("repeat it less often; operators need no repetition, they broadcast");
        if fits { Ok(pairs) } else { Err(too_large) }
    });
    let pairs = match tiled {
        Ok(pairs) => pairs,
        Err(error) => return refused("tile", &[x], place, &error),
    };
    // Each axis is one of repetitions and one of elements.
    let spread: X::Out = seen("tile", x, place, |shape| {
        let extents: Vec<usize> = pairs.iter().flat_map(|&(times, extent)| [times, extent]).collect();
        let once = Shape::from(pairs.iter().flat_map(|&(_, extent)| [1, extent]).collect::<Vec<usize>>());
        // Axes of one element are new, no others are joined or split: this is a view.
        let apart = view::reshape(shape, &once).unwrap_or(View::identity(shape.rank()));
        let (wide, to) = view::broadcast_to(&once, &Shape::from(extents))?;
        Ok((wide.of(&apart).canonical(&to), to))
    });
    together("tile", spread.operand(), place, |_| true)
}

/// Each element repeated so many times along an axis.
///
/// ```
/// use ndjit::{Array, repeat};
/// assert_eq!(repeat(Array::from([1, 2]), 3, 0).to_vec::<i32>()?, [1, 1, 1, 2, 2, 2]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.repeat.html).
///
/// # Errors
/// Poisoned with `Shape` for an axis that is not there.
#[track_caller]
pub fn repeat<X: Math>(x: X, times: usize, axis: isize) -> X::Out {
    let place = Place::caller();
    let x = x.operand();
    let at = match x.describe("repeat").and_then(|(_, _, shape)| position(axis, shape.rank())) {
        Ok(at) => at,
        Err(error) => return refused("repeat", &[x], place, &error),
    };
    let spread: X::Out = seen("repeat", x, place, |shape| {
        let (apart, narrow) = view::expand_dims(shape, &[at as isize + 1])?;
        let mut extents = narrow.extents().to_vec();
        extents[at + 1] = times;
        let (wide, to) = view::broadcast_to(&narrow, &Shape::from(extents))?;
        Ok((wide.of(&apart).canonical(&to), to))
    });
    together("repeat", spread.operand(), place, |axis| axis == at)
}

/// Axes joined with the next one: pairs `(2n, 2n + 1)` for all `n` where every axis is `paired`, else the paired axis with that
/// after it.
pub(super) fn together<R: Computed>(
    what: &'static str,
    x: AnyOperand,
    place: Place,
    paired: impl Fn(usize) -> bool,
) -> R {
    let of = |shapes: &[&Shape]| {
        let mut extents = Vec::new();
        let mut all = shapes[0].extents().iter();
        while let Some(&extent) = all.next() {
            let with = if paired(extents.len()) { all.next().copied().unwrap_or(1) } else { 1 };
            let joined = extent.checked_mul(with).ok_or_else(|| {
                Error::new(ErrorCode::Size, format!("{extent} times {with} elements are more than memory can address"))
            });
            extents.push(joined?);
        }
        Ok((Move::Reshape, Shape::from(extents)))
    };
    R::movement(&Movement { what, of: &of }, &[x], place)
}

fn counts(numbers: &[isize]) -> Result<Vec<usize>> {
    let count = |&number: &isize| {
        usize::try_from(number).map_err(|_| {
            Error::new(ErrorCode::Shape, format!("{number} is no number of repetitions"))
                .help("repetitions are 0 or more")
        })
    };
    numbers.iter().map(count).collect()
}

/// The part of an axis from `start` to `end`.
pub(crate) fn part(shape: &Shape, axis: usize, start: usize, end: usize, step: isize) -> Result<(View, Shape)> {
    let mut parts = vec![Slice::ALL; axis];
    parts.push(Slice::Range { start: Some(start as isize), end: Some(end as isize), step });
    view::slice(shape, &parts)
}

/// The elements shifted along axes, by `shifts[n]` along `axes[n]`, or by one shift along each; what leaves at one end comes in at the other.
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
/// Poisoned with `Shape` for axes that are not there, and if there are several shifts, but not as many as axes.
#[doc(alias = "rotate")]
#[track_caller]
pub fn roll<X: Math>(x: X, shifts: impl Integers, axes: impl Integers) -> X::Out {
    let (mut shifts, axes, place) = (shifts.integers(), axes.integers(), Place::caller());
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
        seen("roll", x, place, |shape| Ok((View::identity(shape.rank()).canonical(shape), shape.clone())));
    for (&shift, &axis) in shifts.iter().zip(&axes) {
        let axis = match position(axis, shape.rank()) {
            Ok(axis) => axis,
            Err(error) => return refused("roll", &[rolled.operand()], place, &error),
        };
        let extent = shape.extents()[axis];
        let Some(by) = shift.checked_rem_euclid(extent as isize).filter(|&by| by != 0) else { continue };
        let at = extent - by.unsigned_abs();
        let x = rolled.operand();
        let parts = [(at, extent), (0, at)].map(|(start, end)| {
            let part: X::Out = seen("roll", x.clone(), place, |shape| part(shape, axis, start, end, 1));
            part.operand()
        });
        rolled = with_parts(|| joined("roll", parts.to_vec(), axis as isize, place));
    }
    rolled
}

/// Of each matrix, the last two axes, the elements on and below the diagonal `k`, zero elsewhere: `k` is 0 for the main diagonal, above it
/// positive.
///
/// ```
/// use ndjit::{Array, tril};
/// let x = Array::from_rows(&[[1, 2], [3, 4]]);
/// assert_eq!(tril(&x, 0).to_string(), "[[1 0]\n [3 4]]");
/// ```
///
/// # Errors
/// Poisoned with `Shape` if there are less than two axes.
#[doc(alias = "lower_triangle")]
#[track_caller]
pub fn tril<X: Math>(x: X, k: isize) -> X::Out {
    triangle("tril", x.operand(), k, Op::GreaterEqual, Place::caller())
}

/// Of each matrix, the last two axes, the elements on and above the diagonal `k`, zero elsewhere: see [`tril`].
///
/// # Errors
/// As [`tril`].
#[doc(alias = "upper_triangle")]
#[track_caller]
pub fn triu<X: Math>(x: X, k: isize) -> X::Out {
    triangle("triu", x.operand(), k, Op::LessEqual, Place::caller())
}

fn triangle<R: Computed>(what: &'static str, x: AnyOperand, k: isize, op: Op, place: Place) -> R {
    let (ty, shape) = match x.describe(what) {
        Ok((ty, _, shape)) => (ty, shape),
        Err(error) => return R::failed(error.at(place)),
    };
    let [.., rows, columns] = *shape.extents() else {
        return refused(what, &[x], place, &no_matrix());
    };
    // Beyond the corners nothing changes, and no sum wraps.
    let k = k.clamp(-isize::try_from(rows).unwrap_or(isize::MAX), isize::try_from(columns).unwrap_or(isize::MAX));
    let positions = |extents: [usize; 2]| -> R {
        let of = |_: &[&Shape]| Ok((Move::Iota(Axes::all(2)?), Shape::from(extents)));
        R::movement(&Movement { what, of: &of }, &[], place)
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
        let (row, column): (R, R) = (positions([rows, 1]), positions([1, columns]));
        let shifted: R = R::compute(Op::Add, &[row.operand(), k], place);
        let kept: R = R::compute(op, &[shifted.operand(), column.operand()], place);
        R::compute(Op::Where, &[kept.operand(), x, zero], place)
    })
    .part_of(what, place)
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Joining: each is documented where it stands alone.
        impl $of {
            /// [`tile`](fn@crate::tile) as a method.
            #[doc(alias = "repmat")]
            #[track_caller]
            pub fn tile($self: $receiver, repetitions: impl Integers) -> $of {
                tile($self, repetitions)
            }

            /// [`repeat`](fn@crate::repeat) as a method.
            #[track_caller]
            pub fn repeat($self: $receiver, times: usize, axis: isize) -> $of {
                repeat($self, times, axis)
            }

            /// [`roll`](fn@crate::roll) as a method.
            #[doc(alias = "rotate")]
            #[track_caller]
            pub fn roll($self: $receiver, shifts: impl Integers, axes: impl Integers) -> $of {
                roll($self, shifts, axes)
            }

            /// [`tril`](fn@crate::tril) as a method.
            #[doc(alias = "lower_triangle")]
            #[track_caller]
            pub fn tril($self: $receiver, k: isize) -> $of {
                tril($self, k)
            }

            /// [`triu`](fn@crate::triu) as a method.
            #[doc(alias = "upper_triangle")]
            #[track_caller]
            pub fn triu($self: $receiver, k: isize) -> $of {
                triu($self, k)
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
