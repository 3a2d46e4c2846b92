//! Reductions of elements along some axes. Free functions and methods infer the dtype of the result. `dtype(d)` sets it and
//! `correction(c)` that of the variance; both have the functions as methods.
//!
//! The axes are always the last argument: `..` for all, `0` or `-1` for one, `[0, 2]` for several. [`keepdims`] of any of
//! these makes the result broadcast against the operand.
//!
//! The order of combination depends only on the shape ([`ndjit_ir::reduction::fold`]). Results are therefore the same for
//! any number of threads, any vector width and any fusion. A sum of `n` floats differs from the exact one by at most
//! `(68 + log2(n / 1024)) u` times the sum of magnitudes, to first order, where `u` is half an ULP of 1. Halves are summed in `f32`
//! and rounded once.

pub use crate::api::axes::{Axes, IntoAxes, keepdims};

use crate::api::creation::Typed;
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, Operand, UnaryOperand};
use crate::trace::scalar::{Number, Scalar};
use ndjit_eval::request::Request;
use ndjit_ir::reduction::Reduction;
use ndjit_ir::{DType, SourceLoc};

/// The variance and standard deviation with a correction: made by [`correction`].
///
/// ```
/// use ndjit::{Array, correction};
///
/// let x = Array::from([1.0f32, 2.0, 3.0]);
/// let unbiased = correction(1);
/// assert_eq!(unbiased.var(&x, ..).item::<f32>()?, 1.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corrected {
    dtype: Option<DType>,
    correction: Scalar,
}

/// [`var`] and [`std`](fn@std) with the divisor `n - correction` for `n` elements: 1 gives the unbiased estimate of the
/// variance of a sampled population.
///
/// ```
/// use ndjit::{Array, correction, DType, dtype};
/// let x = Array::from([1.0f32, 2.0, 3.0, 4.0, 5.0]);
/// assert_eq!(x.var(..).item::<f32>()?, 2.0);
/// assert_eq!(correction(1).var(&x, ..).item::<f32>()?, 2.5);
/// assert_eq!(dtype(DType::F64).correction(1).var(&x, ..).item::<f64>()?, 2.5);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn correction(correction: impl Number) -> Corrected {
    Corrected { dtype: None, correction: Scalar(correction.literal(), Some(SourceLoc::caller())) }
}

impl Typed {
    /// [`correction`](fn@correction) with this dtype.
    ///
    /// ```
    /// use ndjit::{Array, DType, dtype};
    ///
    /// let x = Array::from([1.0f32, 2.0, 3.0]);
    /// assert_eq!(dtype(DType::F64).correction(1).std(&x, ..).item::<f64>()?, 1.0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn correction(self, correction: impl Number) -> Corrected {
        Corrected { dtype: self.asked(), correction: Scalar(correction.literal(), Some(SourceLoc::caller())) }
    }
}

impl Corrected {
    /// [`var`] with this correction.
    ///
    /// ```
    /// use ndjit::{Array, correction};
    ///
    /// let x = Array::from([1.0f32, 2.0, 3.0]);
    /// assert_eq!(correction(1).var(&x, ..).item::<f32>()?, 1.0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn var<X: UnaryOperand>(self, x: X, axes: impl IntoAxes) -> X::Out {
        self.reduce(Reduction::Var, x.operand(), axes.axes(), SourceLoc::caller())
    }

    /// [`std`](fn@std) with this correction.
    ///
    /// ```
    /// use ndjit::{Array, correction};
    ///
    /// let x = Array::from([1.0f32, 2.0, 3.0]);
    /// assert_eq!(correction(1).std(&x, ..).item::<f32>()?, 1.0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn std<X: UnaryOperand>(self, x: X, axes: impl IntoAxes) -> X::Out {
        self.reduce(Reduction::Std, x.operand(), axes.axes(), SourceLoc::caller())
    }

    /// Sets the dtype.
    ///
    /// ```
    /// use ndjit::{Array, DType, correction};
    ///
    /// let x = Array::from([1.0f32, 2.0, 3.0]);
    /// assert_eq!(correction(1).dtype(DType::F64).var(&x, ..).item::<f64>()?, 1.0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn dtype(self, dtype: DType) -> Corrected {
        Corrected { dtype: Some(dtype), ..self }
    }

    /// Returns the requested dtype and the correction.
    pub(crate) fn asked(self) -> (Option<DType>, Scalar) {
        (self.dtype, self.correction)
    }

    fn reduce<R: ArrayLike>(self, reduction: Reduction, x: AnyOperand, axes: Axes, place: SourceLoc) -> R {
        R::reduce(
            &Request::new(reduction, self.dtype, axes.requested()),
            &[x, AnyOperand::Scalar(self.correction)],
            place,
        )
    }
}

