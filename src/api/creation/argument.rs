//! Arguments of creation functions: shapes, identity matrices, sequences, and array-like values.

use crate::array::node::Array;
use crate::trace::scalar::{Number, Scalar, each_number};
use ndjit_ir::Shape;
use ndjit_ir::literal::Literal;
use ndjit_runtime::Element;
use std::ops::{Range, RangeInclusive};

/// A shape: the extent of one axis, extents of each in an array, a slice or a `Vec`, or a [`Shape`].
///
/// ```
/// use ndjit::{arange, ones, zeros};
///
/// let x = zeros([2, 3]);
/// assert_eq!(ones(x.shape()).shape().extents(), [2, 3]);
/// assert_eq!(arange(3).broadcast_to(vec![2, 3]).shape().extents(), [2, 3]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    label = "not `3`, `[2, 3]`, a slice or a `Vec` of `usize`, or a `Shape`",
    note = "extents are `usize`: write `n as usize` for other integers, `[2, 3]` for a tuple",
    note = "of a traced function shapes are fixed when it is traced: extents are plain integers, or of `x.shape()`, never of an `Expr`; `zeros_like(x)` has the shape of `x`"
)]
pub trait IntoShape {
    #[doc(hidden)]
    fn shape(self) -> Shape;
}

macro_rules! shapes {
    ($([$($generics:tt)*] $t:ty, $x:ident => $made:expr;)*) => {$(
        impl<$($generics)*> IntoShape for $t {
            fn shape(self) -> Shape {
                let $x = self;
                $made
            }
        }
    )*};
}

// One impl per type: with a blanket `Into<Shape>` the compiler's message would suggest only `From`.
shapes! {
    [] Shape, shape => shape;
    [] &Shape, shape => shape.clone();
    [] usize, extent => Shape::from(extent);
    [const N: usize] [usize; N], extents => Shape::from(extents);
    [const N: usize] &[usize; N], extents => Shape::new(extents);
    [] &[usize], extents => Shape::new(extents);
    [] Vec<usize>, extents => Shape::from(extents);
    [] &Vec<usize>, extents => Shape::new(extents);
}

/// The shape of an identity matrix, and the diagonal of ones: made from `rows`, `(rows, columns)` or
/// `(rows, columns, diagonal)`. The main diagonal is 0, diagonals above it are positive.
///
/// ```
/// use ndjit::eye;
///
/// assert_eq!(eye((2, 3, 1)).to_string(), "[[0. 1. 0.]\n [0. 0. 1.]]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Eye {
    /// The extent of the first axis.
    pub rows: usize,
    /// The extent of the second axis.
    pub columns: usize,
    /// The column of the one in the first row, if in range.
    pub diagonal: isize,
}

/// The argument of [`eye`](crate::eye): `rows`, `(rows, columns)`, `(rows, columns, diagonal)`, or an [`Eye`].
///
/// ```
/// use ndjit::eye;
///
/// assert_eq!(eye((1, 2)).to_string(), "[[1. 0.]]");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shape of an identity matrix",
    label = "not `rows`, `(rows, columns)` or `(rows, columns, diagonal)`",
    note = "rows and columns are `usize`, the diagonal is an `isize`: write `n as usize` for other integers",
    note = "of a traced function shapes are fixed when it is traced: rows and columns are plain integers, or of `x.shape()`, never an `Expr`"
)]
pub trait IntoEye {
    #[doc(hidden)]
    fn eye(self) -> Eye;
}

impl IntoEye for Eye {
    fn eye(self) -> Eye {
        self
    }
}

impl IntoEye for usize {
    fn eye(self) -> Eye {
        let rows = self;
        Eye { rows, columns: rows, diagonal: 0 }
    }
}

impl IntoEye for (usize, usize) {
    fn eye(self) -> Eye {
        let (rows, columns) = self;
        Eye { rows, columns, diagonal: 0 }
    }
}

impl IntoEye for (usize, usize, isize) {
    fn eye(self) -> Eye {
        let (rows, columns, diagonal) = self;
        Eye { rows, columns, diagonal }
    }
}

