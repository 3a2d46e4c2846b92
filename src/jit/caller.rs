//! Where jitted functions are called. `f(&x)` runs a closure, which does not know its caller; but `f` is dereferenced for it, and
//! that knows its place. Nothing but messages depends on this.
//!
//! Calls nest: in `f(&g(&x))` first `f` is dereferenced, then `g`, then `g` runs and `f` last. So the places of a thread are a
//! stack, from which a call takes the last of its own function, and what was dereferenced later and never called with it.

use ndjit_ir::{Error, Place};
use std::cell::RefCell;
use std::sync::Arc;

/// Dereferences without a call are rare, and the oldest are of no use.
const LIMIT: usize = 16;

thread_local! {
    static PLACES: RefCell<Vec<(usize, Place)>> = const { RefCell::new(Vec::new()) };
}

/// What tells functions apart: a reference to the `Arc` would be another for each clone.
fn id<T>(function: &Arc<T>) -> usize {
    Arc::as_ptr(function).addr()
}

/// Notes that a function is about to be called.
pub(super) fn note<T>(function: &Arc<T>, place: Place) {
    // In the destructors of a thread's other values there may be none.
    let _ = PLACES.try_with(|places| {
        let mut places = places.borrow_mut();
        if places.len() == LIMIT {
            places.remove(0);
        }
        places.push((id(function), place));
    });
}

/// Where the call that begins now was written, if that is known.
pub(super) fn take<T>(function: &Arc<T>) -> Option<Place> {
    let take = |places: &RefCell<Vec<(usize, Place)>>| {
        let mut places = places.borrow_mut();
        let at = places.iter().rposition(|(called, _)| *called == id(function))?;
        let (_, place) = places[at];
        places.truncate(at);
        Some(place)
    };
    PLACES.try_with(take).ok().flatten()
}

/// The error of a call with its place: beside that in the function where it was made, if there is one.
pub(crate) fn called(error: Error, place: Option<Place>) -> Error {
    match (error.place(), place) {
        (Some(made), Some(place)) if made != place => {
            // In a circle of calls places come again.
            let called = format!("called at {place}");
            if error.facts().contains(&called) { error } else { error.fact(called) }
        }
        _ => error.at(place),
    }
}
