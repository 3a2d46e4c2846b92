//! The outcomes of inputs.

/// The outcome of an input, in words: an input with a new outcome is kept.
pub type Outcome = String;
