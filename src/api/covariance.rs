//! Covariances and correlations of rows. A [`correction`](crate::correction) and [`weights`](crate::weights) have [`cov`] as
//! a method.

use crate::api::contractions::product;
use crate::api::manipulation::refused;
use crate::api::parts::{FunctionParts, meeting, reducing};
use crate::api::reductions::{Corrected, keepdims};
use crate::array::node::Array;
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike, UnaryOperand};
use crate::trace::scalar::Scalar;
use ndjit_eval::request::NamedFunction;
use ndjit_ir::view::{self, Slice};
use ndjit_ir::{DType, Error, ErrorCode, LiteralValue, Op, Reduction, Result, SourceLoc, ValueType};

/// The covariance matrix of variables: each row of `x` is a variable, each column an observation. An array of one axis is
/// one variable; the result is its variance.
///
/// ```
/// use ndjit::{Array, correction, cov};
///
/// let x = Array::from_rows(&[[0.0f32, 1.0, 2.0], [2.0, 1.0, 0.0]]);
/// assert_eq!(cov(&x).to_string(), "[[ 1. -1.]\n [-1.  1.]]");
/// assert_eq!(correction(0).cov(Array::from([1.0f32, 3.0])).item::<f32>()?, 1.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Result: a square matrix with a row for each variable, or a scalar for an array of one axis; the dtype of a
///   [`mean`](fn@crate::mean). Element `[i, j]` is the sum of the products of the deviations of `x[i]` and the conjugates of
///   those of `x[j]`, divided by the number of observations less 1.
/// - Two arrays: `cov(stack([&x, &y], 0))`. Variables in columns: `cov(x.mt())`.
/// - Another divisor: `correction(c).cov(x)`. Weights: [`weights`](crate::weights). If the divisor is 0 or negative,
///   elements are NaN or infinite.
/// - Accuracy: that of a [matrix product](crate::contractions) of the rounded deviations. Halves are computed in `f32` and
///   rounded once.
///
/// Source: NumPy's [`cov`](https://numpy.org/doc/stable/reference/generated/numpy.cov.html).
///
/// # Errors
/// Poisoned with `Shape` for no axes and for more than two; with `Promotion` where the policy refuses a mean.
#[track_caller]
pub fn cov<X: UnaryOperand>(x: X) -> X::Out {
    covariance(x.operand(), None, None, None, SourceLoc::caller())
}

/// The correlation matrix of the rows of `x`: their covariances divided by the products of their standard deviations.
///
/// ```
/// use ndjit::{Array, corrcoef};
///
/// let x = Array::from_rows(&[[0.0f32, 1.0, 2.0], [4.0, 2.0, 0.0]]);
/// assert_eq!(corrcoef(&x).to_string(), "[[ 1. -1.]\n [-1.  1.]]");
/// ```
///
/// - Result: shape and dtype of [`cov`]. Elements are from -1 to 1, NaN for a constant variable.
///
/// Source: NumPy's [`corrcoef`](https://numpy.org/doc/stable/reference/generated/numpy.corrcoef.html).
///
/// # Errors
/// Those of [`cov`].
#[doc(alias = "pearson")]
#[track_caller]
pub fn corrcoef<X: UnaryOperand>(x: X) -> X::Out {
    let (x, place) = (x.operand(), SourceLoc::caller());
    let parts = FunctionParts::<X::Out>::new("corrcoef", place);
    match correlations(&parts, &x) {
        Ok(made) => parts.value(&made).part_of(parts.what, &[x], place),
        Err(error) => refused(parts.what, &[x], place, &error),
    }
}

impl Corrected {
    /// [`cov`](fn@crate::cov) with this correction instead of 1.
    ///
    /// ```
    /// use ndjit::{Array, DType, correction};
    ///
    /// let x = Array::from([1.0f32, 2.0, 3.0]);
    /// assert_eq!(correction(0).dtype(DType::F64).cov(&x).item::<f64>()?, 2.0 / 3.0);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    #[track_caller]
    pub fn cov<X: UnaryOperand>(self, x: X) -> X::Out {
        let (dtype, correction) = self.asked();
        covariance(x.operand(), dtype, Some(correction), None, SourceLoc::caller())
    }
}

