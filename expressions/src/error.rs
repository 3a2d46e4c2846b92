//! Errors of expressions, with columns.

use ndjit::{Error, ErrorCode, SourceLoc};
use std::fmt;

/// The place of a column.
pub(crate) fn place(column: u32) -> SourceLoc {
    SourceLoc::in_expression(column)
}

/// An error at a column of an expression, with help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The error code.
    pub code: ErrorCode,
    /// The headline.
    pub what: String,
    /// The column, from 1.
    pub column: u32,
    /// Further facts, one line each.
    pub facts: Vec<String>,
    /// The help.
    pub help: Option<String>,
}

impl Problem {
    pub(crate) fn new(column: u32, what: impl Into<String>) -> Problem {
        Problem { code: ErrorCode::Parse, what: what.into(), column, facts: Vec::new(), help: None }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Problem {
        Problem { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.what)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl std::error::Error for Problem {}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Error {
        let Problem { code, what, column, facts, help } = problem;
        let error = facts.iter().fold(Error::new(code, what).at(place(column)), Error::fact);
        match help {
            Some(help) => error.help(help),
            None => error,
        }
    }
}
