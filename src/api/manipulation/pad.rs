//! Padding: additional elements before and after each axis, scalars or the array's own.

use super::joins::{joined, part};
use super::repeats::together;
use super::views::{refused, seen};
use crate::api::config::with_parts;
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand, UnaryOperand};
use crate::trace::scalar::{Number, Scalar};
use ndjit_ir::literal::Literal;
use ndjit_ir::view::{self, View};
use ndjit_ir::{CastAdvice, DType, Error, ErrorCode, Help, LiteralValue, Result, Shape, SourceLoc, ValueType};
use smallvec::{SmallVec, smallvec};
use std::slice;

/// The values of a padding.
///
/// ```
/// use ndjit::{Array, Pad};
///
/// let x = Array::from([1, 2, 3]);
/// assert_eq!(x.pad(1, Pad::Edge).to_string(), "[1 1 2 3 3]");
/// assert_eq!(x.pad(1, Pad::Wrap).to_string(), "[3 1 2 3 1]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pad {
    /// A scalar.
    Constant(Scalar),
    /// The element at the edge.
    Edge,
    /// The elements next to the edge, mirrored at it: `c b | a b c | b a`.
    Reflect,
    /// The elements mirrored at the edge: `b a | a b c | c b`.
    Symmetric,
    /// The elements at the other end: `b c | a b c | a b`.
    Wrap,
}

impl<N: Number> From<N> for Pad {
    fn from(number: N) -> Pad {
        Pad::Constant(Scalar(number.literal(), None))
    }
}

/// The widths of [`pad`]: one integer for both ends of all axes, one pair `(before, after)` for all axes, or a pair for each
/// axis from the first in an array, a slice or a `Vec`; further axes are unchanged.
///
/// ```
/// use ndjit::Array;
///
/// let x = Array::from([1, 2]);
/// assert_eq!(x.pad(1, 0).to_string(), "[0 1 2 0]");
/// assert_eq!(x.pad((0, 2), 9).to_string(), "[1 2 9 9]");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pad width",
    label = "not a number, a pair, or a list of pairs",
    note = "write `1` or `(1, 2)` for all axes, `[(1, 2), (0, 3)]` for each from the first, of numbers `usize`"
)]
pub trait Widths {
    /// Returns the pairs for an array of this rank; more if more are given.
    fn widths(self, rank: usize) -> SmallVec<[(usize, usize); 4]>;
}

impl Widths for usize {
    fn widths(self, rank: usize) -> SmallVec<[(usize, usize); 4]> {
        (self, self).widths(rank)
    }
}

impl Widths for (usize, usize) {
    fn widths(self, rank: usize) -> SmallVec<[(usize, usize); 4]> {
        smallvec![self; rank]
    }
}

impl Widths for &[(usize, usize)] {
    fn widths(self, _rank: usize) -> SmallVec<[(usize, usize); 4]> {
        SmallVec::from_slice(self)
    }
}

macro_rules! lists {
    ($([$($generics:tt)*] $t:ty;)*) => {$(
        impl<$($generics)*> Widths for $t {
            fn widths(self, rank: usize) -> SmallVec<[(usize, usize); 4]> {
                self[..].widths(rank)
            }
        }
    )*};
}

lists! {
    [const N: usize] [(usize, usize); N];
    [const N: usize] &[(usize, usize); N];
    [] Vec<(usize, usize)>;
    [] &Vec<(usize, usize)>;
}

/// Pads an array before and after each axis by [`Widths`], with a scalar or a [`Pad`]. A literal takes the dtype of the
/// array, which is 0 or 1 for bool. Mirrored and wrapped elements repeat as often as necessary.
///
/// ```
/// use ndjit::{Array, Pad, pad};
/// let x = Array::from([1, 2, 3]);
/// assert_eq!(pad(&x, [(1, 2)], 0).to_vec::<i32>()?, [0, 1, 2, 3, 0, 0]);
/// assert_eq!(pad(&x, 2, Pad::Reflect).to_vec::<i32>()?, [3, 2, 1, 2, 3, 2, 1]);
/// assert_eq!(pad(&x, (0, 4), Pad::Wrap).to_vec::<i32>()?, [1, 2, 3, 1, 2, 3, 1]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: NumPy's [`pad`](https://numpy.org/doc/stable/reference/generated/numpy.pad.html).
///
/// # Errors
/// Poisoned with `Shape` for more widths than axes, and for padding an empty axis with its own elements; with `Size` if the
/// result is larger than memory can address; with `Literal` if the dtype does not contain the scalar.
#[track_caller]
#[doc(alias = "constant_pad")]
pub fn pad<X: UnaryOperand>(x: X, widths: impl Widths, with: impl Into<Pad>) -> X::Out {
    let (with, place) = (with.into(), SourceLoc::caller());
    let x = x.operand();
    let (ty, dtype, shape) = match x.describe("pad") {
        Ok(described) => described,
        Err(error) => return X::Out::failed(error.at(place)),
    };
    let widths = widths.widths(shape.rank());
    let with = match fits(&widths, with, ty, dtype, &shape) {
        Ok(with) => with,
        Err(error) => return refused("pad", slice::from_ref(&x), place, &error),
    };
    let mut padded: X::Out =
        seen("pad", x.clone(), place, |shape| Ok((View::identity(shape.rank()).canonical(shape), shape.clone())));
    for (axis, &widths) in widths.iter().enumerate().filter(|(_, widths)| **widths != (0, 0)) {
        let along = AxisPadding { axis, widths, place };
        let before = padded.operand();
        padded = match with {
            // A scalar with an explicit dtype promotes the result.
            Pad::Constant(number) if !number.is_weak() && number.value_type() != ty => along.framed(&before, with),
            Pad::Constant(_) | Pad::Edge => with_parts(|| along.framed(&before, with)),
            Pad::Reflect | Pad::Symmetric | Pad::Wrap => with_parts(|| along.repeated(&before, with)),
        };
    }
    padded.part_of("pad", &[x], place)
}

