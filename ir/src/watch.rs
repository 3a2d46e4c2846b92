//! Errors handed to closures that may panic with them: a panic carries a text only, and this says which error it lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Watches [errors](crate::Error::watched) for being dropped by a panic.
///
/// ```
/// use ndjit_ir::watch::PanicWatch;
/// use ndjit_ir::{Error, ErrorCode};
/// use std::panic::catch_unwind;
///
/// let watch = PanicWatch::default();
/// let failed = || Err::<(), Error>(Error::new(ErrorCode::Shape, "shapes do not broadcast").watched(&watch));
/// assert!(failed().is_err() && !watch.has_seen_panic());
/// assert!(catch_unwind(|| failed().unwrap()).is_err() && watch.has_seen_panic());
/// ```
#[derive(Clone, Debug, Default)]
pub struct PanicWatch(Arc<AtomicBool>);

impl PanicWatch {
    /// Whether a panic dropped a watched error: the closure panicked with it, or held it when it panicked.
    pub fn has_seen_panic(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The part of a watched error.
#[derive(Clone, Debug)]
pub(crate) struct Watched(pub(crate) PanicWatch);

/// Watching does not make errors differ.
impl PartialEq for Watched {
    fn eq(&self, _other: &Watched) -> bool {
        true
    }
}

impl Eq for Watched {}

impl Drop for Watched {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.0.store(true, Ordering::Relaxed);
        }
    }
}
