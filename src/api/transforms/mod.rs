//! Transformations of functions. [`grad`] and similar functions compute derivatives. Their results are functions that can be
//! jitted, transformed again, and called in traced functions.
//!
//! A derivative is traced with its function: one program, which fuses both. Some transformations take and return closures:
//! [`grad`], [`value_and_grad`], [`wrt`], [`jacrev`], [`vmap`]. Others take values, in any structure, within a traced
//! function: [`grad_at`], [`jvp`], [`vjp`], [`linearize`], [`vmap_at`]. Their closures may capture values.
//!
//! # Conventions
//! - The gradient with respect to a complex variable is the *adjoint*: `z - rate * g` descends. JAX's is its conjugate.
//! - Zero cotangents override an infinite slope: the gradient of `where_(x.gt(0), sqrt(x), 0)` at 0 is 0, not NaN. The
//!   drawback: `sqrt(x) * sqrt(x)` at 0 has the gradient 0.
//! - At kinks a gradient is the element of least norm of the subdifferential: 0 for `abs` at 0, a half each for
//!   `maximum(x, y)` of equal operands.
//! - Cotangents of `f16` and `bf16` are `f32` within a derivative, and rounded once.

mod applied;
mod functions;
mod jacobians;
mod lanes;
mod rules;
mod variables;

pub(crate) use applied::fits;
pub use applied::{grad_at, jvp, linearize, stop_gradient, value_and_grad_at, vjp};
pub use functions::{grad, grad_aux, value_and_grad};
pub use jacobians::{hessian, hvp, jacfwd, jacrev};
pub(crate) use lanes::mapped as over_lanes;
pub use lanes::{IntoLane, IntoLanes, Same, VmapAxes, in_axes, vmap, vmap_at};
pub use rules::{checkpoint, checkpoint_at, custom_jvp, custom_jvp_at, custom_vjp, custom_vjp_at};
pub use variables::{Wrt, WrtVariables, wrt};

use crate::trace::derive::{Linearized, variables as as_variables};
use crate::trace::expr::Expr;
use crate::trace::recorder::describe;
use ndjit_ir::{CastAdvice, Code, DType, Error, ErrorCode, Help, Result, SourceLoc, ValueType};
use ndjit_transform::derivative::DerivativeMode;

/// Returns a function's outputs, the first being the value to differentiate, and its gradient with respect to each variable.
/// Integer variables are an error if they are explicit, otherwise their gradients are zeros.
pub(crate) fn gradients(
    (what, place): (&'static str, SourceLoc),
    values: &[Expr],
    named: bool,
    function: impl FnOnce(&[Expr]) -> Vec<Expr>,
) -> Result<(Vec<Expr>, Vec<Expr>)> {
    let made = (|| {
        for (n, &value) in values.iter().enumerate().filter(|_| named) {
            differentiable(what, n, value)?;
        }
        let variables = as_variables(values, what, place);
        let outputs = function(&variables);
        let no_value = || Error::new(ErrorCode::Arity, format!("{what}: the function gives no value to derive"));
        one_real_number(what, *outputs.first().ok_or_else(no_value)?)?;
        let linear = Linearized::new(&variables, &outputs, DerivativeMode::Reverse, what, place)?;
        Ok((linear.outputs(), linear.gradient()?))
    })();
    made.map_err(|error: Error| error.at(place))
}

/// Checks that a variable is differentiable.
fn differentiable(what: &str, n: usize, value: Expr) -> Result<()> {
    let (ty, dtype, _) = describe(value, what)?;
    if dtype.is_float() || dtype.is_complex() {
        return Ok(());
    }
    let error = Error::new(ErrorCode::DType, format!("{what}: variable {n} is {ty}, of which there is no derivative"));
    Err(match ty {
        ValueType::Weak(_) => error.help("write the number as a float, as `2.0`"),
        ValueType::Strong(_) => {
            let cast = Help::from("cast it, as in ").casts([CastAdvice::NamedOperand("x", DType::F32)]);
            error.help(cast.rust("; by other variables: `wrt(1)`, or use it from around the closure"))
        }
    })
}

/// Checks that a value is one real number.
fn one_real_number(what: &str, value: Expr) -> Result<()> {
    let (ty, dtype, shape) = describe(value, what)?;
    if shape.rank() > 0 {
        return Err(Error::new(ErrorCode::Shape, format!("{what}: the function gives an array of shape {shape}"))
            .fact("a gradient is that of one number")
            .help(Help::from("reduce it, as with ").code(Code::ReduceAll("sum")).text("; `jacrev` gives the gradient of each element, `vjp` takes a cotangent of each, `jvp` gives a tangent of each")));
    }
    match dtype {
        dtype if dtype.is_complex() => {
            Err(Error::new(ErrorCode::DType, format!("{what}: the function gives a number of {ty}"))
                .fact("a gradient is that of a real number")
                .help(
                    "take its part or its modulus, as `real(z)`; of holomorphic functions `jvp` gives the derivative",
                ))
        }
        dtype if !dtype.is_float() => {
            Err(Error::new(ErrorCode::DType, format!("{what}: the function gives a number of {ty}"))
                .fact("integers and bools have no derivatives")
                .help(
                    Help::from("cast before what is to be derived, as in ")
                        .casts([CastAdvice::NamedOperand("x", DType::F32)]),
                ))
        }
        _ => Ok(()),
    }
}
