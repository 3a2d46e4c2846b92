//! Many threads and tasks at once: scopes of one are not met by another, nothing waits in a circle, and nothing is left behind.
//!
//! `NDJIT_STRESS=n` runs `n` rounds of random work in place of a few.

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
/// A function of one array, which statics hold.
type Function = Jitted<fn(Expr) -> Expr, 1, fn(Expr) -> Expr>;

/// Runs `body` on a thread: what never ends fails.
#[track_caller]
fn in_time<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, result) = channel();
    thread::spawn(move || done.send(body()));
    result.recv_timeout(Duration::from_secs(120)).expect("it ends, and without a panic")
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}
