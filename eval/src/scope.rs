//! What holds on a thread while something runs.

use std::cell::Cell;
use std::thread::LocalKey;

/// Runs `body` with another value in a cell of the thread, which then has again the one that it had: after a panic too.
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
