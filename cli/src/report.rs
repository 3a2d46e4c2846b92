//! Formatting of errors for users.

use crate::expression::{ExprNodeKind, Expression, Id, parse};
use crate::notation::ExpressionNotation;
use crate::outcome::CommandFailure;
use ndjit::{Error, ErrorCode, report_in};
use std::io::ErrorKind;

/// The text of a failure; `None` if the output is closed.
pub fn text(failure: &CommandFailure) -> Option<String> {
    match failure {
        CommandFailure::Expression(error, expression, inputs) => Some(of_expression(error, expression, inputs)),
        CommandFailure::Usage(error) | CommandFailure::Other(error) => Some(portable(error).to_string()),
        CommandFailure::Output(error) if error.kind() == ErrorKind::BrokenPipe => None,
        CommandFailure::Output(error) => {
            Some(format!("error[{}]: the output cannot be written: {error}", ErrorCode::Io))
        }
    }
}

/// An error in an expression, with a caret.
fn of_expression(error: &Error, expression: &str, inputs: &[String]) -> String {
    let error = error.clone().with_arguments(|n| inputs.get(n).map(|name| format!("the input {name}")));
    match error.place() {
        // The caret has the place.
        Some(place) if place.is_in_expression() => {
            let operands = parse(expression).map_or(Vec::new(), |read| operands(&read, place.column));
            let written = |n: usize| operands.get(n).cloned().flatten().filter(|text| text.chars().count() <= LONGEST);
            let error = error.with_origins(|n| written(n).map(|text| format!("from {text}")));
            report_in(&portable(&error).at(place), expression)
        }
        _ => portable(&error).to_string(),
    }
}

/// The source texts of the operands of the operation at a column, or of the call with an argument there; `None` for
/// named operands.
fn operands(expression: &Expression, column: u32) -> Vec<Option<String>> {
    let of = |kind: &ExprNodeKind| match kind {
        ExprNodeKind::Unary(_, x) | ExprNodeKind::Index(x, _) | ExprNodeKind::Attribute(x, _) => vec![*x],
        ExprNodeKind::Binary(_, x, y) => vec![*x, *y],
        ExprNodeKind::Call(_, arguments, _) => arguments.clone(),
        _ => Vec::new(),
    };
    let takes = |kind: &ExprNodeKind, id: Id| match kind {
        ExprNodeKind::Call(_, arguments, named) => {
            arguments.contains(&id) || named.iter().any(|(_, named)| *named == id)
        }
        _ => false,
    };
    let nodes = expression.nodes();
    let here = nodes.iter().rposition(|node| node.column == column).map(|at| Id(at as u32));
    let Some(here) = here else { return Vec::new() };
    let call = || nodes.iter().find(|node| takes(&node.kind, here)).map_or(Vec::new(), |call| of(&call.kind));
    let ids = Some(of(&expression.node(here).kind)).filter(|ids| !ids.is_empty()).unwrap_or_else(call);
    let is_named = |id: &Id| {
        matches!(expression.node(*id).kind, ExprNodeKind::Name(_) | ExprNodeKind::Number(_) | ExprNodeKind::List(_))
    };
    ids.iter().map(|id| (!is_named(id)).then(|| expression.text(*id))).collect()
}

/// Maximum length of a printed operand.
const LONGEST: usize = 40;

/// The error in the notation of expressions, without its place in the source of this program.
fn portable(error: &Error) -> Error {
    // In an expression, a number is no argument of a call.
    let is_call = error.code() == ErrorCode::Literal && error.name() == Some("call");
    let error = if is_call { error.clone().unnamed() } else { error.clone() };
    let portable = error.facts().iter().fold(Error::new(error.code(), error.headline()), Error::fact);
    match error.way_out() {
        Some(help) => portable.help(help.in_notation(&ExpressionNotation)),
        None => portable,
    }
}
