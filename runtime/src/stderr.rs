//! Standard error, for requested output: a closed pipe is ignored.

use std::fmt::Display;
use std::io::Write;

/// Writes a line.
pub fn line(text: impl Display) {
    // Formatting may run user code, so it happens before the lock is taken.
    let line = format!("{text}\n");
    // One write keeps lines of threads apart. `eprintln!` panics on errors.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
