//! Files of arrays: what stands before the elements of a `.npy` file ([`npy`]), and files that take their place when they are whole
//! ([`replacement`]).
//!
//! What is read is bytes and what is given is dtypes and shapes: no array, no memory of the runtime, no `unsafe`. A file may hold anything: what is
//! wrong with it is an error, and nothing is reserved that a file merely says it has.

#![forbid(unsafe_code)]

pub mod npy;
pub mod replacement;
