//! The user's source: the line of a place, and the expression that begins there.
//!
//! An expression is found by its shape, without knowledge of types: from the place, as far as the operator's precedence or the
//! call's parentheses reach, and not beyond the line. What cannot be told is left out; nothing but messages depends on it.

use ndjit_ir::explain::Snippet;
use ndjit_ir::{Op, Place};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;

/// The line of a place, if the file can be read.
pub(crate) fn line(place: Place) -> Option<String> {
    Sources::default().line(place)
}

/// Files, each read once.
#[derive(Default)]
pub(crate) struct Sources {
    files: RefCell<HashMap<&'static str, Option<Vec<String>>>>,
}

impl Sources {
    fn line(&self, place: Place) -> Option<String> {
        let mut files = self.files.borrow_mut();
        let lines = files.entry(place.file).or_insert_with(|| {
            let text = fs::read_to_string(place.file).ok()?;
            Some(text.lines().map(str::to_owned).collect())
        });
        lines.as_ref()?.get((place.line as usize).checked_sub(1)?).cloned()
    }

    /// The expression of an op at a place; of a cast or a call if there is none.
    pub fn snippet(&self, op: Option<Op>, place: Place) -> Option<Snippet> {
        snippet(op, &self.line(place)?, (place.column as usize).checked_sub(1)?)
    }
}

/// The expression that begins at a character of a line.
fn snippet(op: Option<Op>, line: &str, column: usize) -> Option<Snippet> {
    let (before, _) = line.char_indices().nth(column).map(|(at, _)| line.split_at(at))?;
    let text = &line[before.len()..];
    match op.and_then(symbol) {
        Some(symbol) if matches!(symbol, "!") || text.starts_with(symbol) => prefix(symbol, text),
        Some(symbol) => infix(symbol, text).or_else(|| call(before, text)),
        None => call(before, text),
    }
}

/// The operator of an op.
fn symbol(op: Op) -> Option<&'static str> {
    Some(match op {
        Op::Add => "+",
        Op::Subtract | Op::Negative => "-",
        Op::Multiply => "*",
        Op::Divide => "/",
        Op::Remainder => "%",
        Op::BitwiseAnd => "&",
        Op::BitwiseOr => "|",
        Op::BitwiseXor => "^",
        Op::BitwiseLeftShift => "<<",
        Op::BitwiseRightShift => ">>",
        Op::BitwiseInvert => "!",
        _ => return None,
    })
}

/// How tightly an operator binds; 0 for all that bind less tightly than arithmetic does.
fn precedence(operator: &str) -> u8 {
    match operator {
        "*" | "/" | "%" => 6,
        "+" | "-" => 5,
        "<<" | ">>" => 4,
        "&" => 3,
        "^" => 2,
        "|" => 1,
        _ => 0,
    }
}

/// The binary operators outside brackets, up to the end of the expression: position and text, and that end.
fn operators(text: &str) -> (Vec<(usize, &str)>, usize) {
    const LONG: [&str; 19] = [
        "<<=", ">>=", "<<", ">>", "&&", "||", "==", "!=", "<=", ">=", "->", "=>", "..", "+=", "-=", "*=", "/=", "%=",
        "^=",
    ];
    let mut found = Vec::new();
    let (mut at, mut depth, mut operand) = (0, 0usize, false);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let mut step = c.len_utf8();
        match c {
            '"' => step = quoted(rest),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            ',' | ';' if depth == 0 => break,
            '/' if rest.starts_with("//") => break,
            ':' if rest.starts_with("::<") => step = rest.find('>').map_or(rest.len(), |end| end + 1),
            '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<' | '>' | '=' | '!' if depth == 0 && operand => {
                step = LONG.iter().find(|long| rest.starts_with(**long)).map_or(1, |long| long.len());
                found.push((at, &rest[..step]));
                operand = false;
                at += step;
                continue;
            }
            _ => {}
        }
        if !c.is_whitespace() && !"+-*/&!".contains(c) {
            operand = true;
        }
        at += step;
    }
    (found, at)
}

/// The length of a string literal at the beginning of a text.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// `x * k` of `x * k + 1`: as far as operators bind no less tightly than the last one of ours.
fn infix(symbol: &str, text: &str) -> Option<Snippet> {
    let (operators, end) = operators(text);
    let assigns = |operator: &str| operator.strip_suffix('=') == Some(symbol);
    if let Some(&(at, operator)) = operators.first()
        && assigns(operator)
    {
        return Some(of(&text[..end], &[&text[..at], &text[at + operator.len()..end]]));
    }
    let ours = precedence(symbol);
    let reach = operators.iter().position(|(_, operator)| precedence(operator) < ours).unwrap_or(operators.len());
    let equal: Vec<usize> = (0..reach).filter(|&i| precedence(operators[i].1) == ours).collect();
    let own: Vec<usize> = equal.iter().copied().filter(|&i| operators[i].1 == symbol).collect();
    let last = *own.last()?;
    // The next operator that does not bind more tightly ends our right operand.
    let next = operators[last + 1..].iter().find(|(_, operator)| precedence(operator) <= ours);
    let end = next.map_or(end, |(at, _)| *at);
    let at = operators[last].0;
    match own.len() {
        1 => Some(of(&text[..end], &[&text[..at], &text[at + symbol.len()..end]])),
        // Which of several equal operators it is cannot be told.
        _ => Some(of(&text[..end], &[])),
    }
}

