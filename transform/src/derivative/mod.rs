//! Derivatives: nodes appended to a traced graph that compute tangents forwards or cotangents backwards.
//!
//! Each node has linear maps from the tangents of its operands to the result's: ops by the table of slopes, the others
//! in `nodes`. Forward mode applies the maps, reverse mode their adjoints. Derivatives are themselves nodes, so
//! transformations nest. Variables are [identities](ndjit_ir::graph::Identity) with unique numbers, which separates
//! their dependents from those of their operands: there are no levels, and only calls and loops that save states are
//! copied.

mod cone;
mod control;
mod forms;
mod loops;
mod maps;
mod nodes;
mod products;
mod pullback;
mod recurrence;
mod rules;
mod saved;
mod segments;
mod slopes;
mod steps;
mod sweep;
mod tangent;
mod views;

use crate::append::{Appender, OpenGraph, appended, linear};
use cone::Cone;
pub use cone::DerivativeMode;
use ndjit_ir::graph::{Graph, Identity, NodeKind, Value};
use ndjit_ir::{DType, Policy, Result, Shape, SourceLoc, ValueType};
pub use rules::{checkpointed, ruled};
use tangent::{Tangent, written};

/// The dependence of a graph's outputs on variables, for tangents and cotangents.
#[derive(Clone, Debug)]
pub struct Linearization {
    cone: Cone,
}

/// Adds a variable of a transformation: a value separate from its operand.
pub fn variable((graph, places, _): OpenGraph<'_>, value: Value, place: SourceLoc) -> Value {
    let made = graph.variable(value);
    places.note(graph.producer(made), place);
    made
}

/// Adds a copy of a value that is constant for derivatives.
pub fn stop_gradient((graph, places, _): OpenGraph<'_>, value: Value, place: SourceLoc) -> Value {
    let result = (graph.ty(value), graph.shape_id(value));
    let made = graph.add(NodeKind::Identity(Identity::StopGradient), &[value], &[result]);
    places.note(graph.producer(made), place);
    made
}

/// Returns the dtype and the shape of a value's tangents; `None` for integers and bools. Those of halves are `f32`.
pub fn tangent_type(graph: &Graph<ValueType>, value: Value, policy: Policy) -> Option<(DType, Shape)> {
    Some((linear(graph.storage_dtype(value, policy))?, graph.shape(value).clone()))
}

impl Linearization {
    /// Linearizes outputs with respect to variables.
    ///
    /// # Errors
    /// `Size` if an array is too large.
    pub fn new(
        graph: OpenGraph<'_>,
        variables: &[Value],
        outputs: &[Value],
        mode: DerivativeMode,
        place: SourceLoc,
    ) -> Result<Linearization> {
        let cone = appended(graph, place, |to| Cone::new(to, variables, outputs, mode))?;
        Ok(Linearization { cone })
    }

    /// Returns the outputs.
    pub fn outputs(&self) -> &[Value] {
        &self.cone.outputs
    }

    /// Appends the tangents of the outputs, given the tangents of the variables; `None` stands for zeros. Integers and
    /// bools have no tangents: theirs are zeros.
    ///
    /// # Errors
    /// `Size` if an array is too large.
    pub fn forward(&self, graph: OpenGraph<'_>, tangents: &[Option<Value>], place: SourceLoc) -> Result<Vec<Value>> {
        appended(graph, place, |to| {
            let given = given(to, &self.cone.variables, tangents);
            let made = self.cone.forward(to, &given);
            self.cone.outputs.iter().zip(made).map(|(&output, t)| written(to, output, t)).collect()
        })
    }

    /// Appends the cotangents of the variables, given those of the outputs; `None` stands for zeros. Integers and bools
    /// have no cotangents: theirs are zeros.
    ///
    /// # Errors
    /// `Size` if an array is too large.
    pub fn reverse(&self, graph: OpenGraph<'_>, cotangents: &[Option<Value>], place: SourceLoc) -> Result<Vec<Value>> {
        appended(graph, place, |to| {
            let given = given(to, &self.cone.outputs, cotangents);
            let made = self.cone.reverse(to, &given);
            self.cone.variables.iter().zip(made).map(|(&variable, g)| written(to, variable, g)).collect()
        })
    }

    /// Appends the gradients of the first output, a real scalar, with respect to the variables.
    ///
    /// # Errors
    /// `Size` if an array is too large.
    pub fn gradient(&self, graph: OpenGraph<'_>, place: SourceLoc) -> Result<Vec<Value>> {
        appended(graph, place, |to| {
            let mut given = vec![Tangent::Zero; self.cone.outputs.len()];
            given[0] = Tangent::ONE;
            let made = self.cone.reverse(to, &given);
            self.cone.variables.iter().zip(made).map(|(&variable, g)| written(to, variable, g)).collect()
        })
    }
}

/// Casts given tangents to their computing dtypes.
fn given(to: &Appender, of: &[Value], tangents: &[Option<Value>]) -> Vec<Tangent> {
    let one = |(&value, given): (&Value, &Option<Value>)| match (to.space(value), given) {
        (Some(space), &Some(given)) => Tangent::of(to.term(given).cast(space.dtype).broadcast(&space.shape)),
        _ => Tangent::Zero,
    };
    of.iter().zip(tangents).map(one).collect()
}
