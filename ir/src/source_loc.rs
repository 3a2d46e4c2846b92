//! Places in the user's source.

use std::fmt;
use std::panic::Location;

/// A source location: file, line and column of the call, as the compiler recorded it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLoc {
    /// File, as passed to the compiler.
    pub file: &'static str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl SourceLoc {
    /// The file of places in expressions, which are texts of one line without a file: the name differs from any real file's.
    pub const EXPRESSION: &'static str = "<expression>";

    /// A column of an expression, from 1.
    pub const fn in_expression(column: u32) -> SourceLoc {
        SourceLoc { file: SourceLoc::EXPRESSION, line: 1, column }
    }

    /// Whether it is a place in an expression.
    pub fn is_in_expression(&self) -> bool {
        self.file == SourceLoc::EXPRESSION
    }

    /// The place of the caller of the nearest `#[track_caller]` function.
    #[track_caller]
    pub fn caller() -> SourceLoc {
        SourceLoc::from(Location::caller())
    }
}

impl From<&'static Location<'static>> for SourceLoc {
    fn from(at: &'static Location<'static>) -> SourceLoc {
        SourceLoc { file: at.file(), line: at.line(), column: at.column() }
    }
}

impl fmt::Display for SourceLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_in_expression() {
            true => write!(f, "column {}", self.column),
            false => write!(f, "{}:{}:{}", self.file, self.line, self.column),
        }
    }
}

impl fmt::Debug for SourceLoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
