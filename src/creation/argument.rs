//! What creation functions take: shapes of identity matrices, ends and steps of sequences, and what is an array or becomes one.

use crate::array::Array;
use crate::operand::{Number, Scalar, each_number};
use ndjit_ir::literal::Literal;
use ndjit_runtime::Element;
use std::ops::{Range, RangeInclusive};

/// The shape of an identity matrix, and which diagonal holds the ones: made from `rows`, `(rows, columns)` or
/// `(rows, columns, diagonal)`. Diagonals are counted from the main one, above it positive.
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
    /// The column of the first row's one, if there is such a column.
    pub diagonal: isize,
}

impl From<usize> for Eye {
    fn from(rows: usize) -> Eye {
        Eye { rows, columns: rows, diagonal: 0 }
    }
}

impl From<(usize, usize)> for Eye {
    fn from((rows, columns): (usize, usize)) -> Eye {
        Eye { rows, columns, diagonal: 0 }
    }
}

impl From<(usize, usize, isize)> for Eye {
    fn from((rows, columns, diagonal): (usize, usize, isize)) -> Eye {
        Eye { rows, columns, diagonal }
    }
}

/// What [`arange`](crate::arange) counts: a number of steps from 0, a range, or `(start, stop, step)`.
///
/// ```
/// use ndjit::arange;
///
/// assert_eq!(arange(3).to_string(), "[0 1 2]");
/// assert_eq!(arange(1..4).to_string(), "[1 2 3]");
/// assert_eq!(arange((4, 0, -2)).to_string(), "[4 2]");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is nothing to count",
    label = "not a number, a range, or (start, stop, step)",
    note = "write `arange(5)`, `arange(2..5)` or `arange((0, 1, 0.25))`"
)]
pub trait Steps {
    /// Start, stop and step, and whether each was given and so matters for the dtype.
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

/// What [`linspace`](crate::linspace) divides: `start..=stop`, or `start..stop` without its end.
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
    /// The ends, and whether the second belongs to it.
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

/// What [`asarray`](crate::asarray) takes: numbers, `Vec`s, slices and arrays.
///
/// ```
/// use ndjit::asarray;
///
/// assert_eq!(asarray([1, 2]).to_string(), "[1 2]");
/// assert_eq!(asarray(vec![0.5f32]).to_string(), "[0.5]");
/// ```
#[diagnostic::on_unimplemented(
    message = "no array can be made from `{Self}`",
    label = "not a number, a `Vec`, a slice or an array"
)]
pub trait AsArray {
    #[doc(hidden)]
    fn source(self) -> Source;
}

/// What an array is made from.
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
