//! The scheduler's primitives with the interface of `runtime/src/sync.rs`. Those of the crate `arc-swap` have its guarantees: a load or a
//! store is one step.

pub use shuttle::hint::spin_loop;
pub use shuttle::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
pub use shuttle::sync::{Arc, Condvar, MutexGuard};
pub use std::sync::PoisonError;

/// A mutex whose lock never fails, as in `ndjit_ir::lock`.
#[derive(Debug, Default)]
pub struct Mutex<T>(shuttle::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// An unlocked mutex.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex(shuttle::sync::Mutex::new(value))
    }

    /// Locks it, waiting if necessary.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A shared value, replaced as a whole, as in the crate `arc-swap`.
#[derive(Debug)]
pub struct ArcSwap<T>(Mutex<Arc<T>>);

/// A loaded value.
#[derive(Debug)]
pub struct Guard<P>(P);

impl<T> ArcSwap<T> {
    /// A new cell with this value.
    pub fn from_pointee(value: T) -> ArcSwap<T> {
        ArcSwap(Mutex::new(Arc::new(value)))
    }

    /// The value.
    pub fn load(&self) -> Guard<Arc<T>> {
        Guard(self.load_full())
    }

    /// The value, as an owned reference.
    pub fn load_full(&self) -> Arc<T> {
        Arc::clone(&self.0.lock())
    }

    /// Replaces the value.
    pub fn store(&self, value: Arc<T>) {
        let before = std::mem::replace(&mut *self.0.lock(), value);
        drop(before);
    }
}

impl<P> Guard<P> {
    /// A guard of a value that was not loaded.
    pub fn from_inner(value: P) -> Guard<P> {
        Guard(value)
    }
}

impl<P> std::ops::Deref for Guard<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.0
    }
}

static PROCESSORS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(1);

/// Sets the number of processors that thread pools see: with more of them than members, workers spin before they sleep.
pub fn set_processors(count: usize) {
    PROCESSORS.store(count, std::sync::atomic::Ordering::SeqCst);
}

/// Threads of the scheduler.
pub mod thread {
    pub use shuttle::thread::{Builder, Thread, park, yield_now};
    use std::num::NonZero;

    /// The number of processors that the test has set.
    ///
    /// # Errors
    /// None.
    pub fn available_parallelism() -> std::io::Result<NonZero<usize>> {
        let count = super::PROCESSORS.load(std::sync::atomic::Ordering::SeqCst);
        Ok(NonZero::new(count).unwrap_or(NonZero::<usize>::MIN))
    }
}
