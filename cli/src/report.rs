//! Formatting of errors for users.

use crate::expression::{ExprNodeKind, Expression, FILE, Id, parse};
use crate::outcome::CommandFailure;
use ndjit::{DType, Error, ErrorCode, report_in};
use std::io::ErrorKind;

/// The text of a failure; `None` if the output is closed.
pub fn text(failure: &CommandFailure) -> Option<String> {
    match failure {
        CommandFailure::Expression(error, expression, inputs) => Some(of_expression(error, expression, inputs)),
        CommandFailure::Usage(error) | CommandFailure::Other(error) => {
            Some(in_expression(&portable(error).to_string(), &[]))
        }
        CommandFailure::Output(error) if error.kind() == ErrorKind::BrokenPipe => None,
        CommandFailure::Output(error) => {
            Some(format!("error[{}]: the output cannot be written: {error}", ErrorCode::Io))
        }
    }
}

/// An error in an expression, with a caret.
fn of_expression(error: &Error, expression: &str, inputs: &[String]) -> String {
    match error.place() {
        // The caret has the place.
        Some(place) if place.file == FILE => {
            let operands = parse(expression).map_or(Vec::new(), |read| operands(&read, place.column));
            let written = |n: usize| operands.get(n).cloned().flatten().filter(|text| text.chars().count() <= LONGEST);
            let error = error.clone().with_origins(|n| written(n).map(|text| format!("from {text}")));
            in_expression(&report_in(&portable(&error).at(place), expression), inputs)
        }
        _ => in_expression(&portable(error).to_string(), inputs),
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

/// Phrases of the library about Rust, and their counterparts for expressions.
const PHRASES: [(&str, &str); 14] = [
    (" at line 1", ""),
    ("from cast", "from astype"),
    ("leave the axes out: `..` are all there are", "leave `axis` out"),
    ("or `..` for all", "or leave `axis` out for all"),
    ("`x.slice((.., 0))` takes one of several", "`x[..., 0]` takes one of several"),
    ("write whole axes as `..`, and one ellipsis at most", "write whole axes as `:`, and `...` once at most"),
    ("keepdims(-1)", "axis=-1, keepdims=True"),
    ("`where_`", "`where`"),
    ("give `true` or `false`", "give `True` or `False`"),
    ("call: literal", "literal"),
    ("cast the other operand to a wider dtype", "convert it, or what it meets, to a wider dtype"),
    ("cast the array, as in", "convert the array, as in"),
    ("cast explicitly:", "convert it:"),
    ("`pow(x, y)`", "`x ** y`"),
];

/// Rewrites a message of the library for expressions: arguments are inputs with names, code is on one line, casts are
/// `astype`.
pub fn in_expression(text: &str, inputs: &[String]) -> String {
    let mut text = text.replace(&format!("{FILE}:1:"), "column ");
    for (index, name) in inputs.iter().enumerate().rev() {
        text = text.replace(&format!("from argument {index}"), &format!("from the input {name}"));
        text = text.replace(&format!("\n  argument {index}: "), &format!("\n  the input {name}: "));
    }
    for (rust, expression) in PHRASES {
        text = text.replace(rust, expression);
    }
    // Every second part is between backticks.
    let parts = text.split('`').enumerate();
    parts.map(|(n, part)| if n % 2 == 1 { code(part) } else { part.to_owned() }).collect::<Vec<String>>().join("`")
}

/// Rewrites a piece of Rust as a piece of an expression.
fn code(rust: &str) -> String {
    let mut text = rust.to_owned();
    for dtype in DType::ALL {
        text = text.replace(&format!("cast(DType::{dtype:?})"), &format!("astype({dtype})"));
        text = text.replace(&format!("DType::{dtype:?}"), dtype.name());
    }
    // `dtype(f64).sum(…)`
    if let Some((dtype, call)) = text.strip_prefix("dtype(").and_then(|rest| rest.split_once(").")) {
        return call.strip_suffix(')').map_or(text.clone(), |call| format!("{call}, dtype={dtype})"));
    }
    // `asarray(2).astype(f64)`
    if let Some((number, dtype)) = text.strip_prefix("asarray(").and_then(|rest| rest.split_once(").astype(")) {
        return format!("astype({number}, {dtype}");
    }
    // `cast(x, f32)`
    if let Some(arguments) = text.strip_prefix("cast(") {
        return format!("astype({arguments}");
    }
    // `strong(2.0f64)`
    let number = text.strip_prefix("strong(").and_then(|rest| rest.strip_suffix(')'));
    let dtype = number.and_then(|number| DType::ALL.into_iter().find(|dtype| number.ends_with(dtype.name())));
    match (number, dtype) {
        (Some(number), Some(dtype)) => format!("astype({}, {dtype})", number.trim_end_matches(dtype.name())),
        _ => text,
    }
}

/// The error without its place in the source of this program, and without help on Rust alone.
fn portable(error: &Error) -> Error {
    let portable = error.facts().iter().fold(Error::new(error.code(), error.headline()), Error::fact);
    match error.way_out() {
        Some(help) => portable.help(help.portable()),
        None => portable,
    }
}

#[cfg(test)]
mod tests {
    use super::in_expression;

    #[test]
    fn what_the_library_says_is_said_of_expressions() {
        let said = [
            ("ask, as in `dtype(DType::I64).arange(…)`", "ask, as in `arange(…, dtype=i64)`"),
            ("`asarray(2).cast(DType::F32)`, `strong(2.0f32)`", "`astype(2, f32)`, `astype(2.0, f32)`"),
            ("cast explicitly: `cast(x, DType::F32)`", "convert it: `astype(x, f32)`"),
            ("cast the array, as in `x.cast(DType::I32)`", "convert the array, as in `x.astype(i32)`"),
            ("name one of these axes, or `..` for all", "name one of these axes, or leave `axis` out for all"),
            ("x: f32[] from argument 1", "x: f32[] from the input k"),
            ("call: literal 300\n  argument 1: 300", "literal 300\n  the input k: 300"),
        ];
        for (rust, expression) in said {
            assert_eq!(in_expression(rust, &["x".to_owned(), "k".to_owned()]), expression);
        }
    }
}
