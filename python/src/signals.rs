//! Work without the lock of the interpreter, which signals interrupt: Ctrl-C raises `KeyboardInterrupt` within some hundredths of a
//! second, and other handlers run.
//!
//! Python runs handlers on its main thread only. Runs there ask for signals by a [check](Cancellation::checked).

use ndjit::{Cancellation, with_cancellation};
use pyo3::prelude::*;
use std::cell::{Cell, RefCell};

thread_local! {
    /// Whether this is the main thread of Python, if it is known.
    static MAIN: Cell<Option<bool>> = const { Cell::new(None) };
    /// What a handler raised.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    /// The flag of the runs of this thread, which lives until it is set.
    static FLAG: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
}

fn is_main(py: Python<'_>) -> bool {
    if let Some(known) = MAIN.get() {
        return known;
    }
    let ask = || -> PyResult<bool> {
        let threading = py.import("threading")?;
        let main = threading.call_method0("main_thread")?.getattr("ident")?;
        threading.call_method0("get_ident")?.eq(main)
    };
    let known = ask().unwrap_or(false);
    MAIN.set(Some(known));
    known
}

/// Runs the handlers of signals that came. True if one raised.
fn check() -> bool {
    // Other threads take part in runs of the main thread.
    MAIN.get() == Some(true)
        && Python::attach(|py| match py.check_signals() {
            Ok(()) => false,
            Err(raised) => {
                RAISED.set(Some(raised));
                true
            }
        })
}

/// Runs `body` without the lock of the interpreter. What a handler of a signal raises meanwhile cancels its runs, and is raised.
pub fn detached<R: Send>(py: Python<'_>, body: impl FnOnce() -> R + Send) -> PyResult<R> {
    if !is_main(py) {
        return Ok(py.detach(body));
    }
    let flag = FLAG.with_borrow_mut(|flag| flag.get_or_insert_with(|| Cancellation::checked(check)).clone());
    let made = py.detach(|| with_cancellation(&flag, body));
    match RAISED.take() {
        None => Ok(made),
        Some(raised) => {
            FLAG.set(None);
            Err(raised)
        }
    }
}
