//! [`StageDiff`]: a comparison of two stages of a program, or of a stage for two signatures.

use ndjit_inspect::diff::Diff;
use ndjit_inspect::listing::Listing;
use std::fmt;

/// Two texts compared line by line. `Display` prints a unified diff. Values of the second text (`%4`) are renamed to
/// those of the first; values without a counterpart are numbered after the first's last.
///
/// ```
/// use ndjit::{DType, Stage, jit, spec};
///
/// let f = jit(|x, y| x + y * 2);
/// let lowered = f.trace(&[spec(DType::F32, [3]), spec(DType::I8, [])])?.lower()?;
/// let diff = lowered.diff(Stage::Graph, Stage::Typed);
/// assert!(!diff.is_empty());
/// println!("{diff}");
/// # Ok::<(), ndjit::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageDiff(Diff);

impl StageDiff {
    pub(crate) fn new(names: (String, String), old: &Listing, new: &Listing) -> StageDiff {
        StageDiff(Diff::new(names, old, new))
    }

    /// Checks whether the texts are equal, except for numbers of values and places.
    ///
    /// ```
    /// use ndjit::{DType, Stage, jit, spec};
    ///
    /// let f = jit(|x| x + 1);
    /// assert!(f.diff(&[spec(DType::F32, [3])], &[spec(DType::F32, [3])], Stage::Typed)?.is_empty());
    /// # Ok::<(), ndjit::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for StageDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
