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
pub(crate) enum CommandFailure {
    /// An error in an expression, with its text and inputs.
    Expression(Error, String, Vec<String>),
    /// A usage error: a malformed input, a feature not built in.
    Usage(Error),
    /// Anything else.
    Other(Error),
    /// The output is closed or not writable.
    Output(std::io::Error),
}

impl CommandFailure {
    /// The same failure with a changed error.
    pub fn map(self, more: impl FnOnce(Error) -> Error) -> CommandFailure {
        match self {
            CommandFailure::Usage(error) => CommandFailure::Usage(more(error)),
            CommandFailure::Other(error) => CommandFailure::Other(more(error)),
            CommandFailure::Expression(..) | CommandFailure::Output(_) => self,
        }
    }

    /// The exit code of the command.
    pub fn exit_code(&self) -> u8 {
        match self {
            CommandFailure::Usage(_) => 2,
            CommandFailure::Expression(..) | CommandFailure::Other(_) | CommandFailure::Output(_) => 1,
        }
    }
}

impl From<Error> for CommandFailure {
    fn from(error: Error) -> CommandFailure {
        CommandFailure::Other(error)
    }
}

impl From<std::io::Error> for CommandFailure {
    fn from(error: std::io::Error) -> CommandFailure {
        CommandFailure::Output(error)
    }
}
