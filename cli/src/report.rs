//! Errors as people read them.

use crate::Failure;
use crate::expression::FILE;
use ndjit::{Error, ErrorCode, report_in};
use std::io::ErrorKind;

/// The text of a failure; none where nobody reads any more.
pub fn text(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Expression(error, expression, inputs) => Some(of_expression(error, expression, inputs)),
        Failure::Other(error) => Some(plain(error)),
        Failure::Output(error) if error.kind() == ErrorKind::BrokenPipe => None,
        Failure::Output(error) => Some(format!("error[{}]: the output cannot be written: {error}", ErrorCode::Io)),
    }
}

/// An error of an expression, below which a caret stands.
fn of_expression(error: &Error, expression: &str, inputs: &[String]) -> String {
    if error.place().is_none_or(|place| place.file != FILE) {
        return plain(error);
    }
    // All of an expression is line 1, and its arguments have names.
    let mut text = report_in(error, expression).replace(" at line 1", "");
    for (index, name) in inputs.iter().enumerate().rev() {
        text = text.replace(&format!("from argument {index}"), &format!("the input {name}"));
    }
    text
}

/// An error without a place in the source of this program, which is nobody's business.
fn plain(error: &Error) -> String {
    let mut plain = Error::new(error.code(), error.headline());
    for fact in error.facts() {
        plain = plain.fact(fact);
    }
    match error.help_text() {
        Some(help) => plain.help(help).to_string(),
        None => plain.to_string(),
    }
}