/// Returns the padding with its scalar in the array's dtype, if it fits.
fn fits(widths: &[(usize, usize)], with: Pad, ty: ValueType, dtype: DType, shape: &Shape) -> Result<Pad> {
    if widths.len() > shape.rank() {
        let what = format!("widths of {} axes, the array has {}", widths.len(), shape.rank());
        return Err(Error::new(ErrorCode::Shape, what)
            .help("give a pair for each axis from the first, or one pair for all; axes left out stay"));
    }
    let mut extents = shape.extents().to_vec();
    for (axis, &(before, after)) in widths.iter().enumerate() {
        let own = extents[axis];
        if own == 0 && (before, after) != (0, 0) && !matches!(with, Pad::Constant(_)) {
            return Err(Error::new(ErrorCode::Shape, format!("axis {axis} has no elements to be padded with"))
                .fact(format_args!("axis {axis} of shape {shape}, padded by ({before}, {after}) with {with:?}"))
                .help("pad with a number, as in `x.pad(2, 0)`"));
        }
        let sum = before.checked_add(own).and_then(|sum| sum.checked_add(after)).ok_or_else(|| {
            Error::new(ErrorCode::Size, format!("axis {axis} has more elements than memory can address"))
                .fact(format_args!("axis {axis} of shape {shape}, padded by ({before}, {after})"))
                .help("pad by less")
        });
        extents[axis] = sum?;
    }
    Shape::from(extents).bytes(dtype.bytes())?;
    let Pad::Constant(number) = with else { return Ok(with) };
    let literal = match (ty, number.0.value()) {
        (ValueType::Weak(_), LiteralValue::Bool(truth)) => {
            return Ok(Pad::Constant(Scalar(Literal::weak(i32::from(truth)), None)));
        }
        (ValueType::Strong(_), LiteralValue::Bool(_)) => number.0,
        (ValueType::Weak(_), _) => return Ok(with),
        (ValueType::Strong(_), _) if !number.is_weak() => return Ok(with),
        (ValueType::Strong(DType::Bool), LiteralValue::Int(n @ 0..=1)) => Literal::weak(n == 1),
        (ValueType::Strong(_), _) => number.0,
    };
    match literal.to_repr(dtype) {
        Ok(repr) => Ok(Pad::Constant(Scalar(Literal::from_repr(dtype, &repr), number.1))),
        Err(error) => Err(misfit(error, dtype, number)),
    }
}

/// The error of a scalar outside of the array's dtype, with advice.
fn misfit(error: Error, dtype: DType, number: Scalar) -> Error {
    let wider = [DType::I16, DType::I32, DType::I64, DType::U64, DType::F32, DType::F64, DType::C64];
    let holds = |other: &DType| {
        let kind = other.kind() >= dtype.kind() && other.bytes() >= dtype.bytes();
        kind && number.0.to_repr(*other).is_ok()
    };
    let numbers = match dtype {
        DType::Bool => "`true`, `false`, 0 or 1".to_owned(),
        _ => format!("a number that {dtype} holds"),
    };
    error.help(match wider.iter().find(|other| holds(other)) {
        Some(&wider) => Help::from(format!("give {numbers}, or cast the array, as in "))
            .casts([CastAdvice::NamedOperand("x", wider)]),
        None => format!("give {numbers}").into(),
    })
}

/// The padding of one axis.
struct AxisPadding {
    axis: usize,
    widths: (usize, usize),
    place: SourceLoc,
}

impl AxisPadding {
    fn piece<R: ArrayLike>(&self, of: &AnyOperand, make: impl Fn(&Shape) -> Result<(View, Shape)>) -> AnyOperand {
        let piece: R = seen("pad", of.clone(), self.place, make);
        piece.operand()
    }

