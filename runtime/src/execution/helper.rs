//! Compilation threads with a large stack: the caller's stack may be small, and Cranelift's use grows with the kernel.
//!
//! A panic in a job becomes an error. Idle threads are kept: a job on an idle thread starts in a few microseconds, on a new one in
//! some twenty.

use crate::execution::lowering;
use crate::panics::panic_message;
use crate::spans;
use ndjit_ir::lock::Mutex;
use ndjit_ir::{Error, ErrorCode, Result};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};

/// Stack size of a helper, bytes. Only touched pages take memory.
const STACK: usize = 16 << 20;
/// Idle helpers kept.
const MAX_IDLE: usize = 4;

type HelperJob = Box<dyn FnOnce() + Send>;

struct Idle {
    jobs: Sender<HelperJob>,
    /// A forked child inherits this list, but not the threads.
    process: u32,
}

static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

/// Runs `job` on a helper and waits for its result. Others may wait for it as well, so its spans are not collected. The times of its
/// [passes](lowering) are the caller's.
///
/// # Errors
/// Those of `job`; `Backend` if it panics, `Allocation` if no thread can be started.
pub fn on_large_stack<T: Send + 'static>(job: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let (reply, result) = channel();
    let helper = idle().map_or_else(start, Ok)?;
    let job: HelperJob = Box::new(move || {
        let made =
            catch_unwind(AssertUnwindSafe(|| spans::unseen(job))).unwrap_or_else(|payload| Err(panicked(&*payload)));
        // A send fails only without a caller.
        let _ = reply.send((made, lowering::take_times()));
    });
    let gone = || Error::new(ErrorCode::Backend, "compile: the compiling thread ended early");
    helper.jobs.send(job).map_err(|_| gone())?;
    let (result, times) = result.recv().map_err(|_| gone())?;
    lowering::add_times(times);
    let mut list = IDLE.lock();
    if list.len() < MAX_IDLE {
        list.push(helper);
    }
    result
}

fn idle() -> Option<Idle> {
    let mut list = IDLE.lock();
    list.retain(|idle| idle.process == std::process::id());
    list.pop()
}

fn start() -> Result<Idle> {
    let (jobs, inbox) = channel::<HelperJob>();
    let builder = std::thread::Builder::new().name("ndjit-compile".into()).stack_size(STACK);
    // The thread ends when its sender is dropped.
    builder.spawn(move || inbox.into_iter().for_each(|job| job())).map_err(|error| {
        // It has no memory for the stack, or no more threads.
        Error::new(ErrorCode::Allocation, "compile: the system refused a thread")
            .fact(error)
            .fact(format_args!("its stack: {STACK} bytes"))
            .help("let go of arrays that are no longer needed, or raise the limits of memory and of threads")
    })?;
    Ok(Idle { jobs, process: std::process::id() })
}

fn panicked(payload: &(dyn Any + Send)) -> Error {
    Error::new(ErrorCode::Backend, "compile: the code generator panicked")
        .fact(panic_message(payload))
        .help("this is a bug in ndjit; please report it with the dump of NDJIT_DUMP=expanded")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_have_a_large_stack_and_panics_are_errors() {
        let large = || {
            let bytes = std::hint::black_box([1u8; 8 << 20]);
            Ok(bytes.iter().map(|&b| u64::from(b)).sum::<u64>())
        };
        let caller = std::thread::Builder::new().stack_size(64 << 10);
        let sum = caller.spawn(move || on_large_stack(large)).unwrap().join().unwrap();
        assert_eq!(sum, Ok(8 << 20));
        let error = on_large_stack(|| -> Result<()> { panic!("job {}", 7) }).unwrap_err();
        assert_eq!((error.code(), error.facts()), (ErrorCode::Backend, &["job 7".to_string()][..]));
        assert_eq!(on_large_stack(|| Ok(3)), Ok(3));
    }
}
