//! What a slice is written with: `x.slice((1..3, .., -1, step(2)))`.

use ndjit_ir::view::Slice;
use smallvec::SmallVec;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// A new axis of extent 1, in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NewAxis;

/// As many whole axes as the other parts of a slice leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ellipsis;

/// A range with a step: made by [`step`] and [`step_by`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step(Slice);

/// Every `step`th element of an axis, from the first; of a negative step from the last backwards. `step(-1)` is the axis
/// reversed.
pub fn step(step: isize) -> Step {
    step_by(.., step)
}

/// Every `step`th element of a range, from its first; of a negative step from its last backwards. (As `ndarray` has it: a range
/// is written in the order of the axis, `step_by(1..5, -1)` being the elements 4, 3, 2, 1. NumPy writes `4:0:-1`.)
///
/// ```
/// use ndjit::{arange, step_by};
/// let x = arange(8);
/// assert_eq!(x.slice(step_by(1.., 3)).to_vec::<i32>()?, [1, 4, 7]);
/// assert_eq!(x.slice(step_by(1..5, -1)).to_vec::<i32>()?, [4, 3, 2, 1]);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn step_by(range: impl IntoSlice, step: isize) -> Step {
    match range.part() {
        Slice::Range { start, end, .. } => Step(Slice::Range { start, end, step }),
        other => Step(other),
    }
}

/// What is taken along one axis: an index, a range, a range with a [`step`], [`NewAxis`] or [`Ellipsis`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no part of a slice",
    label = "not an index or a range",
    note = "parts are `2`, `-1`, `1..3`, `-3..`, `..`, `step(2)`, `step_by(1..9, 2)`, `NewAxis`, `Ellipsis`"
)]
pub trait IntoSlice {
    /// The part.
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

impl IntoSlice for RangeFull {
    fn part(self) -> Slice {
        Slice::ALL
    }
}

macro_rules! parts {
    ($($t:ty)*) => {$(
        impl IntoSlice for $t {
            fn part(self) -> Slice {
                // No axis has an index that is out of range.
                Slice::Index(isize::try_from(self).unwrap_or(isize::MAX))
            }
        }
        impl IntoSlice for Range<$t> {
            fn part(self) -> Slice {
                between(Some(self.start.part()), Some(self.end.part()))
            }
        }
        impl IntoSlice for RangeFrom<$t> {
            fn part(self) -> Slice {
                between(Some(self.start.part()), None)
            }
        }
        impl IntoSlice for RangeTo<$t> {
            fn part(self) -> Slice {
                between(None, Some(self.end.part()))
            }
        }
        impl IntoSlice for RangeInclusive<$t> {
            fn part(self) -> Slice {
                let (start, end) = self.into_inner();
                between(Some(start.part()), after(end.part()))
            }
        }
        impl IntoSlice for RangeToInclusive<$t> {
            fn part(self) -> Slice {
                between(None, after(self.end.part()))
            }
        }
    )*};
}

parts! { i32 i64 isize usize }

fn between(start: Option<Slice>, end: Option<Slice>) -> Slice {
    let index = |part| match part {
        Some(Slice::Index(index)) => Some(index),
        _ => None,
    };
    Slice::Range { start: index(start), end: index(end), step: 1 }
}

/// The end of a range that has this element as its last. -1 is the last of the axis.
fn after(last: Slice) -> Option<Slice> {
    match last {
        Slice::Index(-1) => None,
        Slice::Index(index) => Some(Slice::Index(index.saturating_add(1))),
        other => Some(other),
    }
}

/// The parts of a slice, axis by axis: one part, or a tuple, an array or a slice of parts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no slice of an array",
    label = "not an index, a range, or a tuple of them",
    note = "write a part for each axis from the first, as in `x.slice((1..3, .., -1))`; axes left out are whole"
)]
pub trait IntoSlices {
    /// The parts.
    fn parts(self) -> SmallVec<[Slice; 4]>;
}

impl<P: IntoSlice> IntoSlices for P {
    fn parts(self) -> SmallVec<[Slice; 4]> {
        SmallVec::from_iter([self.part()])
    }
}

impl<const N: usize> IntoSlices for [Slice; N] {
    fn parts(self) -> SmallVec<[Slice; 4]> {
        SmallVec::from_slice(&self)
    }
}

impl IntoSlices for &[Slice] {
    fn parts(self) -> SmallVec<[Slice; 4]> {
        SmallVec::from_slice(self)
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

crate::arity::for_each_tuple!(tuples);
