//! The problems that a verifier found: a bounded list that becomes one error.

use crate::error::{Error, ErrorCode, Result};

/// Problems listed in one error.
const MAX: usize = 20;

/// Broken invariants, one line each.
#[derive(Default)]
pub(crate) struct Problems(Vec<String>);

impl Problems {
    /// Adds a problem; beyond the limit it is only counted.
    pub(crate) fn note(&mut self, problem: String) {
        if !self.is_full() {
            self.0.push(problem);
        }
    }

    /// Adds the problem of a failed check, with the name of its subject.
    pub(crate) fn check(&mut self, result: Result<(), String>, subject: impl FnOnce() -> String) {
        if let Err(problem) = result {
            self.note(format!("{}  ; {problem}", subject()));
        }
    }

    /// Returns `true` if the list is full.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MAX
    }

    /// Returns `true` if there are no problems.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The result of the verification of a stage.
    pub(crate) fn verdict(self, stage: &str) -> Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let count = if self.is_full() { format!("{MAX} or more") } else { self.0.len().to_string() };
        let plural = if self.0.len() == 1 { "" } else { "s" };
        let error = Error::new(ErrorCode::Verify, format!("{stage}: {count} broken invariant{plural}"));
        Err(self.0.iter().fold(error, Error::fact))
    }
}
