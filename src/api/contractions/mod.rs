//! Contractions: products of arrays summed along shared axes. [`matmul`], [`vecdot`], [`tensordot`], [`outer`], [`kron`],
//! [`trace`], and [`einsum`], which generalizes all of them.
//!
//! Types: operands are cast to their common dtype. Products and sums are computed in it, and the result has it. Integers
//! wrap; they are not widened, unlike in [`sum`](fn@crate::sum). Halves are multiplied and summed in `f32` and rounded once;
//! bools are combined by "and" and "or". Results are never weak.
//!
//! Order: products are summed like all sums, in an order that depends only on shapes. Large matrices of `f32`, `f64`, `c64`
//! and `c128` are multiplied in a processor-specific order, the same in every run and on any number of threads.
//! docs/numerics.md defines large.
//!
//! Accuracy, to first order, where `u` is half an ULP of 1: an element that sums `k` products of floats differs from the
//! exact one by at most `(69 + log2(k / 1024)) u` times the sum of the products' magnitudes, in large matrices by
//! `(k + k / 256 + 2) u` times that. Each part of a complex number differs by at most `(71 + log2(k / 1024)) u` times that, in large
//! matrices by `(2 k + k / 256 + 4) u` times that.

mod argument;
mod einsum;
mod make;
mod pairs;

pub use argument::IntoPairs;
pub use einsum::einsum;
pub(crate) use make::matmul as product;

use crate::api::manipulation::seen;
use crate::api::reductions::{self, IntoAxes};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{ArrayLike, BinaryOperand, Operand, UnaryOperand};
use ndjit_ir::{Reduction, SourceLoc, view};

/// The matrix product. The last two axes are matrices, and all others broadcast. An array with one axis is a row on the left
/// and a column on the right; the result lacks that axis.
///
/// ```
/// use ndjit::{Array, matmul};
/// let x = Array::from_rows(&[[1, 2, 3], [4, 5, 6]]);
/// let y = Array::from_rows(&[[1, 0], [0, 1], [1, 1]]);
/// assert_eq!(matmul(&x, &y).to_string(), "[[ 4  5]\n [10 11]]");
/// assert_eq!(matmul(&x, &Array::from([1, 0, -1])).to_string(), "[-2 -2]");
/// ```
///
/// - Shapes: `[..., m, k]` and `[..., k, n]` give `[..., m, n]`.
/// - Types and accuracy: [`contractions`](crate::contractions).
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.matmul.html).
///
/// # Errors
/// Poisoned with `Shape` if an operand is a scalar, if the last axis of `x` differs in extent from the second to last of `y`
/// (its only one), or if the other axes do not broadcast; with `Promotion` without a common dtype.
#[doc(alias = "dot")]
#[doc(alias = "mm")]
#[doc(alias = "bmm")]
#[doc(alias = "matvec")]
#[doc(alias = "@")]
#[track_caller]
pub fn matmul<X: Operand + BinaryOperand<Y>, Y: Operand>(x: X, y: Y) -> X::Out {
    make::matmul(x.operand(), y.operand(), SourceLoc::caller())
}

/// The dot products of vectors along an axis: the sum of `conj(x) * y`. Other axes broadcast. The axis is counted in each
/// array separately, so a negative one means the same in both.
///
/// ```
/// use ndjit::{Array, vecdot};
/// let x = Array::from_rows(&[[1, 2], [3, 4]]);
/// assert_eq!(vecdot(&x, &Array::from([1, 10]), -1).to_string(), "[21 43]");
/// ```
///
/// - Types and accuracy: [`contractions`](crate::contractions).
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.vecdot.html).
///
/// # Errors
/// Poisoned with `Shape` for an axis out of range, for two that differ in extent, and if the other axes do not broadcast;
/// with `Promotion` without a common dtype.
#[doc(alias = "dot")]
#[doc(alias = "inner")]
#[doc(alias = "vdot")]
#[track_caller]
pub fn vecdot<X: Operand + BinaryOperand<Y>, Y: Operand>(x: X, y: Y, axis: isize) -> X::Out {
    make::vecdot(x.operand(), y.operand(), axis, SourceLoc::caller())
}

/// The sum of products along pairs of axes, one of `x` with one of `y`: see [`IntoPairs`]. The result has the other axes of
/// `x`, then those of `y`.
///
/// ```
/// use ndjit::{arange, tensordot};
/// let x = arange(24).reshape([2, 3, 4]);
/// let y = arange(12).reshape([4, 3]);
/// assert_eq!(tensordot(&x, &y, 1).shape().extents(), [2, 3, 3]);
/// assert_eq!(tensordot(&x, &y, ([1, 2], [1, 0])).to_vec::<i32>()?, [440, 1232]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Types and accuracy: [`contractions`](crate::contractions).
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.tensordot.html).
///
/// # Errors
/// Poisoned with `Shape` for axes out of range or repeated, for lists of different lengths, and for two axes of a pair that
/// differ in extent; with `Promotion` without a common dtype.
#[track_caller]
pub fn tensordot<X: Operand + BinaryOperand<Y>, Y: Operand>(x: X, y: Y, axes: impl IntoPairs) -> X::Out {
    make::tensordot(x.operand(), y.operand(), axes, SourceLoc::caller())
}

