//! The definitions of ops: each has a body, a scalar program over primitives, on every dtype of its domain, which the interpreter evaluates
//! and code generators inline; and the interpreter of whole programs, their definition.
//!
//! Bodies are functions by theme: on floats, on complex numbers, on integers, and their building blocks. One table per kind of dtype maps
//! ops to bodies; an op of the table without one stops the build. [`progression`] has the elements of `arange` and `linspace`. This crate
//! does no IO, starts no threads, and has no `unsafe`.

#![forbid(unsafe_code)]

mod body;
mod cast;
mod complex;
mod division;
mod emitter;
mod integer;
pub mod interp;
mod kinds;
mod kit;
pub mod progression;
pub mod random;
mod real;
mod shared;

pub use body::body;
pub use cast::{cast_body, load_body, store_body};
pub use division::{DivisionMethod, division_body};
pub use shared::{shared_body, shared_cast_body, shared_division_body, shared_load_body, shared_store_body};
