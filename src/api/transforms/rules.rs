//! Custom derivative rules, and checkpoints.

use super::applied::fits;
use crate::api::control::finished;
use crate::api::manipulation::broadcast_to;
use crate::jit::function::JitFn;
use crate::jit::output::{Collected, Outputs, built, collected, flat, with_leaves};
use crate::trace::cast::{convert, promote};
use crate::trace::derive::{checkpointed, next_node, ruled, variables};
use crate::trace::expr::Expr;
use crate::trace::operand::{AnyOperand, ArrayLike};
use crate::trace::recorder::describe;
use crate::trace::written::with_place;
use ndjit_ir::graph::RuleKind;
use ndjit_ir::{Error, ErrorCode, Result, SourceLoc, ValueType};

/// Defines a rule for the tangents of a function: from the parameters, the function's result and tangents of the parameters
/// to the tangent of the result. The rule must be linear in the tangents; reverse mode is its adjoint.
///
/// ```
/// use ndjit::{Array, custom_jvp, exp, grad, jit, log1p};
///
/// // log(1 + exp(x)), whose slope is finite where exp is not.
/// let log1pexp = || custom_jvp(|x| log1p(exp(x)), |[x], _, [t]| t * (1.0 - 1.0 / (1.0 + exp(x))));
/// let slope = jit(grad(log1pexp()));
/// assert_eq!(slope(&Array::from(100.0f32)).item::<f32>()?, 1.0);
/// let curvature = jit(grad(grad(log1pexp())));
/// assert_eq!(curvature(&Array::from(0.0f64)).item::<f64>()?, 0.25);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Higher derivatives use the rule, too. Values that the closures capture are constants. Tangents have the shapes and dtypes
/// of the parameters; those of integers are zeros.
///
/// Source: [`jax.custom_jvp`](https://docs.jax.dev/en/latest/_autosummary/jax.custom_jvp.html).
///
/// # Errors
/// Poisoned with `Arity`, `Shape` or `DType` unless the rule returns a tangent for each result; with the first error of the
/// function.
#[track_caller]
pub fn custom_jvp<M, const N: usize, F: JitFn<M, N>>(
    function: F,
    rule: impl Fn([Expr; N], F::Outputs, [Expr; N]) -> F::Outputs + Send + Sync + 'static,
) -> F::With<F::Outputs>
where
    F::Outputs: 'static,
{
    let place = SourceLoc::caller();
    F::with(move |parameters| {
        let written = ("custom_jvp", place);
        with_jvp(written, |own: [Expr; N]| function.apply(&own.map(collected)), &rule, leaves(written, parameters))
    })
}

/// Defines a rule for the tangents of a function of values, within a traced function: [`custom_jvp`] for any structure.
///
/// ```
/// use ndjit::{Array, Expr, custom_jvp_at, grad, jit};
///
/// // A square whose slope is doubled.
/// let f = jit(grad(|x: Expr| custom_jvp_at(|x: Expr| x * x, |x, _, t| t * x * 4, x)));
/// assert_eq!(f(&Array::from(3.0f32)).item::<f32>()?, 12.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// As [`custom_jvp`].
#[track_caller]
pub fn custom_jvp_at<P: Outputs, R: Outputs>(
    function: impl FnOnce(P) -> R,
    rule: impl FnOnce(P, R, P) -> R,
    at: P,
) -> R {
    with_jvp(("custom_jvp_at", SourceLoc::caller()), function, rule, at)
}