/// The outer product: a matrix with a row for each element of `x` and a column for each of `y`, both in row-major order.
///
/// ```
/// use ndjit::{Array, outer};
/// assert_eq!(outer(&Array::from([1, 2]), &Array::from([3, 4, 5])).to_string(), "[[ 3  4  5]\n [ 6  8 10]]");
/// ```
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.outer.html), which
/// takes only vectors; arrays are flattened as in NumPy.
///
/// # Errors
/// Poisoned with `Promotion` without a common dtype, with `Size` if the result is larger than memory can address.
#[track_caller]
pub fn outer<X: Operand + BinaryOperand<Y>, Y: Operand>(x: X, y: Y) -> X::Out {
    make::outer(x.operand(), y.operand(), SourceLoc::caller())
}

/// The Kronecker product: each element of `x` is replaced by its product with `y`. The array with fewer axes gets leading
/// axes of extent 1.
///
/// ```
/// use ndjit::{Array, kron};
/// let x = Array::from_rows(&[[1, 2], [3, 4]]);
/// assert_eq!(kron(&x, &Array::from([1, 10])).to_string(), "[[ 1 10  2 20]\n [ 3 30  4 40]]");
/// ```
///
/// - Shapes: along each axis the product of both extents.
///
/// Source: NumPy's [`kron`](https://numpy.org/doc/stable/reference/generated/numpy.kron.html).
///
/// # Errors
/// Poisoned with `Promotion` without a common dtype, with `Shape` for more than 16 axes, with `Size` if the result is larger
/// than memory can address.
#[track_caller]
pub fn kron<X: Operand + BinaryOperand<Y>, Y: Operand>(x: X, y: Y) -> X::Out {
    make::kron(x.operand(), y.operand(), SourceLoc::caller())
}

/// The sum of the elements `(i, i + offset)` along two axes, which the result lacks: `trace(x, 0, [-2, -1])` for matrices.
///
/// ```
/// use ndjit::{arange, trace};
/// let x = arange(9).reshape([3, 3]);
/// assert_eq!(trace(&x, 0, [-2, -1]).item::<i32>()?, 12);
/// assert_eq!(trace(&x, 1, [-2, -1]).item::<i32>()?, 6);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Types and accuracy: those of [`sum`](fn@crate::sum).
///
/// Source: the [Array API](https://data-apis.org/array-api/2025.12/extensions/generated/array_api.linalg.trace.html).
///
/// # Errors
/// Poisoned with `Shape` for axes out of range or repeated.
#[track_caller]
pub fn trace<X: UnaryOperand>(x: X, offset: isize, axes: [isize; 2]) -> X::Out {
    let (what, place, x) = ("trace", SourceLoc::caller(), x.operand());
    let diagonal: X::Out = seen(what, x.clone(), place, |shape| view::diagonal(shape, offset, axes));
    let sum: X::Out = reductions::reduce(Reduction::Sum, None, diagonal.operand(), (-1).axes(), place);
    sum.part_of(what, &[x], place)
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Contractions as methods: see the free functions.
        impl $of {
            /// [`matmul`](fn@crate::matmul) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// let x = Array::from_rows(&[[1, 2], [3, 4]]);
            /// assert_eq!(x.matmul(&x).to_string(), "[[ 7 10]\n [15 22]]");
            /// ```
            #[doc(alias = "dot")]
            #[track_caller]
            pub fn matmul<Y: Operand>($self: $receiver, y: Y) -> <$of as BinaryOperand<Y>>::Out
            where
                $of: BinaryOperand<Y>,
            {
                make::matmul($self.operand(), y.operand(), SourceLoc::caller())
            }

            /// [`vecdot`](fn@crate::vecdot) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// let x = Array::from([1, 2, 3]);
            /// assert_eq!(x.vecdot(&x, 0).to_string(), "14");
            /// ```
            #[track_caller]
            pub fn vecdot<Y: Operand>($self: $receiver, y: Y, axis: isize) -> <$of as BinaryOperand<Y>>::Out
            where
                $of: BinaryOperand<Y>,
            {
                make::vecdot($self.operand(), y.operand(), axis, SourceLoc::caller())
            }

            /// [`tensordot`](fn@crate::tensordot) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// let x = Array::from_rows(&[[1, 2], [3, 4]]);
            /// assert_eq!(x.tensordot(&x, 2).to_string(), "30");
            /// ```
            #[track_caller]
            pub fn tensordot<Y: Operand>($self: $receiver, y: Y, axes: impl IntoPairs) -> <$of as BinaryOperand<Y>>::Out
            where
                $of: BinaryOperand<Y>,
            {
                make::tensordot($self.operand(), y.operand(), axes, SourceLoc::caller())
            }

            /// [`outer`](fn@crate::outer) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// assert_eq!(Array::from([1, 2]).outer(&Array::from([3, 4])).to_string(), "[[3 4]\n [6 8]]");
            /// ```
            #[track_caller]
            pub fn outer<Y: Operand>($self: $receiver, y: Y) -> <$of as BinaryOperand<Y>>::Out
            where
                $of: BinaryOperand<Y>,
            {
                make::outer($self.operand(), y.operand(), SourceLoc::caller())
            }

            /// [`kron`](fn@crate::kron) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// assert_eq!(Array::from([1, 2]).kron(&Array::from([3, 4])).to_string(), "[3 4 6 8]");
            /// ```
            #[track_caller]
            pub fn kron<Y: Operand>($self: $receiver, y: Y) -> <$of as BinaryOperand<Y>>::Out
            where
                $of: BinaryOperand<Y>,
            {
                make::kron($self.operand(), y.operand(), SourceLoc::caller())
            }

            /// [`trace`](fn@crate::trace) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// assert_eq!(Array::from_rows(&[[1, 2], [3, 4]]).trace(0, [0, 1]).to_string(), "5");
            /// ```
            #[track_caller]
            pub fn trace($self: $receiver, offset: isize, axes: [isize; 2]) -> $of {
                trace($self, offset, axes)
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
