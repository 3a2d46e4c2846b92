//! What ops compute, and the interpreter: a module for each subject.

mod bodies;
mod control;
mod interp;
mod progression;
mod reducing;
mod scans;
mod sorts;
