//! Tests of bodies and of the interpreter, one module per subject.

mod bodies;
mod control;
mod interp;
mod progression;
mod reducing;
mod scans;
mod sorts;
