//! Values used outside their trace: the error names the place of the value's creation and its call.
//!
//! A thread records the calls of its last traces. These serve only for messages, and may be gone in destructors of
//! thread-local values.

use crate::trace::expr::{Expr, ExprValue};
use ndjit_eval::traces;
use ndjit_ir::{Error, ErrorCode, SourceLoc};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::marker::PhantomData;

/// The maximum number of recorded traces.
const LIMIT: usize = 64;

/// A trace of this thread.
struct KnownTrace {
    id: u32,
    /// The place of the call.
    place: Option<SourceLoc>,
    /// True during recording.
    open: bool,
}

thread_local! {
    static KNOWN: RefCell<VecDeque<KnownTrace>> = const { RefCell::new(VecDeque::new()) };
}

/// Registers the beginning of a trace, for a call at `place`.
pub(super) fn begin(id: u32, place: Option<SourceLoc>) {
    traces::begin();
    let _ = KNOWN.try_with(|known| {
        let mut known = known.borrow_mut();
        if known.len() == LIMIT {
            known.pop_front();
        }
        known.push_back(KnownTrace { id, place, open: true });
    });
}

/// Registers the end of a trace.
pub(super) fn end(id: u32) {
    traces::end();
    let _ = KNOWN.try_with(|known| {
        let mut known = known.borrow_mut();
        if let Some(trace) = known.iter_mut().rfind(|trace| trace.id == id) {
            trace.open = false;
        }
    });
}

/// An expression outside of every trace. It cannot be read, and no trace accepts it.
pub(crate) const STRAY: Expr = Expr { trace: 0, node: ExprValue::Poisoned(0), made: None, _thread: PhantomData };

/// Returns the error of `what` for a value of another trace than the current one.
pub(crate) fn outside(what: &str, x: Expr) -> Error {
    let error = Error::new(ErrorCode::Traced, "a traced value was used outside its trace").of(what);
    if x.trace == STRAY.trace {
        return error.fact("the value: made where no function is traced").help(
            "`Expr`s are values of a traced function, and end with it: return them, and compute with `Array`s outside",
        );
    }
    let error = match (x.made, x.node) {
        (Some(made), _) => error.fact(format_args!("the value: made at {made}")),
        (None, ExprValue::Value(_)) => error.fact("the value: a parameter of the traced function"),
        (None, ExprValue::Poisoned(_)) => error,
    };
    let known = KNOWN.try_with(|known| {
        let known = known.borrow();
        known.iter().rfind(|trace| trace.id == x.trace).map(|trace| (trace.place, trace.open))
    });
    let (place, open) = known.ok().flatten().unwrap_or((None, false));
    let error = match place {
        Some(place) => error.fact(format_args!("its trace: for the call at {place}")),
        None => error,
    };
    error.help(match open {
        true => "that trace is not finished: pass the value to the inner function as an argument, `g.inline((x,))`",
        false => "values of a traced function end with it; return them, or pass them as arguments",
    })
}
