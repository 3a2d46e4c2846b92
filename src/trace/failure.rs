//! Why recording a function failed, and what was recorded until then.

use ndjit_ir::graph::{Graph, Places};
use ndjit_ir::{Error, ErrorCode, Place, ValueType};

/// Why recording a function failed.
pub(crate) struct Failure {
    pub error: Error,
    /// What was recorded before the error; none if the function was not run.
    pub before: Option<Box<Unfinished>>,
}

/// What was recorded of a function before its first error.
pub(crate) struct Unfinished {
    pub graph: Graph<ValueType>,
    pub places: Places,
    /// How many of the graph's nodes were made before the error.
    pub nodes: usize,
    /// What was recorded of the called function that failed, if it was one.
    pub called: Option<Box<Unfinished>>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, before: None }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        failure.error
    }
}

/// Characters of a panic's message that an error keeps.
const MESSAGE: usize = 4096;

/// The error of a traced function that panicked, after an operation at a place.
///
/// Where it panicked Rust tells panic hooks alone. Those are the process's: a library that sets one would change what others print, so the error says
/// who has the place, and what was recorded last.
pub(super) fn panicked(payload: &(dyn std::any::Any + Send), after: Option<Place>) -> Error {
    let message = payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is no text".to_owned());
    // A panic may hold the text of another that held the text of another.
    let message = match message.char_indices().nth(MESSAGE) {
        Some((end, _)) => format!("{} …", &message[..end]),
        None => message,
    };
    let error = Error::new(ErrorCode::Panic, "trace: the traced function panicked").fact(message);
    let error = match after {
        Some(place) => error.fact(format_args!("after the operation at {place}")),
        None => error,
    };
    error.help("the panic hook was told where: by default Rust prints it on standard error, with `RUST_BACKTRACE=1` the calls too")
}
