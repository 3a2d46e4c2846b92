//! Arguments of `x.at(..)`: indices and ranges along the first axes, and the layout of the result.

use crate::api::manipulation::{Ellipsis, IntoSlice, NewAxis, Slice, Step};
use crate::trace::operand::{AnyOperand, ArrayOperand, Operand};
use crate::trace::scalar::Scalar;
use ndjit_ir::view;
use ndjit_ir::{Error, ErrorCode, Result, Shape};
use smallvec::SmallVec;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// An index of any kind, for front ends: a `Vec` of them is the argument of [`dynamic::at`](crate::dynamic::at()).
///
/// ```
/// use ndjit::dynamic::{self, Index};
/// use ndjit::manipulation::Slice;
/// use ndjit::operand::Operand;
/// use ndjit::Array;
///
/// let x = Array::from_rows(&[[1.0f32, 2.0], [3.0, 4.0]]);
/// let rows = vec![Index::Elements(Array::from([1, 0, 1]).operand())];
/// assert_eq!(dynamic::at::<Array>(x.clone().operand(), rows).get().shape().to_string(), "[3, 2]");
/// let column = vec![Index::Slice(Slice::ALL), Index::Elements(1.operand())];
/// assert_eq!(dynamic::at::<Array>(x.operand(), column).get().to_string(), "[2. 4.]");
/// ```
#[derive(Clone)]
pub enum Index {
    /// Elements at indices.
    Elements(AnyOperand),
    /// A range, or an axis marker: no index.
    Slice(Slice),
    /// A number of elements from a dynamic start.
    Dynamic(AnyOperand, usize),
}

/// One of the [`Indices`]: an integer or an array of integers along an axis, or a part of a [slice](crate::slice) such as
/// `1..3`, `..`, [`step(2)`](crate::step), [`Ellipsis`](crate::Ellipsis).
///
/// ```
/// use ndjit::{Array, Expr, indexing::IntoIndex, jit};
///
/// fn zeroed(x: Expr, columns: impl IntoIndex) -> Expr {
///     x.at((.., columns)).set(0)
/// }
/// let x = Array::from_rows(&[[1, 2, 3], [4, 5, 6]]);
/// assert_eq!(jit(|x: Expr| zeroed(x, 1..))(&x).to_string(), "[[1 0 0]\n [4 0 0]]");
/// assert_eq!(jit(|x: Expr| zeroed(x, -1))(&x).to_string(), "[[1 2 0]\n [4 5 0]]");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index",
    label = "neither indices nor a range",
    note = "indices are integers, arrays of integers, or, to put elements, a mask; ranges are `1..3`, `..`, `step(2)`, of plain integers",
    note = "a tuple names indices along several axes: `x.at((.., i))`"
)]
pub trait IntoIndex {
    #[doc(hidden)]
    fn index(self) -> Index;
}

/// [`IntoIndex`] without traced values: an index of [`Array::at`](crate::Array::at).
///
/// ```
/// use ndjit::{Array, indexing::ArrayIndex};
///
/// fn column(x: &Array, n: impl ArrayIndex) -> Array {
///     x.at((.., n)).get()
/// }
/// assert_eq!(column(&Array::from_rows(&[[1, 2], [3, 4]]), 1).to_vec::<i32>()?, [2, 4]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index of an `Array`",
    label = "neither an `Array`, a number nor a range",
    note = "indices are integers, `Array`s of integers, or, to put elements, a mask; ranges are `1..3`, `..`, `step(2)`, of plain integers",
    note = "in a traced function an array is an `Expr` by `Expr::from(&x)`, which takes traced indices: `Expr::from(&x).at(i)`",
    note = "a tuple names indices along several axes: `x.at((.., &i))`"
)]
pub trait ArrayIndex: IntoIndex {}

/// The argument of [`Expr::at`](crate::Expr::at): an [index](IntoIndex) of the first axis, or a tuple of indices of the first axes.
///
/// ```
/// use ndjit::{Array, Expr, indexing::Indices, jit};
///
/// fn taken(x: Expr, at: impl Indices) -> Expr {
///     x.at(at).get()
/// }
/// let x = Array::from_rows(&[[1, 2], [3, 4]]);
/// assert_eq!(jit(|x: Expr| taken(x, (1, 0)))(&x).item::<i32>()?, 3);
/// assert_eq!(jit(|x: Expr| taken(x, (.., 0)))(&x).to_vec::<i32>()?, [1, 3]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index",
    label = "not indices, a range, nor a tuple of these along the first axes",
    note = "indices are integers, arrays of integers, or, to put elements, a mask; ranges are `1..3`, `..`, `step(2)`, of plain integers",
    note = "a tuple names indices along several axes: `x.at((.., i))`"
)]
pub trait Indices {
    #[doc(hidden)]
    fn indices(self) -> SmallVec<[Index; 4]>;
}

