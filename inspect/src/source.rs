//! The user's source: the line of a place, and the expression at its start.
//!
//! An expression is found by syntax, without types: from the place, up to the limit of the operator's precedence or of the
//! call's parentheses, within the line. Ambiguities give no result; only messages depend on it.

use crate::explain::site::{Site, Snippet};
use ndjit_ir::reduction::AxisFunction;
use ndjit_ir::{Op, SourceLoc};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The line of a place, if the file is readable.
pub fn line(place: SourceLoc) -> Option<String> {
    Sources::default().line(place)
}

/// The source text of an operation's operands, if it is unambiguous.
pub fn operands(site: Site) -> Option<Vec<String>> {
    let line = line(site.place)?;
    let (at, _) = line.char_indices().nth((site.place.column as usize).checked_sub(1)?)?;
    let (before, text) = line.split_at(at);
    let mut found = candidates(before, text).into_iter().filter(|(form, _)| form.is(site.what, site.op));
    let (form, snippet) = found.next()?;
    let snippet = of_site(site, &form, snippet);
    let all = site.op.is_none_or(|op| snippet.operands.len() == op.arity());
    (found.next().is_none() && all).then_some(snippet.operands)
}

/// The source text of a call's arguments, in `f.call((&x, &y))` or `f(&x, &y)`.
pub fn arguments(place: SourceLoc) -> Option<Vec<String>> {
    let line = line(place)?;
    let (at, _) = line.char_indices().nth((place.column as usize).checked_sub(1)?)?;
    passed(&line[at..])
}

/// The same, for the text of a call.
fn passed(text: &str) -> Option<Vec<String>> {
    let (name, _, arguments) = call(text)?;
    // Their argument is one tuple.
    let tuple = match name {
        "call" | "call_into" => format!("tuple{}", arguments.first()?.trim()),
        _ => text.to_owned(),
    };
    let (_, _, elements) = call(&tuple)?;
    Some(elements.into_iter().map(|element| element.trim().to_owned()).collect())
}

/// A text as the receiver of a method: without `&`, in parentheses if needed.
pub fn receiver_of(text: &str) -> String {
    let text = text.trim_start_matches('&');
    if is_term(text) { text.to_owned() } else { format!("({text})") }
}

/// A text as the argument of a function: without enclosing parentheses.
pub fn argument_of(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { return text };
    let mut depth = 0i32;
    let closes = inner.chars().any(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth < 0
    });
    if closes { text } else { inner }
}

/// Whether a method can follow a text without parentheses: it has operators only inside brackets.
fn is_term(text: &str) -> bool {
    let mut depth = 0usize;
    text.chars().all(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0 || !matches!(c, '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<' | '>' | '!' | ' ')
    })
}

/// The text of a file with a path relative to the workspace: tests run in the folder of their package, which may be below.
fn text(file: &Path) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().take(WORKSPACE).find_map(|folder| fs::read_to_string(folder.join(file)).ok())
}

/// The maximum depth of a package in its workspace.
const WORKSPACE: usize = 4;

/// Cached files.
#[derive(Default)]
pub struct Sources {
    files: RefCell<HashMap<&'static str, Option<Vec<String>>>>,
}

impl Sources {
    fn line(&self, place: SourceLoc) -> Option<String> {
        self.numbered(place.file, place.line as usize)
    }

    /// A line of a file, counted from 1.
    pub fn numbered(&self, file: &'static str, number: usize) -> Option<String> {
        let mut files = self.files.borrow_mut();
        let lines = files.entry(file).or_insert_with(|| {
            let text = text(Path::new(file))?;
            Some(text.lines().map(str::to_owned).collect())
        });
        lines.as_ref()?.get(number.checked_sub(1)?).cloned()
    }

    /// The source text of an operation.
    pub fn snippet(&self, site: Site) -> Option<Snippet> {
        snippet(site, &self.line(site.place)?, (site.place.column as usize).checked_sub(1)?)
    }
}

/// The expression of an operation at a character of a line: among several the one with `nested` others inside.
fn snippet(site: Site, line: &str, column: usize) -> Option<Snippet> {
    let (before, text) = line.char_indices().nth(column).map(|(at, _)| line.split_at(at))?;
    let mut ours = candidates(before, text);
    ours.retain(|(form, _)| form.is(site.what, site.op));
    let unsure = ours.len() > 1 && site.nested >= ours.len();
    let at = site.nested.min(ours.len().checked_sub(1)?);
    let (form, snippet) = ours.swap_remove(at);
    let snippet = of_site(site, &form, snippet);
    Some(if unsure { Snippet { operands: Vec::new(), ..snippet } } else { snippet })
}

