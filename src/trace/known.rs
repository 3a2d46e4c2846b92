//! What is known of control flow in a body that is recorded again: a loop begins with the types at which its state came to rest before. Without it
//! the loops within a loop look for their types each time that its body is recorded, and `n` loops within each other take `2^n` recordings.
//!
//! What is known is a guess: the body around may give other types now. A loop takes it where its body keeps these types, and else looks for them
//! as it does the first time.

use super::recorder::{TRACES, Trace};
use ndjit_ir::{Place, ValueType};

/// What is known of one loop or branch.
#[derive(Clone, Default)]
pub(crate) struct Known {
    place: Option<Place>,
    /// The types of a loop's state.
    pub(crate) types: Vec<ValueType>,
    /// What is known of the control flow in each of its graphs.
    pub(crate) graphs: Vec<Vec<Known>>,
}

impl Known {
    /// What is known of the control flow in a graph.
    pub(crate) fn graph(&mut self, n: usize) -> Vec<Known> {
        self.graphs.get_mut(n).map(std::mem::take).unwrap_or_default()
    }
}

/// A place in the list of the control flow that a body has.
pub(crate) struct Noted(usize, Place);

/// Begins control flow in the trace of this thread, of which something may be known.
pub(crate) fn begin(place: Place) -> (Noted, Known) {
    let begun = in_body(|known, learned| {
        let at = learned.len();
        learned.push(Known::default());
        let known = known.get_mut(at).filter(|known| known.place == Some(place)).map(std::mem::take);
        (at, known.unwrap_or_default())
    });
    let (at, known) = begun.unwrap_or_default();
    (Noted(at, place), known)
}

/// Ends control flow that was begun in the trace of this thread.
pub(crate) fn end(Noted(at, place): Noted, types: Vec<ValueType>, graphs: Vec<Vec<Known>>) {
    in_body(|_, learned| {
        if let Some(own) = learned.get_mut(at) {
            *own = Known { place: Some(place), types, graphs };
        }
    });
}

/// Asks the innermost trace of this thread, if it is of control flow: no other is recorded again.
fn in_body<R>(ask: impl FnOnce(&mut Vec<Known>, &mut Vec<Known>) -> R) -> Option<R> {
    TRACES.with_borrow_mut(|traces| {
        let Trace { captures, .. } = traces.last_mut()?;
        let captures = captures.as_mut()?;
        Some(ask(&mut captures.known, &mut captures.learned))
    })
}
