//! Synchronization primitives, for the parts that `runtime/models/` tests with a scheduler's primitives.

pub use arc_swap::{ArcSwap, Guard};
pub use ndjit_ir::lock::Mutex;
pub use std::hint::spin_loop;
pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
pub use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
pub use std::thread;
