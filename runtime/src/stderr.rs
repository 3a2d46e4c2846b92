//! Standard error, for what the library tells there when it was asked to: where nobody reads it, as when a pipe was closed, nothing fails.

use std::fmt::Display;
use std::io::Write;

/// Writes a line.
pub fn line(text: impl Display) {
    // Printing may run code of the caller's, so it is done before the lock is taken.
    let line = format!("{text}\n");
    // One write for all, so that lines of threads do not mix. Rust's own macro panics where it fails.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
