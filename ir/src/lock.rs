//! The lock of all crates: a mutex that each thread counts the taking of, so that a test can show that a path takes none.
//!
//! A thread that panics while it holds one leaves it to the others: what locks guard here is changed by steps of which each leaves it
//! whole.

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
    /// A mutex that nobody holds.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(std::sync::Mutex::new(value))
    }

    /// Waits until nobody holds it, and holds it as long as the guard lives.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        TAKEN.set(TAKEN.get() + 1);
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, by way of the only reference: nothing is locked.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// How many locks the calling thread has taken since it began.
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