/// `-x` of `-x + 1`.
fn prefix(symbol: &str, text: &str) -> Option<Snippet> {
    let operand = text.strip_prefix(symbol)?;
    let (operators, end) = operators(operand);
    let end = operators.first().map_or(end, |(at, _)| *at);
    Some(of(&text[..symbol.len() + end], &[&operand[..end]]))
}

/// `x.maximum(y)` of a line and the place of `maximum`, or `maximum(x, y)`.
fn call(before: &str, text: &str) -> Option<Snippet> {
    let open = text.find('(')?;
    let name = &text[..open];
    if !name.chars().all(|c| c.is_alphanumeric() || "_:<>!".contains(c)) {
        return None;
    }
    let mut operands: Vec<&str> = Vec::new();
    let mut from = open + 1;
    loop {
        let (_, length) = operators(&text[from..]);
        operands.push(&text[from..from + length]);
        from += length + 1;
        match text[..from.min(text.len())].chars().last()? {
            ',' => {}
            ')' => break,
            _ => return None,
        }
    }
    operands.retain(|operand| !operand.trim().is_empty());
    let Some(receiver) = before.strip_suffix('.').map(receiver) else { return Some(of(&text[..from], &operands)) };
    if receiver.is_empty() {
        return Some(of(&text[..from], &[]));
    }
    operands.insert(0, receiver);
    Some(of(&format!("{receiver}.{}", &text[..from]), &operands))
}

/// What stands before the dot of a method call: names, dots and bracketed parts.
fn receiver(before: &str) -> &str {
    let (mut depth, mut start) = (0usize, before.len());
    for (at, c) in before.char_indices().rev() {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' if depth == 0 => break,
            '(' | '[' => depth -= 1,
            _ if depth > 0 || c.is_alphanumeric() || "_.:?!".contains(c) => {}
            _ => break,
        }
        start = at;
    }
    &before[start..]
}

fn of(text: &str, operands: &[&str]) -> Snippet {
    let operands = operands.iter().map(|operand| operand.trim().to_owned()).collect();
    Snippet { text: text.trim().to_owned(), operands }
}

#[cfg(test)]
mod tests {
    use super::snippet;
    use ndjit_ir::Op;

    /// The expression at the mark `^`, and its operands.
    fn at(op: Option<Op>, marked: &str) -> String {
        let column = marked.chars().position(|c| c == '^').unwrap_or(0);
        match snippet(op, &marked.replacen('^', "", 1), column) {
            Some(found) => format!("{} <{}>", found.text, found.operands.join("|")),
            None => "none".to_owned(),
        }
    }

    #[test]
    fn expressions_reach_as_far_as_their_operator_binds() {
        let all = [
            (Some(Op::Multiply), "let z = ^x * k + 1;"),
            (Some(Op::Add), "let z = ^x * k + 1;"),
            (Some(Op::Multiply), "jit(|x, y| x + ^y * 2)"),
            (Some(Op::Add), "jit(|x, y| ^x + y * 2)"),
            (Some(Op::Add), "^a + b + c"),
            (Some(Op::Subtract), "^a - -b"),
            (Some(Op::Multiply), "^(x + 1) * sin(y, z) / w"),
            (Some(Op::Divide), "^(x + 1) * sin(y, z) / w"),
            (Some(Op::Add), "^x += y * 2;"),
            (Some(Op::Negative), "^-x * y"),
            (Some(Op::BitwiseInvert), "(^!&x, 1)"),
            (Some(Op::Negative), "^x.negative()"),
            (Some(Op::Add), "^add(x, y) * 2"),
            (Some(Op::BitwiseRightShift), "^x >> 2 & y"),
            (Some(Op::Maximum), "jit!(|x, y| x.sin().^maximum(y) + 1)"),
            (Some(Op::Maximum), "^ndjit::maximum(x, f(y, 2))"),
            (Some(Op::Sin), "    .^sin()"),
            (None, "x.^cast(DType::F64) * y"),
            (Some(Op::Add), "^macro_made!"),
            (Some(Op::Add), ""),
        ];
        let found: Vec<String> = all.iter().map(|(op, marked)| at(*op, marked)).collect();
        insta::assert_snapshot!(found.join("\n"), @"");
    }
}
