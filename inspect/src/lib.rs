//! Programs and values as people read them: why a value has its dtype ([`explain`]), stages as pictures ([`picture`]), JSON and diffs, memory as a
//! chart, the user's source ([`source`]) and errors with a line of it, elements and tables as text, and runs in the reference interpreter.
//!
//! What is looked at are products of the crates below; nothing here changes what a program computes, and nothing below knows of it. No `unsafe`, no
//! threads; of files the user's source is read, and a page is written where it was asked for.

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
pub mod picture;
pub mod report;
pub mod source;
pub mod stage;
pub mod svg;
pub mod table;
pub mod words;
