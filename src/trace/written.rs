//! Source places of operations, for front ends with a language other than Rust.

use ndjit_eval::scope::with_value;
use ndjit_ir::{Error, SourceLoc};
use std::cell::Cell;

thread_local! {
    static WRITTEN: Cell<Option<SourceLoc>> = const { Cell::new(None) };
}

/// Runs `body`, and sets the place of all operations in it, on arrays and in traced functions. Errors, explanations and
/// [`Stage::Graph`](crate::Stage::Graph) name it instead of a line of Rust. A front end sets the place in its user's
/// text for each operation.
///
/// ```
/// use ndjit::{Array, DType, SourceLoc, Program, spec, with_place};
///
/// let place = SourceLoc { file: "<formula>", line: 1, column: 3 };
/// let specs = [spec(DType::F32, [2]), spec(DType::F32, [3])];
/// let error = Program::trace(&specs, |p| vec![with_place(place, || p[0] + p[1])]).unwrap_err();
/// assert_eq!(error.place(), Some(place));
///
/// let sum = with_place(place, || Array::from([1, 2]) + Array::from([1, 2, 3]));
/// assert_eq!(sum.error().and_then(|error| error.place()), Some(place));
/// ```
pub fn with_place<R>(place: SourceLoc, body: impl FnOnce() -> R) -> R {
    with_value(&WRITTEN, Some(place), body)
}

/// Returns the place of an operation whose Rust caller is `caller`.
pub(crate) fn place(caller: SourceLoc) -> SourceLoc {
    WRITTEN.get().unwrap_or(caller)
}

/// Returns the place of a number created at `made`, if known, and used in an operation at `place`.
pub(super) fn of_number(made: Option<SourceLoc>, place: SourceLoc) -> SourceLoc {
    WRITTEN.get().or(made).unwrap_or(place)
}

/// Adds the operation's place in the source to an error.
pub(crate) fn error(error: Error) -> Error {
    match WRITTEN.get() {
        Some(place) => error.moved(place),
        None => error,
    }
}
