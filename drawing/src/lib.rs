//! Drawings of acyclic graphs: a layout in layers ([`layout()`]), Hasse diagrams ([`hasse`]), and what all pictures have in common.
//!
//! The crate is below all others and knows none of their types: `ndjit-inspect` draws stages with it, and a promotion lattice itself. The
//! methods of lattices that draw are public in `ndjit`, so they stay beside the type, in `ndjit-ir`; the drawing is here. No IO.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

pub mod hasse;
mod layout;
mod svg;

pub use layout::{LayeredLayout, layout};
pub use svg::{escape, path, text_width};

/// A string of Graphviz's language.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
