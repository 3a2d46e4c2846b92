//! Parts of a slice: `x.slice((1..3, .., -1, step(2)))`.

pub use ndjit_ir::view::Slice;
use smallvec::SmallVec;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// A new axis of extent 1, in a slice.
///
/// ```
/// use ndjit::{Array, NewAxis};
///
/// assert_eq!(Array::from([1, 2]).slice((.., NewAxis)).shape().extents(), [2, 1]);
/// ```
#[doc(alias = "newaxis")]
#[doc(alias = "None")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NewAxis;

/// As many whole axes as necessary in a slice.
///
/// ```
/// use ndjit::{Ellipsis, zeros};
///
/// assert_eq!(zeros([2, 3, 4]).slice((Ellipsis, 0)).shape().extents(), [2, 3]);
/// ```
#[doc(alias = "...")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ellipsis;

/// A range with a step: made by [`step`] and [`step_by`].
///
/// ```
/// use ndjit::{arange, step};
///
/// assert_eq!(arange(6).slice(step(4)).to_string(), "[0 4]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step(Slice);

/// Every `step`th element of an axis from the first; a negative step goes backwards from the last. `step(-1)` is the axis reversed.
///
/// ```
/// use ndjit::{arange, step};
///
/// assert_eq!(arange(6).slice(step(2)).to_string(), "[0 2 4]");
/// assert_eq!(arange(3).slice(step(-1)).to_string(), "[2 1 0]");
/// ```
pub fn step(step: isize) -> Step {
    step_by(.., step)
}

/// Every `step`th element of a range from its first; a negative step goes backwards from its last. As in `ndarray`, the
/// range is in the order of the axis: `step_by(1..5, -1)` gives the elements 4, 3, 2, 1. NumPy writes `4:0:-1`.
///
/// ```
/// use ndjit::{arange, step_by};
/// let x = arange(8);
/// assert_eq!(x.slice(step_by(1.., 3)).to_vec::<i32>()?, [1, 4, 7]);
/// assert_eq!(x.slice(step_by(1..5, -1)).to_vec::<i32>()?, [4, 3, 2, 1]);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn step_by(range: impl IntoRange, step: isize) -> Step {
    Step(range.every(step))
}

/// A range of an axis that supports a step: `1..3`, `-3..`, `..-1`, `..=4`, `..`.
///
/// ```
/// use ndjit::{arange, step_by};
///
/// assert_eq!(arange(9).slice(step_by(-6.., 2)).to_string(), "[3 5 7]");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a range and takes no step",
    label = "not a range",
    note = "write `step_by(1..9, 2)`, `step_by(3.., 2)`, or `step(2)` for a whole axis; a range has one step"
)]
pub trait IntoRange {
    /// Returns the range with this step.
    fn every(self, step: isize) -> Slice;
}

/// A slice along one axis: an index, a range, a range with a [`step`], [`NewAxis`] or [`Ellipsis`].
///
/// ```
/// use ndjit::{arange, step};
///
/// let x = arange(12).reshape([3, 4]);
/// assert_eq!(x.slice((1, step(2))).to_string(), "[4 6]");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index or a range",
    label = "not an index or a range",
    note = "parts are `2`, `-1`, `1..3`, `-3..`, `..`, `step(2)`, `step_by(1..9, 2)`, `NewAxis`, `Ellipsis`",
    note = "of a traced function shapes are fixed when it is traced: bounds are plain integers, or of `x.shape()`; an `Expr` picks by `x.at(i).get()`, or masks by `where_`"
)]
pub trait IntoSlice {
    /// Returns the part.
    fn part(self) -> Slice;
}

impl IntoSlice for Slice {
    fn part(self) -> Slice {
        self
    }
}

impl IntoSlice for NewAxis {
    fn part(self) -> Slice {
        Slice::NewAxis
    }
}

impl IntoSlice for Ellipsis {
    fn part(self) -> Slice {
        Slice::Ellipsis
    }
}

impl IntoSlice for Step {
    fn part(self) -> Slice {
        self.0
    }
}

impl IntoRange for RangeFull {
    fn every(self, step: isize) -> Slice {
        Slice::Range { start: None, end: None, step }
    }
}