/// The snippet with only the array as the operand of a reduction: axes are not operands. It is the first argument of a
/// function, the receiver of a method with one argument, and the first argument of one with two, as in `dtype(d).sum(&x, 0)`.
fn of_site(site: Site, form: &Notation<'_>, snippet: Snippet) -> Snippet {
    if site.what.parse::<AxisFunction>().is_err() {
        return snippet;
    }
    let array = usize::from(matches!(form, Notation::Method) && snippet.operands.len() == 3);
    let operands = snippet.operands.into_iter().skip(array).take(1).collect();
    Snippet { operands, ..snippet }
}

/// The notation of an operation.
enum Notation<'a> {
    Prefix(&'a str),
    Infix(&'a str),
    /// A function, by its path.
    Function(&'a str),
    Method,
}

impl Notation<'_> {
    fn is(&self, what: &str, op: Option<Op>) -> bool {
        let spelled = |operator: &str, arity| op.is_some_and(|op| op.arity() == arity && symbol(op) == Some(operator));
        match *self {
            Notation::Prefix(operator) => spelled(operator, 1),
            Notation::Infix(operator) => spelled(operator.strip_suffix('=').unwrap_or(operator), 2),
            // `where` is spelled `where_`.
            Notation::Function(path) => {
                path.rsplit(':').next().is_some_and(|name| name.strip_suffix('_').unwrap_or(name) == what)
            }
            // Methods have other names too; no other expression starts at a method's name.
            Notation::Method => true,
        }
    }
}

/// The operations at the start of a text, the innermost first.
fn candidates<'a>(before: &'a str, text: &'a str) -> Vec<(Notation<'a>, Snippet)> {
    if let Some(before) = before.strip_suffix('.') {
        return method(before, text).into_iter().map(|snippet| (Notation::Method, snippet)).collect();
    }
    let mut levels = vec![text];
    while let Some(inner) = levels.last().and_then(|text| text.strip_prefix('(')) {
        levels.push(inner);
    }
    let begins = |(depth, text): (usize, &&'a str)| {
        let text = *text;
        level(text).into_iter().filter(move |(_, snippet)| is_enclosed(text, &snippet.text, depth))
    };
    levels.iter().enumerate().rev().flat_map(begins).collect()
}

/// Whether an expression at the start of a text is closed by this many parentheses. For the compiler it begins with the
/// outermost parentheses around it only: `(x + y) * z` and its `x + y` at one place, in `((x + y) * z) / w` not.
fn is_enclosed(text: &str, expression: &str, depth: usize) -> bool {
    let after = text.trim_start().get(expression.len()..).unwrap_or_default();
    after.chars().filter(|c| !c.is_whitespace()).take(depth).filter(|c| *c == ')').count() == depth
}

