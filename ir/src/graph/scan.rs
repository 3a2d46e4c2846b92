//! Reading one line of text from left to right, with errors that say line, column, and what was expected.

use crate::error::{Error, ErrorCode, Result};
use std::fmt::Display;

/// A position in one line. Spaces between tokens do not matter; `;` begins a comment.
pub(super) struct Line<'a> {
    number: usize,
    text: &'a str,
    at: usize,
}

impl<'a> Line<'a> {
    /// The line `number` (from 1) with this text, its comment ignored.
    pub(super) fn new(number: usize, text: &'a str) -> Line<'a> {
        let text = text.split(';').next().unwrap_or(text).trim_end();
        Line { number, text, at: 0 }
    }

    /// The number of this line, from 1.
    pub(super) fn number(&self) -> usize {
        self.number
    }

    fn rest(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or("");
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&mut self) -> bool {
        self.rest().is_empty()
    }

    /// An error at the current position.
    pub(super) fn expected(&mut self, what: impl Display) -> Error {
        let rest = self.rest();
        let found = match rest.chars().next() {
            None => "the end of the line".to_owned(),
            Some(_) => format!("`{}`", rest.chars().take(24).collect::<String>().escape_debug()),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    /// An error at the current position that says what is wrong.
    pub(super) fn error(&mut self, what: impl Display) -> Error {
        self.rest();
        let column = self.text.get(..self.at).unwrap_or(self.text).chars().count() + 1;
        Error::new(ErrorCode::Parse, format!("graph text, line {}, column {column}: {what}", self.number))
    }

    /// Eats `token` if it comes next. A token that ends in a letter must not go on as a longer word.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let Some(after) = self.rest().strip_prefix(token) else { return false };
        if token.ends_with(is_word) && after.starts_with(is_word) {
            return false;
        }
        self.at += token.len();
        true
    }

    /// Eats `token`.
    pub(super) fn expect(&mut self, token: &str) -> Result<()> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(format_args!("`{token}`"))) }
    }

    /// Nothing may be left.
    pub(super) fn end(&mut self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// A word of letters, digits, `_` and `*`; empty if none comes next. Does not move past it.
    pub(super) fn peek_word(&mut self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())]
    }

    /// Everything up to `end`, or to the end of the line. Does not move past it.
    pub(super) fn peek_until(&mut self, end: &str) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(end).unwrap_or(rest.len())]
    }

    /// Moves past text that was peeked at.
    pub(super) fn skip(&mut self, text: &str) {
        self.at += text.len();
    }

    /// Everything up to the next space.
    pub(super) fn peek_until_space(&mut self) -> &'a str {
        let rest = self.rest();
        rest.split_whitespace().next().unwrap_or("")
    }

    /// An unsigned decimal number that fits the type.
    pub(super) fn number_of<N: std::str::FromStr>(&mut self, what: &str) -> Result<N> {
        let rest = self.rest();
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        if digits.is_empty() {
            return Err(self.expected(what));
        }
        let Ok(number) = digits.parse() else { return Err(self.error(format_args!("{digits} is too large"))) };
        self.skip(digits);
        Ok(number)
    }

    /// `prefix` and a `u32`, without a space between them.
    pub(super) fn id(&mut self, prefix: &str, what: &str) -> Result<u32> {
        let Some(after) = self.rest().strip_prefix(prefix) else { return Err(self.expected(what)) };
        if !after.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.expected(what));
        }
        self.skip(prefix);
        self.number_of(what)
    }

    /// Zero or more items between commas, up to `close`, which is eaten.
    pub(super) fn list<I>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Result<I>) -> Result<Vec<I>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            if !self.eat(",") {
                return Err(self.expected(format_args!("`,` or `{close}`")));
            }
        }
    }

    /// One or more items between commas.
    pub(super) fn items<I>(&mut self, mut item: impl FnMut(&mut Self) -> Result<I>) -> Result<Vec<I>> {
        let mut items = vec![item(self)?];
        while self.eat(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '*')
}