pub(crate) fn reduce<R: ArrayLike>(
    reduction: Reduction,
    dtype: Option<DType>,
    x: AnyOperand,
    axes: Axes,
    place: SourceLoc,
) -> R {
    R::reduce(&Request::new(reduction, dtype, axes.requested()), &[x], place)
}

macro_rules! rows {
    (reductions { $($variant:ident $name:ident($($operand:ident)*) $rule:ident $doc:literal;)* } scans { $($scan:tt)* } sorts { $($sort:tt)* }) => {
        $(
            #[doc = concat!($doc, "\n\n- Result: ", types!($rule), " Never weak.\n- ", accuracy!($rule),
                "\n- The axes: [`Axes`].\n\n```\nuse ndjit::{Array, ", stringify!($name), "};\n", example!($name),
                "\n# Ok::<(), ndjit::Error>(())\n```",
                "\n\n# Errors\nPoisoned with `Shape` for an axis that is not there or named twice, with `Promotion` where the policy",
                " refuses the operand", errors!($rule))]
            #[track_caller]
            pub fn $name<X: UnaryOperand>(x: X, axes: impl IntoAxes) -> X::Out {
                reduce(Reduction::$variant, None, x.operand(), axes.axes(), SourceLoc::caller())
            }
        )*

        /// Reductions as methods: see the free functions.
        impl Expr {
            $(
                #[doc = concat!($doc, " Types and errors: [`", stringify!($name), "`](fn@crate::", stringify!($name), ").")]
                #[track_caller]
                pub fn $name(self, axes: impl IntoAxes) -> Expr {
                    reduce(Reduction::$variant, None, self.operand(), axes.axes(), SourceLoc::caller())
                }
            )*
        }

        /// Reductions as methods: see the free functions.
        impl Array {
            $(
                #[doc = concat!($doc, " Types and errors: [`", stringify!($name), "`](fn@crate::", stringify!($name), ").")]
                #[track_caller]
                pub fn $name(&self, axes: impl IntoAxes) -> Array {
                    reduce(Reduction::$variant, None, self.operand(), axes.axes(), SourceLoc::caller())
                }
            )*
        }

        /// Reductions with this dtype: see the free functions. The operand is cast to it before elements are combined; that
        /// of a complex variance is cast to the complex dtype of that width. For indices and counts only the result has this
        /// dtype.
        impl Typed {
            $( typed! { $rule $variant $name } )*
        }
    };
}

/// The dtype of a result, as text.
macro_rules! types {
    (Sum) => {
        "integers have at least the width of the default integer and keep their signedness, bool gives the default integer, others keep their dtype (other policies differ)."
    };
    (Product) => {
        types!(Sum)
    };
    (Mean) => {
        "64-bit integers give `f64`, others and bool `f32`, floats and complex numbers their dtype (other policies differ)."
    };
    (Variance) => {
        "64-bit integers give `f64`, others and bool `f32`, floats their dtype, complex numbers that of the real part (other policies differ)."
    };
    (Exponential) => {
        types!(Mean)
    };
    (Norm) => {
        types!(Variance)
    };
    (Same) => {
        "the operand's dtype."
    };
    (Bool) => {
        "bool."
    };
    (Index) => {
        "the default integer (`i64` under other policies than JAX's)."
    };
}
pub(crate) use types;

/// The error bound of a float result, as text; `u` is half an ULP of 1, `n` the number of elements.
macro_rules! accuracy {
    (Sum) => {
        "Accuracy: an error of at most `(68 + log2(n / 1024)) u` times the sum of magnitudes, to first order; halves are summed in `f32` and rounded once."
    };
    (Product) => {
        "Accuracy: a relative error of at most `(n - 1) u`, to first order, of complex numbers `5^(1/2) (n - 1) u` of the modulus; halves are multiplied in `f32` and rounded once."
    };
    (Mean) => {
        "Accuracy: that of the sum, divided by `n` and rounded once more. Of numbers that are close to each other and far from 0 a mean in `f64` is worth its time: `dtype(DType::F64).mean(x, ..)`."
    };
    (Variance) => {
        "Accuracy: a relative error of at most `c u (2 + 3 r)` with `c = 74 + log2(n / 1024)`, to first order, where `r` is the square of the distance, in standard deviations, of the mean from the center that distances are taken from: the mean of a 64th of the elements or more, from four places along an axis. `r` is at most 63, but for the rounding of the center, and near 0 unless those elements differ from the others (Chan, Golub, LeVeque 1983, equation 1.6). Where all elements are equal the result is 0."
    };
    (Exponential) => {
        "Accuracy: an absolute error of at most `(71 + log2(n / 1024)) u` beside that of rounding the result, to first order; of complex numbers times the sum of the exponentials' moduli over the modulus of their sum."
    };
    (Norm) => {
        "Accuracy: a relative error of at most `(36 + log2(n / 1024) / 2) u`, to first order."
    };
    ($rule:ident) => {
        "Accuracy: exact."
    };
}