/// The argument of [`arange`](crate::arange): a number of steps from 0, a range, or `(start, stop, step)`.
///
/// ```
/// use ndjit::arange;
///
/// assert_eq!(arange(3).to_string(), "[0 1 2]");
/// assert_eq!(arange(1..4).to_string(), "[1 2 3]");
/// assert_eq!(arange((4, 0, -2)).to_string(), "[4 2]");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a range of numbers",
    label = "not a number, a range, or (start, stop, step)",
    note = "write `arange(5)`, `arange(2..5)` or `arange((0, 1, 0.25))`",
    note = "of a traced function shapes are fixed when it is traced: ends and steps are plain numbers, or of `x.shape()`, never an `Expr`"
)]
pub trait Steps {
    /// Returns start, stop and step, each with a flag if it was given and thus affects the dtype.
    #[doc(hidden)]
    fn steps(self) -> [(Literal, bool); 3];
}

fn given(number: impl Number) -> (Literal, bool) {
    (number.literal(), true)
}

fn implied(number: i32) -> (Literal, bool) {
    (Literal::weak(number), false)
}

impl<N: Number> Steps for Range<N> {
    fn steps(self) -> [(Literal, bool); 3] {
        [given(self.start), given(self.end), implied(1)]
    }
}

impl<A: Number, B: Number, C: Number> Steps for (A, B, C) {
    fn steps(self) -> [(Literal, bool); 3] {
        [given(self.0), given(self.1), given(self.2)]
    }
}

/// The interval of [`linspace`](crate::linspace): `start..=stop`, or `start..stop` without its end.
///
/// ```
/// use ndjit::linspace;
///
/// assert_eq!(linspace(0..=2, 3).to_string(), "[0. 1. 2.]");
/// assert_eq!(linspace(0..2, 2).to_string(), "[0. 1.]");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an interval of numbers",
    label = "not `start..=stop` or `start..stop`",
    note = "write `linspace(0.0..=1.0, 5)`, or `linspace(0.0..1.0, 4)` to leave the end out"
)]
pub trait Interval {
    /// Returns the ends, and a flag if the interval includes the second.
    #[doc(hidden)]
    fn ends(self) -> ([Literal; 2], bool);
}

impl<N: Number> Interval for RangeInclusive<N> {
    fn ends(self) -> ([Literal; 2], bool) {
        ([self.start().literal(), self.end().literal()], true)
    }
}

impl<N: Number> Interval for Range<N> {
    fn ends(self) -> ([Literal; 2], bool) {
        ([self.start.literal(), self.end.literal()], false)
    }
}

/// The argument of [`asarray`](crate::asarray): scalars, `Vec`s, slices and arrays.
///
/// ```
/// use ndjit::asarray;
///
/// assert_eq!(asarray([1, 2]).to_string(), "[1 2]");
/// assert_eq!(asarray(vec![0.5f32]).to_string(), "[0.5]");
/// ```
#[diagnostic::on_unimplemented(
    message = "no array can be made from `{Self}`",
    label = "not a number, a `Vec`, a slice or an array",
    note = "write `asarray(2)`, `asarray([1, 2])` or `asarray(vec![0.5])`; `Array::from_rows(&[[1, 2], [3, 4]])` makes one of rows",
    note = "an `Expr` is a value of a traced function already"
)]
pub trait AsArray {
    #[doc(hidden)]
    fn source(self) -> Source;
}

/// The source of an array's elements.
#[doc(hidden)]
pub enum Source {
    Number(Literal),
    Array(Array),
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Steps for $t {
            fn steps(self) -> [(Literal, bool); 3] {
                [implied(0), given(self), implied(1)]
            }
        }

        impl AsArray for $t {
            fn source(self) -> Source {
                Source::Number(self.literal())
            }
        }
    )*};
}

each_number!(numbers);
numbers! { Scalar }

macro_rules! arrays {
    ($([$($generics:tt)*] $t:ty;)*) => {$(
        impl<$($generics)*> AsArray for $t {
            fn source(self) -> Source {
                Source::Array(Array::from(self))
            }
        }
    )*};
}

arrays! {
    [] Array;
    [T: Element] Vec<T>;
    [T: Element] &Vec<T>;
    [T: Element] &[T];
    [T: Element, const N: usize] [T; N];
    [T: Element, const N: usize] &[T; N];
}

impl AsArray for &Array {
    fn source(self) -> Source {
        Source::Array(self.clone())
    }
}
