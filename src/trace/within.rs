//! Nested traces of a thread. A function that calls itself is an error with the functions of the cycle, before the
//! stack overflows.
//!
//! A thread may trace a function for the same parameters a few times at once without recursion: a work-stealing pool
//! such as rayon's starts another task while a traced closure waits. A function may call itself with other parameters,
//! such as smaller shapes.

use super::recording::{FunctionName, Param};
use ndjit_ir::{Error, ErrorCode};

/// The maximum number of nested traces of one function for the same parameters.
const CALLS: usize = 8;
/// The maximum number of nested traces, of functions and of control flow. Each takes some kilobytes of stack, and the
/// smallest stacks have 2 MiB.
const DEPTH: usize = 64;

/// A trace being recorded.
pub(super) struct OpenTrace<'a> {
    /// The traced function, if it can be called.
    pub function: Option<FunctionName>,
    /// The parameters of this trace.
    pub given: &'a [Param],
    /// Its first error.
    pub error: Option<&'a Error>,
    /// The error of a function that calls itself, found in a nested trace.
    pub circle: Option<&'a Error>,
    /// True for a graph of control flow.
    pub inner: bool,
}

/// Checks that a trace of `function`, or of control flow, for these parameters may begin within these.
///
/// # Errors
/// `Traced` if the function calls itself; `Size` if traces are nested too deep; in control flow, an earlier error of
/// its function.
pub(super) fn may_begin(
    traces: &[OpenTrace<'_>],
    function: Option<FunctionName>,
    params: &[Param],
) -> Result<(), Error> {
    // The trace fails anyway, so its control flow and nested calls are not traced.
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
        // The closures around the cycle continue; if each of their calls were traced as deep, they would never end.
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