/// The argument of [`Array::at`](crate::Array::at): [`Indices`] without traced values.
///
/// ```
/// use ndjit::{Array, indexing::ArrayIndices};
///
/// fn picked(x: &Array, at: impl ArrayIndices) -> Array {
///     x.at(at).get()
/// }
/// assert_eq!(picked(&Array::from([5, 6, 7]), 2).item::<i32>()?, 7);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index of an `Array`",
    label = "not an `Array`, a number, a range, nor a tuple of these",
    note = "indices are integers, `Array`s of integers, or, to put elements, a mask; ranges are `1..3`, `..`, `step(2)`, of plain integers",
    note = "in a traced function an array is an `Expr` by `Expr::from(&x)`, which takes traced indices: `Expr::from(&x).at(i)`",
    note = "a tuple names indices along several axes: `x.at((.., &i))`"
)]
pub trait ArrayIndices: Indices {}

impl<I: Operand> IntoIndex for I {
    fn index(self) -> Index {
        Index::Elements(self.operand())
    }
}

impl<I: ArrayOperand> ArrayIndex for I {}

macro_rules! slices {
    ($([$($t:ident)?] $of:ty;)*) => {$(
        impl$(<$t>)? IntoIndex for $of where $of: IntoSlice {
            fn index(self) -> Index {
                Index::Slice(self.part())
            }
        }

        impl$(<$t>)? ArrayIndex for $of where $of: IntoSlice {}
    )*};
}

slices! {
    [] RangeFull;
    [T] Range<T>;
    [T] RangeFrom<T>;
    [T] RangeTo<T>;
    [T] RangeInclusive<T>;
    [T] RangeToInclusive<T>;
    [] Step;
    [] NewAxis;
    [] Ellipsis;
}

impl IntoIndex for Slice {
    fn index(self) -> Index {
        match self {
            Slice::Index(index) => Index::Elements(AnyOperand::Scalar(Scalar((index as i64).into(), None))),
            slice => Index::Slice(slice),
        }
    }
}

impl ArrayIndex for Slice {}

/// A range along an axis with a dynamic start, made by [`dynamic_range`].
///
/// ```
/// use ndjit::{Array, DynamicRange, dynamic_range};
///
/// let second: DynamicRange<i32> = dynamic_range(1, 1);
/// assert_eq!(Array::from([5, 6, 7]).at(second).get().to_vec::<i32>()?, [6]);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DynamicRange<I> {
    start: I,
    length: usize,
}

/// An index of [`Expr::at`](crate::Expr::at) and [`Array::at`](crate::Array::at): `length` elements from `start`, which may
/// be a traced value. The start is clamped so that the range lies within its axis. Negative starts count from the end.
///
/// ```
/// use ndjit::{Array, Expr, dynamic_range, jit};
///
/// let f = jit(|x: Expr, i: Expr| x.at(dynamic_range(i, 2)).set(0));
/// let x = Array::from([1, 2, 3, 4]);
/// assert_eq!(f(&x, &Array::from(1)).to_vec::<i32>()?, [1, 0, 0, 4]);
/// assert_eq!(f(&x, &Array::from(7)).to_vec::<i32>()?, [1, 2, 0, 0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: [`jax.lax.dynamic_slice`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.dynamic_slice.html), which clamps
/// the same way.
///
/// # Errors
/// The result of indexing is poisoned with `Shape` if the start is not a scalar or the axis has fewer elements, with `DType`
/// for a non-integer start.
pub fn dynamic_range<I: Operand>(start: I, length: usize) -> DynamicRange<I> {
    DynamicRange { start, length }
}

impl<I: Operand> IntoIndex for DynamicRange<I> {
    fn index(self) -> Index {
        Index::Dynamic(self.start.operand(), self.length)
    }
}

impl<I: ArrayOperand> ArrayIndex for DynamicRange<I> {}

impl IntoIndex for Index {
    fn index(self) -> Index {
        self
    }
}

impl<I: IntoIndex> Indices for Vec<I> {
    fn indices(self) -> SmallVec<[Index; 4]> {
        self.into_iter().map(I::index).collect()
    }
}

impl<I: ArrayIndex> ArrayIndices for Vec<I> {}

impl<I: IntoIndex> Indices for I {
    fn indices(self) -> SmallVec<[Index; 4]> {
        SmallVec::from_iter([self.index()])
    }
}

impl<I: ArrayIndex> ArrayIndices for I {}

macro_rules! tuples {
    ($($n:literal $($name:ident)*;)*) => {$(
        impl<$($name: IntoIndex),*> Indices for ($($name,)*) {
            #[allow(non_snake_case)]
            fn indices(self) -> SmallVec<[Index; 4]> {
                let ($($name,)*) = self;
                SmallVec::from_iter([$($name.index()),*])
            }
        }

        impl<$($name: ArrayIndex),*> ArrayIndices for ($($name,)*) {}
    )*};
}

crate::trace::arity::for_each_tuple!(tuples);

