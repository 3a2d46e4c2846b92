//! Replay of a recorded function in the current trace.

use super::arrange::{self, Arguments};
use super::recorder::in_trace_many;
use super::recording::Recording;
use crate::trace::expr::{Expr, ExprValue};
use ndjit_ir::graph::{NodeKind, Value};
use ndjit_ir::{Error, ErrorCode, SourceLoc};

/// Replays a recording without calls on other parameters of the same types. Operations keep their types and places.
pub(crate) fn replay(recording: &Recording, parameters: &[Expr]) -> Vec<Expr> {
    in_trace_many(|trace| {
        let mut numbers: Vec<Value> = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            match parameter.node {
                ExprValue::Value(value) => numbers.push(value),
                ExprValue::Poisoned(error) => return Err(error),
            }
        }
        let is_array =
            |value: &&Value| !matches!(trace.graph.node(trace.graph.producer(**value)).kind, NodeKind::Literal(_));
        let mut arrays: Vec<Value> = numbers.iter().filter(is_array).copied().collect();
        for closed_over in &recording.closed_over {
            arrays.push(trace.capture(closed_over, SourceLoc::caller())?);
        }
        if arrays.len() != recording.graph.params().len() {
            return Err(trace.fail(Error::new(ErrorCode::Verify, "replay: not as many arrays as parameters")));
        }
        let arguments = Arguments { arrays: &arrays, numbers: &numbers };
        let program = (&recording.graph, &recording.places);
        let mut results = arrange::computed(&mut trace.graph, &mut trace.places, program, arguments, None);
        let printed = results.split_off(results.len().saturating_sub(recording.printed.len()));
        trace.printed.extend(recording.printed.iter().cloned().zip(printed));
        Ok(results)
    })
}
