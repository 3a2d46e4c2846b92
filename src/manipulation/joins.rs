//! Joining: arrays one after the other, and what is made of that. Nothing is stored but the result: each array that is joined is
//! computed into its place.

use super::views::{no_matrix, refused, seen};
use crate::array::Array;
use crate::expr::Expr;
use crate::integers::Integers;
use crate::manipulation::{Move, Movement};
use crate::operand::{AnyOperand, Computed, Math, Number, Operand, Scalar};
use ndjit_ir::axes::{Axes, position};
use ndjit_ir::view::{self, Slice, View, concat_shape};
use ndjit_ir::{Error, ErrorCode, Op, Place, Result, Shape};

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
            Error::new(ErrorCode::Shape, what).help("arrays that are joined have the same extents along all other axes")
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

/// The part of an axis from `start` to `end`.
pub(crate) fn part(shape: &Shape, axis: usize, start: usize, end: usize, step: isize) -> Result<(View, Shape)> {
    let mut parts = vec![Slice::ALL; axis];
    parts.push(Slice::Range { start: Some(start as isize), end: Some(end as isize), step });
    view::slice(shape, &parts)
}

/// The elements shifted along axes, by `shifts[n]` along `axes[n]`; what leaves at one end comes in at the other.
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
/// Poisoned with `Shape` for axes that are not there, and if there are not as many shifts as axes.
#[track_caller]
pub fn roll<X: Math>(x: X, shifts: impl Integers, axes: impl Integers) -> X::Out {
    let (shifts, axes, place) = (shifts.integers(), axes.integers(), Place::caller());
    let x = x.operand();
    let shape = match x.describe("roll") {
        Ok((_, _, shape)) => shape,
        Err(error) => return X::Out::failed(error.at(place)),
    };
    if shifts.len() != axes.len() {
        let error = Error::new(ErrorCode::Shape, "a shift belongs to an axis")
            .fact(format_args!("shifts: {shifts:?}, axes: {axes:?}"))
            .help("give one shift for each axis");
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
        rolled = joined("roll", parts.to_vec(), axis as isize, place);
    }
    rolled
}

/// What an array is padded with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pad {
    /// A number.
    Constant(Scalar),
    /// The element at the edge.
    Edge,
    /// The elements next to the edge, mirrored at it: `c b | a b c | b a`.
    Reflect,
    /// The elements at the edge, mirrored behind it: `b a | a b c | c b`.
    Symmetric,
    /// The elements at the other end: `b c | a b c | a b`.
    Wrap,
}

impl<N: Number> From<N> for Pad {
    fn from(number: N) -> Pad {
        Pad::Constant(Scalar(number.literal(), None))
    }
}

