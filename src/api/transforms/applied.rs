//! Derivatives at given values, in any structure, within a traced function.

use super::gradients;
use crate::api::control::finished;
use crate::jit::output::{Collected, Outputs, built, collected};
use crate::trace::derive::{Linearized, constants, variables};
use crate::trace::expr::Expr;
use crate::trace::recorder::describe;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, SourceLoc};
use ndjit_transform::derivative::DerivativeMode;
use std::rc::Rc;

/// The gradient of a function with respect to all its values, in their structure. Gradients of integers are zeros.
///
/// ```
/// use ndjit::{Array, Expr, grad_at, jit, sum};
///
/// let f = jit(|w: Expr, b: Expr, x: Expr| grad_at(|(w, b)| sum(w * x + b, ..), (w, b)));
/// let (w, b, x) = (Array::from(2.0f32), Array::from(0.5f32), Array::from([1.0f32, 2.0]));
/// let (by_w, by_b) = f(&w, &b, &x);
/// assert_eq!((by_w.item::<f32>()?, by_b.item::<f32>()?), (3.0, 2.0));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Values that the closure captures are constants.
///
/// # Errors
/// Poisoned with `Shape` or `DType` unless the function returns one real number; with the first error of the function.
#[track_caller]
pub fn grad_at<P: Outputs>(function: impl FnOnce(P) -> Expr, at: P) -> P {
    value_and_gradient(("grad_at", SourceLoc::caller()), function, at).1
}

/// The value of a function and its gradient with respect to all its values.
///
/// ```
/// use ndjit::{Array, Expr, jit, sum, value_and_grad_at};
///
/// let f = jit(|x: Expr| value_and_grad_at(|x: Expr| sum(x * x, ..), x));
/// let (value, slope) = f(&Array::from([1.0f32, 3.0]));
/// assert_eq!((value.item::<f32>()?, slope.to_vec::<f32>()?), (10.0, vec![2.0, 6.0]));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// As [`grad_at`].
#[track_caller]
pub fn value_and_grad_at<P: Outputs>(function: impl FnOnce(P) -> Expr, at: P) -> (Expr, P) {
    value_and_gradient(("value_and_grad_at", SourceLoc::caller()), function, at)
}

