//! Traced values of front ends whose languages have exceptions and threads of their own.

use crate::trace::expr::{Expr, ExprValue};
use crate::trace::recorder;
use ndjit_ir::{Result, SourceLoc};
use std::marker::PhantomData;

/// A traced value by its numbers, which may be kept and sent to other threads. It is a value in its trace only.
///
/// ```
/// use ndjit::dynamic::TracedRef;
/// use ndjit::{DType, ErrorCode, Program, spec};
///
/// let mut kept = None;
/// Program::trace(&[spec(DType::F32, [2])], |p| {
///     let x = TracedRef::of(p[0] * 2).unwrap();
///     kept = Some(x);
///     vec![x.expr().unwrap() + 1]
/// })?;
/// assert_eq!(kept.unwrap().expr().unwrap_err().code(), ErrorCode::Traced);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TracedRef {
    trace: u32,
    node: ExprValue,
    made: Option<SourceLoc>,
}

impl TracedRef {
    /// Keeps the value of an operation.
    ///
    /// ```
    /// use ndjit::dynamic::TracedRef;
    /// use ndjit::{DType, Program, spec};
    ///
    /// // An error that is returned here fails the trace no more.
    /// let program = Program::trace(&[spec(DType::F32, [2]), spec(DType::F32, [3])], |p| {
    ///     assert!(TracedRef::of(p[0] + p[1]).is_err());
    ///     vec![p[0]]
    /// })?;
    /// assert_eq!(program.results().len(), 1);
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of a poisoned value, with which its trace then fails no more; `Traced` outside its trace.
    pub fn of(x: Expr) -> Result<TracedRef> {
        recorder::taken(x)?;
        let Expr { trace, node, made, .. } = x;
        Ok(TracedRef { trace, node, made })
    }

    /// Returns the value.
    ///
    /// ```
    /// use ndjit::dynamic::TracedRef;
    /// use ndjit::{DType, Program, spec};
    ///
    /// Program::trace(&[spec(DType::F32, [2])], |p| vec![TracedRef::of(p[0]).and_then(TracedRef::expr).unwrap()])?;
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Traced` after its trace, in another one, and on another thread.
    pub fn expr(self) -> Result<Expr> {
        let TracedRef { trace, node, made } = self;
        let x = Expr { trace, node, made, _thread: PhantomData };
        recorder::read(x, "use", |_, _| x)
    }
}

/// Checks whether a function is being traced on this thread.
///
/// ```
/// use ndjit::{Program, dynamic::is_tracing};
///
/// assert!(!is_tracing());
/// Program::trace(&[], |_| {
///     assert!(is_tracing());
///     vec![]
/// })?;
/// # Ok::<(), ndjit::Error>(())
/// ```
pub fn is_tracing() -> bool {
    ndjit_eval::traces::are_open()
}
