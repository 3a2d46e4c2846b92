//! Formatting of errors for users.

use crate::outcome::CommandFailure;
use ndjit::ErrorCode;
use ndjit_expressions::{in_notation, report};
use std::io::ErrorKind;

/// The text of a failure; `None` if the output is closed.
pub fn text(failure: &CommandFailure) -> Option<String> {
    match failure {
        CommandFailure::Expression(error, expression, inputs) => Some(report(error, expression, inputs)),
        CommandFailure::Usage(error) | CommandFailure::Other(error) => Some(in_notation(error).to_string()),
        CommandFailure::Output(error) if error.kind() == ErrorKind::BrokenPipe => None,
        CommandFailure::Output(error) => {
            Some(format!("error[{}]: the output cannot be written: {error}", ErrorCode::Io))
        }
    }
}
