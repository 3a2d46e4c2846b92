//! Formatting of errors for users.

use crate::expression::{Expression, FILE, Id, NodeKind, parse};
use crate::outcome::Failure;
use ndjit::{DType, Error, ErrorCode, report_in};
use std::io::ErrorKind;

/// The text of a failure; `None` if the output is closed.
pub fn text(failure: &Failure) -> Option<String> {
    match failure {
        Failure::Expression(error, expression, inputs) => Some(of_expression(error, expression, inputs)),
        Failure::Usage(error) | Failure::Other(error) => {
            Some(in_expression(&rebuilt(error, error.facts().to_vec()).to_string(), &[]))
        }
        Failure::Output(error) if error.kind() == ErrorKind::BrokenPipe => None,
        Failure::Output(error) => Some(format!("error[{}]: the output cannot be written: {error}", ErrorCode::Io)),
    }
}

/// An error in an expression, with a caret.
fn of_expression(error: &Error, expression: &str, inputs: &[String]) -> String {
    match error.place() {
        // The caret has the place.
        Some(place) if place.file == FILE => {
            let operands = parse(expression).map_or(Vec::new(), |read| operands(&read, place.column));
            let facts = (0..).zip(error.facts()).map(|(n, fact)| written(fact, operands.get(n))).collect();
            in_expression(&report_in(&rebuilt(error, facts).at(place), expression), inputs)
        }
        _ => in_expression(&rebuilt(error, error.facts().to_vec()).to_string(), inputs),
    }
}

/// The source texts of the operands of the operation at a column, or of the call with an argument there; `None` for
/// named operands.
fn operands(expression: &Expression, column: u32) -> Vec<Option<String>> {
    let of = |kind: &NodeKind| match kind {
        NodeKind::Unary(_, x) | NodeKind::Index(x, _) | NodeKind::Attribute(x, _) => vec![*x],
        NodeKind::Binary(_, x, y) => vec![*x, *y],
        NodeKind::Call(_, arguments, _) => arguments.clone(),
        _ => Vec::new(),
    };
    let takes = |kind: &NodeKind, id: Id| match kind {
        NodeKind::Call(_, arguments, named) => arguments.contains(&id) || named.iter().any(|(_, named)| *named == id),
        _ => false,
    };
    let nodes = expression.nodes();
    let here = nodes.iter().rposition(|node| node.column == column).map(|at| Id(at as u32));
    let Some(here) = here else { return Vec::new() };
    let call = || nodes.iter().find(|node| takes(&node.kind, here)).map_or(Vec::new(), |call| of(&call.kind));
    let ids = Some(of(&expression.node(here).kind)).filter(|ids| !ids.is_empty()).unwrap_or_else(call);
    let is_named =
        |id: &Id| matches!(expression.node(*id).kind, NodeKind::Name(_) | NodeKind::Number(_) | NodeKind::List(_));
    ids.iter().map(|id| (!is_named(id)).then(|| expression.text(*id))).collect()
}

/// Maximum length of a printed operand.
const LONGEST: usize = 40;

/// A fact on an operand, with its source text instead of the library's description.
fn written(fact: &str, operand: Option<&Option<String>>) -> String {
    match (fact.split_once(" from "), operand) {
        (Some((of, _)), Some(Some(text))) if text.chars().count() <= LONGEST => format!("{of} from {text}"),
        _ => fact.to_owned(),
    }
}

/// Phrases of the library about Rust, and their counterparts for expressions.
const PHRASES: [(&str, &str); 16] = [
    (" at line 1", ""),
    ("from cast", "from astype"),
    ("leave the axes out: `..` are all there are", "leave `axis` out"),
    ("or `..` for all", "or leave `axis` out for all"),
    ("`x.slice((.., 0))` takes one of several", "`x[..., 0]` takes one of several"),
    ("write whole axes as `..`, and one ellipsis at most", "write whole axes as `:`, and `...` once at most"),
    ("keepdims(-1)", "axis=-1, keepdims=True"),
    ("`where_`", "`where`"),
    ("give `true` or `false`", "give `True` or `False`"),
    ("; descriptors of .npy files are read by `DType::from_npy`", ""),
    ("call: literal", "literal"),
    ("cast the other operand to a wider dtype", "convert it, or what it meets, to a wider dtype"),
    (", or have numbers be wider, as in `with_defaults(Defaults::BITS_64, || …)`", ""),
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
    // A suggestion for Rust only.
    if let Some((before, after)) = text.split_once("; or `with_casting(") {
        let rest = after.split_once('\n').map_or(String::new(), |(_, rest)| format!("\n{rest}"));
        text = before.to_owned() + &rest;
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

/// The error with other facts and without its place in the source of this program.
fn rebuilt(error: &Error, facts: Vec<String>) -> Error {
    let rebuilt = facts.iter().fold(Error::new(error.code(), error.headline()), Error::fact);
    match error.help_text() {
        Some(help) => rebuilt.help(help),
        None => rebuilt,
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
