//! Weights of elements: an option of counts and estimates, made by [`weights`].

use crate::api::bins::{IntoBinCount, IntoBins, counts, histograms};
use crate::api::covariance::covariance;
use crate::trace::operand::{BinaryOperand, Operand};
use crate::trace::scalar::{Number, Scalar};
use ndjit_ir::SourceLoc;

/// Weighted functions: made by [`weights`].
///
/// ```
/// use ndjit::{Array, Weights, weights};
///
/// let halves: Weights<f64> = weights(0.5);
/// assert_eq!(halves.bincount(&Array::from([1, 1, 0]), 2).to_string(), "[0.5 1. ]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights<W> {
    weights: W,
    density: bool,
    correction: Option<Scalar>,
}

/// Weighted [`bincount`](fn@crate::bincount), [`histogram`](fn@crate::histogram) and [`cov`](fn@crate::cov). The weights are
/// a scalar, or an array that broadcasts to the shape of the elements.
///
/// ```
/// use ndjit::{Array, weights};
///
/// let w = Array::from([0.5f32, 1.0, 2.0]);
/// assert_eq!(weights(&w).bincount(&Array::from([2, 0, 2]), 3).to_string(), "[1.  0.  2.5]");
/// assert_eq!(weights(&w).histogram(&Array::from([2, 0, 2]), 2).0.to_string(), "[1.  2.5]");
/// assert_eq!(weights(&w).density().histogram(&Array::from([2, 0, 2]), 1).0.to_string(), "[0.5]");
/// ```
///
/// - Result of counts: the sums of weights, of the dtype of their [`sum`](fn@crate::sum). They are added in row-major order,
///   halves in `f32`, and rounded once.
/// - Errors: `Shape` if weights do not broadcast to the elements, besides those of the function.
///
/// Source: `weights` of NumPy's [`bincount`](https://numpy.org/doc/stable/reference/generated/numpy.bincount.html), which gives `f64`, and
/// [`histogram`](https://numpy.org/doc/stable/reference/generated/numpy.histogram.html), `aweights` of [`cov`](https://numpy.org/doc/stable/reference/generated/numpy.cov.html).
pub fn weights<W: Operand>(weights: W) -> Weights<W> {
    Weights { weights, density: false, correction: None }
}

impl<W: Operand> Weights<W> {
    /// The sum of the weights of the elements equal to each integer below `length`: [`bincount`](fn@crate::bincount).
    ///
    /// ```
    /// use ndjit::{Array, weights};
    ///
    /// assert_eq!(weights(Array::from([10, 20, 30])).bincount(&Array::from([1, 0, 1]), ..).to_string(), "[20 40]");
    /// ```
    #[track_caller]
    pub fn bincount<X: Operand + BinaryOperand<W>>(self, x: X, length: impl IntoBinCount) -> X::Out {
        counts(x.operand(), length.bin_count(), Some(self.weights.operand()), SourceLoc::caller())
    }

    /// The sum of the weights of the elements in each bin, and the edges: [`histogram`](fn@crate::histogram).
    ///
    /// ```
    /// use ndjit::{Array, weights};
    ///
    /// let x = Array::from([1.0f32, 2.0, 9.0]);
    /// assert_eq!(weights(Array::from([3, 4, 5])).histogram(&x, (2, 1.0..=3.0)).0.to_string(), "[3 4]");
    /// ```
    #[track_caller]
    pub fn histogram<X, B>(self, x: X, bins: B) -> WeightedHistogram<X, W, B>
    where
        X: Operand + BinaryOperand<W>,
        X::Out: BinaryOperand<B::Edges>,
        B: IntoBins,
    {
        histograms(x.operand(), bins.bins(), Some(self.weights.operand()), self.density, SourceLoc::caller())
    }

    /// Returns densities instead of sums: [`density`](fn@crate::density).
    ///
    /// ```
    /// use ndjit::{Array, weights};
    ///
    /// let x = Array::from([1.0f32, 2.0]);
    /// assert_eq!(weights(Array::from([3.0f32, 1.0])).density().histogram(&x, (2, 0.0..=4.0)).0.to_string(), "[0.375 0.125]");
    /// ```
    pub fn density(self) -> Weights<W> {
        Weights { density: true, ..self }
    }

    /// Sets the correction of the covariance: [`correction`](fn@crate::correction).
    ///
    /// ```
    /// use ndjit::{Array, weights};
    ///
    /// let x = Array::from([1.0f32, 2.0, 4.0]);
    /// assert_eq!(weights(Array::from([1.0f32, 2.0, 1.0])).correction(0).cov(&x).to_string(), "1.1875");
    /// ```
    #[track_caller]
    pub fn correction(self, correction: impl Number) -> Weights<W> {
        Weights { correction: Some(Scalar(correction.literal(), Some(SourceLoc::caller()))), ..self }
    }

    /// The covariances of variables with one weight per observation: [`cov`](fn@crate::cov). With a correction of `c`, 1 by
    /// default, the divisor is `sum(w) - c sum(w²) / sum(w)`, as with NumPy's `aweights`.
    ///
    /// ```
    /// use ndjit::{Array, weights};
    ///
    /// let x = Array::from_rows(&[[1.0f32, 2.0, 4.0], [0.0, 0.0, 3.0]]);
    /// let w = Array::from([1.0f32, 1.0, 2.0]);
    /// assert_eq!(weights(&w).cov(&x).to_string(), "[[2.7 3. ]\n [3.  3.6]]");
    /// ```
    #[track_caller]
    pub fn cov<X: Operand + BinaryOperand<W>>(self, x: X) -> X::Out {
        covariance(x.operand(), None, self.correction, Some(self.weights.operand()), SourceLoc::caller())
    }
}

/// Counts and edges of elements, weights and bins.
type WeightedHistogram<X, W, B> = (
    <<X as BinaryOperand<W>>::Out as BinaryOperand<<B as IntoBins>::Edges>>::Out,
    <<X as BinaryOperand<W>>::Out as BinaryOperand<<B as IntoBins>::Edges>>::Out,
);
