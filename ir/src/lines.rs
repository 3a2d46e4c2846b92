//! Text of which each line says what it prints, for those who link lines or compare them. Printers tell it to the sink that they write to; one
//! that wants the text alone does not listen.

use std::fmt;

/// Where a printer writes.
pub trait LineSink<P>: fmt::Write {
    /// The lines that end from here on print this; `None` for nothing in particular.
    fn of(&mut self, part: Option<P>);
}

impl<P> LineSink<P> for fmt::Formatter<'_> {
    fn of(&mut self, _part: Option<P>) {}
}

/// A line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine<P> {
    /// Its text, without the line's end.
    pub text: String,
    /// What it prints; `None` for nothing in particular.
    pub part: Option<P>,
}

/// A sink that keeps the lines.
struct LineKeeper<P> {
    lines: Vec<TextLine<P>>,
    /// What is written of the next one.
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

/// The lines that are printed.
pub fn lines<P: Copy>(print: impl FnOnce(&mut dyn LineSink<P>) -> fmt::Result) -> Vec<TextLine<P>> {
    let mut keeper = LineKeeper { lines: Vec::new(), open: String::new(), part: None };
    // Writing to a string does not fail.
    let _ = print(&mut keeper);
    if !keeper.open.is_empty() {
        keeper.end();
    }
    keeper.lines
}