/// The example of a function that reduces `x`.
macro_rules! example {
    (sum) => {
        "let x = Array::from_rows(&[[1, 2], [3, 4]]);\nassert_eq!(sum(&x, ..).item::<i32>()?, 10);\nassert_eq!(sum(&x, 0).to_vec::<i32>()?, [4, 6]);"
    };
    (prod) => {
        "let x = Array::from_rows(&[[1, 2], [3, 4]]);\nassert_eq!(prod(&x, ..).item::<i32>()?, 24);\nassert_eq!(prod(&x, 1).to_vec::<i32>()?, [2, 12]);"
    };
    (mean) => {
        "let x = Array::from_rows(&[[1, 2], [3, 4]]);\nassert_eq!(mean(&x, ..).item::<f32>()?, 2.5);\nassert_eq!(mean(&x, -1).to_vec::<f32>()?, [1.5, 3.5]);"
    };
    (var) => {
        "let x = Array::from([1.0f32, 2.0, 3.0, 4.0]);\nassert_eq!(var(&x, ..).item::<f32>()?, 1.25);"
    };
    (std) => {
        "let x = Array::from_rows(&[[1.0f32, 3.0], [5.0, 5.0]]);\nassert_eq!(std(&x, 1).to_vec::<f32>()?, [1.0, 0.0]);"
    };
    (max) => {
        "let x = Array::from_rows(&[[1, 5], [3, 4]]);\nassert_eq!(max(&x, ..).item::<i32>()?, 5);\nassert_eq!(max(&x, 0).to_vec::<i32>()?, [3, 5]);"
    };
    (min) => {
        "let x = Array::from_rows(&[[1, 5], [3, 4]]);\nassert_eq!(min(&x, ..).item::<i32>()?, 1);\nassert_eq!(min(&x, 0).to_vec::<i32>()?, [1, 4]);"
    };
    (ptp) => {
        "let x = Array::from_rows(&[[1, 5], [3, 4]]);\nassert_eq!(ptp(&x, 1).to_vec::<i32>()?, [4, 1]);"
    };
    (logsumexp) => {
        "let x = Array::from([1000.0f32, f32::NEG_INFINITY]);\nassert_eq!(logsumexp(&x, ..).item::<f32>()?, 1000.0);"
    };
    (norm) => {
        "let x = Array::from([3.0f32, -4.0]);\nassert_eq!(norm(&x, ..).item::<f32>()?, 5.0);"
    };
    (any) => {
        "let x = Array::from_rows(&[[0, 2], [0, 0]]);\nassert_eq!(any(&x, 1).to_vec::<bool>()?, [true, false]);"
    };
    (all) => {
        "let x = Array::from_rows(&[[0, 2], [1, 1]]);\nassert_eq!(all(&x, 1).to_vec::<bool>()?, [false, true]);"
    };
    (argmax) => {
        "let x = Array::from([3, 9, 2]);\nassert_eq!(argmax(&x, ..).item::<i32>()?, 1);"
    };
    (argmin) => {
        "let x = Array::from([3, 9, 2]);\nassert_eq!(argmin(&x, ..).item::<i32>()?, 2);"
    };
    (count_nonzero) => {
        "let x = Array::from_rows(&[[0, 2], [1, 1]]);\nassert_eq!(count_nonzero(&x, 1).to_vec::<i32>()?, [1, 2]);"
    };
}

/// Further errors of some reductions.
macro_rules! errors {
    (Same) => {
        ", with `Shape` if there are no elements."
    };
    (Index) => {
        ", with `Shape` if it needs elements and there are none, with `DType` if the result's dtype cannot count them."
    };
    ($rule:ident) => {
        "."
    };
}

/// The method with a given dtype.
macro_rules! typed {
    (Same $variant:ident $name:ident) => {};
    (Bool $variant:ident $name:ident) => {};
    ($rule:ident $variant:ident $name:ident) => {
        #[doc = concat!("[`", stringify!($name), "`](fn@crate::", stringify!($name), ") of this dtype.")]
        #[track_caller]
        pub fn $name<X: UnaryOperand>(self, x: X, axes: impl IntoAxes) -> X::Out {
            reduce(Reduction::$variant, self.asked(), x.operand(), axes.axes(), SourceLoc::caller())
        }
    };
}

ndjit_ir::reduction_table!(rows);
