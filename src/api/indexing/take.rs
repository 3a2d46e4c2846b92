//! Taking along one axis: whole slices, or elements one by one.

use super::checked::checked_indices;
use super::rows::{INDEXED, no_indices, rows};
use crate::api::manipulation::{refused, seen};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, ArrayOperand, BinaryOperand, Operand};
use ndjit_eval::request::NamedFunction;
use ndjit_ir::axes::position;
use ndjit_ir::view;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};

/// The slices of `x` at indices along an axis, in their order: NumPy's `x[:, [2, 0]]` is `take(x, [2, 0], 1)`. The axes of
/// `indices` replace that axis.
///
/// ```
/// use ndjit::{Array, jit, take};
///
/// let x = Array::from_rows(&[[1, 2, 3], [4, 5, 6]]);
/// let columns = take(&x, Array::from([2, 0, -1]), 1);
/// assert_eq!(columns.to_string(), "[[3 1 3]\n [6 4 6]]");
/// assert_eq!(take(&x, 0, 0).to_vec::<i32>()?, [1, 2, 3]);
///
/// // Traced, indices beyond the axis are the nearest there is.
/// let rows = jit(|x, i| take(x, i, 0));
/// assert_eq!(rows(&x, &Array::from([7])).to_string(), "[[4 5 6]]");
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Result: the dtype of `x`, weak if `x` is; the shape of `x` with that of `indices` instead of the axis.
/// - Indices: see [`indexing`](crate::indexing).
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.take.html).
///
/// # Errors
/// Poisoned with `Shape` for an axis out of range, or for indices into an empty one; with `DType` for non-integer indices;
/// outside of traced functions with `Index` for an index out of range.
#[doc(alias = "gather")]
#[doc(alias = "index_select")]
#[track_caller]
pub fn take<X: Operand + BinaryOperand<I>, I: Operand>(x: X, indices: I, axis: isize) -> X::Out {
    let place = SourceLoc::caller();
    taken("take", x.operand(), indices.operand(), axis, true, place)
}

/// Like [`take`]. Random indices are in range, and are not computed for a check unless `checked`.
pub(crate) fn taken<R: ArrayLike>(
    what: &'static str,
    x: AnyOperand,
    indices: AnyOperand,
    axis: isize,
    checked: bool,
    place: SourceLoc,
) -> R {
    let found = (|| {
        let (_, _, shape) = x.describe(what)?;
        let (_, _, of) = indices.describe(what)?;
        let at = position(axis, shape.rank())?;
        let index = checked_indices::<R>(what, &indices, at, shape.extents()[at], checked, place)?;
        if shape.extents()[at] == 0 && of.size() != Ok(0) {
            return Err(no_indices(&shape));
        }
        Ok((at, shape.rank(), of.rank(), index))
    })();
    let (at, rank, depth, index) = match found {
        Ok(found) => found,
        Err(error) => return refused(NamedFunction::new(what, INDEXED), &[x, indices], place, &error),
    };
    // Rows first, then the axes before, those of the indices, and those after.
    let operands = [x.clone(), indices];
    let x: R = seen(what, x, place, |shape| {
        let (first, moved) = view::moveaxis(shape, &[at as isize], &[0])?;
        let new: Vec<isize> = (0..depth).map(|n| (at + 1 + n) as isize).collect();
        let (apart, wide) = view::expand_dims(&moved, &new)?;
        Ok((apart.of(&first).canonical(&wide), wide))
    });
    let behind: Vec<isize> = (0..rank - at - 1).map(|n| (depth + n) as isize).collect();
    let index: R = seen(what, index, place, |shape| view::expand_dims(shape, &behind));
    rows::<R>(what, x.operand(), index.operand(), place).part_of(NamedFunction::new(what, INDEXED), &operands, place)
}

/// The elements of each row along an axis at its own indices: `result[i, j] = x[i, indices[i, j]]` along axis 1. [`argsort`]
/// and [`argmax`](crate::argmax) return such indices.
///
/// ```
/// use ndjit::{Array, take_along_axis};
///
/// let x = Array::from_rows(&[[10, 20, 30], [40, 50, 60]]);
/// let i = Array::from_rows(&[[2, 0], [-2, 1]]);
/// assert_eq!(take_along_axis(&x, &i, 1).to_string(), "[[30 10]\n [50 50]]");
/// ```
///
/// - Result: the dtype of `x`, weak if `x` is. Along the axis the extent of `indices`; the other axes of `x` and `indices`
///   broadcast.
/// - Indices: see [`indexing`](crate::indexing).
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.take_along_axis.html).
///
/// [`argsort`]: crate::argsort
///
/// # Errors
/// Poisoned with `Shape` for an axis out of range, for different ranks, or if other axes do not broadcast; otherwise as [`take`].
#[doc(alias = "gather")]
#[track_caller]
pub fn take_along_axis<X: Operand + BinaryOperand<I>, I: Operand>(x: X, indices: I, axis: isize) -> X::Out {
    along("take_along_axis", x.operand(), indices.operand(), axis, SourceLoc::caller())
}

