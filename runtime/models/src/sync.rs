//! The scheduler's primitives, as `runtime/src/sync.rs` has those of the system.

pub use shuttle::hint::spin_loop;
pub use shuttle::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
pub use shuttle::sync::{Arc, Condvar, MutexGuard};
pub use std::sync::PoisonError;

/// A mutex whose taking never fails, as in `ndjit_ir::lock`.
#[derive(Debug, Default)]
pub struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// A mutex that nobody holds.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(shuttle::sync::Mutex::new(value))
    }

    /// Waits until nobody holds it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

static PROCESSORS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(1);

/// How many processors teams are told of: with more than they have members these look for work before they sleep.
pub fn set_processors(count: usize) {
    PROCESSORS.store(count, std::sync::atomic::Ordering::SeqCst);
}

/// Threads of the scheduler.
pub mod thread {
    pub use shuttle::thread::{Builder, Thread, park, yield_now};
    use std::num::NonZero;

    /// As many processors as the test says.
    ///
    /// # Errors
    /// None.
    pub fn available_parallelism() -> std::io::Result<NonZero<usize>> {
        let count = super::PROCESSORS.load(std::sync::atomic::Ordering::SeqCst);
        Ok(NonZero::new(count).unwrap_or(NonZero::<usize>::MIN))
    }
}
