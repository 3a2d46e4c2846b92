//! Softmax and its logarithm.

use crate::api::manipulation::refused;
use crate::api::parts::{FunctionParts, meeting};
use crate::api::reductions::{Axes, IntoAxes, keepdims};
use crate::api::transforms::stop_gradient;
use crate::trace::operand::{AnyOperand, ArrayLike, UnaryOperand};
use crate::trace::written::with_place;
use ndjit_ir::{DType, Error, ErrorCode, Op, Reduction, Result, SourceLoc};
use std::slice;

/// Softmax along some axes: `exp(x - max(x)) / sum(exp(x - max(x)))`. Integers become floats.
///
/// ```
/// use ndjit::{Array, softmax};
/// let x = Array::from([0.0f64, 2f64.ln(), -f64::INFINITY]);
/// assert_eq!(softmax(&x, 0).to_vec::<f64>()?, [1.0 / 3.0, 2.0 / 3.0, 0.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Accuracy: an element is within `(max(x) - x + c + 3) u` of its value, relatively, where `c` is the bound of [`sum`](fn@crate::sum); halves are computed in
///   `f32`. Where the largest element is infinite the result is NaN.
/// - Slopes: the largest element counts as constant, since it does not change the result.
///
/// Source: [`jax.nn.softmax`](https://docs.jax.dev/en/latest/_autosummary/jax.nn.softmax.html).
///
/// # Errors
/// Poisoned with `Shape` for axes out of range and for no elements, with `DType` for complex numbers.
#[track_caller]
pub fn softmax<X: UnaryOperand>(x: X, axes: impl IntoAxes) -> X::Out {
    of_shifted("softmax", x.operand(), axes.axes(), SourceLoc::caller(), |parts, _, powers, sum| {
        parts.op(Op::Divide, &[powers, sum])
    })
}

/// The logarithm of [`softmax`], exact also where that underflows: `x - max(x) - log(sum(exp(x - max(x))))`.
///
/// ```
/// use ndjit::{Array, log_softmax};
/// let x = Array::from([0.0f32, -200.0]);
/// assert_eq!(log_softmax(&x, 0).to_vec::<f32>()?, [0.0, -200.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// - Accuracy: an element is within `(abs(log_softmax) + log(n) + c + 3) u` of its value, absolutely, where `n` is the number of elements that share a sum and `c`
///   the bound of [`sum`](fn@crate::sum).
/// - Slopes, dtypes, infinities: as [`softmax`].
///
/// Source: [`jax.nn.log_softmax`](https://docs.jax.dev/en/latest/_autosummary/jax.nn.log_softmax.html).
///
/// # Errors
/// As [`softmax`].
#[track_caller]
pub fn log_softmax<X: UnaryOperand>(x: X, axes: impl IntoAxes) -> X::Out {
    of_shifted("log_softmax", x.operand(), axes.axes(), SourceLoc::caller(), |parts, shifted, _, sum| {
        parts.op(Op::Subtract, &[shifted, &parts.op(Op::Log, &[sum])])
    })
}

/// Applies `make` to the shifted elements, their exponentials, and the sum of these.
fn of_shifted<R: ArrayLike>(
    what: &'static str,
    x: AnyOperand,
    axes: Axes,
    place: SourceLoc,
    make: impl FnOnce(&FunctionParts<R>, &AnyOperand, &AnyOperand, &AnyOperand) -> AnyOperand,
) -> R {
    let parts = FunctionParts::<R>::new(what, place);
    match dtypes(what, &x) {
        Ok([compute, result]) => {
            let own = parts.cast(&x, compute);
            let most = constant(parts.reduced(Reduction::Max, None, &own, keepdims(axes.clone())), place);
            let shifted = parts.op(Op::Subtract, &[&own, &most]);
            let powers = parts.op(Op::Exp, &[&shifted]);
            let sum = parts.reduced(Reduction::Sum, Some(compute), &powers, keepdims(axes));
            let made = make(&parts, &shifted, &powers, &sum);
            parts.value(&parts.cast(&made, result)).part_of(what, slice::from_ref(&x), place)
        }
        Err(error) => refused(what, slice::from_ref(&x), place, &error),
    }
}

/// Returns the computing dtype and the dtype of the result.
fn dtypes(what: &str, x: &AnyOperand) -> Result<[DType; 2]> {
    let (ty, dtype, _) = x.describe(what)?;
    if dtype.is_complex() {
        return Err(Error::new(ErrorCode::DType, format!("{ty} has no largest element"))
            .help("take the moduli, `abs(x)`, or the real part, `real(x)`"));
    }
    let result = meeting(Op::Divide, &[ty])?;
    Ok([if result.is_half() { DType::F32 } else { result }, result])
}

/// The operand as a constant of derivatives.
fn constant(x: AnyOperand, place: SourceLoc) -> AnyOperand {
    match x {
        AnyOperand::Expr(x) => AnyOperand::Expr(with_place(place, || stop_gradient(x))),
        AnyOperand::Array(_) | AnyOperand::Scalar(_) => x,
    }
}