pub(crate) fn covariance<R: ArrayLike>(
    x: AnyOperand,
    dtype: Option<DType>,
    correction: Option<Scalar>,
    weights: Option<AnyOperand>,
    place: SourceLoc,
) -> R {
    let parts = FunctionParts::<R>::new("cov", place);
    let function = NamedFunction::new(parts.what, &["x", "weights"]);
    let operands: Vec<AnyOperand> = [&x].into_iter().chain(&weights).cloned().collect();
    match covariances(&parts, &x, dtype, correction, weights.as_ref()) {
        Ok((made, dtype)) => parts.value(&parts.cast(&made, dtype)).part_of(function, &operands, place),
        Err(error) => refused(function, &operands, place, &error),
    }
}

/// Covariances in their computing dtype, and the dtype of the result.
fn covariances<R: ArrayLike>(
    parts: &FunctionParts<R>,
    x: &AnyOperand,
    asked: Option<DType>,
    correction: Option<Scalar>,
    weights: Option<&AnyOperand>,
) -> Result<(AnyOperand, DType)> {
    let (ty, _, shape) = x.describe(parts.what)?;
    let (&[count] | &[_, count]) = shape.extents() else {
        return Err(Error::new(ErrorCode::Shape, format!("an array of shape {shape} has no variables in its rows"))
            .help("give an array of two axes, a row for each variable, or of one"));
    };
    let [mut compute, mut result] = reducing(Reduction::Mean, asked, ty)?;
    if let (Some(weights), None) = (weights, asked) {
        let (own, ..) = weights.describe(parts.what)?;
        result = meeting(Op::Divide, &[ValueType::Strong(result), own])?;
        compute = if result.is_half() { DType::F32 } else { result };
    }
    let correction = match correction.map_or(LiteralValue::Int(1), |correction| correction.0.value()) {
        LiteralValue::Int(n) => n as f64,
        LiteralValue::Float(n) => n,
        LiteralValue::Bool(_) | LiteralValue::Complex(..) => {
            return Err(Error::new(ErrorCode::Argument, "the correction is not a real number")
                .help("give a number that is less than that of the observations"));
        }
    };
    let real = compute.real();
    let weights = weights.map(|weights| weights_of(parts, weights, count, real)).transpose()?;
    let last = |reduction, x: &AnyOperand| parts.reduced(reduction, Some(compute), x, keepdims(-1));
    let x = parts.cast(x, compute);
    let (mean, weighed, divisor) = match &weights {
        None => (last(Reduction::Mean, &x), None, parts.float((count as f64 - correction).max(0.0), real)),
        Some(w) => {
            let total = parts.reduced(Reduction::Sum, Some(real), w, ..);
            let squares = parts.reduced(Reduction::Sum, Some(real), &parts.op(Op::Multiply, &[w, w]), ..);
            let share =
                parts.op(Op::Multiply, &[&parts.op(Op::Divide, &[&squares, &total]), &parts.float(correction, real)]);
            let divisor = parts.op(Op::Subtract, &[&total, &share]);
            let divisor = parts.op(Op::Maximum, &[&divisor, &parts.float(0.0, real)]);
            let sums = last(Reduction::Sum, &parts.op(Op::Multiply, &[&x, w]));
            (parts.op(Op::Divide, &[&sums, &total]), Some(w), divisor)
        }
    };
    let apart = parts.op(Op::Subtract, &[&x, &mean]);
    let rows = |x: &AnyOperand| {
        parts.reshaped(x, &[if shape.rank() == 1 { 1 } else { shape.extents()[0] as isize }, count as isize])
    };
    let left = rows(&apart);
    let right = rows(&weighed.map_or_else(|| apart.clone(), |w| parts.op(Op::Multiply, &[&apart, w])));
    let right = if compute.is_complex() { parts.op(Op::Conj, &[&right]) } else { right };
    let right = parts.seen(&right, |shape| view::swapaxes(shape, 0, 1));
    let sums: R = product(left, right, parts.place);
    let made = parts.op(Op::Divide, &[&sums.operand(), &divisor]);
    Ok((if shape.rank() == 1 { parts.reshaped(&made, &[]) } else { made }, result))
}

