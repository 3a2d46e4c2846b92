//! The streams of commands, and their failures.

use ndjit::Error;
use std::io::Write;

/// The output streams of a command.
pub struct Streams<'a> {
    /// Results.
    pub out: &'a mut dyn Write,
    /// Errors and notes.
    pub err: &'a mut dyn Write,
    /// True if the user watches, in which case progress is shown.
    pub watched: bool,
}

/// The failure of a command.
pub(crate) enum Failure {
    /// An error in an expression, with its text and inputs.
    Expression(Error, String, Vec<String>),
    /// A usage error: a malformed input, a feature not built in.
    Usage(Error),
    /// Anything else.
    Other(Error),
    /// The output is closed or not writable.
    Output(std::io::Error),
}

impl Failure {
    /// The same failure with a changed error.
    pub fn map(self, more: impl FnOnce(Error) -> Error) -> Failure {
        match self {
            Failure::Usage(error) => Failure::Usage(more(error)),
            Failure::Other(error) => Failure::Other(more(error)),
            Failure::Expression(..) | Failure::Output(_) => self,
        }
    }

    /// The exit code of the command.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Expression(..) | Failure::Other(_) | Failure::Output(_) => 1,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Other(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Output(error)
    }
}
