//! Promotion: which type the operands of an op meet in.
//!
//! [`lattice`] holds graphs of immediate successors and computes joins from them, at compile time for the built-in ones.
//! [`system`] says what a promotion system is, as data, and [`systems`] has those of the field. [`policy`] is what a node
//! captures, a system and default dtypes: it turns the types of ordered operands into the type the op computes in.
//! [`Policy::is_lattice`] and its like say which laws its joins obey. [`op_types`] adds what the op's table row says (arity,
//! domain, result) and words the errors; [`reduction_types`] does so for reductions. `query` answers questions that concern no op.
//!
//! Only types are looked at, never values; and nothing here knows of graphs, shapes or source places.

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
pub use system::{Defaults, Rules, System, Table};
