//! Many threads and tasks at once: scopes are isolated, waits have no cycles, and nothing leaks.
//!
//! `NDJIT_STRESS=n` runs `n` rounds of random work instead of a few.

mod cancellation;
mod circles;
mod ends;
mod scopes;
mod stress;

use ndjit::{Expr, Jitted};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// A closure over one array.
type Closure = Box<dyn Fn(Expr) -> Expr + Send + Sync>;
/// A function of one array, for statics.
type Function = Jitted<fn(Expr) -> Expr, 1, fn(Expr) -> Expr>;

/// Runs `body` on a thread, with a timeout.
#[track_caller]
fn in_time<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, result) = channel();
    thread::spawn(move || done.send(body()));
    result.recv_timeout(Duration::from_secs(120)).expect("it ends, and without a panic")
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}
