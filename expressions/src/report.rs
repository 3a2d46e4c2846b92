//! Errors of expressions as text.

use crate::{ExprNodeKind, Expression, Id, in_notation, parse};
use ndjit::{Error, report_in};

/// An error in an expression with these inputs, as text: with a caret below the expression if its place is there.
///
/// ```
/// use ndjit_expressions::{parse, report};
///
/// let error = parse("sin(x) + (x * 2").unwrap_err().into();
/// print!("{}", report(&error, "sin(x) + (x * 2", &["x".to_owned()]));
/// ```
pub fn report(error: &Error, expression: &str, inputs: &[String]) -> String {
    let error = error.clone().with_arguments(|n| inputs.get(n).map(|name| format!("the input {name}")));
    match error.place() {
        // The caret has the place.
        Some(place) if place.is_in_expression() => {
            let operands = parse(expression).map_or(Vec::new(), |read| operands(&read, place.column));
            let written = |n: usize| operands.get(n).cloned().flatten().filter(|text| text.chars().count() <= LONGEST);
            let error = error.with_origins(|n| written(n).map(|text| format!("from {text}")));
            report_in(&in_notation(&error).at(place), expression)
        }
        _ => in_notation(&error).to_string(),
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
