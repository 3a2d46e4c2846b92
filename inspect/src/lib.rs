//! Programs and values for readers: explanations of dtypes ([`explain`]), stages as pictures ([`picture`]), JSON and diffs, memory as a
//! chart, the user's source ([`source`]) and errors with a source line, elements and tables as text, and runs in the reference interpreter.
//!
//! This crate reads results of the crates below and changes no computation; those crates do not depend on it. No `unsafe`, no threads. It
//! reads the user's source files, and writes pages on request.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod cells;
pub mod chart;
pub mod clock;
pub mod diff;
pub mod dot;
pub mod elements;
pub mod explain;
pub mod forms;
pub mod html;
pub mod interpret;
#[cfg(feature = "json")]
pub mod json;
pub mod listing;
mod page;
mod passes;
pub mod picture;
pub mod report;
pub mod source;
pub mod stage;
pub mod svg;
pub mod table;
pub mod words;
