//! Jacobians and Hessians: all tangents, or all cotangents, at once.

use super::applied::{tangent_of, value_and_gradient};
use super::functions::with_first;
use super::lanes::mapped;
use super::{differentiable, gradients};
use crate::api::creation::dtype as of;
use crate::api::manipulation::{moveaxis, reshape};
use crate::jit::function::JitFn;
use crate::jit::output::Outputs;
use crate::trace::derive::{Linearized, variables};
use crate::trace::expr::Expr;
use crate::trace::operand::ArrayLike;
use crate::trace::recorder::describe;
use crate::trace::written::with_place;
use ndjit_ir::{DType, Error, ErrorCode, Result, Shape, SourceLoc};
use ndjit_transform::derivative::DerivativeMode;

/// The Jacobian of a function with respect to its first parameter, in reverse mode: for a result of shape `[m, n]` and a
/// parameter of shape `[k]` an array of shape `[m, n, k]`. Prefer it for functions with fewer outputs than inputs.
///
/// ```
/// use ndjit::{Array, jacrev, jit};
///
/// let f = jit(jacrev(|x| x * x));
/// let slopes = f(&Array::from([1.0f32, 3.0]));
/// assert_eq!((slopes.shape().extents(), slopes.to_vec::<f32>()?), (&[2, 2][..], vec![2.0, 0.0, 0.0, 6.0]));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: [`jax.jacrev`](https://docs.jax.dev/en/latest/_autosummary/jax.jacrev.html).
///
/// # Errors
/// Poisoned with `DType` if the parameter contains integers or bools, or if the result is complex: differentiate its parts.
/// With the first error of the function.
#[track_caller]
pub fn jacrev<M, const N: usize, F: JitFn<M, N, Outputs = Expr, First = Expr>>(function: F) -> F::With<Expr> {
    let place = SourceLoc::caller();
    F::with(move |parameters| {
        let at = parameters[0].exprs[0];
        poisoned(reverse(("jacrev", place), at, |x| function.apply(&with_first(parameters, &[x]))), place)
    })
}

/// The Jacobian of a function with respect to its first parameter, in forward mode: prefer it for functions with at least as
/// many outputs as inputs.
///
/// ```
/// use ndjit::{Array, jacfwd, jit};
///
/// let f = jit(jacfwd(|x| x * x));
/// assert_eq!(f(&Array::from([1.0f32, 3.0])).to_vec::<f32>()?, [2.0, 0.0, 0.0, 6.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: [`jax.jacfwd`](https://docs.jax.dev/en/latest/_autosummary/jax.jacfwd.html).
///
/// # Errors
/// As [`jacrev`]; also poisoned with `DType` for a complex parameter.
#[track_caller]
pub fn jacfwd<M, const N: usize, F: JitFn<M, N, Outputs = Expr, First = Expr>>(function: F) -> F::With<Expr> {
    let place = SourceLoc::caller();
    F::with(move |parameters| {
        let at = parameters[0].exprs[0];
        poisoned(forward(("jacfwd", place), at, |x| function.apply(&with_first(parameters, &[x]))), place)
    })
}

/// The Hessian of a function with respect to its first parameter, the Jacobian of its gradient: for a parameter of shape
/// `[n]` an array of shape `[n, n]`.
///
/// ```
/// use ndjit::{Array, hessian, jit, sum};
///
/// let f = jit(hessian(|x| sum(x * x * x, ..)));
/// assert_eq!(f(&Array::from([1.0f32, 3.0])).to_vec::<f32>()?, [6.0, 0.0, 0.0, 18.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Source: [`jax.hessian`](https://docs.jax.dev/en/latest/_autosummary/jax.hessian.html).
///
/// # Errors
/// As [`grad`](super::grad).
#[track_caller]
pub fn hessian<M, const N: usize, F: JitFn<M, N, Outputs = Expr, First = Expr>>(function: F) -> F::With<Expr> {
    let place = SourceLoc::caller();
    F::with(move |parameters| {
        let gradient = |x: Expr| {
            let made = gradients(("hessian", place), &[x], true, |variables| {
                vec![function.apply(&with_first(parameters, variables))]
            });
            made.map_or_else(Expr::failed, |(_, gradients)| gradients[0])
        };
        poisoned(forward(("hessian", place), parameters[0].exprs[0], gradient), place)
    })
}

