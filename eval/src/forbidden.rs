//! Whether this thread may trace and compile.

use crate::scope::with_value;
use ndjit_ir::{Error, ErrorCode, Result};
use std::cell::Cell;

thread_local! {
    static FORBIDDEN: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body`, in which nothing is traced or compiled on this thread: what would be is an error.
pub fn forbid<R>(body: impl FnOnce() -> R) -> R {
    with_value(&FORBIDDEN, true, body)
}

/// Whether this thread may trace and compile; `what` asks.
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
        .help("do the same once before `forbid_compiling`, with arguments of these types, shapes and layouts")),
    }
}
