//! The tokens of an expression, each with its column.

use crate::error::Problem;
use crate::node::ExprNumber;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Number(ExprNumber),
    Name(String),
    /// A string between quotes.
    Text(String),
    /// An operator or a bracket.
    Symbol(&'static str),
    End,
}

/// A token and its first column, counted from 1.
#[derive(Clone, Debug)]
pub(crate) struct PlacedToken {
    pub token: Token,
    pub column: u32,
}

/// All symbols, longer ones before their prefixes.
const SYMBOLS: [&str; 33] = [
    "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", ":=", "+", "-", "*", "/", "%", "&", "|",
    "^", "~", "<", ">", "(", ")", "[", "]", ",", ":", ".", "=", "@",
];

/// Splits a text into tokens, ended by [`Token::End`].
pub(crate) fn words(text: &str) -> Result<Vec<PlacedToken>, Problem> {
    let mut words = Vec::new();
    let (mut rest, mut column) = (text, 1u32);
    loop {
        let trimmed = rest.trim_start();
        column += columns(&rest[..rest.len() - trimmed.len()]);
        rest = trimmed;
        let Some(first) = rest.chars().next() else {
            words.push(PlacedToken { token: Token::End, column });
            return Ok(words);
        };
        let begins_number =
            first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()));
        let (token, length) = if begins_number {
            number(rest, column)?
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            (Token::Name(rest[..length].to_owned()), length)
        } else if matches!(first, '\'' | '"') {
            let text = &rest[1..];
            let length = text.find(first).ok_or_else(|| {
                Problem::new(column, "a text that does not end").help(format!("close it: `{first}float32{first}`"))
            })?;
            (Token::Text(text[..length].to_owned()), length + 2)
        } else {
            let symbol =
                SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)).ok_or_else(|| unknown(first, column))?;
            (Token::Symbol(symbol), symbol.len())
        };
        words.push(PlacedToken { token, column });
        column += columns(&rest[..length]);
        rest = &rest[length..];
    }
}

/// The number of columns of a text: its characters.
fn columns(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

fn unknown(character: char, column: u32) -> Problem {
    let shown = if character.is_control() { character.escape_default().to_string() } else { character.to_string() };
    let problem = Problem::new(column, format!("`{shown}` means nothing here"));
    match character {
        '!' => problem.help("not is written `~x` of bools, or `logical_not(x)`"),
        ';' | '\\' | '`' | '{' | '}' | '?' | '$' => {
            problem.help("one expression of names, numbers, operators and calls")
        }
        '×' | '·' => problem.help("write `*`"),
        '÷' => problem.help("write `/`"),
        '−' | '–' => problem.help("write `-`, the minus of the keyboard"),
        _ => problem,
    }
}

/// The number at the start of a text, and its length.
fn number(text: &str, column: u32) -> Result<(Token, usize), Problem> {
    let digits = |from: usize| {
        let end = text[from..].find(|c: char| !c.is_ascii_digit() && c != '_');
        end.map_or(text.len(), |end| from + end)
    };
    let radix = match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 16,
        Some("0b") => 2,
        Some("0o") => 8,
        _ => 10,
    };
    if radix != 10 {
        let end = text[2..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(text.len(), |end| end + 2);
        let value = i128::from_str_radix(&text[2..end].replace('_', ""), radix);
        let value = value.map_err(|_| wrong(&text[..end], column))?;
        return Ok((Token::Number(ExprNumber::Int(in_range(value, column)?)), end));
    }
    let mut end = digits(0);
    let mut is_float = false;
    if text[end..].starts_with('.') {
        is_float = true;
        end = digits(end + 1);
    }
    if let Some(after) = text[end..].strip_prefix(['e', 'E']) {
        let sign = usize::from(after.starts_with(['+', '-']));
        if after[sign..].starts_with(|c: char| c.is_ascii_digit()) {
            is_float = true;
            end = digits(end + 1 + sign);
        }
    }
    let plain = text[..end].replace('_', "");
    let after = &text[end..];
    if after.starts_with(['j', 'J']) && !after[1..].starts_with(|c: char| c.is_alphanumeric() || c == '_') {
        let value: f64 = plain.parse().map_err(|_| wrong(&text[..end], column))?;
        if value.is_infinite() {
            return Err(Problem::new(column, format!("`{plain}` is more than any float")));
        }
        return Ok((Token::Number(ExprNumber::Imaginary(value)), end + 1));
    }
    if let Some(letter) = after.chars().next().filter(|c| c.is_alphabetic() || *c == '_') {
        let problem = Problem::new(column, format!("a number and a name without an operator: `{plain}{letter}…`"));
        return Err(problem.help(format!("write `{plain} * {letter}…`")));
    }
    let number = if is_float {
        let value: f64 = plain.parse().map_err(|_| wrong(&text[..end], column))?;
        if value.is_infinite() {
            return Err(
                Problem::new(column, format!("`{plain}` is more than any float")).help("infinity is written `inf`")
            );
        }
        ExprNumber::Float(value)
    } else {
        ExprNumber::Int(in_range(plain.parse().map_err(|_| too_large(column))?, column)?)
    };
    Ok((Token::Number(number), end))
}

fn in_range(value: i128, column: u32) -> Result<i128, Problem> {
    if value <= i128::from(u64::MAX) { Ok(value) } else { Err(too_large(column)) }
}

fn too_large(column: u32) -> Problem {
    Problem::new(column, "an integer of more than 64 bits").help("write it as a float: `1e30`")
}

fn wrong(text: &str, column: u32) -> Problem {
    Problem::new(column, format!("`{text}` is not a number"))
}
