//! Prohibition of traces and compilation on a thread.

use crate::scope::with_value;
use ndjit_ir::{Error, ErrorCode, Result};
use std::cell::Cell;

thread_local! {
    static FORBIDDEN: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body` with traces and compilation prohibited on this thread: they are errors.
pub fn forbid<R>(body: impl FnOnce() -> R) -> R {
    with_value(&FORBIDDEN, true, body)
}

/// Checks that this thread may trace and compile, for the caller `what`.
///
/// # Errors
/// `Compile` if it may not.
pub fn allowed(what: &str) -> Result<()> {
    match FORBIDDEN.get() {
        false => Ok(()),
        true => Err(Error::new(
            ErrorCode::Compile,
            format!("{what}: it would have to be compiled, which is forbidden here"),
        )
        .help("do the same once before `no_recompile`, with arguments of these types, shapes and layouts")),
    }
}
