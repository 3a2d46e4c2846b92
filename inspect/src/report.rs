//! Errors for people: with their source line, and a caret below it.

use ndjit_ir::Error;
use std::borrow::Cow;
use std::fmt::Write;

/// The error with this source line. Without a place, no line is shown. A long line is cut around the column.
pub fn in_line(error: &Error, line: &str) -> String {
    let Some(place) = error.place() else { return error.to_string() };
    let number = place.line.to_string();
    let margin = " ".repeat(number.len());
    let (line, before) = around(line, (place.column as usize).saturating_sub(1));
    let before: String = line.chars().take(before).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let mut text = format!("error[{}]: {}\n", error.code(), error.headline());
    let _ = write!(text, "{margin} --> {place}\n {margin} |\n {number} | {}\n {margin} | {before}^", line.trim_end());
    for fact in error.facts() {
        let _ = write!(text, "\n  {fact}");
    }
    if let Some(help) = error.help_text() {
        let _ = write!(text, "\n  help: {help}");
    }
    text
}

/// The maximum number of characters of a shown line.
const WIDEST: usize = 120;

/// The part of a line around a character, and the number of characters before that one.
fn around(line: &str, at: usize) -> (Cow<'_, str>, usize) {
    let length = line.chars().count();
    if length <= WIDEST {
        return (line.into(), at.min(length));
    }
    let shown = WIDEST - 2;
    let start = at.saturating_sub(shown / 2).min(length - shown);
    let part: String = line.chars().skip(start).take(shown).collect();
    let [left, right] = [start > 0, start + shown < length].map(|cut| if cut { "…" } else { "" });
    (format!("{left}{part}{right}").into(), at.min(length) - start + usize::from(start > 0))
}
