//! Gradients of closures with respect to their first parameter.

use super::gradients;
use crate::api::control::finished;
use crate::jit::function::JitFn;
use crate::jit::output::{Collected, Outputs, built, collected};
use crate::trace::expr::Expr;
use crate::trace::operand::ArrayLike;
use ndjit_ir::{Error, SourceLoc};

/// The gradient of a function with respect to its first parameter: a function of the same parameters. Its result has the
/// parameter's shape and dtype.
///
/// ```
/// use ndjit::{Array, grad, jit, sin, sum};
///
/// let slope = jit(grad(|x, y| sum(sin(x) * y, ..)));
/// let (x, y) = (Array::from([0.0f64, 1.0]), Array::from([2.0f64, 3.0]));
/// assert_eq!(slope(&x, &y).to_vec::<f64>()?, [2.0, 3.0 * 1f64.cos()]);
///
/// // Of gradients too.
/// let curvature = jit(grad(grad(|x| x * x * x)));
/// assert_eq!(curvature(&Array::from(2.0f32)).item::<f32>()?, 12.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// For other or several parameters: [`wrt`](fn@super::wrt). For structures: [`trees`](fn@crate::trees). For values within a
/// traced function: [`grad_at`](fn@super::grad_at).
///
/// Source: [`jax.grad`](https://docs.jax.dev/en/latest/_autosummary/jax.grad.html). The [conventions](super) differ for
/// complex numbers, at kinks and for infinite slopes.
///
/// # Errors
/// Poisoned with `Shape` or `DType` unless the function returns one real number, with `DType` if the parameter is an integer
/// or a bool; with the first error of the function.
#[track_caller]
pub fn grad<M, const N: usize, F: JitFn<M, N, Outputs = Expr>>(function: F) -> F::With<F::First> {
    let place = SourceLoc::caller();
    F::with(move |parameters| by_first("grad", &function, parameters, place).1)
}

/// The value of a function and its gradient with respect to its first parameter.
///
/// ```
/// use ndjit::{Array, jit, sum, value_and_grad};
///
/// let f = jit(value_and_grad(|x| sum(x * x, ..)));
/// let (value, slope) = f(&Array::from([1.0f32, 3.0]));
/// assert_eq!((value.item::<f32>()?, slope.to_vec::<f32>()?), (10.0, vec![2.0, 6.0]));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// The value has the same bits as the function's.
///
/// Source: [`jax.value_and_grad`](https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html).
///
/// # Errors
/// As [`grad`].
#[track_caller]
pub fn value_and_grad<M, const N: usize, F: JitFn<M, N, Outputs = Expr>>(function: F) -> F::With<(Expr, F::First)> {
    let place = SourceLoc::caller();
    F::with(move |parameters| by_first("value_and_grad", &function, parameters, place))
}

/// The gradient of a function with respect to its first parameter, and auxiliary data: the function returns the value to
/// differentiate, and the data.
///
/// ```
/// use ndjit::{Array, grad_aux, jit, sum};
///
/// let f = jit(grad_aux(|x| (sum(x * x, ..), x + 1)));
/// let (slope, next) = f(&Array::from([1.0f32, 3.0]));
/// assert_eq!((slope.to_vec::<f32>()?, next.to_vec::<f32>()?), (vec![2.0, 6.0], vec![2.0, 4.0]));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: `has_aux` of [`jax.grad`](https://docs.jax.dev/en/latest/_autosummary/jax.grad.html).
///
/// # Errors
/// As [`grad`].
#[track_caller]
pub fn grad_aux<M, A, const N: usize, F>(function: F) -> F::With<(F::First, A)>
where
    A: Outputs + 'static,
    F: JitFn<M, N, Outputs = (Expr, A)>,
{
    let place = SourceLoc::caller();
    F::with(move |parameters| {
        let mut like = Collected::default();
        let first = &parameters[0];
        let made = gradients(("grad_aux", place), &first.exprs, first.exprs.len() == 1, |variables| {
            let (value, besides) = function.apply(&with_first(parameters, variables));
            let besides = collected(besides);
            let outputs = [value].into_iter().chain(besides.exprs.iter().copied()).collect();
            like = besides;
            outputs
        });
        match made {
            Ok((outputs, gradients)) => (built(&gradients, first), built(&outputs[1..], &like)),
            Err(error) => (failed(&error, first), finished(Err(error), like, place)),
        }
    })
}

fn by_first<M, const N: usize, F: JitFn<M, N, Outputs = Expr>>(
    what: &'static str,
    function: &F,
    parameters: &[Collected; N],
    place: SourceLoc,
) -> (Expr, F::First) {
    let first = &parameters[0];
    let made = gradients((what, place), &first.exprs, first.exprs.len() == 1, |variables| {
        vec![function.apply(&with_first(parameters, variables))]
    });
    match made {
        Ok((outputs, gradients)) => (outputs[0], built(&gradients, first)),
        Err(error) => (Expr::failed(error.clone()), failed(&error, first)),
    }
}

/// Returns the parameters with other leaves of the first.
pub(super) fn with_first<const N: usize>(parameters: &[Collected; N], first: &[Expr]) -> [Collected; N] {
    let mut parameters = parameters.clone();
    parameters[0] = parameters[0].with(first);
    parameters
}

/// Returns a structure of poisoned leaves.
fn failed<P: Outputs>(error: &Error, like: &Collected) -> P {
    let leaves: Vec<Expr> = like.exprs.iter().map(|_| Expr::failed(error.clone())).collect();
    built(&leaves, like)
}
