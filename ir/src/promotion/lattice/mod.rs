//! Lattices: ordered sets in which the join of two types is the least type to which both may be promoted.
//!
//! A system is given by edges to immediate successors. [`Lattice`] is a lattice over any node names, which users build,
//! query, print and draw; [`NAMED`] are those of other libraries, as data. [`Joins`] is the table of joins computed by
//! `const fn`s: the laws of the built-in systems are asserted at compile time, and [`join`](fn@join) is one look-up.
//! [`Audit`] has the criteria of a promotion system that a lattice or a table meets.

mod audit;
mod builtin;
mod draw;
mod error;
mod joins;
mod named;
mod order;
mod text;
mod value;

pub use audit::{Audit, Finding};
pub use builtin::{STANDARD, STANDARD_EDGES, STRICT, STRICT_EDGES, join, strict_join};
pub use error::{LatticeError, NoLattice};
pub use joins::{BrokenLaw, Joins};
pub use named::{Claim, NAMED, Named, Rows};
pub use order::Join;
pub use value::Lattice;
