//! Looking into programs: the lines of each stage, and which operations of the traced program each was made from; a page that shows them
//! side by side ([`explain_html`](crate::Jitted::explain_html)); stages in other forms than text: pictures ([`Lowered::dot`](crate::jit::Lowered::dot), [`svg`](crate::jit::Lowered::svg)), JSON
//! (`json`, with the feature of that name), and [diffs](StageDiff).

pub(crate) mod diff;
mod forms;
#[cfg(feature = "json")]
mod json;
pub(crate) mod listing;
mod page;

pub use diff::StageDiff;
pub(crate) use forms::{PictureFormat, not_called, stage, traced};
#[cfg(feature = "json")]
pub(crate) use forms::{stage_json, traced_json};
#[cfg(feature = "json")]
pub use json::{VERSION, graph_from_json};
