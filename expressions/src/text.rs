//! Expressions as text, with all parentheses, independent of precedence. The text parses back to the same expression.

use crate::node::{ExprNodeKind, ExprNumber, Expression, Id, IndexPart};
use crate::parser::{BINARY, UNARIES};
use std::fmt;

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root().map_or(String::new(), |root| self.text(root)))
    }
}

impl Expression {
    /// The text of a subexpression.
    ///
    /// ```
    /// use ndjit_expressions::{Id, parse};
    ///
    /// assert_eq!(parse("sin(x) * 2 + y")?.text(Id(3)), "(sin(x) * 2)");
    /// # Ok::<(), ndjit_expressions::Problem>(())
    /// ```
    pub fn text(&self, id: Id) -> String {
        let mut texts: Vec<String> = Vec::with_capacity(id.index() + 1);
        for node in &self.nodes[..=id.index()] {
            // Each node has at most one user, which follows it.
            let text = node_text(&node.kind, &mut texts);
            texts.push(text);
        }
        texts.pop().unwrap_or_default()
    }
}

fn node_text(kind: &ExprNodeKind, texts: &mut [String]) -> String {
    let mut take = |id: &Id| std::mem::take(&mut texts[id.index()]);
    match kind {
        ExprNodeKind::Number(number) => number.to_string(),
        ExprNodeKind::Name(name) => name.clone(),
        ExprNodeKind::None => "None".to_owned(),
        // A text with one type of quotes was enclosed in the other.
        ExprNodeKind::Text(text) if text.contains('\'') => format!("\"{text}\""),
        ExprNodeKind::Text(text) => format!("'{text}'"),
        ExprNodeKind::Unary(op, x) => {
            let symbol = UNARIES.iter().find(|(_, other)| other == op).map_or("", |(symbol, _)| symbol);
            format!("({symbol}{})", take(x))
        }
        ExprNodeKind::Binary(op, x, y) => {
            let symbol = BINARY.iter().find(|(_, other, _)| other == op).map_or("", |(symbol, ..)| symbol);
            let left = take(x);
            format!("({left} {symbol} {})", take(y))
        }
        ExprNodeKind::Call(name, arguments, named) => {
            let mut all: Vec<String> = arguments.iter().map(&mut take).collect();
            for (name, value) in named {
                all.push(format!("{name}={}", take(value)));
            }
            format!("{name}({})", all.join(", "))
        }
        ExprNodeKind::Attribute(x, name) => format!("{}.{name}", operand(take(x))),
        ExprNodeKind::List(items) => format!("[{}]", items.iter().map(take).collect::<Vec<String>>().join(", ")),
        ExprNodeKind::Index(x, parts) => {
            let of = operand(take(x));
            let parts: Vec<String> = parts.iter().map(|part| part_text(part, &mut take)).collect();
            format!("{of}[{}]", parts.join(", "))
        }
    }
}

/// The text before a point or a bracket; a number needs parentheses.
fn operand(text: String) -> String {
    if text.starts_with(|c: char| c.is_ascii_digit()) { format!("({text})") } else { text }
}

fn part_text(part: &IndexPart, take: &mut impl FnMut(&Id) -> String) -> String {
    match part {
        IndexPart::Index(id) => take(id),
        IndexPart::NewAxis => "None".to_owned(),
        IndexPart::Ellipsis => "...".to_owned(),
        IndexPart::Range { start, end, step } => {
            let mut text = start.as_ref().map_or(String::new(), &mut *take);
            text += ":";
            text += &end.as_ref().map_or(String::new(), &mut *take);
            if let Some(step) = step {
                text += ":";
                text += &take(step);
            }
            text
        }
    }
}

impl fmt::Display for ExprNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExprNumber::Int(n) => write!(f, "{n}"),
            // Includes a point or an exponent, to remain a float.
            ExprNumber::Float(x) => write!(f, "{x:?}"),
            ExprNumber::Complex(x, y) => write!(f, "({x:?} + {y:?}j)"),
            ExprNumber::Imaginary(x) => write!(f, "{x:?}j"),
            ExprNumber::Bool(true) => f.write_str("True"),
            ExprNumber::Bool(false) => f.write_str("False"),
        }
    }
}
