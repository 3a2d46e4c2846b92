//! [`Expr`]: a value of the function being traced, as a pair of numbers. Its data is in the thread's trace.

use ndjit_ir::SourceLoc;
use std::marker::PhantomData;

/// A value inside a traced function: it has a type and a shape, but no elements.
///
/// `Expr` is `Copy`, as numbers are, and tied to its thread and its trace. A failed operation gives a poisoned `Expr`,
/// and so does each operation on it. The trace returns the first error, with its place in the source.
///
/// ```
/// use ndjit::{Array, Expr, jit};
///
/// fn cube(x: Expr) -> Expr {
///     x * x * x
/// }
/// assert_eq!(jit(cube)(&Array::from([2])).item::<i32>()?, 8);
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Expr {
    pub(crate) trace: u32,
    pub(crate) node: ExprValue,
    /// The place of its creation, for messages; `None` for a parameter.
    pub(crate) made: Option<SourceLoc>,
    /// Neither `Send` nor `Sync`: a trace belongs to its thread.
    pub(crate) _thread: PhantomData<*const ()>,
}

/// The meaning of an [`Expr`] in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExprValue {
    /// A value of the graph.
    Value(ndjit_ir::graph::Value),
    /// The error with this number.
    Poisoned(u32),
}
