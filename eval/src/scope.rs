//! Scoped values of a thread.

use std::cell::Cell;
use std::thread::LocalKey;

/// Runs `body` with another value in a thread's cell, which is restored afterwards, also after a panic.
pub fn with_value<T: Copy + 'static, R>(cell: &'static LocalKey<Cell<T>>, value: T, body: impl FnOnce() -> R) -> R {
    struct Restore<T: Copy + 'static>(&'static LocalKey<Cell<T>>, T);
    impl<T: Copy + 'static> Drop for Restore<T> {
        fn drop(&mut self) {
            self.0.set(self.1);
        }
    }
    let _restore = Restore(cell, cell.replace(value));
    body()
}
