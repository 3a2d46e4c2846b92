//! Places in the user's source.

use crate::lock::Mutex;
use std::collections::BTreeSet;
use std::fmt;
use std::panic::Location;

/// The names of files that the compiler did not record: kept forever, since places are `Copy`.
static FILES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
/// The maximum length of these names in all.
const FILE_NAMES: usize = 1 << 20;

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

    /// A file's name for places of any text. Names are kept for the life of the process: `None` if they take more than 1 MiB.
    ///
    /// ```
    /// use ndjit_ir::SourceLoc;
    ///
    /// let name = String::from("model.py");
    /// assert_eq!(SourceLoc::file(&name), Some("model.py"));
    /// ```
    pub fn file(name: &str) -> Option<&'static str> {
        let mut files = FILES.lock();
        if let Some(known) = files.get(name) {
            return Some(known);
        }
        let kept = files.iter().map(|name| name.len()).sum::<usize>();
        if kept.saturating_add(name.len()) > FILE_NAMES {
            return None;
        }
        let kept: &'static str = Box::leak(name.into());
        files.insert(kept);
        Some(kept)
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
