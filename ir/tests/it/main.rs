//! The nouns and the interpreter: a module for each subject.

mod bodies;
mod calls;
mod control;
mod dtype;
mod explain;
mod functions_page;
mod grammar;
mod graph;
mod infer;
mod interp;
mod lattice;
mod lattice_audit;
mod literal;
mod loops;
mod progression;
mod promotion;
mod random;
mod reducing;
mod scans;
#[cfg(feature = "serde")]
mod serde;
mod sorts;
mod support;
