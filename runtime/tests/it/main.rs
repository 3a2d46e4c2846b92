//! Execution in a shared process: a module for each subject. Tests that count the memory or the faults of their process are separate.

mod clif;
mod dlpack;
mod executable;
