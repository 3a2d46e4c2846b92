//! Looking into programs: the lines of each stage, and which operations of the traced program each was made from; a page that shows them
//! side by side ([`explain_html`](crate::Jitted::explain_html)); stages in other forms than text: pictures ([`Lowered::dot`](crate::jit::Lowered::dot), [`svg`](crate::jit::Lowered::svg)), JSON
//! (`json`, with the feature of that name), and [diffs](StageDiff).

pub(crate) mod diff;
#[cfg(feature = "json")]
mod json;

pub use diff::StageDiff;
#[cfg(feature = "json")]
pub use json::{VERSION, graph_from_json};

use ndjit_ir::{Error, ErrorCode};

/// What to say where a function was not called yet.
pub(crate) fn not_called() -> Error {
    Error::new(ErrorCode::Argument, "explain: the function was not called yet")
        .help("call it, or ask for a signature: `f.trace(&[spec(DType::F32, [3])])?.lower()?`")
}
