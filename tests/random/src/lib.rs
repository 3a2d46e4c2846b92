//! Random programs for tests of every engine: the same seed gives the same program, on every machine.
//!
//! [`program`] makes a well-formed traced graph, with arrays and numbers to call it with, such that no pass may refuse it:
//! types follow from the policy, shapes broadcast, every integer literal fits where it is used. It covers all ops of the
//! table, casts, all dtypes, weak, strong and per-call numbers, shared, dead and repeated values, calls of child graphs,
//! several outputs, broadcast and empty shapes, and where it is asked for branches and loops in each other. [`shrink`] makes one that fails small.

#![forbid(unsafe_code)]

mod control;
mod graph;
mod many;
mod movement;
mod shrink;

pub use graph::{Limits, Program, program};
pub use ndjit_math::random::{Rng, special_words, tensor};
pub use shrink::shrink;
