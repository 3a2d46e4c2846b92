//! Tests of the program representations, one module per subject.

mod addresses;
mod calls;
mod dtype;
mod functions_page;
mod grammar;
mod graph;
mod infer;
mod lattice;
mod lattice_audit;
mod literal;
mod loops;
mod promotion;
#[cfg(feature = "serde")]
mod serde;
mod support;