fn along<R: ArrayLike>(what: &'static str, x: AnyOperand, indices: AnyOperand, axis: isize, place: SourceLoc) -> R {
    let found: Result<_> = (|| {
        let (_, _, shape) = x.describe(what)?;
        let (_, _, of) = indices.describe(what)?;
        let at = position(axis, shape.rank())?;
        let wrong = |help: &str| {
            let headline = format!("indices of shape {of} for an array of shape {shape}");
            Err(Error::new(ErrorCode::Shape, headline).help(help))
        };
        if of.rank() != shape.rank() {
            return wrong("both have the same number of axes; `take` takes whole slices");
        }
        let mut pairs = of.extents().iter().zip(shape.extents()).enumerate().filter(|(axis, _)| *axis != at);
        if !pairs.all(|(_, (own, extent))| own == extent || *own == 1 || *extent == 1) {
            return wrong("along the other axes extents are equal, or one of them is 1");
        }
        let index = checked_indices::<R>(what, &indices, at, shape.extents()[at], true, place)?;
        if shape.extents()[at] == 0 && of.size() != Ok(0) {
            return Err(no_indices(&shape));
        }
        Ok((at, index))
    })();
    let (at, index) = match found {
        Ok(found) => found,
        Err(error) => return refused(NamedFunction::new(what, INDEXED), &[x, indices], place, &error),
    };
    each_found::<R>(what, x.clone(), index, at, place).part_of(NamedFunction::new(what, INDEXED), &[x, indices], place)
}

/// The elements of each row along an axis at its own `i64` indices, which are in range.
pub(crate) fn each_found<R: ArrayLike>(
    what: &'static str,
    x: AnyOperand,
    index: AnyOperand,
    at: usize,
    place: SourceLoc,
) -> R {
    let x: R = seen(what, x, place, |shape| {
        let (first, moved) = view::moveaxis(shape, &[at as isize], &[0])?;
        let (apart, wide) = view::expand_dims(&moved, &[at as isize + 1])?;
        Ok((apart.of(&first).canonical(&wide), wide))
    });
    rows(what, x.operand(), index, place)
}

/// Taking as methods: see the free functions.
impl Expr {
    /// [`take`](fn@crate::take) as a method.
    ///
    /// ```
    /// use ndjit::{Array, Expr, jit};
    ///
    /// let f = jit(|x: Expr, i: Expr| x.take(i, 0));
    /// assert_eq!(f(&Array::from([5, 6]), &Array::from([1, 1])).to_vec::<i32>()?, [6, 6]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn take(self, indices: impl Operand, axis: isize) -> Expr {
        take(self, indices, axis)
    }

    /// [`take_along_axis`](fn@crate::take_along_axis) as a method.
    ///
    /// ```
    /// use ndjit::{Array, Expr, jit};
    ///
    /// let f = jit(|x: Expr, i: Expr| x.take_along_axis(i, 0));
    /// assert_eq!(f(&Array::from([5, 6]), &Array::from([1, 1])).to_vec::<i32>()?, [6, 6]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn take_along_axis(self, indices: impl Operand, axis: isize) -> Expr {
        take_along_axis(self, indices, axis)
    }
}

/// Taking as methods: see the free functions.
impl Array {
    /// [`take`](fn@crate::take) as a method.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// assert_eq!(Array::from([5, 6]).take(Array::from([1, 1]), 0).to_vec::<i32>()?, [6, 6]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn take(&self, indices: impl ArrayOperand, axis: isize) -> Array {
        take(self, indices, axis)
    }

    /// [`take_along_axis`](fn@crate::take_along_axis) as a method.
    ///
    /// ```
    /// use ndjit::Array;
    ///
    /// let i = Array::from([1, 0]);
    /// assert_eq!(Array::from([5, 6]).take_along_axis(&i, 0).to_vec::<i32>()?, [6, 5]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn take_along_axis(&self, indices: impl ArrayOperand, axis: isize) -> Array {
        take_along_axis(self, indices, axis)
    }
}
