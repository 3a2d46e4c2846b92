//! Passes from graph to graph that do not depend on the target, in the order they run, and the shrinking of failing
//! graphs. Tests run only the interpreter.
//!
//! [`inline`] expands calls, [`fp_contract`] contracts products and sums on request, [`sink`] computes positions in
//! loops, [`hoist`] moves invariants out of them, [`commit`] resolves every dtype, [`simplify`] applies rules that change no bit, [`networks`] sorts few
//! elements by comparisons, [`gathers`] gathers operands instead of results, [`windows`] and [`views`] move reads to
//! their operands, and [`joins`] reads through joined arrays. [`access`] has the layouts of views, [`contraction`] the
//! order of an `einsum`'s products; [`derivative`] and [`batching`] append the nodes of transformations, and [`live`]
//! removes unused nodes. No `unsafe`, no threads, no code generator.

#![forbid(unsafe_code)]

pub mod access;
mod append;
pub mod batching;
mod bodies;
pub mod canonical;
mod commit;
pub mod contraction;
mod conversions;
pub mod derivative;
mod fp_contract;
mod gathers;
mod hoist;
mod inline;
mod joins;
mod live;
mod networks;
pub mod rows;
mod shrink;
mod simplify;
mod sink;
mod starts;
mod views;
mod windows;

pub use append::{AppendSettings, OpenGraph};
pub use commit::{TypedGraph, commit};
pub use conversions::{Conversions, Reason};
pub use fp_contract::fp_contract;
pub use gathers::gathers;
pub use hoist::hoist;
pub use inline::inline;
pub use joins::joins;
pub use live::live;
pub use networks::networks;
pub use shrink::{shrink, shrink_inside};
pub use simplify::{RULES, RewriteRule, simplify};
pub use sink::sink;
pub use starts::starts;
pub use views::views;
pub use windows::windows;
