//! Panics of wgpu and naga as errors.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code that may panic in wgpu or naga; the panic's message is the error. Their locks are released on unwinding, and a broken
/// device reports that at the next call.
pub(super) fn caught<R>(body: impl FnOnce() -> R) -> std::result::Result<R, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message").to_owned()
    })
}
