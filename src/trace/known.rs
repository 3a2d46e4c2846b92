//! Facts on control flow in a body that is recorded again: a loop starts with the final types of its state in the
//! previous recording. Without this, nested loops search for their types at each recording of the outer body, and `n`
//! nested loops take `2^n` recordings.
//!
//! A fact is a guess, since the outer body may have other types now. A loop uses it if its body keeps these types, and
//! else searches as at first.

use super::captures::Known;
use super::recorder::{TRACES, Trace};
use ndjit_ir::{SourceLoc, ValueType};

/// An index in a body's list of control flow.
pub(crate) struct Noted(usize, SourceLoc);

/// Begins control flow in the current trace, and returns the facts on it.
pub(crate) fn begin(place: SourceLoc) -> (Noted, Known) {
    let begun = in_body(|known, learned| {
        let at = learned.len();
        learned.push(Known::default());
        let known = known.get_mut(at).filter(|known| known.place == Some(place)).map(std::mem::take);
        (at, known.unwrap_or_default())
    });
    let (at, known) = begun.unwrap_or_default();
    (Noted(at, place), known)
}

/// Ends control flow in the current trace.
pub(crate) fn end(Noted(at, place): Noted, types: Vec<ValueType>, graphs: Vec<Vec<Known>>) {
    in_body(|_, learned| {
        if let Some(own) = learned.get_mut(at) {
            *own = Known { place: Some(place), types, graphs };
        }
    });
}

/// Runs `ask` on the innermost trace if it is a graph of control flow. Other traces are recorded once.
fn in_body<R>(ask: impl FnOnce(&mut Vec<Known>, &mut Vec<Known>) -> R) -> Option<R> {
    TRACES.with_borrow_mut(|traces| {
        let Trace { captures, .. } = traces.last_mut()?;
        let captures = captures.as_mut()?;
        Some(ask(&mut captures.known, &mut captures.learned))
    })
}