impl IntoSlice for RangeFull {
    fn part(self) -> Slice {
        Slice::ALL
    }
}

/// Returns the integer as an index; out of range of `isize` it is out of range of every axis.
fn index(number: impl TryInto<isize>) -> isize {
    number.try_into().unwrap_or(isize::MAX)
}

macro_rules! ranges {
    ($t:ty: $($range:ident |$x:ident, $step:ident| $made:expr;)*) => {$(
        impl IntoRange for $range<$t> {
            fn every(self, $step: isize) -> Slice {
                let $x = self;
                $made
            }
        }
        impl IntoSlice for $range<$t> {
            fn part(self) -> Slice {
                self.every(1)
            }
        }
    )*};
}

macro_rules! parts {
    ($($t:ty)*) => {$(
        impl IntoSlice for $t {
            fn part(self) -> Slice {
                Slice::Index(index(self))
            }
        }
        ranges! { $t:
            Range |x, step| Slice::Range { start: Some(index(x.start)), end: Some(index(x.end)), step };
            RangeFrom |x, step| Slice::Range { start: Some(index(x.start)), end: None, step };
            RangeTo |x, step| Slice::Range { start: None, end: Some(index(x.end)), step };
            RangeInclusive |x, step| {
                let (start, last) = x.into_inner();
                Slice::Inclusive { start: Some(index(start)), last: index(last), step }
            };
            RangeToInclusive |x, step| Slice::Inclusive { start: None, last: index(x.end), step };
        }
    )*};
}

parts! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize }

/// The parts of a slice, axis by axis: one part, a tuple of parts, or an array, a slice or a `Vec` of parts of one type, such
/// as [`Slice`].
///
/// ```
/// use ndjit::{Slice, arange};
///
/// let x = arange(12).reshape([3, 4]);
/// assert_eq!(x.slice((-1, 1..3)).to_string(), "[ 9 10]");
/// assert_eq!(x.slice(vec![Slice::Index(-1)]).shape().extents(), [4]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a slice of an array",
    label = "not an index, a range, or a tuple of them",
    note = "write a part for each axis from the first, as in `x.slice((1..3, .., -1))`; axes left out are whole",
    note = "parts of different types stand in a tuple, or in a `Vec<Slice>` where the number of axes is known at run time only",
    note = "of a traced function shapes are fixed when it is traced: bounds are plain integers, or of `x.shape()`; an `Expr` picks by `x.at(i).get()`, or masks by `where_`"
)]
pub trait IntoSlices {
    /// Returns the parts.
    fn parts(self) -> SmallVec<[Slice; 4]>;
}

impl<P: IntoSlice> IntoSlices for P {
    fn parts(self) -> SmallVec<[Slice; 4]> {
        SmallVec::from_iter([self.part()])
    }
}

impl<P: IntoSlice, const N: usize> IntoSlices for [P; N] {
    fn parts(self) -> SmallVec<[Slice; 4]> {
        self.into_iter().map(P::part).collect()
    }
}

impl<P: IntoSlice> IntoSlices for Vec<P> {
    fn parts(self) -> SmallVec<[Slice; 4]> {
        self.into_iter().map(P::part).collect()
    }
}

impl<P: IntoSlice + Clone> IntoSlices for &[P] {
    fn parts(self) -> SmallVec<[Slice; 4]> {
        self.iter().cloned().map(P::part).collect()
    }
}

impl<P: IntoSlice + Clone, const N: usize> IntoSlices for &[P; N] {
    fn parts(self) -> SmallVec<[Slice; 4]> {
        self[..].parts()
    }
}

impl<P: IntoSlice + Clone> IntoSlices for &Vec<P> {
    fn parts(self) -> SmallVec<[Slice; 4]> {
        self[..].parts()
    }
}

macro_rules! tuples {
    ($($n:literal $($t:ident)*;)*) => {$(
        impl<$($t: IntoSlice),*> IntoSlices for ($($t,)*) {
            #[allow(non_snake_case)]
            fn parts(self) -> SmallVec<[Slice; 4]> {
                let ($($t,)*) = self;
                SmallVec::from_iter([$($t.part()),*])
            }
        }
    )*};
}

crate::trace::arity::for_each_tuple!(tuples);
