//! Errors as people read them.

use crate::Failure;
use crate::expression::FILE;
use ndjit::{DType, Error, ErrorCode, report_in};
use std::io::ErrorKind;

/// The text of a failure; none where nobody reads any more.
pub fn text(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Expression(error, expression, inputs) => Some(of_expression(error, expression, inputs)),
        Failure::Other(error) => Some(in_expression(&plain(error), &[])),
        Failure::Output(error) if error.kind() == ErrorKind::BrokenPipe => None,
        Failure::Output(error) => Some(format!("error[{}]: the output cannot be written: {error}", ErrorCode::Io)),
    }
}

/// An error of an expression, below which a caret stands.
fn of_expression(error: &Error, expression: &str, inputs: &[String]) -> String {
    match error.place() {
        // The place is that of the caret.
        Some(place) if place.file == FILE => in_expression(&report_in(error, expression), inputs),
        _ => in_expression(&plain(error), inputs),
    }
}

/// What the library says of Rust, said of expressions: arguments are inputs with names, all is one line, casts are `astype`.
pub fn in_expression(text: &str, inputs: &[String]) -> String {
    let mut text = text.replace(" at line 1", "").replace(&format!("{FILE}:1:"), "column ");
    for (index, name) in inputs.iter().enumerate().rev() {
        text = text.replace(&format!("from argument {index}"), &format!("from the input {name}"));
    }
    // What can be done about it in Rust alone.
    if let Some((before, after)) = text.split_once("; or `with_casting(") {
        let rest = after.split_once('\n').map_or(String::new(), |(_, rest)| format!("\n{rest}"));
        text = before.to_owned() + &rest;
    }
    for dtype in DType::ALL {
        text = text.replace(&format!(".cast(DType::{dtype:?})"), &format!(".astype({dtype})"));
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