/// The value of a function and its gradient with respect to all its values.
pub(super) fn value_and_gradient<P: Outputs>(
    written: (&'static str, SourceLoc),
    function: impl FnOnce(P) -> Expr,
    at: P,
) -> (Expr, P) {
    let at = collected(at);
    let made = gradients(written, &at.exprs, false, |variables| vec![function(built(variables, &at))]);
    let (value, gradients) = match made {
        Ok((outputs, gradients)) => (Ok(outputs), Ok(gradients)),
        Err(error) => (Err(error.clone()), Err(error)),
    };
    let one = Collected { exprs: at.exprs[..1.min(at.exprs.len())].to_vec(), ..Collected::default() };
    (finished(value, one, written.1), finished(gradients, at, written.1))
}

/// The value of a function and its tangent: the derivative along a direction, in forward mode. Tangents of integers are zeros.
///
/// ```
/// use ndjit::{Array, Expr, jit, jvp, sin};
///
/// let f = jit(|x: Expr, t: Expr| jvp(|x: Expr| sin(x), x, t));
/// let (y, slope) = f(&Array::from([0.0f64]), &Array::from([2.0f64]));
/// assert_eq!((y.to_vec::<f64>()?, slope.to_vec::<f64>()?), (vec![0.0], vec![2.0]));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: [`jax.jvp`](https://docs.jax.dev/en/latest/_autosummary/jax.jvp.html).
///
/// # Errors
/// Poisoned with `Arity` or `Shape` if the tangents do not match the values; with the first error of the function.
#[track_caller]
pub fn jvp<P: Outputs, R: Outputs>(function: impl FnOnce(P) -> R, at: P, tangents: P) -> (R, R) {
    tangent_of(("jvp", SourceLoc::caller()), function, at, tangents)
}

/// The value of a function and its tangent.
pub(super) fn tangent_of<P: Outputs, R: Outputs>(
    (what, place): (&'static str, SourceLoc),
    function: impl FnOnce(P) -> R,
    at: P,
    tangents: P,
) -> (R, R) {
    let tangents = collected(tangents);
    let (value, linear) = linearized((what, place), DerivativeMode::Forward, function, at);
    let tangent = linear.mapped(tangents, place, |linear, tangents| linear.forward(tangents, place));
    (value, tangent)
}

/// The value of a function, and its linear map from tangents of its values to those of its results: [`jvp`] at one point,
/// for any number of tangents.
///
/// ```
/// use ndjit::{Array, Expr, jit, linearize};
///
/// let f = jit(|x: Expr| {
///     let (y, slope) = linearize(|x: Expr| x * x, x);
///     (y, slope(Expr::from(1.0)), slope(Expr::from(10.0)))
/// });
/// let (y, one, ten) = f(&Array::from(3.0f32));
/// assert_eq!([y.item::<f32>()?, one.item()?, ten.item()?], [9.0, 6.0, 60.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: [`jax.linearize`](https://docs.jax.dev/en/latest/_autosummary/jax.linearize.html).
///
/// # Errors
/// As [`jvp`].
#[track_caller]
pub fn linearize<P: Outputs, R: Outputs>(function: impl FnOnce(P) -> R, at: P) -> (R, impl Fn(P) -> R) {
    let place = SourceLoc::caller();
    let (value, linear) = linearized(("linearize", place), DerivativeMode::Forward, function, at);
    let map = move |tangents: P| {
        linear.mapped(collected(tangents), place, |linear, tangents| linear.forward(tangents, place))
    };
    (value, map)
}

/// The value of a function, and its linear map from cotangents of its results to those of its values, in reverse mode.
///
/// ```
/// use ndjit::{Array, Expr, jit, sin, vjp};
///
/// let f = jit(|x: Expr, g: Expr| {
///     let (y, back) = vjp(|x: Expr| sin(x), x);
///     (y, back(g))
/// });
/// let (_, slope) = f(&Array::from([0.0f64]), &Array::from([2.0f64]));
/// assert_eq!(slope.to_vec::<f64>()?, [2.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// The inner product of a cotangent `g` and a tangent `t` is the real part of the sum of `conj(g) * t`.
///
/// Source: [`jax.vjp`](https://docs.jax.dev/en/latest/_autosummary/jax.vjp.html).
///
/// # Errors
/// Poisoned with `Arity` or `Shape` if the cotangents do not match the results; with the first error of the function.
#[track_caller]
pub fn vjp<P: Outputs, R: Outputs>(function: impl FnOnce(P) -> R, at: P) -> (R, impl Fn(R) -> P) {
    let place = SourceLoc::caller();
    let (value, linear) = linearized(("vjp", place), DerivativeMode::Reverse, function, at);
    let map = move |cotangents: R| {
        linear.mapped_back(collected(cotangents), place, |linear, cotangents| linear.reverse(cotangents, place))
    };
    (value, map)
}

/// Marks values as constants of derivatives.
///
/// ```
/// use ndjit::{Array, grad, jit, stop_gradient};
///
/// let f = jit(grad(|x| x * stop_gradient(x)));
/// assert_eq!(f(&Array::from(3.0f32)).item::<f32>()?, 3.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: [`jax.lax.stop_gradient`](https://docs.jax.dev/en/latest/_autosummary/jax.lax.stop_gradient.html).
#[track_caller]
pub fn stop_gradient<P: Outputs>(values: P) -> P {
    let values = collected(values);
    built(&constants(&values.exprs, SourceLoc::caller()), &values)
}

/// A linearized function of its values, and the structures of both.
struct AppliedLinear {
    linear: Result<Rc<Linearized>>,
    what: &'static str,
    values: Collected,
    results: Collected,
}

fn linearized<P: Outputs, R: Outputs>(
    (what, place): (&'static str, SourceLoc),
    mode: DerivativeMode,
    function: impl FnOnce(P) -> R,
    at: P,
) -> (R, AppliedLinear) {
    let values = collected(at);
    let own = variables(&values.exprs, what, place);
    let results = collected(function(built(&own, &values)));
    let linear = Linearized::new(&own, &results.exprs, mode, what, place);
    let outputs = linear.as_ref().map(Linearized::outputs).map_err(Clone::clone);
    let shape = |of: &Collected| Collected { exprs: of.exprs.clone(), lengths: of.lengths.clone() };
    let value = finished(outputs, shape(&results), place);
    (value, AppliedLinear { linear: linear.map(Rc::new), what, values, results })
}

impl AppliedLinear {
    /// Maps tangents of the values to those of the results.
    fn mapped<R: Outputs>(
        &self,
        given: Collected,
        place: SourceLoc,
        map: impl FnOnce(&Linearized, &[Expr]) -> Result<Vec<Expr>>,
    ) -> R {
        let made = self.made(&given, &self.values, map);
        finished(made, self.like(&self.results), place)
    }

    /// Maps cotangents of the results to those of the values.
    fn mapped_back<P: Outputs>(
        &self,
        given: Collected,
        place: SourceLoc,
        map: impl FnOnce(&Linearized, &[Expr]) -> Result<Vec<Expr>>,
    ) -> P {
        let made = self.made(&given, &self.results, map);
        finished(made, self.like(&self.values), place)
    }

    fn like(&self, of: &Collected) -> Collected {
        Collected { exprs: of.exprs.clone(), lengths: of.lengths.clone() }
    }

    fn made(
        &self,
        given: &Collected,
        like: &Collected,
        map: impl FnOnce(&Linearized, &[Expr]) -> Result<Vec<Expr>>,
    ) -> Result<Vec<Expr>> {
        let linear = self.linear.as_ref().map_err(Clone::clone)?;
        if (given.exprs.len(), &given.lengths) != (like.exprs.len(), &like.lengths) {
            let headline = format!("{}: {} tangents of {} values", self.what, given.exprs.len(), like.exprs.len());
            return Err(Error::new(ErrorCode::Arity, headline).help("give them in the structure of the values"));
        }
        for (n, (&tangent, &value)) in given.exprs.iter().zip(&like.exprs).enumerate() {
            fits((self.what, "tangent"), n, tangent, value)?;
        }
        map(linear, &given.exprs)
    }
}

/// Checks that a value can be the tangent or cotangent of another, and returns the dtype and the shape of the other.
pub(crate) fn fits((what, is): (&str, &str), n: usize, tangent: Expr, value: Expr) -> Result<(DType, Shape)> {
    let [own, of] = [tangent, value].map(|x| describe(x, what));
    let ((_, dtype, shape), (ty, of_dtype, of_shape)) = (own?, of?);
    if shape.broadcast(&of_shape).as_ref() != Some(&of_shape) {
        let headline = format!("{what}: {is} {n} has shape {shape}");
        return Err(Error::new(ErrorCode::Shape, headline)
            .fact(format_args!("its value: {ty}{of_shape}"))
            .help(format!("a {is} has the shape of its value")));
    }
    if dtype.is_complex() && !of_dtype.is_complex() {
        let headline = format!("{what}: {is} {n} is {dtype}, its value {ty}");
        return Err(Error::new(ErrorCode::DType, headline).help(format!("a real value has real {is}s")));
    }
    Ok((of_dtype, of_shape))
}