/// Returns the parts of a slice, with whole axes instead of indices.
pub(super) fn slices(indices: &[Index]) -> SmallVec<[Slice; 4]> {
    let slice = |index: &Index| match index {
        Index::Elements(_) => Slice::ALL,
        Index::Slice(slice) => *slice,
        // Its elements exist if the first ones do.
        Index::Dynamic(_, length) => {
            Slice::Range { start: None, end: Some(isize::try_from(*length).unwrap_or(isize::MAX)), step: 1 }
        }
    };
    indices.iter().map(slice).collect()
}

/// The selection along an axis.
pub(super) enum AxisSelection {
    /// Elements at indices.
    Indices(AnyOperand),
    /// A range, `start + step * d`, where `d` is the index along this axis of the result.
    Range { start: isize, step: isize, axis: usize },
    /// Elements from an index on, along this axis of the result.
    Dynamic { start: AnyOperand, axis: usize },
}

/// The layout of a result.
pub(super) struct IndexLayout {
    /// The selection along each of the array's first axes.
    pub axes: Vec<AxisSelection>,
    /// The shape of the result along these.
    pub found: Shape,
    /// The number of axes before those of indices.
    pub before: usize,
    /// The number of axes after those of indices.
    pub behind: usize,
}

impl IndexLayout {
    /// Returns the layout of `indices` of an array of this shape. Axes of ranges keep their order. The common axes of
    /// indices replace the first indexed axis, or come first if a range separates the indices
    /// ([NumPy](https://numpy.org/doc/stable/user/basics.indexing.html#combining-advanced-and-basic-indexing)).
    ///
    /// # Errors
    /// `Shape` for more indices than axes, ranges out of bounds, and indices that do not broadcast.
    pub(super) fn new(what: &'static str, indices: &[Index], shape: &Shape) -> Result<IndexLayout> {
        let (view, sliced) = view::slice(shape, &slices(indices))?;
        let (mut axes, mut positioned, mut before) = (Vec::new(), Shape::scalar(), None);
        // The extents of axes without indices.
        let mut extents = Vec::new();
        for (index, &extent) in written_out(indices, shape.rank()).into_iter().zip(sliced.extents()) {
            match index {
                Index::Elements(operand) => {
                    let (_, _, own) = operand.describe(what)?;
                    positioned = positioned.broadcast(&own).ok_or_else(|| {
                        Error::new(ErrorCode::Shape, format!("indices of shapes {positioned} and {own} do not broadcast"))
                            .help("indices along several axes are matched from the last, with equal extents or 1; `i.slice((.., NewAxis))` and `j` give all pairs")
                    })?;
                    before =
                        Some(before.map_or(extents.len(), |before| if before == extents.len() { before } else { 0 }));
                    axes.push(AxisSelection::Indices(operand.clone()));
                    continue;
                }
                Index::Slice(Slice::NewAxis) => {}
                Index::Dynamic(start, _) => {
                    let (_, _, own) = start.describe(what)?;
                    if own.rank() > 0 {
                        let headline = format!("a range begins at one index, not at those of an array of shape {own}");
                        return Err(Error::new(ErrorCode::Shape, headline)
                            .help("an array of indices stands by itself: `x.at(indices)`"));
                    }
                    axes.push(AxisSelection::Dynamic { start: start.clone(), axis: extents.len() });
                }
                Index::Slice(_) => {
                    let index = view.axes.get(axes.len()).cloned().unwrap_or_default();
                    let step = index.terms.first().map_or(0, |term| term.step);
                    axes.push(AxisSelection::Range { start: index.start, step, axis: extents.len() });
                }
            }
            extents.push(extent);
        }
        let before = before.unwrap_or(extents.len());
        for along in &mut axes {
            if let AxisSelection::Range { axis, .. } | AxisSelection::Dynamic { axis, .. } = along
                && *axis >= before
            {
                *axis += positioned.rank();
            }
        }
        let (first, last) = extents.split_at(before);
        let found: Vec<usize> = first.iter().chain(positioned.extents()).chain(last).copied().collect();
        Ok(IndexLayout { axes, found: Shape::from(found), before, behind: last.len() })
    }
}

/// Returns the indices with an ellipsis expanded to whole axes, and without trailing whole axes.
fn written_out(indices: &[Index], rank: usize) -> Vec<&Index> {
    const WHOLE: Index = Index::Slice(Slice::ALL);
    let named = |index: &&Index| !matches!(index, Index::Slice(Slice::NewAxis | Slice::Ellipsis));
    let left = rank.saturating_sub(indices.iter().filter(named).count());
    let mut all = Vec::new();
    for index in indices {
        match index {
            Index::Slice(Slice::Ellipsis) => all.extend(std::iter::repeat_n(&WHOLE, left)),
            index => all.push(index),
        }
    }
    while all.len() > 1 && matches!(all.last(), Some(Index::Slice(Slice::ALL))) {
        all.pop();
    }
    all
}