/// The operations at the start of a text, except those inside its first parentheses.
fn level(text: &str) -> Vec<(Notation<'_>, Snippet)> {
    let (operators, end) = operators(text);
    let mut found = Vec::new();
    let first = operators.first().map_or(end, |(at, _)| *at);
    for symbol in ["-", "!"] {
        if let Some(operand) = text[..first].strip_prefix(symbol) {
            found.push((Notation::Prefix(symbol), of(&text[..first], &[operand])));
        }
    }
    if let Some((path, length, arguments)) = call(text)
        && length <= first
    {
        found.push((Notation::Function(path), of(&text[..length], &arguments)));
    }
    let mut loosest = u8::MAX;
    for (i, &(at, operator)) in operators.iter().enumerate() {
        let assigns = i == 0 && operator.len() > 1 && precedence(operator) == 0 && operator.ends_with('=');
        let binds = precedence(operator);
        if binds == 0 && !assigns {
            break;
        }
        if binds > loosest {
            continue;
        }
        loosest = binds;
        let next = operators[i + 1..].iter().find(|(_, operator)| precedence(operator) <= binds && !assigns);
        let end = next.map_or(end, |(at, _)| *at);
        found.push((Notation::Infix(operator), of(&text[..end], &[&text[..at], &text[at + operator.len()..end]])));
        if assigns {
            break;
        }
    }
    found
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

/// The precedence of an operator; 0 for all below arithmetic.
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

/// The binary operators outside brackets, up to the end of the expression: offset and text, and that end.
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
            // The sign of an exponent.
            '+' | '-' if text[..at].ends_with(['e', 'E']) && number_before(&text[..at - 1]) => {}
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

/// Whether a text ends with a number.
fn number_before(text: &str) -> bool {
    let word = text.rsplit(|c: char| !c.is_alphanumeric() && c != '.' && c != '_').next().unwrap_or_default();
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// The length of a string literal at the start of a text.
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

/// The path, length and arguments of a call at the start of a text.
fn call(text: &str) -> Option<(&str, usize, Vec<&str>)> {
    let open = text.find('(')?;
    let path = &text[..open];
    if path.is_empty() || !path.chars().all(|c| c.is_alphanumeric() || "_:<>".contains(c)) {
        return None;
    }
    let mut arguments: Vec<&str> = Vec::new();
    let mut from = open + 1;
    loop {
        let (_, length) = operators(&text[from..]);
        arguments.push(&text[from..from + length]);
        let stop = text[from + length..].chars().next()?;
        from += length + 1;
        match stop {
            ',' => {}
            ')' => break,
            _ => return None,
        }
    }
    arguments.retain(|argument| !argument.trim().is_empty());
    Some((path, from, arguments))
}

/// `x.maximum(y)`, from the text before the dot and the text of `maximum`.
fn method(before: &str, text: &str) -> Option<Snippet> {
    let (_, length, mut operands) = call(text)?;
    let receiver = receiver(before);
    if receiver.is_empty() {
        return Some(of(&text[..length], &[]));
    }
    operands.insert(0, receiver);
    Some(of(&format!("{receiver}.{}", &text[..length]), &operands))
}

/// The receiver of a method call: names, dots and bracketed parts.
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
    use crate::explain::site::Site;
    use ndjit_ir::{Op, SourceLoc};

    /// The expression at the mark `^`, and its operands.
    fn at(op: Option<Op>, nested: usize, marked: &str) -> String {
        at_site(
            Site {
                nested,
                ..op.map_or(Site::of("cast", SourceLoc::caller()), |op| Site::of_op(op, SourceLoc::caller()))
            },
            marked,
        )
    }

    fn at_site(site: Site, marked: &str) -> String {
        let column = marked.chars().position(|c| c == '^').unwrap_or(0);
        match snippet(site, &marked.replacen('^', "", 1), column) {
            Some(found) => format!("{} <{}>", found.text, found.operands.join("|")),
            None => "none".to_owned(),
        }
    }

    #[test]
    fn expressions_reach_as_far_as_their_operator_binds() {
        let all = [
            (Some(Op::Multiply), 0, "let z = ^x * k + 1;"),
            (Some(Op::Add), 0, "let z = ^x * k + 1;"),
            (Some(Op::Multiply), 0, "jit(|x, y| x + ^y * 2)"),
            (Some(Op::Add), 0, "jit(|x, y| ^x + y * 2)"),
            (Some(Op::Subtract), 0, "^a - -b"),
            (Some(Op::Multiply), 0, "^(x + 1) * sin(y, z) / w"),
            (Some(Op::Divide), 0, "^(x + 1) * sin(y, z) / w"),
            (Some(Op::Add), 0, "^x += y * 2;"),
            (Some(Op::Negative), 0, "^-x * y"),
            (Some(Op::BitwiseInvert), 0, "(^!&x, 1)"),
            (Some(Op::Add), 0, "^add(x, y) * 2"),
            (Some(Op::Multiply), 0, "^add(x, y) * 2"),
            (Some(Op::BitwiseRightShift), 0, "^x >> 2 & y"),
            (Some(Op::BitwiseAnd), 0, "^x >> 2 & y"),
            (Some(Op::Multiply), 0, "^x * 1e-3 - y"),
            (Some(Op::Where), 0, "^ndjit::where_(c, f(y, \")\"), 2)"),
        ];
        let found: Vec<String> = all.iter().map(|(op, nested, marked)| at(*op, *nested, marked)).collect();
        let expected = [
            "x * k <x|k>",
            "x * k + 1 <x * k|1>",
            "y * 2 <y|2>",
            "x + y * 2 <x|y * 2>",
            "a - -b <a|-b>",
            "(x + 1) * sin(y, z) <(x + 1)|sin(y, z)>",
            "(x + 1) * sin(y, z) / w <(x + 1) * sin(y, z)|w>",
            "x += y * 2 <x|y * 2>",
            "-x <x>",
            "!&x <&x>",
            "add(x, y) <x|y>",
            "add(x, y) * 2 <add(x, y)|2>",
            "x >> 2 <x|2>",
            "x >> 2 & y <x >> 2|y>",
            "x * 1e-3 <x|1e-3>",
            r#"ndjit::where_(c, f(y, ")"), 2) <c|f(y, ")")|2>"#,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn arguments_of_calls_are_found() {
        let all = [
            "call((&x, &y + 1))?",
            "call((&x,))",
            "f(&x, g(a, b))",
            "call_into((&dx, [1, 2]), &mut out)",
            "call(args)",
            "x + y",
        ];
        let found: Vec<String> =
            all.iter().map(|text| super::passed(text).map_or("none".to_owned(), |found| found.join("|"))).collect();
        let expected = ["&x|&y + 1", "&x", "&x|g(a, b)", "&dx|[1, 2]", "none", "none"];
        assert_eq!(found, expected);
        assert_eq!([super::receiver_of("&x"), super::receiver_of("x + 1")], ["x", "(x + 1)"]);
        assert_eq!(["&x", "(x + 1)", "(x) + (1)"].map(super::argument_of), ["&x", "x + 1", "(x) + (1)"]);
    }

    #[test]
    fn nested_expressions_begin_at_one_place() {
        let all = [
            (Some(Op::Add), 0, "^a + b + c"),
            (Some(Op::Add), 1, "^a + b + c"),
            (Some(Op::Add), 0, "^((a + b) * c) + d;"),
            (Some(Op::Add), 0, "(^(a + b) * c) + d;"),
            (Some(Op::Multiply), 0, "^((a + b) * c) + d;"),
            (Some(Op::Add), 0, "^((a + b)) * c + d;"),
            (Some(Op::Add), 1, "^((a + b)) * c + d;"),
            // In a loop, the two are ambiguous.
            (Some(Op::Multiply), 2, "x = ^x * 2 * y"),
            (Some(Op::Multiply), 64, "x = ^x * 2 + y"),
        ];
        let found: Vec<String> = all.iter().map(|(op, nested, marked)| at(*op, *nested, marked)).collect();
        let expected = [
            "a + b <a|b>",
            "a + b + c <a + b|c>",
            "((a + b) * c) + d <((a + b) * c)|d>",
            "a + b <a|b>",
            "(a + b) * c <(a + b)|c>",
            "a + b <a|b>",
            "((a + b)) * c + d <((a + b)) * c|d>",
            "x * 2 * y <>",
            "x * 2 <x|2>",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn methods_begin_at_their_names() {
        let all = [
            (Some(Op::Maximum), "jit!(|x, y| x.sin().^maximum(y) + 1)"),
            (Some(Op::Negative), "x.^negative() - 1"),
            (Some(Op::Greater), "a + f(b)[0].^gt(2)"),
            (Some(Op::Sin), "    .^sin()"),
            (None, "x.^cast(DType::F64) * y"),
        ];
        let found: Vec<String> = all.iter().map(|(op, marked)| at(*op, 0, marked)).collect();
        let expected = [
            "x.sin().maximum(y) <x.sin()|y>",
            "x.negative() <x>",
            "f(b)[0].gt(2) <f(b)[0]|2>",
            "sin() <>",
            "x.cast(DType::F64) <x|DType::F64>",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_cannot_be_told_is_left_out() {
        for (op, marked) in [
            (Some(Op::Add), "^macro_made!"),
            (Some(Op::Add), ""),
            (Some(Op::Add), "^x * y"),
            (Some(Op::Sin), "^helper(x)"),
            (Some(Op::Sin), "^sin(x,"),
            (None, "^x + y"),
            (Some(Op::Multiply), "^é"),
            (Some(Op::Add), "^(((("),
            (Some(Op::Add), "^\""),
        ] {
            assert_eq!(at(op, 0, marked), "none", "{marked}");
        }
    }
}
