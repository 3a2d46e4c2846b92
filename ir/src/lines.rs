//! Text whose lines carry the part of the program that they print, and their values and notes, for links and comparisons.
//! Printers pass them to their sink; sinks for plain text ignore them.

use crate::graph::Value;
use std::fmt;
use std::ops::Range;

/// A printer's output.
pub trait LineSink<P>: fmt::Write {
    /// Sets the part of all lines that end after this call; `None` for no part.
    fn of(&mut self, _part: Option<P>) {}

    /// Begins a span of the current line.
    fn begin(&mut self, _kind: SpanKind) {}

    /// Ends the span, in the line in which it began.
    fn end(&mut self) {}
}

impl<P> LineSink<P> for fmt::Formatter<'_> {}

impl<P> LineSink<P> for String {}

/// The kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// The definition of a value.
    Definition(Value),
    /// The use of a value.
    Use(Value),
    /// The types of the line's definitions, with their separator.
    Types,
    /// A comment after the line's code, with the space before it.
    Note,
}

/// A span of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineSpan {
    /// Its bytes.
    pub range: Range<usize>,
    /// Its kind.
    pub kind: SpanKind,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine<P> {
    /// The text, without line end.
    pub text: String,
    /// The part of the program that the line prints, if any.
    pub part: Option<P>,
    /// Its spans, in order and apart.
    pub spans: Vec<LineSpan>,
}

/// A sink that keeps the lines.
struct LineKeeper<P> {
    lines: Vec<TextLine<P>>,
    /// The text of the current line.
    open: String,
    part: Option<P>,
    /// The spans of the current line, and the start of the open one.
    spans: Vec<LineSpan>,
    begun: Option<(usize, SpanKind)>,
}

impl<P: Copy> LineKeeper<P> {
    fn end_line(&mut self) {
        let (text, spans) = (std::mem::take(&mut self.open), std::mem::take(&mut self.spans));
        self.lines.push(TextLine { text, part: self.part, spans });
    }
}

impl<P: Copy> fmt::Write for LineKeeper<P> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut parts = text.split('\n');
        self.open += parts.next().unwrap_or_default();
        for part in parts {
            self.end_line();
            self.open += part;
        }
        Ok(())
    }
}

impl<P: Copy> LineSink<P> for LineKeeper<P> {
    fn of(&mut self, part: Option<P>) {
        self.part = part;
    }

    fn begin(&mut self, kind: SpanKind) {
        self.begun = Some((self.open.len(), kind));
    }

    fn end(&mut self) {
        if let Some((start, kind)) = self.begun.take() {
            self.spans.push(LineSpan { range: start..self.open.len(), kind });
        }
    }
}

/// The printed lines.
pub fn lines<P: Copy>(print: impl FnOnce(&mut dyn LineSink<P>) -> fmt::Result) -> Vec<TextLine<P>> {
    let mut keeper = LineKeeper { lines: Vec::new(), open: String::new(), part: None, spans: Vec::new(), begun: None };
    // Writing to a string cannot fail.
    let _ = print(&mut keeper);
    if !keeper.open.is_empty() {
        keeper.end_line();
    }
    keeper.lines
}
