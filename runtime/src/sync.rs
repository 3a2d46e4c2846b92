//! What threads share, for the parts whose models (`runtime/models/`) put the primitives of a scheduler in its place.

pub use arc_swap::{ArcSwap, Guard};
pub use ndjit_ir::lock::Mutex;
pub use std::hint::spin_loop;
pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
pub use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
pub use std::thread;
