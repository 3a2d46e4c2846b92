//! Transformations over lists of values, for front ends with structures of their own.

use crate::api::transforms::{self, fits};
use crate::trace::derive::{self, Linearized, variables as as_variables};
use crate::trace::expr::Expr;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc};
use ndjit_transform::derivative::DerivativeMode;

/// Returns values of the current trace as variables: what is computed from them can be differentiated by
/// [`tangents`] and [`cotangents`].
///
/// ```
/// use ndjit::dynamic::{cotangents, variables};
/// use ndjit::{Array, Expr, jit, sin};
///
/// let f = jit(|x: Expr| {
///     let own = variables("vjp", &[x]);
///     let y = sin(own[0]);
///     cotangents("vjp", &own, &[y], &[Expr::from(1.0)]).unwrap()
/// });
/// assert_eq!(f(&Array::from(0.0f64))[0].item::<f64>()?, 1.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[track_caller]
pub fn variables(what: &'static str, values: &[Expr]) -> Vec<Expr> {
    as_variables(values, what, SourceLoc::caller())
}

/// Returns the tangents of outputs, which were computed from [`variables`], for tangents of these.
///
/// ```
/// use ndjit::dynamic::{tangents, variables};
/// use ndjit::{Array, Expr, jit, sin};
///
/// let f = jit(|x: Expr, t: Expr| {
///     let own = variables("jvp", &[x]);
///     tangents("jvp", &own, &[sin(own[0])], &[t]).unwrap()
/// });
/// assert_eq!(f(&Array::from(0.0f64), &Array::from(2.0f64))[0].item::<f64>()?, 2.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Arity`, `Shape` or `DType` if the tangents do not match the variables; `Traced` for values of another trace.
#[track_caller]
pub fn tangents(what: &'static str, variables: &[Expr], outputs: &[Expr], along: &[Expr]) -> Result<Vec<Expr>> {
    let place = SourceLoc::caller();
    check((what, "tangent"), along, variables)?;
    Linearized::new(variables, outputs, DerivativeMode::Forward, what, place)?.forward(along, place)
}

/// Returns the cotangents of [`variables`] for cotangents of outputs which were computed from them.
///
/// ```
/// use ndjit::dynamic::{cotangents, variables};
/// use ndjit::{Array, Expr, jit};
///
/// let f = jit(|x: Expr, g: Expr| {
///     let own = variables("vjp", &[x]);
///     cotangents("vjp", &own, &[own[0] * own[0]], &[g]).unwrap()
/// });
/// assert_eq!(f(&Array::from(3.0f64), &Array::from(2.0f64))[0].item::<f64>()?, 12.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Arity`, `Shape` or `DType` if the cotangents do not match the outputs; `Traced` for values of another trace.
#[track_caller]
pub fn cotangents(what: &'static str, variables: &[Expr], outputs: &[Expr], of: &[Expr]) -> Result<Vec<Expr>> {
    let place = SourceLoc::caller();
    check((what, "cotangent"), of, outputs)?;
    Linearized::new(variables, outputs, DerivativeMode::Reverse, what, place)?.reverse(of, place)
}

/// Returns the outputs of a function of values, the first of which is one real number, and its gradient by each value.
///
/// ```
/// use ndjit::dynamic::gradients;
/// use ndjit::{Array, Expr, jit};
///
/// let f = jit(|x: Expr, y: Expr| gradients("grad", &[x, y], |own| vec![own[0] * own[1]]).unwrap().1);
/// let slopes = f(&Array::from(2.0f32), &Array::from(3.0f32));
/// assert_eq!((slopes[0].item::<f32>()?, slopes[1].item::<f32>()?), (3.0, 2.0));
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// `Shape` or `DType` unless the first output is one real number; `DType` for an integer variable; `Arity` without
/// outputs; the first error of the function.
#[track_caller]
pub fn gradients(
    what: &'static str,
    values: &[Expr],
    function: impl FnOnce(&[Expr]) -> Vec<Expr>,
) -> Result<(Vec<Expr>, Vec<Expr>)> {
    transforms::gradients((what, SourceLoc::caller()), values, true, function)
}

/// Checks which outputs depend on any of these values, as results of one lane on the values of the lane.
///
/// ```
/// use ndjit::dynamic::depend;
/// use ndjit::{DType, Program, spec};
///
/// Program::trace(&[spec(DType::F32, [2]), spec(DType::F32, [2])], |p| {
///     let (x, y) = (p[0], p[1]);
///     assert_eq!(depend("check", &[x * 2, y * 2, x + y], &[x]).unwrap(), [true, false, true]);
///     vec![x]
/// })?;
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// That of a poisoned value; `Traced` outside of traced functions.
#[track_caller]
pub fn depend(what: &'static str, outputs: &[Expr], on: &[Expr]) -> Result<Vec<bool>> {
    derive::depend(what, outputs, on, SourceLoc::caller())
}

/// Vectorizes a function over lanes: each value has an axis of lanes, or is the same for all of them. The results have the
/// lanes along their first axes.
///
/// ```
/// use ndjit::dynamic::vmap;
/// use ndjit::{Array, Expr, jit, sum};
///
/// let f = jit(|x: Expr, y: Expr| vmap("vmap", &[(x, Some(0)), (y, None)], None, |own| vec![sum(own[0] * own[1], ..)]));
/// let (x, y) = (Array::from_rows(&[[1, 2], [3, 4]]), Array::from([10, 1]));
/// assert_eq!(f(&x, &y)[0].to_vec::<i32>()?, [12, 34]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// Poisoned as results of [`vmap`](fn@crate::vmap) are.
#[track_caller]
pub fn vmap(
    what: &'static str,
    given: &[(Expr, Option<isize>)],
    lanes: Option<usize>,
    function: impl FnOnce(&[Expr]) -> Vec<Expr>,
) -> Vec<Expr> {
    transforms::over_lanes((what, SourceLoc::caller()), given, lanes, function)
}

/// Checks that tangents or cotangents match their values.
fn check((what, is): (&str, &str), given: &[Expr], values: &[Expr]) -> Result<()> {
    if given.len() != values.len() {
        let headline = format!("{what}: {} {is}s of {} values", given.len(), values.len());
        return Err(Error::new(ErrorCode::Arity, headline).help("give them in the structure of the values"));
    }
    let mut pairs = given.iter().zip(values).enumerate();
    pairs.try_for_each(|(n, (&given, &value))| fits((what, is), n, given, value).map(drop))
}
