//! Parsing of lines from left to right, with errors that have the line, the column and the expected text.

use crate::error::{Error, ErrorCode, Result};
use std::fmt::Display;

/// The non-empty lines of a text.
pub(crate) struct Lines<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    /// The name of the text's form in errors: `graph text`.
    form: &'static str,
    /// The number of the last line returned.
    last: usize,
    /// A line that was put back.
    back: Option<Line<'a>>,
}

impl<'a> Lines<'a> {
    /// The lines of `text`, of this form.
    pub(crate) fn new(form: &'static str, text: &'a str) -> Lines<'a> {
        Lines { lines: text.lines().enumerate(), form, last: 0, back: None }
    }

    /// The next line; an error if there is none.
    pub(crate) fn expect(&mut self, what: &str) -> Result<Line<'a>> {
        match self.next() {
            Some(line) => Ok(line),
            None => {
                let what = format!("{}, line {}: expected {what}, found the end", self.form, self.last + 1);
                Err(Error::new(ErrorCode::Parse, what))
            }
        }
    }

    /// Puts back the last line; it is the next one again.
    pub(crate) fn put_back(&mut self, line: Line<'a>) {
        self.back = Some(line);
    }

    /// A line with only this token.
    pub(crate) fn expect_only(&mut self, token: &str) -> Result<()> {
        let mut line = self.expect(&format!("`{token}`"))?;
        line.expect(token)?;
        line.end()
    }

    /// Checks that no line is left.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.next().map_or(Ok(()), |mut line| Err(line.expected("the end")))
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if let Some(line) = self.back.take() {
            return Some(line);
        }
        for (index, text) in self.lines.by_ref() {
            self.last = index + 1;
            let mut line = Line::new(self.form, index + 1, text);
            if !line.is_empty() {
                return Some(line);
            }
        }
        None
    }
}

/// A position in one line. Spaces separate tokens; `;` begins a comment.
#[derive(Clone)]
pub(crate) struct Line<'a> {
    form: &'static str,
    number: usize,
    text: &'a str,
    at: usize,
}

impl<'a> Line<'a> {
    /// The line `number` (from 1) with this text, its comment ignored.
    fn new(form: &'static str, number: usize, text: &'a str) -> Line<'a> {
        let text = text.split(';').next().unwrap_or(text).trim_end();
        Line { form, number, text, at: 0 }
    }

    /// The number of this line, from 1.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    fn rest(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or("");
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    /// Returns `true` if nothing is left.
    pub(crate) fn is_empty(&mut self) -> bool {
        self.rest().is_empty()
    }

    /// An error at the current position.
    pub(crate) fn expected(&mut self, what: impl Display) -> Error {
        let rest = self.rest();
        let found = match rest.chars().next() {
            None => "the end of the line".to_owned(),
            Some(_) => format!("`{}`", rest.chars().take(24).collect::<String>().escape_debug()),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    /// An error at the current position with this message.
    pub(crate) fn error(&mut self, what: impl Display) -> Error {
        self.rest();
        let column = self.text.get(..self.at).unwrap_or(self.text).chars().count() + 1;
        Error::new(ErrorCode::Parse, format!("{}, line {}, column {column}: {what}", self.form, self.number))
    }

    /// Consumes `token` if it comes next. A token that ends in a letter must not go on as a longer word.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        let Some(after) = self.rest().strip_prefix(token) else { return false };
        if token.ends_with(is_word) && after.starts_with(is_word) {
            return false;
        }
        self.at += token.len();
        true
    }

    /// Consumes `token`; an error if it does not come next.
    pub(crate) fn expect(&mut self, token: &str) -> Result<()> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(format_args!("`{token}`"))) }
    }

    /// Checks that nothing is left.
    pub(crate) fn end(&mut self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// A word of letters, digits, `_` and `*`; empty if none comes next. Does not move past it.
    pub(crate) fn peek_word(&mut self) -> &'a str {
        self.peek_while(is_word)
    }

    /// The next word, mapped by `read`.
    pub(crate) fn word<T>(&mut self, what: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        let word = self.peek_word();
        let value = read(word).ok_or_else(|| self.expected(what))?;
        self.skip(word);
        Ok(value)
    }

    /// The text up to `end`, or to the end of the line. Does not move past it.
    pub(crate) fn peek_until(&mut self, end: &str) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(end).unwrap_or(rest.len())]
    }

    /// The text up to the first character of another kind. Does not move past it.
    pub(crate) fn peek_while(&mut self, of_the_kind: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find(|c| !of_the_kind(c)).unwrap_or(rest.len())]
    }

    /// Moves past peeked text.
    pub(crate) fn skip(&mut self, text: &str) {
        self.at += text.len();
    }

    /// The text up to the next space.
    pub(crate) fn peek_until_space(&mut self) -> &'a str {
        self.peek_while(|c| !c.is_whitespace())
    }

    /// An unsigned decimal number that fits the type.
    pub(crate) fn number_of<N: std::str::FromStr>(&mut self, what: &str) -> Result<N> {
        let digits = self.peek_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.expected(what));
        }
        let Ok(number) = digits.parse() else { return Err(self.error(format_args!("{digits} is too large"))) };
        self.skip(digits);
        Ok(number)
    }

    /// `prefix` and a `u32`, without a space between them.
    pub(crate) fn id(&mut self, prefix: &str, what: &str) -> Result<u32> {
        let Some(after) = self.rest().strip_prefix(prefix) else { return Err(self.expected(what)) };
        if !after.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.expected(what));
        }
        self.skip(prefix);
        self.number_of(what)
    }

    /// Zero or more items between commas, up to `close`, which is consumed.
    pub(crate) fn list<I>(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Result<I>) -> Result<Vec<I>> {
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

    /// A number with or without a minus sign that fits the type.
    pub(crate) fn signed(&mut self, what: &str) -> Result<isize> {
        if self.eat("-") {
            let size: usize = self.number_of(what)?;
            return 0isize.checked_sub_unsigned(size).ok_or_else(|| self.error(format_args!("-{size} is too small")));
        }
        self.number_of(what)
    }

    /// `prefix` and `number`, which must be the next in order.
    pub(crate) fn numbered(&mut self, prefix: &str, number: usize) -> Result<()> {
        let next = format!("`{prefix}{number}`");
        if self.id(prefix, &next)? as usize != number {
            return Err(self.error(format_args!("numbers are in order: the next one is {next}")));
        }
        Ok(())
    }

    /// One or more items between commas.
    pub(crate) fn items<I>(&mut self, mut item: impl FnMut(&mut Self) -> Result<I>) -> Result<Vec<I>> {
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
