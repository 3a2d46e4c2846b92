//! The calls of functions of Python by which they are traced: which of them made an array.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A call of a traced function, or none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FunctionScope(u64);

/// Ends a scope.
pub struct ScopeEnd {
    outer: FunctionScope,
}

thread_local! {
    static CURRENT: Cell<FunctionScope> = const { Cell::new(FunctionScope(0)) };
}

impl FunctionScope {
    /// The innermost call on this thread.
    pub fn current() -> FunctionScope {
        CURRENT.get()
    }

    /// Begins a call, which ends where the result is dropped.
    pub fn enter() -> ScopeEnd {
        static LAST: AtomicU64 = AtomicU64::new(0);
        ScopeEnd { outer: CURRENT.replace(FunctionScope(LAST.fetch_add(1, Relaxed) + 1)) }
    }
}

impl Drop for ScopeEnd {
    fn drop(&mut self) {
        CURRENT.set(self.outer);
    }
}
