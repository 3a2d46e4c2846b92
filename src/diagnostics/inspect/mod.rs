//! Inspection of programs: the lines of each stage, and the traced operations of each; a page with all stages side by
//! side ([`explain_html`](crate::Jitted::explain_html)); drawings ([`Lowered::dot`](crate::jit::Lowered::dot),
//! [`svg`](crate::jit::Lowered::svg)), JSON (feature `json`), and [diffs](StageDiff).

pub(crate) mod diff;
#[cfg(feature = "json")]
mod json;

pub use diff::StageDiff;
#[cfg(feature = "json")]
pub use json::{VERSION, graph_from_json};

use ndjit_ir::{Error, ErrorCode};

/// Returns the error of a function without a call.
pub(crate) fn not_called() -> Error {
    Error::new(ErrorCode::Argument, "explain: the function was not called yet")
        .help("call it, or ask for a signature: `f.trace(&[spec(DType::F32, [3])])?.lower()?`")
}
