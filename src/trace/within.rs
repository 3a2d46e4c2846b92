//! Traces within each other on a thread: a function that calls itself is an error that names the functions of the circle, and no stack is
//! used up.
//!
//! A thread may trace a function for the same parameters a few times at once without that it calls itself: a thread of a pool that steals work,
//! as rayon's do, begins with another task where a traced closure waits for its own. For others, as smaller shapes, it may call itself.

use super::recording::{FunctionName, Param};
use ndjit_ir::{Error, ErrorCode};

/// Traces of one function for the same parameters within each other.
const CALLS: usize = 8;
/// Traces within each other, of functions and of control flow: each takes some kilobytes of a stack, and the least stacks are of 2 MiB.
const DEPTH: usize = 64;

/// A trace that is being recorded.
pub(super) struct OpenTrace<'a> {
    /// The function that is traced, if it is one that can be called.
    pub function: Option<FunctionName>,
    /// The parameters that it is traced for.
    pub given: &'a [Param],
    /// Its first error.
    pub error: Option<&'a Error>,
    /// The error of a function that calls itself, where a trace within this one met it.
    pub circle: Option<&'a Error>,
    /// Whether it is of a graph of control flow.
    pub inner: bool,
}

/// Whether a trace of `function`, or of what is none, for these parameters may begin within these.
///
/// # Errors
/// `Traced` if the function calls itself; `Size` if traces are too deep within each other; of control flow the error that its function has already.
pub(super) fn may_begin(
    traces: &[OpenTrace<'_>],
    function: Option<FunctionName>,
    params: &[Param],
) -> Result<(), Error> {
    // Nothing comes of control flow in a function that has an error, nor of what that would call.
    if function.is_none() {
        let own = traces.len().saturating_sub(traces.iter().rev().take_while(|trace| trace.inner).count() + 1);
        if let Some(error) = traces[own..].iter().rev().find_map(|trace| trace.error) {
            return Err(error.clone());
        }
    }
    if let Some(circle) = traces.iter().rev().find_map(|trace| trace.circle)
        && function
            .is_some_and(|function| traces.iter().any(|trace| trace.function.is_some_and(|own| own.id == function.id)))
    {
        // The closures within which it was met go on; were each of their calls traced so deep, they would never end.
        return Err(circle.clone());
    }
    let called = || traces.iter().enumerate().filter_map(|(n, trace)| Some((n, trace.function?)));
    if let Some(function) = function {
        let own = || called().filter(|(_, other)| other.id == function.id).map(|(n, _)| n);
        let same = own().filter(|&n| traces[n].given == params).count();
        if let Some(last) = own().next_back()
            && (traces.len() >= DEPTH || same >= CALLS)
        {
            let circle = called().filter(|(n, _)| *n > last).map(|(_, other)| other).chain([function]);
            let error = Error::new(ErrorCode::Traced, "a traced function calls itself").of("call").fact(function);
            return Err(circle.fold(error, |error, other| error.fact(format_args!("calls {other}"))).help(
                "a function that is traced cannot call itself for the same parameters, nor without end: `while_loop` and `fori_loop` repeat, and Rust functions of `Expr`s may be recursive where a Rust value ends the recursion",
            ));
        }
    }
    if traces.len() >= DEPTH {
        let headline = format!("trace: functions are traced within each other more than {DEPTH} deep");
        let error = called().rev().take(4).fold(Error::new(ErrorCode::Size, headline), |error, (_, other)| {
            error.fact(format_args!("within {other}"))
        });
        return Err(error.help("call Rust functions of `Expr`s in place of jitted ones"));
    }
    Ok(())
}
