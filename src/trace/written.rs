//! Where operations are written, for front ends whose users write no Rust.

use ndjit_eval::scope::with_value;
use ndjit_ir::{Error, Place};
use std::cell::Cell;

thread_local! {
    static WRITTEN: Cell<Option<Place>> = const { Cell::new(None) };
}

/// Runs `body`, which makes operations of traced functions, as if all of them were written at this place. Errors, explanations
/// and [`Stage::Graph`](crate::Stage::Graph) name it in place of the line of Rust. For front ends: a reader of expressions says
/// for each operation where in its user's text it stands. Without effect on operations on arrays outside of traced functions.
///
/// ```
/// use ndjit::{DType, Place, Program, spec, with_place};
///
/// let place = Place { file: "<formula>", line: 1, column: 3 };
/// let specs = [spec(DType::F32, [2]), spec(DType::F32, [3])];
/// let error = Program::trace(&specs, |p| vec![with_place(place, || p[0] + p[1])]).unwrap_err();
/// assert_eq!(error.place(), Some(place));
/// ```
pub fn with_place<R>(place: Place, body: impl FnOnce() -> R) -> R {
    with_value(&WRITTEN, Some(place), body)
}

/// Where an operation is written whose caller in Rust is `caller`.
pub(super) fn place(caller: Place) -> Place {
    WRITTEN.get().unwrap_or(caller)
}

/// Where a number is written that was made at `made`, if that is known, and met in an operation at `place`.
pub(super) fn of_number(made: Option<Place>, place: Place) -> Place {
    WRITTEN.get().or(made).unwrap_or(place)
}

/// The error of an operation, at the place where that is written.
pub(super) fn error(error: Error) -> Error {
    match WRITTEN.get() {
        Some(place) => error.moved(place),
        None => error,
    }
}
