//! Lattices: ordered sets in which two types meet in their join, the least type that both may be promoted to.
//!
//! A system is written down as immediate-successor edges; everything else follows from them. [`Lattice`] is one over any node
//! names, which users build, query, print and draw; [`NAMED`] are those of the field as data. [`Joins`] is the table of joins
//! that `const fn`s compute, so that the laws of the built-in systems are asserted while this crate compiles and
//! [`join`](fn@join) is one look-up. [`Audit`] tells which criteria of a promotion system a lattice or a table meets.

mod audit;
mod builtin;
mod draw;
mod error;
mod joins;
mod named;
mod order;
mod sketch;
mod text;
mod value;

pub use audit::{Audit, Finding};
pub use builtin::{STANDARD, STANDARD_EDGES, STRICT, STRICT_EDGES, join, strict_join};
pub use error::{LatticeError, NoLattice};
pub use joins::{BrokenLaw, Joins};
pub use named::{Claim, NAMED, Named, Rows};
pub use order::Join;
pub use value::Lattice;
