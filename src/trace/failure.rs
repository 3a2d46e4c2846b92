//! Errors of recording a function, with the part recorded before.

use ndjit_ir::graph::{Graph, SourceLocs};
use ndjit_ir::{Error, ErrorCode, SourceLoc, ValueType};

/// An error of recording a function.
pub(crate) struct Failure {
    pub error: Error,
    /// The part recorded before the error; `None` if the function was not run.
    pub before: Option<Box<Unfinished>>,
}

/// The part of a function recorded before its first error.
pub(crate) struct Unfinished {
    pub graph: Graph<ValueType>,
    pub places: SourceLocs,
    /// The number of nodes in the graph before the error.
    pub nodes: usize,
    /// The same for the called function that failed, if there is one.
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

/// The maximum length of a panic message in an error, in characters.
const MESSAGE: usize = 4096;

/// Returns the error of a traced function that panicked, after an operation at a place.
///
/// Rust gives the place of a panic only to the panic hook. The hook is global to the process, so a library must not set
/// one. The error refers to the hook's output, and names the last recorded operation.
pub(super) fn panicked(payload: &(dyn std::any::Any + Send), after: Option<SourceLoc>) -> Error {
    let message = payload
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is no text".to_owned());
    // A panic message may contain that of another panic, and so on.
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
