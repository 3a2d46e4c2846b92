//! Axes of reductions, and `keepdims`.

use crate::api::integers::Integers;
use ndjit_eval::request::RequestAxes;
use smallvec::SmallVec;
use std::ops::RangeFull;

/// The axes of a reduction, with or without `keepdims`. Made from `..` (all axes), an integer (negative ones count from the
/// last axis, -1), an array, a slice or a `Vec` of integers, or by [`keepdims`]: see [`IntoAxes`].
///
/// ```
/// use ndjit::{Array, keepdims};
///
/// let x = Array::from_rows(&[[1, 2], [3, 4]]);
/// let columns = keepdims(0);
/// assert_eq!(x.sum(columns).to_string(), "[[4 6]]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    /// `None` for all.
    pub(crate) axes: Option<SmallVec<[isize; 4]>>,
    pub(crate) keepdims: bool,
}

impl Axes {
    /// Returns the axes of the request for a reduction.
    pub(crate) fn requested(self) -> RequestAxes {
        RequestAxes { axes: self.axes, keepdims: self.keepdims }
    }
}

/// The same axes, kept in the result with extent 1. The result then broadcasts against the operand.
///
/// ```
/// use ndjit::{dtype, keepdims, DType};
/// let x = dtype(DType::F32).arange(4);
/// let centred = &x - x.mean(keepdims(..));
/// assert_eq!(centred.to_vec::<f32>()?, [-1.5, -0.5, 0.5, 1.5]);
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn keepdims(axes: impl IntoAxes) -> Axes {
    Axes { keepdims: true, ..axes.axes() }
}

/// The `axes` argument of reductions: `..` for all axes, an integer, an array, a slice or a `Vec` of integers, or
/// [`keepdims`] of any of these.
///
/// ```
/// use ndjit::{Array, keepdims, reductions::IntoAxes};
///
/// fn spread(x: &Array, axes: impl IntoAxes) -> Array {
///     x.ptp(axes)
/// }
/// let x = Array::from_rows(&[[1, 2], [3, 4]]);
/// assert_eq!((spread(&x, ..).to_string(), spread(&x, [0]).to_string()), ("3".into(), "[2 2]".into()));
/// assert_eq!(spread(&x, keepdims(1)).shape().extents(), [2, 1]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of axes",
    label = "not `..`, a number, or an array of numbers",
    note = "write `..` for all axes, `0`, `-1`, `[0, 2]`, or `keepdims(-1)` to keep them with extent 1",
    note = "a dtype goes before, as in `dtype(DType::F64).sum(x, ..)`; the larger of two arrays is `maximum(x, y)`"
)]
pub trait IntoAxes {
    /// The axes.
    fn axes(self) -> Axes;
}

impl IntoAxes for Axes {
    fn axes(self) -> Axes {
        self
    }
}

impl IntoAxes for RangeFull {
    fn axes(self) -> Axes {
        Axes { axes: None, keepdims: false }
    }
}

impl<I: Integers> IntoAxes for I {
    fn axes(self) -> Axes {
        Axes { axes: Some(self.integers()), keepdims: false }
    }
}
