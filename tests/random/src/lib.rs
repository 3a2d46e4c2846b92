//! Random programs for tests of every engine: deterministic in the seed, on every machine.
//!
//! [`program`] generates a valid traced graph, with arrays and scalars as arguments, that every pass must accept: types follow from the
//! policy, shapes broadcast, every integer literal fits its uses. It covers all ops of the table, casts, all dtypes, weak, strong and
//! per-call scalars, shared, dead and repeated values, calls of child graphs, several outputs, broadcast and empty shapes, and on request
//! nested branches and loops. [`shrink`] reduces a failing program.

#![forbid(unsafe_code)]

mod control;
mod elements;
mod graph;
mod many;
mod masks;
mod movement;
mod shrink;

pub use graph::{Limits, Program, program};
pub use ndjit_math::random::{Rng, special_words, tensor};
pub use shrink::shrink;
