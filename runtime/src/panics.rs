//! Payloads of panics: their messages, and dropping them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The message of a panic's payload.
pub fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Drops a panic's payload, whose destructor may panic again.
pub fn discard(payload: Box<dyn Any + Send>) {
    match catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // Strings have no custom destructor; anything else may panic for ever.
        Err(again) if !again.is::<&str>() && !again.is::<String>() => std::mem::forget(again),
        Ok(()) | Err(_) => {}
    }
}
