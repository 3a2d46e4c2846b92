//! What is wrong with an expression, and where.

use ndjit::{Error, ErrorCode, Place};
use std::cmp::Reverse;
use std::fmt;

/// The file that places in expressions name; no file can be called so by accident.
pub const FILE: &str = "<expression>";

/// The place of a column.
pub(super) fn place(column: u32) -> Place {
    Place { file: FILE, line: 1, column }
}

/// An error at a column of an expression: what is wrong, and a way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, in one line.
    pub what: String,
    /// The column, from 1.
    pub column: u32,
    /// What there is to know besides, one line each.
    pub facts: Vec<String>,
    /// A way out.
    pub help: Option<String>,
}

impl Problem {
    pub(super) fn new(column: u32, what: impl Into<String>) -> Problem {
        Problem { what: what.into(), column, facts: Vec::new(), help: None }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Problem {
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
        let Problem { what, column, facts, help } = problem;
        let error = facts.iter().fold(Error::new(ErrorCode::Parse, what).at(place(column)), Error::fact);
        match help {
            Some(help) => error.help(help),
            None => error,
        }
    }
}

/// The name that is nearest to one that is not known, if one is near: at most a third of its letters differ, so of one or two letters
/// none.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = name.chars().count() / 3;
    let lower = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, candidate)| (*distance, Reverse(shared(&lower, candidate))))
        .map(|(_, candidate)| candidate)
}

/// How many letters two names begin with alike.
fn shared(a: &str, b: &str) -> usize {
    a.chars().zip(b.to_lowercase().chars()).take_while(|(a, b)| a == b).count()
}

/// How many letters have to be put in, taken out, changed or swapped with their neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let swapped = i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x;
            let changed = last[j] + usize::from(x != y);
            let mut least = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if swapped {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