/// The weight of each observation, in a real dtype.
fn weights_of<R: ArrayLike>(
    parts: &FunctionParts<R>,
    weights: &AnyOperand,
    count: usize,
    real: DType,
) -> Result<AnyOperand> {
    let (ty, dtype, shape) = weights.describe(parts.what)?;
    if dtype.is_complex() {
        return Err(
            Error::new(ErrorCode::DType, format!("weights are real, not {ty}")).help("take their real part, `real(w)`")
        );
    }
    let of = ndjit_ir::Shape::from(count);
    if shape.broadcast(&of).as_ref() != Some(&of) {
        return Err(Error::new(ErrorCode::Shape, format!("weights of shape {shape} for {count} observations"))
            .help("give a weight for each column, or one for all"));
    }
    Ok(parts.cast(&parts.seen(weights, |own| view::broadcast_to(own, &of)), real))
}

fn correlations<R: ArrayLike>(parts: &FunctionParts<R>, x: &AnyOperand) -> Result<AnyOperand> {
    let (made, dtype) = covariances(parts, x, None, None, None)?;
    let (.., shape) = made.describe(parts.what)?;
    if shape.rank() == 0 {
        return Ok(parts.cast(&parts.op(Op::Divide, &[&made, &made]), dtype));
    }
    let deviations = parts.seen(&made, |shape| view::diagonal(shape, 0, [0, 1]));
    let deviations = parts.op(Op::Sqrt, &[&parts.op(Op::Real, &[&deviations])]);
    let column = parts.seen(&deviations, |shape| view::slice(shape, &[Slice::ALL, Slice::NewAxis]));
    let normed = parts.op(Op::Divide, &[&parts.op(Op::Divide, &[&made, &column]), &deviations]);
    let (_, of, _) = normed.describe(parts.what)?;
    let real = of.real();
    let clipped = |x: &AnyOperand| parts.op(Op::Clip, &[x, &parts.float(-1.0, real), &parts.float(1.0, real)]);
    let clipped = match of.is_complex() {
        false => clipped(&normed),
        true => {
            let [re, im] = [Op::Real, Op::Imag].map(|part| clipped(&parts.op(part, &[&normed])));
            parts.op(Op::Complex, &[&re, &im])
        }
    };
    Ok(parts.cast(&clipped, dtype))
}

macro_rules! methods {
    ($($of:ty, $self:ident: $receiver:ty;)*) => {$(
        /// Covariances as methods: see the free functions.
        impl $of {
            /// [`cov`](fn@crate::cov) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// assert_eq!(Array::from([1.0f32, 2.0, 3.0]).cov().item::<f32>()?, 1.0);
            /// # Ok::<(), ndjit::Error>(())
            /// ```
            #[track_caller]
            pub fn cov($self: $receiver) -> $of {
                cov($self)
            }

            /// [`corrcoef`](fn@crate::corrcoef) as a method.
            ///
            /// ```
            /// use ndjit::Array;
            ///
            /// let x = Array::from_rows(&[[1.0f32, 2.0], [5.0, 3.0]]);
            /// assert_eq!(x.corrcoef().slice((0, 1)).item::<f32>()?, -1.0);
            /// # Ok::<(), ndjit::Error>(())
            /// ```
            #[track_caller]
            pub fn corrcoef($self: $receiver) -> $of {
                corrcoef($self)
            }
        }
    )*};
}

methods! { Expr, self: Expr; Array, self: &Array; }
