//! Error reports with the source line.

use ndjit_inspect::source;
use ndjit_ir::Error;

/// Formats an error with its source line and a caret below, if the file is readable. Panics of ndjit's functions have
/// this text.
///
/// ```text
/// error[shape]: add: shapes [2] and [3] do not broadcast
///   --> src/main.rs:4:13
///    |
///  4 |     let z = x + y;
///    |             ^
///   x: f32[2]
///   y: f32[3]
///   help: …
/// ```
pub fn report(error: &Error) -> String {
    match error.place().and_then(source::line) {
        Some(line) => report_in(error, &line),
        None => error.to_string(),
    }
}

/// Formats an error like [`report`], with the given source line, for front ends whose text is in no file. An error
/// without a place has no line. A long line is cut to the part around the column.
///
/// ```
/// use ndjit::{Error, ErrorCode, SourceLoc, report_in};
/// let place = SourceLoc { file: "<formula>", line: 1, column: 3 };
/// let text = report_in(&Error::new(ErrorCode::Parse, "no operand").at(place), "x + ");
/// assert_eq!(text, "error[parse]: no operand\n  --> <formula>:1:3\n   |\n 1 | x +\n   |   ^");
/// ```
pub fn report_in(error: &Error, line: &str) -> String {
    ndjit_inspect::report::in_line(error, line)
}
