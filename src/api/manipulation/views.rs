//! Views: the same elements in another shape or order.

use super::slices::IntoSlices;
use crate::api::creation::IntoShape;
use crate::api::integers::Integers;
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand, UnaryOperand};
use ndjit_eval::request::{Movement, NamedFunction};
use ndjit_ir::infer::Operation;
use ndjit_ir::reserve::check_values;
use ndjit_ir::view::{self, View};
use ndjit_ir::{Code, Error, ErrorCode, Help, Result, Shape, SourceLoc};

/// Returns a view of one array.
pub(crate) fn seen<X: ArrayLike>(
    what: &'static str,
    x: AnyOperand,
    place: SourceLoc,
    of: impl Fn(&Shape) -> Result<(View, Shape)>,
) -> X {
    let of = |shapes: &[&Shape]| of(shapes[0]).map(|(view, shape)| Operation::view(view, shape));
    X::movement(&Movement { function: what.into(), of: &of }, &[x], place)
}

/// Returns the error of a function, with its operands among the facts.
pub(crate) fn refused<'a, X: ArrayLike>(
    function: impl Into<NamedFunction<'a>>,
    operands: &[AnyOperand],
    place: SourceLoc,
    error: &Error,
) -> X {
    X::movement(&Movement { function: function.into(), of: &|_| Err(error.clone()) }, operands, place)
}

pub(super) fn no_matrix() -> Error {
    Error::new(ErrorCode::Shape, "a matrix has two axes").help(
        Help::default()
            .code(Code::Reshape(&[1, -1]))
            .text(" makes a row of a vector, ")
            .code(Code::Reshape(&[-1, 1]))
            .text(" a column"),
    )
}