fn with_jvp<P: Outputs, R: Outputs>(
    (what, place): (&'static str, SourceLoc),
    function: impl FnOnce(P) -> R,
    rule: impl FnOnce(P, R, P) -> R,
    at: P,
) -> R {
    let at = collected(at);
    let results = collected(function(built(&at.exprs, &at)));
    let made = strong(&at.exprs, what, place).and_then(|at_strong| {
        let outputs = variables(&results.exprs, what, place);
        let tangents = variables(&at_strong, what, place);
        let given = rule(built(&at.exprs, &at), built(&outputs, &results), built(&tangents, &at));
        let given = mapped((what, "tangent", place), collected(given), &results)?;
        ruled(RuleKind::Jvp, &results.exprs, &[outputs, tangents, given].concat(), what, place)
    });
    finished(made, results, place)
}

/// Defines a rule for the cotangents of a function. `forward` returns the result and the residuals. The rule takes these and
/// a cotangent of the result, and returns cotangents of the parameters. Forward mode is the adjoint of a linear rule.
///
/// ```
/// use ndjit::{Array, clip, custom_vjp, grad, jit, sum};
///
/// // The identity, whose gradients are at most 1.
/// let clipped = custom_vjp(|x| (x, ()), |(), g| [clip(g, -1.0, 1.0)]);
/// let f = jit(grad(move |x| sum(clipped(x) * 5.0, ..)));
/// assert_eq!(f(&Array::from([1.0f32, 2.0])).to_vec::<f32>()?, [1.0, 1.0]);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// Values that the closures capture are constants. Cotangents of integers are ignored.
///
/// Source: [`jax.custom_vjp`](https://docs.jax.dev/en/latest/_autosummary/jax.custom_vjp.html), without a separate function
/// for the value.
///
/// # Errors
/// Poisoned with `Arity`, `Shape` or `DType` unless the rule returns a cotangent for each parameter; with the first error of
/// the function.
#[track_caller]
pub fn custom_vjp<M, R, S, const N: usize, F>(
    forward: F,
    rule: impl Fn(S, R) -> [Expr; N] + Send + Sync + 'static,
) -> F::With<R>
where
    R: Outputs + 'static,
    S: Outputs + 'static,
    F: JitFn<M, N, Outputs = (R, S)>,
{
    let place = SourceLoc::caller();
    F::with(move |parameters| {
        let written = ("custom_vjp", place);
        with_vjp(written, |own: [Expr; N]| forward.apply(&own.map(collected)), &rule, leaves(written, parameters))
    })
}

/// Defines a rule for the cotangents of a function of values, within a traced function: [`custom_vjp`] for any structure.
///
/// ```
/// use ndjit::{Array, Expr, custom_vjp_at, grad, jit};
///
/// let f = jit(grad(|x: Expr| custom_vjp_at(|x: Expr| (x * x, x), |x, g| g * x * 4, x)));
/// assert_eq!(f(&Array::from(3.0f32)).item::<f32>()?, 12.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// As [`custom_vjp`].
#[track_caller]
pub fn custom_vjp_at<P: Outputs, R: Outputs, S: Outputs>(
    forward: impl FnOnce(P) -> (R, S),
    rule: impl FnOnce(S, R) -> P,
    at: P,
) -> R {
    with_vjp(("custom_vjp_at", SourceLoc::caller()), forward, rule, at)
}

fn with_vjp<P: Outputs, R: Outputs, S: Outputs>(
    (what, place): (&'static str, SourceLoc),
    forward: impl FnOnce(P) -> (R, S),
    rule: impl FnOnce(S, R) -> P,
    at: P,
) -> R {
    let at = collected(at);
    let inputs = variables(&at.exprs, what, place);
    let (results, beside) = forward(built(&inputs, &at));
    let results = collected(results);
    let made = strong(&results.exprs, what, place).and_then(|like| {
        let cotangents = variables(&like, what, place);
        let given = mapped((what, "cotangent", place), collected(rule(beside, built(&cotangents, &results))), &at)?;
        ruled(RuleKind::Vjp, &results.exprs, &[cotangents, inputs, given].concat(), what, place)
    });
    finished(made, results, place)
}

/// Derivatives recompute this function from its parameters and captured values instead of saving intermediate values. The
/// bits of its value and of its derivatives are the same; higher derivatives may sum in another order.
///
/// ```
/// use ndjit::{Array, checkpoint, grad, jit, sin, sum};
///
/// let layer = checkpoint(|x| sin(x) * x);
/// let f = jit(grad(move |x| sum(layer(layer(x)), ..)));
/// let plain = jit(grad(|x| {
///     let y = sin(x) * x;
///     sum(sin(y) * y, ..)
/// }));
/// let x = Array::from([1.0f32, 2.0]);
/// assert_eq!(f(&x).to_vec::<f32>()?, plain(&x).to_vec::<f32>()?);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// The recomputation is a `scan` of one step over the cotangents of its results: intermediate values use memory only while
/// it runs. Within the step of a loop, which is recomputed anyway, there is none.
///
/// Source: [`jax.checkpoint`](https://docs.jax.dev/en/latest/_autosummary/jax.checkpoint.html).
///
/// # Errors
/// Poisoned with the first error of the function.
#[track_caller]
pub fn checkpoint<M, const N: usize, F: JitFn<M, N>>(function: F) -> F::With<F::Outputs>
where
    F::Outputs: 'static,
{
    let place = SourceLoc::caller();
    F::with(move |parameters| {
        again(("checkpoint", place), |own: Vec<Expr>| function.apply(&with_leaves(parameters, &own)), flat(parameters))
    })
}

/// Derivatives recompute this function of values, within a traced function: [`checkpoint`] for any structure.
///
/// ```
/// use ndjit::{Array, Expr, checkpoint_at, grad, jit, sin};
///
/// let f = jit(grad(|x: Expr| checkpoint_at(|x| sin(x) * x, x)));
/// assert_eq!(f(&Array::from(0.0f32)).item::<f32>()?, 0.0);
/// # Ok::<(), ndjit::Error>(())
/// ```
///
/// # Errors
/// As [`checkpoint`].
#[track_caller]
pub fn checkpoint_at<P: Outputs, R: Outputs>(function: impl FnOnce(P) -> R, at: P) -> R {
    again(("checkpoint_at", SourceLoc::caller()), function, at)
}

fn again<P: Outputs, R: Outputs>((what, place): (&'static str, SourceLoc), function: impl FnOnce(P) -> R, at: P) -> R {
    let at = collected(at);
    let first = next_node();
    let inputs = variables(&at.exprs, what, place);
    let results = collected(function(built(&inputs, &at)));
    let made = checkpointed(&inputs, &results.exprs, first, what, place);
    finished(made, results, place)
}

/// Returns the results of a rule, cast to the dtypes and broadcast to the shapes of `of`.
fn mapped((what, is, place): (&'static str, &str, SourceLoc), given: Collected, of: &Collected) -> Result<Vec<Expr>> {
    if (given.exprs.len(), &given.lengths) != (of.exprs.len(), &of.lengths) {
        let headline = format!("{what}: the rule gives {} {is}s of {} values", given.exprs.len(), of.exprs.len());
        return Err(Error::new(ErrorCode::Arity, headline).help("it gives one for each, in their structure"));
    }
    let all = given.exprs.iter().zip(&of.exprs).enumerate();
    all.map(|(n, (&given, &value))| {
        let (dtype, shape) = fits((what, is), n, given, value)?;
        let given = convert(&AnyOperand::Expr(given), dtype, place);
        Ok(with_place(place, || broadcast_to(given, shape.extents())))
    })
    .collect()
}

/// Returns values as strong arrays: a tangent must not promote like a literal.
fn strong(values: &[Expr], what: &str, place: SourceLoc) -> Result<Vec<Expr>> {
    let one = |&x: &Expr| match describe(x, what)? {
        (ValueType::Weak(_), dtype, _) => Ok(promote(x, dtype, what, place)),
        _ => Ok(x),
    };
    values.iter().map(one).collect()
}

/// Returns the parameters of a function with a custom rule, each one array.
fn leaves<const N: usize>((what, place): (&str, SourceLoc), parameters: &[Collected; N]) -> [Expr; N] {
    let leaf = |own: &Collected| match own.exprs[..] {
        [leaf] => leaf,
        _ => {
            let headline = format!("{what}: a parameter is a structure of {} arrays", own.exprs.len());
            let error = Error::new(ErrorCode::Arity, headline).at(place);
            Expr::failed(error.help(format!("`{what}_at` takes values in any structure")))
        }
    };
    parameters.each_ref().map(leaf)
}
