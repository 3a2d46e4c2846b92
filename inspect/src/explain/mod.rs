//! Explanations of dtypes, from a traced graph and its nodes' places.
//!
//! Tracing records nothing for this. A node has its policy, its operands and their types, [`SourceLocs`](ndjit_ir::graph::SourceLocs) has its
//! source location, so every step can be rederived from the policy. [`Explanation`] is the chain from a value to the arguments and scalars
//! that determined its dtype, [`Widening`] the first node whose result is wider than its arrays, and
//! [`Conversions`](ndjit_transform::Conversions) the use that required each cast and scalar of a typed graph.
//!
//! An [`Explainer`] is given [`Snippet`]s, and treats calls as terms of a chain. Functions for whole programs, such as [`value`], read the
//! source and expand calls.

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
