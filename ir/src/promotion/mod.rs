//! Promotion: which type the operands of an op meet in.
//!
//! [`lattice`] holds systems as graphs of immediate successors and computes joins from them, at compile time for the
//! built-in ones. [`policy`] is what a node captures: it turns the types of ordered operands into the type the op computes
//! in. [`op_types`] adds what the op's table row says (arity, domain, result) and words the errors.
//!
//! Only types are looked at, never values; and nothing here knows of graphs, shapes or source places.

pub mod lattice;
pub mod op_types;
pub mod policy;

pub use lattice::{Audit, Claim, Finding, Joins, Lattice, LatticeError, NoLattice, join};
pub use op_types::OpTypes;
pub use policy::{Clash, Policy, Resolution, UnknownPolicy};