    /// Pads with equal elements before and after.
    fn framed<R: ArrayLike>(&self, x: &AnyOperand, with: Pad) -> R {
        let shape = match x.describe("pad") {
            Ok((_, _, shape)) => shape,
            Err(error) => return R::failed(error.at(self.place)),
        };
        let edge = |width: usize, is_before: bool| match with {
            Pad::Constant(number) => {
                let filled = with_extent(&shape, self.axis, width);
                self.piece::<R>(&AnyOperand::Scalar(number), |own| view::broadcast_to(own, &filled))
            }
            _ => self.piece::<R>(x, |shape| {
                let at = if is_before { 0 } else { shape.extents()[self.axis].saturating_sub(1) };
                let (edge, narrow) = part(shape, self.axis, at, at + 1, 1)?;
                let (wide, to) = view::broadcast_to(&narrow, &with_extent(&narrow, self.axis, width))?;
                Ok((wide.of(&edge).canonical(&to), to))
            }),
        };
        let (before, after) = self.widths;
        let mut pieces: Vec<AnyOperand> = Vec::with_capacity(3);
        if before > 0 {
            pieces.push(edge(before, true));
        }
        pieces.push(x.clone());
        if after > 0 {
            pieces.push(edge(after, false));
        }
        joined("pad", pieces, self.axis as isize, self.place)
    }

    /// Pads with the array's own elements.
    fn repeated<R: ArrayLike>(&self, x: &AnyOperand, with: Pad) -> R {
        let (axis, (before, after)) = (self.axis, self.widths);
        let extent = match x.describe("pad") {
            Ok((_, _, shape)) => shape.extents()[axis],
            Err(error) => return R::failed(error.at(self.place)),
        };
        let reach = if with == Pad::Reflect { extent.saturating_sub(1) } else { extent };
        match with {
            // A single element has no mirror image without its edge.
            Pad::Reflect if extent == 1 => self.framed(x, Pad::Edge),
            _ if before.max(after) > reach => self.periodic(x, with, extent),
            _ => {
                let off = usize::from(with == Pad::Reflect);
                let taken = |start: usize, width: usize, step: isize| {
                    self.piece::<R>(x, |shape| part(shape, axis, start, start + width, step))
                };
                let first = (before > 0).then(|| match with {
                    Pad::Wrap => taken(extent - before, before, 1),
                    _ => taken(off, before, -1),
                });
                let last = (after > 0).then(|| match with {
                    Pad::Wrap => taken(0, after, 1),
                    _ => taken(extent - off - after, after, -1),
                });
                let pieces = first.into_iter().chain([x.clone()]).chain(last).collect();
                joined("pad", pieces, axis as isize, self.place)
            }
        }
    }

    /// Repeats the array, followed by its mirror image if any, and takes a part of the extent of the result.
    fn periodic<R: ArrayLike>(&self, x: &AnyOperand, with: Pad, extent: usize) -> R {
        let (axis, place, (before, after)) = (self.axis, self.place, self.widths);
        let off = usize::from(with == Pad::Reflect);
        let once: AnyOperand = match with {
            Pad::Wrap => x.clone(),
            _ => {
                let image = self.piece::<R>(x, |shape| part(shape, axis, off, extent - off, -1));
                let both: R = joined("pad", vec![x.clone(), image], axis as isize, place);
                both.operand()
            }
        };
        let period = if with == Pad::Wrap { extent } else { 2 * (extent - off) };
        let start = (period - before % period) % period;
        let end = start + before + extent + after;
        let spread: R = seen("pad", once, place, |shape| repetition(shape, axis, end.div_ceil(period)));
        let all: R = together("pad", spread.operand(), place, |n| n == axis);
        seen("pad", all.operand(), place, |shape| part(shape, axis, start, end, 1))
    }
}

/// Repeats the array along a new axis before one.
fn repetition(shape: &Shape, axis: usize, times: usize) -> Result<(View, Shape)> {
    let (apart, narrow) = view::expand_dims(shape, &[axis as isize])?;
    let (wide, to) = view::broadcast_to(&narrow, &with_extent(&narrow, axis, times))?;
    Ok((wide.of(&apart).canonical(&to), to))
}

fn with_extent(shape: &Shape, axis: usize, extent: usize) -> Shape {
    let mut extents = shape.extents().to_vec();
    extents[axis] = extent;
    Shape::from(extents)
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Padding as a method: see the free function.
        impl $of {
            /// [`pad`](fn@crate::pad) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// assert_eq!(Array::from([1, 2]).pad(1, 0).to_string(), "[0 1 2 0]");
            /// ```
            #[track_caller]
            pub fn pad($self: $receiver, widths: impl Widths, with: impl Into<Pad>) -> $of {
                pad($self, widths, with)
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