/// Writes a function of one array and further arguments as a free function and as methods, with its names in other libraries.
macro_rules! views {
    ($($(#[doc = $doc:literal])* $name:ident($($arg:ident: $ty:ident),*) [$($alias:literal)*]
        |$shape:ident| $made:expr;)*) => {
        $(
            $(#[doc = $doc])*
            $(#[doc(alias = $alias)])*
            #[track_caller]
            pub fn $name<X: UnaryOperand>(x: X $(, $arg: impl $ty)*) -> X::Out {
                $(let $arg = views!(@given $ty $arg);)*
                seen(stringify!($name), x.operand(), SourceLoc::caller(), |$shape| $made)
            }
        )*

        /// Views as methods: see the free functions.
        impl Expr {
            $(
                #[doc = concat!("[`", stringify!($name), "`](fn@crate::", stringify!($name), ") as a method.")]
                $(#[doc(alias = $alias)])*
                #[track_caller]
                pub fn $name(self $(, $arg: impl $ty)*) -> Expr {
                    $name(self $(, $arg)*)
                }
            )*
        }

        /// Views as methods: see the free functions.
        impl Array {
            $(
                #[doc = concat!("[`", stringify!($name), "`](fn@crate::", stringify!($name), ") as a method.")]
                $(#[doc(alias = $alias)])*
                #[track_caller]
                pub fn $name(&self $(, $arg: impl $ty)*) -> Array {
                    $name(self $(, $arg)*)
                }
            )*
        }
    };
    (@given Integers $arg:ident) => { $arg.integers() };
    (@given IntoSlices $arg:ident) => { $arg.parts() };
    (@given IntoShape $arg:ident) => { $arg.shape() };
}

views! {
    /// Permutes the axes: axis `n` of the result is axis `axes[n]` of `x`.
    ///
    /// ```
    /// use ndjit::{arange, permute_dims};
    /// let x = arange(6).reshape([1, 2, 3]);
    /// assert_eq!(permute_dims(&x, [2, 0, 1]).shape().extents(), [3, 1, 2]);
    /// ```
    ///
    /// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.permute_dims.html).
    ///
    /// # Errors
    /// Poisoned with `Shape` if these are not all axes, each once.
    permute_dims(axes: Integers) ["transpose" "permute"] |shape| view::permute_dims(shape, &axes);

    /// Moves axes to other indices; the others keep their order: `moveaxis(x, 0, -1)`.
    ///
    /// ```
    /// use ndjit::{arange, moveaxis};
    /// let x = arange(24).reshape([2, 3, 4]);
    /// assert_eq!(moveaxis(&x, 0, -1).shape().extents(), [3, 4, 2]);
    /// ```
    ///
    /// # Errors
    /// Poisoned with `Shape` for axes out of range or repeated, and for different numbers of sources and destinations.
    moveaxis(source: Integers, destination: Integers) ["movedim" "rollaxis"] |shape| view::moveaxis(shape, &source, &destination);

    /// Swaps the last two axes.
    ///
    /// ```
    /// use ndjit::{Array, matrix_transpose};
    /// let x = Array::from_rows(&[[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(matrix_transpose(&x).to_string(), "[[1 4]\n [2 5]\n [3 6]]");
    /// ```
    ///
    /// # Errors
    /// Poisoned with `Shape` for less than two axes.
    matrix_transpose() ["T" "mT" "transpose"] |shape| match shape.rank() {
        0 | 1 => Err(no_matrix()),
        _ => view::swapaxes(shape, -1, -2),
    };

    /// Inserts new axes of extent 1, at these indices of the result.
    ///
    /// ```
    /// use ndjit::{arange, expand_dims};
    /// assert_eq!(expand_dims(arange(3), [0, -1]).shape().extents(), [1, 3, 1]);
    /// ```
    ///
    /// # Errors
    /// Poisoned with `Shape` for indices that are out of range of the result, or repeated.
    expand_dims(axes: Integers) ["unsqueeze" "newaxis"] |shape| view::expand_dims(shape, &axes);

    /// Removes these axes, each of extent 1.
    ///
    /// ```
    /// use ndjit::{squeeze, zeros};
    /// assert_eq!(squeeze(zeros([1, 3, 1]), 0).shape().extents(), [3, 1]);
    /// assert!(squeeze(zeros([1, 3, 1]), 1).error().is_some());
    /// ```
    ///
    /// # Errors
    /// Poisoned with `Shape` for axes that are out of range, repeated, or of another extent.
    squeeze(axes: Integers) [] |shape| view::squeeze(shape, &axes);

    /// Reverses the elements along these axes.
    ///
    /// ```
    /// use ndjit::{arange, flip};
    /// assert_eq!(flip(arange(4), 0).to_vec::<i32>()?, [3, 2, 1, 0]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Poisoned with `Shape` for axes out of range or repeated.
    flip(axes: Integers) ["fliplr" "flipud" "reverse"] |shape| view::flip(shape, &axes);

    /// Broadcasts the array to a shape: repeats it along missing axes and axes of extent 1, as operators do implicitly. Axes
    /// are matched from the last. Nothing is copied.
    ///
    /// ```
    /// use ndjit::{arange, broadcast_to};
    /// assert_eq!(broadcast_to(arange(2), [3, 2]).to_string(), "[[0 1]\n [0 1]\n [0 1]]");
    /// ```
    ///
    /// # Errors
    /// Poisoned with `Shape` if the shape of `x` does not broadcast to it, with `Size` if it is larger than memory can address.
    broadcast_to(shape: IntoShape) ["expand"] |own| view::broadcast_to(own, &shape);

    /// A part of the array: for each axis, from the first, an index (which removes the axis), a range, or a range with a
    /// [`step`](crate::step). Negative integers count from the end: `-1` is the last. Axes without a part are whole.
    ///
    /// - `2`, `-1`: one element.
    /// - `1..3`, `-3..`, `..-1`, `..=4`, `..`: a range. It is empty if it ends before its start.
    /// - [`step(2)`](crate::step), [`step_by(1..9, -2)`](crate::step_by): every nth element of a range, backwards if negative.
    /// - [`NewAxis`](crate::NewAxis): an axis of extent 1. [`Ellipsis`](crate::Ellipsis): all remaining axes.
    ///
    /// Traced values are not allowed as indices here. An index or a range out of bounds is an error, as in Rust; NumPy clips
    /// ranges.
    ///
    /// ```
    /// use ndjit::{Ellipsis, arange, step};
    /// let x = arange(12).reshape([3, 4]);
    /// assert_eq!(x.slice((1.., ..2)).to_string(), "[[4 5]\n [8 9]]");
    /// assert_eq!(x.slice(-1).to_vec::<i32>()?, [8, 9, 10, 11]);
    /// assert_eq!(x.slice((Ellipsis, step(-2))).to_string(), "[[ 3  1]\n [ 7  5]\n [11  9]]");
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// Parts of one type may be in an array, a slice or a `Vec`. All parts convert to [`Slice`](crate::Slice), so a `Vec` of
    /// those slices an array of dynamic rank:
    ///
    /// ```
    /// use ndjit::{Array, IntoSlice, Slice, arange};
    /// fn halves(x: &Array) -> Array {
    ///     let parts: Vec<Slice> = x.shape().extents().iter().map(|extent| (..extent / 2).part()).collect();
    ///     x.slice(parts)
    /// }
    /// assert_eq!(halves(&arange(8).reshape([2, 4])).to_vec::<i32>()?, [0, 1]);
    /// let mut parts = vec![Slice::ALL; 3];
    /// parts[1] = Slice::Index(-1);
    /// assert_eq!(arange(8).reshape([2, 2, 2]).slice(&parts).to_vec::<i32>()?, [2, 3, 6, 7]);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// Poisoned with `Shape` for more parts than axes, an index or a range out of bounds, and a step of 0.
    slice(parts: IntoSlices) ["index" "getitem" "narrow" "select"] |shape| view::slice(shape, &parts);
}

/// The same elements in row-major order, in another shape. One extent may be -1, which is inferred.
///
/// Results of ops, and an [`Array`] in row-major order, are never copied. A strided [`Array`], reduction or scan is copied
/// if no strides can express the new shape (NumPy's rule): `explain(Stage::Kernels)` then lists a kernel that copies.
///
/// ```
/// use ndjit::{arange, reshape};
/// assert_eq!(reshape(arange(6), [2, -1]).to_string(), "[[0 1 2]\n [3 4 5]]");
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.reshape.html).
///
/// # Errors
/// Poisoned with `Shape` for another number of elements, or several extents of -1.
#[doc(alias = "view")]
#[doc(alias = "ravel")]
#[doc(alias = "flatten")]
#[track_caller]
pub fn reshape<X: UnaryOperand>(x: X, shape: impl Integers) -> X::Out {
    reshaped("reshape", x.operand(), &shape.integers(), SourceLoc::caller())
}

/// A reshape as a part of the function `what`.
pub(crate) fn reshaped<R: ArrayLike>(what: &'static str, x: AnyOperand, extents: &[isize], place: SourceLoc) -> R {
    let of = |shapes: &[&Shape]| Ok(Operation::reshape(view::resolve_reshape(shapes[0], extents)?));
    R::movement(&Movement { function: what.into(), of: &of }, &[x], place)
}

/// Swaps two axes.
///
/// ```
/// use ndjit::{arange, swapaxes};
/// assert_eq!(swapaxes(arange(6).reshape([2, 3]), 0, -1).to_string(), "[[0 3]\n [1 4]\n [2 5]]");
/// ```
///
/// # Errors
/// Poisoned with `Shape` for axes out of range.
#[doc(alias = "swapdims")]
#[doc(alias = "transpose")]
#[track_caller]
pub fn swapaxes<X: UnaryOperand>(x: X, axis1: isize, axis2: isize) -> X::Out {
    seen("swapaxes", x.operand(), SourceLoc::caller(), |shape| view::swapaxes(shape, axis1, axis2))
}

/// The diagonal of elements `(i, i + offset)` along two axes, as the last axis of the result; `diagonal(x, 0, [-2, -1])` for
/// matrices.
///
/// ```
/// use ndjit::{arange, diagonal};
/// let x = arange(9).reshape([3, 3]);
/// assert_eq!(diagonal(&x, 0, [-2, -1]).to_vec::<i32>()?, [0, 4, 8]);
/// assert_eq!(diagonal(&x, 1, [-2, -1]).to_vec::<i32>()?, [1, 5]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Poisoned with `Shape` for axes out of range or repeated.
#[doc(alias = "diag")]
#[track_caller]
pub fn diagonal<X: UnaryOperand>(x: X, offset: isize, axes: [isize; 2]) -> X::Out {
    seen("diagonal", x.operand(), SourceLoc::caller(), |shape| view::diagonal(shape, offset, axes))
}

/// Sliding windows of these extents along these axes, without a copy. The result has one trailing axis per window extent.
///
/// ```
/// use ndjit::{Array, sliding_window};
/// let x = Array::from([1.0f32, 3.0, 5.0, 10.0]);
/// let averages = sliding_window(&x, 3, 0).mean(-1);
/// assert_eq!(averages.to_vec::<f32>()?, [3.0, 6.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: NumPy's [`sliding_window_view`](https://numpy.org/doc/stable/reference/generated/numpy.lib.stride_tricks.sliding_window_view.html).
///
/// # Errors
/// Poisoned with `Shape` for axes out of range or repeated, and for windows that are empty or larger than their axis.
#[doc(alias = "sliding_window_view")]
#[doc(alias = "unfold")]
#[doc(alias = "as_strided")]
#[track_caller]
pub fn sliding_window<X: UnaryOperand>(x: X, extents: impl Integers, axes: impl Integers) -> X::Out {
    let (extents, axes) = (extents.integers(), axes.integers());
    seen("sliding_window", x.operand(), SourceLoc::caller(), |shape| view::sliding_window(shape, &extents, &axes))
}

/// Broadcasts arrays to their common shape.
///
/// ```
/// use ndjit::{arange, broadcast_arrays};
/// let both = broadcast_arrays([arange(2).reshape([2, 1]), arange(3)]);
/// assert_eq!(both[0].to_string(), "[[0 0 0]\n [1 1 1]]");
/// assert_eq!(both[1].to_string(), "[[0 1 2]\n [0 1 2]]");
/// ```
///
/// # Errors
/// All are poisoned with `Shape` if the shapes do not broadcast to each other.
#[doc(alias = "broadcast_tensors")]
#[track_caller]
pub fn broadcast_arrays<X: UnaryOperand>(arrays: impl IntoIterator<Item = X>) -> Vec<X::Out> {
    let place = SourceLoc::caller();
    let operands: Vec<AnyOperand> = arrays.into_iter().map(Operand::operand).collect();
    let mut common = Shape::scalar();
    for (n, operand) in operands.iter().enumerate() {
        // An operand without a shape reports its error in its own result.
        let Ok((_, _, shape)) = operand.describe("broadcast_arrays") else { continue };
        let Some(wider) = common.broadcast(&shape) else {
            let error = Error::new(ErrorCode::Shape, format!("shape {shape} of x{n} does not broadcast with {common}"))
                .help("axes are matched from the last; extents must be equal or 1");
            return operands.iter().map(|_| refused("broadcast_arrays", &operands, place, &error)).collect();
        };
        common = wider;
    }
    let seen = |operand: AnyOperand| seen("broadcast_arrays", operand, place, |own| view::broadcast_to(own, &common));
    operands.into_iter().map(seen).collect()
}

/// Returns the common shape under broadcasting: axes are matched from the last, and extents are equal or 1. No shapes give
/// that of a scalar.
///
/// ```
/// use ndjit::{Shape, arange, broadcast_shapes};
///
/// assert_eq!(broadcast_shapes([&[2, 1][..], &[3]])?, Shape::from([2, 3]));
/// let (x, y) = (arange(2).reshape([2, 1]), arange(3));
/// assert_eq!(broadcast_shapes([x.shape().clone(), y.shape().clone()])?, (&x + &y).shape().clone());
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.broadcast_shapes.html).
///
/// # Errors
/// `Shape` if they do not broadcast to each other.
#[track_caller]
pub fn broadcast_shapes(shapes: impl IntoIterator<Item = impl IntoShape>) -> Result<Shape> {
    let mut common = Shape::scalar();
    for (n, shape) in shapes.into_iter().map(IntoShape::shape).enumerate() {
        common = common.broadcast(&shape).ok_or_else(|| {
            Error::new(ErrorCode::Shape, format!("shape {shape}, number {n}, does not broadcast with {common}"))
                .of("broadcast_shapes")
                .at(SourceLoc::caller())
                .help("axes are matched from the last; extents must be equal or 1")
        })?;
    }
    Ok(common)
}

/// Splits an array along an axis into parts without that axis.
///
/// ```
/// use ndjit::{arange, unstack};
/// let rows = unstack(arange(4).reshape([2, 2]), 0)?;
/// assert_eq!(rows[1].to_vec::<i32>()?, [2, 3]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Shape` for an axis out of range, `Size` for an extent of more than 2^20; the error of `x` if it is poisoned.
#[doc(alias = "unbind")]
#[doc(alias = "split")]
#[track_caller]
pub fn unstack<X: UnaryOperand>(x: X, axis: isize) -> Result<Vec<X::Out>> {
    let place = SourceLoc::caller();
    let x = x.operand();
    let (_, _, shape) = x.describe("unstack").map_err(|e| e.at(place))?;
    let axis = ndjit_ir::axes::position(axis, shape.rank())
        .map_err(|e| e.of("unstack").fact(format_args!("the shape: {shape}")).at(place))?;
    let count = shape.extents()[axis];
    check_values("unstack", count).map_err(|e| {
        e.fact(format_args!("axis {axis} of shape {shape}"))
            .at(place)
            .help("take what is needed, as in `x.slice(0..1000)`")
    })?;
    let part = |index: usize| {
        seen("unstack", x.clone(), place, |shape| {
            let mut parts = vec![view::Slice::ALL; axis];
            parts.push(view::Slice::Index(index as isize));
            view::slice(shape, &parts)
        })
    };
    Ok((0..count).map(part).collect())
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Views as methods: see the free functions.
        impl $of {
            /// [`reshape`](fn@crate::reshape) as a method.
            ///
            /// ```
            /// use ndjit::arange;
            ///
            /// assert_eq!(arange(6).reshape([2, -1]).shape().extents(), [2, 3]);
            /// ```
            #[doc(alias = "view")]
            #[doc(alias = "ravel")]
            #[doc(alias = "flatten")]
            #[track_caller]
            pub fn reshape($self: $receiver, shape: impl Integers) -> $of {
                reshape($self, shape)
            }

            /// [`swapaxes`](fn@crate::swapaxes) as a method.
            ///
            /// ```
            /// use ndjit::zeros;
            ///
            /// assert_eq!(zeros([2, 3, 4]).swapaxes(0, -1).shape().extents(), [4, 3, 2]);
            /// ```
            #[doc(alias = "swapdims")]
            #[doc(alias = "transpose")]
            #[track_caller]
            pub fn swapaxes($self: $receiver, axis1: isize, axis2: isize) -> $of {
                swapaxes($self, axis1, axis2)
            }

            /// [`diagonal`](fn@crate::diagonal) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// let x = Array::from_rows(&[[1, 2], [3, 4]]);
            /// assert_eq!(x.diagonal(0, [0, 1]).to_string(), "[1 4]");
            /// ```
            #[doc(alias = "diag")]
            #[track_caller]
            pub fn diagonal($self: $receiver, offset: isize, axes: [isize; 2]) -> $of {
                diagonal($self, offset, axes)
            }

            /// [`sliding_window`](fn@crate::sliding_window) as a method.
            ///
            /// ```
            /// use ndjit::arange;
            ///
            /// assert_eq!(arange(4).sliding_window(3, 0).to_string(), "[[0 1 2]\n [1 2 3]]");
            /// ```
            #[doc(alias = "sliding_window_view")]
            #[doc(alias = "unfold")]
            #[doc(alias = "as_strided")]
            #[track_caller]
            pub fn sliding_window($self: $receiver, extents: impl Integers, axes: impl Integers) -> $of {
                sliding_window($self, extents, axes)
            }

            /// [`unstack`](fn@crate::unstack) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// let x = Array::from_rows(&[[1, 2], [3, 4]]);
            /// assert_eq!(x.unstack(0)?[1].to_string(), "[3 4]");
            /// # Ok::<(), ndjit::Error>(())
            /// ```
            ///
            /// # Errors
            /// Those of the function.
            #[doc(alias = "unbind")]
            #[doc(alias = "split")]
            #[track_caller]
            pub fn unstack($self: $receiver, axis: isize) -> Result<Vec<$of>> {
                unstack($self, axis)
            }

            /// [`matrix_transpose`](fn@crate::matrix_transpose) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// let x = Array::from_rows(&[[1, 2], [3, 4]]);
            /// assert_eq!(x.mt().to_string(), "[[1 3]\n [2 4]]");
            /// ```
            #[doc(alias = "T")]
            #[doc(alias = "mT")]
            #[doc(alias = "transpose")]
            #[track_caller]
            pub fn mt($self: $receiver) -> $of {
                matrix_transpose($self)
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
