//! The places of calls of jitted functions, for messages only. `f(&x)` runs a closure, which has no `#[track_caller]`;
//! the dereference of `f` before it has.
//!
//! Calls nest: `f(&g(&x))` dereferences `f`, then `g`, and then calls `g` before `f`. The places of a thread are
//! therefore a stack. A call takes the last place of its own function, and drops later ones, whose calls never came.

use ndjit_ir::{Error, SourceLoc};
use std::cell::RefCell;
use std::sync::Arc;

/// Dereferences without a call are rare; the oldest are dropped.
const LIMIT: usize = 16;

thread_local! {
    static PLACES: RefCell<Vec<(usize, SourceLoc)>> = const { RefCell::new(Vec::new()) };
}

/// Returns the identity of a function: the address of the shared value, which clones of the `Arc` share.
fn id<T>(function: &Arc<T>) -> usize {
    Arc::as_ptr(function).addr()
}

/// Records that a function is about to be called.
pub(super) fn note<T>(function: &Arc<T>, place: SourceLoc) {
    // The thread-local value may be gone in destructors of other thread-local values.
    let _ = PLACES.try_with(|places| {
        let mut places = places.borrow_mut();
        if places.len() == LIMIT {
            places.remove(0);
        }
        places.push((id(function), place));
    });
}

/// Returns the place of the call that begins now, if it is known.
pub(super) fn take<T>(function: &Arc<T>) -> Option<SourceLoc> {
    let take = |places: &RefCell<Vec<(usize, SourceLoc)>>| {
        let mut places = places.borrow_mut();
        let at = places.iter().rposition(|(called, _)| *called == id(function))?;
        let (_, place) = places[at];
        places.truncate(at);
        Some(place)
    };
    PLACES.try_with(take).ok().flatten()
}

/// Adds the place of a call to an error, after its place inside the function if there is one.
pub(crate) fn called(error: Error, place: Option<SourceLoc>) -> Error {
    match (error.place(), place) {
        (Some(made), Some(place)) if made != place => {
            // Recursive calls repeat places.
            let called = format!("called at {place}");
            if error.facts().contains(&called) { error } else { error.fact(called) }
        }
        _ => error.at(place),
    }
}
