//! Promotion: the common type of an op's operands.
//!
//! [`lattice`] has graphs of immediate successors and computes joins from them, at compile time for the built-in ones.
//! [`system`] defines promotion systems as data, and [`systems`] has those of other libraries. [`policy`] is a system
//! with default dtypes, stored in each node: it maps the types of ordered operands to the op's computing type.
//! [`Policy::is_lattice`] and similar methods check laws of its joins. [`op_types`] adds the op's table row (arity,
//! domain, result) and the messages of errors; [`reduction_types`] does so for reductions. `query` answers queries
//! without an op.
//!
//! Promotion depends only on types, never on values, and this module does not use graphs, shapes or source places.

pub(crate) mod advice;
pub mod lattice;
mod laws;
pub mod op_types;
pub mod policy;
mod query;
pub mod reduction_types;
mod registry;
pub mod system;
pub mod systems;
mod text;

pub use lattice::{Audit, Claim, Finding, Joins, Lattice, LatticeError, NoLattice, join};
pub use op_types::{OpMismatch, OpTypes, Types};
pub use policy::{Clash, Policy, Refusal, Resolution, UnknownPolicy};
pub use reduction_types::{ReductionMismatch, ReductionTypes};
pub use system::{Defaults, FloorDivision, Rules, System, Table};
