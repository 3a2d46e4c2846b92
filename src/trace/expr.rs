//! [`Expr`]: a value of the function being traced. A pair of numbers; what it stands for is in the trace of this thread.

use ndjit_ir::Place;
use std::marker::PhantomData;

/// A value inside a function that is being traced: it has a type and a shape, but no elements yet.
///
/// `Copy`, so that it can be used as often as a number can; tied to its thread and to its trace. An operation that fails
/// gives a poisoned `Expr`; what is computed from that stays poisoned, and the trace returns the first error with the place
/// in your source where it was made.
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
    /// Where it was made, for messages; `None` for a parameter.
    pub(crate) made: Option<Place>,
    /// Neither `Send` nor `Sync`: a trace belongs to its thread.
    pub(crate) _thread: PhantomData<*const ()>,
}

/// What an [`Expr`] is in its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExprValue {
    /// A value of the graph.
    Value(ndjit_ir::graph::Value),
    /// The error with this number.
    Poisoned(u32),
}
