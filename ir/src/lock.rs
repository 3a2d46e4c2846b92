//! The mutex of all crates. Each thread counts its locks, so tests can check that a path takes none.
//!
//! Panics do not poison it: all guarded data are valid after each step of a change.

use std::cell::Cell;
use std::sync::{MutexGuard, PoisonError};

/// A mutex.
///
/// ```
/// use ndjit_ir::lock::Mutex;
///
/// static NAMES: Mutex<Vec<&str>> = Mutex::new(Vec::new());
/// NAMES.lock().push("x");
/// assert_eq!(*NAMES.lock(), ["x"]);
/// ```
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Creates an unlocked mutex.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(std::sync::Mutex::new(value))
    }

    /// Waits for the lock, and holds it for the life of the guard.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        TAKEN.set(TAKEN.get() + 1);
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, through the exclusive reference: no lock is taken.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// The number of locks that the calling thread has taken.
///
/// ```
/// use ndjit_ir::lock::{Mutex, taken};
///
/// let before = taken();
/// drop(Mutex::new(1).lock());
/// assert_eq!(taken() - before, 1);
/// ```
pub fn taken() -> u64 {
    TAKEN.get()
}
