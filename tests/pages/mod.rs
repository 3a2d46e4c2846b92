//! The examples of README.md and pages of docs/, with their output.

pub mod arrays;
pub mod debugging;
pub mod dumps;
pub mod fusion;
pub mod gallery;
pub mod indexing;
pub mod jax;
pub mod journey;
pub mod numerics;
pub mod promotion;
pub mod quick_start;
pub mod table;
pub mod transforms;

use ndjit::Result;

/// Names, with functions.
pub type Examples = &'static [(&'static str, fn() -> Result<()>)];

/// The examples of each file, with its text.
pub const FILES: [(&str, Examples); 11] = [
    (include_str!("arrays.rs"), arrays::EXAMPLES),
    (include_str!("debugging.rs"), debugging::EXAMPLES),
    (include_str!("dumps.rs"), dumps::EXAMPLES),
    (include_str!("fusion.rs"), fusion::EXAMPLES),
    (include_str!("gallery.rs"), gallery::EXAMPLES),
    (include_str!("indexing.rs"), indexing::EXAMPLES),
    (include_str!("journey.rs"), journey::EXAMPLES),
    (include_str!("numerics.rs"), numerics::EXAMPLES),
    (include_str!("promotion.rs"), promotion::EXAMPLES),
    (include_str!("quick_start.rs"), quick_start::EXAMPLES),
    (include_str!("transforms.rs"), transforms::EXAMPLES),
];

/// The code of an example on a page: the lines of its function except the last.
pub fn code(name: &str) -> Option<String> {
    let opens = format!("\nfn {name}() -> Result<()> {{\n");
    let (_, rest) = FILES.iter().find_map(|(text, _)| text.split_once(&opens))?;
    let (body, _) = rest.split_once("\n}\n")?;
    let lines: Vec<&str> = body.lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    Some(lines.split_last()?.1.join("\n"))
}

/// Whether an example of this name exists, possibly with more features.
pub fn is_known(name: &str) -> bool {
    code(name).is_some() || runner(name).is_some()
}

/// The function of an example; `None` without the features that it needs.
pub fn runner(name: &str) -> Option<fn() -> Result<()>> {
    FILES.iter().flat_map(|(_, examples)| *examples).find(|(n, _)| *n == name).map(|(_, run)| *run)
}

/// Lists a file's examples.
macro_rules! examples {
    ($($(#[$attribute:meta])* $name:ident)*) => {
        /// The examples of this file.
        pub const EXAMPLES: Examples = &[$($(#[$attribute])* (stringify!($name), $name),)*];
    };
}
use examples;
