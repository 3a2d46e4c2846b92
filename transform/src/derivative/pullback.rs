//! Cotangents of the parameters of a graph, which is recomputed.

use super::cone::{Cone, DerivativeMode};
use super::tangent::Tangent;
use crate::append::{Appender, LocatedGraph, ParamType, TangentSpace};
use ndjit_ir::graph::Value;

/// Returns the parameter for a tangent of an operand.
pub(super) fn tangent_type(space: &TangentSpace) -> ParamType {
    (space.dtype.into(), space.dtype, space.shape.clone())
}

/// Computes the cotangents of the `wanted` parameters of a recomputed graph, and adds them to those of `onto`.
/// Parameters without dependent outputs have zeros.
pub(super) fn pullback(
    to: &Appender,
    (graph, places): &LocatedGraph,
    arguments: &[Value],
    wanted: &[usize],
    cotangents: &[Tangent],
    onto: impl Fn(usize) -> Tangent,
) -> Vec<Tangent> {
    // An argument may depend on another one, so each is a variable of its own.
    let mut arguments = arguments.to_vec();
    wanted.iter().for_each(|&param| arguments[param] = to.variable(arguments[param]));
    let outputs = to.run((graph, places), &arguments);
    let variables: Vec<Value> = wanted.iter().map(|&param| arguments[param]).collect();
    let cone = Cone::new(to, &variables, &outputs, DerivativeMode::Reverse);
    let known = variables.iter().zip(wanted).map(|(&variable, &param)| (variable, onto(param)));
    cone.reverse_onto(to, cotangents, known.filter(|(_, g)| !g.is_zero()).collect())
}
