//! Calls of traced functions in traces: one node with the graph of the called function.

use super::escape::STRAY;
use super::failure::Failure;
use super::recorder::{TRACES, in_trace};
use super::recording::{Param, Recording};
use super::written;
use crate::api::config;
use crate::jit::caller::called;
use crate::trace::expr::Expr;
use crate::trace::operand::AnyOperand;
use ndjit_ir::SourceLoc;
use ndjit_ir::graph::{NodeKind, Value};
use std::sync::Arc;

/// Calls a traced function in the current trace, and returns its results in order.
pub(crate) fn call(
    operands: &[AnyOperand],
    place: SourceLoc,
    child: impl FnOnce(&[Param]) -> std::result::Result<Arc<Recording>, Failure>,
) -> Vec<Expr> {
    let place = written::place(place);
    let types = TRACES.with_borrow_mut(|traces| {
        let trace = traces.last_mut()?;
        // A trace with an error is discarded, and a function may call itself more than once.
        if !trace.errors.is_empty() {
            return Some(Err(0));
        }
        let values: std::result::Result<Vec<Value>, u32> =
            operands.iter().map(|o| trace.value(o, "call", place)).collect();
        Some(values.map(|values| {
            let param = |&v: &Value| {
                let graph = &trace.graph;
                Param::Array(graph.ty(v), graph.storage_dtype(v, config::policy()), graph.shape(v).clone())
            };
            let params: Vec<Param> = values.iter().map(param).collect();
            (values, params)
        }))
    });
    let Some(Ok((mut values, params))) = types else {
        return match types {
            Some(Err(error)) => vec![in_trace(|_| Err(error))],
            _ => vec![STRAY],
        };
    };
    let recording = match child(&params) {
        Ok(recording) => recording,
        Err(Failure { error, before }) => {
            return vec![in_trace(|trace| {
                if trace.errors.is_empty() {
                    trace.called = before;
                }
                Err(trace.fail(called(error, Some(place))))
            })];
        }
    };
    let results = TRACES.with_borrow_mut(|traces| {
        let trace = traces.last_mut()?;
        for array in &recording.closed_over {
            match trace.capture(array, place) {
                Ok(value) => values.push(value),
                Err(error) => return Some(vec![trace.expr_of(Err(error))]),
            }
        }
        if recording.graph.outputs().is_empty() {
            return Some(Vec::new());
        }
        let key = Arc::as_ptr(&recording) as usize;
        let number = match trace.children.get(&key) {
            Some((number, _)) => *number,
            None => {
                let number = trace.graph.child(Arc::new(recording.graph.clone()));
                trace.places.add_child(Arc::new(recording.places.clone()));
                trace.supports.add_child(Arc::new(recording.supports.clone()));
                trace.children.insert(key, (number, Arc::clone(&recording)));
                number
            }
        };
        let graph = &recording.graph;
        let mut types = Vec::new();
        for &output in graph.outputs() {
            types.push((graph.ty(output), trace.graph.intern(graph.shape(output))));
        }
        let first = trace.add(NodeKind::Call(number), &values, &types, place);
        if let Err(error) = trace.graph.check_expansion() {
            let error = trace.fail(error.at(place));
            return Some(vec![trace.expr_of(Err(error))]);
        }
        let mut results: Vec<Value> = trace.graph.node(trace.graph.producer(first)).results().collect();
        // The last results are debug output, which the calling function prints.
        let printed = results.split_off(results.len().saturating_sub(recording.printed.len()));
        trace.printed.extend(recording.printed.iter().cloned().zip(printed));
        Some(results.into_iter().map(|value| trace.expr_of(Ok(value))).collect())
    });
    results.unwrap_or_default()
}
