//! Whether functions are traced on this thread: operations on arrays that are made meanwhile may be computed in the trace.

use std::cell::Cell;

thread_local! {
    /// How many traces are being recorded.
    static OPEN: Cell<usize> = const { Cell::new(0) };
}

/// Notes that a trace begins.
pub fn begin() {
    OPEN.set(OPEN.get() + 1);
}

/// Notes that a trace has ended.
pub fn end() {
    OPEN.set(OPEN.get().saturating_sub(1));
}

/// Whether this thread traces a function.
#[inline]
pub fn are_open() -> bool {
    OPEN.get() > 0
}
