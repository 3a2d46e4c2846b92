//! Explanations: why a value has its dtype, from a traced graph and the places its nodes were written at.
//!
//! Nothing here is recorded while tracing. A node holds its policy, its operands and their types; [`Places`](ndjit_ir::graph::Places) says where it was
//! written; so every step can be worked out again, by the policy itself. [`Explanation`] is the chain from a value to the
//! arguments and numbers that decided its dtype, [`Widening`] the first node that needs more bytes than its arrays,
//! [`Conversions`](ndjit_transform::Conversions) says for each cast and number of a typed graph which use asked for it.
//!
//! An [`Explainer`] reads no source: it is given [`Snippet`]s. To it calls are terms of a chain. [`value`] and the like ask about whole programs: they read
//! the source and look into calls.

mod chain;
mod conversion;
mod explainer;
pub mod operations;
mod origin;
mod rule;
pub(crate) mod site;
mod text;
mod typed;
mod whole;
mod widening;

pub use chain::{Explanation, Step};
pub use explainer::Explainer;
pub use origin::{Origin, Term};
pub use rule::{Rule, joining};
pub use site::{ParamSource, Site, Snippet, SourceReader};
pub use typed::{casts, reasons, text as typed_text};
pub use whole::{all, first_widening, inputs, value, widened};
pub use widening::Widening;
