//! Cancellation of calls and evaluations.

pub use ndjit_runtime::Cancellation;

/// Runs `body`. Calls and evaluations of this thread there end with an error of code [`Cancelled`](crate::ErrorCode::Cancelled) once
/// [`cancel`](Cancellation::cancel) has been called, from any thread.
///
/// A run looks at the flag between kernels, between the parts of a long one, and between the steps of loops, so it ends within
/// some hundredths of a second; a large matrix product, tracing and compilation are not interrupted. Arrays and functions are as before:
/// a pending array can be read later, and a function be called again. Outputs of `call_into` have elements of either
/// time. In scopes within one another each flag counts.
///
/// ```
/// use ndjit::{Cancellation, ErrorCode, Expr, fori_loop, jit, with_cancellation};
/// use std::{thread, time::Duration};
///
/// // Seconds.
/// let f = jit(|x: Expr| fori_loop(0, 2_000_000_000, x, |_, x: Expr| x * 0.5 + 1.0));
/// let cancellation = Cancellation::new();
/// let result = thread::scope(|threads| {
///     threads.spawn(|| {
///         thread::sleep(Duration::from_millis(50));
///         cancellation.cancel();
///     });
///     with_cancellation(&cancellation, || f.call((1.0,)))
/// });
/// assert_eq!(result.unwrap_err().code(), ErrorCode::Cancelled);
/// ```
pub fn with_cancellation<R>(cancellation: &Cancellation, body: impl FnOnce() -> R) -> R {
    ndjit_runtime::with_cancellation(cancellation, body)
}
