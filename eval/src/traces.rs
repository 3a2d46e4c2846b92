//! Trace state of a thread: operations on arrays during a trace may be computed in it.

use std::cell::Cell;

thread_local! {
    /// The number of open traces.
    static OPEN: Cell<usize> = const { Cell::new(0) };
}

/// Records the start of a trace.
pub fn begin() {
    OPEN.set(OPEN.get() + 1);
}

/// Records the end of a trace.
pub fn end() {
    OPEN.set(OPEN.get().saturating_sub(1));
}

/// Whether this thread is tracing a function.
#[inline]
pub fn are_open() -> bool {
    OPEN.get() > 0
}
