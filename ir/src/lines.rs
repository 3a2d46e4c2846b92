//! Text whose lines carry the part of the program that they print, for links and comparisons. Printers pass the parts to their
//! sink; sinks for plain text ignore them.

use std::fmt;

/// A printer's output.
pub trait LineSink<P>: fmt::Write {
    /// Sets the part of all lines that end after this call; `None` for no part.
    fn of(&mut self, part: Option<P>);
}

impl<P> LineSink<P> for fmt::Formatter<'_> {
    fn of(&mut self, _part: Option<P>) {}
}

/// A line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine<P> {
    /// The text, without line end.
    pub text: String,
    /// The part of the program that the line prints, if any.
    pub part: Option<P>,
}

/// A sink that keeps the lines.
struct LineKeeper<P> {
    lines: Vec<TextLine<P>>,
    /// The text of the current line.
    open: String,
    part: Option<P>,
}

impl<P: Copy> LineKeeper<P> {
    fn end(&mut self) {
        self.lines.push(TextLine { text: std::mem::take(&mut self.open), part: self.part });
    }
}

impl<P: Copy> fmt::Write for LineKeeper<P> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut parts = text.split('\n');
        self.open += parts.next().unwrap_or_default();
        for part in parts {
            self.end();
            self.open += part;
        }
        Ok(())
    }
}

impl<P: Copy> LineSink<P> for LineKeeper<P> {
    fn of(&mut self, part: Option<P>) {
        self.part = part;
    }
}

/// The printed lines.
pub fn lines<P: Copy>(print: impl FnOnce(&mut dyn LineSink<P>) -> fmt::Result) -> Vec<TextLine<P>> {
    let mut keeper = LineKeeper { lines: Vec::new(), open: String::new(), part: None };
    // Writing to a string cannot fail.
    let _ = print(&mut keeper);
    if !keeper.open.is_empty() {
        keeper.end();
    }
    keeper.lines
}