/// The Hessian-vector product of a function and tangents of its values: without the Hessian, in the time of a few gradients.
///
/// ```
/// use ndjit::{Array, Expr, hvp, jit, sum};
///
/// let f = jit(|x: Expr, v: Expr| hvp(|x: Expr| sum(x * x * x, ..), x, v));
/// assert_eq!(f(&Array::from([1.0f32, 3.0]), &Array::from([1.0f32, 1.0])).to_vec::<f32>()?, [6.0, 18.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// As [`grad_at`](super::grad_at) and [`jvp`](super::jvp).
#[track_caller]
pub fn hvp<P: Outputs>(function: impl Fn(P) -> Expr, at: P, tangents: P) -> P {
    let written = ("hvp", SourceLoc::caller());
    tangent_of(written, |at| value_and_gradient(written, &function, at).1, at, tangents).1
}

fn poisoned(made: Result<Expr>, place: SourceLoc) -> Expr {
    made.unwrap_or_else(|error: Error| Expr::failed(error.at(place)))
}

/// Returns unit arrays of a shape, one for each element: 1 there, 0 elsewhere.
fn units(dtype: DType, shape: &Shape) -> Result<Expr> {
    let count = shape.size()?;
    let extents: Vec<isize> = [count].iter().chain(shape.extents()).map(|&n| n as isize).collect();
    Ok(reshape(Expr::from(of(dtype).eye(count)), extents))
}

fn extents(shapes: [&Shape; 2]) -> Vec<isize> {
    shapes.iter().flat_map(|shape| shape.extents()).map(|&n| n as isize).collect()
}

/// Returns the shape of a result, which must be real.
fn real_result(what: &str, y: Expr) -> Result<Shape> {
    let (ty, dtype, shape) = describe(y, what)?;
    match dtype.is_complex() {
        true => Err(Error::new(ErrorCode::DType, format!("{what}: the function gives numbers of {ty}"))
            .help("derive its parts, as `real(z)` and `imag(z)`; of holomorphic functions `jvp` gives the derivative")),
        false => Ok(shape),
    }
}

fn forward((what, place): (&'static str, SourceLoc), at: Expr, function: impl FnOnce(Expr) -> Expr) -> Result<Expr> {
    differentiable(what, 0, at)?;
    let (ty, dtype, from) = describe(at, what)?;
    if dtype.is_complex() {
        return Err(Error::new(
            ErrorCode::DType,
            format!("{what}: variable 0 is {ty}, which moves along two directions"),
        )
        .help("derive by its parts, as of `complex(x, y)`; of holomorphic functions `jvp` gives the derivative"));
    }
    let own = variables(&[at], what, place);
    let y = function(own[0]);
    let to = real_result(what, y)?;
    let linear = Linearized::new(&own, &[y], DerivativeMode::Forward, what, place)?;
    let along = |tangent: Expr| poisoned(linear.forward(&[tangent], place).map(|made| made[0]), place);
    // The lanes are the elements of the parameter, as the last axes.
    with_place(place, || {
        let units = units(dtype, &from)?;
        let all = mapped((what, place), &[(units, Some(0))], None, |lane| along(lane[0]));
        Ok(reshape(moveaxis(all, [0], [-1]), extents([&to, &from])))
    })
}

fn reverse((what, place): (&'static str, SourceLoc), at: Expr, function: impl FnOnce(Expr) -> Expr) -> Result<Expr> {
    differentiable(what, 0, at)?;
    let (_, _, from) = describe(at, what)?;
    let own = variables(&[at], what, place);
    let y = function(own[0]);
    let to = real_result(what, y)?;
    let dtype = describe(y, what)?.1;
    let linear = Linearized::new(&own, &[y], DerivativeMode::Reverse, what, place)?;
    let back = |cotangent: Expr| poisoned(linear.reverse(&[cotangent], place).map(|made| made[0]), place);
    with_place(place, || {
        let units = units(dtype, &to)?;
        let all = mapped((what, place), &[(units, Some(0))], None, |lane| back(lane[0]));
        Ok(reshape(all, extents([&to, &from])))
    })
}