/// The array with so many elements more before and after each axis: `widths[n]` are those of axis `n`; axes beyond stay. With a
/// number, or as [`Pad`] says.
///
/// ```
/// use ndjit::{Array, Pad, pad};
/// let x = Array::from([1, 2, 3]);
/// assert_eq!(pad(&x, [(1, 2)], 0).to_vec::<i32>()?, [0, 1, 2, 3, 0, 0]);
/// assert_eq!(pad(&x, [(2, 2)], Pad::Reflect).to_vec::<i32>()?, [3, 2, 1, 2, 3, 2, 1]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: NumPy's [`pad`](https://numpy.org/doc/stable/reference/generated/numpy.pad.html).
///
/// # Errors
/// Poisoned with `Shape` for more widths than axes, and for more elements than the axis has to be padded with; with `Literal` if the
/// dtype does not hold the number.
#[track_caller]
pub fn pad<X: Math>(x: X, widths: impl AsRef<[(usize, usize)]>, with: impl Into<Pad>) -> X::Out {
    let (widths, with, place) = (widths.as_ref(), with.into(), Place::caller());
    let x = x.operand();
    let (ty, dtype, shape) = match x.describe("pad") {
        Ok(described) => described,
        Err(error) => return X::Out::failed(error.at(place)),
    };
    let failed = |error: Error| refused("pad", std::slice::from_ref(&x), place, &error);
    if widths.len() > shape.rank() {
        return failed(
            Error::new(ErrorCode::Shape, format!("widths of {} axes, the array has {}", widths.len(), shape.rank()))
                .help("give a pair for each axis from the first; axes left out stay"),
        );
    }
    if let Pad::Constant(number) = with
        && !ty.is_weak()
        && let Err(error) = number.0.to_repr(dtype)
    {
        return failed(error);
    }
    let mut padded: X::Out =
        seen("pad", x.clone(), place, |shape| Ok((View::identity(shape.rank()).canonical(shape), shape.clone())));
    for (axis, &(before, after)) in widths.iter().enumerate() {
        let extent = shape.extents()[axis];
        let x = padded.operand();
        let current = match x.describe("pad") {
            Ok((_, _, current)) => current,
            Err(error) => return failed(error),
        };
        let piece = |of: &AnyOperand, make: &dyn Fn(&Shape) -> Result<(View, Shape)>| -> AnyOperand {
            let piece: X::Out = seen("pad", of.clone(), place, make);
            piece.operand()
        };
        let filled = |width: usize| {
            let mut extents = current.extents().to_vec();
            extents[axis] = width;
            Shape::from(extents)
        };
        let mut pieces: Vec<AnyOperand> = Vec::new();
        for (width, is_before) in [(before, true), (after, false)] {
            if !is_before {
                pieces.push(x.clone());
            }
            if width == 0 {
                continue;
            }
            let reach = if with == Pad::Reflect { extent.saturating_sub(1) } else { extent };
            let mirrored = |start: usize| {
                piece(&x, &|shape| {
                    if is_before {
                        part(shape, axis, start, start + width, -1)
                    } else {
                        part(shape, axis, extent - start - width, extent - start, -1)
                    }
                })
            };
            pieces.push(match with {
                Pad::Constant(number) => {
                    piece(&AnyOperand::Scalar(number), &|own| view::broadcast_to(own, &filled(width)))
                }
                _ if reach == 0 || width > reach && with != Pad::Edge => {
                    return failed(
                        Error::new(ErrorCode::Shape, format!("{width} elements at an axis that gives {reach}"))
                            .fact(format_args!("axis {axis} of shape {shape}, padded with {with:?}"))
                            .help("pad by less, or with a number"),
                    );
                }
                Pad::Edge => {
                    let at = if is_before { 0 } else { extent - 1 };
                    piece(&x, &|shape| {
                        let (edge, narrow) = part(shape, axis, at, at + 1, 1)?;
                        let (wide, to) = view::broadcast_to(&narrow, &filled(width))?;
                        Ok((wide.of(&edge).canonical(&to), to))
                    })
                }
                Pad::Reflect => mirrored(1),
                Pad::Symmetric => mirrored(0),
                Pad::Wrap if is_before => piece(&x, &|shape| part(shape, axis, extent - width, extent, 1)),
                Pad::Wrap => piece(&x, &|shape| part(shape, axis, 0, width, 1)),
            });
        }
        padded = joined("pad", pieces, axis as isize, place);
    }
    padded
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
#[track_caller]
pub fn tril<X: Math>(x: X, k: isize) -> X::Out {
    triangle("tril", x.operand(), k, Op::GreaterEqual, Place::caller())
}

/// Of each matrix, the last two axes, the elements on and above the diagonal `k`, zero elsewhere: see [`tril`].
///
/// # Errors
/// As [`tril`].
#[track_caller]
pub fn triu<X: Math>(x: X, k: isize) -> X::Out {
    triangle("triu", x.operand(), k, Op::LessEqual, Place::caller())
}

fn triangle<R: Computed>(what: &'static str, x: AnyOperand, k: isize, op: Op, place: Place) -> R {
    let shape = match x.describe(what) {
        Ok((_, _, shape)) => shape,
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
    let (row, column): (R, R) = (positions([rows, 1]), positions([1, columns]));
    let shifted: R = R::compute(Op::Add, &[row.operand(), (k as i64).operand()], place);
    let kept: R = R::compute(op, &[shifted.operand(), column.operand()], place);
    // Truth values join every dtype as 0 and 1.
    R::compute(Op::Where, &[kept.operand(), x, false.operand()], place)
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Joining: each is documented where it stands alone.
        impl $of {
            /// [`roll`](fn@crate::roll) as a method.
            #[track_caller]
            pub fn roll($self: $receiver, shifts: impl Integers, axes: impl Integers) -> $of {
                roll($self, shifts, axes)
            }

            /// [`pad`](fn@crate::pad) as a method.
            #[track_caller]
            pub fn pad($self: $receiver, widths: impl AsRef<[(usize, usize)]>, with: impl Into<Pad>) -> $of {
                pad($self, widths, with)
            }

            /// [`tril`](fn@crate::tril) as a method.
            #[track_caller]
            pub fn tril($self: $receiver, k: isize) -> $of {
                tril($self, k)
            }

            /// [`triu`](fn@crate::triu) as a method.
            #[track_caller]
            pub fn triu($self: $receiver, k: isize) -> $of {
                triu($self, k)
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
