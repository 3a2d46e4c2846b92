//! Code that runs, in a process that all share: a module for each subject. What counts the memory or the faults of its process is a test of its own.

mod clif;
mod dlpack;
mod executable;
