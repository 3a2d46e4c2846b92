//! Graph to graph: the passes that know no target, in the order they run, and what makes a failing graph small. Each is tested with the
//! reference interpreter alone.
//!
//! [`inline`] writes calls out, [`fp_contract`] rounds products and sums once where that is asked for, [`hoist`] takes out of loops what does not change in them, [`commit`] resolves every dtype,
//! [`simplify`] applies rules that change no bit, [`networks`] sorts few elements by comparisons, [`gathers`] looks up rows of operands instead of results, [`windows`] and [`views`] bring elements to where they are read, and [`joins`] reads through joined arrays. [`access`] says where the
//! elements of views are, [`contraction`] in which order operands of an `einsum` meet; [`derivative`] and [`batching`] append what transformations make, and [`live`] leaves out what they no longer need. No `unsafe`, no threads, no code generator.

#![forbid(unsafe_code)]

pub mod access;
mod append;
pub mod batching;
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
pub use views::views;
pub use windows::windows;
